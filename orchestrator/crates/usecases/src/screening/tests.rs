use super::*;
use crate::ErrorCode;
use crate::config::Config;
use lyra_domain::Basis;
use lyra_store::PrismaFacts;

fn row(page: &str, passage_rank: Option<u64>, decided: Option<(i64, Verdict)>) -> ScreeningRow {
    ScreeningRow {
        page: format!("page_{page}").parse().expect("an id"),
        domain: format!("{page}.example"),
        held: page == "held",
        passage_rank,
        source_rank: None,
        decided: decided.map(|(seq, verdict)| (seq, format!("scr_{seq}").parse().expect("an id"), verdict)),
    }
}

#[test]
fn documents_are_sorted_by_the_search_and_counted_by_what_was_decided() {
    let rows = vec![
        row("a", None, Some((7, Verdict::Include))),
        row("b", Some(2), Some((3, Verdict::Exclude))),
        row("c", Some(1), None),
        row("held", Some(3), None),
        row("blocked", Some(4), None),
        row("d", Some(5), Some((9, Verdict::Undecided))),
    ];
    let sorted = Sorted::new(rows, |domain| domain == "blocked.example");
    let order: Vec<&str> = sorted.rows.iter().map(|row| row.page.as_str()).collect();
    assert_eq!(order, ["page_c", "page_b", "page_d", "page_a"]);
    assert_eq!(sorted.labels(), [(1, false), (3, true)], "in the order of the decisions");
    let expected =
        ScreeningProgress { included: 1, excluded: 1, undecided: 1, open: 1, blocked: 1, quarantined: 1 };
    assert_eq!((sorted.progress, sorted.progress.documents()), (expected, 4));
}

#[test]
fn a_reason_belongs_to_an_exclusion_and_is_short() {
    assert_eq!(checked(Verdict::Exclude, Some(" not\n a study ")).unwrap().as_deref(), Some("not a study"));
    assert_eq!(checked(Verdict::Include, Some(" ")).unwrap(), None);
    for (verdict, reason) in [(Verdict::Include, "other".to_owned()), (Verdict::Exclude, "x".repeat(201))] {
        let refused = checked(verdict, Some(&reason)).unwrap_err();
        assert!(refused.code == ErrorCode::InvalidArgument && refused.remedy.is_some(), "{refused:?}");
    }
}

#[test]
fn the_boxes_of_the_flow_add_up() {
    let facts = PrismaFacts {
        sources: vec![("corpus:a".to_owned(), 30), ("openalex".to_owned(), 20), ("web".to_owned(), 5)],
        cited: 4,
        unlisted: 1,
        documents: 40,
        decided: vec![
            (Verdict::Include, Basis::FullText, None, 3),
            (Verdict::Include, Basis::Abstract, None, 2),
            (Verdict::Exclude, Basis::Abstract, Some("other".to_owned()), 9),
            (Verdict::Exclude, Basis::Title, None, 1),
            (Verdict::Exclude, Basis::FullText, None, 2),
            (Verdict::Exclude, Basis::FullText, Some("not a study".to_owned()), 4),
            (Verdict::Exclude, Basis::Abstract, Some("full text not available".to_owned()), 5),
        ],
        not_fetched: 2,
        requires_person: 1,
    };
    let progress = ScreeningProgress { included: 5, excluded: 21, open: 14, ..ScreeningProgress::default() };
    let flow = PrismaFlow::new("task_1".parse().expect("an id"), facts, progress);
    assert_eq!(flow.others, [("web".to_owned(), 5), ("citations".to_owned(), 4), ("added".to_owned(), 1)]);
    assert_eq!((flow.identified(), flow.duplicates), (60, 20));
    assert_eq!((flow.screened(), flow.excluded, flow.sought()), (26, 10, 16));
    assert_eq!((flow.not_retrieved, flow.assessed()), (5, 11));
    let reasons = [(Some("not a study".to_owned()), 4), (None, 2)];
    assert_eq!(flow.excluded_reports, reasons);
    let excluded: u64 = flow.excluded_reports.iter().map(|(_, count)| count).sum();
    assert_eq!(flow.assessed() - excluded, flow.progress.included);
    assert_eq!(flow.included_without_full_text, 2);
}

#[tokio::test]
async fn a_task_without_documents_has_nothing_to_screen() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config { data_dir: Some(folder.path().to_owned()), ..Config::default() };
    let app = crate::testing::open(config).await;
    let new = lyra_store::NewTask { query: "Do naps help?".to_owned(), ..lyra_store::NewTask::default() };
    let task = app.store().create_task(new, lyra_domain::Priority::Medium).await.unwrap().id;
    let state = app.screening(&task, 5).await.unwrap();
    assert_eq!((state.next.len(), state.recall, state.stopping.p_value), (0, None, 1.0));
    assert_eq!(state.reasons.len(), SUGGESTED_REASONS.len());
    assert!(app.export_screening(&task, ScreeningExport::Csv).await.unwrap().starts_with("page_id,verdict,"));
    assert_eq!(app.export_screening(&task, ScreeningExport::Ris).await.unwrap(), "");
    let page = "page_x".parse().unwrap();
    let unknown = app.screen(&task, &page, Verdict::Include, None, None, "local").await.unwrap_err();
    assert_eq!(unknown.code, ErrorCode::NotFound);
    let none = app.screening(&"task_none".parse().unwrap(), 5).await.unwrap_err();
    assert_eq!(none.code, ErrorCode::NotFound);
    app.close().await;
}
