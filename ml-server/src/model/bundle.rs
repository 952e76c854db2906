//! A model on disk, read as far as its description: a folder, a GGUF file, or a hub snapshot.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::gguf::{GgufFile, keys};
use super::head::Pooling;
use super::pickle::PickleFile;
use super::prompts;
use super::safetensors::SafetensorsFile;
use super::sharded::{PICKLE_INDEX, Sharded};
use super::spec::{ModelSpec, Task, detect};
use super::weights::{WeightSource, files};
use crate::error::Error;

/// A model's description, tokenizer and (unread) weights.
pub struct Bundle {
    /// Description.
    pub spec: ModelSpec,
    /// The `tokenizer.json`.
    pub tokenizer: Vec<u8>,
    /// Open file of weights.
    pub weights: Box<dyn WeightSource>,
}

impl Bundle {
    /// Opens a GGUF file created by `quantize`.
    ///
    /// # Errors
    /// When it is damaged, incomplete, or of an unsupported architecture.
    pub fn from_gguf(path: &Path) -> Result<Self, Error> {
        let file = GgufFile::open(path)?;
        let config = json(file.required(keys::CONFIG)?.as_bytes(), path)?;
        let name = file.required(keys::NAME)?.to_owned();
        let (architecture, task) = detect(&name, &config, path, file.text(keys::POOLING).is_some())?;
        let task = match task {
            Some(task) => task,
            None => Task::Embed(pooling(file.required(keys::POOLING)?, path)?),
        };
        let prompts = file.text(keys::PROMPTS).map_or(Ok(Value::Null), |text| json(text.as_bytes(), path))?;
        let prompts = prompts::stated_or_known(&name, serde_json::from_value(prompts).unwrap_or_default());
        let max_tokens = file
            .number(keys::MAX_TOKENS)
            .ok_or_else(|| Error::malformed(path, format!("metadata key {} is missing", keys::MAX_TOKENS)))?;
        let spec = ModelSpec {
            name,
            revision: None,
            architecture,
            task,
            max_tokens: architecture
                .positions(&config)
                .map_or(max_tokens, |positions| positions.min(max_tokens)),
            config,
            segments: file.flag(keys::SEGMENTS).unwrap_or(true),
            languages: file.texts(keys::LANGUAGES),
            license: file.text(keys::LICENSE).map(str::to_owned),
            source: file.text(keys::SOURCE).map(str::to_owned),
            prompts,
        };
        let tokenizer = file.required(keys::TOKENIZER)?.as_bytes().to_vec();
        Ok(Self { spec, tokenizer, weights: Box::new(file) })
    }

    /// Opens a folder in the layout of `transformers` or `sentence-transformers`.
    ///
    /// `name` is what answers call the model.
    ///
    /// # Errors
    /// When a file is missing or damaged, or the architecture is not supported.
    pub fn from_folder(folder: &Path, name: &str) -> Result<Self, Error> {
        let folder = Folder { path: folder, name };
        let config_path = folder.path.join("config.json");
        let config = folder.json("config.json", "is this the folder of a model?")?;
        let (architecture, task) = detect(name, &config, &config_path, folder.path.join(MODULES).is_file())?;
        let task = task.map_or_else(|| folder.pooling().map(Task::Embed), Ok)?;
        let tokenizer =
            folder.read("tokenizer.json", "a fast tokenizer is needed; convert it with `transformers`")?;
        let weights = folder.weights()?;
        let spec = ModelSpec {
            name: name.to_owned(),
            revision: None,
            architecture,
            task,
            max_tokens: folder.max_tokens(architecture.positions(&config))?,
            config,
            segments: folder.segments()?,
            languages: Vec::new(),
            license: None,
            source: None,
            prompts: prompts::stated_or_known(
                name,
                folder
                    .optional::<SentenceTransformers>("config_sentence_transformers.json")?
                    .unwrap_or_default()
                    .prompts,
            ),
        };
        Ok(Self { spec, tokenizer, weights })
    }
}

/// The modules of an embedder of `sentence-transformers`.
pub(super) const MODULES: &str = "modules.json";

struct Folder<'a> {
    path: &'a Path,
    name: &'a str,
}

#[derive(Deserialize)]
struct Module {
    #[serde(rename = "type")]
    kind: String,
    path: String,
}

