use crate::testing::{Bench, Graph, cause, page};
use lyra_research::ports::{FragmentRank, SearchStore};

#[tokio::test]
async fn what_was_found_and_not_judged() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    let mut foreign = page("ja", Some(2020), "治療は有効である。");
    foreign.page.language = Some("ja".to_owned());
    let mut empty = page("empty", Some(2021), "");
    empty.fragments.clear();
    bench.store.register_pages(&graph.query, &[foreign.clone(), empty], &cause()).await.unwrap();
    let rank = |fragment: &lyra_domain::FragmentId| FragmentRank {
        fragment: fragment.clone(),
        bm25: 1.0,
        cosine: None,
        score: 1.0,
        relevant: true,
        contributions: std::collections::BTreeMap::new(),
    };
    let found: Vec<FragmentRank> =
        graph.pages.iter().chain([&foreign]).map(|page| rank(&page.fragments[0].id)).collect();
    bench.store.record_ranking(&graph.query.id, &found).await.unwrap();
    let failed = "openalex: HTTP 503".to_owned();
    let query =
        lyra_domain::Query { source_errors: vec![failed.clone(), failed.clone()], ..graph.query.clone() };
    bench.store.update_query(&query).await.unwrap();

    let all = bench.store.coverage(&graph.task.id, None).await.unwrap();
    assert_eq!((all.works, all.works_without_text), (6, 1));
    assert_eq!((all.passages, all.passages_not_judged, all.works_not_judged), (5, 1, 1));
    assert_eq!(all.languages, [("ja".to_owned(), 1)]);
    assert_eq!(all.failures, [failed]);

    // Page a is where the claim was found: it was not judged against it.
    let disputed = bench.store.coverage(&graph.task.id, Some(&graph.disputed.id)).await.unwrap();
    assert_eq!((disputed.passages_not_judged, disputed.works_not_judged), (2, 2));
    assert_eq!(disputed.languages, [("ja".to_owned(), 1)]);
}
