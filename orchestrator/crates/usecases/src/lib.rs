//! The use cases, one function each; every edge (command line, MCP, HTTP) calls these.

mod access;
pub mod answer;
mod auth;
mod backends;
mod backup;
mod calibration;
mod chronicle;
mod claims;
mod completion;
pub mod config;
mod corpora;
mod doctor;
mod documents;
mod domains;
mod embeddings;
mod error;
pub mod eval;
mod explore;
mod export;
mod feed;
mod feedback;
pub mod fusion;
mod graph;
mod graph_view;
mod inference;
mod library;
mod llm;
mod matrix;
mod measures;
pub mod metrics;
mod overview;
mod progress;
pub mod rate;
mod references;
mod remedy;
mod retention;
mod screening;
mod served;
pub mod shapes;
mod sources;
mod statements;
mod status;
mod tasks;
#[cfg(test)]
mod testing;
mod uploads;
mod watch;
mod web;
pub mod worker;
mod workers;

pub use access::{Caller, Mutation, SearchRefusal};
pub use answer::{Answer, Cluster, Verdict};
pub use auth::{AuthSession, Resolution};
pub use backup::{BackupReport, SpooledBackup};
pub(crate) use backup::{check_backup, read_archive};
pub use calibration::{
    CalibrationChange, CalibrationEvaluation, CalibrationFit, CalibrationMeasure, CalibrationStats,
};
pub use chronicle::TaskTimeline;
pub use completion::CompletedMetadata;
pub use corpora::{EXAMPLE, ExportTarget};
pub use doctor::{Finding, Health};
pub use documents::DocumentKind;
pub use embeddings::{EmbeddingsStatus, Rebuilt};
pub use error::{AppError, Decided, Details, ErrorCode};
pub use explore::{Completed, VectorHits, VectorSearch};
pub use feed::{Heard, Listener};
pub use feedback::MAX_SELECTED;
pub use fusion::Fusion;
pub use graph::{GraphAnalysis, GraphFormat};
pub use graph_view::{GraphFilter, MOST_NODES, MOST_STEPS, USUAL_NODES};
pub use inference::{LocalModels, StartedModels};
pub use library::{LibraryEntry, LibraryItem, STORED, Shelf};
pub use matrix::{MatrixColumns, TaskMatrix};
pub use remedy::Remedy;
pub use retention::PruneReport;
pub use screening::{DocumentToScreen, PrismaFlow, ScreeningExport, ScreeningProgress, ScreeningState};
pub use served::{ServerNote, served_at};
pub use sources::{SourceInfo, SourceTest};
pub use status::{MAX_WAIT, TaskWatch, Unfinished, failed, idle, unfinished};
pub use tasks::{NewTask, QueueSearches};
pub use uploads::Upload;
pub use watch::{WatchOptions, Watched};
pub use web::EngineAnswer;

use crate::config::Config;
use crate::inference::LazyInference;
use crate::metrics::Metrics;
use crate::worker::import_readers;
use lyra_corpus::Corpora;
use lyra_research::ports::Events;
use lyra_research::{Llm, Stops};
use lyra_store::{Store, StoreConfig};
use lyra_worker::Talks;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, Notify};

/// The open application: store, corpora, models and workers of one data folder. Cheap to clone.
#[derive(Clone)]
pub struct App {
    inner: Arc<Inner>,
}

struct Inner {
    config: Config,
    data_dir: PathBuf,
    store: Arc<Store>,
    statements: statements::Statements,
    outside: sources::Outside,
    corpora: Corpora,
    imports: Arc<Talks>,
    fusion: Fusion,
    inference: Arc<LazyInference>,
    llm: Option<Llm>,
    wake: Arc<Notify>,
    stops: Stops,
    example: Mutex<()>,
    documents: Mutex<documents::Documents>,
    screening: Mutex<screening::Texts>,
    searches: rate::Limiter,
    steps: Arc<progress::Steps>,
    feed: Arc<feed::Feed>,
    graphs: graph_view::Graphs,
    uploads: uploads::Busy,
    events: Events,
    metrics: Arc<Metrics>,
}

impl App {
    /// Opens the data folder, making it when it is not there. Models are loaded when they are first needed:
    /// those of the configured ml-servers, else `local`.
    ///
    /// # Errors
    /// A folder that cannot be written, a database of a newer version, an invalid source URL, or an unusable `[llm]`
    /// section.
    pub async fn open(config: Config, local: Arc<dyn LocalModels>) -> anyhow::Result<Self> {
        use anyhow::Context;
        let data_dir = config.data_dir()?;
        std::fs::create_dir_all(&data_dir).with_context(|| {
            format!("the data folder {} cannot be created; set `data_dir` to another", data_dir.display())
        })?;
        backup::finish_interrupted(&data_dir).await?;
        backup::remove_leftovers(&data_dir);
        let auth_expiry = Duration::from_secs(config.sources.web.auth_hours.max(1).saturating_mul(3600));
        let store_config = StoreConfig { auth_expiry, ..StoreConfig::default() };
        // On the heap: the future is large, and every caller would hold it.
        let store = Box::pin(Store::open(&data_dir.join("lyra.db"), store_config)).await?;
        let statements = statements::Statements::new(config.worker_program.clone(), &store)?;
        let store = Arc::new(store);
        let metrics: Arc<Metrics> = Arc::default();
        let steps: Arc<progress::Steps> = Arc::default();
        let feed: Arc<feed::Feed> = Arc::default();
        let events = Events::new(vec![metrics.clone(), steps.clone(), feed.clone()]);
        let outside = sources::Outside::new(&config, &data_dir, &store, events.clone())?;
        let llm = llm::open(&config.llm, outside.web())?;
        let imports = Arc::new(import_readers(config.worker_program.clone()));
        let cluster = backends::cluster(&config.fusion)?;
        let mut corpora = Corpora::open(&data_dir).with_readers(imports.clone());
        if let Some(cluster) = cluster.clone() {
            corpora = corpora.with_cluster(cluster);
        }
        let inference = Arc::new(LazyInference::new(config.ml.clone(), local, metrics.clone()));
        let backend = backends::open(&config.fusion, &corpora, cluster, inference.clone())?;
        let backend = fusion::Gate::before(backend, outside.web().rules());
        let fusion = Fusion::open(config.fusion.clone(), store.clone(), backend)?;
        let searches = access::searches(&config);
        Ok(Self {
            inner: Arc::new(Inner {
                config,
                data_dir,
                store,
                statements,
                outside,
                corpora,
                imports,
                fusion,
                inference,
                llm,
                wake: Arc::new(Notify::new()),
                stops: Stops::default(),
                example: Mutex::new(()),
                documents: Mutex::default(),
                screening: Mutex::default(),
                searches,
                steps,
                feed,
                graphs: graph_view::Graphs::default(),
                uploads: uploads::Busy::default(),
                events,
                metrics,
            }),
        })
    }

    /// Stops what this process started. Stop the workers before.
    pub async fn close(&self) {
        self.web().browser.close().await;
        self.inner.inference.close().await;
        self.inner.store.close().await;
    }

    /// The effective configuration.
    pub fn config(&self) -> &Config {
        &self.inner.config
    }

    /// The folder that holds all state.
    pub fn data_dir(&self) -> &Path {
        &self.inner.data_dir
    }

    /// Now, by the clock that stored times are taken from.
    pub fn now(&self) -> jiff::Timestamp {
        self.inner.store.now()
    }

    fn store(&self) -> &Store {
        &self.inner.store
    }
}
