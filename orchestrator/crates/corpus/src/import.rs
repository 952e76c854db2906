//! Import: read, embed and index as stages that overlap, with commits that an interruption falls back to.

mod cluster;
mod complete;
mod exchange;
mod files;
mod format;
mod home;
mod known;
mod library;
mod lock;
mod messages;
mod notes;
mod options;
mod paper;
mod part;
mod patent;
mod pending;
mod prepare;
mod reader;
mod records;
mod references;
mod report;
mod spool;
mod sweep;
mod tagged;
mod work;
mod writer;
mod xml;
mod zotero;

pub(crate) use complete::run as complete;
pub use files::{Stamp, Survey};
pub(crate) use files::{same, survey};
pub use format::{Format, UnknownFormat};
pub(crate) use home::Home;
pub(crate) use lock::{Holder, lock, lock_as};
pub use options::{Embed, ImportOptions};
pub(crate) use pending::Rounds;
pub(crate) use report::LISTED;
pub use report::{FileChange, FileKind, FileReport, ImportReport, Progress, READS, Rejected};
pub use work::read_files;

use crate::backend::FeatureScope;
use crate::corpora::blocking;
use crate::ledger::{Entry, Kind, Ledger};
use crate::manifest::{FORMAT, Manifest, NEWEST, check_name};
use crate::remote::Cluster;
use crate::unfinished::Mark;
use crate::{CorpusError, Document, Result, upgrade};
use files::Found;
use futures::StreamExt;
use lyra_research::ports::{Inference, TextRole};
use lyra_worker::Talks;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Calls of the embedder that wait for it at once: one works, one is ready.
const IN_FLIGHT: usize = 2;
/// Batches that wait between two stages.
const WAITING: usize = 2;

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
            blocking(move || prepare::here(&folder, fresh, later)).await?
        }
        Some(cluster) => prepare::there(&folder, cluster, fresh, later, cancel).await?,
    };
    let prepare::Prepared { lock, manifest, home, known, before: documents_before } = opened;
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
    let mark = Arc::new(Mark::new(&folder, files));
    let embedding = embed(pending, to_write, &embedder, &mark, progress, &tally, cancel).await;
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
        let mark = Arc::clone(&mark);
        report.files = blocking(move || {
            let _lock = self::lock(&folder, &name)?;
            let found = sweep::run(&home, &mut Ledger::read(&folder)?, &seen, prune)?;
            // What was left for another import is still missing.
            if !seen.partial {
                mark.end()?;
            }
            Ok(found)
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
        && let Err(error) = cluster::verify(shelf, documents_before, &report, documents)
    {
        mark.set()?;
        return Err(error);
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

/// A document with a vector for each of its texts.
type EmbeddedDocument = (Pending, Vec<Vec<f32>>);
type Embedded = Vec<EmbeddedDocument>;

/// The middle stage: batches of documents become batches of documents with vectors, in order. `true` when it was
/// cancelled before their end.
async fn embed(
    pending: mpsc::Receiver<Step<Pending>>,
    to_write: mpsc::Sender<Step<EmbeddedDocument>>,
    embedder: &Embedder<'_>,
    mark: &Mark,
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
        let batch = batch?;
        if !batch.documents.is_empty() {
            mark.begin()?;
        }
        if to_write.send(batch).await.is_err() {
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
