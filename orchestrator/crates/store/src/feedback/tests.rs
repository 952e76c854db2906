use crate::testing::{Bench, Graph};
use crate::{GuardOptions, StoreError};
use lyra_domain::domains::{DomainPattern, OverrideDecision};
use lyra_domain::{AdoptionStatus, ClaimId, Edge, EdgeId, Relation};
use lyra_research::ports::ClaimStore;
use std::time::Duration;

fn pattern(text: &str) -> DomainPattern {
    DomainPattern::parse(text).unwrap()
}

#[tokio::test]
async fn a_rule_is_replaced_and_withdrawn_and_all_of_it_stays_in_the_history() {
    let bench = Bench::new().await;
    let store = &bench.store;
    let first =
        store.override_domain(&pattern("*.example.com"), OverrideDecision::Block, "spam").await.unwrap();
    assert_eq!((first.previous, first.decision), (None, Some(OverrideDecision::Block)));
    bench.clock.advance(Duration::from_secs(5));
    let second = store
        .override_domain(&pattern("*.example.com"), OverrideDecision::Unblock, "it is not")
        .await
        .unwrap();
    assert_eq!((second.rule.clone(), second.previous), (first.rule, Some(OverrideDecision::Block)));
    bench.clock.advance(Duration::from_secs(5));
    store.override_domain(&pattern("example.org"), OverrideDecision::Block, "copies").await.unwrap();

    // Another process sees the same rules.
    let rules = bench.again().await.override_rules().await.unwrap();
    let shown: Vec<_> =
        rules.iter().map(|r| (r.rule.pattern.to_string(), r.rule.decision, r.reason.as_str())).collect();
    assert_eq!(
        shown,
        [
            ("*.example.com".to_owned(), OverrideDecision::Unblock, "it is not"),
            ("example.org".to_owned(), OverrideDecision::Block, "copies"),
        ]
    );

    let cleared = store.clear_override(&pattern("*.example.com"), None).await.unwrap();
    assert_eq!(
        (cleared.rule, cleared.previous, cleared.decision),
        (second.rule, Some(OverrideDecision::Unblock), None)
    );
    assert_eq!(store.override_rules().await.unwrap().len(), 1);
    let again = store.clear_override(&pattern("*.example.com"), None).await.unwrap_err();
    assert!(matches!(again, StoreError::NotFound { .. }), "{again}");
    assert_eq!(again.to_string(), "an override of the domain pattern *.example.com does not exist");

    let events = bench.count("SELECT count(*) FROM domain_override_events").await;
    assert_eq!(events, 4);
    let mut tx = store.write().await.unwrap();
    for attempt in ["DELETE FROM domain_override_events", "UPDATE domain_override_events SET reason = 'x'"] {
        let refused = sqlx::raw_sql(attempt).execute(&mut *tx).await.unwrap_err();
        assert!(refused.to_string().contains("append-only"), "{refused}");
    }
}

#[tokio::test]
async fn a_rejected_claim_leaves_the_reports_and_comes_back_unchanged() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    let store = &bench.store;
    let before = store.claim_reports(&graph.task.id).await.unwrap();
    let change = store.reject_claim(&graph.disputed.id, "about mice").await.unwrap();
    assert_eq!((change.previous, change.status), (AdoptionStatus::Adopted, AdoptionStatus::NotAdopted));
    assert_eq!(change.task, graph.task.id);
    let left = store.claim_reports(&graph.task.id).await.unwrap();
    assert!(left.iter().all(|report| report.claim.id != graph.disputed.id) && left.len() == before.len() - 1);
    let own = store.claim_report(&graph.disputed.id).await.unwrap();
    assert_eq!(own.claim.adoption_status, AdoptionStatus::NotAdopted);

    // Found once more, it stays out.
    store.add_claims(std::slice::from_ref(&graph.disputed), &crate::testing::cause()).await.unwrap();
    assert_eq!(store.task_claims(&graph.task.id).await.unwrap().len(), before.len() - 1);

    let back = store.restore_claim(&graph.disputed.id, None).await.unwrap();
    assert_eq!(back.previous, AdoptionStatus::NotAdopted);
    assert_eq!(store.claim_reports(&graph.task.id).await.unwrap(), before);
    let twice = store.restore_claim(&graph.disputed.id, None).await.unwrap();
    assert_eq!(twice.previous, twice.status);
    assert_eq!(bench.count("SELECT count(*) FROM claim_events WHERE event LIKE 'claim_re%'").await, 2);

    let unknown: ClaimId = "claim_unknown".parse().unwrap();
    let error = store.reject_claim(&unknown, "x").await.unwrap_err();
    assert_eq!(error.to_string(), "claim claim_unknown does not exist");
}

