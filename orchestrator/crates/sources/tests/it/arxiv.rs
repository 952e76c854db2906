//! arXiv against small answers written after its manual (<https://info.arxiv.org/help/api/user-manual.html>), because
//! none is recorded.

use crate::support::{Seen, StandIn, client, reply};
use axum::response::Response as Reply;
use lyra_domain::{Doi, Identifier, Work};
use lyra_research::ports::ScholarlySource;
use lyra_sources::{ApiConfig, ApiSource, Arxiv};
use std::time::Duration;
use url::Url;

const WHOLE: &str = r#"<entry>
    <id>http://arxiv.org/abs/hep-ex/0307015v2</id>
    <updated>2004-01-07T17:02:49Z</updated>
    <published>2003-07-07T13:46:39Z</published>
    <title>Multi-Electron Production at
  High $p_T$ &amp; more</title>
    <summary>  Multi-electron production is studied
at x &lt; 0.1.
</summary>
    <author><name>H1 Collaboration</name></author>
    <author><name>A. Sato</name><arxiv:affiliation>DESY</arxiv:affiliation></author>
    <arxiv:comment>23 pages, 8 figures</arxiv:comment>
    <arxiv:journal_ref>Eur.Phys.J. C31 (2003) 17-29</arxiv:journal_ref>
    <link href="http://arxiv.org/abs/hep-ex/0307015v2" rel="alternate" type="text/html"/>
    <link title="pdf" href="http://arxiv.org/pdf/hep-ex/0307015v2" rel="related" type="application/pdf"/>
    <link title="doi" href="http://dx.doi.org/10.1140/epjc/s2003-01326-x" rel="related"/>
    <arxiv:doi>10.1140/epjc/s2003-01326-x</arxiv:doi>
    <arxiv:primary_category term="hep-ex" scheme="http://arxiv.org/schemas/atom"/>
    <category term="hep-ex" scheme="http://arxiv.org/schemas/atom"/>
  </entry>"#;
const WITHDRAWN: &str = r"<entry><id>http://arxiv.org/abs/2101.00002v3</id><published>2021-01-01T00:00:00Z</published>
    <title>Naps</title><summary>This paper has been withdrawn by the author.</summary></entry>";
const ERROR: &str = r"<entry><id>http://arxiv.org/api/errors#incorrect_id_format_for_1234.12345</id>
    <title>Error</title><summary>incorrect id format for 1234.12345</summary></entry>";

fn arxiv(base: &Url) -> Arxiv {
    let config = ApiConfig {
        base_url: base.join("api").unwrap(),
        trusted: true,
        api_key: None,
        mailto: None,
        min_interval: Some(Duration::ZERO),
        cache_ttl: Duration::ZERO,
    };
    Arxiv::new(client(None), &config)
}

fn feed(total: u32, entries: &str) -> Reply {
    let body = format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xmlns:arxiv="http://arxiv.org/schemas/atom">
  <link href="http://arxiv.org/api/query?search_query%3Dall:naps" rel="self" type="application/atom+xml"/>
  <title type="html">ArXiv Query: search_query=all:naps&amp;id_list=&amp;start=0&amp;max_results=10</title>
  <id>http://arxiv.org/api/cHxbiOdZaP56ODnBPIenZhzg5f8</id>
  <updated>2026-11-20T00:00:00-05:00</updated>
  <opensearch:totalResults xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">{total}</opensearch:totalResults>
  <opensearch:startIndex xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">0</opensearch:startIndex>
  {entries}
</feed>
"#
    );
    reply(200, &[("content-type", "application/atom+xml; charset=UTF-8")], body)
}

fn parameter(seen: &Seen, name: &str) -> String {
    let mut pairs = url::form_urlencoded::parse(seen.query.as_bytes());
    pairs.find(|(found, _)| found == name).map(|(_, value)| value.into_owned()).unwrap_or_default()
}

