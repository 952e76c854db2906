use crate::testing::{Bench, Graph, cause, cites, judged, page};
use lyra_domain::{Claim, ClaimId, FragmentId, PaperMetadata, WorkKind};
use lyra_research::PortError;
use lyra_research::ports::{ClaimStore, EmbeddingTarget, FragmentRank, SearchStore, TaskStore, VectorStore};
use std::collections::HashSet;

const ROWS: &str =
    "SELECT (SELECT count(*) FROM works) + (SELECT count(*) FROM pages) + (SELECT count(*) FROM fragments)
    + (SELECT count(*) FROM task_pages) + (SELECT count(*) FROM serp_items) + (SELECT count(*) FROM claims)
    + (SELECT count(*) FROM edges)";

#[tokio::test]
async fn writing_the_same_again_changes_nothing() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    let before = bench.count(ROWS).await;
    let store = &bench.store;
    store.register_pages(&graph.query, &graph.pages, &cause()).await.unwrap();
    store.add_claims(std::slice::from_ref(&graph.disputed), &cause()).await.unwrap();
    // A pair keeps its first judgment.
    let edge = judged(&graph.pages[1].fragments[0].id, &graph.disputed.id, (0.0, 1.0, 0.0));
    store
        .add_edges(&graph.task.id, &[edge, cites(&graph.pages[1], &graph.pages[0])], &cause())
        .await
        .unwrap();
    assert_eq!(bench.count(ROWS).await, before);
    assert_eq!(store.claim_report(&graph.disputed.id).await.unwrap().supporting_count, 1);
}

#[tokio::test]
async fn a_known_page_gains_what_is_new_and_keeps_what_it_has() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    let store = &bench.store;
    // The same DOI at another address, with less metadata, a year where it was missing, and another fragment.
    let mut new = page("d", Some(1990), "Another passage of the same paper.");
    new.page.url = "https://mirror.example.net/d".to_owned();
    new.page.title = "Another title".to_owned();
    new.page.paper_metadata.imprint.kind = Some(WorkKind::Report);
    store.register_pages(&graph.query, &[new.clone()], &cause()).await.unwrap();
    assert_eq!(bench.count("SELECT count(*) FROM pages").await, 4);
    let fragments = store.task_fragments(&graph.task.id).await.unwrap();
    let of_page: Vec<_> = fragments.iter().filter(|f| f.fragment.page_id == new.page.id).collect();
    assert_eq!(of_page.len(), 2);
    assert!(of_page.iter().all(|f| f.title == "Title d" && f.source_key == "doi:10.1000/d"));
    assert_eq!(bench.count("SELECT count(*) FROM pages WHERE year = 1990").await, 1);
    assert_eq!(bench.count("SELECT count(*) FROM works WHERE year = 1990").await, 1);
    let exported = store.export_rows(&graph.task.id).await.unwrap().pages;
    let kinds = exported.iter().filter(|page| page.imprint.kind == Some(WorkKind::Report));
    assert_eq!(kinds.map(|page| &page.id).collect::<Vec<_>>(), [&new.page.id]);

    // The same address without a DOI is the same page, regardless of its given id.
    let mut bare = page("d", None, "A third passage.");
    bare.page.id = lyra_domain::PageId::derive(&["url", &bare.page.url]);
    bare.page.paper_metadata = PaperMetadata::default();
    bare.page.work_id = None;
    bare.work = None;
    bare.fragments[0].page_id = bare.page.id.clone();
    store.register_pages(&graph.query, &[bare], &cause()).await.unwrap();
    assert_eq!(store.task_pages(&graph.task.id).await.unwrap().len(), 4);
    assert_eq!(store.task_fragments(&graph.task.id).await.unwrap().len(), 6);
}

#[tokio::test]
async fn fragments_come_in_an_order_that_does_not_depend_on_when_they_were_stored() {
    let mut orders = Vec::new();
    for turn in 0..2 {
        let bench = Bench::new().await;
        let (_, queries) = bench.searching(&["q"]).await;
        let query = bench.store.query(&queries[0]).await.unwrap();
        let mut pages: Vec<_> = ["x", "y", "z"].map(|key| page(key, None, key)).into();
        if turn == 1 {
            pages.reverse();
        }
        for page in &pages {
            bench.store.register_pages(&query, std::slice::from_ref(page), &cause()).await.unwrap();
        }
        let fragments = bench.store.task_fragments(&query.task_id).await.unwrap();
        orders.push(fragments.into_iter().map(|f| f.fragment.id).collect::<Vec<_>>());
    }
    assert_eq!(orders[0], orders[1]);
}

