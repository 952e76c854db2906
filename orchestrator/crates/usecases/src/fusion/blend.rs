//! Blending lanes, changing a blend, and registering judgments.

use super::fuse::shaped_by;
use super::review::MAX_BUDGET;
use super::views::fusion_view;
use super::{Fusion, PeekRequest, ProvenanceRequest};
use crate::{AppError, Details, Remedy};
use lyra_domain::named_enum;
use lyra_fusion::{Recipe, RecipeDelta};
use lyra_store::{NewJudgments, RunKind, RunParent, StoredRun};
use lyra_wire::fusion::{FusionView, ProvenanceView, RecipeInput};
use lyra_wire::json::size;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::{BTreeSet, HashSet};

/// Most lanes of one blend.
const MAX_LANES: usize = 20;
/// Most representatives of one call, and of one run.
const MAX_REPRESENTATIVES: (usize, usize) = (30, 1_000);
/// How often judgments are stored again because others came first.
const ATTEMPTS: usize = 5;

/// Lanes to fuse.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BlendRequest {
    /// The lanes' runs.
    pub runs: Vec<RunRef>,
    /// How.
    pub recipe: Recipe,
    /// The first documents to show along, when any.
    pub peek: Option<PeekRequest>,
}

/// A lane's run in a blend.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunRef {
    /// Which run.
    pub run_id: String,
    /// Its name in this blend; the lane's name when `None`.
    pub lane: Option<String>,
}

named_enum! {
    /// A person's judgment of a document.
    pub enum Label {
        /// Matches the core.
        A = "A",
        /// On topic.
        B = "B",
        /// Off topic, or too far.
        C = "C",
    }
}

impl Label {
    /// Its value for the relevance proxy.
    pub(super) fn relevance(self) -> f64 {
        match self {
            Self::A => 1.0,
            Self::B => 0.5,
            Self::C => 0.0,
        }
    }
}

