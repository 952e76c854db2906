//! `lyra corpus …`, and `--corpus NAME|PATH` of the other commands.

mod document;
mod export;
mod found;
mod library;
mod watch;

use super::progress::TaskProgressLine;
use super::{print, print_json, tell};
use clap::{Args, Subcommand, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use lyra_corpus::backend::{BackendKind, FeatureScope};
use lyra_corpus::{
    CorpusInfo, Embed, Format, ImportOptions, ImportReport, Method, Narrow, Progress, READS, Within,
};
use lyra_usecases::{App, AppError, CompletedMetadata, ErrorCode};
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
    /// Import documents: papers (PDF, DOCX, HTML, …), references (BibTeX, RIS, Zotero, …), records (JSONL or CSV), and
    /// patents from the USPTO, EPO, JPO, and patent services
    ///
    /// A paper and its reference become one document. JSONL has one document per line with id, title, abstract or text,
    /// and optionally url, doi, year, venue, authors, language, `citation_count`, references; for patents also claims,
    /// description, inventors, ipc, cpc, fi, ft, uspc, locarno, `app_id`, `pub_id`, `exam_id`, `app_date`, `pub_date`,
    /// priorities, `priority_date`, `family_id`, `legal_status`, country, applicants, `cross_en_applicants`. CSV has the same names in its header. Files may be gzip-compressed. Repeating an import
    /// reads new and changed files, says which files are gone, and skips the rest.
    Import(ImportArgs),
    /// Embed documents whose embedding was deferred by imports; can be interrupted and repeated
    Embed(EmbedArgs),
    /// List the corpora
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show a corpus with its tags and collections, or one of its documents: metadata, sections with their pages, and
    /// text
    Show {
        /// Name of the corpus
        name: String,
        /// Id of a document, as `lyra corpus search` prints it
        document: Option<String>,
        /// List all tags and collections, not the first ten
        #[arg(long, conflicts_with = "document")]
        all: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Delete a corpus; pages that tasks took from it stay
    Remove {
        /// Name of the corpus
        name: String,
    },
    /// Search a corpus
    Search(SearchArgs),
    /// Write a corpus to a file: BibTeX, RIS or CSL-JSON for reference managers, JSONL for another corpus
    Export(export::ExportArgs),
    /// List documents that are probably the same work
    ///
    /// Two documents match if they have the same identifier, the same title in the same or the next year, or a similar
    /// title and the same first author. Nothing is changed.
    Duplicates {
        /// Name of the corpus
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// What narrows corpora.
#[derive(Debug, Clone, Args)]
pub(super) struct NarrowArgs {
    /// Only corpus documents with this tag (case-insensitive); repeat to require several tags
    #[arg(long = "tag", value_name = "TAG")]
    pub(super) tags: Vec<String>,
    /// Only corpus documents in this collection or one below it (`Sleep` includes `Sleep/Naps`); repeat to require
    /// several collections
    #[arg(long = "collection", value_name = "PATH")]
    pub(super) collections: Vec<String>,
}

impl NarrowArgs {
    fn read(&self) -> Result<Narrow, AppError> {
        Ok(Narrow::of(&self.tags, &self.collections)?)
    }
}

#[derive(Debug, Args)]
pub(super) struct ImportArgs {
    /// Name of the corpus: letters, digits, `.`, `_`, `-`
    name: String,
    /// Files or folders with papers, references, tables, or patents; files may be compressed (gzip, ZIP, tar). From
    /// folders and archives, all files in a format listed under `--format` are read; from Zotero's data folder, its
    /// items and their attachments. Papers that references point to are read too
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Format of all files: pdf, html, docx, odt, epub, markdown, latex, text, jats, tei, mhtml (papers); bibtex, ris,
    /// refer, `web_of_science`, `csl_json`, `zotero_json`, `endnote_xml`, nbib, `pubmed_xml`, mods, `zotero_rdf`,
    /// zotero (references); jsonl, csv; xml, docdb, `patent_json`, greenbook, brs (patents) [default: detected from each file's beginning]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
    /// Parts of each document to embed: `all`, `none` (full-text search only, many times faster), or a list of wide,
    /// `title_abst_claims`, `claims_only`, `top_claim`, `background_jp` [default: the existing corpus's scopes, or all
    /// for a new corpus]
    #[arg(long, value_name = "SCOPES", value_parser = scopes)]
    scopes: Option<Scopes>,
    /// When to embed: `now`; `later` (in the background while `lyra serve` or `lyra mcp` runs, or with `lyra corpus
    /// embed`); or `never` (same as `--scopes none`). Full-text search works immediately
    #[arg(long, value_enum, default_value_t = EmbedArg::Now, value_name = "WHEN")]
    embed: EmbedArg,
    /// Where to store a new corpus: on this machine, or on the cluster configured in `[fusion.backends.opensearch]`
    /// [default: where the corpus already is, or this machine for a new corpus]
    #[arg(long, value_enum, value_name = "BACKEND")]
    backend: Option<BackendArg>,
    /// First rebuild the index of a corpus on a cluster from its documents, using the current embedder and analyzer.
    /// The new index replaces the old one once it is complete
    #[arg(long, conflicts_with = "watch")]
    rebuild: bool,
    /// Remove documents whose only file is gone. Nothing is removed for a folder that is missing or empty
    #[arg(long)]
    prune: bool,
    /// Sources to query for metadata that papers lack [default: the academic ones among `sources.default`]
    #[arg(long, value_delimiter = ',', value_name = "SOURCES")]
    complete: Vec<String>,
    /// Do not query external sources
    #[arg(long, conflicts_with = "complete")]
    offline: bool,
    /// Keep the corpus in sync with the files until interrupted, printing a line for each new, changed, or removed file
    #[arg(long, conflicts_with = "json")]
    watch: bool,
    /// With `--watch`, poll every SECONDS instead of relying on file-system notifications
    #[arg(long, requires = "watch", value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    poll: Option<u64>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    /// No progress on stderr
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum BackendArg {
    /// On this machine
    Embedded,
    /// On a cluster
    Opensearch,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum EmbedArg {
    /// Before the import ends
    Now,
    /// In the background
    Later,
    /// Full-text search only
    Never,
}

impl ImportArgs {
    fn options(&self) -> anyhow::Result<ImportOptions> {
        let scopes = self.scopes.as_ref().map(|scopes| scopes.0.clone());
        anyhow::ensure!(
            self.embed != EmbedArg::Never || scopes.as_ref().is_none_or(Vec::is_empty),
            "--embed never contradicts --scopes: leave one of them out"
        );
        Ok(ImportOptions {
            format: self.format,
            scopes: if self.embed == EmbedArg::Never { Some(Vec::new()) } else { scopes },
            embed: if self.embed == EmbedArg::Later { Embed::Later } else { Embed::Now },
            prune: self.prune,
            backend: self.backend.map(|backend| match backend {
                BackendArg::Embedded => BackendKind::Embedded,
                BackendArg::Opensearch => BackendKind::OpenSearch,
            }),
            rebuild: self.rebuild,
            except: Vec::new(),
        })
    }
}

#[derive(Debug, Args)]
pub(super) struct EmbedArgs {
    /// Names of corpora [default: all corpora with pending embeddings]
    names: Vec<String>,
    /// Print JSON
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
    /// How to search [default: hybrid; bm25 in notes]
    #[arg(long, value_enum)]
    method: Option<MethodArg>,
    /// What to search: the papers, or your own notes on them
    #[arg(long = "in", value_enum, default_value_t = WithinArg::Papers)]
    within: WithinArg,
    #[command(flatten)]
    narrow: NarrowArgs,
    /// Maximum number of documents
    #[arg(short, default_value_t = 10, value_name = "N")]
    k: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum WithinArg {
    /// Titles and texts
    Papers,
    /// Notes and highlights
    Notes,
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
        CorpusCommand::Import(args) if args.watch => return watch::run(app, args, cancel).await,
        CorpusCommand::Import(args) => return import(app, args, cancel).await,
        CorpusCommand::Embed(args) => return embed(app, args, cancel).await,
        CorpusCommand::List { json } => list(app, *json).await?,
        CorpusCommand::Show { name, document: Some(id), json, .. } => {
            let document = app.show_corpus_document(name, id).await?;
            if *json { print_json(&document)? } else { print(&document::described(&document))? }
        }
        CorpusCommand::Show { name, document: None, json, all } => {
            let (corpus, labels) = (app.show_corpus(name).await?, app.corpus_labels(name).await?);
            if *json {
                print_json(&library::Shown { corpus, labels })?;
            } else {
                print(&(described(&corpus) + &library::labels(&labels, *all)))?;
            }
        }
        CorpusCommand::Export(args) => return export::run(app, args, cancel).await,
        CorpusCommand::Duplicates { name, json } => {
            let found = app.corpus_duplicates(name, cancel).await?;
            if *json { print_json(&found)? } else { print(&library::duplicates(&found))? }
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
    let options = args.options()?;
    let report =
        app.import_corpus(&args.name, &args.files, &options, &|progress| bar.show(progress), cancel).await?;
    drop(bar);
    let completed = if args.offline || report.cancelled || report.took_nothing() {
        CompletedMetadata::default()
    } else {
        let line = TaskProgressLine::new(args.quiet);
        let show = |asked, of| line.say(&format!("asked sources about {asked} of {of} papers"));
        match app.complete_corpus(&args.name, &args.complete, &show, cancel).await {
            // The documents are imported all the same.
            Err(error) if error.code != ErrorCode::InvalidArgument => {
                tell(&format!("metadata was not completed: {error}"));
                CompletedMetadata::default()
            }
            completed => completed?,
        }
    };
    if args.json {
        let mut json = serde_json::to_value(&report)?;
        json["completed"] = serde_json::to_value(&completed)?;
        print_json(&json)?;
    } else {
        print(&format!(
            "{}: {} added, {} updated, {} unchanged, {} rejected\n",
            args.name, report.added, report.updated, report.unchanged, report.rejected_count,
        ))?;
        if !report.cancelled {
            print(&files(&report))?;
        }
        if !completed.is_empty() {
            print(&format!("{}\n", completion(&completed)))?;
        }
        if !report.rejected.is_empty() {
            tell(&rejected(&report));
        }
        for partial in report.partial.iter().take(REJECTED_SHOWN) {
            tell(&format!("{} was read in part: {}", partial.file.display(), partial.reason));
        }
        if report.partial_count > REJECTED_SHOWN as u64 {
            tell(&format!(
                "… and {} more files were read in part (--json lists all)",
                report.partial_count - REJECTED_SHOWN as u64
            ));
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

/// What was found of the files, a line for each thing that is worth knowing.
fn files(report: &ImportReport) -> String {
    let found = &report.files;
    let mut text = format!(
        "files: {} new, {} changed, {} unchanged, {} gone\n",
        found.new, found.changed, found.unchanged, found.gone
    );
    if found.pruned > 0 {
        let _ = writeln!(text, "removed {} documents that no file has any longer", found.pruned);
    }
    let kept = found.orphaned - found.pruned;
    if kept > 0 {
        let _ = writeln!(text, "{kept} documents are in no file any longer (--prune removes them):");
        for id in found.orphans.iter().take(REJECTED_SHOWN) {
            let _ = writeln!(text, "  {id}");
        }
    }
    if report.to_embed > 0 {
        let _ = writeln!(
            text,
            "{} documents are still to be embedded: by `lyra corpus embed`, or while `lyra serve` or `lyra mcp` runs",
            report.to_embed
        );
    }
    text
}

/// Which source completed how many documents.
fn completion(completed: &CompletedMetadata) -> String {
    let mut parts: Vec<String> =
        completed.by_source.iter().map(|(source, count)| format!("{count} by {source}")).collect();
    if completed.unknown > 0 {
        parts.push(format!("{} unknown to the sources", completed.unknown));
    }
    if completed.left > 0 {
        parts.push(format!("{} left for the next import", completed.left));
    }
    parts.extend(completed.failed.iter().map(|(source, why)| format!("{source} failed: {why}")));
    format!("metadata completed: {}", parts.join(", "))
}

async fn embed(app: &App, args: &EmbedArgs, cancel: &CancellationToken) -> anyhow::Result<ExitCode> {
    let line = TaskProgressLine::new(args.quiet);
    let show = |name: &str, done: u64, left: u64| {
        line.say(&format!("{name}: embedded {done} of {} documents", done + left));
    };
    let done = app.embed_corpora(&args.names, &show, cancel).await?;
    drop(line);
    if args.json {
        print_json(&done)?;
    } else if done.is_empty() {
        print("no corpus has documents to embed\n")?;
    } else {
        for (name, done) in &done {
            print(&format!("{name}: {} documents embedded, {} left\n", done.embedded, done.left))?;
        }
    }
    if cancel.is_cancelled() {
        tell("interrupted; finished embeddings are kept. Repeat the command for the rest");
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
        let at = if line.line > 0 { format!(":{}", line.line) } else { String::new() };
        let _ = writeln!(text, "rejected {}{at}: {}", line.file.display(), line.reason);
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
        let embedded = if corpus.pending.is_empty() {
            corpus.embedder
        } else {
            format!("{} of {} embedded", corpus.embedded, corpus.documents)
        };
        if let Some(problem) = &corpus.problem {
            print(&format!("{:<32} cannot be reached: {problem}\n", corpus.name))?;
            continue;
        }
        let place = if corpus.backend == BackendKind::Embedded { "" } else { "   on opensearch" };
        let missing = if corpus.unfinished.is_empty() { "" } else { "   an import has not finished" };
        print(&format!(
            "{:<32} {:>9} documents   {embedded}{place}{missing}\n",
            corpus.name, corpus.documents
        ))?;
    }
    Ok(())
}

fn described(corpus: &CorpusInfo) -> String {
    let embedder = if !corpus.pending.is_empty() {
        format!("{} of {} documents embedded so far", corpus.embedded, corpus.documents)
    } else if corpus.scopes.is_empty() {
        "none: full-text search only".to_owned()
    } else {
        let scopes: Vec<&str> = corpus.scopes.iter().map(|scope| scope.name()).collect();
        format!("{} ({} dimensions) of {}", corpus.embedder, corpus.dimension, scopes.join(", "))
    };
    let mut text = format!(
        "{}\n  documents  {}\n  embedder   {embedder}\n  created    {}\n  on disk    {:.1} MB\n",
        corpus.name,
        corpus.documents,
        corpus.created,
        corpus.bytes as f64 / 1e6,
    );
    if let Some(address) = &corpus.address {
        let _ = writeln!(text, "  {:<10} {address}", corpus.backend);
    }
    for path in &corpus.unfinished {
        let _ = writeln!(text, "  unfinished {path}: documents may be missing; import it again");
    }
    text
}

async fn search(app: &App, args: &SearchArgs) -> anyhow::Result<()> {
    let in_notes = args.within == WithinArg::Notes;
    let within = if in_notes { Within::Notes } else { Within::Paper };
    let narrow = Narrow { within, ..args.narrow.read()? };
    let method = args.method.unwrap_or(if in_notes { MethodArg::Bm25 } else { MethodArg::Hybrid });
    let found = app.search_narrowed_corpus(&args.name, &args.query, method.into(), args.k, &narrow).await?;
    if let Some(note) = &found.note {
        tell(&format!("note: {note}"));
    }
    let hits: Vec<found::Found> =
        found.hits.into_iter().map(|hit| found::Found::new(hit, &args.query, in_notes)).collect();
    if args.json {
        let hits: Vec<_> = hits.iter().map(found::Found::json).collect();
        return print_json(&hits);
    }
    if hits.is_empty() {
        return print("nothing found\n");
    }
    print(&hits.iter().map(found::Found::text).collect::<String>())
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
