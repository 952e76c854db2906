//! Import: read, embed and index as stages that overlap, with commits that an interruption falls back to.

mod cluster;
mod complete;
mod exchange;
mod files;
mod format;
mod home;
mod known;
mod library;
mod messages;
mod notes;
mod options;
mod paper;
mod part;
mod patent;
mod pending;
mod reader;
mod records;
mod references;
mod spool;
mod sweep;
mod tagged;
mod work;
mod writer;
mod xml;
mod zotero;

pub(crate) use complete::run as complete;
pub(crate) use files::survey;
pub use files::{Stamp, Survey};
pub use format::{Format, UnknownFormat};
pub(crate) use home::Home;
pub use options::{Embed, ImportOptions};
pub(crate) use pending::Rounds;
pub use work::read_files;

use crate::backend::FeatureScope;
use crate::corpora::blocking;
use crate::index::TextIndex;
use crate::ledger::{Entry, Kind, Ledger};
use crate::manifest::{FORMAT, Manifest, NEWEST, check_name};
use crate::remote::{Cluster, Shelf};
use crate::vectors::Vectors;
use crate::{CorpusError, Document, Result, upgrade};
use files::Found;
use futures::StreamExt;
use known::Known;
use lyra_research::ports::{Inference, TextRole};
use lyra_worker::Talks;
use serde::{Serialize, Serializer};
use std::collections::HashSet;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Calls of the embedder that wait for it at once: one works, one is ready.
const IN_FLIGHT: usize = 2;
/// Batches that wait between two stages.
const WAITING: usize = 2;
/// Rejected records that a report lists; more are only counted.
pub(crate) const LISTED: usize = 1_000;

/// A record that was not imported, or a code that was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rejected {
    /// The file as it was named.
    #[serde(serialize_with = "shown")]
    pub file: PathBuf,
    /// Line on which the record begins, from 1; 0 for a file as a whole.
    pub line: u64,
    /// What is wrong with it, in a few words.
    pub reason: String,
}

/// A path as it is shown: names of files need not be UTF-8.
fn shown<S: Serializer>(path: &Path, to: S) -> std::result::Result<S::Ok, S::Error> {
    to.collect_str(&path.display())
}

/// What an import did.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ImportReport {
    /// Documents with an id that was not there.
    pub added: u64,
    /// Documents that replaced another version, or whose embedding was damaged.
    pub updated: u64,
    /// Documents that were there already.
    pub unchanged: u64,
    /// Records that repeat an earlier one of the same import.
    pub repeated: u64,
    /// Records that were not imported.
    pub rejected_count: u64,
    /// The first thousand of them.
    pub rejected: Vec<Rejected>,
    /// Invalid classification codes that were left out of imported documents.
    pub odd_codes_count: u64,
    /// The first thousand of them.
    pub odd_codes: Vec<Rejected>,
    /// Imported files of which not everything was read, such as PDFs with scanned pages.
    pub partial_count: u64,
    /// The first thousand of them, with what is missing.
    pub partial: Vec<Rejected>,
    /// Documents in the corpus afterwards.
    pub documents: u64,
    /// Documents of them that are still to be embedded.
    pub to_embed: u64,
    /// What was found of the files.
    pub files: FileReport,
    /// Stopped before the end of the files; what was done is kept, repeating the import does the rest.
    pub cancelled: bool,
}

/// What an import found of the files under the paths that it was given, compared with the import before.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct FileReport {
    /// Files that no import read before.
    pub new: u64,
    /// Files with another content than before.
    pub changed: u64,
    /// Files that are as before, and were not read again.
    pub unchanged: u64,
    /// Files that were read before and are no longer there.
    pub gone: u64,
    /// The first thousand that are new, changed, or gone.
    pub changes: Vec<FileChange>,
    /// Documents that no file gives any longer, including those that were removed.
    pub orphaned: u64,
    /// The first thousand of them that stay in the corpus.
    pub orphans: Vec<String>,
    /// Documents that were removed because no file gives them any longer.
    pub pruned: u64,
}

/// A file that is not as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileChange {
    /// Absolute path.
    #[serde(serialize_with = "shown")]
    pub file: PathBuf,
    /// What became of it.
    pub kind: FileKind,
    /// Ids of documents that it gives; of a file that is gone, those that no other file gives.
    pub documents: Vec<String>,
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    /// It was not there before.
    New,
    /// Its content changed.
    Changed,
    /// It is no longer there.
    Gone,
}

