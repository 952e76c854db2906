use super::*;
use crate::testing::{Bench, Graph};

#[tokio::test]
async fn the_latest_decision_counts_that_was_not_taken_back() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    let (store, task) = (&bench.store, &graph.task.id);
    let page = &graph.pages[0].page.id;
    let first = store.screen(task, page, Verdict::Include, None, None, "local").await.unwrap();
    assert_eq!((first.verdict, first.basis), (Verdict::Include, Basis::Abstract));
    let blind = store.screen(task, page, Verdict::Exclude, None, None, "token:b").await.unwrap_err();
    let StoreError::ScreeningMoved { current: Some(current), .. } = &blind else { panic!("{blind:?}") };
    assert_eq!(**current, first);
    let same = store.screen(task, page, Verdict::Include, None, Some(&first.id), "token:b").await.unwrap();
    assert_eq!(same, first, "the same decision again changes nothing");
    let second = store
        .screen(task, page, Verdict::Exclude, Some("not a study"), Some(&first.id), "token:b")
        .await
        .unwrap();
    assert!(matches!(
        store.unscreen(task, page, &first.id, "local").await,
        Err(StoreError::ScreeningMoved { .. })
    ));
    let before = store.unscreen(task, page, &second.id, "local").await.unwrap();
    assert_eq!(before, Some(first.clone()));
    assert_eq!(store.unscreen(task, page, &first.id, "local").await.unwrap(), None);
    let none = store.unscreen(task, page, &first.id, "local").await.unwrap_err();
    assert!(none.to_string().contains("was taken back in between"), "{none}");
    let history = store.screening_history(task).await.unwrap();
    let told: Vec<_> = history.iter().map(|made| (made.verdict, made.taken_back)).collect();
    assert_eq!(told, [(Verdict::Include, true), (Verdict::Exclude, true)]);

    let other = "page_other".parse().unwrap();
    let unknown = store.screen(task, &other, Verdict::Include, None, None, "local").await.unwrap_err();
    assert!(unknown.to_string().contains("document page_other does not exist"), "{unknown}");
}

#[tokio::test]
async fn rows_are_neither_changed_nor_removed_by_themselves() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    let (task, page) = (&graph.task.id, &graph.pages[0].page.id);
    bench.store.screen(task, page, Verdict::Undecided, None, None, "local").await.unwrap();
    for sql in ["UPDATE screening_decisions SET verdict = 'include'", "DELETE FROM screening_decisions"] {
        let mut tx = bench.store.write().await.unwrap();
        let refused = sqlx::query(sql).execute(&mut *tx).await.unwrap_err();
        assert!(refused.to_string().contains("append-only"), "{refused}");
    }
}

#[tokio::test]
async fn documents_have_ranks_texts_and_what_was_decided() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    let (store, task) = (&bench.store, &graph.task.id);
    let ids: Vec<PageId> = graph.pages.iter().map(|page| page.page.id.clone()).collect();
    let made = store.screen(task, &ids[2], Verdict::Exclude, Some("other"), None, "local").await.unwrap();
    let rows = store.screening_rows(task).await.unwrap();
    assert_eq!(rows.iter().map(|row| &row.page).collect::<Vec<_>>(), ids.iter().collect::<Vec<_>>());
    assert_eq!(
        rows[2].decided.as_ref().map(|(_, id, verdict)| (id, *verdict)),
        Some((&made.id, Verdict::Exclude))
    );
    assert!(rows.iter().all(|row| row.source_rank == Some(1) && !row.held));
    let texts = store.screening_texts(task).await.unwrap();
    assert_eq!(texts[0], (ids[0].clone(), "Title a".to_owned(), "The treatment works in mice.".to_owned()));
    let cards = store.screening_cards(task, &[ids[3].clone(), ids[0].clone()]).await.unwrap();
    assert_eq!(cards.iter().map(|card| &card.page.id).collect::<Vec<_>>(), [&ids[3], &ids[0]]);
    assert_eq!(
        (cards[1].basis, cards[1].passages[0].text.as_str()),
        (Basis::Abstract, "The treatment works in mice.")
    );

    store.screen(task, &ids[0], Verdict::Include, None, None, "local").await.unwrap();
    let all = DecidedFilter::default();
    let page = store.decided_page(task, &all, 1, None).await.unwrap();
    assert_eq!((page.total, &page.decided[0].page.id), (2, &ids[0]));
    let next = store.decided_page(task, &all, 1, page.next_cursor.as_deref()).await.unwrap();
    assert_eq!((&next.decided[0].decision, next.next_cursor), (&made, None));
    for (filter, count) in [
        (DecidedFilter { verdict: Some(Verdict::Exclude), ..all.clone() }, 1),
        (DecidedFilter { reason: Some("other".to_owned()), ..all.clone() }, 1),
        (DecidedFilter { text: Some("TITLE".to_owned()), ..all.clone() }, 2),
        (DecidedFilter { text: Some("venue".to_owned()), ..all.clone() }, 0),
    ] {
        assert_eq!(store.decided_page(task, &filter, 9, None).await.unwrap().total, count, "{filter:?}");
    }
    assert!(matches!(store.decided_page(task, &all, 9, Some("x")).await, Err(StoreError::BadCursor(_))));
    let facts = store.prisma_facts(task).await.unwrap();
    assert_eq!((facts.documents, facts.sources[0].1, facts.cited, facts.unlisted), (4, 4, 0, 0));
    assert_eq!(facts.decided.iter().map(|(.., count)| count).sum::<u64>(), 2);
    assert_eq!(store.screening_reasons(task).await.unwrap(), [("other".to_owned(), 1)]);
}
