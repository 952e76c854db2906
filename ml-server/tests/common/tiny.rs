#![allow(dead_code, clippy::allow_attributes, reason = "every test file compiles this and uses a part of it")]
//! Models of every architecture, small enough to generate on the fly.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lyra_ml_server::model::{Model, ModelSource};
use safetensors::Dtype;
use safetensors::tensor::TensorView;
use serde_json::{Value, json};

const HIDDEN: usize = 32;
const WIDE: usize = 64;
const LAYERS: usize = 2;
const WORDS: [&str; 8] = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "red", "green", "blue", "stone"];
/// Those of an MPNet that is a verifier: padding is at 1, where it always is in that architecture.
const MPNET_WORDS: [&str; 8] = ["<s>", "<pad>", "</s>", "[UNK]", "red", "green", "blue", "stone"];
/// Tokens that embedders and classifiers read, and those that verifiers do.
const MAX_TOKENS: usize = 16;
const VERIFIER_TOKENS: usize = 256;

/// What is made up: `model_type` of `config.json`, beginning of the class, prefix of the tensors.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Family(pub(crate) &'static str, &'static str, &'static str);

/// Architectures that may be verifiers.
pub(crate) const VERIFIERS: [Family; 2] = [FAMILIES[0], FAMILIES[5]];

/// BERT first.
pub(crate) const FAMILIES: [Family; 6] = [
    Family("bert", "Bert", "bert."),
    Family("roberta", "Roberta", "roberta."),
    Family("xlm-roberta", "XLMRoberta", "roberta."),
    Family("deberta-v2", "DebertaV2", "deberta."),
    Family("modernbert", "ModernBert", "model."),
    Family("mpnet", "MPNet", "mpnet."),
];

/// A new folder with a model, and the temporary one around it.
pub(crate) fn folder(family: Family, classifier: bool) -> (tempfile::TempDir, PathBuf) {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("tiny");
    std::fs::create_dir(&path).unwrap();
    write(&path, family, classifier);
    (parent, path)
}

/// The same with a verifier.
pub(crate) fn verifier(family: Family) -> (tempfile::TempDir, PathBuf) {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("tiny");
    std::fs::create_dir(&path).unwrap();
    write_verifier(&path, family);
    (parent, path)
}

/// Loads a folder or a GGUF file.
pub(crate) fn load(path: &Path) -> Result<Model, String> {
    let source =
        if path.is_dir() { ModelSource::Folder(path.into()) } else { ModelSource::Gguf(path.into()) };
    Model::load(&source, None).map_err(|error| error.to_string())
}