impl ImportReport {
    /// The files had nothing for the corpus: no document was added, updated or there already.
    pub fn took_nothing(&self) -> bool {
        self.added + self.updated + self.unchanged + self.repeated == 0
    }
}

/// What a file should be that is something else.
pub const READS: &str = "Lyra reads papers (PDF, HTML, DOCX, ODT, EPUB, Markdown, LaTeX, text, JATS, TEI, MHTML), \
     references (BibTeX, RIS, CSL-JSON, EndNote, PubMed, MODS, Zotero), JSONL (one JSON object a line), CSV, and \
     patents as XML, JSON of patent services, greenbook or BRS, also in gzip, ZIP or tar, and Zotero's folder";

/// How far an import is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// Bytes of the files that were read.
    pub bytes_read: u64,
    /// Bytes of all files.
    pub bytes_total: u64,
    /// Documents embedded and indexed so far, added or updated.
    pub indexed: u64,
    /// Documents that were there already.
    pub unchanged: u64,
    /// Records that were not imported.
    pub rejected: u64,
}

/// Sizes of the steps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Batching {
    /// Documents per call of the embedder.
    pub(crate) embed: usize,
    /// Documents per commit.
    pub(crate) commit: usize,
}

impl Default for Batching {
    fn default() -> Self {
        Self { embed: 64, commit: 512 }
    }
}

impl Batching {
    /// Without embeddings a document costs so little that each commit would take longer than what it saves.
    fn without_embeddings(self) -> Self {
        Self { commit: self.commit.saturating_mul(64), ..self }
    }
}

/// A document to embed and index.
struct Pending {
    document: Document,
    /// Its stored form, and that form's checksum.
    json: String,
    hash: u64,
    /// What to embed of it.
    texts: Texts,
    /// A document of this id is in the index.
    replaces: bool,
    /// Where it was read.
    from: Option<library::Place>,
}

/// Texts to embed, each once, with all scopes that have it.
type Texts = Vec<(Vec<FeatureScope>, String)>;

/// What goes from one stage to the next: documents, and files whose documents all went before or go with them.
struct Step<T> {
    documents: Vec<T>,
    files: Vec<Entry>,
}

/// What the stages count together.
type Tally = Arc<Mutex<(ImportReport, Progress)>>;

