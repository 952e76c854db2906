use super::*;
use crate::config::Config;

/// An application whose store has `samples` corrected judgments of an overconfident model: it reports 0.98 and is right
/// in two of three cases.
async fn app(folder: &std::path::Path, samples: usize) -> App {
    let app = crate::testing::open(Config { data_dir: Some(folder.to_owned()), ..Config::default() }).await;
    let path = folder.join("lyra.db");
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path);
    let pool = sqlx::SqlitePool::connect_with(options).await.unwrap();
    for i in 0..samples {
        let correct = if i % 3 == 0 { "refutes" } else { "supports" };
        sqlx::query(
            "INSERT INTO edges (id, source_type, source_id, target_type, target_id, relation, nli_label, nli_confidence,
                 nli_scores, nli_model, created_at)
             VALUES (?1, 'fragment', ?1, 'claim', 'claim_1', 'supports', 'supports', 0.98,
                 '{\"supports\":0.98,\"refutes\":0.01,\"neutral\":0.01}', 'a-model', '2026-11-20T00:00:00.000Z')",
        )
        .bind(format!("edge_{i}"))
        .execute(&pool)
        .await
        .unwrap();
        sqlx::query(
            "INSERT INTO nli_corrections (id, edge_id, premise, hypothesis, predicted_label, predicted_confidence,
                 correct_label, corrected_at)
             VALUES (?1, ?2, 'premise', 'hypothesis', 'supports', 0.98, ?3, '2026-11-20T00:00:00.000Z')",
        )
        .bind(format!("corr_{i}"))
        .bind(format!("edge_{i}"))
        .bind(correct)
        .execute(&pool)
        .await
        .unwrap();
    }
    pool.close().await;
    app
}

#[tokio::test]
async fn without_samples_every_action_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let app = app(folder.path(), 0).await;
    assert!(app.calibration_stats(None).await.unwrap().is_empty());
    for error in [
        app.evaluate_calibration(None).await.unwrap_err(),
        app.fit_calibration(None, CalibrationMethod::Platt, None).await.unwrap_err(),
        app.rollback_calibration(None, None, "why").await.unwrap_err(),
        app.calibration_stats(Some("a-model")).await.unwrap_err(),
    ] {
        assert_eq!(error.code, ErrorCode::NotFound, "{error:?}");
        assert!(error.remedy.is_some(), "{error:?}");
    }
}

#[tokio::test]
async fn measuring_all_versions_stores_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let app = app(folder.path(), 30).await;
    app.fit_calibration(None, CalibrationMethod::Temperature, None).await.unwrap();
    let measures = app.measure_calibration("a-model").await.unwrap();
    assert_eq!(measures.iter().map(|measure| measure.version).collect::<Vec<_>>(), [0, 1]);
    assert!(measures[1].metrics.brier < measures[0].metrics.brier, "{measures:?}");
    assert!(app.calibration_evaluations(None, 10).await.unwrap().is_empty());
    let unknown = app.measure_calibration("another").await.unwrap();
    assert_eq!((unknown.len(), unknown[0].metrics.samples), (1, 0));
}

#[tokio::test]
async fn too_few_samples_are_measured_and_not_fitted() {
    let folder = tempfile::tempdir().unwrap();
    let app = app(folder.path(), 9).await;
    assert_eq!(app.evaluate_calibration(None).await.unwrap().metrics.samples, 9);
    let error = app.fit_calibration(None, CalibrationMethod::Temperature, None).await.unwrap_err();
    assert_eq!(error.message, "a-model has 9 corrected or reviewed judgments");
}

#[tokio::test]
async fn parameters_are_fitted_measured_brought_into_force_and_taken_back() {
    let folder = tempfile::tempdir().unwrap();
    let app = app(folder.path(), 30).await;
    let raw = app.evaluate_calibration(None).await.unwrap();
    assert_eq!((raw.stored.version, raw.warnings.len()), (0, 0));
    for method in [CalibrationMethod::Temperature, CalibrationMethod::Platt] {
        let fit = app.fit_calibration(None, method, Some("first corrections")).await.unwrap();
        assert!(fit.after.brier < fit.before.brier && fit.warnings.is_empty(), "{fit:?}");
        assert!(fit.after.ece < 0.1 && fit.cross_validated_brier.unwrap() < fit.before.brier, "{fit:?}");
    }
    let again = app.evaluate_calibration(None).await.unwrap();
    assert_eq!(
        (again.stored.version, again.metrics.brier),
        (0, raw.metrics.brier),
        "fitting applies nothing"
    );

    let change = app.activate_calibration(Some("a-model"), 1, None).await.unwrap();
    assert_eq!((change.previous_version, change.version), (0, 1));
    assert!(change.brier < change.brier_previous);
    app.activate_calibration(None, 2, None).await.unwrap();
    let stats = app.calibration_stats(None).await.unwrap().remove(0);
    assert_eq!((stats.samples, stats.corrected, stats.active_version, stats.versions.len()), (30, 10, 2, 2));

    let later = app.rollback_calibration(None, Some(2), "why").await.unwrap_err();
    assert!(later.message.contains("not earlier"), "{later}");
    let back = app.rollback_calibration(None, None, "worse on new claims").await.unwrap();
    assert_eq!((back.version, back.previous_version), (1, 2));
    let back = app.rollback_calibration(None, None, "worse still").await.unwrap();
    assert_eq!((back.version, back.previous_version, back.warnings.len()), (0, 1, 1), "{back:?}");
    assert!(back.warnings[0].contains("% worse than that of version 1"), "{back:?}");
    assert!(app.rollback_calibration(None, None, "again").await.is_err());
    assert!(app.activate_calibration(None, 9, None).await.is_err_and(|e| e.code == ErrorCode::NotFound));
    assert_eq!(app.calibration_evaluations(None, 9).await.unwrap().len(), 2);
}
