//! The names that leave the process, as they are: a change here is a change for users.
//! `INSTA_UPDATE=always cargo test -p lyra-wire` writes the new snapshot, to be read in the diff.
#![expect(clippy::unwrap_used, reason = "a test")]

use lyra_wire::fusion::{
    Comparison, Documents, Found, FusionView, LaneInfo, PeekView, ProvenanceView, QueryCheck, RunDocuments,
    RunHandle, RunInfo,
};
use lyra_wire::{
    AuditRecord, CalibrationRolledBack, CalibrationStats, ClaimAdoption, ClaimMaterial, ClaimPage, Corpus,
    CorpusSearch, Correction, DecidedDocuments, DomainChanged, DomainDecision, EvidenceMatrix, Finding,
    GraphView, Happened, ImportAccepted, ItemFacts, JobInfo, Materials, NewAccessToken, PagesResolved,
    Prisma, Problem, ProblemDocument, ReadPage, Removed, Report, Rows, Screening, ScreeningChanged,
    SearchesQueued, SourceTest, Status, Table, TaskDeleted, TaskStopped, TaskSummaries, TaskTimeline, View,
    WaitingPage, WhatIf,
};
use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::Value;
use std::fmt::Write;

/// A field's type in a word: the name of a shape, `number?` when it may be unknown, `[string]` for a list.
fn kind(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str() {
        return name.rsplit('/').next().unwrap_or_default().to_owned();
    }
    if let Some(choices) = schema["anyOf"].as_array() {
        let some = choices.iter().find(|choice| choice["type"] != "null").unwrap();
        return format!("{}?", kind(some));
    }
    match &schema["type"] {
        Value::String(word) if word == "array" => format!("[{}]", kind(&schema["items"])),
        Value::Array(words) if words[0] == "array" => format!("[{}]?", kind(&schema["items"])),
        Value::String(word) if schema["additionalProperties"].is_object() => {
            format!("{word} of {}", kind(&schema["additionalProperties"]))
        }
        Value::String(word) => word.clone(),
        Value::Array(words) => format!("{}?", words.first().and_then(Value::as_str).unwrap()),
        _ => "JSON".to_owned(),
    }
}

fn list(schema: &Value, indent: &str, out: &mut String) {
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(word) = field["const"].as_str() {
            writeln!(out, "{indent}{name}: {word:?}").unwrap();
            continue;
        }
        assert!(
            field["description"].as_str().is_some_and(|about| about.len() > 8),
            "{name} is not described"
        );
        writeln!(out, "{indent}{name}: {}", kind(field)).unwrap();
    }
    for variant in schema["oneOf"].as_array().into_iter().flatten() {
        writeln!(out, "{indent}or").unwrap();
        list(variant, &format!("{indent}  "), out);
        if let Some(name) = variant["$ref"].as_str() {
            writeln!(out, "{indent}  the fields of {}", name.rsplit('/').next().unwrap()).unwrap();
        }
    }
}

fn add<T: JsonSchema>(generator: &mut SchemaGenerator) {
    generator.subschema_for::<T>();
}

#[test]
fn the_names_of_every_shape() {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    add::<Report>(&mut generator);
    add::<Materials>(&mut generator);
    add::<ClaimMaterial>(&mut generator);
    add::<Status>(&mut generator);
    add::<WaitingPage>(&mut generator);
    add::<DomainDecision>(&mut generator);
    add::<CalibrationStats>(&mut generator);
    add::<ItemFacts>(&mut generator);
    add::<Problem>(&mut generator);
    add::<ClaimPage>(&mut generator);
    add::<ReadPage>(&mut generator);
    add::<WhatIf>(&mut generator);
    add::<TaskSummaries>(&mut generator);
    add::<JobInfo>(&mut generator);
    add::<AuditRecord>(&mut generator);
    add::<CalibrationRolledBack>(&mut generator);
    add::<ClaimAdoption>(&mut generator);
    add::<Corpus>(&mut generator);
    add::<CorpusSearch>(&mut generator);
    add::<Correction>(&mut generator);
    add::<DomainChanged>(&mut generator);
    add::<Finding>(&mut generator);
    add::<EvidenceMatrix>(&mut generator);
    add::<GraphView>(&mut generator);
    add::<TaskTimeline>(&mut generator);
    add::<Happened>(&mut generator);
    add::<ImportAccepted>(&mut generator);
    add::<NewAccessToken>(&mut generator);
    add::<PagesResolved>(&mut generator);
    add::<ProblemDocument>(&mut generator);
    add::<Removed>(&mut generator);
    add::<Rows>(&mut generator);
    add::<DecidedDocuments>(&mut generator);
    add::<Prisma>(&mut generator);
    add::<Screening>(&mut generator);
    add::<ScreeningChanged>(&mut generator);
    add::<SearchesQueued>(&mut generator);
    add::<SourceTest>(&mut generator);
    add::<Table>(&mut generator);
    add::<TaskDeleted>(&mut generator);
    add::<TaskStopped>(&mut generator);
    add::<View>(&mut generator);
    add::<LaneInfo>(&mut generator);
    add::<Found>(&mut generator);
    add::<RunHandle>(&mut generator);
    add::<FusionView>(&mut generator);
    add::<ProvenanceView>(&mut generator);
    add::<PeekView>(&mut generator);
    add::<Documents>(&mut generator);
    add::<Comparison>(&mut generator);
    add::<QueryCheck>(&mut generator);
    add::<RunDocuments>(&mut generator);
    add::<RunInfo>(&mut generator);
    let mut out = String::new();
    for (name, schema) in generator.definitions() {
        writeln!(out, "{name}").unwrap();
        list(schema, "  ", &mut out);
    }
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("shapes", out));
}
