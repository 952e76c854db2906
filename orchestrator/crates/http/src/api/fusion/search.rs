//! Checking queries, and searching lanes.

use crate::api::call::{Call, Reply};
use crate::problem::Failure;
use lyra_corpus::backend::FeatureScope;
use lyra_usecases::fusion::{Fusion, LaneOutcome, LaneSearch, NamedLane, Show, boosts, check_query, filters};
use lyra_wire::fusion::{BoostsInput, FilterInput, QueryCheck, RunHandle};
use lyra_wire::schema::one_of;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

/// Longest query, in characters.
const MAX_QUERY: usize = 20_000;

/// Documents of a lane without `top_k`.
const LANE_DOCS: usize = 800;
/// Codes of each system that a handle lists.
const TOP_CODES: usize = 10;
/// How a lane was searched, as the use case names it.
const SEARCHED: &str = "search_lane";

/// A query.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Query {
    /// A query of the query language, at most 20,000 characters.
    #[schemars(length(max = 20_000))]
    query: String,
}

pub(super) async fn check(_: Call, body: Query) -> Result<Reply<QueryCheck>, Failure> {
    if body.query.chars().count() > MAX_QUERY {
        return Err(Failure::invalid(format!("`query` is longer than {MAX_QUERY} characters")));
    }
    Ok(check_query(&body.query).into())
}

fn scopes(_: &mut SchemaGenerator) -> Schema {
    one_of(FeatureScope::ALL.into_iter().map(FeatureScope::name))
}

/// A search of a lane.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Search {
    /// Query of a full-text lane, text of a semantic one.
    #[schemars(length(min = 1, max = 20_000))]
    query: String,
    /// Lane that supplies the defaults. Default: `wide`.
    lane: Option<String>,
    /// What to call the lane in blends. Default: the lane's name.
    #[schemars(length(min = 1, max = 100))]
    lane_name: Option<String>,
    /// Corpus to search. Default: the only corpus.
    corpus: Option<String>,
    /// Filters; all must hold.
    #[serde(default)]
    #[schemars(length(max = 40))]
    filters: Vec<FilterInput>,
    /// Field weights that replace those of a full-text lane.
    field_boosts: Option<BoostsInput>,
    /// Part of the documents to compare, instead of that of a semantic lane.
    #[serde(default)]
    #[schemars(schema_with = "scopes")]
    feature_scope: Option<FeatureScope>,
    /// Most documents, 1 to 10000, default 800.
    top_k: Option<usize>,
    /// Words of use cases in this search: an alarm reports when a wide query requires one.
    #[serde(default)]
    #[schemars(length(max = 100))]
    use_case_terms: Vec<String>,
}

impl Search {
    fn of(self, fusion: &Fusion) -> LaneSearch {
        LaneSearch {
            semantic: self.lane.as_deref().is_some_and(|lane| fusion.is_semantic(lane)),
            corpus: self.corpus,
            lane: self.lane,
            lane_name: self.lane_name,
            text: self.query,
            boosts: self.field_boosts.map(boosts),
            scope: self.feature_scope,
            filters: filters(self.filters),
            top_k: self.top_k.unwrap_or(LANE_DOCS),
            use_case_terms: self.use_case_terms,
        }
    }
}

pub(super) async fn one(call: Call, body: Search) -> Result<Reply<RunHandle>, Failure> {
    let fusion = call.app().fusion_over(body.corpus.as_deref()).await?;
    let show = Show { code_freqs: true, code_freq_top_k: TOP_CODES, ..Show::default() };
    Ok(fusion.search_lane(body.of(fusion), show).await?.into())
}

/// Lanes to search.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Searches {
    /// 1 to 10 lanes of different names; one that fails does not affect the others.
    #[schemars(length(min = 1, max = 10))]
    lanes: Vec<Search>,
}

/// How the lanes went.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Searched {
    /// One entry per lane, in the order of the request.
    lanes: Vec<LaneSearched>,
    /// Lanes that were searched.
    success_count: usize,
    /// Lanes that failed.
    error_count: usize,
    /// Milliseconds for all lanes together.
    took_ms_total: u64,
}

/// How one lane went.
#[derive(Debug, Serialize, JsonSchema)]
struct LaneSearched {
    /// Name of the lane.
    lane_name: String,
    /// The run with its most frequent codes, if it was searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<RunHandle>,
    /// Why it failed, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<LaneError>,
}

/// Why a lane could not be searched.
#[derive(Debug, Serialize, JsonSchema)]
struct LaneError {
    /// A stable code, as in problem documents.
    code: &'static str,
    /// What was wrong.
    message: String,
    /// What would be right.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl From<LaneOutcome> for LaneSearched {
    fn from(LaneOutcome { lane_name, found, .. }: LaneOutcome) -> Self {
        match found {
            Ok(run) => Self { lane_name, run: Some(run), error: None },
            Err(error) => {
                let error = LaneError {
                    code: error.code.as_str(),
                    hint: error.remedy.as_ref().map(crate::remedy::words),
                    message: error.message,
                };
                Self { lane_name, run: None, error: Some(error) }
            }
        }
    }
}

pub(super) async fn several(call: Call, body: Searches) -> Result<Reply<Searched>, Failure> {
    let corpus = body.lanes.iter().find_map(|lane| lane.corpus.clone());
    let fusion = call.app().fusion_over(corpus.as_deref()).await?;
    let lanes = body
        .lanes
        .into_iter()
        .map(|search| {
            let search = search.of(fusion);
            let name = search.lane_name.as_ref().or(search.lane.as_ref());
            let lane_name = name.map_or("wide", String::as_str).to_owned();
            NamedLane { lane_name, tool: SEARCHED.to_owned(), search: Ok(search) }
        })
        .collect();
    let done = fusion.multilane(lanes).await?;
    Ok(Searched {
        lanes: done.lanes.into_iter().map(LaneSearched::from).collect(),
        success_count: done.success_count,
        error_count: done.error_count,
        took_ms_total: done.took_ms_total,
    }
    .into())
}
