//! Blending lanes, changing a blend, and storing judgments.

use crate::api::call::{Call, Reply};
use crate::problem::Failure;
use lyra_usecases::fusion::{BlendRequest, Label, Representative, RunRef, recipe};
use lyra_wire::fusion::{FusionView, ProvenanceView, RecipeInput};
use lyra_wire::schema::one_of;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;

/// Lanes to fuse.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Blend {
    /// Runs of lanes of one corpus, 1 to 20.
    #[schemars(length(min = 1, max = 20))]
    runs: Vec<BlendedRun>,
    /// How to fuse them. Default: every lane with weight 1.
    #[serde(default)]
    recipe: RecipeInput,
}

/// A run to fuse.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BlendedRun {
    /// Run of a lane.
    run_id: String,
    /// Its name in the blend. Default: the lane's own.
    lane: Option<String>,
}

pub(super) async fn blend(call: Call, body: Blend) -> Result<Reply<FusionView>, Failure> {
    let runs = body.runs.into_iter().map(|run| RunRef { run_id: run.run_id, lane: run.lane }).collect();
    let request = BlendRequest { runs, recipe: recipe(body.recipe)?, peek: None };
    Ok(call.app().fusion().blend(request).await?.into())
}

pub(super) async fn change(call: Call, body: RecipeInput) -> Result<Reply<FusionView>, Failure> {
    Ok(call.app().fusion().change(call.part("run_id"), body).await?.into())
}

/// A person's judgments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Judged {
    /// Judged documents, 1 to 30, in addition to those before. They narrow the estimates; the ranking stays.
    #[schemars(length(min = 1, max = 30))]
    representatives: Vec<JudgedDocument>,
}

/// A judged document.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct JudgedDocument {
    /// Document of the blend.
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

pub(super) async fn register(call: Call, body: Judged) -> Result<Reply<ProvenanceView>, Failure> {
    let judged = body.representatives.into_iter();
    let judged = judged
        .map(|given| Representative { doc_id: given.doc_id, label: given.label, reason: given.reason })
        .collect();
    Ok(call.app().fusion().register_representatives(call.part("run_id"), judged).await?.into())
}