/// Largest difference between two rows.
pub(crate) fn difference(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

/// Writes the folder of a two-layer model that reads 16 tokens: an embedder with cls pooling, or a classifier with the labels
/// in an unusual order. Weights are fixed pseudo-random numbers.
pub(crate) fn write(folder: &Path, family: Family, classifier: bool) {
    let Family(model_type, class, prefix) = family;
    save(folder, "config.json", &config(model_type, class, classifier));
    save(folder, "tokenizer.json", &tokenizer(WORDS, [2, 3]));
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
    let prefix = if classifier { prefix } else { "" };
    let mut tensors = BTreeMap::new();
    for (name, shape) in encoder(model_type, MAX_TOKENS) {
        tensors.insert(format!("{prefix}{name}"), shape);
    }
    if classifier {
        tensors.extend(head(model_type));
    }
    write_tensors(folder, &tensors);
}

/// Writes the folder of a verifier that reads 256 tokens. Its tokenizer's configuration does not mention segments, which a verifier
/// has where its architecture has them.
pub(crate) fn write_verifier(folder: &Path, family: Family) {
    let Family(model_type, class, prefix) = family;
    let mut description = config(model_type, class, true);
    let positions = if model_type == "mpnet" { VERIFIER_TOKENS + 2 } else { VERIFIER_TOKENS };
    description["max_position_embeddings"] = json!(positions);
    description["lyra_task"] = json!("verifier");
    description["lyra_threshold"] = json!(0.625);
    description["lyra_threshold_precision"] = json!(0.9);
    save(folder, "config.json", &description);
    let (words, frame) = if model_type == "mpnet" { (MPNET_WORDS, [0, 2]) } else { (WORDS, [2, 3]) };
    save(folder, "tokenizer.json", &tokenizer(words, frame));
    save(
        folder,
        "tokenizer_config.json",
        &json!({
            "tokenizer_class": "PreTrainedTokenizerFast", "cls_token": words[frame[0]], "sep_token": words[frame[1]],
            "model_max_length": VERIFIER_TOKENS, "model_input_names": ["input_ids", "attention_mask"],
        }),
    );
    let mut tensors = BTreeMap::new();
    for (name, shape) in encoder(model_type, VERIFIER_TOKENS) {
        tensors.insert(format!("{prefix}{name}"), shape);
    }
    tensors.extend(head(model_type));
    tensors.insert("rationale.weight".to_owned(), vec![1, HIDDEN]);
    tensors.insert("rationale.bias".to_owned(), vec![1]);
    write_tensors(folder, &tensors);
}

fn write_tensors(folder: &Path, tensors: &BTreeMap<String, Vec<usize>>) {
    let bytes: BTreeMap<_, _> = tensors.iter().map(|(name, shape)| (name, values(name, shape))).collect();
    let views = tensors
        .iter()
        .map(|(name, shape)| (name, TensorView::new(Dtype::F32, shape.clone(), &bytes[name]).unwrap()));
    let file = safetensors::serialize(views, None).unwrap();
    std::fs::write(folder.join("model.safetensors"), file).unwrap();
}

/// Makes the model of a folder answer every input that has one of these words with numbers that are not finite.
pub(crate) fn poison(folder: &Path, words: &[&str]) {
    let path = folder.join("model.safetensors");
    let bytes = std::fs::read(&path).unwrap();
    let file = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let tensors = file.tensors().into_iter().map(|(name, view)| {
        let mut data = view.data().to_vec();
        if name.ends_with("embeddings.word_embeddings.weight") {
            for row in words.iter().map(|word| WORDS.iter().position(|known| known == word).unwrap()) {
                data[row * HIDDEN * 4..][..4].copy_from_slice(&f32::NAN.to_le_bytes());
            }
        }
        (name, (view.dtype(), view.shape().to_vec(), data))
    });
    let tensors: BTreeMap<_, _> = tensors.collect();
    let views = tensors
        .iter()
        .map(|(name, (dtype, shape, data))| (name, TensorView::new(*dtype, shape.clone(), data).unwrap()));
    std::fs::write(&path, safetensors::serialize(views, None).unwrap()).unwrap();
}

fn config(model_type: &str, class: &str, classifier: bool) -> Value {
    let class = format!("{class}{}", if classifier { "ForSequenceClassification" } else { "Model" });
    let mut config = json!({
        "architectures": [class], "model_type": model_type, "hidden_act": "gelu", "hidden_size": HIDDEN,
        "intermediate_size": WIDE, "layer_norm_eps": 1e-12, "max_position_embeddings": MAX_TOKENS, "num_attention_heads": 4,
        "num_hidden_layers": LAYERS, "type_vocab_size": 2, "vocab_size": WORDS.len(),
        "id2label": {"0": "neutral", "1": "contradiction", "2": "entailment"},
    });
    let own = match model_type {
        "roberta" | "xlm-roberta" => {
            json!({"max_position_embeddings": 17, "pad_token_id": 0, "type_vocab_size": 1})
        }
        "deberta-v2" => json!({
            "type_vocab_size": 0, "relative_attention": true, "pos_att_type": "p2c|c2p", "position_buckets": 4,
            "share_att_key": true, "norm_rel_ebd": "layer_norm", "position_biased_input": false,
            "pooler_hidden_act": "gelu", "conv_kernel_size": 3, "conv_act": "gelu",
        }),
        "mpnet" => json!({"max_position_embeddings": MAX_TOKENS + 2, "relative_attention_num_buckets": 32}),
        "modernbert" => json!({
            "hidden_activation": "gelu", "norm_eps": 1e-5, "local_attention": 4, "global_attn_every_n_layers": 2,
            "pad_token_id": 0,
        }),
        _ => json!({}),
    };
    for (key, value) in own.as_object().unwrap() {
        config[key] = value.clone();
    }
    config
}

fn save(folder: &Path, name: &str, value: &Value) {
    std::fs::write(folder.join(name), value.to_string()).unwrap();
}

/// A tokenizer of these words. `frame` has the numbers of those that stand before and after a text; in pairs of an MPNet the latter
/// stands twice between the texts.
fn tokenizer(words: [&str; 8], frame: [usize; 2]) -> Value {
    let [first, separator] = frame.map(|id| words[id]);
    let vocab: BTreeMap<_, _> = words.iter().enumerate().map(|(id, word)| (*word, id)).collect();
    let special = |id: usize| {
        json!({
            "id": id, "content": words[id], "single_word": false, "lstrip": false, "rstrip": false, "normalized": false,
            "special": true
        })
    };
    let token = |name: &str, type_id: usize| json!({"SpecialToken": {"id": name, "type_id": type_id}});
    let text = |name: &str, type_id: usize| json!({"Sequence": {"id": name, "type_id": type_id}});
    let between = vec![token(separator, 0); if first == "<s>" { 2 } else { 1 }];
    let pair =
        [vec![token(first, 0), text("A", 0)], between, vec![text("B", 1), token(separator, 1)]].concat();
    let mut specials = [0, frame[0], frame[1]];
    specials.sort_unstable();
    let mut specials = specials.to_vec();
    specials.dedup();
    let specials: Vec<_> = specials.into_iter().map(special).collect();
    json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": specials,
        "normalizer": null, "pre_tokenizer": {"type": "Whitespace"}, "decoder": null,
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [token(first, 0), text("A", 0), token(separator, 0)],
            "pair": pair,
            "special_tokens": {
                first: {"id": first, "ids": [frame[0]], "tokens": [first]},
                separator: {"id": separator, "ids": [frame[1]], "tokens": [separator]},
            },
        },
        "model": {"type": "WordLevel", "vocab": vocab, "unk_token": "[UNK]"},
    })
}

