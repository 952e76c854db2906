//! Local corpora: which ones a task searches, and bringing documents in.

mod export;
mod survey;

pub use export::ExportTarget;

use super::{App, AppError, ErrorCode, Remedy};
use lyra_corpus::{
    CorpusError, CorpusInfo, Document, Embedded, ImportOptions, ImportReport, Method, Narrow, Progress,
    SearchResult,
};
use lyra_domain::{Task, TaskConfig};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// Name of the built-in corpus.
pub const EXAMPLE: &str = "example";

/// Pause while another process imports the example corpus.
const BUSY_PAUSE: Duration = Duration::from_millis(200);

/// How often to look for documents that imports left to be embedded.
const LOOK_FOR_PENDING: Duration = Duration::from_secs(3);

/// Its documents: written for Lyra, invented throughout.
const EXAMPLE_FILES: [(&str, &str); 4] = [
    ("nap.jsonl", include_str!("../../../../examples/corpus/nap.jsonl")),
    ("remote-work.jsonl", include_str!("../../../../examples/corpus/remote-work.jsonl")),
    ("phone-ban.jsonl", include_str!("../../../../examples/corpus/phone-ban.jsonl")),
    ("biochar.jsonl", include_str!("../../../../examples/corpus/biochar.jsonl")),
];

impl App {
    /// The corpora that a task searches: those named, else every imported one, else the example corpus.
    pub(super) async fn corpora_for(&self, named: &[String]) -> Result<Vec<String>, AppError> {
        let known: Vec<String> = self.list_corpora().await?.into_iter().map(|corpus| corpus.name).collect();
        if let Some(unknown) = named.iter().find(|name| *name != EXAMPLE && !known.contains(name)) {
            return Err(AppError::invalid(
                format!("unknown corpus `{unknown}`"),
                if known.is_empty() {
                    Remedy::ImportCorpus
                } else {
                    format!("the corpora are: {}", known.join(", ")).into()
                },
            ));
        }
        let mut chosen: Vec<String> = if named.is_empty() {
            known.into_iter().filter(|name| name != EXAMPLE).collect()
        } else {
            named.to_vec()
        };
        if chosen.is_empty() {
            chosen.push(EXAMPLE.to_owned());
        }
        if chosen.iter().any(|name| name == EXAMPLE) {
            self.import_example().await?;
        }
        Ok(chosen)
    }

    /// Imports the example corpus when a task that names no corpus would search it, so that the first task of an agent
    /// does not wait for it.
    ///
    /// # Errors
    /// As [`App::import_corpus`].
    pub async fn prepare(&self) -> Result<(), AppError> {
        self.choose_sources(&mut TaskConfig::default()).await
    }

    /// Notes on the task's sources for its readers.
    pub fn task_notes(&self, task: &Task) -> Option<String> {
        task.config.corpora.iter().any(|name| name == EXAMPLE).then(|| {
            "searched the example corpus: its passages are invented, to show how Lyra works, and prove nothing; \
             import your own documents to search them"
                .to_owned()
        })
    }

    /// Imports documents; those already there and unchanged are skipped.
    ///
    /// # Errors
    /// A bad name, a file that cannot be read, a corpus in use by another import, a full disk.
    pub async fn import_corpus(
        &self,
        name: &str,
        files: &[PathBuf],
        options: &ImportOptions,
        progress: &(dyn Fn(&Progress) + Send + Sync),
        cancel: &CancellationToken,
    ) -> Result<ImportReport, AppError> {
        let corpora = &self.inner.corpora;
        Ok(corpora.import_with(name, files, options, &*self.inner.inference, progress, cancel).await?)
    }

    /// Imports a file or a folder under a name derived from its path, and returns that name.
    ///
    /// # Errors
    /// As [`App::import_corpus`].
    pub async fn import_path(
        &self,
        path: &Path,
        progress: &(dyn Fn(&Progress) + Send + Sync),
        cancel: &CancellationToken,
    ) -> Result<(String, ImportReport), AppError> {
        let name = name_of(path);
        let files = [path.to_owned()];
        let report = self.import_corpus(&name, &files, &ImportOptions::default(), progress, cancel).await?;
        Ok((name, report))
    }

    /// Embeds what imports left for later, in one corpus or in all; after an interruption, the next call does the rest.
    /// `progress` gets the corpus, its documents embedded by this call, and those that are left.
    ///
    /// # Errors
    /// No such corpus, one that is being imported or has vectors of another model, models that are unreachable.
    pub async fn embed_corpora(
        &self,
        names: &[String],
        progress: &(dyn Fn(&str, u64, u64) + Send + Sync),
        cancel: &CancellationToken,
    ) -> Result<BTreeMap<String, Embedded>, AppError> {
        let names = if names.is_empty() { self.pending_corpora().await? } else { names.to_vec() };
        let mut done = BTreeMap::new();
        for name in names {
            let show = |embedded, left| progress(&name, embedded, left);
            let corpora = &self.inner.corpora;
            let embedded = corpora.embed_pending(&name, &*self.inner.inference, &show, cancel).await?;
            done.insert(name, embedded);
        }
        Ok(done)
    }

    async fn pending_corpora(&self) -> Result<Vec<String>, AppError> {
        Ok(self.inner.corpora.pending().await?)
    }

