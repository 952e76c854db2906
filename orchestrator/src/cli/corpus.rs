//! `lyra corpus …`, and `--corpus NAME|PATH` of the other commands.

mod document;
mod export;
mod found;
mod import;
mod library;
mod watch;

use super::progress::TaskProgressLine;
use super::report::counted;
use super::{print, print_json, tell};
use clap::{Args, Subcommand, ValueEnum};
use lyra_corpus::backend::BackendKind;
use lyra_corpus::{CorpusInfo, Method, Narrow, READS, Within};
use lyra_usecases::{App, AppError};
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;
use tokio_util::sync::CancellationToken;

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
    Import(import::ImportArgs),
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
    #[arg(short, default_value_t = 10, value_name = "N", value_parser = at_least_one)]
    k: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("at least 1 is needed".to_owned()),
        Ok(number) => Ok(number),
        Err(_) => Err("it should be a whole number from 1".to_owned()),
    }
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
        CorpusCommand::Import(args) => return import::run(app, args, cancel).await,
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
            let bar = import::ImportBar::new(quiet);
            let (name, report) = app.import_path(path, &|progress| bar.show(progress), cancel).await?;
            drop(bar);
            if !report.rejected.is_empty() {
                tell(&import::rejected(&report));
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
            let embedded = counted(done.embedded, "document");
            print(&format!("{name}: {embedded} embedded, {} left\n", done.left))?;
        }
    }
    if cancel.is_cancelled() {
        tell("interrupted; finished embeddings are kept. Repeat the command for the rest");
        return Ok(ExitCode::from(130));
    }
    Ok(ExitCode::SUCCESS)
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
