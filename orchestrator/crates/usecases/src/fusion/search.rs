//! One lane: from a request to a stored run.

use super::lanes::How;
use super::review::MAX_BUDGET;
use super::views::{Show, handle};
use super::{Fusion, while_waited_for};
use crate::{AppError, Details};
use lyra_corpus::backend::{
    Codes, FeatureScope, FieldBoosts, Filter, IdType, LaneKind, LaneQuery, MAX_TOP_K, RawFilter,
};
use lyra_domain::classification::System;
use lyra_fusion::{Demands, RankedDocs, WordList, cut, demands};
use lyra_store::{NewRun, RunMeta, StoredRun};
use lyra_text::query::Query;
use lyra_wire::fusion::{Found, FoundDocument, RunHandle};
use lyra_wire::json::size;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Characters that titles of a list are cut to, one after the other, until the list is not too large.
const TITLES: [usize; 5] = [200, 100, 50, 20, 0];
/// Longest query, in characters.
const MAX_QUERY: usize = 20_000;

/// A lane to search.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LaneSearch {
    /// Corpus; the only one when `None`.
    pub corpus: Option<String>,
    /// Lane of `config/lanes.yaml` that supplies the defaults.
    pub lane: Option<String>,
    /// What to call the lane; like the preset when `None`.
    pub lane_name: Option<String>,
    /// Whether `text` is compared by meaning; else it is a query of the query language.
    pub semantic: bool,
    /// The query.
    pub text: String,
    /// Weights of the fields of a full-text lane.
    pub boosts: Option<FieldBoosts>,
    /// Part of the documents that a semantic lane compares.
    pub scope: Option<FeatureScope>,
    /// Filters.
    pub filters: Vec<RawFilter>,
    /// Most documents.
    pub top_k: usize,
    /// Words of use cases, besides the configured ones: a wide query should not require them.
    pub use_case_terms: Vec<String>,
}

/// The inputs that determine a lane's run, and facts about the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct LaneRecipe {
    pub(super) lane: String,
    pub(super) preset: String,
    pub(super) wide: bool,
    pub(super) backend: String,
    pub(super) snapshot: String,
    pub(super) search: LaneQuery,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) use_case_terms: Vec<String>,
}

impl Fusion {
    /// Searches a lane and stores the run, or serves the stored one of the same search.
    ///
    /// # Errors
    /// An unknown lane or corpus, a query or filter that cannot be read, a backend that does not answer.
    pub async fn search_lane(&self, search: LaneSearch, show: Show) -> Result<RunHandle, AppError> {
        let (run, cached) = self.lane_run(search).await?;
        handle(self, &run, cached, show)
    }

    /// The best documents for a query, with titles.
    ///
    /// # Errors
    /// As [`Fusion::search_lane`].
    pub async fn search(&self, search: LaneSearch, id_type: IdType) -> Result<Found, AppError> {
        let (run, _) = self.lane_run(search).await?;
        let publications = self.publications(&run.corpus, &run.docs.ids, IdType::DocId).await?;
        let mut results: Vec<FoundDocument> = (1..)
            .zip(run.docs.ids.iter().zip(&run.docs.scores).zip(publications))
            .map(|(rank, ((doc_id, score), publication))| FoundDocument {
                rank,
                id: publication.as_ref().and_then(|p| id_type.of(p)).unwrap_or(doc_id).to_owned(),
                doc_id: doc_id.clone(),
                title: publication.map(|p| p.title).unwrap_or_default(),
                score: *score,
            })
            .collect();
        for most in TITLES {
            if size(&results) <= MAX_BUDGET {
                break;
            }
            for found in &mut results {
                found.title = cut(&found.title, most).0.to_owned();
            }
        }
        let mut notes = Self::notes(&super::views::lane_recipe(&run)?);
        if run.meta.unfinished {
            notes.push(
                "documents may be missing, because an import into the corpus had not finished".to_owned(),
            );
        }
        Ok(Found { corpus: run.corpus, results, total: run.meta.total, took_ms: run.meta.took_ms, notes })
    }

    pub(super) async fn lane_run(&self, search: LaneSearch) -> Result<(StoredRun, bool), AppError> {
        self.search_recipe(self.lane_recipe(search).await?).await
    }

    /// Searches a lane as its recipe says, or serves the stored run of the same search.
    pub(super) async fn search_recipe(&self, recipe: LaneRecipe) -> Result<(StoredRun, bool), AppError> {
        let kind = match &recipe.search.kind {
            LaneKind::FullText { .. } => lyra_store::RunKind::Fulltext,
            LaneKind::Semantic { .. } => self.lanes.find(Some(&recipe.preset), true)?.how.kind(),
        };
        let shaped_by = json!({
            "backend": recipe.backend, "snapshot": recipe.snapshot, "lane": recipe.lane, "kind": kind, "search": recipe.search,
            "use_case_terms": recipe.use_case_terms,
        })
        .to_string();
        if let Some(run) = self.store.fresh_run(&shaped_by).await? {
            return Ok((run, true));
        }
        let (stop, _guard) = while_waited_for();
        let found = self.backend.search(&recipe.search, &stop).await?;
        let meta = RunMeta {
            top_k: recipe.search.top_k,
            count_returned: found.hits.len(),
            truncated: found.truncated,
            total: found.total,
            took_ms: found.took_ms,
            unembedded: found.unembedded,
            unfinished: found.unfinished,
        };
        let docs =
            RankedDocs::new(found.hits.into_iter().map(|hit| (hit.doc_id, hit.score, code_keys(&hit.codes))));
        let run = NewRun {
            kind,
            shaped_by,
            lane: Some(recipe.lane.clone()),
            corpus: recipe.search.corpus.clone(),
            backend: recipe.backend.clone(),
            recipe: json!(recipe),
            docs,
            meta,
            parents: Vec::new(),
            changed_from: None,
            assessment: None,
            representatives: None,
        };
        Ok((self.store.put_run(run, self.run_ttl()).await?, false))
    }

