//! Models: their specification, loading, and inference.

pub mod attention;
pub mod bert;
pub mod bias;
pub mod bundle;
#[cfg(feature = "candle")]
pub mod candle;
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
mod place;
pub(crate) mod prompts;
mod proof;
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

use lyra_proto::{Backend, PassedOver, PassedOverCause};

use self::bundle::Bundle;
use self::device::{Candidates, Device};
use self::hub::HubModel;
use self::place::{Opened, Placed};
use self::spec::{ModelSpec, Task};
use self::tokenizer::{TextTokenizer, Tokens};
use crate::error::{ComputeError, Error};

pub use self::spec::SUPPORTED_ARCHITECTURES;

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
    /// The code that computes it.
    pub backend: Backend,
    /// What was to compute it before that, and why it does not.
    pub passed_over: Vec<PassedOver>,
    /// Tokens that run together.
    pub batch_tokens: usize,
    placed: Placed,
}

impl Model {
    /// Reads a model for the CPU, with its limit lowered to `max_tokens` where that is given.
    ///
    /// # Errors
    /// When it cannot be found, is damaged, or is of an unsupported architecture.
    pub fn load(source: &ModelSource, max_tokens: Option<usize>) -> Result<Self, Error> {
        Self::load_on(&Device::Cpu, source, max_tokens, 0)
    }

    /// The same on a given device, for up to `batch_tokens` tokens at once, without a proof that it computes correctly.
    ///
    /// # Errors
    /// As for [`load`](Self::load); [`Error::Device`] if the device has no room for it or does not compute such models.
    pub fn load_on(
        device: &Device,
        source: &ModelSource,
        max_tokens: Option<usize>,
        batch_tokens: usize,
    ) -> Result<Self, Error> {
        let mut opened = Opened::new(source, max_tokens)?;
        let placed = opened.place(device, batch_tokens)?;
        Ok(opened.finish(device, placed, batch_tokens, Vec::new()))
    }

    /// The same on the first of `candidates` whose answers to a fixed batch are those of the CPU, with as many tokens at
    /// once as `batch_tokens` says of a device. [`passed_over`](Self::passed_over) has the reasons against the others.
    ///
    /// # Errors
    /// As for [`load`](Self::load).
    pub fn load_best(
        candidates: &Candidates,
        source: &ModelSource,
        max_tokens: Option<usize>,
        batch_tokens: impl Fn(&Device) -> usize,
    ) -> Result<Self, Error> {
        let mut opened = Opened::new(source, max_tokens)?;
        let name = opened.spec.name.clone();
        let mut passed_over = candidates.passed_over().to_vec();
        let mut proof = None;
        let proven = first_proven(
            candidates.accelerated(),
            |device| {
                let placed = opened.place(device, batch_tokens(device))?;
                let proof = match &proof {
                    Some(proof) => proof,
                    None => proof.insert(opened.proof()?),
                };
                let precision = placed.precision();
                Ok(proof.check(|batch| placed.run(batch), precision).map(|()| placed))
            },
            |next| {
                warn(&name, &next);
                passed_over.push(next);
            },
        )?;
        let (device, placed) = match proven {
            Some(found) => found,
            None => (&Device::Cpu, opened.place(&Device::Cpu, batch_tokens(&Device::Cpu))?),
        };
        Ok(opened.finish(device, placed, batch_tokens(device), passed_over))
    }

    /// One row per input, in order: a pooled vector (not normalized) or logits, for a verifier those of the labels and
    /// then one for each of the input's [marks](Tokens::marks).
    ///
    /// On the CPU, work is spread over the rayon pool that this runs in. With native kernels, a row does not depend on the
    /// other inputs; with candle, it does within rounding.
    ///
    /// # Errors
    /// If a device fails; the CPU with native kernels does not.
    pub fn run(&self, batch: &[&Tokens]) -> Result<Vec<Vec<f32>>, ComputeError> {
        self.placed.run(batch)
    }

    /// Length of an embedding, or number of labels.
    pub fn dimension(&self) -> usize {
        match &self.spec.task {
            Task::Embed(_) => self.placed.hidden(),
            Task::Classify(labels) | Task::Verify(labels) => labels.len(),
        }
    }
}

/// The first device that an attempt succeeds on, with what it gives; `passed_over` hears why those before it are not used.
fn first_proven<T>(
    devices: &[Device],
    mut attempt: impl FnMut(&Device) -> Result<Result<T, (PassedOverCause, String)>, Error>,
    mut passed_over: impl FnMut(PassedOver),
) -> Result<Option<(&Device, T)>, Error> {
    for device in devices {
        let (cause, reason) = match attempt(device) {
            Ok(Ok(found)) => return Ok(Some((device, found))),
            Ok(Err(wrong)) => wrong,
            Err(Error::Unsupported(reason)) => (PassedOverCause::Unsupported, reason),
            Err(error @ Error::Device(_)) => (PassedOverCause::Failed, error.to_string()),
            Err(error) => return Err(error),
        };
        passed_over(PassedOver { backend: device.backend(), device: device.to_string(), cause, reason });
    }
    Ok(None)
}

/// Tells the operator that a device is not used for a model, and what to do.
fn warn(model: &str, PassedOver { backend, device, cause, reason }: &PassedOver) {
    if *cause == PassedOverCause::Wrong {
        tracing::error!(
            model,
            %backend,
            device,
            "computes wrongly, so it is not used for this model: {reason}. Update the device's driver, or choose another \
             --backend, --dtype or --device"
        );
    } else {
        tracing::warn!(model, %backend, device, %cause, "not used for this model: {reason}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_that_cannot_compute_a_model_are_passed_over_in_order() {
        let wrong = || (PassedOverCause::Wrong, "cosine 0.2".to_owned());
        let mut attempts = [
            Err(Error::Unsupported("the width 9".to_owned())),
            Err(Error::Device("out of memory".to_owned())),
            Ok(Err(wrong())),
            Ok(Ok("computes")),
            Ok(Ok("never asked")),
        ]
        .into_iter();
        let devices = vec![Device::Cpu; 5];
        let mut reasons = Vec::new();
        let found = first_proven(
            &devices,
            |_| attempts.next().unwrap(),
            |next| reasons.push((next.cause, next.reason)),
        );
        assert_eq!(found.unwrap().map(|(_, found)| found), Some("computes"));
        assert_eq!(reasons[0], (PassedOverCause::Unsupported, "the width 9".to_owned()));
        assert_eq!(reasons[1].0, PassedOverCause::Failed);
        assert_eq!(reasons[2..], [wrong()]);
        assert_eq!(attempts.count(), 1);
    }

    #[test]
    fn without_a_device_that_computes_there_is_none_and_other_errors_end_the_search() {
        let devices = vec![Device::Cpu; 2];
        let refuse = |_: &Device| Ok(Err::<(), _>((PassedOverCause::Wrong, String::new())));
        assert!(first_proven(&devices, refuse, drop).unwrap().is_none());
        let mut asked = 0;
        let fail = |_: &Device| -> Result<Result<(), _>, _> {
            asked += 1;
            Err(Error::Start("no such file".to_owned()))
        };
        assert!(first_proven(&devices, fail, drop).is_err());
        assert_eq!(asked, 1);
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
