//! A store in a temporary folder, a manual clock, and a small hand-made graph.

use crate::{NewTask, Store, StoreConfig};
use lyra_domain::{
    Claim, ClaimId, Discrepancies, Doi, Edge, FetchMethod, Fragment, FragmentId, Job, JobId, NliScores, Page,
    PageId, PaperMetadata, Priority, Query, QueryId, Task, TaskConfig, TaskPageReason, Work,
};
use lyra_research::ports::{ClaimStore, Clock, JobQueue, NewPage, SearchStore};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use uuid::Uuid;

pub(crate) const LEASE: Duration = Duration::from_mins(1);

/// A clock that only moves on request.
pub(crate) struct ManualClock(Mutex<jiff::Timestamp>);

impl ManualClock {
    pub(crate) fn advance(&self, by: Duration) {
        *self.0.lock().unwrap() += by;
    }
}

impl Clock for ManualClock {
    fn now(&self) -> jiff::Timestamp {
        *self.0.lock().unwrap()
    }
}

/// A store with its folder; the folder goes when this does.
pub(crate) struct Bench {
    pub(crate) store: Store,
    pub(crate) clock: Arc<ManualClock>,
    folder: tempfile::TempDir,
}

impl Bench {
    pub(crate) async fn new() -> Self {
        let clock = Arc::new(ManualClock(Mutex::new("2026-11-20T12:00:00Z".parse().unwrap())));
        let folder = tempfile::tempdir().unwrap();
        let config = StoreConfig { clock: Arc::clone(&clock) as Arc<dyn Clock>, ..StoreConfig::default() };
        let store = Store::open(&folder.path().join("lyra.db"), config).await.unwrap();
        Self { store, clock, folder }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("lyra.db")
    }

    /// The same database opened once more, as another process would.
    pub(crate) async fn again(&self) -> Store {
        let config =
            StoreConfig { clock: Arc::clone(&self.clock) as Arc<dyn Clock>, ..StoreConfig::default() };
        Store::open(&self.path(), config).await.unwrap()
    }

    pub(crate) async fn task(&self, claims: &[&str]) -> Task {
        let new = NewTask {
            query: "does it work?".to_owned(),
            config: TaskConfig::default(),
            claims: claims.iter().map(|text| (*text).to_owned()).collect(),
            question_claim: None,
        };
        self.store.create_task(new, Priority::Medium).await.unwrap()
    }

    /// A task with these searches queued.
    pub(crate) async fn searching(&self, texts: &[&str]) -> (Task, Vec<QueryId>) {
        let task = self.task(&[]).await;
        let queued = self.search(&task, texts).await;
        (task, queued)
    }

    pub(crate) async fn search(&self, task: &Task, texts: &[&str]) -> Vec<QueryId> {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        self.store.queue_searches(&task.id, &texts, None, Priority::Medium, &[]).await.unwrap().queued
    }

    pub(crate) async fn lease(&self) -> Option<Job> {
        self.store.lease(None, LEASE).await.unwrap()
    }

    pub(crate) async fn execute(&self, sql: &'static str) {
        let mut tx = self.store.write().await.unwrap();
        sqlx::raw_sql(sql).execute(&mut *tx).await.unwrap();
        tx.commit().await.unwrap();
    }

    pub(crate) async fn count(&self, sql: &'static str) -> i64 {
        sqlx::query_scalar(sql).fetch_one(self.store.reader()).await.unwrap()
    }
}

pub(crate) fn cause() -> JobId {
    JobId::new(Uuid::nil())
}

/// A page with one abstract; `key` makes the URL, the title and the DOI.
pub(crate) fn page(key: &str, year: Option<i32>, text: &str) -> NewPage {
    let doi = Doi::parse(&format!("10.1000/{key}")).unwrap();
    let work = Work {
        title: format!("Title {key}"),
        year,
        venue: Some("Journal of Tests".to_owned()),
        doi: Some(doi.clone()),
        citation_count: Some(8),
        source_api: "corpus:tests".to_owned(),
        ..Work::default()
    };
    let id = PageId::derive(&["work", work.id().as_str()]);
    NewPage {
        fragments: vec![Fragment::of_abstract(&id, text)],
        page: Page {
            id,
            url: format!("https://{key}.example.org/paper"),
            domain: format!("{key}.example.org"),
            domain_category: "unverified".to_owned(),
            title: work.title.clone(),
            work_id: Some(work.id()),
            language: Some("en".to_owned()),
            fetch_method: FetchMethod::Corpus,
            paper_metadata: PaperMetadata {
                year,
                venue: work.venue.clone(),
                doi: Some(doi.to_string()),
                ..PaperMetadata::default()
            },
        },
        work: Some(work),
        quarantined: Vec::new(),
        answer: None,
        blocks_domain: None,
        reason: TaskPageReason::Corpus,
        found_by: vec![("corpus:tests".to_owned(), 1)],
        via: None,
    }
}

