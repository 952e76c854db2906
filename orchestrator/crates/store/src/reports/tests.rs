use crate::testing::{Bench, Graph, cause, cites, judged, page};
use lyra_domain::{PageId, Relation};
use lyra_research::ports::EvidenceStore;

#[tokio::test]
async fn a_claim_with_both_sides() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    let reports = bench.store.claim_reports(&graph.task.id).await.unwrap();
    let texts: Vec<_> = reports.iter().map(|report| report.claim.claim_text.as_str()).collect();
    assert_eq!(texts, ["nobody has written about this", "the treatment works", "the protocol is sound"]);

    let report = &reports[1];
    assert_eq!(*report, bench.store.claim_report(&graph.disputed.id).await.unwrap());
    assert_eq!((report.supporting_count, report.refuting_count, report.neutral_count), (1, 1, 1));
    assert_eq!((report.posterior.alpha, report.posterior.beta), (1.9, 1.9));
    assert_eq!(report.independent_sources, 2);
    assert_eq!((report.evidence_years.oldest, report.evidence_years.newest), (Some(2015), Some(2024)));
    let refuting = &report.evidence[0];
    assert_eq!(refuting.relation, Relation::Refutes);
    assert_eq!((refuting.title.as_str(), refuting.year), ("Title c", Some(2024)));
    assert_eq!(refuting.doi.as_deref(), Some("10.1000/c"));
    assert_eq!(refuting.venue.as_deref(), Some("Journal of Tests"));
    assert_eq!(refuting.url.as_deref(), Some("https://c.example.org/paper"));
    assert_eq!((refuting.text.as_str(), refuting.doc_id.as_deref()), ("the sentences judged", None));
    assert_eq!(refuting.source_key, "doi:10.1000/c");
    let neutral = report.evidence.last().unwrap();
    assert_eq!((neutral.relation, neutral.year), (Relation::Neutral, None), "an unknown year stays visible");
    assert!(reports[0].evidence.is_empty());
}

#[tokio::test]
async fn the_source_of_a_claim_is_no_independent_one() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    let mut more = page("a", Some(2008), "Another passage of the page that the claim is from.");
    more.fragments[0].position = 1;
    bench.store.register_pages(&graph.query, std::slice::from_ref(&more), &cause()).await.unwrap();
    let edge = judged(&more.fragments[0].id, &graph.disputed.id, (0.9, 0.0, 0.1));
    bench.store.add_edges(&graph.task.id, &[edge], &cause()).await.unwrap();
    let report = bench.store.claim_report(&graph.disputed.id).await.unwrap();
    assert_eq!((report.supporting_count, report.independent_sources), (2, 2));
}

#[tokio::test]
async fn a_document_of_a_corpus_has_an_id_and_no_address() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    let mut document = page("e", Some(2020), "A passage in a local corpus.");
    document.page.url = "corpus:tests/doc/17".to_owned();
    document.page.domain = "corpus:tests".to_owned();
    document.page.work_id = None;
    document.work = None;
    document.page.id = PageId::derive(&["url", &document.page.url]);
    document.page.paper_metadata.doi = None;
    document.fragments[0].page_id = document.page.id.clone();
    bench.store.register_pages(&graph.query, std::slice::from_ref(&document), &cause()).await.unwrap();
    let edge = judged(&document.fragments[0].id, &graph.alone.id, (0.9, 0.0, 0.1));
    bench.store.add_edges(&graph.task.id, &[edge], &cause()).await.unwrap();
    let report = bench.store.claim_report(&graph.alone.id).await.unwrap();
    let evidence = &report.evidence[0];
    assert_eq!((evidence.url.as_deref(), evidence.doc_id.as_deref()), (None, Some("doc/17")));
    assert_eq!((evidence.doi.as_deref(), evidence.source_key.as_str()), (None, "corpus:tests"));
}

