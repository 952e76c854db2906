//! Parts of JSON Schemas, for `#[schemars(schema_with)]` on fields whose types have no schema of their own.

use lyra_domain::domains::OverrideDecision;
use lyra_domain::{
    AdoptionStatus, AuthStatus, FragmentType, JobState, Priority, QueryStatus, Relation, TaskStatus,
    VerificationStatus,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

/// A string that is one of `words`.
pub fn one_of(words: impl Iterator<Item = &'static str>) -> Schema {
    let words: Vec<&str> = words.collect();
    json_schema!({ "type": "string", "enum": words })
}

/// Any JSON object.
pub fn any_object(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object", "additionalProperties": true })
}

/// The words of a task's status.
pub fn task_status(_: &mut SchemaGenerator) -> Schema {
    one_of(TaskStatus::ALL.iter().map(|word| word.as_str()))
}

/// The words of a claim's adoption status.
pub fn adoption(_: &mut SchemaGenerator) -> Schema {
    one_of(AdoptionStatus::ALL.iter().map(|word| word.as_str()))
}

/// The words of a judgment.
pub fn judged(_: &mut SchemaGenerator) -> Schema {
    one_of([Relation::Supports, Relation::Refutes, Relation::Neutral].iter().map(|word| word.as_str()))
}

/// The words of a judgment, or `null`.
pub(crate) fn optional_judged(_: &mut SchemaGenerator) -> Schema {
    let words = [Relation::Supports, Relation::Refutes, Relation::Neutral].map(|word| Some(word.as_str()));
    let words: Vec<Option<&str>> = words.into_iter().chain([None]).collect();
    json_schema!({ "type": ["string", "null"], "enum": words })
}

/// The words of a decision about a domain.
pub fn decision(_: &mut SchemaGenerator) -> Schema {
    one_of(OverrideDecision::ALL.iter().map(|word| word.as_str()))
}

/// The words of a decision about a domain, or `null`.
pub(crate) fn optional_decision(_: &mut SchemaGenerator) -> Schema {
    let words: Vec<Option<&str>> =
        OverrideDecision::ALL.iter().map(|word| Some(word.as_str())).chain([None]).collect();
    json_schema!({ "type": ["string", "null"], "enum": words })
}

/// The words of a priority.
pub fn priority(_: &mut SchemaGenerator) -> Schema {
    one_of(Priority::ALL.iter().map(|word| word.as_str()))
}

/// The words of a waiting page's status.
pub fn auth_status(_: &mut SchemaGenerator) -> Schema {
    one_of(AuthStatus::ALL.iter().map(|word| word.as_str()))
}

pub(crate) fn verification(_: &mut SchemaGenerator) -> Schema {
    one_of(VerificationStatus::ALL.iter().map(|word| word.as_str()))
}

pub(crate) fn job_state(_: &mut SchemaGenerator) -> Schema {
    one_of(JobState::ALL.iter().map(|word| word.as_str()))
}

pub(crate) fn search_status(_: &mut SchemaGenerator) -> Schema {
    one_of(QueryStatus::ALL.iter().map(|word| word.as_str()))
}

pub(crate) fn fragment_type(_: &mut SchemaGenerator) -> Schema {
    one_of(FragmentType::ALL.iter().map(|word| word.as_str()))
}

/// Any object, or none.
pub(crate) fn optional_object(generator: &mut SchemaGenerator) -> Schema {
    Option::<serde_json::Map<String, serde_json::Value>>::json_schema(generator)
}

pub(crate) fn graph_kind(_: &mut SchemaGenerator) -> Schema {
    one_of(["claim", "passage", "work"].into_iter())
}

pub(crate) fn graph_side(_: &mut SchemaGenerator) -> Schema {
    one_of(["contested", "supported", "refuted", "open"].into_iter())
}

pub(crate) fn graph_relation(_: &mut SchemaGenerator) -> Schema {
    one_of(["supports", "refutes", "neutral", "origin", "cites", "part_of"].into_iter())
}
