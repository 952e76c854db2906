//! What one database serves: tasks an hour that it can take, and how long readers wait, as it grows.
//!
//! ```sh
//! cargo run --release -p lyra-store --example served -- FOLDER GIGABYTES [GIGABYTES...]
//! ```
//!
//! A folder that an earlier run filled grows on. Tasks are worked off up to half a gigabyte; a larger database is filled
//! with copies of them ([`copy`]), which is ten times as fast.
//!
//! Every task has three searches of 40 new pages, each an abstract of 1.5 kB with a vector, and 20 claims with 15 judgments
//! each, written by the same calls as in a job. At each size, one writer goes on alone for ten seconds, then beside eight
//! readers who open claims and pages of claims of tasks at random.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::allow_attributes,
    reason = "a measurement for developers"
)]

mod copy;

use lyra_domain::{
    Claim, Discrepancies, Doi, Edge, FetchMethod, Fragment, JobId, JobKind, NliScores, Page, PageId,
    PaperMetadata, Priority, TaskConfig, TaskId, TaskPageReason, Work,
};
use lyra_research::ports::{EmbeddingTarget, EvidenceStore, FragmentRank, JobQueue, NewPage};
use lyra_store::{ClaimFilter, ClaimSort, NewTask, Store, StoreConfig};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const SEARCHES: usize = 3;
const PAGES: usize = 40;
const CLAIMS: usize = 20;
const JUDGMENTS: usize = 15;
const READERS: usize = 8;
const LEASE: Duration = Duration::from_mins(1);
const ROUND: Duration = Duration::from_secs(10);
/// Bytes; a larger database is filled with copies.
const WORKED_OFF: u64 = 500_000_000;

#[tokio::main]
async fn main() {
    let mut args = std::env::args().skip(1);
    let folder = args.next().unwrap();
    let path = Path::new(&folder).join("lyra.db");
    for size in args {
        let wanted = (size.parse::<f64>().unwrap() * 1e9) as u64;
        let bytes = || std::fs::metadata(&path).map_or(0, |file| file.len());
        let mut store = Store::open(&path, StoreConfig::default()).await.unwrap();
        let mut tasks = existing(&store).await;
        let mut random = fastrand::Rng::with_seed(2026 + tasks.len() as u64);
        while bytes() < wanted.min(WORKED_OFF) {
            tasks.push(work(&store, &mut random).await);
        }
        if bytes() < wanted {
            store.close().await;
            copy::grow(&path, wanted, &mut random).await;
            store = Store::open(&path, StoreConfig::default()).await.unwrap();
            tasks = existing(&store).await;
        }
        println!("{:.2} GB, {} tasks", bytes() as f64 / 1e9, tasks.len());
        let alone = write(&store, &mut tasks, &mut random).await;
        println!("  one writer alone: {alone}");
        let stop = Arc::new(AtomicBool::new(false));
        let readers: Vec<_> = (0..READERS)
            .map(|seed| tokio::spawn(read(store.clone(), tasks.clone(), seed as u64, Arc::clone(&stop))))
            .collect();
        let beside = write(&store, &mut tasks, &mut random).await;
        stop.store(true, Ordering::Relaxed);
        let (mut pages, mut claims) = (Vec::new(), Vec::new());
        for reader in readers {
            let (page, claim) = reader.await.unwrap();
            pages.extend(page);
            claims.extend(claim);
        }
        println!("  beside {READERS} readers: {beside}");
        println!("  pages of claims: {}", times(pages));
        println!("  claims with evidence: {}", times(claims));
        store.close().await;
    }
}

/// The tasks of an earlier run on the same folder.
async fn existing(store: &Store) -> Vec<TaskId> {
    let (mut found, mut cursor) = (Vec::new(), None);
    loop {
        let page = store.list_tasks(1_000, cursor.as_deref()).await.unwrap();
        found.extend(page.tasks.into_iter().map(|task| task.id));
        cursor = page.next_cursor;
        if cursor.is_none() {
            return found;
        }
    }
}

/// Works off tasks for a while.
async fn write(store: &Store, tasks: &mut Vec<TaskId>, random: &mut fastrand::Rng) -> String {
    let (started, before) = (Instant::now(), tasks.len());
    let mut slowest = Duration::ZERO;
    while started.elapsed() < ROUND {
        let task = Instant::now();
        tasks.push(work(store, random).await);
        slowest = slowest.max(task.elapsed());
    }
    let hourly = (tasks.len() - before) as f64 / started.elapsed().as_secs_f64() * 3600.0;
    format!("{hourly:.0} tasks an hour, the slowest in {:.1} s", slowest.as_secs_f64())
}

/// Opens claims, and pages of claims; in milliseconds.
async fn read(store: Store, tasks: Vec<TaskId>, seed: u64, stop: Arc<AtomicBool>) -> (Vec<f64>, Vec<f64>) {
    let (mut pages, mut claims) = (Vec::new(), Vec::new());
    let mut random = fastrand::Rng::with_seed(seed);
    let milliseconds = |started: Instant| started.elapsed().as_secs_f64() * 1e3;
    while !stop.load(Ordering::Relaxed) {
        let task = &tasks[random.usize(..tasks.len())];
        let started = Instant::now();
        let page =
            store.claim_page(task, &ClaimFilter::default(), ClaimSort::Contested, 25, None).await.unwrap();
        pages.push(milliseconds(started));
        let claim = &page.claims[random.usize(..page.claims.len())];
        let started = Instant::now();
        store.claim_report(&claim.claim.id).await.unwrap();
        claims.push(milliseconds(started));
    }
    (pages, claims)
}