/// Imports files into the corpus in `folder`.
#[expect(clippy::too_many_arguments, reason = "one caller, which names them all")]
pub(crate) async fn run(
    folder: PathBuf,
    name: &str,
    files: &[PathBuf],
    options: &ImportOptions,
    inference: &dyn Inference,
    progress: &(dyn Fn(&Progress) + Send + Sync),
    cancel: &CancellationToken,
    readers: &Arc<Talks>,
    batching: Batching,
    cluster: Option<&Cluster>,
) -> Result<ImportReport> {
    check_name(name)?;
    let before = {
        let (folder, name, cluster) = (folder.clone(), name.to_owned(), cluster.cloned());
        Arc::new(blocking(move || known_files(&folder, &name, cluster.as_ref())).await?)
    };
    let Found { sources, files: to_read, kept, mut rejected } =
        files::open(files, options, &before, readers, cancel).await?;
    let sources = Arc::new(sources);
    let seen = sweep::Seen {
        roots: files.to_vec(),
        read: to_read.clone(),
        unchanged: kept.len() as u64,
        before: before.clone(),
        partial: !options.except.is_empty(),
    };
    let any_kept = !kept.is_empty();
    let odd = kept.iter().filter(|known| known.kind != Kind::Nothing);
    rejected.extend(odd.flat_map(files::rejected));
    let stored = {
        let (folder, name) = (folder.clone(), name.to_owned());
        blocking(move || upgrade::current(&folder, &name)).await?
    };
    let on_cluster = options.is_on_cluster(name, stored.as_ref())?;
    let cluster = if on_cluster { Some(cluster.ok_or_else(|| without_cluster(name))?) } else { None };
    let tally: Tally = Arc::default();
    let stored = match (stored, cluster) {
        (Some(stored), Some(cluster)) if options.rebuild => {
            let lock = {
                let (folder, name) = (folder.clone(), name.to_owned());
                blocking(move || lock(&folder, &name)).await?
            };
            let rebuilt =
                cluster::rebuild(&folder, cluster, stored, options, inference, batching, &tally, cancel)
                    .await;
            drop(lock);
            match rebuilt {
                Err(CorpusError::Stopped) => {
                    let report = tally.lock().unwrap_or_else(PoisonError::into_inner).0.clone();
                    return Ok(ImportReport { cancelled: true, ..report });
                }
                rebuilt => Some(rebuilt?),
            }
        }
        (stored, _) => stored,
    };
    let scopes = options.scopes_for(name, stored.as_ref())?;
    let later = options.embed == Embed::Later;
    let (embedder, dimension) = if scopes.is_empty() || later {
        (String::new(), 0)
    } else {
        let models = inference.models().await?;
        (models.embedder, models.dimension)
    };
    #[expect(
        clippy::disallowed_methods,
        reason = "the manifest records when the corpus was made; nothing depends on it"
    )]
    let created = jiff::Timestamp::now();
    let (scopes, pending) = if later { (Vec::new(), scopes) } else { (scopes, Vec::new()) };
    let format = if on_cluster { NEWEST } else { FORMAT };
    let fresh = Manifest {
        format,
        name: name.to_owned(),
        embedder,
        dimension,
        scopes,
        pending,
        created,
        opensearch: None,
    };
    let opened = match cluster {
        None => {
            let folder = folder.clone();
            blocking(move || prepare(&folder, fresh, later)).await?
        }
        Some(cluster) => prepare_there(&folder, cluster, fresh, later, cancel).await?,
    };
    let Prepared { lock, manifest, home, known, before: documents_before } = opened;
    let rounds = batching;
    let batching = if known.scopes.is_empty() { batching.without_embeddings() } else { batching };
    let bytes_total = sources.iter().fold(0, |sum: u64, source| sum.saturating_add(source.bytes()));
    let rejected_count = rejected.len() as u64;
    let rejected = rejected.into_iter().take(LISTED).collect();
    {
        let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
        let (report, progress) = &mut *tally;
        report.rejected_count += rejected_count;
        report.rejected.extend::<Vec<Rejected>>(rejected);
        (progress.bytes_total, progress.rejected) = (bytes_total, report.rejected_count);
    }

    // Whether every file was read to its end.
    let finished = Arc::new(AtomicBool::new(false));
    let (to_accept, fetched) = mpsc::channel(1);
    tokio::spawn(files::fetch(sources.clone(), readers.clone(), to_accept, cancel.clone()));
    let (to_embed, pending) = mpsc::channel(WAITING);
    let (to_write, embedded) = mpsc::channel(WAITING);
    let reading = {
        let (tally, cancel, finished) = (tally.clone(), cancel.clone(), finished.clone());
        let sources = sources.clone();
        let shelves = reader::Shelves { sources, files: to_read, kept, ledger: before };
        blocking(move || {
            finished.store(
                reader::run(fetched, shelves, &known, batching.embed, &to_embed, &tally, &cancel)?,
                Ordering::Release,
            );
            Ok(())
        })
    };
    let writing = {
        let (home, folder, tally, dimension) =
            (home.clone(), folder.clone(), tally.clone(), manifest.dimension);
        let (sources, cancel) = (sources.clone(), cancel.clone());
        let reading = tokio::spawn(reading);
        let written = tokio::spawn(blocking(move || {
            // Held here: when the caller goes away, the last commit is still protected.
            let _lock = lock;
            let mut ledger = Ledger::read(&folder)?;
            let every = (batching.commit, rounds.commit);
            match &home {
                Home::Here(index) => {
                    writer::run(index, &folder, dimension, embedded, &mut ledger, every, &tally)
                }
                Home::There(shelf) => {
                    writer::run_there(shelf, &sources, embedded, &mut ledger, every.0, &tally, &cancel)
                }
            }
        }));
        (reading, written)
    };
    let embedder = Embedder { inference, dimension: manifest.dimension, most: batching.embed };
    let embedding = embed(pending, to_write, &embedder, progress, &tally, cancel).await;
    let (reading, written) = (join(writing.0).await, join(writing.1).await);
    // The writer's error is the cause when the embedder found its channel closed.
    let written = match written {
        // Canceled while it waited for the cluster.
        Err(CorpusError::Stopped) if cancel.is_cancelled() => false,
        written => written.map(|()| true)?,
    };
    let stopped = embedding?;
    reading?;
    let (mut report, mut last) = tally.lock().unwrap_or_else(PoisonError::into_inner).clone();
    progress(&last);
    report.cancelled = stopped || !written || !finished.load(Ordering::Acquire);
    if !report.cancelled {
        let (folder, name, home, prune) = (folder.clone(), name.to_owned(), home.clone(), options.prune);
        report.files = blocking(move || {
            let _lock = self::lock(&folder, &name)?;
            sweep::run(&home, &mut Ledger::read(&folder)?, &seen, prune)
        })
        .await?;
    }
    // What an earlier import left, and what was damaged since.
    if !later && !manifest.scopes.is_empty() && !report.cancelled && lacks(&folder, name, any_kept).await? {
        let mut rounds = Rounds::new(&folder, name, rounds, any_kept, cluster);
        loop {
            let next = rounds.next(inference, Holder::Import);
            let Some(round) = cancel.run_until_cancelled(next).await else {
                report.cancelled = true;
                break;
            };
            let round = round?;
            report.updated += round.embedded;
            report.unchanged = report.unchanged.saturating_sub(round.embedded);
            last.indexed += round.embedded;
            progress(&last);
            if round.left == 0 {
                break;
            }
        }
    }
    let pending = {
        let (folder, name) = (folder.clone(), name.to_owned());
        blocking(move || Ok(Manifest::read(&folder, &name)?.is_some_and(|of| !of.pending.is_empty()))).await?
    };
    let counted = home.clone();
    let (documents, embedded) = blocking(move || counted.counts()).await?;
    if let Home::There(shelf) = &home
        && !report.cancelled
    {
        cluster::verify(shelf, documents_before, &report, documents)?;
    }
    let embedded = if pending { embedded } else { documents };
    (report.documents, report.to_embed) = (documents, documents.saturating_sub(embedded));
    Ok(report)
}

