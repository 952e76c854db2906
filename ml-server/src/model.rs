//! Models: their specification, loading, and inference.

pub mod attention;
pub mod bert;
pub mod bias;
pub mod bundle;
pub mod convolution;
#[cfg(feature = "cuda")]
pub mod cuda;
pub mod deberta;
pub mod device;
pub mod encoder;
pub mod gguf;
pub mod head;
pub mod hub;
pub mod kernels;
pub mod labels;
pub mod modernbert;
pub mod mpnet;
pub mod ops;
pub mod pickle;
pub(crate) mod prompts;
pub mod quantize;
pub mod relative;
pub mod roberta;
pub mod rotary;
pub mod safetensors;
pub mod sharded;
pub mod spec;
pub mod tokenizer;
pub mod verifier;
pub mod weights;

use std::path::PathBuf;

use rayon::prelude::*;

use self::bundle::Bundle;
use self::device::Device;
use self::encoder::Encoder;
use self::head::{Head, Pooling};
use self::hub::HubModel;
use self::ops::Linear;
use self::spec::{Architecture, ModelSpec, Task};
use self::tokenizer::{TextTokenizer, Tokens};
use self::verifier::Rationale;
use self::weights::LinearWeights;
use crate::error::{ComputeError, Error};

pub use self::spec::SUPPORTED_ARCHITECTURES;

/// Tokens that one thread takes at a time: enough for full-speed products, few enough that the widest buffer stays in
/// the second-level cache.
const CHUNK_TOKENS: usize = 256;
/// Fewest tokens for which waking another thread pays off.
const LEAST_TOKENS: usize = 16;

/// Where a model is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelSource {
    /// A folder with `config.json`, `tokenizer.json` and weights.
    Folder(PathBuf),
    /// A file created by `lyra-ml-server quantize`.
    Gguf(PathBuf),
    /// A repository on the hub.
    Hub(HubModel),
}

impl ModelSource {
    /// Parses a model argument: a path that ends in `.gguf`, an existing folder, or else a hub id with `revision`
    /// unless the text has one after an `@`.
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
    /// Its device, for example `cpu`.
    pub device: String,
    encoder: Placed,
    head: Head,
    /// Of a verifier.
    rationale: Option<Rationale>,
}

/// An encoder on its device.
enum Placed {
    Cpu(Box<Encoder>),
    #[cfg(feature = "cuda")]
    Cuda(Box<cuda::Encoder>),
}

impl Model {
    /// Reads a model, with its limit lowered to `max_tokens` where that is given.
    ///
    /// # Errors
    /// When it cannot be found, is damaged, or is of an unsupported architecture.
    pub fn load(source: &ModelSource, max_tokens: Option<usize>) -> Result<Self, Error> {
        Self::load_on(&Device::Cpu, source, max_tokens, 0)
    }

    /// The same on any device, for up to `batch_tokens` tokens at once.
    ///
    /// # Errors
    /// As for [`load`](Self::load); [`Error::Device`] when the device has no room for it.
    pub fn load_on(
        device: &Device,
        source: &ModelSource,
        max_tokens: Option<usize>,
        batch_tokens: usize,
    ) -> Result<Self, Error> {
        let Bundle { mut spec, tokenizer, mut weights } = source.open()?;
        spec.max_tokens = max_tokens.map_or(spec.max_tokens, |limit| limit.min(spec.max_tokens));
        let path = weights.path();
        let build = match spec.architecture {
            Architecture::Bert => bert::build,
            Architecture::Roberta | Architecture::XlmRoberta => roberta::build,
            Architecture::DebertaV2 => deberta::build,
            Architecture::ModernBert => modernbert::build,
            Architecture::Mpnet => mpnet::build,
        };
        let (encoder, head) = build(&spec, weights.as_mut())?;
        let verifies = matches!(spec.task, Task::Verify(_));
        let rationale = verifies.then(|| Rationale::read(weights.as_mut(), encoder.hidden)).transpose()?;
        // A tokenizer may number segments that the model does not distinguish. A verifier was trained with all of them.
        spec.segments = (spec.segments || verifies)
            && encoder.embeddings.segments.as_ref().is_some_and(|segments| segments.rows() > 1);
        let tokenizer = TextTokenizer::from_json(&tokenizer, spec.max_tokens, spec.segments)
            .map_err(|e| Error::malformed(&path, e))?;
        if verifies {
            verifier::check(&tokenizer).map_err(|e| Error::malformed(&path, e))?;
        }
        let (known, rows) = (tokenizer.vocabulary(), encoder.embeddings.words.rows());
        if known > rows {
            let reason = format!("the tokenizer has {known} ids but the word table only {rows} rows");
            return Err(Error::malformed(&path, reason));
        }
        let device = &device_for(device, &spec);
        let (stored, place, head) = (weights.dtype(), device.to_string(), head.pack(Linear::pack));
        drop(weights);
        let (dtype, encoder) = place_on(device, encoder, &spec, head.pooling(), stored, batch_tokens)?;
        Ok(Self { spec, tokenizer, dtype, device: place, encoder, head, rationale })
    }