/// A document that a person judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Representative {
    /// The document.
    pub doc_id: String,
    /// The judgment.
    pub label: Label,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Fusion {
    /// Fuses lanes into a new run, or serves the stored one of the same lanes and parameters.
    ///
    /// # Errors
    /// No lane, too many, an unknown run, a fusion run among them, lanes of different corpora or of one name, parameters that
    /// cannot be used.
    pub async fn blend(&self, request: BlendRequest) -> Result<FusionView, AppError> {
        let parents = self.parents(&request.runs).await?;
        let lanes = self.load(&parents).await?;
        let (run, cached) = self.fuse(&lanes, request.recipe, None, Vec::new()).await?;
        let mut view = fusion_view(&run, cached)?;
        if let Some(peek) = request.peek {
            // Both are one answer.
            let room = MAX_BUDGET.saturating_sub(size(&view));
            let budget_bytes = peek.budget_bytes.min(room);
            view.peek = Some(self.peek(PeekRequest { run_id: run.id, budget_bytes, ..peek }).await?);
        }
        Ok(view)
    }

    /// A fusion run with some parameters changed: the same lanes, no search. Representatives stay.
    ///
    /// # Errors
    /// No such fusion run, nothing to change, invalid parameters.
    pub async fn mutate(&self, run_id: &str, delta: RecipeDelta) -> Result<FusionView, AppError> {
        if delta == RecipeDelta::default() {
            return Err(AppError::invalid(
                "`delta` changes nothing",
                "give new values, such as {\"weights\": {\"precision\": 1.6}, \"rrf_k\": 90}",
            ));
        }
        let run = self.fusion_run(run_id).await?;
        let recipe = recipe(&run)?.with(delta);
        let lanes = self.load(&run.parents).await?;
        let (changed, cached) =
            self.fuse(&lanes, recipe, Some(run.id.clone()), representatives(&run)?).await?;
        fusion_view(&changed, cached)
    }

    /// The same, with what a caller gives.
    ///
    /// # Errors
    /// As [`Fusion::mutate`].
    pub async fn change(&self, run_id: &str, given: RecipeInput) -> Result<FusionView, AppError> {
        let from = self.recipe(run_id).await?;
        self.mutate(run_id, super::delta(given, &from)?).await
    }

    /// The parameters of a fusion run.
    ///
    /// # Errors
    /// No such fusion run.
    pub async fn recipe(&self, run_id: &str) -> Result<Recipe, AppError> {
        recipe(&self.fusion_run(run_id).await?)
    }

    /// Adds a person's judgments to those of a fusion run, and measures it again. A document that was judged before gets the new
    /// label.
    ///
    /// # Errors
    /// No such fusion run, no or too many documents, a duplicate or unknown document.
    pub async fn register_representatives(
        &self,
        run_id: &str,
        judged: Vec<Representative>,
    ) -> Result<ProvenanceView, AppError> {
        if judged.is_empty() || judged.len() > MAX_REPRESENTATIVES.0 {
            return Err(AppError::invalid(
                format!("`representatives` has {} entries", judged.len()),
                format!("give 1 to {} documents; more in another call", MAX_REPRESENTATIVES.0),
            ));
        }
        let mut seen = BTreeSet::new();
        if let Some(twice) = judged.iter().find(|judged| !seen.insert(judged.doc_id.as_str())) {
            return Err(AppError::invalid(
                format!("`representatives` names {} twice", twice.doc_id),
                "give each document one label",
            ));
        }
        for _ in 0..ATTEMPTS {
            let run = self.fusion_run(run_id).await?;
            let held: HashSet<&str> = run.docs.ids.iter().map(String::as_str).collect();
            let missing: Vec<String> =
                judged.iter().map(|j| j.doc_id.clone()).filter(|id| !held.contains(id.as_str())).collect();
            if !missing.is_empty() {
                let message = format!("the run does not have: {}", missing.join(", "));
                return Err(AppError::invalid(message, Remedy::GiveDocumentsOfRun)
                    .detailed(Details::Missing { missing }));
            }
            let mut all = representatives(&run)?;
            all.retain(|known| judged.iter().all(|new| new.doc_id != known.doc_id));
            all.extend(judged.iter().cloned());
            if all.len() > MAX_REPRESENTATIVES.1 {
                return Err(AppError::invalid(
                    format!("the run would have {} judged documents", all.len()),
                    format!("it may have {} at most", MAX_REPRESENTATIVES.1),
                ));
            }
            let recipe = recipe(&run)?;
            let measured = self.measure(&self.lanes_of(&run).await?, &recipe, &all).await?;
            let shaped_by = shaped_by(&run.parents, &recipe, run.changed_from.as_deref(), &all);
            let stored = NewJudgments {
                before: run.representatives.as_ref(),
                shaped_by: &shaped_by,
                representatives: &json!(all),
                assessment: &json!(measured),
            };
            if self.store.set_representatives(&run.id, stored).await? {
                let request = ProvenanceRequest { run_id: run.id, ..ProvenanceRequest::default() };
                return self.provenance(&request).await;
            }
        }
        Err(AppError::new(crate::ErrorCode::Internal, "others keep judging documents of this run; try again"))
    }

    async fn parents(&self, runs: &[RunRef]) -> Result<Vec<RunParent>, AppError> {
        if runs.is_empty() || runs.len() > MAX_LANES {
            return Err(AppError::invalid(
                format!("`runs` has {} entries", runs.len()),
                format!("give the run_ids of 1 to {MAX_LANES} lanes"),
            ));
        }
        let mut parents: Vec<RunParent> = Vec::with_capacity(runs.len());
        let mut first: Option<StoredRun> = None;
        for RunRef { run_id, lane } in runs {
            let run = self.run(run_id).await?;
            if run.kind == RunKind::Fusion {
                return Err(AppError::invalid(format!("`{run_id}` is a fusion run"), Remedy::BlendLanes));
            }
            let other = first.get_or_insert_with(|| run.clone());
            if (&other.corpus, &other.backend) != (&run.corpus, &run.backend) {
                return Err(AppError::invalid(
                    format!(
                        "`{}` searched `{}` and `{run_id}` searched `{}`",
                        other.id, other.corpus, run.corpus
                    ),
                    "blend lanes of one corpus",
                ));
            }
            if parents.iter().any(|parent| parent.run_id == run.id) {
                return Err(AppError::invalid(format!("`{run_id}` is named twice"), "name every run once"));
            }
            let given = lane.as_deref().map(str::trim).filter(|name| !name.is_empty());
            let name = given.map_or_else(|| run.lane.clone().unwrap_or_default(), str::to_owned);
            let taken = |name: &str| parents.iter().any(|parent| parent.lane == name);
            let name = match (taken(&name), given) {
                (false, _) => name,
                // Two runs of one lane without names.
                (true, None) => run.id.clone(),
                (true, Some(_)) => {
                    return Err(AppError::invalid(
                        format!("two runs are named `{name}`"),
                        "give each run its own lane name: weights and contributions refer to it",
                    ));
                }
            };
            if name == lyra_fusion::CODE {
                return Err(AppError::invalid(
                    "a lane is named `code`",
                    "that name is reserved for the boost by codes; choose another",
                ));
            }
            parents.push(RunParent { lane: name, run_id: run.id });
        }
        Ok(parents)
    }
}

/// The recipe of a fusion run.
pub(super) fn recipe(run: &StoredRun) -> Result<Recipe, AppError> {
    serde_json::from_value(run.recipe.clone()).map_err(|error| {
        let message = format!("the recipe of {} cannot be read: {error}", run.id);
        AppError::new(crate::ErrorCode::Internal, message)
    })
}

/// A person's judgments of a run, or of the one that it was derived from.
pub(super) fn representatives(run: &StoredRun) -> Result<Vec<Representative>, AppError> {
    let Some(stored) = run.representatives.clone() else { return Ok(Vec::new()) };
    serde_json::from_value(stored).map_err(|error| {
        let message = format!("the judgments of {} cannot be read: {error}", run.id);
        AppError::new(crate::ErrorCode::Internal, message)
    })
}