#[tokio::test]
async fn rankings_are_replaced_and_read_back_in_order() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    let rank = |page: usize, score, cosine| FragmentRank {
        fragment: graph.pages[page].fragments[0].id.clone(),
        bm25: 1.5,
        cosine,
        score,
        relevant: score > 0.5,
        contributions: [("text".to_owned(), 0.25), ("meaning".to_owned(), 0.75)].into(),
    };
    let store = &bench.store;
    store.record_ranking(&graph.query.id, &[rank(3, 0.8, None)]).await.unwrap();
    let ranks = vec![rank(2, 0.9, Some(0.7)), rank(0, 0.6, None), rank(1, 0.2, Some(-0.1))];
    store.record_ranking(&graph.query.id, &ranks).await.unwrap();
    let rankings = store.rankings(&graph.task.id).await.unwrap();
    assert_eq!(rankings.len(), 1, "the search of the user's claim has none yet");
    assert_eq!((&rankings[0].0.id, &rankings[0].1), (&graph.query.id, &ranks));
    assert_eq!(bench.count("SELECT count(*) FROM fragments WHERE is_relevant").await, 3);

    let unknown = FragmentRank { fragment: FragmentId::derive(&["nowhere"]), ..rank(0, 0.1, None) };
    let error = store.record_ranking(&graph.query.id, &[unknown]).await.unwrap_err();
    assert!(matches!(error, PortError::NotFound { .. }), "{error}");
    assert_eq!(
        store.rankings(&graph.task.id).await.unwrap()[0].1,
        ranks,
        "a failed write leaves nothing behind"
    );
}

#[tokio::test]
async fn vectors_come_back_as_they_went_in_however_many() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    let store = &bench.store;
    let many: Vec<(EmbeddingTarget, Vec<f32>)> = (0..3_000_u16)
        .map(|i| {
            (
                EmbeddingTarget::Fragment(FragmentId::derive(&[&i.to_string()])),
                vec![f32::from(i), 0.1, -1e-30],
            )
        })
        .collect();
    store.put_embeddings("m", &many).await.unwrap();
    store.put_embeddings("m", &many[..5]).await.unwrap();
    let mut targets: Vec<_> = many.iter().map(|(target, _)| target.clone()).collect();
    targets.push(EmbeddingTarget::Claim(graph.alone.id.clone()));
    let found = store.embeddings("m", &targets).await.unwrap();
    assert_eq!(found.len(), 3_000);
    assert!(many.iter().all(|(target, vector)| found[target] == *vector));
    assert!(store.embeddings("another model", &targets).await.unwrap().is_empty());
}

#[tokio::test]
async fn what_does_not_exist_cannot_be_pointed_to() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    let store = &bench.store;
    let nowhere = FragmentId::derive(&["nowhere"]);
    let claim = Claim::new(&graph.task.id, "from nowhere", Some(nowhere.clone()), None);
    assert!(matches!(store.add_claims(&[claim], &cause()).await, Err(PortError::NotFound { .. })));
    let unknown = ClaimId::derive(&["no one"]);
    for edge in [
        judged(&nowhere, &graph.alone.id, (1.0, 0.0, 0.0)),
        judged(&graph.pages[0].fragments[0].id, &unknown, (1.0, 0.0, 0.0)),
        cites(&graph.pages[0], &page("unknown", None, "x")),
    ] {
        let result = store.add_edges(&graph.task.id, &[edge], &cause()).await;
        assert!(matches!(result, Err(PortError::NotFound { .. })), "{result:?}");
    }
}

#[tokio::test]
async fn judged_pairs_and_origins() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    let store = &bench.store;
    let fragment = |i: usize| graph.pages[i].fragments[0].id.clone();
    let judged = store.load_judged_fragments(&graph.disputed.id).await.unwrap();
    assert_eq!(judged, HashSet::from([fragment(1), fragment(2), fragment(3)]), "the origin was not judged");

    // The same words in another fragment keep their first origin, and a user's claim keeps none.
    let elsewhere = Claim::new(&graph.task.id, &graph.disputed.claim_text, Some(fragment(3)), None);
    let found = Claim::new(&graph.task.id, &graph.alone.claim_text, Some(fragment(3)), None);
    store.add_claims(&[elsewhere, found], &cause()).await.unwrap();
    assert_eq!(store.claim(&graph.disputed.id).await.unwrap().source_fragment_id, Some(fragment(0)));
    assert_eq!(store.claim(&graph.alone.id).await.unwrap().source_fragment_id, None);
    assert_eq!(bench.count("SELECT count(*) FROM edges WHERE relation = 'origin'").await, 2);
}

#[tokio::test]
async fn texts_are_stored_shorter_than_the_longest_value_of_a_statement() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    let mut long = page("long", None, &"文".repeat(200_000));
    let title = "題".repeat(200_000);
    long.page.title.clone_from(&title);
    if let Some(work) = &mut long.work {
        work.title = title;
    }
    for _ in 0..2 {
        bench.store.register_pages(&graph.query, std::slice::from_ref(&long), &cause()).await.unwrap();
    }
    let longest = "SELECT (SELECT max(length(text_content)) FROM fragments) AS text,
             (SELECT max(length(title)) FROM pages) AS page, (SELECT max(length(title)) FROM works) AS work,
             (SELECT max(length(title)) FROM serp_items) AS item, (SELECT count(*) FROM fragments) AS fragments";
    let found = bench.store.query_graph(longest, crate::GuardOptions::default()).await.unwrap();
    for (column, length) in
        [("text", 100_000), ("page", 2_000), ("work", 2_000), ("item", 2_000), ("fragments", 5)]
    {
        assert_eq!(found.rows[0][column], length, "{column}");
    }
}