/// Names and shapes of tensors as they are collected.
#[derive(Default)]
struct Shapes(Vec<(String, Vec<usize>)>);

impl Shapes {
    fn table(&mut self, name: &str, rows: usize, columns: usize) {
        self.0.push((format!("{name}.weight"), vec![rows, columns]));
    }

    fn linear(&mut self, name: &str, outputs: usize, inputs: usize) {
        self.table(name, outputs, inputs);
        self.0.push((format!("{name}.bias"), vec![outputs]));
    }

    fn norm(&mut self, name: &str) {
        self.gain(name);
        self.0.push((format!("{name}.bias"), vec![HIDDEN]));
    }

    fn gain(&mut self, name: &str) {
        self.0.push((format!("{name}.weight"), vec![HIDDEN]));
    }
}

fn encoder(model_type: &str, max_tokens: usize) -> Vec<(String, Vec<usize>)> {
    let mut shapes = Shapes::default();
    if model_type == "modernbert" {
        shapes.table("embeddings.tok_embeddings", WORDS.len(), HIDDEN);
        shapes.gain("embeddings.norm");
        shapes.gain("final_norm");
        for index in 0..LAYERS {
            let at = |part: &str| format!("layers.{index}.{part}");
            if index > 0 {
                shapes.gain(&at("attn_norm"));
            }
            shapes.table(&at("attn.Wqkv"), 3 * HIDDEN, HIDDEN);
            shapes.table(&at("attn.Wo"), HIDDEN, HIDDEN);
            shapes.gain(&at("mlp_norm"));
            shapes.table(&at("mlp.Wi"), 2 * WIDE, HIDDEN);
            shapes.table(&at("mlp.Wo"), HIDDEN, WIDE);
        }
        return shapes.0;
    }
    shapes.table("embeddings.word_embeddings", WORDS.len(), HIDDEN);
    shapes.norm("embeddings.LayerNorm");
    let suffix = if model_type == "deberta-v2" {
        shapes.table("encoder.rel_embeddings", 8, HIDDEN);
        shapes.norm("encoder.LayerNorm");
        shapes.0.push(("encoder.conv.conv.weight".to_owned(), vec![HIDDEN, HIDDEN, 3]));
        shapes.0.push(("encoder.conv.conv.bias".to_owned(), vec![HIDDEN]));
        shapes.norm("encoder.conv.LayerNorm");
        "_proj"
    } else if model_type == "mpnet" {
        shapes.table("embeddings.position_embeddings", max_tokens + 2, HIDDEN);
        shapes.table("encoder.relative_attention_bias", 32, 4);
        ""
    } else {
        let [positions, segments] = if model_type == "bert" { [max_tokens, 2] } else { [max_tokens + 1, 1] };
        shapes.table("embeddings.position_embeddings", positions, HIDDEN);
        shapes.table("embeddings.token_type_embeddings", segments, HIDDEN);
        shapes.linear("pooler.dense", HIDDEN, HIDDEN);
        ""
    };
    for index in 0..LAYERS {
        let at = |part: &str| format!("encoder.layer.{index}.{part}");
        if model_type == "mpnet" {
            for part in ["q", "k", "v", "o"] {
                shapes.linear(&at(&format!("attention.attn.{part}")), HIDDEN, HIDDEN);
            }
            shapes.norm(&at("attention.LayerNorm"));
        } else {
            for part in ["query", "key", "value"] {
                shapes.linear(&at(&format!("attention.self.{part}{suffix}")), HIDDEN, HIDDEN);
            }
            shapes.linear(&at("attention.output.dense"), HIDDEN, HIDDEN);
            shapes.norm(&at("attention.output.LayerNorm"));
        }
        shapes.linear(&at("intermediate.dense"), WIDE, HIDDEN);
        shapes.linear(&at("output.dense"), HIDDEN, WIDE);
        shapes.norm(&at("output.LayerNorm"));
    }
    shapes.0
}