fn edge_of(graph: &Graph, page: usize) -> EdgeId {
    EdgeId::derive(&["nli", graph.pages[page].fragments[0].id.as_str(), graph.disputed.id.as_str()])
}

#[tokio::test]
async fn a_corrected_edge_counts_in_full_and_the_sample_keeps_what_the_model_said() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    let store = &bench.store;
    let before = store.claim_report(&graph.disputed.id).await.unwrap().posterior;
    let edge = edge_of(&graph, 2);
    let corrected = store.correct_edge(&edge, Relation::Supports, Some("read in full")).await.unwrap();
    assert!(corrected.changed());
    assert_eq!((corrected.previous, corrected.relation), (Relation::Refutes, Relation::Supports));
    assert_eq!(corrected.claim, graph.disputed.id);

    let report = store.claim_report(&graph.disputed.id).await.unwrap();
    // α = 1 + 0.9 + 1.0, β = 1: the refutation of 0.9 has become a support of 1.
    assert!((before.confidence() - 0.5).abs() < 1e-9);
    assert!((report.posterior.confidence() - 2.9 / 3.9).abs() < 1e-9);
    assert_eq!((report.supporting_count, report.refuting_count), (2, 0));
    let marked: Vec<_> = report.evidence.iter().filter(|evidence| evidence.human_corrected).collect();
    assert_eq!((marked.len(), &marked[0].edge_id), (1, &edge));
    assert_eq!(marked[0].correction_reason.as_deref(), Some("read in full"));

    // A second correction: the sample still has the model's answer.
    store.correct_edge(&edge, Relation::Neutral, None).await.unwrap();
    let rows = store
        .query_graph(
            "SELECT predicted_label, predicted_confidence, correct_label, premise, hypothesis FROM nli_corrections
             ORDER BY rowid",
            GuardOptions::default(),
        )
        .await
        .unwrap()
        .rows;
    for (row, correct) in rows.iter().zip(["supports", "neutral"]) {
        assert_eq!((&row["predicted_label"], &row["correct_label"]), (&"refutes".into(), &correct.into()));
        assert_eq!(row["predicted_confidence"], 0.9);
        assert_eq!(
            (&row["premise"], &row["hypothesis"]),
            (&"the sentences judged".into(), &"the treatment works".into())
        );
    }
    assert_eq!(rows.len(), 2);
}

#[tokio::test]
async fn an_edge_that_was_right_is_marked_as_reviewed_and_keeps_its_numbers() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    let store = &bench.store;
    let before = store.claim_report(&graph.disputed.id).await.unwrap();
    let reviewed = store.correct_edge(&edge_of(&graph, 1), Relation::Supports, None).await.unwrap();
    assert!(!reviewed.changed());
    assert_eq!(store.claim_report(&graph.disputed.id).await.unwrap(), before);
    let marked = bench
        .count("SELECT count(*) FROM edges WHERE edge_corrected_at IS NOT NULL AND edge_human_corrected = 0")
        .await;
    assert_eq!(marked, 1);
    assert_eq!(bench.count("SELECT count(*) FROM nli_corrections").await, 1);
}

