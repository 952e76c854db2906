use super::{ClaimFilter, ClaimSort, Place, Side};
use crate::StoreError;
use crate::testing::{Bench, Graph, cause, judged, page};
use lyra_domain::{Claim, ClaimReport, Fragment, Relation, StudyDesign, TaskId, contradictions_first};
use lyra_research::ports::{ClaimStore, SearchStore};

/// The texts of all claims that meet a filter, read in pages of `limit`.
async fn read(
    bench: &Bench,
    task: &TaskId,
    filter: &ClaimFilter,
    sort: ClaimSort,
    limit: u32,
) -> Vec<String> {
    let mut texts = Vec::new();
    let mut cursor = None;
    loop {
        let page = bench.store.claim_page(task, filter, sort, limit, cursor.as_deref()).await.unwrap();
        texts.extend(page.claims.iter().map(|report| report.claim.claim_text.clone()));
        cursor = page.next_cursor;
        if cursor.is_none() {
            assert_eq!(page.total, texts.len() as u64);
            return texts;
        }
        assert_eq!(page.claims.len(), limit as usize);
    }
}

fn texts(reports: &[ClaimReport]) -> Vec<String> {
    reports.iter().map(|report| report.claim.claim_text.clone()).collect()
}

/// Sixty claims with six passages, two of them of one work, for and against at random.
async fn many(bench: &Bench) -> TaskId {
    let task = bench.task(&[]).await;
    let query = bench.search(&task, &["does it work?"]).await.remove(0);
    let query = bench.store.query(&query).await.unwrap();
    let mut pages: Vec<_> =
        ["a", "b", "c", "d", "e"].iter().map(|key| page(key, Some(2001), &format!("On {key}."))).collect();
    let second = Fragment { position: 1, ..Fragment::of_abstract(&pages[0].page.id, "More on a.") };
    pages[0].fragments.push(second);
    bench.store.register_pages(&query, &pages, &cause()).await.unwrap();
    let claims: Vec<Claim> =
        (0..60).map(|n| Claim::new(&task.id, &format!("claim {}", n * 37 % 60), None, None)).collect();
    bench.store.add_claims(&claims, &cause()).await.unwrap();
    let mut random = fastrand::Rng::with_seed(7);
    let mut edges = Vec::new();
    for claim in &claims {
        for fragment in pages.iter().flat_map(|page| &page.fragments) {
            let weight = [0.6, 0.8, 0.9][random.usize(..3)];
            let rest = (1.0 - weight) / 2.0;
            let scores = [(weight, rest, rest), (rest, weight, rest), (rest, rest, weight)];
            if let Some(scores) = scores.get(random.usize(..5)) {
                edges.push(judged(&fragment.id, &claim.id, *scores));
            }
        }
    }
    bench.store.add_edges(&task.id, &edges, &cause()).await.unwrap();
    task.id
}

#[tokio::test]
async fn pages_in_every_order_are_the_reports_in_that_order() {
    let bench = Bench::new().await;
    let task = many(&bench).await;
    let all = ClaimFilter::default();
    let reports = bench.store.claim_reports(&task).await.unwrap();
    let by = |key: fn(&ClaimReport) -> f64| {
        let mut sorted = reports.clone();
        sorted.sort_by(|a, b| key(b).total_cmp(&key(a)));
        sorted.iter().map(key).map(|number| (number * 1e6).round()).collect::<Vec<f64>>()
    };
    let mut first = reports.clone();
    contradictions_first(&mut first);
    assert_eq!(read(&bench, &task, &all, ClaimSort::Contested, 7).await, texts(&first));
    assert_eq!(read(&bench, &task, &all, ClaimSort::Contested, 100).await, texts(&first));
    let mut newest = texts(&reports);
    newest.reverse();
    assert_eq!(read(&bench, &task, &all, ClaimSort::Newest, 11).await, newest);

    for (sort, key) in [
        (ClaimSort::Confidence, (|r| r.posterior.confidence()) as fn(&ClaimReport) -> f64),
        (ClaimSort::Uncertainty, |r| r.posterior.uncertainty()),
        (ClaimSort::Evidence, |r| r.evidence.len() as f64),
    ] {
        let mut shown = Vec::new();
        for text in read(&bench, &task, &all, sort, 9).await {
            let report = reports.iter().find(|report| report.claim.claim_text == text).unwrap();
            shown.push((key(report) * 1e6).round());
        }
        assert_eq!(shown, by(key), "{sort}");
    }
}

