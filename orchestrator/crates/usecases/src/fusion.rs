//! Lanes, runs, their fusion and its review (fusion design): the use cases behind the `rrf_…` tools and `lyra fuse`.
//!
//! A lane is a search with a role, a run its stored result, a fusion run merges runs. The caller designs the queries; this
//! executes, fuses, measures, and shows why.

mod blend;
mod check;
mod citations;
mod compare;
mod documents;
mod export;
mod fuse;
mod gate;
mod given;
mod lanes;
mod list;
mod multilane;
mod ports;
mod provenance;
mod review;
mod saved;
mod search;
mod source;
#[cfg(test)]
mod tests;
mod texts;
mod views;

pub use blend::{BlendRequest, Label, Representative, RunRef};
pub use check::check_query;
pub use citations::CitationSearch;
pub use documents::DocumentsRequest;
pub use export::{RunFile, RunFormat};
pub(super) use gate::Gate;
pub use given::{boosts, delta, filters, recipe, written_facet, written_filter, written_weight};
pub use multilane::{LaneOutcome, MultiLane, NamedLane};
pub use provenance::ProvenanceRequest;
pub use review::PeekRequest;
pub use search::LaneSearch;
pub(super) use source::RunSource;
pub use views::Show;

use super::{App, AppError, ErrorCode, Remedy};
use crate::config::FusionSettings;
use anyhow::Context;
use lanes::Lanes;
use lyra_corpus::backend::{BackendKind, SearchBackend};
use lyra_fusion::FusionError;
use lyra_fusion::estimate::Prior;
use lyra_store::{RunKind, StoredRun};
use lyra_wire::fusion::LaneInfo;
use ports::FusionStore;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// What ranks say of relevance before any judgment.
const PRIOR: &str = include_str!("../../../../config/relevance.yaml");

/// The use cases of fusion over one store and one backend. Cheap to clone.
#[derive(Clone)]
pub struct Fusion {
    store: Arc<dyn FusionStore>,
    backend: Arc<dyn SearchBackend>,
    lanes: Arc<Lanes>,
    prior: Arc<Prior>,
    settings: FusionSettings,
}

impl Fusion {
    /// # Errors
    /// A file of lanes that cannot be used.
    pub(super) fn open(
        settings: FusionSettings,
        store: Arc<dyn FusionStore>,
        backend: Arc<dyn SearchBackend>,
    ) -> anyhow::Result<Self> {
        let lanes = Arc::new(Lanes::open(settings.lanes_file.as_deref())?);
        let prior = Arc::new(serde_saphyr::from_str(PRIOR).context("config/relevance.yaml")?);
        Ok(Self { store, backend, lanes, prior, settings })
    }

    /// Every lane that a search may name.
    pub fn lanes(&self) -> Vec<LaneInfo> {
        self.lanes.list()
    }

    /// Whether a lane compares meanings, so that its query is a text; `false` for an unknown lane.
    pub fn is_semantic(&self, lane: &str) -> bool {
        self.lanes.find(Some(lane), true).is_ok()
    }

    /// The corpora that lanes may search.
    ///
    /// # Errors
    /// The backend does not answer.
    pub async fn corpora(&self) -> Result<Vec<String>, AppError> {
        Ok(self.backend.corpora().await?)
    }

    /// The effective settings.
    pub fn settings(&self) -> &FusionSettings {
        &self.settings
    }

    /// The source name by which a task searches a run's documents.
    ///
    /// # Errors
    /// No such run.
    pub(super) async fn source_name(&self, run_id: &str) -> Result<String, AppError> {
        Ok(RunSource::name_of(&self.run(run_id).await?.id))
    }

    fn run_ttl(&self) -> Duration {
        Duration::from_secs(self.settings.run_ttl_hours.saturating_mul(3600))
    }

