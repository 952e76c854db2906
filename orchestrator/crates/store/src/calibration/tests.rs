use super::*;
use crate::testing::{Bench, Graph};
use lyra_domain::{AppliedCalibration, CalibrationMethod, Discrepancies, Edge};
use lyra_research::ports::ClaimStore;

const MODEL: &str = "test-nli";

/// Corrections of the first NLI edges of a graph: (edge by age, predicted, confidence, correct, minute).
async fn correct(bench: &Bench, corrections: &[(usize, &str, f64, &str, u32)]) {
    let edges: Vec<String> =
        sqlx::query_scalar("SELECT id FROM edges WHERE nli_model IS NOT NULL ORDER BY seq")
            .fetch_all(bench.store.reader())
            .await
            .unwrap();
    let mut tx = bench.store.write().await.unwrap();
    for (i, (edge, predicted, confidence, correct, minute)) in corrections.iter().enumerate() {
        sqlx::query(
            "INSERT INTO nli_corrections
                 (id, edge_id, premise, hypothesis, predicted_label, predicted_confidence, correct_label, corrected_at)
             VALUES (?, ?, 'premise', 'hypothesis', ?, ?, ?, ?)",
        )
        .bind(format!("corr_{i}"))
        .bind(&edges[*edge])
        .bind(predicted)
        .bind(confidence)
        .bind(correct)
        .bind(format!("2026-11-20T12:{minute:02}:00.000Z"))
        .execute(&mut *tx)
        .await
        .unwrap();
    }
    tx.commit().await.unwrap();
}

#[tokio::test]
async fn an_edge_is_one_sample_with_its_latest_correction_and_its_first_scores() {
    let bench = Bench::new().await;
    Graph::new(&bench).await;
    correct(
        &bench,
        &[
            (0, "supports", 0.9, "refutes", 1),
            (0, "refutes", 1.0, "neutral", 2),
            (1, "refutes", 0.9, "refutes", 3),
        ],
    )
    .await;
    let found = bench.store.calibration_samples(None).await.unwrap();
    let samples = &found[MODEL];
    assert_eq!((samples.samples.len(), samples.corrected), (2, 1));
    let model = NliScores { supports: 0.9, refutes: 0.05, neutral: 0.05 };
    assert_eq!(Some(samples.samples[0]), CalibrationSample::new(model, Relation::Neutral));
    assert!(bench.store.calibration_samples(Some("another")).await.unwrap().is_empty());

    // Unreadable scores are reconstructed from the label and its confidence.
    bench.execute("UPDATE edges SET nli_scores = '{broken'").await;
    let found = bench.store.calibration_samples(Some(MODEL)).await.unwrap();
    assert!((found[MODEL].samples[0].scores.refutes - 0.05).abs() < 1e-12);
    bench
        .execute("UPDATE edges SET nli_raw_scores = '{\"supports\":0.2,\"refutes\":0.2,\"neutral\":0.6}'")
        .await;
    let found = bench.store.calibration_samples(Some(MODEL)).await.unwrap();
    assert_eq!(found[MODEL].samples[0].scores.neutral, 0.6);
}