/// An edge with one probability, the rest shared by the other two.
pub(crate) fn judged(fragment: &FragmentId, claim: &ClaimId, scores: (f64, f64, f64)) -> Edge {
    let scores = NliScores { supports: scores.0, refutes: scores.1, neutral: scores.2 };
    Edge::Nli {
        fragment: fragment.clone(),
        claim: claim.clone(),
        judgement: scores.judgement(),
        premise: "the sentences judged".to_owned(),
        discrepancies: Discrepancies::default(),
        model: "test-nli".to_owned(),
        source_domain_category: "unverified".to_owned(),
        target_domain_category: None,
    }
}

pub(crate) fn cites(from: &NewPage, to: &NewPage) -> Edge {
    Edge::Cites {
        from: from.page.id.clone(),
        to: to.page.id.clone(),
        citation_source: "openalex".to_owned(),
        context: None,
    }
}

/// Four pages of 2008, 2015, 2024 and an unknown year; three claims.
///
/// - `disputed` was found in page a (2008); b (2015) supports it with 0.9, c (2024) refutes it with 0.9, d is neutral.
/// - `growing` was found in page b; a supports it with 0.6, c with 0.9 and d with 0.8.
/// - `alone`, given by the user, has no evidence.
/// - b cites a, c cites a and b, a cites b.
pub(crate) struct Graph {
    pub(crate) task: Task,
    pub(crate) query: Query,
    pub(crate) pages: Vec<NewPage>,
    pub(crate) disputed: Claim,
    pub(crate) growing: Claim,
    pub(crate) alone: Claim,
}

impl Graph {
    pub(crate) async fn new(bench: &Bench) -> Self {
        let store = &bench.store;
        let task = bench.task(&["no one has written about this"]).await;
        let query = bench.search(&task, &["does it work?"]).await.remove(0);
        let query = store.query(&query).await.unwrap();
        let pages = vec![
            page("a", Some(2008), "The treatment works in mice."),
            page("b", Some(2015), "The treatment works; an update of the protocol."),
            page("c", Some(2024), "The treatment does not work."),
            page("d", None, "Nothing is known about the treatment."),
        ];
        store.register_pages(&query, &pages, &cause()).await.unwrap();
        let claim = |text: &str, from: usize| {
            Claim::new(&task.id, text, Some(pages[from].fragments[0].id.clone()), Some("en".to_owned()))
        };
        let disputed = claim("the treatment works", 0);
        let growing = claim("the protocol is sound", 1);
        store.add_claims(&[disputed.clone(), growing.clone()], &cause()).await.unwrap();
        let fragment = |page: usize| &pages[page].fragments[0].id;
        let edges = [
            judged(fragment(1), &disputed.id, (0.9, 0.05, 0.05)),
            judged(fragment(2), &disputed.id, (0.05, 0.9, 0.05)),
            judged(fragment(3), &disputed.id, (0.1, 0.1, 0.8)),
            judged(fragment(0), &growing.id, (0.6, 0.2, 0.2)),
            judged(fragment(2), &growing.id, (0.9, 0.05, 0.05)),
            judged(fragment(3), &growing.id, (0.8, 0.1, 0.1)),
            cites(&pages[1], &pages[0]),
            cites(&pages[0], &pages[1]),
            cites(&pages[2], &pages[0]),
            cites(&pages[2], &pages[1]),
        ];
        store.add_edges(&task.id, &edges, &cause()).await.unwrap();
        let alone = store.task_claims(&task.id).await.unwrap().remove(0);
        Self { task, query, pages, disputed, growing, alone }
    }
}
