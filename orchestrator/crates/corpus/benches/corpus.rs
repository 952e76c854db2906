//! Import and full-text search over generated documents, without embeddings, and import of generated PDFs.
//!
//! `cargo bench -p lyra-corpus --bench corpus -- 1000000 [FOLDER]` (20,000 documents without a number). Prints documents
//! per second, times of queries, pages of PDFs per second (a PDF of ten pages for each 200 documents), and memory. The
//! documents are drawn from a vocabulary with the frequencies of language (Zipf), four of five in English-like words and
//! one in Japanese, with codes, dates and countries.

mod measure;
mod papers;

use lyra_corpus::backend::{FieldBoosts, Filter, LaneKind, LaneQuery, RawFilter, SearchBackend};
use lyra_corpus::{Corpora, EmbeddedBackend, ImportOptions};
use lyra_domain::NliJudgement;
use lyra_research::ports::{Inference, JudgeKind, Models, TextRole};
use measure::{arguments, memory};
use serde_json::json;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

const DEFAULT_SIZE: usize = 20_000;
const WORDS: usize = 50_000;
const HITS: usize = 800;
const QUERIES: usize = 40;
/// Documents for each PDF.
const PER_PAPER: usize = 200;

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

/// The same numbers in every run (`SplitMix64`).
struct Draw(u64);

impl Draw {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn below(&mut self, below: usize) -> usize {
        (self.unit() * below as f64) as usize
    }

    /// A rank of the vocabulary, about as often as its rank's inverse.
    fn rank(&mut self) -> usize {
        ((WORDS as f64).powf(self.unit()) - 1.0) as usize
    }
}

/// A word of the vocabulary: syllables that spell its rank.
fn word(rank: usize) -> String {
    const SYLLABLES: [&str; 32] = [
        "ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "qui", "ro", "su", "ta",
        "ve", "wi", "xo", "zu", "bra", "cle", "dri", "flo", "gru", "pla", "ste", "tri", "sno", "chu", "sha",
        "the",
    ];
    let mut rest = rank + 32;
    let mut text = String::new();
    while rest > 0 {
        text.push_str(SYLLABLES[rest % 32]);
        rest /= 32;
    }
    text
}

/// A Japanese word of two to four characters.
fn japanese(rank: usize) -> String {
    const HAN: &str = "光電池太陽熱素子膜層板軸刃装置方法材料基板回路信号制御通信端末画像処理検査測定加工形成接続配線電極絶縁半導体発光受光集積冷却圧縮燃焼触媒樹脂繊維";
    let chars: Vec<char> = HAN.chars().collect();
    let length = 2 + rank % 3;
    (0..length).map(|nth| chars[(rank / (nth + 1) + nth * 17 + rank) % chars.len()]).collect()
}

fn text(draw: &mut Draw, in_japanese: bool, words: usize) -> String {
    let mut text = String::new();
    for nth in 0..words {
        let rank = draw.rank();
        if in_japanese {
            text.push_str(&japanese(rank));
            text.push_str(if nth % 12 == 11 { "。" } else { ["の", "を", "に", "は"][rank % 4] });
        } else {
            text.push_str(&word(rank));
            text.push_str(if nth % 15 == 14 { ". " } else { " " });
        }
    }
    text
}

fn generate(path: &Path, size: usize) -> std::io::Result<u64> {
    let mut file = BufWriter::new(std::fs::File::create(path)?);
    let mut draw = Draw(7);
    let mut bytes = 0;
    for nth in 0..size {
        let in_japanese = nth % 5 == 4;
        let class = ["H01L", "G06F", "A61B", "B60L", "C08F"][draw.below(5)];
        let code = format!("{class}{}/{:02}", 1 + draw.below(60), 2 * draw.below(50));
        let line = json!({
            "id": format!("D{nth:07}"),
            "title": text(&mut draw, in_japanese, 8),
            "abstract": text(&mut draw, in_japanese, 60),
            "claims": [text(&mut draw, in_japanese, 40), text(&mut draw, in_japanese, 15)],
            "description": text(&mut draw, in_japanese, 100),
            "lang": if in_japanese { "ja" } else { "en" },
            "country": if in_japanese { "JP" } else { "US" },
            "pub_date": format!("{}-{:02}-{:02}", 2000 + draw.below(25), 1 + draw.below(12), 1 + draw.below(28)),
            if in_japanese { "fi" } else { "cpc" }: [code],
        })
        .to_string();
        bytes += line.len() as u64 + 1;
        writeln!(file, "{line}")?;
    }
    file.flush()?;
    Ok(bytes)
}