#[tokio::test]
async fn an_entry_is_read_whole() {
    let server = StandIn::start(|_, _| feed(2, &format!("{WHOLE}{WITHDRAWN}"))).await;
    let found = arxiv(&server.url).papers("Do naps improve memory?", 10).await.unwrap();
    let seen = &server.seen()[0];
    assert_eq!(seen.path, "/api/query");
    assert_eq!(parameter(seen, "search_query"), "all:naps AND all:improve AND all:memory");
    assert_eq!((parameter(seen, "start"), parameter(seen, "max_results")), ("0".into(), "10".into()));
    let paper = &found[0];
    assert_eq!(paper.abstract_text.as_deref(), Some("Multi-electron production is studied at x < 0.1."));
    assert_eq!(paper.url, "https://doi.org/10.1140/epjc/s2003-01326-x");
    let work = &paper.work;
    assert_eq!(work.title, "Multi-Electron Production at High $p_T$ & more");
    assert_eq!(work.authors, ["H1 Collaboration", "A. Sato"]);
    assert_eq!((work.year, work.published_date.as_deref()), (Some(2003), Some("2003-07-07")));
    assert_eq!(work.venue.as_deref(), Some("Eur.Phys.J. C31 (2003) 17-29"));
    assert_eq!(work.ids, Identifier::in_text("arXiv:hep-ex/0307015"));
    // The full text of the version whose abstract this is.
    assert_eq!(work.oa_url.as_deref(), Some("https://arxiv.org/pdf/hep-ex/0307015v2"));
    assert_eq!(work.is_retracted, None);

    let work = &found[1].work;
    assert_eq!(
        (work.is_retracted, work.doi.as_ref(), work.venue.as_deref()),
        (Some(true), None, Some("arXiv"))
    );
    assert_eq!(found[1].url, "https://arxiv.org/abs/2101.00002");
    assert_eq!(work.oa_url.as_deref(), Some("https://arxiv.org/pdf/2101.00002v3"));
}

#[tokio::test]
async fn preprints_are_looked_up_by_their_ids_and_dois() {
    let server = StandIn::start(|_, _| feed(1, WITHDRAWN)).await;
    let api = arxiv(&server.url);
    let mut ids = Identifier::in_text("arXiv:2101.00002");
    ids.extend(
        ["10.48550/arXiv.2101.00003", "10.48550/arxiv.2101.00002", "10.1000/a"]
            .map(|doi| Identifier::Doi(Doi::parse(doi).unwrap())),
    );
    assert_eq!(api.lookup(&ids).await.unwrap().len(), 1);
    let seen = &server.seen()[0];
    assert_eq!(
        (parameter(seen, "id_list"), parameter(seen, "max_results")),
        ("2101.00002,2101.00003".into(), "2".into())
    );
    assert!(api.lookup(&[Identifier::pmid("1").unwrap()]).await.unwrap().is_empty());
    let work = Work { ids: Identifier::in_text("arXiv:2101.00002"), ..Work::default() };
    assert!(
        api.citations(&work, 5).await.unwrap().is_empty()
            && api.references(&work, 5).await.unwrap().is_empty()
    );
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn pages_are_followed_and_any_word_is_better_than_none() {
    let server = StandIn::start(|seen, _| {
        if parameter(seen, "search_query").contains(" AND ") {
            return feed(0, "");
        }
        let start: u32 = parameter(seen, "start").parse().unwrap();
        let entries = (0..100_u32).map(|n| {
            format!("<entry><id>http://arxiv.org/abs/2101.{:05}v1</id><title>Naps</title></entry>", start + n)
        });
        feed(150, &entries.take(150 - start as usize).collect::<String>())
    })
    .await;
    assert_eq!(arxiv(&server.url).papers("naps memory", 400).await.unwrap().len(), 150);
    let starts: Vec<String> = server.seen().iter().map(|seen| parameter(seen, "start")).collect();
    assert_eq!(starts, ["0", "0", "100"]);
    assert_eq!(arxiv(&server.url).probe().await.unwrap().matches, 0);
}

#[tokio::test]
async fn an_error_is_an_entry() {
    let server = StandIn::start(|_, _| feed(1, ERROR)).await;
    let error = arxiv(&server.url).papers("naps", 5).await.unwrap_err();
    assert_eq!(error.to_string(), "arxiv refused the request (400): incorrect id format for 1234.12345");
    assert!(!error.is_transient());
}
