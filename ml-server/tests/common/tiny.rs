//! A BERT small enough to make up on the spot.

use std::collections::BTreeMap;
use std::path::Path;

use safetensors::Dtype;
use safetensors::tensor::TensorView;
use serde_json::{Value, json};

const HIDDEN: usize = 32;
const WORDS: [&str; 8] = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "red", "green", "blue", "stone"];

/// Writes the folder of a two-layer BERT: an embedder with cls pooling, or a classifier with the labels in an unusual
/// order. Weights are fixed pseudo-random numbers.
pub(crate) fn write(folder: &Path, classifier: bool) {
    let class = if classifier { "BertForSequenceClassification" } else { "BertModel" };
    let config = json!({
        "architectures": [class], "model_type": "bert", "hidden_act": "gelu", "hidden_size": HIDDEN,
        "intermediate_size": 64, "layer_norm_eps": 1e-12, "max_position_embeddings": 16, "num_attention_heads": 4,
        "num_hidden_layers": 2, "type_vocab_size": 2, "vocab_size": WORDS.len(),
        "id2label": {"0": "neutral", "1": "contradiction", "2": "entailment"},
    });
    save(folder, "config.json", &config);
    save(folder, "tokenizer.json", &tokenizer());
    if !classifier {
        save(
            folder,
            "modules.json",
            &json!([
                {"type": "sentence_transformers.models.Transformer", "path": ""},
                {"type": "sentence_transformers.models.Pooling", "path": "1_Pooling"},
            ]),
        );
        std::fs::create_dir(folder.join("1_Pooling")).unwrap();
        save(
            folder,
            "1_Pooling/config.json",
            &json!({"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false}),
        );
    }
    let prefix = if classifier { "bert." } else { "" };
    let mut tensors = BTreeMap::new();
    for (name, shape) in shapes() {
        tensors.insert(format!("{prefix}{name}"), shape);
    }
    if classifier {
        tensors.insert("classifier.weight".to_owned(), vec![3, HIDDEN]);
        tensors.insert("classifier.bias".to_owned(), vec![3]);
    }
    let bytes: BTreeMap<_, _> = tensors.iter().map(|(name, shape)| (name, values(name, shape))).collect();
    let views = tensors
        .iter()
        .map(|(name, shape)| (name, TensorView::new(Dtype::F32, shape.clone(), &bytes[name]).unwrap()));
    let file = safetensors::serialize(views, None).unwrap();
    std::fs::write(folder.join("model.safetensors"), file).unwrap();
}

fn save(folder: &Path, name: &str, value: &Value) {
    std::fs::write(folder.join(name), value.to_string()).unwrap();
}

fn tokenizer() -> Value {
    let vocab: BTreeMap<_, _> = WORDS.iter().enumerate().map(|(id, word)| (*word, id)).collect();
    let special = |id: usize| {
        json!({
            "id": id, "content": WORDS[id], "single_word": false, "lstrip": false, "rstrip": false, "normalized": false,
            "special": true
        })
    };
    let token = |name: &str, type_id: usize| json!({"SpecialToken": {"id": name, "type_id": type_id}});
    let text = |name: &str, type_id: usize| json!({"Sequence": {"id": name, "type_id": type_id}});
    json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [special(2), special(3)],
        "normalizer": null, "pre_tokenizer": {"type": "Whitespace"}, "decoder": null,
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [token("[CLS]", 0), text("A", 0), token("[SEP]", 0)],
            "pair": [token("[CLS]", 0), text("A", 0), token("[SEP]", 0), text("B", 1), token("[SEP]", 1)],
            "special_tokens": {
                "[CLS]": {"id": "[CLS]", "ids": [2], "tokens": ["[CLS]"]},
                "[SEP]": {"id": "[SEP]", "ids": [3], "tokens": ["[SEP]"]},
            },
        },
        "model": {"type": "WordLevel", "vocab": vocab, "unk_token": "[UNK]"},
    })
}

fn shapes() -> Vec<(String, Vec<usize>)> {
    let mut shapes = vec![
        ("embeddings.word_embeddings.weight".to_owned(), vec![WORDS.len(), HIDDEN]),
        ("embeddings.position_embeddings.weight".to_owned(), vec![16, HIDDEN]),
        ("embeddings.token_type_embeddings.weight".to_owned(), vec![2, HIDDEN]),
    ];
    let mut layer = |name: &str, outputs: usize, inputs: Option<usize>| {
        shapes.push((format!("{name}.weight"), inputs.map_or(vec![outputs], |inputs| vec![outputs, inputs])));
        shapes.push((format!("{name}.bias"), vec![outputs]));
    };
    layer("embeddings.LayerNorm", HIDDEN, None);
    layer("pooler.dense", HIDDEN, Some(HIDDEN));
    for index in 0..2 {
        let at = |part: &str| format!("encoder.layer.{index}.{part}");
        for part in ["self.query", "self.key", "self.value", "output.dense"] {
            layer(&at(&format!("attention.{part}")), HIDDEN, Some(HIDDEN));
        }
        layer(&at("attention.output.LayerNorm"), HIDDEN, None);
        layer(&at("intermediate.dense"), 64, Some(HIDDEN));
        layer(&at("output.dense"), HIDDEN, Some(64));
        layer(&at("output.LayerNorm"), HIDDEN, None);
    }
    shapes
}

/// Little-endian f32 from a linear congruential generator, different for every tensor; gains are near 1.
fn values(name: &str, shape: &[usize]) -> Vec<u8> {
    let mut state =
        name.bytes().fold(17u32, |hash, byte| hash.wrapping_mul(31).wrapping_add(u32::from(byte)));
    let gain = if name.ends_with("LayerNorm.weight") { 1.0 } else { 0.0 };
    let next = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (gain + ((state >> 8) as f32 / 16_777_216.0 - 0.5) * 0.4).to_le_bytes()
    };
    (0..shape.iter().product::<usize>()).flat_map(next).collect()
}