    /// Embeds what imports of any process left for later, as it comes, until `cancel` is canceled.
    pub(super) async fn embed_in_background(&self, cancel: CancellationToken) {
        let mut said: HashMap<String, String> = HashMap::new();
        while cancel.run_until_cancelled(tokio::time::sleep(LOOK_FOR_PENDING)).await.is_some() {
            let names = match self.pending_corpora().await {
                Ok(names) => names,
                Err(error) => {
                    tracing::warn!(%error, "could not look for documents to embed");
                    continue;
                }
            };
            for name in names {
                let (corpora, inference) = (&self.inner.corpora, &*self.inner.inference);
                match corpora.embed_pending(&name, inference, &|_, _| {}, &cancel).await {
                    Ok(done) => {
                        said.remove(&name);
                        tracing::info!(corpus = name, embedded = done.embedded, "embedded documents");
                    }
                    // It has its turn later.
                    Err(CorpusError::Busy { .. } | CorpusError::NotFound { .. }) => {}
                    Err(error) => {
                        // The same failure is said once.
                        let error = error.to_string();
                        if said.insert(name.clone(), error.clone()).as_ref() != Some(&error) {
                            tracing::warn!(corpus = name, error, "documents could not be embedded yet");
                        }
                    }
                }
            }
        }
    }

    /// Every corpus, by name.
    ///
    /// # Errors
    /// When the folder of corpora cannot be read.
    pub async fn list_corpora(&self) -> Result<Vec<CorpusInfo>, AppError> {
        Ok(self.inner.corpora.list().await?)
    }

    /// One corpus.
    ///
    /// # Errors
    /// No such corpus, or one written by a newer version.
    pub async fn show_corpus(&self, name: &str) -> Result<CorpusInfo, AppError> {
        Ok(self.inner.corpora.show(name).await?)
    }

    /// What a corpus holds of one document.
    ///
    /// # Errors
    /// No such corpus, no such document in it, or one that cannot be read.
    pub async fn show_corpus_document(&self, name: &str, id: &str) -> Result<Document, AppError> {
        let found = self.inner.corpora.document(name, id).await?;
        found.ok_or_else(|| {
            AppError::new(ErrorCode::NotFound, format!("corpus `{name}` has no document `{id}`"))
        })
    }

    /// Deletes a corpus. What tasks took from it stays.
    ///
    /// # Errors
    /// No such corpus, or one that is being imported.
    pub async fn remove_corpus(&self, name: &str) -> Result<(), AppError> {
        Ok(self.inner.corpora.remove(name).await?)
    }

    /// The best `k` documents of a corpus for a query.
    ///
    /// # Errors
    /// No such corpus; for dense and hybrid search, models that are unreachable or do not match its vectors.
    pub async fn search_corpus(
        &self,
        name: &str,
        query: &str,
        method: Method,
        k: usize,
    ) -> Result<SearchResult, AppError> {
        self.search_narrowed_corpus(name, query, method, k, &Narrow::default()).await
    }

    /// The best `k` documents of what `narrow` leaves of a corpus for a query.
    ///
    /// # Errors
    /// As [`App::search_corpus`]; a tag or collection that no document has; notes by another method than BM25.
    pub async fn search_narrowed_corpus(
        &self,
        name: &str,
        query: &str,
        method: Method,
        k: usize,
        narrow: &Narrow,
    ) -> Result<SearchResult, AppError> {
        if query.trim().is_empty() {
            return Err(AppError::invalid("the query is empty", "say what to search for, in words"));
        }
        let (corpora, inference) = (&self.inner.corpora, &*self.inner.inference);
        Ok(corpora.search_narrowed_with(name, query, None, method, k, narrow, inference).await?)
    }

    async fn import_example(&self) -> Result<(), AppError> {
        let folder = self.inner.data_dir.join("example");
        let written = || -> std::io::Result<Vec<PathBuf>> {
            std::fs::create_dir_all(&folder)?;
            EXAMPLE_FILES
                .iter()
                .map(|(name, text)| {
                    let path = folder.join(name);
                    if std::fs::read_to_string(&path).ok().as_deref() != Some(*text) {
                        std::fs::write(&path, text)?;
                    }
                    Ok(path)
                })
                .collect()
        };
        let files = written().map_err(|error| {
            AppError::new(
                ErrorCode::Internal,
                format!("the example corpus cannot be written to {}: {error}", folder.display()),
            )
        })?;
        // One import at a time: the next one finds everything there.
        let _turn = self.inner.example.lock().await;
        let cancel = CancellationToken::new();
        loop {
            match self.inner.corpora.import(EXAMPLE, &files, &*self.inner.inference, &|_| {}, &cancel).await {
                Err(CorpusError::Busy { .. }) => tokio::time::sleep(BUSY_PAUSE).await,
                done => return Ok(done.map(drop)?),
            }
        }
    }
}

/// The last part of the path with a short hash of the whole, so that two folders of one name stay two corpora.
fn name_of(path: &Path) -> String {
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let stem = whole.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let stem: String = stem
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
        .take(40)
        .collect();
    let hash = Uuid::new_v5(&Uuid::NAMESPACE_URL, whole.to_string_lossy().as_bytes()).simple().to_string();
    format!("{}-{}", stem.trim_matches('-'), &hash[..8])
}