fn without_cluster(name: &str) -> CorpusError {
    CorpusError::Search {
        why: format!("the import of `{name}` goes to OpenSearch, and no cluster is configured"),
        expected: "set fusion.backends.opensearch.url".to_owned(),
    }
}

/// Whether documents lack embeddings; with `check`, also whether some are damaged.
async fn lacks(folder: &Path, name: &str, check: bool) -> Result<bool> {
    let (folder, name) = (folder.to_owned(), name.to_owned());
    blocking(move || pending::lacks(&folder, &name, check)).await
}

/// What earlier imports read, but for files whose documents the corpus does not have.
fn known_files(folder: &Path, name: &str, cluster: Option<&Cluster>) -> Result<Ledger> {
    let mut ledger = Ledger::read(folder)?;
    if ledger.is_empty() || upgrade::current(folder, name)?.is_none() {
        return Ok(Ledger::default());
    }
    let home = Home::of(folder, name, cluster)?;
    let given = |entry: &Entry| !entry.gone;
    let ids: Vec<String> = ledger.entries().filter(|e| given(e)).flat_map(|e| e.documents.clone()).collect();
    let there: HashSet<String> = home.present(ids)?.into_iter().collect();
    let lost =
        ledger.entries().filter(|entry| given(entry) && entry.documents.iter().any(|id| !there.contains(id)));
    let lost: Vec<PathBuf> = lost.map(|entry| entry.path.clone()).collect();
    ledger.forget(&lost);
    Ok(ledger)
}

/// What an import starts from.
struct Prepared {
    lock: File,
    manifest: Manifest,
    home: Home,
    known: Known,
    /// Documents that are there.
    before: u64,
}

fn prepare(folder: &Path, fresh: Manifest, later: bool) -> Result<Prepared> {
    std::fs::create_dir_all(folder).map_err(CorpusError::io(folder))?;
    let name = fresh.name.clone();
    let lock = lock(folder, &name)?;
    let index = TextIndex::open(folder, &name)?;
    let snapshot = index.snapshot()?;
    let manifest = joined(Manifest::read(folder, &name)?, fresh, later, snapshot.count() > 0)?;
    manifest.write(folder)?;
    let vectors = Vectors::open(folder, manifest.dimension, snapshot.rows)?;
    let scopes = if later { Vec::new() } else { manifest.scopes.clone() };
    let before = snapshot.count();
    let known = Known { place: known::Place::Here { snapshot, vectors }, scopes };
    Ok(Prepared { lock, manifest, home: Home::Here(index), known, before })
}

