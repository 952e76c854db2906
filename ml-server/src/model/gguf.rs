//! Weights and metadata from one GGUF file created by [`quantize`](super::quantize::quantize).
//!
//! Tensors keep the names of the original model. Next to the `general.*` keys that other tools show, the file contains
//! everything for serving: the original configuration, the tokenizer, pooling, length limit, languages, license.

mod container;

use std::collections::HashMap;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use super::weights::{HostTensor, WeightSource};
use crate::error::Error;
use container::{Header, Value};

pub(super) use container::{Value as Metadatum, write};

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
    header: Header,
}

impl GgufFile {
    /// Opens a file and reads its metadata.
    ///
    /// # Errors
    /// It is not GGUF, is truncated, was not created by `quantize`, or was created by a newer version.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let mut file = BufReader::with_capacity(1 << 20, File::open(path).map_err(Error::io(path))?);
        let header = Header::read(&mut file).map_err(|error| Error::malformed(path, error))?;
        match header.metadata.get(keys::FORMAT_VERSION) {
            Some(Value::Unsigned(version)) if *version <= u64::from(FORMAT_VERSION) => {
                Ok(Self { path: path.to_owned(), file, header })
            }
            Some(Value::Unsigned(version)) => {
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
        text(self.header.metadata.get(key)?)
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
        match self.header.metadata.get(key)? {
            Value::Unsigned(number) => usize::try_from(*number).ok(),
            _ => None,
        }
    }

    /// A truth value from the metadata.
    pub fn flag(&self, key: &str) -> Option<bool> {
        match self.header.metadata.get(key)? {
            Value::Flag(flag) => Some(*flag),
            _ => None,
        }
    }

    /// A list of texts from the metadata; empty when absent.
    pub fn texts(&self, key: &str) -> Vec<String> {
        let Some(Value::List(values)) = self.header.metadata.get(key) else { return Vec::new() };
        values.iter().filter_map(text).map(str::to_owned).collect()
    }
}

fn text(value: &Value) -> Option<&str> {
    match value {
        Value::Text(text) => Some(text),
        _ => None,
    }
}

impl WeightSource for GgufFile {
    fn contains(&self, name: &str) -> bool {
        self.header.tensors.contains_key(name)
    }

    fn tensor(&mut self, name: &str) -> Result<HostTensor, Error> {
        let damaged = |error| Error::malformed(&self.path, format!("tensor {name}: {error}"));
        let place = self.header.tensors.get(name).ok_or_else(|| damaged("it is missing".to_owned()))?;
        self.header.tensor(&mut self.file, place).map_err(damaged)
    }

    fn path(&self) -> PathBuf {
        self.path.clone()
    }

    fn dtype(&self) -> String {
        let mut sizes: HashMap<_, usize> = HashMap::new();
        for place in self.header.tensors.values() {
            let size = sizes.entry(place.kind).or_default();
            *size = size.saturating_add(place.shape.iter().copied().fold(1, usize::saturating_mul));
        }
        sizes
            .into_iter()
            .max_by_key(|(_, size)| *size)
            .map_or_else(|| "empty".to_owned(), |(kind, _)| kind.name())
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = self.header.tensors.keys().cloned().collect();
        names.sort();
        names
    }
}