fn times(mut values: Vec<f64>) -> String {
    values.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| values[((values.len() - 1) as f64 * share) as usize];
    format!("p50 {:.1} ms, p95 {:.1} ms (n {})", at(0.5), at(0.95), values.len())
}

/// One task from its creation to its last job.
async fn work(store: &Store, random: &mut fastrand::Rng) -> TaskId {
    let new = NewTask {
        query: words(random, 8),
        config: TaskConfig::default(),
        claims: Vec::new(),
        question_claim: None,
    };
    let task = store.create_task(new, Priority::Medium).await.unwrap().id;
    let texts: Vec<String> = (0..SEARCHES).map(|_| words(random, 4)).collect();
    store.queue_searches(&task, &texts, None, Priority::Medium, &[]).await.unwrap();
    while let Some(job) = store.lease(Some(&task), LEASE).await.unwrap() {
        let steps = JobQueue::on_behalf_of(store, &job);
        let then = if let JobKind::Search { query_id } = &job.kind {
            let query = steps.query(query_id).await.unwrap();
            let pages: Vec<NewPage> = (0..PAGES).map(|_| page(random)).collect();
            steps.register_pages(&query, &pages, &job.id).await.unwrap();
            let vector = || (0..384).map(|_| 0.5_f32).collect::<Vec<f32>>();
            let vectors: Vec<_> = pages
                .iter()
                .map(|page| (EmbeddingTarget::Fragment(page.fragments[0].id.clone()), vector()))
                .collect();
            steps.put_embeddings("a model", &vectors).await.unwrap();
            steps.record_ranking(query_id, &ranking(&pages)).await.unwrap();
            steps.update_query(&query).await.unwrap();
            vec![JobKind::Judge]
        } else {
            judge(&*steps, &task, &job.id, random).await;
            Vec::new()
        };
        store.complete(&job, json!({}), &then).await.unwrap();
    }
    task
}

async fn judge(steps: &dyn EvidenceStore, task: &TaskId, cause: &JobId, random: &mut fastrand::Rng) {
    let passages = steps.task_fragments(task).await.unwrap();
    let claims: Vec<Claim> = (0..CLAIMS)
        .map(|nth| {
            let from = passages[nth * 5 % passages.len()].fragment.id.clone();
            Claim::new(task, &words(random, 14), Some(from), Some("en".to_owned()))
        })
        .collect();
    steps.add_claims(&claims, cause).await.unwrap();
    for claim in &claims {
        let edges: Vec<Edge> = (0..JUDGMENTS)
            .map(|_| {
                let fragment = passages[random.usize(..passages.len())].fragment.id.clone();
                let (supports, refutes) = (random.f64() * 0.5, random.f64() * 0.5);
                let scores = NliScores { supports, refutes, neutral: 1.0 - supports - refutes };
                Edge::Nli {
                    fragment,
                    claim: claim.id.clone(),
                    judgement: scores.judgement(),
                    premise: words(random, 30),
                    discrepancies: Discrepancies::default(),
                    model: "a model".to_owned(),
                    source_domain_category: "unverified".to_owned(),
                    target_domain_category: None,
                }
            })
            .collect();
        steps.add_edges(task, &edges, cause).await.unwrap();
    }
    steps.verify_claims(task, cause).await.unwrap();
}

fn ranking(pages: &[NewPage]) -> Vec<FragmentRank> {
    let rank = |page: &NewPage| FragmentRank {
        fragment: page.fragments[0].id.clone(),
        bm25: 1.0,
        cosine: Some(0.5),
        score: 0.5,
        relevant: true,
        contributions: BTreeMap::new(),
    };
    pages.iter().map(rank).collect()
}

/// A page with an abstract of 1.5 kB, of a work that no other task has.
fn page(random: &mut fastrand::Rng) -> NewPage {
    let key = format!("{:016x}", random.u64(..));
    let doi = Doi::parse(&format!("10.1000/{key}")).unwrap();
    let work = Work {
        title: words(random, 10),
        year: Some(random.i32(1980..2026)),
        venue: Some("Journal of Tests".to_owned()),
        doi: Some(doi.clone()),
        source_api: "openalex".to_owned(),
        ..Work::default()
    };
    let id = PageId::derive(&["work", work.id().as_str()]);
    NewPage {
        fragments: vec![Fragment::of_abstract(&id, &words(random, 230))],
        page: Page {
            id,
            url: format!("https://doi.org/10.1000/{key}"),
            domain: format!("d{}.example", random.u32(..900)),
            domain_category: "unverified".to_owned(),
            title: work.title.clone(),
            work_id: Some(work.id()),
            language: Some("en".to_owned()),
            fetch_method: FetchMethod::AcademicApi,
            paper_metadata: PaperMetadata {
                year: work.year,
                doi: Some(doi.to_string()),
                ..PaperMetadata::default()
            },
        },
        work: Some(work),
        quarantined: Vec::new(),
        answer: None,
        blocks_domain: None,
        reason: TaskPageReason::AcademicApi,
        found_by: vec![("openalex".to_owned(), 1)],
        via: None,
    }
}

/// Words of a vocabulary of 40,000, the frequent ones more often.
fn words(random: &mut fastrand::Rng, count: usize) -> String {
    let word = |random: &mut fastrand::Rng| format!("w{}", (40_000_f64.powf(random.f64()) * 10.0) as u32);
    (0..count).map(|_| word(random)).collect::<Vec<_>>().join(" ")
}