/// The same for a corpus on a cluster. A new one of which no index can be made leaves nothing.
async fn prepare_there(
    folder: &Path,
    cluster: &Cluster,
    fresh: Manifest,
    later: bool,
    stop: &CancellationToken,
) -> Result<Prepared> {
    let (lock, stored) = {
        let (folder, name) = (folder.to_owned(), fresh.name.clone());
        blocking(move || {
            std::fs::create_dir_all(&folder).map_err(CorpusError::io(&folder))?;
            Ok((lock(&folder, &name)?, Manifest::read(&folder, &name)?))
        })
        .await?
    };
    let is_new = stored.is_none();
    let has_documents = match &stored {
        None => false,
        Some(stored) => match Shelf::of(Some(cluster), stored.clone())? {
            Some(shelf) => {
                shelf.count(&serde_json::json!({"match_all": {}}), stop).await.is_ok_and(|count| count > 0)
            }
            None => false,
        },
    };
    let manifest = joined(stored, fresh, later, has_documents)?;
    match cluster::prepare(folder, cluster, manifest.clone(), is_new, stop).await {
        Ok((shelf, before)) => {
            let manifest = shelf.manifest.clone();
            let scopes = if later { Vec::new() } else { manifest.scopes.clone() };
            let known = cluster::known(&shelf, before, scopes);
            Ok(Prepared { lock, manifest, home: Home::There(Box::new(shelf)), known, before })
        }
        Err(error) => {
            drop(lock);
            if is_new {
                let folder = folder.to_owned();
                let removed =
                    blocking(move || std::fs::remove_dir_all(&folder).map_err(CorpusError::io(&folder)));
                if let Err(error) = removed.await {
                    tracing::debug!(%error, "the folder of the corpus stays");
                }
            }
            Err(error)
        }
    }
}

/// The manifest of a corpus with what an import asks for.
fn joined(stored: Option<Manifest>, fresh: Manifest, later: bool, has_documents: bool) -> Result<Manifest> {
    Ok(match stored {
        // Without embeddings so far, any model may begin.
        Some(stored) if stored.scopes.is_empty() => {
            let older = !fresh.scopes.is_empty() && has_documents;
            let pending = if older { vec![FeatureScope::Wide] } else { fresh.pending };
            Manifest { created: stored.created, opensearch: stored.opensearch, pending, ..fresh }
        }
        Some(stored) if later => {
            let added = fresh.pending.into_iter().filter(|scope| !stored.scopes.contains(scope));
            let pending =
                join_scopes(added.chain([FeatureScope::Wide]).chain(stored.pending.iter().copied()));
            Manifest { pending, ..stored }
        }
        Some(stored) if stored.embedder == fresh.embedder && stored.dimension == fresh.dimension => {
            let added = fresh.scopes.iter().filter(|scope| !stored.scopes.contains(scope)).copied();
            let pending = join_scopes(added.chain(stored.pending.iter().copied()));
            let pending = if has_documents { pending } else { Vec::new() };
            Manifest { scopes: fresh.scopes, pending, ..stored }
        }
        Some(stored) => {
            let name = fresh.name;
            return Err(CorpusError::ModelChanged { name, stored: stored.embedder, now: fresh.embedder });
        }
        None => fresh,
    })
}

fn join_scopes(scopes: impl Iterator<Item = FeatureScope>) -> Vec<FeatureScope> {
    scopes.collect::<std::collections::BTreeSet<_>>().into_iter().collect()
}

/// Who holds a corpus' lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holder {
    /// An import, or a process that keeps the corpus as it is.
    Import,
    /// Rounds in the background, which let go of it soon.
    Background,
}

/// What the lock's file says while rounds in the background hold it.
const SOON: &str = "background";
/// How often a lock that is soon free is tried again, and the pause between.
const TRIES: u32 = 6_000;
const TRY_AGAIN: Duration = Duration::from_millis(20);

/// The lock that one import at a time holds; it goes with the process. Waits for rounds in the background.
pub(crate) fn lock(folder: &Path, name: &str) -> Result<File> {
    lock_as(folder, name, Holder::Import)
}

