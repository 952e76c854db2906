use super::EvidenceYear;
use crate::StoreError;
use crate::testing::{Bench, Graph, cause, judged, page};
use lyra_domain::{Change, ClaimId, ClaimReport, Fragment, Occurrence, Relation};
use lyra_research::ports::{ClaimStore, SearchStore};
use std::collections::BTreeMap;

/// The same from reports.
fn years(reports: &[ClaimReport]) -> Vec<EvidenceYear> {
    let mut years: BTreeMap<(bool, Option<i32>), EvidenceYear> = BTreeMap::new();
    for passage in reports.iter().flat_map(|report| report.by_work().into_values()) {
        let empty = EvidenceYear { year: passage.year, supporting: 0, refuting: 0, neutral: 0, retracted: 0 };
        let year = years.entry((passage.year.is_none(), passage.year)).or_insert(empty);
        match passage.relation {
            Relation::Supports => year.supporting += 1,
            Relation::Refutes => year.refuting += 1,
            _ => year.neutral += 1,
        }
        year.retracted += u64::from(passage.is_retracted == Some(true));
    }
    years.into_values().collect()
}

#[tokio::test]
async fn years_count_works_by_the_rule_of_the_confidence() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    let store = &bench.store;
    // More passages of one work, whose sides differ.
    let mut more = page("b", Some(2015), "More on the treatment.");
    let fragment = |n: u32| Fragment {
        position: n,
        ..Fragment::of_abstract(&more.page.id, &format!("Passage {n} on it."))
    };
    more.fragments = (1..5).map(fragment).collect();
    store.register_pages(&graph.query, std::slice::from_ref(&more), &cause()).await.unwrap();
    let mut edges = Vec::new();
    for claim in [&graph.disputed.id, &graph.growing.id, &graph.alone.id] {
        let scores = [(0.2, 0.7, 0.1), (0.6, 0.3, 0.1), (0.1, 0.7, 0.2), (0.1, 0.1, 0.8)];
        edges.extend(more.fragments.iter().zip(scores).map(|(f, scores)| judged(&f.id, claim, scores)));
    }
    store.add_edges(&graph.task.id, &edges, &cause()).await.unwrap();
    let mut retracted = graph.pages[1].clone();
    retracted.work.as_mut().unwrap().is_retracted = Some(true);
    store.register_pages(&graph.query, std::slice::from_ref(&retracted), &cause()).await.unwrap();

    let reports = store.claim_reports(&graph.task.id).await.unwrap();
    let all = store.evidence_years(&graph.task.id, None).await.unwrap();
    assert_eq!(all, years(&reports));
    assert_eq!(
        all.iter().map(|year| year.year).collect::<Vec<_>>(),
        [Some(2008), Some(2015), Some(2024), None]
    );
    assert_eq!(all[1].retracted, 3);
    for report in &reports {
        let of = store.evidence_years(&graph.task.id, Some(&report.claim.id)).await.unwrap();
        assert_eq!(of, years(std::slice::from_ref(report)));
    }

    let works = store.retracted_works(&graph.task.id, None).await.unwrap();
    assert_eq!(works.len(), 1, "{works:?}");
    let known = (works[0].work.as_str(), works[0].title.as_str(), works[0].year, works[0].doi.as_deref());
    assert_eq!(known, ("doi:10.1000/b", "Title b", Some(2015), Some("10.1000/b")));
    assert_eq!(works[0].supporting + works[0].refuting + works[0].neutral, 3);
    assert!(works[0].noted_at.is_some() && works[0].page == graph.pages[1].page.id);
    let of = store.retracted_works(&graph.task.id, Some(&graph.alone.id)).await.unwrap();
    assert_eq!(of[0].supporting + of[0].refuting + of[0].neutral, 1);

    // A rejected claim leaves the task's numbers, not its own.
    store.reject_claim(&graph.disputed.id, "off").await.unwrap();
    let left = store.claim_reports(&graph.task.id).await.unwrap();
    assert_eq!(store.evidence_years(&graph.task.id, None).await.unwrap(), years(&left));
    assert!(!store.evidence_years(&graph.task.id, Some(&graph.disputed.id)).await.unwrap().is_empty());
    let unknown = ClaimId::derive(&["no one"]);
    let refused = store.evidence_years(&graph.task.id, Some(&unknown)).await.unwrap_err();
    assert!(matches!(refused, StoreError::NotFound { .. }), "{refused}");
}

#[tokio::test]
async fn a_chronicle_ends_with_the_numbers_that_are_stored() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    let store = &bench.store;
    let claim = &graph.disputed.id;
    let last = async || {
        let moments = store.claim_chronicle(claim).await.unwrap().moments();
        let posterior = store.claim_report(claim).await.unwrap().posterior;
        let last = moments.last().unwrap().clone();
        assert!((last.posterior.alpha - posterior.alpha).abs() < 1e-9, "{moments:?}");
        assert!((last.posterior.beta - posterior.beta).abs() < 1e-9, "{moments:?}");
        (moments.len(), last.what)
    };
    let edge = |report: &ClaimReport, relation| {
        report.evidence.iter().find(|passage| passage.relation == relation).unwrap().edge_id.clone()
    };
    assert_eq!(last().await.0, 3);
    let report = store.claim_report(claim).await.unwrap();
    let (refuting, neutral) = (edge(&report, Relation::Refutes), edge(&report, Relation::Neutral));
    store.correct_edge(&refuting, Relation::Supports, None).await.unwrap();
    let what = Occurrence::Changed(Change::Corrected(refuting.clone(), Relation::Supports));
    assert_eq!(last().await, (4, what));
    store.correct_edge(&refuting, Relation::Supports, None).await.unwrap();
    store.correct_edge(&neutral, Relation::Refutes, None).await.unwrap();
    store.correct_edge(&neutral, Relation::Neutral, None).await.unwrap();
    assert_eq!(last().await.0, 7);
    store.undo_correction(&refuting, None).await.unwrap();
    assert_eq!(last().await, (8, Occurrence::Changed(Change::Undone(refuting))));
    store.reject_claim(claim, "off").await.unwrap();
    assert_eq!(last().await, (9, Occurrence::Changed(Change::Rejected)));
}

#[tokio::test]
async fn an_edge_knows_its_work_also_when_a_page_gets_one_later() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    let store = &bench.store;
    let mut early = page("late", Some(2001), "Early on, the work was unknown.");
    let work = early.work.take();
    early.page.work_id = None;
    store.register_pages(&graph.query, std::slice::from_ref(&early), &cause()).await.unwrap();
    let edge = judged(&early.fragments[0].id, &graph.alone.id, (0.8, 0.1, 0.1));
    store.add_edges(&graph.task.id, &[edge], &cause()).await.unwrap();
    let facts = store.claim_chronicle(&graph.alone.id).await.unwrap();
    assert_eq!(facts.judged[0].work, early.page.id.as_str());
    early.work = work;
    store.register_pages(&graph.query, std::slice::from_ref(&early), &cause()).await.unwrap();
    let facts = store.claim_chronicle(&graph.alone.id).await.unwrap();
    assert_eq!(facts.judged[0].work, "doi:10.1000/late");
    assert_eq!(store.check().await.unwrap().problems, []);
}
