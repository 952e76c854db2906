//! Searching: for people, and as lanes.

use super::given::{id_types, scopes};
use super::tidy;
use crate::reply::CONTENT_NOTICE;
use crate::tools::{Call, Effect, Failure, Tool};
use lyra_corpus::backend::{FeatureScope, IdType};
use lyra_usecases::fusion::{LaneOutcome, LaneSearch, NamedLane, Show, boosts, filters};
use lyra_wire::Problem;
use lyra_wire::fusion::{BoostsInput, FilterInput, Found, RunHandle};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Default number of documents of a lane.
const LANE_DOCS: usize = 800;

/// Full text, for people.
pub(in crate::tools) struct SearchFulltext;
/// Meaning, for people.
pub(in crate::tools) struct SearchSemantic;
/// A full-text lane.
pub(in crate::tools) struct SearchFulltextRaw;
/// A semantic lane.
pub(in crate::tools) struct SearchSemanticRaw;
/// Several lanes.
pub(in crate::tools) struct MultilaneSearch;

#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::tools) struct FulltextInput {
    /// Query: words (all must match), `AND OR NOT`, brackets, "phrases", `field:word` (title, abst, claim, desc, ipc, cpc, fi,
    /// ft, uspc, locarno, assignee, inventor, country, lang), `cites:X` or `cited_by:X` (X is a document, or a run for its
    /// first 50), `a NEAR/5 (b OR c)` (any order, at most 5 words between) or `ADJ/5` (in order), `trunc*`, `wom?n`, and `=LED`
    /// (these capitals).
    #[schemars(length(min = 1, max = 20_000))]
    query: String,
    #[serde(flatten)]
    list: ListInput,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::tools) struct SemanticInput {
    /// What to look for, in one to three paragraphs of plain words.
    #[schemars(length(min = 1, max = 20_000))]
    text: String,
    #[serde(flatten)]
    list: ListInput,
}

/// The scope of a search for people, and what it lists.
#[derive(Debug, Deserialize, JsonSchema)]
struct ListInput {
    /// Corpus to search. Default: the only corpus.
    #[schemars(length(min = 1, max = 100))]
    corpus: Option<String>,
    /// Filters; all must hold.
    #[serde(default)]
    #[schemars(length(max = 40))]
    filters: Vec<FilterInput>,
    /// Most documents, 1 to 200, default 50.
    #[schemars(range(min = 1, max = 200))]
    top_k: Option<usize>,
    /// Kind of number to return for each document.
    #[serde(default)]
    #[schemars(schema_with = "id_types")]
    id_type: Option<IdType>,
}

/// What a lane's handle shows in addition.
#[derive(Debug, Default, Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
struct IncludeInput {
    /// Codes of the first 100 documents, default false.
    codes: bool,
    /// Frequencies of codes in the run, default false.
    code_freqs: bool,
    /// Scores of the first 100 documents, default false.
    scores: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::tools) struct FulltextRawInput {
    /// Query, in the language of `search_fulltext`.
    #[schemars(length(min = 1, max = 20_000))]
    query: String,
    /// Lane that determines field boosts and role: `wide` (default), `recall`, `precision`, `problem`, or a configured
    /// one.
    #[schemars(length(min = 1, max = 100))]
    lane: Option<String>,
    /// Filters; all must hold. None on codes in a wide lane.
    #[serde(default)]
    #[schemars(length(max = 40))]
    filters: Vec<FilterInput>,
    /// Field weights that replace the lane's.
    field_boosts: Option<BoostsInput>,
    /// Words of use cases in this search: an alarm reports when a wide query requires one.
    #[serde(default)]
    #[schemars(length(max = 100), inner(length(min = 1, max = 100)))]
    use_case_terms: Vec<String>,
    #[serde(flatten)]
    run: RunInput,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::tools) struct SemanticRawInput {
    /// What to look for, in one to three paragraphs of plain words.
    #[schemars(length(min = 1, max = 20_000))]
    text: String,
    /// Lane that determines the scope: `semantic` (default), or a configured one.
    #[schemars(length(min = 1, max = 100))]
    lane: Option<String>,
    /// Filters; all must hold.
    #[serde(default)]
    #[schemars(length(max = 40))]
    filters: Vec<FilterInput>,
    /// Part of the documents to compare, instead of the lane's.
    #[serde(default)]
    #[schemars(schema_with = "scopes")]
    feature_scope: Option<FeatureScope>,
    #[serde(flatten)]
    run: RunInput,
}

