//! Import and full-text search over generated documents, without embeddings, and import of generated PDFs.
//!
//! `cargo bench -p lyra-corpus --bench corpus -- 1000000 [FOLDER [KIND...]]` (20,000 documents without a number). A folder keeps what
//! was imported: the next run only searches. Prints documents per second, times of queries, pages of PDFs per second (a
//! PDF of ten pages for each 200 documents, at most 500), and memory. The documents are drawn from a vocabulary with the
//! frequencies of language (Zipf), four of five in English-like words and one in Japanese, with codes, dates and
//! countries.

#[path = "measure/documents.rs"]
mod documents;
mod measure;
mod papers;

use documents::{Draw, QUERIES, generate, queries, word};
use lyra_corpus::backend::{FieldBoosts, LaneKind, LaneQuery, SearchBackend};
use lyra_corpus::{Corpora, EmbeddedBackend, ImportOptions};
use lyra_domain::NliJudgement;
use lyra_research::ports::{Inference, JudgeKind, Models, TextRole};
use measure::{arguments, memory, percentile};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

const DEFAULT_SIZE: usize = 20_000;
const HITS: usize = 800;
/// Documents for each PDF.
const PER_PAPER: usize = 200;
const MOST_PAPERS: usize = 500;

/// Nothing is embedded here.
struct NoModels;

#[async_trait::async_trait]
impl Inference for NoModels {
    async fn models(&self) -> lyra_research::Result<Models> {
        Ok(Models {
            embedder: "none".to_owned(),
            dimension: 1,
            classifier: "none".to_owned(),
            languages: Vec::new(),
            judge: JudgeKind::Pairs,
            prompts_known: true,
            threshold: None,
        })
    }

    async fn embed(&self, _: TextRole, _: &[String]) -> lyra_research::Result<Vec<Vec<f32>>> {
        Ok(Vec::new())
    }

    async fn judge(&self, _: &[(String, String)]) -> lyra_research::Result<Vec<Option<NliJudgement>>> {
        Ok(Vec::new())
    }
}

/// The most memory without mapped files since the begin, looked at twenty times a second; Linux keeps no such figure.
#[derive(Default)]
struct Peak(Arc<AtomicU64>);

impl Peak {
    fn watch() -> Self {
        let peak = Self::default();
        let seen = Arc::clone(&peak.0);
        std::thread::spawn(move || {
            loop {
                seen.fetch_max(memory("RssAnon") as u64, Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(50));
            }
        });
        peak
    }

    fn megabytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Seconds of processor time that this process took so far.
fn processor() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |nth: usize| fields.get(nth).and_then(|text| text.parse::<f64>().ok()).unwrap_or(f64::NAN);
    (ticks(11) + ticks(12)) / 100.0
}

/// Imports generated PDFs in two columns, drawn in the order of reading or row by row.
#[expect(clippy::print_stdout, reason = "the figures are what this is for")]
async fn read_papers(
    corpora: &Corpora,
    corpus: &str,
    temporary: &Path,
    count: usize,
    is_by_rows: bool,
) -> Result<(), Box<dyn std::error::Error>> {
    let folder = temporary.join("papers");
    std::fs::create_dir_all(&folder)?;
    let mut draw = Draw(11);
    let mut words = || (0..7).map(|_| word(draw.rank())).collect::<Vec<_>>().join(" ");
    for nth in 0..count {
        papers::write(&folder, nth, is_by_rows, &mut words)?;
    }
    let (start, processor_before) = (Instant::now(), processor());
    let options = ImportOptions { scopes: Some(Vec::new()), ..ImportOptions::default() };
    let stop = CancellationToken::new();
    let folders = [folder.clone()];
    let report = corpora.import_with(corpus, &folders, &options, &NoModels, &|_| {}, &stop).await?;
    let (seconds, processor_seconds) = (start.elapsed().as_secs_f64(), processor() - processor_before);
    std::fs::remove_dir_all(&folder)?;
    let pages = (report.added as usize * papers::PAGES) as f64;
    println!(
        "PDFs drawn by {corpus}: {} files, {pages} pages in {seconds:.1} s, {:.0} pages a second; {:.0} pages a second of processor time",
        report.added,
        pages / seconds,
        pages / processor_seconds,
    );
    Ok(())
}