    /// A run, with a remedy when the id is unknown.
    async fn run(&self, id: &str) -> Result<StoredRun, AppError> {
        let id = id.trim();
        self.store.run(id).await.map_err(|error| match error {
            lyra_store::StoreError::NotFound { .. } => {
                AppError::new(ErrorCode::NotFound, format!("unknown run `{id}`")).with(Remedy::GiveRun)
            }
            other => other.into(),
        })
    }

    async fn fusion_run(&self, id: &str) -> Result<StoredRun, AppError> {
        let run = self.run(id).await?;
        if run.kind != RunKind::Fusion {
            return Err(AppError::invalid(
                format!("`{id}` is a run of the lane `{}`, not a fusion run", run.lane.unwrap_or_default()),
                Remedy::FuseRun,
            ));
        }
        Ok(run)
    }

    /// The corpus to search: the given one, else the only one besides the example.
    async fn corpus(&self, named: Option<&str>) -> Result<String, AppError> {
        let known = self.backend.corpora().await?;
        if let Some(name) = named {
            let name = name.strip_prefix("corpus:").unwrap_or(name);
            return if known.iter().any(|corpus| corpus == name) {
                Ok(name.to_owned())
            } else {
                let remedy = if known.is_empty() {
                    Remedy::ImportCorpus
                } else {
                    format!("the corpora are: {}", known.join(", ")).into()
                };
                Err(AppError::new(ErrorCode::NotFound, format!("unknown corpus `{name}`")).with(remedy))
            };
        }
        // Those of the backend that the configuration prefers, if it has any.
        let preferred = |name: &&String| match self.settings.backend {
            BackendKind::Embedded => true,
            preferred => self.backend.kind(name) == preferred,
        };
        let own: Vec<&String> =
            known.iter().filter(|name| *name != super::corpora::EXAMPLE).filter(preferred).collect();
        match (own.as_slice(), known.first()) {
            ([one], _) => Ok((*one).clone()),
            ([], Some(example)) => Ok(example.clone()),
            ([], None) => {
                Err(AppError::new(ErrorCode::NotFound, "there is no corpus to search")
                    .with(Remedy::ImportCorpus))
            }
            _ => Err(AppError::invalid(
                "there are several corpora and `corpus` names none",
                format!("the corpora are: {}", known.join(", ")),
            )),
        }
    }

    /// The default country filter.
    fn default_country(&self, corpus: &str) -> Option<&str> {
        let patentfield = self.backend.kind(corpus) == BackendKind::Patentfield;
        self.settings.default_country.as_deref().or(patentfield.then_some("JP"))
    }
}

impl App {
    /// Lanes, runs and their fusion.
    pub fn fusion(&self) -> &Fusion {
        &self.inner.fusion
    }

    /// The same, for a search of this corpus: imports the example corpus if it is the one to search.
    ///
    /// # Errors
    /// When the example corpus cannot be imported.
    pub async fn fusion_over(&self, corpus: Option<&str>) -> Result<&Fusion, AppError> {
        let fusion = &self.inner.fusion;
        if fusion.settings.backend == BackendKind::Embedded
            && corpus.is_none_or(|name| name == super::corpora::EXAMPLE)
        {
            let named: Vec<String> = corpus.map(str::to_owned).into_iter().collect();
            self.corpora_for(&named).await?;
        }
        Ok(fusion)
    }
}

/// Cancelled when it goes out of scope, because the caller no longer waits for the search.
fn while_waited_for() -> (CancellationToken, tokio_util::sync::DropGuard) {
    let token = CancellationToken::new();
    (token.clone(), token.drop_guard())
}

/// Runs work of more than a moment off the async threads.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, AppError> + Send + 'static,
) -> Result<T, AppError> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| AppError::new(ErrorCode::Internal, error.to_string()))?
}

impl From<FusionError> for AppError {
    fn from(error: FusionError) -> Self {
        Self::new(ErrorCode::InvalidArgument, error.to_string())
    }
}