fn head(model_type: &str) -> Vec<(String, Vec<usize>)> {
    let mut shapes = Shapes::default();
    match model_type {
        "roberta" | "xlm-roberta" | "mpnet" => {
            shapes.linear("classifier.dense", HIDDEN, HIDDEN);
            shapes.linear("classifier.out_proj", 3, HIDDEN);
            return shapes.0;
        }
        "deberta-v2" => shapes.linear("pooler.dense", HIDDEN, HIDDEN),
        "modernbert" => {
            shapes.table("head.dense", HIDDEN, HIDDEN);
            shapes.gain("head.norm");
        }
        _ => {}
    }
    shapes.linear("classifier", 3, HIDDEN);
    shapes.0
}

/// Little-endian f32 from a linear congruential generator, different for every tensor; gains are near 1.
fn values(name: &str, shape: &[usize]) -> Vec<u8> {
    let mut state =
        name.bytes().fold(17u32, |hash, byte| hash.wrapping_mul(31).wrapping_add(u32::from(byte)));
    let norm = shape.len() == 1 && name.ends_with(".weight");
    let gain = if norm { 1.0 } else { 0.0 };
    let next = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (gain + ((state >> 8) as f32 / 16_777_216.0 - 0.5) * 0.4).to_le_bytes()
    };
    (0..shape.iter().product::<usize>()).flat_map(next).collect()
}
