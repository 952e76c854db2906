//! A source that only this test knows: one row, and it is searched, cited, and checked like every other.

use crate::bench::{Bench, text};
use crate::support::{StandIn, client, json};
use async_trait::async_trait;
use lyra_domain::{Doi, Identifier, Precedence, TaskStatus, Work};
use lyra_research::ports::{Answer, EvidenceSource, Hit, ScholarlySource, SourceKind};
use lyra_sources::http::{HttpClient, Origin, Policy, Request};
use lyra_sources::registry::{Access, Opened};
use lyra_sources::{ApiConfig, ApiSource, Probe, Provider, Sources};
use lyra_store::GuardOptions;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

const LIBRARY: Provider = Provider {
    name: "town_library",
    aliases: &["library"],
    title: "Town Library",
    precedence: Precedence(2),
    by_default: false,
    access: Access::Api {
        address: "https://library.example/api/",
        open: |http, config| Arc::new(Library { http, config: config.clone() }),
    },
};

/// Works 1 to 3, all of which 9 cites.
struct Library {
    http: HttpClient,
    config: ApiConfig,
}

fn work(n: u32) -> Hit {
    let work = Work {
        title: format!("A trial of green tea and attention, number {n}"),
        doi: Doi::parse(&format!("10.1000/{n}")),
        citation_count: Some(n),
        source_api: LIBRARY.name.to_owned(),
        ..Work::default()
    };
    Hit {
        rank: n as usize,
        score: 1.0,
        work,
        url: format!("https://library.example/{n}"),
        document: None,
        language: Some("en".to_owned()),
        text: Some(text(n)),
        embedding: None,
    }
}

#[async_trait]
impl EvidenceSource for Library {
    fn name(&self) -> &str {
        LIBRARY.name
    }

    fn kind(&self) -> SourceKind {
        LIBRARY.kind()
    }

    fn precedence(&self) -> Precedence {
        LIBRARY.precedence
    }

    async fn search(&self, _: &str, _: Option<&str>, limit: usize) -> lyra_research::Result<Answer> {
        Ok((1..=3).map(work).take(limit).collect::<Vec<_>>().into())
    }

    fn scholarly(&self) -> Option<&dyn ScholarlySource> {
        Some(self)
    }
}

#[async_trait]
impl ScholarlySource for Library {
    async fn lookup(&self, _: &[Identifier]) -> lyra_research::Result<Vec<Hit>> {
        Ok(Vec::new())
    }

    async fn references(&self, _: &Work, _: usize) -> lyra_research::Result<Vec<Hit>> {
        Ok(Vec::new())
    }

    async fn citations(&self, _: &Work, _: usize) -> lyra_research::Result<Vec<Hit>> {
        Ok(vec![work(9)])
    }
}

#[async_trait]
impl ApiSource for Library {
    async fn probe(&self) -> lyra_sources::Result<Probe> {
        let policy = Policy {
            trusted: Origin::of(&self.config.base_url).into_iter().collect(),
            max_attempts: 1,
            ..Policy::new(LIBRARY.name)
        };
        self.http.send(&policy, Request::get(self.config.base_url.clone())).await?;
        Ok(Probe { matches: 3, took: Duration::ZERO })
    }

    async fn pause(&self) -> Option<(Duration, String)> {
        self.http.pause(LIBRARY.name).await
    }
}

fn opened(server: &StandIn) -> Sources {
    let config = |provider: &Provider, address: &'static str| {
        assert_eq!((provider.name, address), ("town_library", "https://library.example/api/"));
        Ok::<_, Infallible>(ApiConfig {
            base_url: server.url.clone(),
            trusted: true,
            api_key: None,
            mailto: None,
            min_interval: None,
            cache_ttl: Duration::ZERO,
        })
    };
    let web: Arc<dyn EvidenceSource> = Arc::new(Library {
        http: client(None),
        config: config(&LIBRARY, "https://library.example/api/").unwrap(),
    });
    Sources::open(&[LIBRARY], &client(None), config, &web).unwrap()
}

#[tokio::test]
async fn one_row_is_a_source_that_is_searched_cited_and_checked() {
    let server = StandIn::start(|_, n| if n == 0 { json(200, "{}") } else { json(503, "{}") }).await;
    let sources = opened(&server);
    assert_eq!(
        (sources.api_names(), LIBRARY.introduction()),
        (vec!["town_library"], "library (Town Library)".to_owned())
    );
    assert!(sources.get("openalex").is_none());
    let Opened { source, api, .. } = sources.get("library").unwrap();

    let mut bench = Bench::new(|_, _, _| None).await;
    let library = Arc::clone(source);
    bench.worker.context.sources = Arc::new(move |_| vec![Arc::clone(&library)]);
    let done = bench.run().await;
    assert_eq!((done.task.status, done.pages), (TaskStatus::Completed, 4), "{:?}", done.warnings);
    let cited = "SELECT citation_source, count(*) AS n FROM edges WHERE relation = 'cites' GROUP BY 1";
    let rows = bench.store.query_graph(cited, GuardOptions::default()).await.unwrap().rows;
    assert_eq!(
        (rows.len(), &rows[0]["citation_source"], &rows[0]["n"]),
        (1, &"town_library".into(), &3.into())
    );
    let merged = "SELECT DISTINCT source_api FROM works";
    let rows = bench.store.query_graph(merged, GuardOptions::default()).await.unwrap().rows;
    assert_eq!((rows.len(), &rows[0]["source_api"]), (1, &"town_library".into()));

    let (api, _) = api.as_ref().unwrap();
    assert_eq!(api.probe().await.unwrap().matches, 3);
    assert!(api.probe().await.is_err(), "it is this source that was asked");
    assert_eq!(server.seen().len(), 2);
    assert_eq!(api.pause().await, None);
}
