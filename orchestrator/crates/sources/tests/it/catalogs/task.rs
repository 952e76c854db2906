//! What the sources add to a whole task.

use super::answers::{record, with_records};
use super::open;
use crate::bench::{Bench, s2, s2_paper, text, web};
use crate::support::{StandIn, json, reply};
use async_trait::async_trait;
use lyra_domain::{TaskStatus, Work};
use lyra_research::ports::{Answer, EvidenceSource, Hit, SourceKind};
use lyra_sources::ApiSource;
use lyra_store::GuardOptions;
use serde_json::{Value, json};
use std::sync::Arc;

/// A bench of Semantic Scholar, with this source after it.
async fn bench_with(
    added: Arc<dyn EvidenceSource>,
    fault: impl Fn(&str, &crate::support::Seen, usize) -> Option<axum::response::Response>
    + Clone
    + Send
    + Sync
    + 'static,
) -> Bench {
    let mut bench = Bench::new(fault).await;
    let apis = bench.worker.context.sources.clone();
    bench.worker.context.sources = Arc::new(move |task| {
        let mut sources = apis(task);
        sources.truncate(1);
        sources.push(Arc::clone(&added));
        sources
    });
    bench
}

fn source(api: Arc<dyn ApiSource>) -> Arc<dyn EvidenceSource> {
    api
}

#[tokio::test]
async fn what_an_encyclopedia_cites_is_looked_up_where_works_are_known() {
    let server =
        StandIn::start(|_, _| json(200, &with_records("wikipedia", &[record("wikipedia", 1)]).to_string()))
            .await;
    let bench = bench_with(source(open("wikipedia", &server)), |api, seen, _| {
        let last = seen.path.rsplit('/').next();
        match (api, last) {
            // It finds nothing by the query, and knows work 7.
            ("s2", Some("search")) => Some(json(200, r#"{"data":[]}"#)),
            ("s2", Some("batch")) => {
                let ids: Value = serde_json::from_slice(&seen.body).unwrap();
                let seven = ids["ids"].as_array().unwrap().iter().any(|id| id == "DOI:10.1000/7");
                Some(json(200, &json!([seven.then(|| s2_paper(7))]).to_string()))
            }
            _ => None,
        }
    })
    .await;
    let done = bench.run().await;
    assert_eq!(done.task.status, TaskStatus::Completed, "{:?}", done.warnings);
    let rows =
        async |query: &str| bench.store.query_graph(query, GuardOptions::default()).await.unwrap().rows;
    let pages = rows("SELECT title, domain FROM pages ORDER BY title").await;
    let titles: Vec<&str> = pages.iter().filter_map(|row| row["title"].as_str()).collect();
    assert!(
        titles.iter().any(|title| title.ends_with("number 7")) && titles.contains(&"Tea 1"),
        "{titles:?}"
    );
    assert!(pages.iter().any(|row| row["domain"] == "wikipedia.org"));
    let cited =
        rows("SELECT count(*) AS n FROM edges WHERE relation = 'cites' AND citation_source = 'wikipedia'")
            .await;
    assert_eq!(cited[0]["n"], 1, "the article cites work 7");
}

/// A document of one's own that names a registered trial.
struct Notes;

#[async_trait]
impl EvidenceSource for Notes {
    fn name(&self) -> &'static str {
        "corpus:notes"
    }

    fn kind(&self) -> SourceKind {
        SourceKind::Corpus
    }

    async fn search(&self, _: &str, _: Option<&str>, _: usize) -> lyra_research::Result<Answer> {
        let work = Work {
            title: "My notes on tea".to_owned(),
            source_api: "corpus:notes".to_owned(),
            ..Work::default()
        };
        let hit = Hit {
            rank: 1,
            score: 1.0,
            work,
            url: "corpus:notes/1".to_owned(),
            document: None,
            language: Some("en".to_owned()),
            text: Some(format!("{} It is registered as NCT01234561 (NCT012).", text(1))),
            embedding: None,
        };
        Ok(vec![hit].into())
    }
}

#[tokio::test]
async fn a_trial_that_a_text_names_is_looked_up_in_the_registry() {
    let server = StandIn::start(|seen, _| {
        let asked = seen.query.contains("filter.ids");
        let trials = if asked { vec![record("clinicaltrials", 1)] } else { Vec::new() };
        json(200, &with_records("clinicaltrials", &trials).to_string())
    })
    .await;
    let registry = source(open("clinicaltrials", &server));
    let mut bench = Bench::new(|_, _, _| None).await;
    bench.worker.context.sources = Arc::new(move |_| vec![Arc::new(Notes), Arc::clone(&registry)]);
    let done = bench.run().await;
    assert_eq!((done.task.status, done.pages), (TaskStatus::Completed, 2), "{:?}", done.warnings);
    let lookups: Vec<String> = server
        .seen()
        .into_iter()
        .map(|seen| seen.query)
        .filter(|query| query.contains("filter.ids"))
        .collect();
    assert!(lookups.len() == 1 && lookups[0].starts_with("filter.ids=NCT01234561&"), "{lookups:?}");
}

#[tokio::test]
async fn a_work_without_text_is_read_where_unpaywall_finds_it() {
    let words = "Green tea improved the attention of students in trial number 7. ".repeat(60);
    let site = StandIn::start(move |seen, _| match seen.path.as_str() {
        "/copy" => reply(200, &[("content-type", "text/plain")], format!("Trial number 7\n\n{words}")),
        _ => reply(404, &[], ""),
    })
    .await;
    let copy = site.at("copy").to_string();
    let server = StandIn::start(move |seen, _| {
        let known = seen.path.ends_with("/10.1000/7");
        let answer = json!({"doi": "10.1000/7", "best_oa_location": {"url": copy, "url_for_pdf": null}});
        if known { json(200, &answer.to_string()) } else { json(404, r#"{"error":true}"#) }
    })
    .await;
    let mut bench = bench_with(source(open("unpaywall", &server)), |api, seen, _| {
        let search = seen.path.ends_with("/search");
        (api == "s2").then(|| {
            if search {
                let mut closed = s2_paper(7);
                closed["abstract"] = Value::Null;
                let mut open = s2_paper(8);
                open["abstract"] = Value::Null;
                open["openAccessPdf"] = json!({"url": "https://closed.invalid/8"});
                json(200, &json!({"data": [closed, open, s2_paper(1)]}).to_string())
            } else {
                s2(seen)
            }
        })
    })
    .await;
    let http = crate::support::client(None);
    let (rules, pages) = web(&http, &bench.store, bench.folder.path(), &[&site]);
    bench.worker.context.rules = Arc::new(rules);
    bench.worker.context.pages = Arc::new(pages);
    bench.worker.context.search.citation_graph_top_n_papers = 0;
    let done = bench.run().await;
    assert_eq!((done.task.status, done.fetched), (TaskStatus::Completed, 1), "{:?}", done.warnings);
    let asked: Vec<String> = server.seen().into_iter().map(|seen| seen.path).collect();
    assert_eq!(asked, ["/api/10.1000/7"], "not about works with a text or a known copy");
}