/// Imports generated documents as `c`.
#[expect(clippy::print_stdout, reason = "the figures are what this is for")]
async fn import(
    corpora: &Corpora,
    folder: &Path,
    size: usize,
    peak: &Peak,
) -> Result<(), Box<dyn std::error::Error>> {
    let file: PathBuf = folder.join("generated.jsonl");
    let bytes = generate(&file, size)?;
    println!("{size} documents, {:.0} MB", bytes as f64 / 1e6);
    let (start, processor_before) = (Instant::now(), processor());
    let options = ImportOptions { scopes: Some(Vec::new()), ..ImportOptions::default() };
    let stop = CancellationToken::new();
    let report =
        corpora.import_with("c", std::slice::from_ref(&file), &options, &NoModels, &|_| {}, &stop).await?;
    let seconds = start.elapsed().as_secs_f64();
    std::fs::remove_file(&file)?;
    println!(
        "import: {} documents in {seconds:.1} s, {:.0} a second; {:.1} s of processor time; {:.0} MB on disk; memory {} MB at most, {:.0} MB now, {:.0} MB with mapped files",
        report.added,
        report.added as f64 / seconds,
        processor() - processor_before,
        corpora.show("c").await?.bytes as f64 / 1e6,
        peak.megabytes(),
        memory("RssAnon"),
        memory("VmRSS"),
    );
    Ok(())
}

#[expect(clippy::print_stdout, reason = "the figures are what this is for")]
#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (size, folder) = arguments(DEFAULT_SIZE)?;
    let peak = Peak::watch();
    let corpora = Corpora::open(folder.path());
    let stop = CancellationToken::new();
    if corpora.list().await?.is_empty() {
        import(&corpora, folder.path(), size, &peak).await?;
        let papers = (size / PER_PAPER).min(MOST_PAPERS);
        for (corpus, is_by_rows) in [("columns", false), ("rows", true)] {
            read_papers(&corpora, corpus, folder.path(), papers, is_by_rows).await?;
        }
    }
    let backend = EmbeddedBackend::new(corpora, Arc::new(NoModels));
    let mut all = Vec::new();
    let chosen: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).skip(2).collect();
    let kinds = [
        "word",
        "wide (12 words, OR)",
        "AND of 3",
        "structured",
        "phrase",
        "proximity",
        "truncated",
        "truncated proximity",
        "capitals",
        "Japanese",
        "Japanese proximity",
        "filtered",
    ];
    for kind in kinds.into_iter().filter(|kind| chosen.is_empty() || chosen.iter().any(|name| name == kind)) {
        let (mut times, mut found) = (Vec::new(), 0);
        for (query, filters) in queries(kind) {
            let lane = LaneQuery {
                corpus: "c".to_owned(),
                kind: LaneKind::FullText { query, boosts: FieldBoosts::default() },
                filters,
                top_k: HITS,
            };
            let start = Instant::now();
            found += backend.search(&lane, &stop).await?.hits.len();
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
        times.sort_by(f64::total_cmp);
        println!(
            "{kind:20} p50 {:6.1} ms  p95 {:6.1} ms  most {:6.1} ms  {:5.0} hits each",
            percentile(&times, 0.5),
            percentile(&times, 0.95),
            percentile(&times, 1.0),
            found as f64 / QUERIES as f64
        );
        all.extend(times);
    }
    all.sort_by(f64::total_cmp);
    println!(
        "all queries          p50 {:6.1} ms  p95 {:6.1} ms; memory {} MB at most, {:.0} MB now, {:.0} MB with mapped files",
        percentile(&all, 0.5),
        percentile(&all, 0.95),
        peak.megabytes(),
        memory("RssAnon"),
        memory("VmRSS"),
    );
    Ok(())
}
