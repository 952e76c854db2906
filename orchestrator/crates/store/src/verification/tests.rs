use crate::testing::{Bench, Graph, cause, judged, page};
use lyra_domain::domains::{DomainPattern, OverrideDecision};
use lyra_domain::{Claim, ClaimId};
use lyra_research::ports::{ClaimStore, DomainStore, SearchStore};

async fn status(bench: &Bench, claim: &ClaimId) -> (String, String) {
    sqlx::query_as("SELECT source_verification_status, verification_reason FROM claims WHERE id = ?")
        .bind(claim.as_str())
        .fetch_one(bench.store.reader())
        .await
        .unwrap()
}

async fn state(bench: &Bench, domain: &str) -> (i64, i64, f64, f64, Option<String>, String) {
    sqlx::query_as(
        "SELECT claims, combined_rejected_claims, domain_claim_manual_rejection_rate, domain_claim_combined_rejection_rate,
                domain_block_reason, category
         FROM domain_states WHERE domain = ?",
    )
    .bind(domain)
    .fetch_one(bench.store.reader())
    .await
    .unwrap()
}

fn is(got: &(String, String), status: &str, reason: &str) {
    assert_eq!((got.0.as_str(), got.1.as_str()), (status, reason));
}

#[tokio::test]
async fn claims_are_verified_from_their_evidence_and_follow_corrections() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    bench.store.verify_claims(&graph.task.id, &cause()).await.unwrap();
    // b supports, c refutes: one independent support is never enough.
    is(&status(&bench, &graph.disputed.id).await, "pending", "insufficient_evidence");
    is(&status(&bench, &graph.growing.id).await, "verified", "well_supported");
    is(&status(&bench, &graph.alone.id).await, "pending", "insufficient_evidence");
    let events = "SELECT count(*) FROM claim_events WHERE event = 'source_verification'";
    assert_eq!(bench.count(events).await, 3);
    bench.store.verify_claims(&graph.task.id, &cause()).await.unwrap();
    assert_eq!(bench.count(events).await, 3, "the same facts change nothing");

    let edge = |page: usize, claim: &Claim| {
        judged(&graph.pages[page].fragments[0].id, &claim.id, (0.9, 0.05, 0.05)).id()
    };
    bench.store.correct_edge(&edge(2, &graph.growing), lyra_domain::Relation::Refutes, None).await.unwrap();
    is(&status(&bench, &graph.growing.id).await, "pending", "conflicting_evidence");
    bench.store.correct_edge(&edge(3, &graph.disputed), lyra_domain::Relation::Supports, None).await.unwrap();
    is(&status(&bench, &graph.disputed.id).await, "pending", "conflicting_evidence");
    bench.store.correct_edge(&edge(2, &graph.disputed), lyra_domain::Relation::Supports, None).await.unwrap();
    is(&status(&bench, &graph.disputed.id).await, "verified", "well_supported");
}

#[tokio::test]
async fn confirmation_lifts_an_unverified_domain_to_low() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    assert!(bench.store.confirmed().await.unwrap().is_empty());
    bench.store.verify_claims(&graph.task.id, &cause()).await.unwrap();
    let confirmed: Vec<String> = bench.store.confirmed().await.unwrap().into_iter().collect();
    assert_eq!(confirmed, ["b.example.org"]);
}

/// Ten claims found on one page.
async fn ten_claims(bench: &Bench) -> (Graph, Vec<Claim>) {
    let graph = Graph::new(bench).await;
    bench.execute("UPDATE pages SET domain = 'example.net' WHERE domain = 'd.example.org'").await;
    let claims: Vec<Claim> = (0..10)
        .map(|i| {
            let source = graph.pages[3].fragments[0].id.clone();
            Claim::new(&graph.task.id, &format!("statement {i}"), Some(source), None)
        })
        .collect();
    bench.store.add_claims(&claims, &cause()).await.unwrap();
    (graph, claims)
}

#[tokio::test]
async fn claims_follow_their_page_to_another_domain() {
    let bench = Bench::new().await;
    let (graph, _) = ten_claims(&bench).await;
    bench.execute("UPDATE pages SET domain = 'example.com' WHERE domain = 'example.net'").await;
    bench.store.verify_claims(&graph.task.id, &cause()).await.unwrap();
    assert_eq!(state(&bench, "example.com").await.0, 10);
    let check = bench.store.check().await.unwrap();
    assert!(!check.problems.iter().any(|problem| problem.check == "claim_domains"), "{check:?}");
}