#[tokio::test]
async fn malformed_metadata_degrades_to_nulls() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    bench.execute("UPDATE works SET year = NULL, venue = NULL, doi = NULL").await;
    for broken in
        ["'{not json'", "'{\"year\": \"soon\", \"authors\": 7}'", "'[]'", "'{\"year\": 99999999999}'", "NULL"]
    {
        let sql: &'static str = format!("UPDATE pages SET paper_metadata = {broken}").leak();
        bench.execute(sql).await;
        let report = bench.store.claim_report(&graph.disputed.id).await.unwrap();
        assert_eq!(report.evidence.len(), 3, "{broken}");
        assert!(
            report.evidence.iter().all(|e| e.year.is_none() && e.venue.is_none() && e.doi.is_none()),
            "{broken}"
        );
        bench.store.export_rows(&graph.task.id).await.unwrap();
        bench.store.query_view("v_evidence_timeline", Some(&graph.task.id), None, 9).await.unwrap();
    }
}

#[tokio::test]
async fn an_export_has_everything_that_its_edges_name() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    let export = bench.store.export_rows(&graph.task.id).await.unwrap();
    assert_eq!((export.claims.len(), export.fragments.len(), export.pages.len()), (3, 4, 4));
    assert_eq!(export.edges.len(), 12);
    assert_eq!(export.claims[1].posterior.alpha, 1.9);
    assert!(export.pages.iter().all(|page| page.is_source));
    let ids: Vec<&str> = (export.claims.iter().map(|c| c.claim.id.as_str()))
        .chain(export.fragments.iter().map(|f| f.fragment.id.as_str()))
        .chain(export.pages.iter().map(|p| p.id.as_str()))
        .collect();
    for edge in &export.edges {
        assert!(ids.contains(&edge.source_id.as_str()) && ids.contains(&edge.target_id.as_str()), "{edge:?}");
    }
}

#[tokio::test]
async fn citations_are_followed_one_hop_from_source_pages_alone() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    let far = ["cited", "beyond", "aside"].map(|key| page(key, None, &format!("Text of {key}.")));
    bench.store.register_pages(&graph.query, &far, &cause()).await.unwrap();
    let [cited, beyond, aside] = &far;
    let edges = [cites(&graph.pages[0], cited), cites(cited, beyond), cites(aside, &graph.pages[0])];
    bench.store.add_edges(&graph.task.id, &edges, &cause()).await.unwrap();
    let export = bench.store.export_rows(&graph.task.id).await.unwrap();
    let sources = |is_source| export.pages.iter().filter(|page| page.is_source == is_source).count();
    assert_eq!((sources(true), sources(false)), (4, 1));
    let last = export.pages.last().unwrap();
    assert_eq!((&last.id, last.doi.as_deref()), (&cited.page.id, Some("10.1000/cited")));
    assert_eq!((last.venue.as_deref(), last.citation_count), (Some("Journal of Tests"), Some(8)));
    assert_eq!(export.edges.len(), 13);
}

#[tokio::test]
async fn a_task_with_more_pages_than_a_statement_has_parameters_is_exported() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    bench
        .execute(
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40000)
             INSERT INTO pages (id, url, domain, fetch_method, fetched_at)
             SELECT 'page_' || i, 'https://example.org/' || i, 'example.org', 'http', '2026-01-01T00:00:00.000Z' FROM n;
             INSERT INTO edges (id, source_type, source_id, target_type, target_id, relation, created_at)
             SELECT 'edge_' || pages.seq, 'page', (SELECT id FROM pages ORDER BY seq LIMIT 1), 'page', pages.id, 'cites',
                    '2026-01-01T00:00:00.000Z'
             FROM pages WHERE pages.id GLOB 'page_[0-9]*' AND length(pages.id) < 12",
        )
        .await;
    let export = bench.store.export_rows(&graph.task.id).await.unwrap();
    assert_eq!((export.pages.len(), export.edges.len()), (40_004, 40_012));
}