#[tokio::test]
async fn versions_are_counted_and_one_at_most_is_in_force() {
    let bench = Bench::new().await;
    let store = &bench.store;
    let temperature = |temperature| Calibration::Temperature { temperature };
    assert_eq!(store.active_calibration(MODEL).await.unwrap(), None);
    let first = store.add_calibration(MODEL, &temperature(2.0), 10, Some("first")).await.unwrap();
    let second = store.add_calibration(MODEL, &temperature(1.5), 12, None).await.unwrap();
    let other = store.add_calibration("other", &temperature(1.5), 12, None).await.unwrap();
    assert_eq!((first.version, second.version, other.version), (1, 2, 1));
    assert_eq!(store.active_calibration(MODEL).await.unwrap(), None, "nothing applies until it is activated");

    let activate =
        |version| store.activate_calibration(MODEL, version, CalibrationAction::Activate, Some("try"));
    assert_eq!(activate(1).await.unwrap(), 0);
    assert_eq!(activate(2).await.unwrap(), 1);
    assert_eq!(activate(2).await.unwrap(), 2);
    let active = store.active_calibration(MODEL).await.unwrap().unwrap();
    assert_eq!((active.version, active.calibration), (2, temperature(1.5)));
    assert_eq!(store.calibration_before(MODEL, 2).await.unwrap(), 1);
    assert_eq!(store.calibration_before(MODEL, 1).await.unwrap(), 0);
    let unknown = activate(7).await.unwrap_err().to_string();
    assert_eq!(unknown, "calibration 7 of test-nli does not exist");
    assert_eq!(
        store.active_calibration(MODEL).await.unwrap().unwrap().version,
        2,
        "a refusal changes nothing"
    );
    store.activate_calibration(MODEL, 0, CalibrationAction::Rollback, None).await.unwrap();
    assert_eq!(store.active_calibration(MODEL).await.unwrap(), None);
    let versions = store.calibrations(Some(MODEL)).await.unwrap();
    assert_eq!(versions.iter().map(|v| v.version).collect::<Vec<_>>(), [2, 1]);
    let log = "SELECT count(*) FROM calibration_activations WHERE action = 'activate'";
    assert_eq!(bench.count(log).await, 3);
    let mut tx = store.write().await.unwrap();
    let erased = sqlx::query("DELETE FROM calibration_activations").execute(&mut *tx).await;
    assert!(erased.is_err_and(|error| error.to_string().contains("append-only")));
}

#[tokio::test]
async fn evaluations_read_back_newest_first() {
    let bench = Bench::new().await;
    let sample = CalibrationSample::new(spread(Relation::Supports, 0.8), Relation::Supports).unwrap();
    let metrics = CalibrationMetrics::of(&[sample], None);
    let first = bench.store.add_evaluation(MODEL, 0, &metrics).await.unwrap();
    bench.clock.advance(std::time::Duration::from_secs(1));
    let second = bench.store.add_evaluation(MODEL, 3, &metrics).await.unwrap();
    let found = bench.store.evaluations(Some(MODEL), 9).await.unwrap();
    assert_eq!(
        found.iter().map(|e| (&e.id, e.version)).collect::<Vec<_>>(),
        [(&second.id, 3), (&first.id, 0)]
    );
    let counts = |e: &StoredEvaluation| e.bins.iter().map(|bin| bin.count).collect::<Vec<_>>();
    assert_eq!((found[0].brier, counts(&found[0])), (metrics.brier, counts(&second)));
    assert_eq!(bench.store.evaluations(None, 1).await.unwrap(), found[..1]);
    assert!(bench.store.evaluations(Some("other"), 9).await.unwrap().is_empty());
}

#[tokio::test]
async fn an_edge_keeps_what_the_model_said_beside_what_a_calibration_made_of_it() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    let raw = NliScores { supports: 0.9, refutes: 0.05, neutral: 0.05 };
    let calibration = Calibration::fit(CalibrationMethod::Temperature, &[]);
    let mut judgement = Calibration::Temperature { temperature: 2.0 }.apply(raw).judgement();
    judgement.calibration = Some(AppliedCalibration { version: 4, raw });
    let edge = Edge::Nli {
        fragment: graph.pages[0].fragments[0].id.clone(),
        claim: graph.alone.id.clone(),
        judgement,
        premise: "words".to_owned(),
        discrepancies: Discrepancies::default(),
        model: MODEL.to_owned(),
        source_domain_category: "unverified".to_owned(),
        target_domain_category: None,
    };
    bench.store.add_edges(&graph.task.id, &[edge], &crate::testing::cause()).await.unwrap();
    let (confidence, raw_scores, version): (f64, String, i64) = sqlx::query_as(
        "SELECT nli_confidence, nli_raw_scores, calibration_version FROM edges WHERE calibration_version IS NOT NULL",
    )
    .fetch_one(bench.store.reader())
    .await
    .unwrap();
    assert!(confidence < 0.9 && confidence == judgement.confidence.get());
    assert_eq!(serde_json::from_str::<NliScores>(&raw_scores).unwrap(), raw);
    assert_eq!(version, 4);
    assert_eq!(calibration, Calibration::Temperature { temperature: 1.0 });
}
