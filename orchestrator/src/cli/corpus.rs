//! `lyra corpus …`, and `--corpus NAME|PATH` of the other commands.

mod document;

use super::{print, print_json, tell};
use clap::{Args, Subcommand, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use lyra_corpus::backend::FeatureScope;
use lyra_corpus::{CorpusHit, CorpusInfo, Format, ImportOptions, ImportReport, Method, Progress, READS};
use lyra_usecases::App;
use serde_json::json;
use std::fmt::Write;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// Rejected lines shown to a person; `--json` has them all.
const REJECTED_SHOWN: usize = 20;

#[derive(Debug, Subcommand)]
pub(super) enum CorpusCommand {
    /// Import documents: papers (PDF, DOCX, HTML, …), references (BibTeX, RIS, Zotero, …), records as JSONL or CSV, and
    /// patents of the USPTO, EPO and JPO
    ///
    /// A paper and its reference become one document. JSONL has one document per line with id, title, abstract or text,
    /// and optionally url, doi, year, venue, authors, language, `citation_count`, references; for patents also claims,
    /// description, ipc, cpc, fi, ft, `app_id`, `pub_id`, `exam_id`, `app_date`, `pub_date`, country, applicants,
    /// `cross_en_applicants`. CSV has the same names in its header. Files may be gzip-compressed. Repeating an import
    /// adds what is missing and skips the rest.
    Import(ImportArgs),
    /// List the corpora
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one corpus, or what it holds of one document: metadata, sections with their pages, and text
    Show {
        /// Its name
        name: String,
        /// Id of a document, as `lyra corpus search` prints it
        document: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Delete a corpus; pages that tasks took from it stay
    Remove {
        /// Its name
        name: String,
    },
    /// Search a corpus
    Search(SearchArgs),
}

#[derive(Debug, Args)]
pub(super) struct ImportArgs {
    /// Name of the corpus: letters, digits, `.`, `_`, `-`
    name: String,
    /// Papers, references, tables, patents: files, also compressed (gzip, ZIP, tar), and folders; from folders and
    /// archives, all files in a format below; of Zotero's data folder, what its items name. Papers that references name
    /// are read too
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Format of all files: pdf, html, docx, odt, epub, markdown, latex, text, jats, tei, mhtml (papers); bibtex, ris,
    /// refer, `web_of_science`, `csl_json`, `zotero_json`, `endnote_xml`, nbib, `pubmed_xml`, mods, `zotero_rdf`,
    /// zotero (references); jsonl, csv; xml, greenbook, brs (patents) [default: detected from each file's beginning]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
    /// Parts of each document to embed: `all`, `none` (full-text search only, many times as fast), or a list of wide,
    /// `title_abst_claims`, `claims_only`, `top_claim`, `background_jp` [default: those of the corpus, all for a new
    /// one]
    #[arg(long, value_name = "SCOPES", value_parser = scopes)]
    scopes: Option<Scopes>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    /// No progress on stderr
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Debug, Args)]
pub(super) struct SearchArgs {
    /// Name of the corpus
    name: String,
    /// What to search for, in words
    query: String,
    /// How to search
    #[arg(long, value_enum, default_value_t = MethodArg::Hybrid)]
    method: MethodArg,
    /// Maximum number of documents
    #[arg(short, default_value_t = 10, value_name = "N")]
    k: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum MethodArg {
    /// Full text
    Bm25,
    /// Meaning
    Dense,
    /// 0.3 full text and 0.7 meaning
    Hybrid,
}

impl From<MethodArg> for Method {
    fn from(method: MethodArg) -> Self {
        match method {
            MethodArg::Bm25 => Self::Bm25,
            MethodArg::Dense => Self::Dense,
            MethodArg::Hybrid => Self::Hybrid,
        }
    }
}

pub(super) async fn run(
    app: &App,
    command: &CorpusCommand,
    cancel: &CancellationToken,
) -> anyhow::Result<ExitCode> {
    match command {
        CorpusCommand::Import(args) => return import(app, args, cancel).await,
        CorpusCommand::List { json } => list(app, *json).await?,
        CorpusCommand::Show { name, document: Some(id), json } => {
            let document = app.show_corpus_document(name, id).await?;
            if *json { print_json(&document)? } else { print(&document::described(&document))? }
        }
        CorpusCommand::Show { name, document: None, json } => {
            let summary = app.show_corpus(name).await?;
            if *json { print_json(&summary)? } else { print(&described(&summary))? }
        }
        CorpusCommand::Remove { name } => {
            app.remove_corpus(name).await?;
            tell(&format!("removed {name}"));
        }
        CorpusCommand::Search(args) => search(app, args).await?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Names of the requested corpora; a path is imported first.
pub(super) async fn named(
    app: &App,
    asked: &[String],
    quiet: bool,
    cancel: &CancellationToken,
) -> anyhow::Result<Vec<String>> {
    let known: Vec<String> = app.list_corpora().await?.into_iter().map(|corpus| corpus.name).collect();
    let mut names = Vec::new();
    for name in asked {
        let path = Path::new(name);
        if known.contains(name) || !path.exists() {
            names.push(name.clone());
        } else {
            let bar = ImportBar::new(quiet);
            let (name, report) = app.import_path(path, &|progress| bar.show(progress), cancel).await?;
            drop(bar);
            if !report.rejected.is_empty() {
                tell(&rejected(&report));
            }
            anyhow::ensure!(!report.cancelled, "the import was interrupted; repeat the command to continue");
            anyhow::ensure!(
                !report.took_nothing(),
                "no document was imported from {}; {READS}",
                path.display()
            );
            names.push(name);
        }
    }
    Ok(names)
}

async fn import(app: &App, args: &ImportArgs, cancel: &CancellationToken) -> anyhow::Result<ExitCode> {
    let bar = ImportBar::new(args.quiet);
    let options =
        ImportOptions { format: args.format, scopes: args.scopes.as_ref().map(|scopes| scopes.0.clone()) };
    let report =
        app.import_corpus(&args.name, &args.files, &options, &|progress| bar.show(progress), cancel).await?;
    drop(bar);
    if args.json {
        print_json(&report)?;
    } else {
        print(&format!(
            "{}: {} added, {} updated, {} unchanged, {} rejected\n",
            args.name, report.added, report.updated, report.unchanged, report.rejected_count,
        ))?;
        if !report.rejected.is_empty() {
            tell(&rejected(&report));
        }
        if let Some(first) = report.odd_codes.first() {
            tell(&format!(
                "{} classification codes were skipped, the first at {}:{}: {} (--json lists all)",
                report.odd_codes_count,
                first.file.display(),
                first.line,
                first.reason
            ));
        }
    }
    if !report.cancelled && report.took_nothing() {
        tell(&format!("error: no document was imported; {READS}"));
        return Ok(ExitCode::FAILURE);
    }
    if report.cancelled {
        tell("interrupted; imported documents are kept. Repeat the command to import the rest");
        return Ok(ExitCode::from(130));
    }
    Ok(ExitCode::SUCCESS)
}

/// A list of scopes, with its own type so that an empty one is a value.
#[derive(Debug, Clone)]
struct Scopes(Vec<FeatureScope>);

fn scopes(text: &str) -> Result<Scopes, String> {
    match text {
        "all" => Ok(Scopes(FeatureScope::ALL.to_vec())),
        "none" => Ok(Scopes(Vec::new())),
        list => {
            let scopes = list.split(',').map(|name| name.trim().parse::<FeatureScope>());
            scopes.collect::<Result<_, _>>().map(Scopes).map_err(|error| format!("{error}, or all or none"))
        }
    }
}

fn rejected(report: &ImportReport) -> String {
    let mut text = String::new();
    for line in report.rejected.iter().take(REJECTED_SHOWN) {
        let _ = writeln!(text, "rejected {}:{}: {}", line.file.display(), line.line, line.reason);
    }
    if report.rejected_count > REJECTED_SHOWN as u64 {
        let _ =
            writeln!(text, "… and {} more (--json lists all)", report.rejected_count - REJECTED_SHOWN as u64);
    }
    text.trim_end().to_owned()
}

async fn list(app: &App, json: bool) -> anyhow::Result<()> {
    let corpora = app.list_corpora().await?;
    if json {
        return print_json(&corpora);
    }
    if corpora.is_empty() {
        return print("no corpus yet; import one with: lyra corpus import NAME FILE\n");
    }
    for corpus in corpora {
        print(&format!("{:<32} {:>9} documents   {}\n", corpus.name, corpus.documents, corpus.embedder))?;
    }
    Ok(())
}

fn described(corpus: &CorpusInfo) -> String {
    let embedder = if corpus.scopes.is_empty() {
        "none: full-text search only".to_owned()
    } else {
        let scopes: Vec<&str> = corpus.scopes.iter().map(|scope| scope.name()).collect();
        format!("{} ({} dimensions) of {}", corpus.embedder, corpus.dimension, scopes.join(", "))
    };
    format!(
        "{}\n  documents  {}\n  embedder   {embedder}\n  created    {}\n  on disk    {:.1} MB\n",
        corpus.name,
        corpus.documents,
        corpus.created,
        corpus.bytes as f64 / 1e6,
    )
}

async fn search(app: &App, args: &SearchArgs) -> anyhow::Result<()> {
    let found = app.search_corpus(&args.name, &args.query, args.method.into(), args.k).await?;
    if let Some(note) = &found.note {
        tell(&format!("note: {note}"));
    }
    let hits = found.hits;
    if args.json {
        let hits: Vec<_> = hits.iter().map(hit_json).collect();
        return print_json(&hits);
    }
    if hits.is_empty() {
        return print("nothing found\n");
    }
    for (i, hit) in hits.iter().enumerate() {
        let year = hit.document.year.map_or_else(String::new, |year| format!(" ({year})"));
        print(&format!(
            "{:>3}. {:.3}  {}{year} [{}]\n",
            i + 1,
            hit.score,
            hit.document.title,
            hit.document.doc_id
        ))?;
    }
    Ok(())
}

fn hit_json(hit: &CorpusHit) -> serde_json::Value {
    let document = &hit.document;
    json!({
        "doc_id": document.doc_id, "score": hit.score, "bm25": hit.bm25, "cosine": hit.cosine,
        "title": document.title, "year": document.year, "venue": document.venue,
        "doi": document.doi, "url": document.url, "text": document.text,
    })
}

/// A progress bar over the bytes of the files; an occasional line when stderr is not a terminal.
struct ImportBar {
    bar: ProgressBar,
    /// When the last line was written, where lines are.
    said: Option<Mutex<Instant>>,
}

/// Time between two lines of progress.
const SAY_EVERY: Duration = Duration::from_secs(5);

impl ImportBar {
    fn new(quiet: bool) -> Self {
        let bar = if quiet { ProgressBar::hidden() } else { ProgressBar::new(0) };
        let template = "{elapsed} [{bar:30}] {binary_bytes}/{binary_total_bytes} {msg} eta {eta}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        let lines = !quiet && !std::io::stderr().is_terminal();
        Self { bar, said: lines.then(|| Mutex::new(Instant::now())) }
    }

    fn show(&self, progress: &Progress) {
        if let Some(said) = &self.said {
            let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
            if said.elapsed() >= SAY_EVERY {
                *said = Instant::now();
                let documents = progress.indexed + progress.unchanged;
                let (read, all) = (progress.bytes_read as f64 / 1e6, progress.bytes_total as f64 / 1e6);
                tell(&format!("importing: {documents} documents, {read:.1} of {all:.1} MB read"));
            }
        }
        self.bar.set_length(progress.bytes_total);
        self.bar.set_position(progress.bytes_read);
        self.bar.set_message(format!("{} documents", progress.indexed + progress.unchanged));
    }
}

impl Drop for ImportBar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