/// The same, for a holder.
pub(crate) fn lock_as(folder: &Path, name: &str, holder: Holder) -> Result<File> {
    let path = folder.join("import.lock");
    let open = || File::options().create(true).truncate(false).read(true).write(true).open(&path);
    let mut file = open().map_err(CorpusError::io(&path))?;
    for _ in 0..TRIES {
        match file.try_lock() {
            Ok(()) => {
                let word = if holder == Holder::Background { SOON } else { "" };
                file.set_len(0)
                    .and_then(|()| file.write_all(word.as_bytes()))
                    .map_err(CorpusError::io(&path))?;
                return Ok(file);
            }
            Err(std::fs::TryLockError::WouldBlock) => {
                let soon = std::fs::read_to_string(&path).is_ok_and(|holder| holder == SOON);
                if holder == Holder::Background || !soon {
                    break;
                }
                std::thread::sleep(TRY_AGAIN);
            }
            Err(std::fs::TryLockError::Error(error)) => return Err(CorpusError::io(&path)(error)),
        }
    }
    Err(CorpusError::Busy { name: name.to_owned() })
}

/// A document with a vector for each of its texts.
type EmbeddedDocument = (Pending, Vec<Vec<f32>>);
type Embedded = Vec<EmbeddedDocument>;

/// The middle stage: batches of documents become batches of documents with vectors, in order. `true` when it was
/// cancelled before their end.
async fn embed(
    pending: mpsc::Receiver<Step<Pending>>,
    to_write: mpsc::Sender<Step<EmbeddedDocument>>,
    embedder: &Embedder<'_>,
    progress: &(dyn Fn(&Progress) + Send + Sync),
    tally: &Tally,
    cancel: &CancellationToken,
) -> Result<bool> {
    let batches = futures::stream::unfold(pending, |mut pending| async {
        let batch = pending.recv().await?;
        Some((batch, pending))
    });
    let embed = async |Step { documents, files }| {
        Ok::<_, CorpusError>(Step { documents: embedder.embed(documents).await?, files })
    };
    let mut embedded = std::pin::pin!(batches.map(embed).buffered(IN_FLIGHT));
    loop {
        let next = tokio::select! {
            () = cancel.cancelled() => return Ok(true),
            next = embedded.next() => next,
        };
        let Some(batch) = next else { break };
        if to_write.send(batch?).await.is_err() {
            break;
        }
        let so_far = tally.lock().unwrap_or_else(PoisonError::into_inner).1;
        progress(&so_far);
    }
    Ok(false)
}

struct Embedder<'a> {
    inference: &'a dyn Inference,
    dimension: usize,
    /// Texts per call.
    most: usize,
}

impl Embedder<'_> {
    async fn embed(&self, batch: Vec<Pending>) -> Result<Embedded> {
        let Self { inference, dimension, most } = *self;
        let texts: Vec<String> =
            batch.iter().flat_map(|pending| pending.texts.iter().map(|(_, text)| text.clone())).collect();
        let mut vectors = Vec::with_capacity(texts.len());
        for chunk in texts.chunks(most.max(1)) {
            let made = inference.embed(TextRole::Passage, chunk).await?;
            if made.len() != chunk.len() {
                return Err(CorpusError::BadEmbedding {
                    got: format!("{} vectors", made.len()),
                    expected: chunk.len().to_string(),
                });
            }
            vectors.extend(made);
        }
        if let Some(odd) = vectors.iter().find(|v| v.len() != dimension || !v.iter().all(|x| x.is_finite())) {
            return Err(CorpusError::BadEmbedding {
                got: format!("a vector of {} numbers or one that is not finite", odd.len()),
                expected: format!("{dimension} numbers"),
            });
        }
        let mut vectors = vectors.into_iter();
        let with_vectors = |pending: Pending| {
            let own = vectors.by_ref().take(pending.texts.len()).collect();
            (pending, own)
        };
        Ok(batch.into_iter().map(with_vectors).collect())
    }
}

async fn join(stage: tokio::task::JoinHandle<Result<()>>) -> Result<()> {
    match stage.await {
        Ok(result) => result,
        Err(error) => Err(CorpusError::Io { path: PathBuf::new(), source: std::io::Error::other(error) }),
    }
}
