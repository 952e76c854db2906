//! Every row of the registry that is an academic API, while it answers wrongly in every way: what it says is an error
//! in plain words or fewer works, never a panic, a hang, or a work that it did not name.
//!
//! The answers are the least that a search needs, written after each API's documentation; the APIs' own tests have
//! whole records.

use crate::catalogs;
use crate::support::{Seen, StandIn, client, reply};
use axum::body::{Body, Bytes};
use axum::response::Response as Reply;
use futures::future::join_all;
use lyra_research::PortError;
use lyra_research::ports::EvidenceSource;
use lyra_sources::registry::Access;
use lyra_sources::{ApiConfig, PROVIDERS, Provider};
use std::sync::Arc;
use std::time::Duration;

/// How an API answers the search for [`QUERY`].
struct Answers {
    /// The row.
    name: &'static str,
    /// Requests of one search.
    requests: usize,
    /// Type of the n-th answer of a search.
    kind: fn(usize) -> &'static str,
    /// The n-th answer of a search with these records, of which so many can be read.
    page: fn(usize, &[String], usize) -> String,
    /// The n-th record.
    record: fn(u32) -> String,
    /// A record that cannot be read.
    odd: &'static str,
}

/// One word, so that no API asks again for any of its words.
const QUERY: &str = "naps";
const JSON: &str = "application/json";

