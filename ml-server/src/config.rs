//! What to serve and how: constructible in code, or from the command line in `main`.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lyra_proto::Limits;

use crate::error::Error;
use crate::model::ModelSource;
use crate::model::device::{BackendChoice, Device, DeviceChoice, Precision};

/// Environment variable that names the folder of the models.
pub const MODELS_DIR_ENV: &str = "LYRA_MODELS_DIR";

/// Everything that [`start`](crate::start) needs besides a listener.
#[derive(Debug, Clone)]
pub struct ServerConfig {
    /// Model behind `/embed`.
    pub embed: Option<ModelSource>,
    /// Model behind `/nli`.
    pub nli: Option<ModelSource>,
    /// Model behind `/verify`, and behind `/nli` if no NLI model is configured.
    pub verify: Option<ModelSource>,
    /// Threads that compute; the default is the number of physical cores.
    pub threads: usize,
    /// Limits for clients.
    pub limits: Limits,
    /// Where to compute.
    pub device: DeviceChoice,
    /// What computes there.
    pub backend: BackendChoice,
    /// Number format of weights and activations on a GPU.
    pub precision: Precision,
    /// Tokens that run together in one batch; `None` leaves it to the device and the number of threads.
    pub max_batch_tokens: Option<usize>,
    /// How long a shutdown waits for requests in progress.
    pub drain: Duration,
    /// Connections open at the same time; more wait in the kernel. Above `max_concurrent_requests`, so that excess
    /// requests get a 429 instead of waiting.
    pub max_connections: usize,
    /// Host names, besides loopback, that requests may be addressed to while it listens on loopback; `*` allows every
    /// name.
    pub allowed_hosts: Vec<String>,
}

impl ServerConfig {
    /// A server for these models with default limits.
    pub fn new(embed: Option<ModelSource>, nli: Option<ModelSource>) -> Self {
        let threads = default_threads();
        Self {
            embed,
            nli,
            verify: None,
            threads,
            limits: Limits::default(),
            device: DeviceChoice::default(),
            backend: BackendChoice::default(),
            precision: Precision::default(),
            max_batch_tokens: None,
            drain: Duration::from_secs(30),
            max_connections: 2 * Limits::default().max_concurrent_requests,
            allowed_hosts: Vec::new(),
        }
    }

    /// A server of a profile's models. `models_dir` is looked up when it is `None`, see [`find_models_dir`].
    ///
    /// # Errors
    /// [`Error::ModelsNotFound`] when the profile's files are nowhere.
    pub fn from_profile(profile: Profile, models_dir: Option<&Path>, offline: bool) -> Result<Self, Error> {
        let hub = |repo: &str| Some(ModelSource::parse(repo, None, offline));
        Ok(match profile {
            Profile::Lite => {
                let folder = find_models_dir(profile, models_dir)?;
                let [embed, verify] = LITE.map(|file| Some(ModelSource::Gguf(folder.join(file))));
                Self { verify, ..Self::new(embed, None) }
            }
            Profile::Fast => {
                let folder = find_models_dir(profile, models_dir)?;
                let [embed, nli] = FAST.map(|file| Some(ModelSource::Gguf(folder.join(file))));
                Self::new(embed, nli)
            }
            Profile::Standard => {
                let nli = hub("MoritzLaurer/mDeBERTa-v3-base-xnli-multilingual-nli-2mil7");
                Self::new(hub("BAAI/bge-m3"), nli)
            }
            Profile::Scholar => {
                Self::new(hub("Alibaba-NLP/gte-modernbert-base"), hub("tasksource/ModernBERT-base-nli"))
            }
            Profile::Accurate => {
                let nli = hub("MoritzLaurer/DeBERTa-v3-large-mnli-fever-anli-ling-wanli");
                Self::new(hub("BAAI/bge-m3"), nli)
            }
        })
    }

    /// The same with another number of threads (at least 1).
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// Tokens that run together on `device`: enough for every thread to have several chunks or to fill a GPU, little enough
    /// that a batch is over soon and new requests get in.
    pub(crate) fn batch_tokens(&self, device: &Device) -> usize {
        self.max_batch_tokens.or_else(|| device.batch_tokens()).unwrap_or(2_048 * self.threads)
    }
}

/// Physical cores that this process may use.
pub fn default_threads() -> usize {
    let allowed = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    num_cpus::get_physical().clamp(1, allowed)
}