/// Queries of one kind, the same in every run.
fn queries(kind: &str) -> Vec<(String, Vec<Filter>)> {
    let mut draw = Draw(99);
    let mut usual = |from: usize, to: usize| word(from + draw.below(to - from));
    let filter = |value: serde_json::Value| {
        Filter::check_all(&serde_json::from_value::<Vec<RawFilter>>(value).expect("a list")).expect("filters")
    };
    (0..QUERIES)
        .map(|nth| {
            let none = Vec::new();
            match kind {
                "word" => (usual(20, 2_000), none),
                "wide (12 words, OR)" => {
                    ((0..12).map(|_| usual(50, 5_000)).collect::<Vec<_>>().join(" OR "), none)
                }
                "AND of 3" => (format!("{} {} {}", usual(5, 200), usual(5, 400), usual(20, 800)), none),
                "structured" => (
                    format!(
                        "({} OR {} OR {}) ({} OR {}) NOT {}",
                        usual(50, 2_000),
                        usual(50, 2_000),
                        usual(50, 2_000),
                        usual(50, 2_000),
                        usual(20, 500),
                        usual(5, 200)
                    ),
                    none,
                ),
                "phrase" => (format!("\"{} {}\"", usual(0, 60), usual(0, 60)), none),
                "proximity" => (
                    format!(
                        "*N5\"({} {}) ({} {})\"",
                        usual(10, 400),
                        usual(10, 400),
                        usual(10, 400),
                        usual(10, 400)
                    ),
                    none,
                ),
                "truncated" => (format!("{}*", usual(20, 2_000)), none),
                "truncated proximity" => (format!("{}* NEAR/5 *{}", usual(40, 400), usual(40, 400)), none),
                "capitals" => (format!("={}", usual(20, 2_000)), none),
                "Japanese" => (format!("{} AND {}", japanese(nth * 7 + 3), japanese(nth * 3 + 11)), none),
                "Japanese proximity" => {
                    (format!("*N10\"{} {}\"", japanese(nth * 7 + 3), japanese(nth * 3 + 11)), none)
                }
                _ => (
                    format!("{} OR {}", usual(20, 2_000), usual(20, 2_000)),
                    filter(json!([
                        {"field": "cpc", "include_codes": ["H01L"]},
                        {"field": "pub_date", "include_range": {"from": "2010-01-01", "to": "2019-12-31"}},
                    ])),
                ),
            }
        })
        .collect()
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

fn percentile(sorted: &[f64], share: f64) -> f64 {
    sorted.get(((sorted.len() as f64 * share).ceil() as usize).saturating_sub(1)).copied().unwrap_or(f64::NAN)
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

#[expect(clippy::print_stdout, reason = "the figures are what this is for")]
#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (size, temporary) = arguments(DEFAULT_SIZE)?;
    let peak = Peak::watch();
    let file: PathBuf = temporary.path().join("generated.jsonl");
    let bytes = generate(&file, size)?;
    println!("{size} documents, {:.0} MB", bytes as f64 / 1e6);

    let corpora = Corpora::open(temporary.path());
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

    for (corpus, is_by_rows) in [("columns", false), ("rows", true)] {
        read_papers(&corpora, corpus, temporary.path(), size / PER_PAPER, is_by_rows).await?;
    }

    let backend = EmbeddedBackend::new(corpora, Arc::new(NoModels));
    let mut all = Vec::new();
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
    for kind in kinds {
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
