use crate::testing::{Bench, Graph, cause, cites, judged, page};
use lyra_domain::{Edge, NotJudged, PageId, Relation};
use lyra_research::ports::{ClaimStore, SearchStore};

#[tokio::test]
async fn a_claim_with_both_sides() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    let reports = bench.store.claim_reports(&graph.task.id).await.unwrap();
    let texts: Vec<_> = reports.iter().map(|report| report.claim.claim_text.as_str()).collect();
    assert_eq!(texts, ["no one has written about this", "the treatment works", "the protocol is sound"]);

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
    let origin = report.origin.as_ref().unwrap();
    assert_eq!((origin.citation.title.as_str(), origin.citation.year), ("Title a", Some(2008)));
    assert_eq!((origin.text.as_str(), &reports[0].origin), ("The treatment works in mice.", &None));
    let works = report.works();
    assert_eq!((works.supporting, works.refuting, works.silent), (1, 1, 1));
}

#[tokio::test]
async fn contradicted_means_evidence_on_both_sides() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    let refuted = judged(&graph.pages[2].fragments[0].id, &graph.alone.id, (0.0, 0.9, 0.1));
    bench.store.add_edges(&graph.task.id, &[refuted], &cause()).await.unwrap();
    let reports = bench.store.claim_reports(&graph.task.id).await.unwrap();
    let contradicted: Vec<_> =
        reports.iter().filter(|r| r.is_contradicted()).map(|r| r.claim.claim_text.as_str()).collect();
    assert_eq!(contradicted, [graph.disputed.claim_text.as_str()], "one is only refuted, one only supported");
    let sql = "SELECT count(DISTINCT target_id) FROM edges AS s JOIN edges AS r USING (target_id)
               WHERE s.relation = 'supports' AND r.relation = 'refutes'";
    assert_eq!(bench.count(sql).await, 1);
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
        let works = bench.store.graph_rows(&graph.task.id).await.unwrap().works;
        assert!(
            works.iter().all(|work| (&work.year, &work.venue, &work.doi) == (&None, &None, &None)),
            "{broken}"
        );
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
    let rows = bench.store.graph_rows(&graph.task.id).await.unwrap();
    assert_eq!((rows.claims.len(), rows.passages.len(), rows.works.len(), rows.edges.len()), (3, 4, 4, 12));
    for (work, page) in rows.works.iter().zip(&export.pages) {
        assert_eq!((&work.id, &work.title, work.year), (&page.id.to_string(), &page.title, page.year));
        assert_eq!(work.first_author.as_ref(), page.authors.first());
    }
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

#[tokio::test]
async fn passages_of_one_work_count_once_in_reports_views_and_exports() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    let task = &graph.task.id;
    // Passages of works a to d, with every mix of sides and ties.
    let mut edges = Vec::new();
    for (place, (work, s, r)) in (10..).zip([
        ("a", 0.9, 0.05),
        ("a", 0.7, 0.2),
        ("b", 0.2, 0.7),
        ("b", 0.6, 0.3),
        ("c", 0.8, 0.1),
        ("c", 0.1, 0.8),
        ("c", 0.1, 0.1),
        ("d", 0.05, 0.9),
    ]) {
        let mut more = page(work, Some(2001), &format!("Passage number {place} of the work."));
        more.fragments[0].position = place;
        bench.store.register_pages(&graph.query, std::slice::from_ref(&more), &cause()).await.unwrap();
        edges.push(judged(&more.fragments[0].id, &graph.alone.id, (s, r, 1.0 - s - r)));
    }
    bench.store.add_edges(task, &edges, &cause()).await.unwrap();

    let reports = bench.store.claim_reports(task).await.unwrap();
    let exported = bench.store.export_rows(task).await.unwrap();
    let summary = bench.store.query_view("claim_evidence_summary", Some(task), None, 9).await.unwrap();
    for report in &reports {
        let id = report.claim.id.as_str();
        let in_export = exported.claims.iter().find(|claim| claim.claim.id.as_str() == id).unwrap();
        assert_eq!(in_export.posterior, report.posterior);
        let row = summary.rows.iter().find(|row| row["claim_id"] == id).unwrap();
        for (column, expect) in [
            ("alpha", report.posterior.alpha),
            ("beta", report.posterior.beta),
            ("confidence", report.posterior.confidence()),
            ("uncertainty", report.posterior.uncertainty()),
            ("controversy", report.posterior.controversy()),
        ] {
            let got = row[column].as_f64().unwrap();
            assert!(
                (got - expect).abs() < 1e-9,
                "{id}: {column} is {got} in the view, {expect} in the report"
            );
        }
    }
    let alone = reports.iter().find(|report| report.claim.id == graph.alone.id).unwrap();
    // a supports with 0.9, b refutes with 0.7, c with 0.8 (a tie), d with 0.9.
    assert!((alone.posterior.alpha - 1.9).abs() < 1e-9 && (alone.posterior.beta - 3.4).abs() < 1e-9);
    assert_eq!((alone.supporting_count, alone.refuting_count, alone.neutral_count), (4, 3, 1));
    let both = bench.store.query_view("contradictions", Some(task), None, 9).await.unwrap();
    let row = both.rows.iter().find(|row| row["claim_id"] == graph.alone.id.as_str()).unwrap();
    assert!((row["controversy"].as_f64().unwrap() - alone.posterior.controversy()).abs() < 1e-9);
}

#[tokio::test]
async fn what_was_not_judged_is_counted_until_it_is() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    let fragment = |i: usize| graph.pages[i].fragments[0].id.clone();
    let unread = [(fragment(0), NotJudged::Language), (fragment(1), NotJudged::TooLong)];
    for _ in 0..2 {
        bench.store.add_not_judged(&graph.alone.id, &unread, &cause()).await.unwrap();
    }
    // A pair that is judged is not among them.
    bench
        .store
        .add_not_judged(&graph.disputed.id, &[(fragment(1), NotJudged::Language)], &cause())
        .await
        .unwrap();
    let not_judged = async |claim| bench.store.claim_report(claim).await.unwrap().not_judged_count;
    assert_eq!((not_judged(&graph.alone.id).await, not_judged(&graph.disputed.id).await), (2, 0));
    let rows = bench.store.query_view("claim_evidence_summary", Some(&graph.task.id), None, 9).await.unwrap();
    let counts: Vec<i64> = rows.rows.iter().filter_map(|row| row["not_judged_count"].as_i64()).collect();
    assert_eq!(counts.iter().sum::<i64>(), 2);

    let mut edge = judged(&fragment(0), &graph.alone.id, (0.1, 0.1, 0.8));
    if let Edge::Nli { discrepancies, .. } = &mut edge {
        discrepancies.missing.push("sclerosis".to_owned());
        discrepancies.differs.push("number: 12 % in the claim, 30 % in the passage".to_owned());
    }
    bench.store.add_edges(&graph.task.id, &[edge], &cause()).await.unwrap();
    let report = bench.store.claim_report(&graph.alone.id).await.unwrap();
    assert_eq!((report.not_judged_count, report.neutral_count), (1, 1));
    assert_eq!(report.evidence[0].discrepancies.missing, ["sclerosis"]);
    assert_eq!(report.evidence[0].discrepancies.differs, ["number: 12 % in the claim, 30 % in the passage"]);
    let shown = serde_json::to_value(&report.evidence[0]).unwrap();
    assert_eq!(shown["missing"], serde_json::json!(["sclerosis"]));
}
