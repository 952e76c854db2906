//! The numbers of a claim in SQL are those of the domain.

use crate::testing::{Bench, cause, page};
use lyra_domain::{BetaConfidence, ClaimId, Fragment, TaskId};
use proptest::prelude::*;

/// Relation and probability of one passage's edge.
type Judgment = (&'static str, Option<f64>);

/// Passages of three works and two pages without a work, several of each.
const PASSAGES: usize = 15;

struct Setting {
    bench: Bench,
    task: TaskId,
    claim: ClaimId,
    fragments: Vec<String>,
}

async fn setting() -> Setting {
    let bench = Bench::new().await;
    let task = bench.task(&["the treatment works"]).await;
    let claim = bench.store.read_task_claims(&task.id).await.unwrap().remove(0).id;
    let query = bench.search(&task, &["does it work?"]).await.remove(0);
    let query = bench.store.read_query(&query).await.unwrap();
    let mut pages: Vec<_> = ["a", "b", "c", "d", "e"].iter().map(|key| page(key, None, "A text.")).collect();
    for page in &mut pages[3..] {
        page.work = None;
        page.page.work_id = None;
    }
    // Two pages of one work.
    pages[1].work = pages[0].work.clone();
    pages[1].page.work_id = pages[0].page.work_id.clone();
    for page in &mut pages {
        page.fragments = (0..3)
            .map(|position| {
                let text = format!("Passage {position} of {}.", page.page.url);
                Fragment { position, ..Fragment::of_abstract(&page.page.id, &text) }
            })
            .collect();
    }
    bench.store.write_pages(&query, &pages, &cause()).await.unwrap();
    let fragments: Vec<String> = sqlx::query_scalar("SELECT id FROM fragments ORDER BY seq")
        .fetch_all(bench.store.reader())
        .await
        .unwrap();
    assert_eq!(fragments.len(), PASSAGES);
    Setting { bench, task: task.id, claim, fragments }
}

impl Setting {
    /// Makes these the edges of the claim, one per passage at most.
    async fn replace_edges(&self, judgments: &[Option<Judgment>]) {
        let mut tx = self.bench.store.write().await.unwrap();
        sqlx::query("DELETE FROM edges").execute(&mut *tx).await.unwrap();
        for (fragment, judgment) in self.fragments.iter().zip(judgments) {
            let Some((relation, probability)) = judgment else { continue };
            sqlx::query(
                "INSERT INTO edges (id, source_type, source_id, target_type, target_id, relation, nli_confidence, created_at)
                 VALUES ('edge_' || ?1, 'fragment', ?1, 'claim', ?2, ?3, ?4, '2026-01-01T00:00:00.000Z')",
            )
            .bind(fragment)
            .bind(self.claim.as_str())
            .bind(relation)
            .bind(probability)
            .execute(&mut *tx)
            .await
            .unwrap();
        }
        tx.commit().await.unwrap();
    }

    /// The numbers of the claim in a view, by these columns; `None` when it has no row.
    async fn read_view(&self, view: &str, columns: &[&str]) -> Option<Vec<f64>> {
        let rows = self.bench.store.query_view(view, Some(&self.task), None, 9).await.unwrap().rows;
        rows.first().map(|row| columns.iter().map(|column| row[*column].as_f64().unwrap()).collect())
    }

    /// The same numbers in the real view, which looks up one claim at a time.
    async fn read_real_view(&self) -> Vec<f64> {
        let row: (f64, f64, f64, f64, f64) = sqlx::query_as(
            "SELECT alpha, beta, confidence, uncertainty, controversy FROM v_claim_evidence_summary WHERE claim_id = ?",
        )
        .bind(self.claim.as_str())
        .fetch_one(self.bench.store.reader())
        .await
        .unwrap();
        [row.0, row.1, row.2, row.3, row.4].to_vec()
    }
}

fn judgments() -> impl Strategy<Value = Vec<Option<Judgment>>> {
    let relation = prop::sample::select(vec!["supports", "refutes", "neutral", "origin"]);
    // Round values give works that are equally sure of both sides.
    let probability = prop_oneof![
        Just(None),
        prop::sample::select(vec![0.0, 0.5, 0.9, 1.0]).prop_map(Some),
        (0.0_f64..=1.0).prop_map(Some),
    ];
    prop::collection::vec(prop::option::weighted(0.7, (relation, probability)), PASSAGES)
}

fn near(left: &[f64], right: &[f64]) -> bool {
    left.len() == right.len() && left.iter().zip(right).all(|(a, b)| (a - b).abs() < 1e-9)
}

/// Whether both have no row, or rows with the same numbers.
fn same(left: Option<&[f64]>, right: Option<&[f64]>) -> bool {
    match (left, right) {
        (Some(left), Some(right)) => near(left, right),
        (left, right) => left == right,
    }
}

fn numbers(posterior: &BetaConfidence) -> [f64; 5] {
    let BetaConfidence { alpha, beta } = *posterior;
    [alpha, beta, posterior.confidence(), posterior.uncertainty(), posterior.controversy()]
}

#[test]
fn rust_and_sql_agree_on_any_evidence() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let setting = runtime.block_on(setting());
    let columns = ["alpha", "beta", "confidence", "uncertainty", "controversy"];
    proptest!(ProptestConfig::with_cases(96), |(judgments in judgments())| {
        runtime.block_on(async {
            setting.replace_edges(&judgments).await;
            let report = setting.bench.store.claim_report(&setting.claim).await.unwrap();
            let expect = numbers(&report.posterior);
            let found = setting.read_view("claim_evidence_summary", &columns).await.unwrap();
            prop_assert!(near(&found, &expect), "{found:?} in SQL, {expect:?} in Rust");
            let found = setting.read_real_view().await;
            prop_assert!(near(&found, &expect), "{found:?} in the real view, {expect:?} in Rust");

            let exported = setting.bench.store.export_rows(&setting.task).await.unwrap();
            prop_assert_eq!(exported.claims[0].posterior, report.posterior);
            let (supports, refutes) = (report.supporting_count, report.refuting_count);
            let found = setting.read_view("contradictions", &["controversy"]).await;
            let expected = (supports > 0 && refutes > 0).then(|| vec![expect[4]]);
            let agree = same(found.as_deref(), expected.as_deref());
            prop_assert!(agree, "{found:?} among contradictions, {expected:?} in Rust");
            let found = setting.read_view("unsupported_claims", &["evidence_count", "uncertainty"]).await;
            let expected = (supports == 0).then(|| vec![refutes as f64, expect[3]]);
            let agree = same(found.as_deref(), expected.as_deref());
            prop_assert!(agree, "{found:?} among unsupported claims, {expected:?} in Rust");
            Ok(())
        })?;
    });
}