#[tokio::test]
async fn sides_and_confidence_part_the_claims() {
    let bench = Bench::new().await;
    let task = many(&bench).await;
    let reports = bench.store.claim_reports(&task).await.unwrap();
    let mut parted = 0;
    for side in Side::ALL {
        let filter = ClaimFilter { side: Some(*side), ..ClaimFilter::default() };
        let mut shown = read(&bench, &task, &filter, ClaimSort::Contested, 8).await;
        let wanted = |r: &&ClaimReport| match side {
            Side::Contested => r.supporting_count > 0 && r.refuting_count > 0,
            Side::Supported => r.supporting_count > 0 && r.refuting_count == 0,
            Side::Refuted => r.supporting_count == 0 && r.refuting_count > 0,
            Side::Open => !r.has_evidence(),
        };
        let mut expect: Vec<String> =
            reports.iter().filter(wanted).map(|report| report.claim.claim_text.clone()).collect();
        shown.sort();
        expect.sort();
        assert!(!expect.is_empty());
        assert_eq!(shown, expect, "{side}");
        parted += shown.len();
    }
    assert_eq!(parted, reports.len());

    // The bounds are those that a reader sees, in three decimals.
    let one = reports.iter().map(|report| report.posterior.confidence()).find(|c| *c > 0.6).unwrap();
    let shown = (one * 1e3).round() / 1e3;
    let filter = ClaimFilter { confidence: (Some(shown), Some(shown)), ..ClaimFilter::default() };
    let found = bench.store.claim_page(&task, &filter, ClaimSort::Confidence, 50, None).await.unwrap();
    let equal = |report: &&ClaimReport| (report.posterior.confidence() * 1e3).round() / 1e3 == shown;
    assert_eq!(found.total as usize, reports.iter().filter(equal).count());
    assert!(found.total > 0);
}

#[tokio::test]
async fn years_sources_and_words_choose_claims() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    let task = &graph.task.id;
    let found = async |filter: ClaimFilter| read(&bench, task, &filter, ClaimSort::Newest, 2).await;
    let years = |from, to| ClaimFilter { years: (from, to), ..ClaimFilter::default() };
    let (growing, disputed, alone) =
        ("the protocol is sound", "the treatment works", "no one has written about this");
    assert_eq!(found(ClaimFilter::default()).await, [growing, disputed, alone]);
    assert_eq!(found(years(Some(2015), Some(2020))).await, [disputed]);
    assert_eq!(found(years(None, Some(2010))).await, [growing]);
    assert_eq!(found(years(Some(2024), None)).await, [growing, disputed]);
    assert!(found(years(Some(2020), Some(2010))).await.is_empty());

    let source = |source: &str| ClaimFilter { source: Some(source.to_owned()), ..ClaimFilter::default() };
    assert_eq!(found(source("doi:10.1000/b")).await, [disputed]);
    assert_eq!(found(source("a.example.org")).await, [growing]);
    // The passage of page d about the disputed claim is neutral: from this source, but of no side and no year.
    assert_eq!(found(source("d.example.org")).await, [growing, disputed]);
    let both = ClaimFilter { years: (Some(2024), None), ..source("d.example.org") };
    assert!(found(both).await.is_empty(), "the year is that of another source's passage");

    let text = |text: &str| ClaimFilter { text: Some(text.to_owned()), ..ClaimFilter::default() };
    assert_eq!(found(text("TREATMENT w")).await, [disputed]);
    assert_eq!(found(text("No")).await, [alone]);
    assert_eq!(found(text("th")).await, [growing, disputed, alone]);
    for odd in ["\"", "a\" OR \"the", "%", "_o", "*", "the\u{0}", "'"] {
        let filter = text(odd);
        assert_eq!(found(filter).await.len(), if odd == "the\u{0}" { 2 } else { 0 }, "{odd:?}");
    }
    let claim = Claim::new(task, "Ärzte irren", None, None);
    bench.store.add_claims(&[claim], &cause()).await.unwrap();
    for short in ["är", "ÄR", "ärZ"] {
        assert_eq!(found(text(short)).await, ["Ärzte irren"], "{short}");
    }
}

#[tokio::test]
async fn designs_that_titles_name_choose_claims() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    let task = &graph.task.id;
    let title = async |page: usize, title: &str| {
        let mut tx = bench.store.write().await.unwrap();
        sqlx::query("UPDATE pages SET title = ? WHERE id = ?")
            .bind(title)
            .bind(graph.pages[page].page.id.as_str())
            .execute(&mut *tx)
            .await
            .unwrap();
        tx.commit().await.unwrap();
    };
    title(1, "On treatment: a randomized trial").await;
    title(3, "The treatment in a cohort").await;
    let found = async |filter: ClaimFilter| read(&bench, task, &filter, ClaimSort::Newest, 2).await;
    let of = |design| ClaimFilter { design: Some(design), ..ClaimFilter::default() };
    assert_eq!(found(of(StudyDesign::RandomizedTrial)).await, ["the treatment works"]);
    // Its passage about the other claim takes no side.
    assert_eq!(found(of(StudyDesign::Cohort)).await, ["the protocol is sound"]);
    assert!(found(of(StudyDesign::CaseReport)).await.is_empty());

    let then = |from, to| ClaimFilter { years: (from, to), ..of(StudyDesign::RandomizedTrial) };
    assert_eq!(found(then(Some(2015), Some(2015))).await, ["the treatment works"]);
    assert!(found(then(Some(2024), None)).await.is_empty(), "the year is that of another work's passage");
    let from =
        |source: &str| ClaimFilter { source: Some(source.to_owned()), ..of(StudyDesign::RandomizedTrial) };
    assert_eq!(found(from("doi:10.1000/b")).await, ["the treatment works"]);
    assert!(found(from("d.example.org")).await.is_empty());

    title(1, "On treatment").await;
    assert!(found(of(StudyDesign::RandomizedTrial)).await.is_empty(), "the title is that of now");
}

