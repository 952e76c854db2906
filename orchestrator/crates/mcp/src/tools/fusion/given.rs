//! Arguments that several tools share, and their conversion.

use lyra_corpus::backend::FeatureScope;
use lyra_usecases::fusion::PeekRequest;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use crate::schema::one_of;

/// Part of a document that is compared.
pub(super) fn scopes(_: &mut SchemaGenerator) -> Schema {
    one_of(FeatureScope::ALL.into_iter().map(FeatureScope::name))
}

/// Kind of a document's number.
pub(super) fn id_types(_: &mut SchemaGenerator) -> Schema {
    one_of(["app_doc_id", "doc_id", "app_id", "pub_id", "exam_id"].into_iter())
}

/// Most characters of each field.
#[derive(Debug, Clone, Copy, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub(super) struct CharsInput {
    /// Most characters of the title.
    #[schemars(range(min = 1, max = 100_000))]
    title: Option<usize>,
    /// Most characters of the abstract.
    #[schemars(range(min = 1, max = 100_000))]
    abst: Option<usize>,
    /// Most characters of the claims.
    #[schemars(range(min = 1, max = 100_000))]
    claim: Option<usize>,
    /// Most characters of the description.
    #[schemars(range(min = 1, max = 100_000))]
    desc: Option<usize>,
}

pub(super) fn chars(given: CharsInput) -> BTreeMap<String, usize> {
    [("title", given.title), ("abst", given.abst), ("claim", given.claim), ("desc", given.desc)]
        .into_iter()
        .filter_map(|(name, most)| Some((name.to_owned(), most?)))
        .collect()
}

/// The first documents to show together with a blend.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub(super) struct PeekInput {
    /// Most documents, 1 to 100, default 12.
    #[serde(alias = "count")]
    #[schemars(range(min = 1, max = 100))]
    limit: Option<usize>,
    /// Fields to show, default title, abst and claim.
    #[schemars(length(max = 40))]
    fields: Vec<String>,
    /// Most characters of each field, default 80 for the title and 320 for the others.
    per_field_chars: Option<CharsInput>,
    /// Most bytes, 512 to 55000, default 12288.
    #[schemars(range(min = 512, max = 55_000))]
    budget_bytes: Option<usize>,
}

impl From<PeekInput> for PeekRequest {
    fn from(given: PeekInput) -> Self {
        let usual = Self::default();
        Self {
            limit: given.limit.unwrap_or(usual.limit),
            fields: given.fields,
            per_field_chars: chars(given.per_field_chars.unwrap_or_default()),
            budget_bytes: given.budget_bytes.unwrap_or(usual.budget_bytes),
            ..usual
        }
    }
}