#[tokio::test]
async fn a_domain_with_too_many_rejected_claims_is_blocked_until_they_are_restored() {
    let bench = Bench::new().await;
    let (graph, claims) = ten_claims(&bench).await;
    for claim in &claims[..3] {
        bench.store.reject_claim(&claim.id, "not what it says").await.unwrap();
    }
    let domain = "example.net";
    assert_eq!(state(&bench, domain).await, (10, 3, 0.3, 0.3, None, "unverified".to_owned()));
    bench.store.reject_claim(&claims[3].id, "nor this").await.unwrap();
    let blocked = state(&bench, domain).await;
    assert_eq!((blocked.1, blocked.4.as_deref()), (4, Some("high_rejection_rate")));
    assert!(bench.store.blocked().await.unwrap().contains(domain));

    bench.store.verify_claims(&graph.task.id, &cause()).await.unwrap();
    is(&status(&bench, &claims[9].id).await, "rejected", "already_blocked");
    // A person's word wins over the block.
    let pattern = DomainPattern::parse("example.net").unwrap();
    bench.store.override_domain(&pattern, OverrideDecision::Unblock, "I know them").await.unwrap();
    is(&status(&bench, &claims[9].id).await, "pending", "insufficient_evidence");
    bench.store.clear_override(&pattern, None).await.unwrap();
    is(&status(&bench, &claims[9].id).await, "rejected", "already_blocked");

    bench.store.restore_claim(&claims[0].id, None).await.unwrap();
    assert_eq!(state(&bench, domain).await.4, None);
    assert!(!bench.store.blocked().await.unwrap().contains(domain));
}

#[tokio::test]
async fn a_block_for_hostile_text_outlives_good_rates() {
    let bench = Bench::new().await;
    let (_, claims) = ten_claims(&bench).await;
    bench
        .execute(
            "INSERT INTO domain_states (domain, category, blocked_at, domain_block_reason, reason)
             VALUES ('example.net', 'unverified', '2026-11-20T00:00:00.000Z', 'dangerous_pattern', 'x')",
        )
        .await;
    bench.store.reject_claim(&claims[0].id, "no").await.unwrap();
    bench.store.restore_claim(&claims[0].id, None).await.unwrap();
    assert_eq!(state(&bench, "example.net").await.4.as_deref(), Some("dangerous_pattern"));
    is(&status(&bench, &claims[0].id).await, "rejected", "already_blocked");
}

#[tokio::test]
async fn a_local_corpus_is_no_domain() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    let mut document = page("e", None, "A document of somebody's own.");
    document.page.domain = "corpus:tests".to_owned();
    bench.store.register_pages(&graph.query, std::slice::from_ref(&document), &cause()).await.unwrap();
    let claims: Vec<Claim> = (0..6)
        .map(|i| {
            Claim::new(&graph.task.id, &format!("own {i}"), Some(document.fragments[0].id.clone()), None)
        })
        .collect();
    bench.store.add_claims(&claims, &cause()).await.unwrap();
    for claim in &claims {
        bench.store.reject_claim(&claim.id, "mine to drop").await.unwrap();
    }
    assert_eq!(bench.count("SELECT count(*) FROM domain_states WHERE domain LIKE 'corpus:%'").await, 0);
}

#[tokio::test]
async fn categories_of_domains_never_enter_a_confidence() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    let numbers = async || {
        let reports = bench.store.claim_reports(&graph.task.id).await.unwrap();
        reports
            .into_iter()
            .map(|r| (r.claim.id.clone(), r.posterior, r.independent_sources))
            .collect::<Vec<_>>()
    };
    let before = numbers().await;
    for (pages, edges) in
        [("primary", "low"), ("low", "primary"), ("blocked", "government"), ("unverified", "blocked")]
    {
        let mut tx = bench.store.write().await.unwrap();
        sqlx::query("UPDATE pages SET domain_category = ?").bind(pages).execute(&mut *tx).await.unwrap();
        sqlx::query("UPDATE edges SET source_domain_category = ?, target_domain_category = ?")
            .bind(edges)
            .bind(pages)
            .execute(&mut *tx)
            .await
            .unwrap();
        tx.commit().await.unwrap();
        assert_eq!(numbers().await, before, "{pages}, {edges}");
        bench.store.verify_claims(&graph.task.id, &cause()).await.unwrap();
        is(&status(&bench, &graph.growing.id).await, "verified", "well_supported");
    }
}
