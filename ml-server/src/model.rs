//! Models: what they are, how they are read, and how they turn tokens into numbers.

pub mod attention;
pub mod bert;
pub mod bundle;
pub mod convolution;
pub mod deberta;
pub mod encoder;
pub mod gguf;
pub mod head;
pub mod hub;
pub mod labels;
pub mod modernbert;
pub mod ops;
pub mod pickle;
pub mod quantize;
pub mod relative;
pub mod roberta;
pub mod rotary;
pub mod safetensors;
pub mod sharded;
pub mod spec;
pub mod tokenizer;
pub mod weights;

use std::path::PathBuf;

use rayon::prelude::*;

use self::bundle::Bundle;
use self::encoder::Encoder;
use self::head::Head;
use self::hub::HubModel;
use self::spec::{Architecture, ModelSpec, Task};
use self::tokenizer::{TextTokenizer, Tokens};
use crate::error::Error;

pub use self::spec::SUPPORTED_ARCHITECTURES;

/// Tokens that one thread takes at a time: enough for full-speed products, few enough that the widest buffer stays in
/// the second-level cache.
const CHUNK_TOKENS: usize = 256;

/// Where a model is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelSource {
    /// A folder with `config.json`, `tokenizer.json` and weights.
    Folder(PathBuf),
    /// A file made by `lyra-ml-server quantize`.
    Gguf(PathBuf),
    /// A repository on the hub.
    Hub(HubModel),
}

impl ModelSource {
    /// What `text` means on the command line: a path that ends in `.gguf`, a folder that exists, or else a hub id,
    /// of which `revision` is used unless the text has one after an `@`.
    pub fn parse(text: &str, revision: Option<&str>, offline: bool) -> Self {
        let path = PathBuf::from(text);
        if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gguf")) {
            Self::Gguf(path)
        } else if path.is_dir() || path.is_absolute() || text.starts_with('.') {
            Self::Folder(path)
        } else {
            Self::Hub(HubModel::parse(text, revision, offline))
        }
    }

    /// Short name for messages.
    pub fn name(&self) -> String {
        match self {
            Self::Folder(path) => {
                path.file_name().map_or_else(|| path.display().to_string(), |n| n.to_string_lossy().into())
            }
            Self::Gguf(path) => {
                path.file_stem().map_or_else(|| path.display().to_string(), |n| n.to_string_lossy().into())
            }
            Self::Hub(model) => model.repo.clone(),
        }
    }

    fn open(&self) -> Result<Bundle, Error> {
        match self {
            Self::Folder(path) => Bundle::from_folder(path, &self.name()),
            Self::Gguf(path) => Bundle::from_gguf(path),
            Self::Hub(model) => {
                let (folder, commit) = model.fetch()?;
                let mut bundle = Bundle::from_folder(&folder, &model.repo)?;
                bundle.spec.revision = commit;
                Ok(bundle)
            }
        }
    }
}

/// A loaded model.
pub struct Model {
    /// Description.
    pub spec: ModelSpec,
    /// Texts to tokens.
    pub tokenizer: TextTokenizer,
    /// Type that most of the weights are stored in.
    pub dtype: String,
    encoder: Encoder,
    head: Head,
}

impl Model {
    /// Reads a model, with its limit lowered to `max_tokens` where that is given.
    ///
    /// # Errors
    /// When it cannot be found, is damaged, or is of an unsupported architecture.
    pub fn load(source: &ModelSource, max_tokens: Option<usize>) -> Result<Self, Error> {
        let Bundle { mut spec, tokenizer, mut weights } = source.open()?;
        spec.max_tokens = max_tokens.map_or(spec.max_tokens, |limit| limit.min(spec.max_tokens));
        let path = weights.path();
        let build = match spec.architecture {
            Architecture::Bert => bert::build,
            Architecture::Roberta | Architecture::XlmRoberta => roberta::build,
            Architecture::DebertaV2 => deberta::build,
            Architecture::ModernBert => modernbert::build,
        };
        let (encoder, head) = build(&spec, weights.as_mut())?;
        // A tokenizer may number segments that the model does not tell apart.
        spec.segments &= encoder.embeddings.segments.as_ref().is_some_and(|segments| segments.rows() > 1);
        let tokenizer = TextTokenizer::from_json(&tokenizer, spec.max_tokens, spec.segments)
            .map_err(|e| Error::malformed(&path, e))?;
        let (known, rows) = (tokenizer.vocabulary(), encoder.embeddings.words.rows());
        if known > rows {
            let reason = format!("the tokenizer has {known} ids but the word table only {rows} rows");
            return Err(Error::malformed(&path, reason));
        }
        Ok(Self { spec, tokenizer, dtype: weights.dtype(), encoder, head })
    }

    /// One row per input, in order: a pooled vector (not normalised) or logits.
    ///
    /// Work is spread over the rayon pool that this runs in. A row does not depend on the other inputs.
    pub fn run(&self, batch: &[&Tokens]) -> Vec<Vec<f32>> {
        let chunks = chunks(batch);
        if let [chunk] = chunks.as_slice() {
            return self.head.apply(&self.encoder.forward(chunk));
        }
        chunks.into_par_iter().flat_map_iter(|chunk| self.head.apply(&self.encoder.forward(chunk))).collect()
    }

    /// Length of an embedding, or number of labels.
    pub fn dimension(&self) -> usize {
        match &self.spec.task {
            Task::Embed(_) => self.encoder.hidden,
            Task::Classify(labels) => labels.len(),
        }
    }
}

/// Cuts a batch into runs of about [`CHUNK_TOKENS`]; a longer input is a run of its own.
fn chunks<'a, 'b>(mut batch: &'b [&'a Tokens]) -> Vec<&'b [&'a Tokens]> {
    let mut chunks = Vec::new();
    while !batch.is_empty() {
        let mut tokens = 0;
        let fitting = batch.iter().take_while(|input| {
            tokens += input.len();
            tokens <= CHUNK_TOKENS
        });
        let (chunk, rest) = batch.split_at(fitting.count().max(1));
        chunks.push(chunk);
        batch = rest;
    }
    chunks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(length: usize) -> Tokens {
        Tokens { ids: vec![1; length], type_ids: vec![0; length] }
    }

    #[test]
    fn chunks_keep_order_and_lose_nothing() {
        let inputs: Vec<_> = [300, 10, 200, 100, 2, 256].map(tokens).to_vec();
        let batch: Vec<_> = inputs.iter().collect();
        let lengths: Vec<Vec<usize>> =
            chunks(&batch).into_iter().map(|chunk| chunk.iter().map(|input| input.len()).collect()).collect();
        assert_eq!(lengths, [vec![300], vec![10, 200], vec![100, 2], vec![256]]);
        assert!(chunks(&[]).is_empty());
    }

    #[test]
    fn sources_are_told_apart() {
        assert!(matches!(ModelSource::parse("a/b.gguf", None, false), ModelSource::Gguf(_)));
        assert!(matches!(ModelSource::parse("./nowhere", None, false), ModelSource::Folder(_)));
        let hub = ModelSource::parse("BAAI/bge-m3", Some("v1"), true);
        let want = HubModel { repo: "BAAI/bge-m3".into(), revision: Some("v1".into()), offline: true };
        assert_eq!(hub, ModelSource::Hub(want));
    }
}
