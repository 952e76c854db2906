//! A model that has been read, and where it computes.

use lyra_proto::PassedOver;
use rayon::prelude::*;

use super::bundle::Bundle;
use super::device::{Device, Precision};
use super::encoder::Encoder;
#[cfg(any(feature = "cuda", feature = "candle"))]
use super::encoder::States;
use super::head::Head;
use super::ops::Linear;
use super::proof::Proof;
use super::spec::{Architecture, ModelSpec, Task};
use super::tokenizer::{TextTokenizer, Tokens};
use super::verifier::{self, Rationale};
use super::weights::{HostTensor, LinearWeights, TensorData, WeightSource};
use super::{Model, ModelSource, bert, deberta, modernbert, mpnet, roberta};
use crate::error::{ComputeError, Error};

/// Tokens that one thread takes at a time: enough for full-speed products, few enough that the widest buffer stays in
/// the second-level cache.
const CHUNK_TOKENS: usize = 256;
/// Fewest tokens for which waking another thread pays off.
const LEAST_TOKENS: usize = 16;

/// An encoder and its head as read, not yet on a device.
type Built = (Encoder<LinearWeights>, Head<LinearWeights>);

/// A model whose files are open.
pub(super) struct Opened {
    pub(super) spec: ModelSpec,
    tokenizer: TextTokenizer,
    weights: Box<dyn WeightSource>,
    /// As first read; read again when it is needed once more.
    built: Option<Built>,
    /// Of a verifier.
    rationale: Option<Rationale>,
}

/// The parts of a model that compute.
pub(super) struct Placed {
    encoder: PlacedEncoder,
    head: Head,
    /// Of a verifier.
    rationale: Option<Rationale>,
    dtype: String,
}

/// An encoder on its device.
enum PlacedEncoder {
    Cpu(Box<Encoder>),
    #[cfg(feature = "cuda")]
    Cuda(Box<super::cuda::Encoder>, Precision),
    #[cfg(feature = "candle")]
    Candle(Box<super::candle::Encoder>, Precision),
}

impl Opened {
    pub(super) fn new(source: &ModelSource, max_tokens: Option<usize>) -> Result<Self, Error> {
        let Bundle { mut spec, tokenizer, mut weights } = source.open()?;
        spec.max_tokens = max_tokens.map_or(spec.max_tokens, |limit| limit.min(spec.max_tokens));
        let path = weights.path();
        let built = build(&spec, weights.as_mut())?;
        let encoder = &built.0;
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
        Ok(Self { spec, tokenizer, weights, built: Some(built), rationale })
    }

    fn take(&mut self) -> Result<Built, Error> {
        self.built.take().map_or_else(|| build(&self.spec, self.weights.as_mut()), Ok)
    }

    /// Brings the model to a device, with room for `batch_tokens` tokens at once.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for models that the device does not compute, [`Error::Device`] if it has no room.
    #[cfg_attr(not(feature = "cuda"), expect(unused_variables, reason = "only fused kernels allocate once"))]
    pub(super) fn place(&mut self, device: &Device, batch_tokens: usize) -> Result<Placed, Error> {
        #[cfg(any(feature = "cuda", feature = "candle"))]
        let failed = {
            let name = self.spec.name.clone();
            move |error: ComputeError| Error::Device(format!("model `{name}`: {error}"))
        };
        let (encoder, head) = self.take()?;
        #[cfg(any(feature = "cuda", feature = "candle"))]
        let pooling = head.pooling();
        // Elsewhere, encoders round depending on the batch, which the 16 bits of the `Q8_0` kernels would amplify.
        let native = matches!(device, Device::Cpu);
        let head = head.pack(|layer| Linear::pack(if native { layer } else { widened(layer) }));
        let (dtype, encoder) = match device {
            Device::Cpu => (self.weights.dtype(), PlacedEncoder::Cpu(Box::new(encoder.pack(Linear::pack)))),
            #[cfg(feature = "cuda")]
            Device::Cuda(device, precision) => {
                let longest = self.spec.max_tokens;
                super::cuda::Encoder::check(&encoder, *precision, longest).map_err(|what| {
                    Error::Unsupported(format!("the fused kernels do not compute this model: {what}"))
                })?;
                let encoder =
                    super::cuda::Encoder::upload(device, *precision, encoder, pooling, longest, batch_tokens)
                        .map_err(failed)?;
                (precision.to_string(), PlacedEncoder::Cuda(Box::new(encoder), *precision))
            }
            #[cfg(feature = "candle")]
            Device::Candle(device) => {
                let precision = device.precision();
                let encoder = super::candle::Encoder::upload(device, encoder, pooling).map_err(failed)?;
                (precision.to_string(), PlacedEncoder::Candle(Box::new(encoder), precision))
            }
        };
        Ok(Placed { encoder, head, rationale: self.rationale.clone(), dtype })
    }

