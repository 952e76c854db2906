#![allow(dead_code, clippy::allow_attributes, reason = "every test file compiles this and uses a part of it")]
//! Verifiers against numbers of torch, which `training/golden_verify.py` writes.

use std::path::Path;

use lyra_ml_server::model::device::Device;
use lyra_ml_server::model::labels::NliLabels;
use lyra_ml_server::model::tokenizer::Tokens;
use lyra_ml_server::model::{Model, ModelSource, verifier};
use serde::Deserialize;

use crate::common;

/// A golden file.
#[derive(Deserialize)]
pub(crate) struct Golden {
    max_tokens: usize,
    pub(crate) items: Vec<Item>,
}

/// One item and what torch says of it.
#[derive(Deserialize)]
pub(crate) struct Item {
    pub(crate) claim: String,
    pub(crate) title: Option<String>,
    pub(crate) sentences: Vec<String>,
    ids: Vec<u32>,
    segments: Vec<u32>,
    pub(crate) marks: Vec<usize>,
    logits: Vec<f32>,
    rationale: Vec<f32>,
}

pub(crate) fn read(file: &Path) -> Golden {
    serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap()
}

/// The same tokens, logits within `most` of those of torch (of labels and of sentences), and the same label for at least
/// `agreement` of the items; alone and together.
pub(crate) fn compare(golden: &Golden, source: &ModelSource, most: f32, agreement: f64) {
    for device in common::devices() {
        compare_on(&device, golden, source, most, agreement);
    }
}

/// The same on one device.
pub(crate) fn compare_on(device: &Device, golden: &Golden, source: &ModelSource, most: f32, agreement: f64) {
    let model = Model::load_on(device, source, None, 0).unwrap();
    assert_eq!(model.spec.max_tokens, golden.max_tokens);
    let labels = NliLabels::from_names(model.spec.task.labels()).unwrap();
    let inputs: Vec<Tokens> = golden
        .items
        .iter()
        .map(|item| {
            let encoded =
                verifier::encode(&model.tokenizer, &item.claim, item.title.as_deref(), &item.sentences);
            let tokens = encoded.unwrap();
            assert_eq!(tokens.ids, item.ids, "{}", item.claim);
            assert_eq!((&tokens.type_ids, &tokens.marks), (&item.segments, &item.marks), "{}", item.claim);
            tokens
        })
        .collect();
    let together = model.run(&inputs.iter().collect::<Vec<_>>()).unwrap();
    let (mut worst, mut agreed) = (0f32, 0);
    for ((input, row), item) in inputs.iter().zip(&together).zip(&golden.items) {
        common::assert_same(model.backend, &model.run(&[input]).unwrap(), std::slice::from_ref(row));
        let want = [item.logits.as_slice(), &item.rationale].concat();
        assert_eq!(row.len(), want.len(), "{}", item.claim);
        worst = row.iter().zip(&want).map(|(got, want)| (got - want).abs()).fold(worst, f32::max);
        let label = |row: &[f32]| verifier::verdict(&labels, row).label;
        agreed += usize::from(label(row) == label(&want));
    }
    let share = agreed as f64 / inputs.len() as f64;
    let (name, backend) = (&model.spec.name, model.backend);
    println!("{name} ({backend}): largest |Δlogit| {worst:.7}, labels agree {agreed}/{}", inputs.len());
    assert!(worst <= most, "|Δlogit| {worst} > {most}");
    assert!(share >= agreement, "{share} < {agreement}");
}
