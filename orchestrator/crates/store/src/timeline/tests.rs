use super::RETRACTIONS;
use crate::testing::{Bench, Graph, cause, judged, page};
use lyra_domain::ClaimId;
use lyra_research::ports::{ClaimStore, SearchStore};
use sqlx::AssertSqlSafe;

async fn events(bench: &Bench, claim: &ClaimId) -> Vec<String> {
    bench.store.claim_timeline(claim).await.unwrap().into_iter().map(|event| event.event).collect()
}

#[tokio::test]
async fn a_claim_is_noted_when_it_is_stored_and_only_then() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    bench.store.add_claims(std::slice::from_ref(&graph.disputed), &cause()).await.unwrap();
    let found = bench.store.claim_timeline(&graph.disputed.id).await.unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        (found[0].event.as_str(), found[0].at.as_str()),
        ("claim_created", "2026-11-20T12:00:00.000Z")
    );
    assert_eq!(found[0].cause_id.as_deref(), Some(cause().as_str()));
    assert_eq!(found[0].detail["claim_type"], "extracted");
    assert_eq!(events(&bench, &graph.alone.id).await, ["claim_created"]);
    let unknown = ClaimId::derive(&["no one"]);
    assert!(bench.store.claim_timeline(&unknown).await.is_err());
}

#[tokio::test]
async fn a_retraction_is_noted_and_visible_and_changes_no_number() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    let before = bench.store.claim_report(&graph.disputed.id).await.unwrap();
    assert!(before.evidence.iter().all(|evidence| evidence.is_retracted.is_none()));

    let mut retracted = graph.pages[1].clone();
    retracted.work.as_mut().unwrap().is_retracted = Some(true);
    for _ in 0..2 {
        bench.store.register_pages(&graph.query, std::slice::from_ref(&retracted), &cause()).await.unwrap();
    }
    let after = bench.store.claim_report(&graph.disputed.id).await.unwrap();
    assert_eq!(after.posterior, before.posterior);
    assert_eq!(after.independent_sources, before.independent_sources);
    let flagged: Vec<_> = after.evidence.iter().filter(|e| e.is_retracted == Some(true)).collect();
    assert_eq!(flagged.len(), 1);
    assert_eq!(flagged[0].page_id, graph.pages[1].page.id);

    // `disputed` has evidence there, `growing` comes from there, `alone` is unrelated.
    for claim in [&graph.disputed.id, &graph.growing.id] {
        let found = bench.store.claim_timeline(claim).await.unwrap();
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(
            (found[1].event.as_str(), &found[1].detail["work_id"]),
            ("source_retracted", &"doi:10.1000/b".into())
        );
    }
    assert_eq!(events(&bench, &graph.alone.id).await, ["claim_created"]);
}

#[tokio::test]
async fn evidence_on_a_work_that_is_retracted_already_is_noted_too() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    let mut gone = page("gone", Some(2019), "The treatment works wonders.");
    gone.work.as_mut().unwrap().is_retracted = Some(true);
    bench.store.register_pages(&graph.query, std::slice::from_ref(&gone), &cause()).await.unwrap();
    assert_eq!(events(&bench, &graph.alone.id).await, ["claim_created"]);
    let edge = judged(&gone.fragments[0].id, &graph.alone.id, (0.8, 0.1, 0.1));
    bench.store.add_edges(&graph.task.id, &[edge], &cause()).await.unwrap();
    assert_eq!(events(&bench, &graph.alone.id).await, ["claim_created", "source_retracted"]);
}

#[tokio::test]
async fn retractions_are_looked_for_from_the_retracted_works() {
    let bench = Bench::new().await;
    let mut connection = bench.store.write().await.unwrap();
    let plan: Vec<(i64, i64, i64, String)> =
        sqlx::query_as(AssertSqlSafe(format!("EXPLAIN QUERY PLAN {RETRACTIONS}")))
            .fetch_all(&mut *connection)
            .await
            .unwrap();
    let steps: Vec<&str> = plan.iter().map(|step| step.3.as_str()).collect();
    assert!(steps[0].starts_with("SCAN works") && steps[0].contains("works_retracted"), "{steps:?}");
    let scans = steps.iter().filter(|step| step.starts_with("SCAN")).count();
    assert_eq!(scans, 1, "every edge of the database would be read whenever edges are written: {steps:?}");
    assert!(!steps.iter().any(|step| step.contains("AUTOMATIC")), "{steps:?}");
}