    /// A fixed batch and the answers of the CPU in f32.
    pub(super) fn proof(&mut self) -> Result<Proof, Error> {
        let (encoder, head) = self.take()?;
        let pack = |layer| Linear::pack(widened(layer));
        let encoder = PlacedEncoder::Cpu(Box::new(encoder.pack(pack)));
        let (head, rationale) = (head.pack(pack), self.rationale.clone());
        let exact = Placed { encoder, head, rationale, dtype: "f32".to_owned() };
        Proof::new(&self.spec, &self.tokenizer, |batch| exact.run(batch))
    }

    pub(super) fn finish(
        self,
        device: &Device,
        placed: Placed,
        batch_tokens: usize,
        passed_over: Vec<PassedOver>,
    ) -> Model {
        Model {
            spec: self.spec,
            tokenizer: self.tokenizer,
            dtype: placed.dtype.clone(),
            device: device.to_string(),
            backend: device.backend(),
            passed_over,
            batch_tokens,
            placed,
        }
    }
}

fn build(spec: &ModelSpec, weights: &mut dyn WeightSource) -> Result<Built, Error> {
    let build = match spec.architecture {
        Architecture::Bert => bert::build,
        Architecture::Roberta | Architecture::XlmRoberta => roberta::build,
        Architecture::DebertaV2 => deberta::build,
        Architecture::ModernBert => modernbert::build,
        Architecture::Mpnet => mpnet::build,
    };
    build(spec, weights)
}

fn widened(LinearWeights { weight, bias }: LinearWeights) -> LinearWeights {
    let weight = HostTensor { shape: weight.shape.clone(), data: TensorData::F32(weight.into_f32()) };
    LinearWeights { weight, bias }
}

impl Placed {
    /// See [`Model::run`].
    #[cfg_attr(
        not(any(feature = "cuda", feature = "candle")),
        expect(clippy::unnecessary_wraps, reason = "the CPU does not fail")
    )]
    pub(super) fn run(&self, batch: &[&Tokens]) -> Result<Vec<Vec<f32>>, ComputeError> {
        match &self.encoder {
            PlacedEncoder::Cpu(encoder) => {
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
            PlacedEncoder::Cuda(encoder, _) => Ok(self.rows(encoder.forward(batch)?)),
            #[cfg(feature = "candle")]
            PlacedEncoder::Candle(encoder, _) => Ok(self.rows(encoder.forward(batch)?)),
        }
    }

    /// The head, on the CPU.
    #[cfg(any(feature = "cuda", feature = "candle"))]
    fn rows(&self, states: Vec<States>) -> Vec<Vec<f32>> {
        let row = |states: States| {
            let width = states.pooled.len();
            let mut row = self.head.finish(states.pooled);
            if let Some(rationale) = &self.rationale {
                row.extend(states.marks.chunks_exact(width).map(|state| rationale.logit(state)));
            }
            row
        };
        states.into_par_iter().map(row).collect()
    }

    pub(super) fn hidden(&self) -> usize {
        match &self.encoder {
            PlacedEncoder::Cpu(encoder) => encoder.hidden,
            #[cfg(feature = "cuda")]
            PlacedEncoder::Cuda(encoder, _) => encoder.hidden(),
            #[cfg(feature = "candle")]
            PlacedEncoder::Candle(encoder, _) => encoder.hidden(),
        }
    }

    /// Type of the numbers in matrix products.
    pub(super) fn precision(&self) -> Precision {
        match &self.encoder {
            PlacedEncoder::Cpu(_) => Precision::F32,
            #[cfg(feature = "cuda")]
            PlacedEncoder::Cuda(_, precision) => *precision,
            #[cfg(feature = "candle")]
            PlacedEncoder::Candle(_, precision) => *precision,
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
}
