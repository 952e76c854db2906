//! Weights and metadata from one GGUF file created by [`quantize`](super::quantize::quantize).
//!
//! Tensors keep the names of the original model. Next to the `general.*` keys that other tools show, the file contains
//! everything for serving: the original configuration, the tokenizer, pooling, length limit, languages, license.

use std::collections::HashMap;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use candle_core::Device;
use candle_core::quantized::GgmlDType;
use candle_core::quantized::gguf_file::{Content, Value};

use super::weights::{HostTensor, TensorData, WeightSource};
use crate::error::Error;

/// Version of the metadata below; a file with a higher one is refused.
pub const FORMAT_VERSION: u32 = 1;
/// Metadata keys that are ours or shared with other tools.
pub mod keys {
    /// Architecture family, for example `bert`.
    pub const ARCHITECTURE: &str = "general.architecture";
    /// Name of the model.
    pub const NAME: &str = "general.name";
    /// License, an SPDX expression.
    pub const LICENSE: &str = "general.license";
    /// Origin of the original weights.
    pub const SOURCE: &str = "general.source.url";
    /// Languages, an array of BCP 47 tags.
    pub const LANGUAGES: &str = "general.languages";
    /// The original `tokenizer.json`.
    pub const TOKENIZER: &str = "tokenizer.huggingface.json";
    /// [`FORMAT_VERSION`](super::FORMAT_VERSION) of the writer.
    pub const FORMAT_VERSION: &str = "lyra.format_version";
    /// The original `config.json`: hyper-parameters and labels.
    pub const CONFIG: &str = "lyra.config";
    /// `mean` or `cls`; absent for a classifier.
    pub const POOLING: &str = "lyra.pooling";
    /// Longest input in tokens.
    pub const MAX_TOKENS: &str = "lyra.max_tokens";
    /// Whether pairs use segment ids; absent means yes.
    pub const SEGMENTS: &str = "lyra.segments";
    /// Prompts by name, a JSON object.
    pub const PROMPTS: &str = "lyra.prompts";
}

/// An open GGUF file.
pub struct GgufFile {
    path: PathBuf,
    file: BufReader<File>,
    content: Content,
}

impl GgufFile {
    /// Opens a file and reads its metadata.
    ///
    /// # Errors
    /// It is not GGUF, is truncated, was not created by `quantize`, or was created by a newer version.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let mut file = BufReader::with_capacity(1 << 20, File::open(path).map_err(Error::io(path))?);
        let content = Content::read(&mut file).map_err(|error| Error::malformed(path, error))?;
        let this = Self { path: path.to_owned(), file, content };
        match this.content.metadata.get(keys::FORMAT_VERSION).map(Value::to_u32) {
            Some(Ok(version)) if version <= FORMAT_VERSION => Ok(this),
            Some(Ok(version)) => {
                let reason = format!(
                    "written by a newer version (format {version}); this one reads up to {FORMAT_VERSION}"
                );
                Err(Error::malformed(path, reason))
            }
            _ => Err(Error::malformed(
                path,
                "this GGUF lacks a configuration and a tokenizer; create one with `lyra-ml-server quantize`",
            )),
        }
    }

    /// A text from the metadata.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.content.metadata.get(key)?.to_string().ok().map(String::as_str)
    }

    /// A text that every file must have.
    ///
    /// # Errors
    /// When the key is absent.
    pub fn required(&self, key: &str) -> Result<&str, Error> {
        self.text(key).ok_or_else(|| Error::malformed(&self.path, format!("metadata key {key} is missing")))
    }

    /// A whole number from the metadata.
    pub fn number(&self, key: &str) -> Option<usize> {
        self.content.metadata.get(key)?.to_u64().ok().map(|number| number as usize)
    }

    /// A truth value from the metadata.
    pub fn flag(&self, key: &str) -> Option<bool> {
        self.content.metadata.get(key)?.to_bool().ok()
    }

    /// A list of texts from the metadata; empty when absent.
    pub fn texts(&self, key: &str) -> Vec<String> {
        let values = self.content.metadata.get(key).and_then(|value| value.to_vec().ok());
        values.into_iter().flatten().filter_map(|value| value.to_string().ok().cloned()).collect()
    }
}

impl WeightSource for GgufFile {
    fn contains(&self, name: &str) -> bool {
        self.content.tensor_infos.contains_key(name)
    }

    fn tensor(&mut self, name: &str) -> Result<HostTensor, Error> {
        let damaged = |error| Error::malformed(&self.path, format!("tensor {name}: {error}"));
        let tensor = self.content.tensor(&mut self.file, name, &Device::Cpu).map_err(damaged)?;
        let shape = tensor.shape().dims().to_vec();
        let data = if tensor.dtype() == GgmlDType::Q8_0 {
            TensorData::Q8_0(tensor.data().map_err(damaged)?.into_owned())
        } else {
            let values = tensor.dequantize(&Device::Cpu).and_then(|t| t.flatten_all()?.to_vec1::<f32>());
            TensorData::F32(values.map_err(damaged)?)
        };
        Ok(HostTensor { shape, data })
    }

    fn path(&self) -> PathBuf {
        self.path.clone()
    }

    fn dtype(&self) -> String {
        let mut sizes: HashMap<String, usize> = HashMap::new();
        for info in self.content.tensor_infos.values() {
            *sizes.entry(format!("{:?}", info.ggml_dtype).to_lowercase()).or_default() +=
                info.shape.elem_count();
        }
        sizes.into_iter().max_by_key(|(_, size)| *size).map_or_else(|| "empty".to_owned(), |(dtype, _)| dtype)
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = self.content.tensor_infos.keys().cloned().collect();
        names.sort();
        names
    }
}