/// The answers of each API. A row without an entry fails the tests.
const ANSWERS: &[Answers] = &[
    Answers {
        name: "semantic_scholar",
        requests: 1,
        kind: |_| JSON,
        page: |_, records, _| format!(r#"{{"total": 3, "data": [{}]}}"#, records.join(",")),
        record: |n| format!(r#"{{"paperId": "{n:040x}", "title": "Naps {n}"}}"#),
        odd: r#"{"year": "2020"}"#,
    },
    Answers {
        name: "openalex",
        requests: 1,
        kind: |_| JSON,
        page: |_, records, _| {
            format!(r#"{{"meta": {{"next_cursor": null}}, "results": [{}]}}"#, records.join(","))
        },
        record: |n| format!(r#"{{"id": "https://openalex.org/W{n}", "title": "Naps {n}"}}"#),
        odd: r#"{"publication_year": "2020"}"#,
    },
    Answers {
        name: "europe_pmc",
        requests: 1,
        kind: |_| JSON,
        page: |_, records, _| {
            format!(r#"{{"hitCount": 3, "resultList": {{"result": [{}]}}}}"#, records.join(","))
        },
        record: |n| format!(r#"{{"id": "{n}", "source": "MED", "pmid": "{n}", "title": "Naps {n}."}}"#),
        odd: r#"{"citedByCount": "many"}"#,
    },
    Answers {
        name: "crossref",
        requests: 1,
        kind: |_| JSON,
        page: |_, records, _| {
            format!(
                r#"{{"status": "ok", "message": {{"total-results": 3, "items": [{}]}}}}"#,
                records.join(",")
            )
        },
        record: |n| format!(r#"{{"DOI": "10.1000/{n}", "title": ["Naps {n}"]}}"#),
        odd: r#"{"DOI": 7}"#,
    },
    Answers {
        name: "pubmed",
        requests: 2,
        kind: |n| if n == 0 { JSON } else { "text/xml" },
        page: |n, records, _| match n {
            0 => {
                let ids = (1..=records.len()).map(|id| format!("\"{id}\"")).collect::<Vec<_>>().join(",");
                format!(r#"{{"esearchresult": {{"count": "3", "idlist": [{ids}]}}}}"#)
            }
            _ => {
                format!("<?xml version=\"1.0\" ?>\n<PubmedArticleSet>{}</PubmedArticleSet>", records.concat())
            }
        },
        record: |n| {
            format!(
                "<PubmedArticle><MedlineCitation><PMID>{n}</PMID><Article><ArticleTitle>Naps {n}.</ArticleTitle>\
                 </Article></MedlineCitation></PubmedArticle>"
            )
        },
        odd: "<PubmedArticle><MedlineCitation></MedlineCitation></PubmedArticle>",
    },
    Answers {
        name: "arxiv",
        requests: 1,
        kind: |_| "application/atom+xml",
        page: |_, records, readable| {
            format!(
                "<?xml version='1.0'?>\n<feed xmlns:opensearch=\"http://a9.com/-/spec/opensearch/1.1/\" \
                 xmlns=\"http://www.w3.org/2005/Atom\"><opensearch:totalResults>{readable}</opensearch:totalResults>{}\
                 </feed>",
                records.concat()
            )
        },
        record: |n| {
            format!("<entry><id>http://arxiv.org/abs/2101.0000{n}v1</id><title>Naps {n}</title></entry>")
        },
        odd: "<entry><title>Without an id</title></entry>",
    },
];

/// What replaces an answer: it gets the right one's type and text.
type Fault = fn(&Seen, &'static str, &str) -> Reply;

impl Answers {
    fn records(&self) -> Vec<String> {
        (1..=3).map(self.record).collect()
    }

    fn right(&self, n: usize, records: &[String]) -> Reply {
        let readable = records.iter().filter(|record| *record != self.odd).count();
        reply(200, &[("content-type", (self.kind)(n))], (self.page)(n, records, readable))
    }

    /// A server with these records, whose answers from the `from`-th on are replaced.
    async fn serve(&'static self, records: Vec<String>, fault: Option<(usize, Fault)>) -> StandIn {
        StandIn::start(move |seen, n| match fault {
            Some((from, fault)) if n >= from => {
                let step = from.min(self.requests - 1);
                fault(seen, (self.kind)(step), &(self.page)(step, &records, records.len()))
            }
            _ => self.right(n, &records),
        })
        .await
    }

    fn source(&self, server: &StandIn) -> Arc<dyn EvidenceSource> {
        let row = PROVIDERS.iter().find(|row| row.name == self.name);
        let Some(Provider { access: Access::Api { open, .. }, .. }) = row else {
            panic!("{} is no row of an API", self.name)
        };
        let config = ApiConfig {
            base_url: server.url.clone(),
            trusted: true,
            api_key: None,
            mailto: None,
            min_interval: Some(Duration::ZERO),
            cache_ttl: Duration::ZERO,
        };
        open(client(None), &config)
    }

    /// The titles that a search finds.
    async fn search(&self, server: &StandIn) -> Result<Vec<String>, PortError> {
        let found = self.source(server).search(QUERY, None, 10).await?;
        Ok(found.hits.into_iter().map(|hit| hit.work.title).collect())
    }
}

/// Every API and every request of its search, with the answers from that request on replaced: what the search comes to,
/// and how many requests it took from there on.
async fn each(fault: Fault, check: impl Fn(&str, Result<Vec<String>, PortError>, usize)) {
    let cases = ANSWERS.iter().flat_map(|api| (0..api.requests).map(move |from| (api, from)));
    join_all(cases.map(|(api, from)| {
        let check = &check;
        async move {
            let server = api.serve(api.records(), Some((from, fault))).await;
            let found = api.search(&server).await;
            check(&format!("{}, request {from}", api.name), found, server.seen().len() - from);
        }
    }))
    .await;
}

#[test]
fn every_row_has_answers() {
    for row in PROVIDERS.iter().filter(|row| matches!(row.access, Access::Api { .. })) {
        let is_known = ANSWERS.iter().any(|api| api.name == row.name) || catalogs::NAMES.contains(&row.name);
        assert!(is_known, "{} has no entry in ANSWERS", row.name);
    }
}

#[tokio::test]
async fn right_answers_are_found_and_none_is_nothing() {
    for api in ANSWERS {
        let server = api.serve(api.records(), None).await;
        assert_eq!(api.search(&server).await.unwrap(), ["Naps 1", "Naps 2", "Naps 3"], "{}", api.name);
        assert_eq!(server.seen().len(), api.requests, "{}", api.name);
        let server = api.serve(Vec::new(), None).await;
        assert!(api.search(&server).await.unwrap().is_empty(), "{}", api.name);
    }
}

#[tokio::test]
async fn an_odd_record_costs_itself_and_only_odd_ones_are_an_error() {
    for api in ANSWERS {
        let mut records = api.records();
        records.insert(1, api.odd.to_owned());
        let server = api.serve(records, None).await;
        assert_eq!(api.search(&server).await.unwrap(), ["Naps 1", "Naps 2", "Naps 3"], "{}", api.name);
        let server = api.serve(vec![api.odd.to_owned(); 2], None).await;
        let error = api.search(&server).await.unwrap_err();
        assert!(error.to_string().contains("none of its 2"), "{}: {error}", api.name);
    }
}

#[tokio::test]
async fn server_errors_are_tried_again_and_named() {
    each(
        |_, _, _| reply(500, &[], "oops"),
        |case, found, asked| {
            let error = found.unwrap_err();
            assert!(matches!(error, PortError::Unavailable { .. }), "{case}: {error:?}");
            assert!(error.to_string().contains("500 Internal Server Error"), "{case}: {error}");
            assert_eq!(asked, 3, "{case}");
        },
    )
    .await;
}

#[tokio::test]
async fn a_time_that_an_api_names_is_kept() {
    each(
        |_, kind, _| reply(429, &[("content-type", kind), ("retry-after", "3600")], ""),
        |case, found, asked| {
            let Err(PortError::Paused { retry_after, .. }) = found else { panic!("{case}: {found:?}") };
            assert!(retry_after > Duration::from_mins(50), "{case}: {retry_after:?}");
            assert_eq!(asked, 1, "{case}");
        },
    )
    .await;
}

#[tokio::test]
async fn pages_for_people_are_no_answers() {
    each(
        |_, _, _| reply(200, &[("content-type", "text/html")], "<html><h1>Maintenance</h1></html>"),
        |case, found, asked| {
            let error = found.unwrap_err().to_string();
            assert!(error.contains("`text/html` instead of"), "{case}: {error}");
            assert_eq!(asked, 1, "{case}");
        },
    )
    .await;
}

#[tokio::test]
async fn half_answers_and_empty_bodies_are_no_answers() {
    let half: Fault =
        |_, kind, text| reply(200, &[("content-type", kind)], text[..text.len() * 2 / 3].to_owned());
    let empty: Fault = |_, kind, _| reply(200, &[("content-type", kind)], "");
    for fault in [half, empty] {
        each(fault, |case, found, asked| {
            let error = found.unwrap_err();
            assert!(matches!(error, PortError::Failed { .. }), "{case}: {error:?}");
            assert!(
                error.to_string().contains("its JSON") || error.to_string().contains("its XML"),
                "{case}: {error}"
            );
            assert_eq!(asked, 1, "{case}");
        })
        .await;
    }
}

#[tokio::test]
async fn a_body_that_breaks_off_is_an_error() {
    each(
        |_, kind, text| {
            let half = Bytes::from(text[..text.len() / 2].to_owned());
            let parts = [Ok(half), Err(std::io::Error::other("broken"))];
            reply(200, &[("content-type", kind)], Body::from_stream(futures::stream::iter(parts)))
        },
        |case, found, asked| {
            assert!(matches!(found, Err(PortError::Unavailable { .. })), "{case}: {found:?}");
            assert_eq!(asked, 3, "{case}");
        },
    )
    .await;
}

#[tokio::test]
async fn redirects_that_lead_back_or_inside_are_refused() {
    let back: Fault = |seen, _, _| reply(302, &[("location", &format!("{}?{}", seen.path, seen.query))], "");
    let inside: Fault = |_, _, _| reply(302, &[("location", "http://169.254.169.254/latest/meta-data/")], "");
    each(back, |case, found, _| {
        let error = found.unwrap_err().to_string();
        assert!(error.contains("redirect"), "{case}: {error}");
    })
    .await;
    each(inside, |case, found, asked| {
        let error = found.unwrap_err().to_string();
        assert!(error.contains("169.254.169.254"), "{case}: {error}");
        assert_eq!(asked, 1, "{case}");
    })
    .await;
}

#[tokio::test]
async fn a_silent_api_is_given_up_and_can_be_asked_again() {
    for api in ANSWERS {
        let silent: Fault = |_, kind, _| {
            let never = futures::stream::pending::<Result<Bytes, std::io::Error>>();
            reply(200, &[("content-type", kind)], Body::from_stream(never))
        };
        let server = api.serve(api.records(), Some((0, silent))).await;
        let source = api.source(&server);
        for asked in 1..=2 {
            let waited =
                tokio::time::timeout(Duration::from_millis(300), source.search(QUERY, None, 10)).await;
            assert!(waited.is_err(), "{}", api.name);
            assert_eq!(server.seen().len(), asked, "{}: the turn was not given back", api.name);
        }
    }
}
