//! Fusing, changing, inspecting and judging runs.

use super::given::PeekInput;
use super::tidy;
use crate::reply::MAX_BYTES;
use crate::schema::one_of;
use crate::tools::{Call, Effect, Failure, Tool};
use lyra_usecases::fusion::{BlendRequest, Label, ProvenanceRequest, Representative, RunRef, recipe};
use lyra_wire::fusion::{FusionView, ProvenanceView, RecipeInput};
use lyra_wire::json::size;
use rmcp::model::JsonObject;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Fuses lanes.
pub(in crate::tools) struct BlendFrontier;
/// Changes a fusion.
pub(in crate::tools) struct MutateRun;
/// Inspects a run.
pub(in crate::tools) struct GetProvenance;
/// Stores a person's judgments.
pub(in crate::tools) struct RegisterRepresentatives;

#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::tools) struct BlendInput {
    /// Runs of lanes of one corpus, 1 to 20.
    #[schemars(length(min = 1, max = 20))]
    runs: Vec<RunInput>,
    #[serde(flatten)]
    recipe: RecipeInput,
    /// Also show the first documents.
    peek: Option<PeekInput>,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
struct RunInput {
    /// Run of a lane, as its search returned it.
    #[schemars(length(min = 1, max = 100))]
    run_id: String,
    /// Name of the lane in this blend. Default: the lane's own.
    #[schemars(length(min = 1, max = 100))]
    lane: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::tools) struct MutateInput {
    /// Fusion run to change.
    #[schemars(length(min = 1, max = 100))]
    run_id: String,
    /// New values of the parameters to change, as absolute values, not differences. Omitted parameters stay.
    delta: RecipeInput,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::tools) struct ProvenanceInput {
    /// Run of a lane or a fusion.
    #[schemars(length(min = 1, max = 100))]
    run_id: String,
    /// Documents to list with each lane's contribution, 0 to 200, default 20.
    #[schemars(range(min = 0, max = 200))]
    top_k_lane: Option<usize>,
    /// Codes to list per system, 0 to 200, default 30.
    #[schemars(range(min = 0, max = 200))]
    top_k_code: Option<usize>,
    /// Whether to propose documents to judge: a sample of 20, then those whose judgment tells most. Default false.
    #[serde(default)]
    sample: bool,
    /// Width of the interval of recall at which nothing more is proposed.
    #[schemars(range(min = 0.01, max = 1))]
    recall_width: Option<f64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::tools) struct RepresentativesInput {
    /// Fusion run that the documents were judged in.
    #[schemars(length(min = 1, max = 100))]
    run_id: String,
    /// Judged documents, 1 to 30, in addition to those before; no document is boosted.
    #[schemars(length(min = 1, max = 30))]
    representatives: Vec<RepresentativeInput>,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
struct RepresentativeInput {
    /// Document of the run.
    #[schemars(length(min = 1, max = 500))]
    doc_id: String,
    /// `A` matches the core, `B` is on topic, `C` is off topic or too far.
    #[schemars(schema_with = "labels")]
    label: Label,
    /// The reason for the label.
    #[schemars(length(max = 2000))]
    reason: Option<String>,
}

fn labels(_: &mut SchemaGenerator) -> Schema {
    one_of(Label::ALL.iter().map(|label| label.as_str()))
}

impl Tool for BlendFrontier {
    const NAME: &'static str = "rrf_blend_frontier";
    const TITLE: &'static str = "Fuse lanes";
    const DESCRIPTION: &'static str = "Fuses runs of lanes by their scores, or by ranks, with a boost for the codes of a \
        target profile, stores the fused run and measures it: expected precision, recall and Fβ over reading depths with \
        intervals, wide without judgments; agreement of lanes, spread of classes, alarms.";
    const EFFECT: Effect = Effect::Fuses;
    type Input = BlendInput;
    type Output = FusionView;

    fn tidy(arguments: &mut JsonObject) {
        tidy::unwrapped(arguments);
        tidy::recipe(arguments);
    }

    async fn call(call: &Call, input: BlendInput) -> Result<FusionView, Failure> {
        let runs = input.runs.into_iter().map(|run| RunRef { run_id: run.run_id, lane: run.lane }).collect();
        let request = BlendRequest { runs, recipe: recipe(input.recipe)?, peek: input.peek.map(Into::into) };
        Ok(call.app.fusion().blend(request).await?)
    }
}

impl Tool for MutateRun {
    const NAME: &'static str = "rrf_mutate_run";
    const TITLE: &'static str = "Change a fusion";
    const DESCRIPTION: &'static str = "Fuses the lanes of a fusion run again with some parameters changed, as a new \
        run with its lineage. It searches nothing. Values in `delta` are absolute.";
    const EFFECT: Effect = Effect::Fuses;
    type Input = MutateInput;
    type Output = FusionView;

    fn tidy(arguments: &mut JsonObject) {
        tidy::unwrapped(arguments);
        if let Some(Value::Object(delta)) = arguments.get_mut("delta") {
            tidy::recipe(delta);
        }
    }

    async fn call(call: &Call, input: MutateInput) -> Result<FusionView, Failure> {
        Ok(call.app.fusion().change(&input.run_id, input.delta).await?)
    }
}

impl Tool for GetProvenance {
    const NAME: &'static str = "get_provenance";
    const TITLE: &'static str = "Inspect a run";
    const DESCRIPTION: &'static str = "Shows where a run comes from and what is in it: recipe, lineage, each lane's \
        contribution to each document, codes with a proposed target profile, metrics, frontier, alarms with their \
        evidence, judged documents with their current rank, and on request documents to judge.";
    const EFFECT: Effect = Effect::Reads;
    type Input = ProvenanceInput;
    type Output = ProvenanceView;

    fn tidy(arguments: &mut JsonObject) {
        tidy::unwrapped(arguments);
    }

    async fn call(call: &Call, input: ProvenanceInput) -> Result<ProvenanceView, Failure> {
        let usual = ProvenanceRequest::default();
        let request = ProvenanceRequest {
            run_id: input.run_id,
            top_k_lane: input.top_k_lane.unwrap_or(usual.top_k_lane),
            top_k_code: input.top_k_code.unwrap_or(usual.top_k_code),
            sample: input.sample,
            recall_width: input.recall_width,
            ..usual
        };
        Ok(fitted(call.app.fusion().provenance(&request).await?))
    }
}

impl Tool for RegisterRepresentatives {
    const NAME: &'static str = "register_representatives";
    const TITLE: &'static str = "Store judged documents";
    const DESCRIPTION: &'static str = "Adds a person's judgments to those of a fusion run's documents, and \
        returns the run's provenance. They narrow the estimates, and from 10 on a depth is named; the ranking does not \
        change. Only on a person's word.";
    const EFFECT: Effect = Effect::Records;
    type Input = RepresentativesInput;
    type Output = ProvenanceView;

    fn tidy(arguments: &mut JsonObject) {
        tidy::unwrapped(arguments);
    }

    async fn call(call: &Call, input: RepresentativesInput) -> Result<ProvenanceView, Failure> {
        let judged = input
            .representatives
            .into_iter()
            .map(|given| Representative { doc_id: given.doc_id, label: given.label, reason: given.reason })
            .collect();
        Ok(fitted(call.app.fusion().register_representatives(&input.run_id, judged).await?))
    }
}

/// Lists fewer documents and codes until the result is small enough; the rest is available with other limits.
fn fitted(mut view: ProvenanceView) -> ProvenanceView {
    while size(&view) + 100 > MAX_BYTES {
        let codes = view.code_distributions.iter().map(|system| system.codes.len()).max().unwrap_or(0);
        if view.documents.is_empty() && codes == 0 {
            break;
        }
        view.documents.truncate(view.documents.len() / 2);
        for system in &mut view.code_distributions {
            system.codes.truncate(codes / 2);
        }
        view.shortened = true;
    }
    view
}
