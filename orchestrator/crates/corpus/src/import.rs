//! Import: read, embed and index as stages that overlap, with commits that an interruption falls back to.

mod files;
mod format;
mod library;
mod messages;
mod options;
mod paper;
mod part;
mod patent;
mod reader;
mod records;
mod references;
mod spool;
mod tagged;
mod work;
mod writer;
mod xml;
mod zotero;

pub use format::{Format, UnknownFormat};
pub use options::ImportOptions;
pub use work::read_files;

use crate::backend::FeatureScope;
use crate::corpora::blocking;
use crate::index::TextIndex;
use crate::manifest::{FORMAT, Manifest, check_name};
use crate::vectors::Vectors;
use crate::{CorpusError, Document, Result, upgrade};
use files::Found;
use futures::StreamExt;
use lyra_research::ports::{Inference, TextRole};
use lyra_worker::Talks;
use serde::Serialize;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Calls of the embedder that wait for it at once: one works, one is ready.
const IN_FLIGHT: usize = 2;
/// Batches that wait between two stages.
const WAITING: usize = 2;
/// Rejected records that a report lists; more are only counted.
const LISTED: usize = 1_000;

/// A record that was not imported, or a code that was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rejected {
    /// The file as it was named.
    pub file: PathBuf,
    /// Line on which the record begins, from 1; 0 for a file as a whole.
    pub line: u64,
    /// What is wrong with it, in a few words.
    pub reason: String,
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
    /// Documents in the corpus afterwards.
    pub documents: u64,
    /// Stopped before the end of the files; what was done is kept, repeating the import does the rest.
    pub cancelled: bool,
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
     patents as XML, greenbook or BRS, also in gzip, ZIP or tar, and Zotero's folder";

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
    /// What to embed of it: a text once, with all scopes that have it.
    texts: Vec<(Vec<FeatureScope>, String)>,
    /// A document of this id is in the index.
    replaces: bool,
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
) -> Result<ImportReport> {
    check_name(name)?;
    let found = files::open(files, options.format, readers, cancel).await?;
    let attached = files::attached(&found, readers, cancel).await?;
    let Found { mut sources, mut rejected } = found;
    sources.extend(attached.sources);
    rejected.extend(attached.rejected);
    let sources = Arc::new(sources);
    let stored = {
        let (folder, name) = (folder.clone(), name.to_owned());
        blocking(move || upgrade::current(&folder, &name)).await?
    };
    let scopes = options.scopes_for(name, stored.as_ref())?;
    let (embedder, dimension) = if scopes.is_empty() {
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
    let manifest = Manifest { format: FORMAT, name: name.to_owned(), embedder, dimension, scopes, created };
    let opened = {
        let folder = folder.clone();
        blocking(move || prepare(&folder, manifest)).await?
    };
    let Prepared { lock, manifest, index, known } = opened;
    let batching = if manifest.scopes.is_empty() { batching.without_embeddings() } else { batching };
    let bytes_total = sources.iter().fold(0, |sum: u64, source| sum.saturating_add(source.bytes()));
    let rejected_count = rejected.len() as u64;
    let rejected = rejected.into_iter().take(LISTED).collect();
    let tally: Tally = Arc::new(Mutex::new((
        ImportReport { rejected_count, rejected, ..ImportReport::default() },
        Progress { bytes_total, rejected: rejected_count, ..Progress::default() },
    )));

    // Whether every file was read to its end.
    let finished = Arc::new(AtomicBool::new(false));
    let (to_accept, fetched) = mpsc::channel(1);
    tokio::spawn(files::fetch(sources.clone(), readers.clone(), to_accept, cancel.clone()));
    let (to_embed, pending) = mpsc::channel(WAITING);
    let (to_write, embedded) = mpsc::channel(WAITING);
    let reading = {
        let (tally, cancel, finished) = (tally.clone(), cancel.clone(), finished.clone());
        blocking(move || {
            finished.store(
                reader::run(fetched, &sources, &known, batching.embed, &to_embed, &tally, &cancel)?,
                Ordering::Release,
            );
            Ok(())
        })
    };
    let writing = {
        let (index, folder, tally, dimension) =
            (index.clone(), folder.clone(), tally.clone(), manifest.dimension);
        let reading = tokio::spawn(reading);
        let written = tokio::spawn(blocking(move || {
            // Held here: when the caller goes away, the last commit is still protected.
            let _lock = lock;
            writer::run(&index, &folder, dimension, embedded, batching.commit, &tally)
        }));
        (reading, written)
    };
    let embedder = Embedder { inference, dimension: manifest.dimension, most: batching.embed };
    let embedding = embed(pending, to_write, &embedder, progress, &tally, cancel).await;
    let (reading, written) = (join(writing.0).await, join(writing.1).await);
    // The writer's error is the cause when the embedder found its channel closed.
    written?;
    let stopped = embedding?;
    reading?;
    let (mut report, last) = tally.lock().unwrap_or_else(PoisonError::into_inner).clone();
    progress(&last);
    report.cancelled = stopped || !finished.load(Ordering::Acquire);
    report.documents = blocking(move || Ok(index.snapshot()?.count())).await?;
    Ok(report)
}

/// What an import starts from.
struct Prepared {
    lock: File,
    manifest: Manifest,
    index: TextIndex,
    known: reader::Known,
}

fn prepare(folder: &Path, fresh: Manifest) -> Result<Prepared> {
    std::fs::create_dir_all(folder).map_err(CorpusError::io(folder))?;
    let name = fresh.name.clone();
    let lock = lock(folder, &name)?;
    let manifest = match Manifest::read(folder, &name)? {
        // Without embeddings so far, any model may begin.
        Some(stored) if stored.scopes.is_empty() => Manifest { created: stored.created, ..fresh },
        Some(stored) if stored.embedder == fresh.embedder && stored.dimension == fresh.dimension => {
            Manifest { scopes: fresh.scopes, ..stored }
        }
        Some(stored) => {
            return Err(CorpusError::ModelChanged { name, stored: stored.embedder, now: fresh.embedder });
        }
        None => fresh,
    };
    manifest.write(folder)?;
    let index = TextIndex::open(folder, &name)?;
    let snapshot = index.snapshot()?;
    let vectors = Vectors::open(folder, manifest.dimension, snapshot.rows)?;
    let known = reader::Known { snapshot, vectors, scopes: manifest.scopes.clone() };
    Ok(Prepared { lock, manifest, index, known })
}

/// The lock that one import at a time holds; it goes with the process.
pub(crate) fn lock(folder: &Path, name: &str) -> Result<File> {
    let path = folder.join("import.lock");
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)
        .map_err(CorpusError::io(&path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(std::fs::TryLockError::WouldBlock) => Err(CorpusError::Busy { name: name.to_owned() }),
        Err(std::fs::TryLockError::Error(error)) => Err(CorpusError::io(&path)(error)),
    }
}

/// Documents with a vector for each of their texts.
type Embedded = Vec<(Pending, Vec<Vec<f32>>)>;

/// The middle stage: batches of documents become batches of documents with vectors, in order. `true` when it was
/// cancelled before their end.
async fn embed(
    pending: mpsc::Receiver<Vec<Pending>>,
    to_write: mpsc::Sender<Embedded>,
    embedder: &Embedder<'_>,
    progress: &(dyn Fn(&Progress) + Send + Sync),
    tally: &Tally,
    cancel: &CancellationToken,
) -> Result<bool> {
    let batches = futures::stream::unfold(pending, |mut pending| async {
        let batch = pending.recv().await?;
        Some((batch, pending))
    });
    let mut embedded = std::pin::pin!(batches.map(|batch| embedder.embed(batch)).buffered(IN_FLIGHT));
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