#[tokio::test]
async fn only_judgements_are_corrected() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    let origin =
        Edge::Origin { fragment: graph.pages[0].fragments[0].id.clone(), claim: graph.disputed.id.clone() };
    let refused = bench.store.correct_edge(&origin.id(), Relation::Refutes, None).await.unwrap_err();
    assert!(refused.to_string().contains("says `origin`"), "{refused}");
    let cites = crate::testing::cites(&graph.pages[1], &graph.pages[0]);
    assert!(bench.store.correct_edge(&cites.id(), Relation::Refutes, None).await.is_err());
    assert!(bench.store.correct_edge(&edge_of(&graph, 1), Relation::Cites, None).await.is_err());
    let unknown: EdgeId = "edge_unknown".parse().unwrap();
    let missing = bench.store.correct_edge(&unknown, Relation::Refutes, None).await.unwrap_err();
    assert!(matches!(missing, StoreError::NotFound { .. }));
    assert_eq!(bench.count("SELECT count(*) FROM nli_corrections").await, 0);
}

/// The columns of the edges that a correction changes.
async fn judgments(
    bench: &Bench,
) -> Vec<(String, String, Option<String>, f64, i64, Option<String>, Option<String>)> {
    sqlx::query_as(
        "SELECT id, relation, nli_label, nli_confidence, edge_human_corrected, edge_correction_reason, edge_corrected_at
         FROM edges WHERE relation IN ('supports', 'refutes', 'neutral') ORDER BY id",
    )
    .fetch_all(bench.store.reader())
    .await
    .unwrap()
}

#[tokio::test]
async fn an_undone_correction_leaves_the_judgment_of_the_model_and_no_sample() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    let store = &bench.store;
    let (before, edges) = (store.claim_report(&graph.disputed.id).await.unwrap(), judgments(&bench).await);
    let edge = edge_of(&graph, 2);
    store.correct_edge(&edge, Relation::Supports, Some("read in full")).await.unwrap();
    let second = store.correct_edge(&edge, Relation::Neutral, None).await.unwrap();
    assert_eq!(store.claim_report(&graph.disputed.id).await.unwrap().refuting_count, 0);

    let undone = store.undo_correction(&edge, Some("wrong passage")).await.unwrap();
    assert_eq!((undone.previous, undone.relation), (Relation::Neutral, Relation::Refutes));
    assert_eq!((&undone.claim, &undone.task), (&graph.disputed.id, &graph.task.id));
    assert_eq!(undone.sample, second.sample);
    let mut after = store.claim_report(&graph.disputed.id).await.unwrap();
    after.claim.verification_status = before.claim.verification_status;
    assert_eq!(after, before);
    assert_eq!(judgments(&bench).await, edges);
    assert!(store.calibration_samples(None).await.unwrap().is_empty());

    let timeline = store.claim_timeline(&graph.disputed.id).await.unwrap();
    let event = timeline.iter().find(|event| event.event == "edge_restored").unwrap();
    assert_eq!(event.detail["relation"], "refutes");
    assert_eq!(event.detail["reason"], "wrong passage");
    assert_eq!(event.detail["deleted_sample_ids"].as_array().unwrap().len(), 2);

    // Corrected once more, the sample has the model's answer again.
    store.correct_edge(&edge, Relation::Supports, None).await.unwrap();
    let samples = store.calibration_samples(None).await.unwrap();
    assert_eq!(samples.values().map(|of| (of.samples.len(), of.corrected)).collect::<Vec<_>>(), [(1, 1)]);
}

#[tokio::test]
async fn a_review_is_undone_and_only_once() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    let store = &bench.store;
    let edges = judgments(&bench).await;
    let edge = edge_of(&graph, 1);
    store.correct_edge(&edge, Relation::Supports, None).await.unwrap();
    assert_ne!(judgments(&bench).await, edges);
    let undone = store.undo_correction(&edge, None).await.unwrap();
    assert!(!undone.changed());
    assert_eq!(judgments(&bench).await, edges);
    assert_eq!(bench.count("SELECT count(*) FROM nli_corrections").await, 0);

    let twice = store.undo_correction(&edge, None).await.unwrap_err();
    assert_eq!(
        twice.to_string(),
        format!("{edge} was never corrected or reviewed, so there is nothing to undo")
    );
    let unknown: EdgeId = "edge_unknown".parse().unwrap();
    let missing = store.undo_correction(&unknown, None).await.unwrap_err();
    assert!(matches!(missing, StoreError::NotFound { .. }), "{missing}");
}