#[tokio::test]
async fn a_cursor_belongs_to_its_list_and_survives_changes_of_it() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    let task = &graph.task.id;
    let store = &bench.store;
    let all = ClaimFilter::default();
    let first = store.claim_page(task, &all, ClaimSort::Newest, 1, None).await.unwrap();
    assert_eq!((first.claims[0].claim.id.clone(), first.total), (graph.growing.id.clone(), 3));
    assert_eq!(first.claims[0], store.claim_report(&graph.growing.id).await.unwrap());
    let cursor = first.next_cursor.unwrap();

    let other = ClaimFilter { side: Some(Side::Open), ..ClaimFilter::default() };
    for (filter, sort, cursor) in [
        (&other, ClaimSort::Newest, cursor.as_str()),
        (&all, ClaimSort::Evidence, cursor.as_str()),
        (&all, ClaimSort::Newest, "x"),
        (&all, ClaimSort::Newest, ""),
        (&all, ClaimSort::Newest, "1.claim_x.0"),
    ] {
        let refused = store.claim_page(task, filter, sort, 1, Some(cursor)).await.unwrap_err();
        assert!(matches!(refused, StoreError::BadCursor(_)), "{refused}");
    }

    // The claim that the page ended with leaves the list: the rest follows where it was.
    store.claim_page(task, &all, ClaimSort::Newest, 1, Some(&cursor)).await.unwrap();
    store.reject_claim(&graph.growing.id, "off").await.unwrap();
    let rest = store.claim_page(task, &all, ClaimSort::Newest, 5, Some(&cursor)).await.unwrap();
    assert_eq!(texts(&rest.claims), ["no one has written about this"]);
    assert_eq!((rest.total, rest.next_cursor), (2, None));

    let none = ClaimFilter { text: Some("nothing like this".to_owned()), ..ClaimFilter::default() };
    let empty = store.claim_page(task, &none, ClaimSort::Contested, 5, None).await.unwrap();
    assert_eq!((empty.claims.len(), empty.total, empty.next_cursor), (0, 0, None));
    let unknown: TaskId = "task_unknown".parse().unwrap();
    let missing = store.claim_page(&unknown, &all, ClaimSort::Newest, 5, None).await.unwrap_err();
    assert!(matches!(missing, StoreError::NotFound { .. }), "{missing}");
}

#[test]
fn a_place_is_read_back_from_its_cursor() {
    let place = Place { after: 40, claim: "claim_1".parse().unwrap() };
    assert_eq!(Place::of_cursor(&place.cursor("0f"), "0f"), Some(place));
    for wrong in ["0.claim_1.0f", "-1.claim_1.0f", "1..0f", "1.0f", "99999999999999999999.claim_1.0f"] {
        assert_eq!(Place::of_cursor(wrong, "0f"), None, "{wrong}");
    }
}

#[tokio::test]
async fn numbers_follow_every_change_and_few_tasks_are_kept() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    let other = bench.again().await;
    let task = &graph.task.id;
    let all = ClaimFilter::default();
    let first = async || {
        let page = bench.store.claim_page(task, &all, ClaimSort::Confidence, 1, None).await.unwrap();
        (page.claims[0].claim.id.clone(), page.claims[0].posterior.confidence())
    };
    let (claim, confidence) = first().await;
    assert_eq!(claim, graph.growing.id);
    assert_eq!(first().await, (claim.clone(), confidence));

    // Another process corrects the evidence for it.
    for passage in bench.store.claim_report(&claim).await.unwrap().evidence {
        other.correct_edge(&passage.edge_id, Relation::Refutes, None).await.unwrap();
    }
    assert_ne!(first().await.0, claim);
    let refuted = ClaimFilter { side: Some(Side::Refuted), ..ClaimFilter::default() };
    assert_eq!(read(&bench, task, &refuted, ClaimSort::Contested, 5).await, ["the protocol is sound"]);

    for n in 0..2 * super::KEPT {
        let task = bench.task(&[&format!("claim {n}")]).await.id;
        assert_eq!(read(&bench, &task, &all, ClaimSort::Newest, 5).await, [format!("claim {n}")]);
    }
    let tasks: Vec<_> = bench.store.list_tasks(100, None).await.unwrap().tasks;
    for task in &tasks {
        bench.store.claim_page(&task.id, &all, ClaimSort::Newest, 5, None).await.unwrap();
    }
    let kept = "SELECT count(*) FROM temp.numbered_tasks";
    let kept: i64 = sqlx::query_scalar(kept).fetch_one(bench.store.numbers()).await.unwrap();
    assert!(kept > 0 && kept <= super::KEPT, "{kept} of {}", tasks.len());
}
