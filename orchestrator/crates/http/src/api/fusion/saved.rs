//! Searches that are run again.

use crate::api::call::{Call, Reply};
use crate::api::route::Nothing;
use crate::problem::Failure;
use lyra_wire::fusion::{SavedInfo, SavedRun};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Saved searches.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SavedSearches {
    /// By name.
    searches: Vec<SavedInfo>,
}

pub(super) async fn list(call: Call, _: Nothing) -> Result<Reply<SavedSearches>, Failure> {
    Ok(SavedSearches { searches: call.app().fusion().saved_searches().await? }.into())
}

/// A search to save.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Save {
    /// Its name, 1 to 80 characters.
    #[schemars(length(min = 1, max = 80))]
    name: String,
    /// Run of a lane. Its documents count as known.
    run_id: String,
}

pub(super) async fn save(call: Call, body: Save) -> Result<Reply<SavedInfo>, Failure> {
    Ok(call.app().fusion().save_search(&body.name, &body.run_id).await?.into())
}

pub(super) async fn again(call: Call, _: Nothing) -> Result<Reply<SavedRun>, Failure> {
    Ok(call.app().fusion().run_saved(call.part("name")).await?.into())
}

pub(super) async fn forget(call: Call, _: Nothing) -> Result<Reply<SavedInfo>, Failure> {
    Ok(call.app().fusion().forget_search(call.part("name")).await?.into())
}