/// An embedder with the model that judges.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Profile {
    /// A small English embedder and verifier from the repository; no download needed.
    #[default]
    Lite,
    /// The same embedder with a small NLI model as the judge: many times faster, but far less accurate.
    Fast,
    /// Multilingual models from the hub, with an NLI model that also supports Japanese; CPU or GPU.
    Standard,
    /// English models from the hub for scientific texts, with an NLI model as the judge; CPU or GPU.
    Scholar,
    /// Large models from the hub, with an NLI model as the judge; needs a GPU.
    Accurate,
}

impl Profile {
    /// The profile with this name, in any case.
    pub fn named(name: &str) -> Option<Self> {
        <Self as clap::ValueEnum>::from_str(name, true).ok()
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lite => "lite",
            Self::Fast => "fast",
            Self::Standard => "standard",
            Self::Scholar => "scholar",
            Self::Accurate => "accurate",
        })
    }
}

/// Embedder and verifier of [`Profile::Lite`].
const LITE: [&str; 2] = ["lite-embed.gguf", "lite-verify.gguf"];
/// Embedder and NLI model of [`Profile::Fast`].
const FAST: [&str; 2] = ["lite-embed.gguf", "lite-nli.gguf"];

/// The folder with the models of a profile that needs no hub.
///
/// A folder given by the caller, or else by `LYRA_MODELS_DIR`, is the only one tried: a typo must not be hidden by
/// other models. Otherwise: `./models`, `models` and `share/lyra/models` beside the executable and beside each folder above
/// it (which finds the repository from `target/release`, and the models of a Python environment from its `bin`), and
/// `/usr/share/lyra/models`.
///
/// # Errors
/// [`Error::ModelsNotFound`] lists the folders that were tried.
pub fn find_models_dir(profile: Profile, explicit: Option<&Path>) -> Result<PathBuf, Error> {
    let named = explicit.map(Path::to_owned).or_else(|| std::env::var_os(MODELS_DIR_ENV).map(PathBuf::from));
    let candidates = named.map_or_else(usual_places, |folder| vec![folder]);
    let files = if profile == Profile::Fast { FAST } else { LITE };
    let found = candidates.iter().find(|folder| files.iter().all(|file| folder.join(file).is_file()));
    found.cloned().ok_or_else(|| Error::ModelsNotFound {
        profile: profile.to_string(),
        files: files.join(", "),
        looked: candidates.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(", "),
    })
}

fn usual_places() -> Vec<PathBuf> {
    let executable = std::env::current_exe().unwrap_or_default();
    let mut places = vec![PathBuf::from("models")];
    let beside = |folder: &Path| [folder.join("models"), folder.join("share/lyra/models")];
    places.extend(executable.ancestors().skip(1).flat_map(beside));
    places.push(PathBuf::from("/usr/share/lyra/models"));
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_folder_is_the_only_one_tried() {
        let folder = tempfile::tempdir().unwrap();
        let error = find_models_dir(Profile::Lite, Some(folder.path())).unwrap_err().to_string();
        assert!(
            error.contains(&folder.path().display().to_string()) && !error.contains("/usr/share"),
            "{error}"
        );

        for file in LITE {
            std::fs::write(folder.path().join(file), b"").unwrap();
        }
        assert_eq!(find_models_dir(Profile::Lite, Some(folder.path())).unwrap(), folder.path());
        let config = ServerConfig::from_profile(Profile::Lite, Some(folder.path()), true).unwrap();
        let file = |name: &str| Some(ModelSource::Gguf(folder.path().join(name)));
        assert_eq!((config.embed, config.verify), (file("lite-embed.gguf"), file("lite-verify.gguf")));
        assert_eq!(config.nli, None);

        let error = find_models_dir(Profile::Fast, Some(folder.path())).unwrap_err().to_string();
        assert!(error.contains("lite-nli.gguf"), "{error}");
        std::fs::write(folder.path().join("lite-nli.gguf"), b"").unwrap();
        let config = ServerConfig::from_profile(Profile::Fast, Some(folder.path()), true).unwrap();
        assert_eq!((config.nli, config.verify), (file("lite-nli.gguf"), None));
    }

    #[test]
    fn threads_are_at_least_one() {
        assert!(default_threads() >= 1);
        assert_eq!(ServerConfig::new(None, None).with_threads(0).threads, 1);
    }
}