    async fn lane_recipe(&self, search: LaneSearch) -> Result<LaneRecipe, AppError> {
        let text = search.text.trim();
        let length = text.chars().count();
        if length == 0 {
            let name = if search.semantic { "text" } else { "query" };
            return Err(AppError::invalid(format!("`{name}` is empty"), "say what to search for"));
        }
        if length > MAX_QUERY {
            return Err(AppError::invalid(
                format!("the query has {length} characters"),
                format!("the limit is {MAX_QUERY}; keep the words that matter"),
            ));
        }
        if !(1..=MAX_TOP_K).contains(&search.top_k) {
            return Err(AppError::invalid(
                format!("`top_k` is {}", search.top_k),
                format!("it must be 1 to {MAX_TOP_K}"),
            ));
        }
        let preset = self.lanes.find(search.lane.as_deref(), search.semantic)?;
        let with_documents = if search.semantic { None } else { self.with_documents_of_runs(text).await? };
        let text = with_documents.as_deref().unwrap_or(text);
        let kind = match preset.how {
            How::FullText(boosts) => {
                parsed(text)?;
                let boosts = search.boosts.unwrap_or(boosts);
                if !boosts.are_sound() {
                    return Err(AppError::invalid(
                        "`field_boosts` has no weight above 0, or one below",
                        "give title, abst, claim and desc weights such as 80, 10, 5 and 1",
                    ));
                }
                LaneKind::FullText { query: text.to_owned(), boosts }
            }
            How::OriginalDense(_) if !self.settings.enable_original_dense => {
                return Err(AppError::invalid(
                    format!(
                        "the lane `{}` is of the kind original_dense, which is not enabled here",
                        preset.name
                    ),
                    "search the lane semantic; the operator can set fusion.enable_original_dense",
                ));
            }
            How::Semantic(scope) | How::OriginalDense(scope) => {
                LaneKind::Semantic { text: text.to_owned(), scope: search.scope.unwrap_or(scope) }
            }
        };
        let corpus = self.corpus(search.corpus.as_deref()).await?;
        let mut filters = search.filters;
        if let Some(country) = self.default_country(&corpus)
            && filters.iter().all(|filter| filter.field.trim() != "country")
        {
            filters.push(RawFilter {
                field: "country".to_owned(),
                include_values: vec![json!(country)],
                ..RawFilter::default()
            });
        }
        let filters = Filter::check_all(&filters)
            .map_err(|error| AppError::new(crate::ErrorCode::InvalidArgument, error.to_string()))?;
        let name = search.lane_name.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
        if name.as_deref() == Some(lyra_fusion::CODE) {
            return Err(AppError::invalid(
                "a lane cannot be named `code`",
                "that name is reserved for the boost by codes in `weights` and contributions; choose another",
            ));
        }
        Ok(LaneRecipe {
            lane: name.unwrap_or_else(|| preset.name.clone()),
            preset: preset.name.clone(),
            wide: preset.wide,
            backend: self.backend.kind(&corpus).to_string(),
            snapshot: self.backend.snapshot(&corpus).await?,
            search: LaneQuery { corpus, kind, filters, top_k: search.top_k },
            use_case_terms: search.use_case_terms,
        })
    }

    /// Words that a wide lane's query should not require; empty for other lanes.
    pub(super) fn demands(&self, recipe: &LaneRecipe) -> Option<Demands> {
        let LaneKind::FullText { query, .. } = &recipe.search.kind else { return None };
        let query = Query::parse(query).ok()?;
        let own = recipe.use_case_terms.iter().map(String::as_str);
        let use_case = WordList::new(self.lanes.use_case.iter().map(String::as_str).chain(own));
        recipe.wide.then(|| demands(&query, &self.lanes.general, &use_case))
    }

    /// Words of a lane's query that are operators in other systems.
    pub(super) fn notes(recipe: &LaneRecipe) -> Vec<String> {
        let LaneKind::FullText { query, .. } = &recipe.search.kind else { return Vec::new() };
        let notes = Query::read(query).map(|read| read.notes).unwrap_or_default();
        notes.iter().map(ToString::to_string).collect()
    }
}

/// The parsed query, or the position of the error and what was expected there.
pub(super) fn parsed(text: &str) -> Result<Query, AppError> {
    Query::parse(text).map_err(|error| {
        AppError::invalid(
            error.to_string(),
            "words, AND OR NOT, brackets, \"phrases\", field:word, trunc*, =Capitals, and a NEAR/5 b (docs/query.md)",
        )
        .detailed(Details::Syntax {
            position: error.at + 1,
            found: error.found,
            expected: error.expected,
            suggestion: error.instead,
        })
    })
}

/// Codes as `system:code`, in the document's order.
pub(super) fn code_keys(codes: &Codes) -> Vec<String> {
    System::ALL
        .into_iter()
        .flat_map(|system| codes.of(system).iter().map(move |code| format!("{system}:{code}")))
        .collect()
}