    /// One row per input, in order: a pooled vector (not normalized) or logits, for a verifier those of the labels and
    /// then one for each of the input's [marks](Tokens::marks).
    ///
    /// On the processor, work is spread over the rayon pool that this runs in. A row does not depend on the other inputs.
    ///
    /// # Errors
    /// When a GPU fails; the processor does not.
    pub fn run(&self, batch: &[&Tokens]) -> Result<Vec<Vec<f32>>, ComputeError> {
        match &self.encoder {
            Placed::Cpu(encoder) => {
                let rows = |chunk: &[&Tokens]| {
                    let hidden = encoder.forward(chunk);
                    let mut rows = self.head.apply(&hidden);
                    if let Some(rationale) = &self.rationale {
                        rationale.score(&hidden, chunk, &mut rows);
                    }
                    rows
                };
                let chunks = chunks(batch, rayon::current_num_threads());
                if let [chunk] = chunks.as_slice() {
                    return Ok(rows(chunk));
                }
                Ok(chunks.into_par_iter().flat_map_iter(rows).collect())
            }
            #[cfg(feature = "cuda")]
            Placed::Cuda(encoder) => {
                let pooled = encoder.forward(batch)?;
                Ok(pooled.into_par_iter().map(|row| self.head.finish(row)).collect())
            }
        }
    }

    /// Length of an embedding, or number of labels.
    pub fn dimension(&self) -> usize {
        match &self.spec.task {
            Task::Embed(_) => self.encoder.hidden(),
            Task::Classify(labels) | Task::Verify(labels) => labels.len(),
        }
    }
}

impl Placed {
    fn hidden(&self) -> usize {
        match self {
            Self::Cpu(encoder) => encoder.hidden,
            #[cfg(feature = "cuda")]
            Self::Cuda(encoder) => encoder.hidden(),
        }
    }
}

/// The device that a model runs on when `device` is requested. The GPU code supports neither scores by distance alone
/// nor vectors of single tokens, so models that need these run on the CPU.
fn device_for(device: &Device, spec: &ModelSpec) -> Device {
    let why = match (spec.architecture, &spec.task) {
        _ if matches!(device, Device::Cpu) => return Device::Cpu,
        (Architecture::Mpnet, _) => "MPNet",
        (_, Task::Verify(_)) => "a verifier",
        _ => return device.clone(),
    };
    tracing::warn!(model = spec.name, asked = %device, "{why} runs on the CPU only; this model is loaded there");
    Device::Cpu
}

/// Brings an encoder to its device. Returns it with the type that it then has, which was `stored` in the file.
#[cfg_attr(
    not(feature = "cuda"),
    expect(
        unused_variables,
        clippy::unnecessary_wraps,
        reason = "only GPUs need to know more, and can be full"
    )
)]
fn place_on(
    device: &Device,
    encoder: Encoder<LinearWeights>,
    spec: &ModelSpec,
    pooling: Pooling,
    stored: String,
    batch_tokens: usize,
) -> Result<(String, Placed), Error> {
    match device {
        Device::Cpu => Ok((stored, Placed::Cpu(Box::new(encoder.pack(Linear::pack))))),
        #[cfg(feature = "cuda")]
        Device::Cuda(device, precision) => {
            cuda::Encoder::upload(device, *precision, encoder, pooling, spec.max_tokens, batch_tokens)
                .map(|encoder| (precision.to_string(), Placed::Cuda(Box::new(encoder))))
                .map_err(|error| Error::Device(format!("model `{}`: {error}", spec.name)))
        }
    }
}

/// Cuts a batch into runs of at most about [`CHUNK_TOKENS`], so that each of `threads` gets the same share. An input is
/// never split.
fn chunks<'a, 'b>(mut batch: &'b [&'a Tokens], threads: usize) -> Vec<&'b [&'a Tokens]> {
    let mut left: usize = batch.iter().map(|input| input.len()).sum();
    let mut shares = if left < threads * LEAST_TOKENS {
        left.div_ceil(LEAST_TOKENS)
    } else {
        left.div_ceil(CHUNK_TOKENS).next_multiple_of(threads)
    };
    let mut chunks = Vec::new();
    while !batch.is_empty() {
        let share = left.div_ceil(shares.max(1));
        let mut tokens = 0;
        let fitting = batch.iter().take_while(|input| {
            tokens += input.len();
            tokens - input.len() / 2 <= share
        });
        let (chunk, rest) = batch.split_at(fitting.count().max(1));
        left -= chunk.iter().map(|input| input.len()).sum::<usize>();
        shares = shares.saturating_sub(1);
        chunks.push(chunk);
        batch = rest;
    }
    chunks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(length: usize) -> Tokens {
        Tokens { ids: vec![1; length], type_ids: vec![0; length], marks: Vec::new() }
    }

    #[test]
    fn chunks_keep_order_and_lose_nothing() {
        let cut = |lengths: &[usize], threads: usize| -> Vec<Vec<usize>> {
            let inputs: Vec<_> = lengths.iter().copied().map(tokens).collect();
            let batch: Vec<_> = inputs.iter().collect();
            let cut = chunks(&batch, threads);
            cut.into_iter().map(|chunk| chunk.iter().map(|input| input.len()).collect()).collect()
        };
        // 868 tokens are four shares: 217, of the rest 189, then 179.
        let mixed = [300, 10, 200, 100, 2, 256];
        assert_eq!(cut(&mixed, 1), [vec![300], vec![10, 200], vec![100, 2], vec![256]]);
        assert_eq!(cut(&[900, 50, 50, 50, 50], 2), [[900], [50], [50], [50], [50]]);
        assert_eq!(cut(&[20; 32], 2), vec![vec![20; 8]; 4]);
        assert_eq!(cut(&[20, 20], 2), [[20], [20]]);
        assert_eq!(cut(&[5, 4, 3], 4), [[5, 4, 3]]);
        assert_eq!(cut(&[1_000, 8, 8], 2).concat(), [1_000, 8, 8]);
        assert_eq!(cut(&[], 2), Vec::<Vec<usize>>::new());
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
