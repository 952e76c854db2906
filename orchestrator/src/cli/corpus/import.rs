//! `lyra corpus import …`.

use crate::cli::progress::TaskProgressLine;
use crate::cli::report::counted;
use crate::cli::{print, print_json, tell};
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use lyra_corpus::backend::{BackendKind, FeatureScope};
use lyra_corpus::{Embed, Format, ImportOptions, ImportReport, Progress, READS};
use lyra_usecases::{App, CompletedMetadata, ErrorCode};
use std::fmt::Write;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// Rejected lines shown to a person; `--json` has them all.
const REJECTED_SHOWN: usize = 20;

#[derive(Debug, Args)]
pub(in crate::cli) struct ImportArgs {
    /// Name of the corpus: letters, digits, `.`, `_`, `-`
    pub(super) name: String,
    /// Files or folders with papers, references, tables, or patents; files may be compressed (gzip, ZIP, tar). From
    /// folders and archives, all files in a format listed under `--format` are read; from Zotero's data folder, its
    /// items and their attachments. Papers that references point to are read too
    #[arg(required = true)]
    pub(super) files: Vec<PathBuf>,
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
    pub(super) complete: Vec<String>,
    /// Do not query external sources
    #[arg(long, conflicts_with = "complete")]
    pub(super) offline: bool,
    /// Keep the corpus in sync with the files until interrupted, printing a line for each new, changed, or removed file
    #[arg(long, conflicts_with = "json")]
    pub(super) watch: bool,
    /// With `--watch`, poll every SECONDS instead of relying on file-system notifications
    #[arg(long, requires = "watch", value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(super) poll: Option<u64>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    /// No progress on stderr
    #[arg(long, short)]
    pub(super) quiet: bool,
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
    pub(super) fn options(&self) -> anyhow::Result<ImportOptions> {
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

pub(super) async fn run(
    app: &App,
    args: &ImportArgs,
    cancel: &CancellationToken,
) -> anyhow::Result<ExitCode> {
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
        let _ = writeln!(text, "removed {} that no file has any longer", counted(found.pruned, "document"));
    }
    let kept = found.orphaned - found.pruned;
    if kept > 0 {
        let kept = counted(kept, "document");
        let _ = writeln!(text, "{kept} in no file any longer (--prune removes them):");
        for id in found.orphans.iter().take(REJECTED_SHOWN) {
            let _ = writeln!(text, "  {id}");
        }
    }
    if report.to_embed > 0 {
        let _ = writeln!(
            text,
            "{} still to be embedded: by `lyra corpus embed`, or while `lyra serve` or `lyra mcp` runs",
            counted(report.to_embed, "document")
        );
    }
    text
}

/// Which source completed how many documents.
pub(super) fn completion(completed: &CompletedMetadata) -> String {
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

pub(super) fn rejected(report: &ImportReport) -> String {
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

/// A progress bar over the bytes of the files; an occasional line when stderr is not a terminal.
pub(super) struct ImportBar {
    bar: ProgressBar,
    /// When the last line was written, where lines are.
    said: Option<Mutex<Instant>>,
}

/// Time between two lines of progress.
const SAY_EVERY: Duration = Duration::from_secs(5);

impl ImportBar {
    pub(super) fn new(quiet: bool) -> Self {
        let bar = if quiet { ProgressBar::hidden() } else { ProgressBar::new(0) };
        let template = "{elapsed} [{bar:30}] {binary_bytes}/{binary_total_bytes} {msg} eta {eta}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        let lines = !quiet && !std::io::stderr().is_terminal();
        Self { bar, said: lines.then(|| Mutex::new(Instant::now())) }
    }

    pub(super) fn show(&self, progress: &Progress) {
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
