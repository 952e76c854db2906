//! Searches that are run again, and say what is new.

use super::Fusion;
use super::search::LaneRecipe;
use super::views::lane_recipe;
use crate::{AppError, ErrorCode, Remedy};
use lyra_corpus::backend::{IdType, LaneKind, Publication};
use lyra_store::{NewSavedSearch, RunKind, SavedSearch, StoreError};
use lyra_wire::fusion::{FoundDocument, SavedInfo, SavedRun};
use serde_json::json;
use std::collections::HashMap;

/// Longest name, in characters.
const MAX_NAME: usize = 80;
/// New documents that are listed.
const LISTED: usize = 100;

impl Fusion {
    /// Saves the search of a lane's run under a name. The documents of the run count as known.
    ///
    /// # Errors
    /// No such run, a fusion run, a name that is empty, too long, or taken.
    pub async fn save_search(&self, name: &str, run_id: &str) -> Result<SavedInfo, AppError> {
        let name = name.trim();
        let length = name.chars().count();
        if length == 0 || length > MAX_NAME || name.chars().any(char::is_control) {
            return Err(AppError::invalid(
                format!("the name has {length} characters, or one that cannot be printed"),
                format!("give a name of 1 to {MAX_NAME} printable characters"),
            ));
        }
        let run = self.run(run_id).await?;
        if run.kind == RunKind::Fusion {
            return Err(AppError::invalid(format!("`{}` is a fusion run", run.id), Remedy::SaveLanes));
        }
        let recipe = json!(lane_recipe(&run)?);
        let new = NewSavedSearch {
            name,
            corpus: &run.corpus,
            recipe: &recipe,
            run_id: &run.id,
            seen: &run.docs.ids,
        };
        if !self.store.save_search(new).await? {
            return Err(AppError::invalid(
                format!("a search is saved as `{name}` already"),
                "choose another name, or delete that search first",
            ));
        }
        info(&self.saved(name).await?)
    }

    /// All saved searches, by name.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn saved_searches(&self) -> Result<Vec<SavedInfo>, AppError> {
        self.store.saved_searches().await?.iter().map(info).collect()
    }

    /// Runs a saved search again. From now on, its documents count as known.
    ///
    /// # Errors
    /// No such search, a corpus that was removed, a backend that does not answer.
    pub async fn run_saved(&self, name: &str) -> Result<SavedRun, AppError> {
        let saved = self.saved(name).await?;
        let recipe = recipe(&saved)?;
        let backend = self.backend.kind(&saved.corpus).to_string();
        if recipe.backend != backend {
            return Err(AppError::invalid(
                format!(
                    "`{}` searches the backend {}, and {backend} is configured",
                    saved.name, recipe.backend
                ),
                "set `fusion.backend` as it was, or save the search again",
            ));
        }
        let corpus = self.corpus(Some(&saved.corpus)).await?;
        let snapshot = self.backend.snapshot(&corpus).await?;
        let (run, _) = self.search_recipe(LaneRecipe { snapshot, ..recipe }).await?;
        let Some(new) = self.store.ran_again(&saved.name, &run.id, &run.docs.ids).await? else {
            return Err(AppError::new(
                ErrorCode::NotFound,
                format!("`{}` was deleted meanwhile", saved.name),
            ));
        };
        let places: HashMap<&str, usize> =
            run.docs.ids.iter().enumerate().map(|(place, id)| (id.as_str(), place)).collect();
        let listed = &new[..new.len().min(LISTED)];
        let publications = self.publications(&run.corpus, listed, IdType::DocId).await?;
        let found = |(id, publication): (&String, Option<Publication>)| {
            let place = places.get(id.as_str()).copied().unwrap_or_default();
            FoundDocument {
                rank: place + 1,
                id: id.clone(),
                doc_id: id.clone(),
                title: publication.map(|publication| publication.title).unwrap_or_default(),
                score: run.docs.scores.get(place).copied().unwrap_or_default(),
            }
        };
        Ok(SavedRun {
            name: saved.name,
            corpus: run.corpus.clone(),
            run_id: run.id.clone(),
            count_returned: run.docs.ids.len(),
            new_count: new.len(),
            new: listed.iter().zip(publications).map(found).collect(),
            untrusted_fields: vec!["new[].title"],
        })
    }

    /// Deletes a saved search.
    ///
    /// # Errors
    /// No such search.
    pub async fn forget_search(&self, name: &str) -> Result<SavedInfo, AppError> {
        let saved = self.saved(name).await?;
        self.store.forget_search(&saved.name).await?;
        info(&saved)
    }

    async fn saved(&self, name: &str) -> Result<SavedSearch, AppError> {
        let name = name.trim();
        match self.store.saved_search(name).await {
            Ok(saved) => Ok(saved),
            Err(StoreError::NotFound { .. }) => {
                let known: Vec<String> =
                    self.store.saved_searches().await?.into_iter().map(|saved| saved.name).collect();
                let remedy = if known.is_empty() {
                    Remedy::SaveLanes
                } else {
                    format!("the saved searches are: {}", known.join(", ")).into()
                };
                Err(AppError::new(ErrorCode::NotFound, format!("unknown saved search `{name}`")).with(remedy))
            }
            Err(error) => Err(error.into()),
        }
    }
}

fn recipe(saved: &SavedSearch) -> Result<LaneRecipe, AppError> {
    serde_json::from_value(saved.recipe.clone()).map_err(|error| {
        AppError::new(ErrorCode::Internal, format!("the saved search {} cannot be read: {error}", saved.name))
    })
}

fn info(saved: &SavedSearch) -> Result<SavedInfo, AppError> {
    let recipe = recipe(saved)?;
    let query = match recipe.search.kind {
        LaneKind::FullText { query, .. } => query,
        LaneKind::Semantic { text, .. } => text,
    };
    Ok(SavedInfo {
        name: saved.name.clone(),
        corpus: saved.corpus.clone(),
        lane: recipe.lane,
        query,
        seen: saved.seen.len(),
        created_at: saved.created_at.to_string(),
        last_run_at: saved.last_run_at.to_string(),
        last_run_id: saved.last_run_id.clone(),
        last_new_count: saved.last_new.len(),
        last_new: saved.last_new.iter().take(LISTED).cloned().collect(),
    })
}