/// Name and contents of a lane's run, and what its handle shows.
#[derive(Debug, Deserialize, JsonSchema)]
struct RunInput {
    /// Name of this lane in blends. Default: `lane`.
    #[schemars(length(min = 1, max = 100))]
    lane_name: Option<String>,
    /// Corpus to search. Default: the only corpus.
    #[schemars(length(min = 1, max = 100))]
    corpus: Option<String>,
    /// Most documents, 1 to 10000, default 800.
    #[schemars(range(min = 1, max = 10_000))]
    top_k: Option<usize>,
    /// What the result shows in addition to the handle.
    #[serde(default)]
    include: IncludeInput,
    /// Codes per system in `code_freqs`, 1 to 200, default 30.
    #[schemars(range(min = 1, max = 200))]
    code_freq_top_k: Option<usize>,
    /// Any text; it is returned unchanged.
    #[schemars(length(max = 200))]
    trace_id: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::tools) struct MultilaneInput {
    /// Lanes, 1 to 10; they are searched in parallel and fail independently.
    #[schemars(length(min = 1, max = 10))]
    lanes: Vec<LaneInput>,
    /// Any text; it is returned unchanged.
    #[schemars(length(max = 200))]
    trace_id: Option<String>,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
struct LaneInput {
    /// Name of the lane in the result and in blends. If it is the name of a configured lane and `params.lane` is
    /// missing, it selects that lane.
    #[schemars(length(min = 1, max = 100))]
    lane_name: String,
    /// Tool that searches it: `rrf_search_fulltext_raw` or `rrf_search_semantic_raw` (without `rrf_` and `_raw` too).
    #[schemars(length(min = 1, max = 100))]
    tool: String,
    /// What the tool takes.
    params: LaneParams,
}

/// What either lane tool takes.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
struct LaneParams {
    /// Query of a full-text lane.
    #[schemars(length(min = 1, max = 20_000))]
    query: Option<String>,
    /// Text of a semantic lane.
    #[schemars(length(min = 1, max = 20_000))]
    text: Option<String>,
    /// Configured lane that supplies the values missing here.
    #[schemars(length(min = 1, max = 100))]
    lane: Option<String>,
    /// Corpus to search. Default: the only corpus.
    #[schemars(length(min = 1, max = 100))]
    corpus: Option<String>,
    /// Filters; all must hold.
    #[schemars(length(max = 40))]
    filters: Vec<FilterInput>,
    /// Weights of the fields of a full-text lane.
    field_boosts: Option<BoostsInput>,
    /// Part of the documents to compare in a semantic lane.
    #[schemars(schema_with = "scopes")]
    feature_scope: Option<FeatureScope>,
    /// Most documents, 1 to 10000, default 800.
    #[schemars(range(min = 1, max = 10_000))]
    top_k: Option<usize>,
    /// Words of use cases in this search.
    #[schemars(length(max = 100), inner(length(min = 1, max = 100)))]
    use_case_terms: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::tools) struct FoundOutput {
    #[serde(flatten)]
    found: Found,
    /// Fields of this result that hold text copied from documents.
    untrusted_fields: Vec<&'static str>,
    /// How to treat those fields.
    content_notice: &'static str,
}

impl From<Found> for FoundOutput {
    fn from(found: Found) -> Self {
        Self { found, untrusted_fields: vec!["results[].title"], content_notice: CONTENT_NOTICE }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::tools) struct HandleOutput {
    #[serde(flatten)]
    handle: RunHandle,
    /// The text given as `trace_id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    trace_id: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::tools) struct MultilaneOutput {
    /// One entry per lane, in the order of the call.
    lanes: Vec<LaneOutput>,
    /// Lanes that were searched.
    success_count: usize,
    /// Lanes that failed.
    error_count: usize,
    /// Milliseconds for all lanes together.
    took_ms_total: u64,
    /// The text given as `trace_id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    trace_id: Option<String>,
}

/// How one lane went.
#[derive(Debug, Serialize, JsonSchema)]
struct LaneOutput {
    /// Name of the lane.
    lane_name: String,
    /// The tool that searched it.
    tool: String,
    /// `success` or `error`.
    status: &'static str,
    /// The run with its most frequent codes, when it was searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    handle: Option<RunHandle>,
    /// Why it failed, when it did.
    #[serde(flatten)]
    problem: Option<Problem>,
}

impl From<LaneOutcome> for LaneOutput {
    fn from(LaneOutcome { lane_name, tool, found }: LaneOutcome) -> Self {
        let (handle, failure) = match found {
            Ok(handle) => (Some(handle), None),
            Err(error) => (None, Some(error)),
        };
        Self {
            lane_name,
            tool,
            status: if handle.is_some() { "success" } else { "error" },
            handle,
            problem: failure.map(|error| Failure::from(error).into()),
        }
    }
}

impl ListInput {
    /// The best documents for `text`, by words or by meaning.
    async fn found(self, call: &Call, text: String, semantic: bool) -> Result<FoundOutput, Failure> {
        let search = LaneSearch {
            text,
            semantic,
            corpus: self.corpus,
            filters: filters(self.filters),
            top_k: self.top_k.unwrap_or(50),
            ..LaneSearch::default()
        };
        let fusion = call.app.fusion_over(search.corpus.as_deref()).await?;
        Ok(fusion.search(search, self.id_type.unwrap_or_default()).await?.into())
    }
}

impl RunInput {
    /// The handle of the run that `search` creates with these parameters.
    async fn handle(self, call: &Call, search: LaneSearch) -> Result<HandleOutput, Failure> {
        let usual = Show::default();
        let show = Show {
            codes: self.include.codes,
            code_freqs: self.include.code_freqs,
            scores: self.include.scores,
            code_freq_top_k: self.code_freq_top_k.unwrap_or(usual.code_freq_top_k),
        };
        let search = LaneSearch {
            corpus: self.corpus,
            lane_name: self.lane_name,
            top_k: self.top_k.unwrap_or(LANE_DOCS),
            ..search
        };
        let fusion = call.app.fusion_over(search.corpus.as_deref()).await?;
        let handle = fusion.search_lane(search, show).await?;
        Ok(HandleOutput { handle, trace_id: self.trace_id })
    }
}

impl Tool for SearchFulltext {
    const NAME: &'static str = "search_fulltext";
    const TITLE: &'static str = "Search by words";
    const DESCRIPTION: &'static str = "Searches a corpus by words and returns the best documents with their titles, to show to a \
        person. For fusion use rrf_search_fulltext_raw.";
    const EFFECT: Effect = Effect::Searches;
    type Input = FulltextInput;
    type Output = FoundOutput;

    fn tidy(arguments: &mut JsonObject) {
        tidy::search(arguments);
    }

    async fn call(call: &Call, input: FulltextInput) -> Result<FoundOutput, Failure> {
        input.list.found(call, input.query, false).await
    }
}

impl Tool for SearchSemantic {
    const NAME: &'static str = "search_semantic";
    const TITLE: &'static str = "Search by meaning";
    const DESCRIPTION: &'static str = "Searches a corpus by meaning and returns the best documents with their titles, to show to \
        a person. For fusion use rrf_search_semantic_raw.";
    const EFFECT: Effect = Effect::Searches;
    type Input = SemanticInput;
    type Output = FoundOutput;

    fn tidy(arguments: &mut JsonObject) {
        tidy::search(arguments);
    }

    async fn call(call: &Call, input: SemanticInput) -> Result<FoundOutput, Failure> {
        input.list.found(call, input.text, true).await
    }
}

impl Tool for SearchFulltextRaw {
    const NAME: &'static str = "rrf_search_fulltext_raw";
    const TITLE: &'static str = "Search a full-text lane";
    const DESCRIPTION: &'static str = "Searches a lane by words and stores its ranked list as a run; returns the \
        run's handle. Repeating the same search returns the stored run. Start with the lane wide and core terms \
        only, then read its codes with get_provenance.";
    const EFFECT: Effect = Effect::Searches;
    type Input = FulltextRawInput;
    type Output = HandleOutput;

    fn tidy(arguments: &mut JsonObject) {
        tidy::search(arguments);
    }

    async fn call(call: &Call, input: FulltextRawInput) -> Result<HandleOutput, Failure> {
        let search = LaneSearch {
            lane: input.lane,
            text: input.query,
            boosts: input.field_boosts.map(boosts),
            filters: filters(input.filters),
            use_case_terms: input.use_case_terms,
            ..LaneSearch::default()
        };
        input.run.handle(call, search).await
    }
}

impl Tool for SearchSemanticRaw {
    const NAME: &'static str = "rrf_search_semantic_raw";
    const TITLE: &'static str = "Search a semantic lane";
    const DESCRIPTION: &'static str = "Searches a lane by meaning and stores its ranked list as a run; returns the \
        run's handle. Repeating the same search returns the stored run.";
    const EFFECT: Effect = Effect::Searches;
    type Input = SemanticRawInput;
    type Output = HandleOutput;

    fn tidy(arguments: &mut JsonObject) {
        tidy::search(arguments);
    }

    async fn call(call: &Call, input: SemanticRawInput) -> Result<HandleOutput, Failure> {
        let search = LaneSearch {
            lane: input.lane,
            semantic: true,
            text: input.text,
            scope: input.feature_scope,
            filters: filters(input.filters),
            ..LaneSearch::default()
        };
        input.run.handle(call, search).await
    }
}

impl Tool for MultilaneSearch {
    const NAME: &'static str = "run_multilane_search";
    const TITLE: &'static str = "Search several lanes";
    const DESCRIPTION: &'static str = "Searches up to 10 lanes at once and returns for each its status, the run's \
        handle and its most frequent codes. A lane that fails does not affect the others.";
    const EFFECT: Effect = Effect::Searches;
    type Input = MultilaneInput;
    type Output = MultilaneOutput;

    fn tidy(arguments: &mut JsonObject) {
        tidy::lanes(arguments);
    }

    async fn call(call: &Call, input: MultilaneInput) -> Result<MultilaneOutput, Failure> {
        let corpus = input.lanes.iter().find_map(|lane| lane.params.corpus.as_deref());
        let fusion = call.app.fusion_over(corpus).await?;
        let configured: Vec<String> = fusion.lanes().into_iter().map(|lane| lane.lane).collect();
        let lanes = input.lanes.into_iter().map(|lane| lane.named(&configured)).collect();
        let done = fusion.multilane(lanes).await?;
        Ok(MultilaneOutput {
            lanes: done.lanes.into_iter().map(LaneOutput::from).collect(),
            success_count: done.success_count,
            error_count: done.error_count,
            took_ms_total: done.took_ms_total,
            trace_id: input.trace_id,
        })
    }
}

impl LaneInput {
    /// The search of this lane; an error fails only this lane.
    fn named(self, configured: &[String]) -> NamedLane {
        let Self { lane_name, tool, params } = self;
        let semantic = match tool.trim() {
            "rrf_search_fulltext_raw" | "search_fulltext" => Ok(false),
            "rrf_search_semantic_raw" | "search_semantic" => Ok(true),
            other => Err(lyra_usecases::AppError::invalid(
                format!("`{other}` does not search a lane"),
                "`tool` must be rrf_search_fulltext_raw or rrf_search_semantic_raw",
            )),
        };
        let bare = lane_name.strip_prefix("fulltext_").unwrap_or(&lane_name);
        let preset = configured.iter().find(|name| **name == lane_name || *name == bare).cloned();
        // Older clients pass the kind of search as the lane's name; it does not name a lane.
        let lane = params.lane.filter(|name| !["fulltext", "semantic"].contains(&name.as_str())).or(preset);
        let search = semantic.map(|semantic| LaneSearch {
            corpus: params.corpus,
            lane,
            lane_name: None,
            semantic,
            text: if semantic { params.text.or(params.query) } else { params.query.or(params.text) }
                .unwrap_or_default(),
            boosts: params.field_boosts.map(boosts),
            scope: params.feature_scope,
            filters: filters(params.filters),
            top_k: params.top_k.unwrap_or(LANE_DOCS),
            use_case_terms: params.use_case_terms,
        });
        NamedLane { lane_name, tool, search }
    }
}