/// Either `pooling_mode`, which sentence-transformers writes since version 6, or a flag for each mode.
#[derive(Deserialize)]
struct PoolingConfig {
    pooling_mode: Option<PoolingModes>,
    #[serde(flatten)]
    rest: std::collections::BTreeMap<String, Value>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum PoolingModes {
    One(String),
    Several(Vec<String>),
}

impl PoolingConfig {
    /// Names of the modes, several of which would be concatenated; mean if the file has none.
    fn modes(self) -> Vec<String> {
        let modes = match self.pooling_mode {
            Some(PoolingModes::One(mode)) => vec![mode],
            Some(PoolingModes::Several(modes)) => modes,
            None => {
                let flag = |(key, value): (String, Value)| {
                    let mode = key.strip_prefix("pooling_mode_")?;
                    let mode = mode.strip_suffix("_tokens").or_else(|| mode.strip_suffix("_token"));
                    mode.filter(|_| value == true).map(str::to_owned)
                };
                self.rest.into_iter().filter_map(flag).collect()
            }
        };
        if modes.is_empty() { vec![Pooling::Mean.to_string()] } else { modes }
    }
}

#[derive(Deserialize)]
struct SentenceBert {
    max_seq_length: Option<usize>,
}

#[derive(Deserialize)]
struct TokenizerConfig {
    tokenizer_class: Option<String>,
    model_input_names: Option<Vec<String>>,
    // "No limit" is written as 10³⁰, which is a float.
    model_max_length: Option<f64>,
}

#[derive(Deserialize, Default)]
struct SentenceTransformers {
    #[serde(default)]
    prompts: std::collections::BTreeMap<String, String>,
}

impl Folder<'_> {
    fn missing(&self, file: &str, hint: &'static str) -> Error {
        Error::MissingFile { model: self.name.to_owned(), file: file.to_owned(), hint }
    }

    fn read(&self, file: &str, hint: &'static str) -> Result<Vec<u8>, Error> {
        let path = self.path.join(file);
        match fs::read(&path) {
            Ok(bytes) => Ok(bytes),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(self.missing(file, hint)),
            Err(error) => Err(Error::io(&path)(error)),
        }
    }

    fn json(&self, file: &str, hint: &'static str) -> Result<Value, Error> {
        json(&self.read(file, hint)?, &self.path.join(file))
    }

    fn optional<T: for<'de> Deserialize<'de>>(&self, file: &str) -> Result<Option<T>, Error> {
        let path = self.path.join(file);
        if !path.is_file() {
            return Ok(None);
        }
        let bytes = fs::read(&path).map_err(Error::io(&path))?;
        serde_json::from_slice(&bytes).map(Some).map_err(|error| Error::malformed(&path, error))
    }

    fn weights(&self) -> Result<Box<dyn WeightSource>, Error> {
        let file = |name: &str| Some(self.path.join(name)).filter(|path| path.is_file());
        if let Some(path) = file(files::WHOLE) {
            Ok(Box::new(SafetensorsFile::open(&path)?))
        } else if let Some(path) = file(files::INDEX) {
            Ok(Box::new(Sharded::open(&path, SafetensorsFile::open)?))
        } else if let Some(path) = file(files::PICKLE) {
            Ok(Box::new(PickleFile::open(&path)?))
        } else if let Some(path) = file(PICKLE_INDEX) {
            Ok(Box::new(Sharded::open(&path, PickleFile::open)?))
        } else {
            Err(self.missing(
                files::WHOLE,
                "sharded safetensors and pytorch_model.bin, whole or sharded, are missing as well",
            ))
        }
    }

    /// Pooling from `modules.json` and the configuration that it points to; mean by default, as in
    /// `sentence-transformers`.
    fn pooling(&self) -> Result<Pooling, Error> {
        let modules: Vec<Module> = self.optional(MODULES)?.unwrap_or_default();
        let Some(module) = modules.iter().find(|module| module.kind.ends_with(".Pooling")) else {
            return Ok(Pooling::Mean);
        };
        let file = PathBuf::from(&module.path).join("config.json");
        match self.optional::<PoolingConfig>(&file.to_string_lossy())? {
            Some(config) => pooling(&config.modes().join(" and "), &self.path.join(file)),
            None => Err(self.missing(&file.to_string_lossy(), "modules.json names it")),
        }
    }

    /// Whether `transformers` would pass segment ids to the model: if the tokenizer's configuration lists them among
    /// the inputs, or has no list and its class passes them by default, which the generic class no longer does since
    /// version 5.
    fn segments(&self) -> Result<bool, Error> {
        let Some(config) = self.optional::<TokenizerConfig>("tokenizer_config.json")? else {
            return Ok(true);
        };
        Ok(match config.model_input_names {
            Some(names) => names.iter().any(|name| name == "token_type_ids"),
            None => config.tokenizer_class.as_deref() != Some("TokenizersBackend"),
        })
    }

    /// The smallest limit in the folder's files.
    fn max_tokens(&self, positions: Option<usize>) -> Result<usize, Error> {
        let sentence = self.optional::<SentenceBert>("sentence_bert_config.json")?;
        let tokenizer = self.optional::<TokenizerConfig>("tokenizer_config.json")?;
        let limits = [
            sentence.and_then(|config| config.max_seq_length),
            tokenizer.and_then(|config| config.model_max_length).map(|length| length as usize),
            positions,
        ];
        limits.into_iter().flatten().min().ok_or_else(|| {
            let reason = "neither it nor the tokenizer's configuration states the model's token limit";
            Error::malformed(&self.path.join("config.json"), reason)
        })
    }
}

fn pooling(name: &str, path: &Path) -> Result<Pooling, Error> {
    Pooling::from_name(name)
        .ok_or_else(|| Error::malformed(path, format!("pooling `{name}` is neither mean nor cls")))
}

fn json(bytes: &[u8], path: &Path) -> Result<Value, Error> {
    serde_json::from_slice(bytes).map_err(|error| Error::malformed(path, error))
}
