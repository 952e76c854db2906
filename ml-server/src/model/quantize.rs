//! `lyra-ml-server quantize`: a model folder into one GGUF file that is enough to serve it.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::bundle::Bundle;
use super::gguf::{FORMAT_VERSION, Metadatum as Value, keys, write};
use super::spec::{ModelSpec, Task};
use super::weights::{HostTensor, Q8_0_BLOCK, TensorData, to_q8_0};
use crate::error::Error;

/// Metadata missing from the folder.
#[derive(Debug, Clone, Default)]
pub struct Metadata {
    /// Name; the folder's name when absent.
    pub name: Option<String>,
    /// Languages that the model reads, as BCP 47 tags.
    pub languages: Vec<String>,
    /// License of the weights, an SPDX expression.
    pub license: Option<String>,
    /// Origin of the original weights.
    pub source: Option<String>,
    /// Longest input in tokens, if below the folder's limit.
    pub max_tokens: Option<usize>,
}

/// The written file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Tensors stored as `Q8_0`.
    pub quantised: usize,
    /// Tensors stored as f32.
    pub plain: usize,
    /// Size of the file in bytes.
    pub bytes: u64,
}

/// Writes the model in `folder` to `output`: matrices (word table included) as `Q8_0`, the small rest as f32.
///
/// Position, distance and segment tables stay f32, and so does a classifier's last layer: they are small, and rounding
/// them costs the most accuracy per byte. The file gets its name only once it is complete.
///
/// # Errors
/// When the folder cannot be served (see [`Bundle::from_folder`]) or the file cannot be written.
pub fn quantize(folder: &Path, output: &Path, metadata: &Metadata) -> Result<Summary, Error> {
    let folder_name = folder.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = metadata.name.clone().or(folder_name).unwrap_or_else(|| "model".to_owned());
    let Bundle { mut spec, tokenizer, mut weights } = Bundle::from_folder(folder, &name)?;
    spec.languages.clone_from(&metadata.languages);
    spec.license.clone_from(&metadata.license);
    spec.source.clone_from(&metadata.source);
    spec.max_tokens = metadata.max_tokens.map_or(spec.max_tokens, |limit| limit.min(spec.max_tokens));

    let mut tensors = Vec::new();
    for name in weights.names().into_iter().filter(|name| is_weight(name, &spec.task)) {
        let HostTensor { shape, data } = weights.tensor(&name)?;
        let values = HostTensor { shape: shape.clone(), data }.into_f32();
        let data = if quantises(&name, &shape) {
            TensorData::Q8_0(to_q8_0(&values))
        } else {
            TensorData::F32(values)
        };
        tensors.push((name, HostTensor { shape, data }));
    }
    let pairs = describe(&spec, &tokenizer);

    let partial = partial_path(output);
    let mut file = BufWriter::new(File::create(&partial).map_err(Error::io(&partial))?);
    write(&mut file, &pairs, &tensors).and_then(|()| file.flush()).map_err(Error::io(&partial))?;
    std::fs::rename(&partial, output).map_err(Error::io(output))?;

    let quantised = tensors.iter().filter(|(_, tensor)| matches!(tensor.data, TensorData::Q8_0(_))).count();
    let bytes = std::fs::metadata(output).map_err(Error::io(output))?.len();
    Ok(Summary { quantised, plain: tensors.len() - quantised, bytes })
}

/// Leaves out what serving never reads: position ids that some exports store, and the pooler of an embedder.
fn is_weight(name: &str, task: &Task) -> bool {
    let pooler = name.contains("pooler.") && matches!(task, Task::Embed(_));
    !name.ends_with("position_ids") && !pooler
}

fn quantises(name: &str, shape: &[usize]) -> bool {
    let small = [
        "rel_embeddings",
        "relative_attention_bias",
        "token_type_embeddings",
        "classifier.weight",
        "classifier.out_proj",
        "rationale",
    ];
    let kept = small.iter().any(|part| name.contains(part));
    !kept && matches!(shape, [_, columns] if columns.is_multiple_of(Q8_0_BLOCK))
}

fn describe(spec: &ModelSpec, tokenizer: &[u8]) -> Vec<(&'static str, Value)> {
    let text = |text: &str| Value::Text(text.to_owned());
    let mut pairs = vec![
        (keys::ARCHITECTURE, text(spec.architecture.name())),
        (keys::NAME, text(&spec.name)),
        ("general.file_type", Value::Unsigned(7)),
        ("general.quantization_version", Value::Unsigned(2)),
        (keys::FORMAT_VERSION, Value::Unsigned(u64::from(FORMAT_VERSION))),
        (keys::CONFIG, text(&spec.config.to_string())),
        (keys::MAX_TOKENS, Value::Unsigned(spec.max_tokens as u64)),
        (keys::TOKENIZER, text(&String::from_utf8_lossy(tokenizer))),
    ];
    if !spec.segments {
        pairs.push((keys::SEGMENTS, Value::Flag(false)));
    }
    pairs.extend(spec.license.as_deref().map(|license| (keys::LICENSE, text(license))));
    pairs.extend(spec.source.as_deref().map(|source| (keys::SOURCE, text(source))));
    if !spec.languages.is_empty() {
        pairs.push((keys::LANGUAGES, Value::List(spec.languages.iter().map(|tag| text(tag)).collect())));
    }
    if let Task::Embed(pooling) = spec.task {
        pairs.push((keys::POOLING, text(&pooling.to_string())));
    }
    if !spec.prompts.is_empty() {
        pairs.push((keys::PROMPTS, text(&serde_json::json!(spec.prompts).to_string())));
    }
    pairs
}

fn partial_path(output: &Path) -> PathBuf {
    let mut name = output.as_os_str().to_owned();
    name.push(".partial");
    PathBuf::from(name)
}
