//! Models by hub id. Files go to the cache that Hugging Face's own tools use and are found there without network.
//!
//! The hf-hub crate (1.0) restarts a broken download from the beginning and does not check hashes, so this module
//! fetches files itself.

mod cache;
mod download;
mod place;
mod progress;
mod remote;

use std::path::PathBuf;

use super::bundle::MODULES;
use super::sharded::{PICKLE_INDEX, shards};
use super::spec::detect;
use super::weights::files;
use crate::error::Error;
use cache::{Cache, is_commit};
use remote::{Listing, Remote, Trouble};

/// Files besides weights that a model must have.
const REQUIRED: [&str; 2] = ["config.json", "tokenizer.json"];

/// Files besides weights that a model may have.
const OPTIONAL: [&str; 5] = [
    MODULES,
    "1_Pooling/config.json",
    "sentence_bert_config.json",
    "tokenizer_config.json",
    "config_sentence_transformers.json",
];

/// A model on the hub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HubModel {
    /// `organisation/name`.
    pub repo: String,
    /// Branch, tag or commit; the main branch when absent.
    pub revision: Option<String>,
    /// Use only cached files, like `HF_HUB_OFFLINE`.
    pub offline: bool,
}

impl HubModel {
    /// What `ORG/NAME` or `ORG/NAME@REVISION` means. A revision in the text goes before `revision`.
    pub fn parse(text: &str, revision: Option<&str>, offline: bool) -> Self {
        let (repo, own) = text.split_once('@').map_or((text, None), |(repo, own)| (repo, Some(own)));
        Self { repo: repo.to_owned(), revision: own.or(revision).map(str::to_owned), offline }
    }

    /// Makes sure that the model's files are in the cache and returns their folder and commit.
    ///
    /// The configuration comes first: an unsupported model is rejected before its weights are downloaded. A cached
    /// commit needs no network; a branch or tag is resolved by the hub, or from the cache when the hub is unreachable.
    /// `HF_HOME`, `HF_HUB_CACHE`, `HF_ENDPOINT`, `HF_TOKEN` are honored. Blocks; call it outside the async threads.
    ///
    /// # Errors
    /// [`Error::Hub`] when the hub cannot be reached, lacks a file or sends a wrong one, [`Error::UnsupportedArchitecture`].
    pub fn fetch(&self) -> Result<(PathBuf, Option<String>), Error> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Error::Start(format!("hub client: {error}")))?;
        let cache = Cache::new(&place::cache(), &self.repo);
        let commit = runtime.block_on(self.commit(&cache))?;
        Ok((cache.snapshot(&commit), Some(commit)))
    }

    /// The commit, once all its files are in the cache.
    async fn commit(&self, cache: &Cache) -> Result<String, Error> {
        let revision = self.revision.as_deref().unwrap_or("main");
        let cached = cache.commit(revision);
        if self.offline || offline_by_environment() {
            return self.cached(cache, cached, revision);
        }
        if let Some(commit) = &cached
            && is_commit(revision)
            && self.missing(cache, commit).is_empty()
            && unknown(cache, commit).is_empty()
        {
            return Ok(commit.clone());
        }
        let remote = Remote::from_environment(&self.repo).map_err(|trouble| self.failed(trouble))?;
        let listing = match (remote.listing(revision).await, cached) {
            (Ok(listing), _) => listing,
            (Err(Trouble::Passing(reason)), Some(commit)) if self.missing(cache, &commit).is_empty() => {
                tracing::warn!(repo = self.repo, commit, reason, "the hub is unreachable, using the cache");
                return Ok(commit);
            }
            (Err(trouble), _) => return Err(self.failed(trouble)),
        };
        self.download(&remote, cache, &listing).await?;
        cache.point(revision, &listing.sha).map_err(|error| self.cache_failed(error))?;
        Ok(listing.sha)
    }

    fn cached(&self, cache: &Cache, commit: Option<String>, revision: &str) -> Result<String, Error> {
        let offline = |what: String| {
            let cache = cache.path().display();
            self.failed(Trouble::Final(format!(
                "{what} not in the cache {cache} and the server is offline; run once without --offline and \
                 HF_HUB_OFFLINE"
            )))
        };
        let commit = commit.ok_or_else(|| offline(format!("revision {revision} is")))?;
        let missing = self.missing(cache, &commit);
        if !missing.is_empty() {
            return Err(offline(format!("{} of commit {commit} are", missing.join(", "))));
        }
        let unknown = unknown(cache, &commit);
        if !unknown.is_empty() {
            let files = unknown.join(", ");
            tracing::warn!(
                repo = self.repo,
                files,
                "not in the cache, assumed to be absent from the repository"
            );
        }
        Ok(commit)
    }

    /// Files that the model cannot do without and that the cache lacks.
    fn missing(&self, cache: &Cache, commit: &str) -> Vec<String> {
        let folder = cache.snapshot(commit);
        let mut missing = REQUIRED.map(str::to_owned).to_vec();
        let here = |name: &str| folder.join(name).is_file();
        if here(files::WHOLE) || here(files::PICKLE) && !here(files::INDEX) {
            // Neither has shards.
        } else if let Some(index) = [files::INDEX, PICKLE_INDEX].into_iter().find(|index| here(index)) {
            match shards(&folder.join(index)) {
                Ok(shards) => missing.extend(shards),
                Err(error) => {
                    tracing::warn!(repo = self.repo, %error, "the cached index of the weights is unusable");
                    missing.push(index.to_owned());
                    return missing;
                }
            }
        } else {
            missing.push(files::WHOLE.to_owned());
        }
        missing.retain(|name| !folder.join(name).is_file());
        missing
    }

    async fn download(&self, remote: &Remote, cache: &Cache, listing: &Listing) -> Result<(), Error> {
        let get = async |name: &str, hint: &str| {
            let file = match listing.file(name) {
                Some(file) => file,
                None if listing.has(name) => {
                    let reason =
                        format!("the hub does not report size and hash of {name}, so it cannot be verified");
                    return Err(self.failed(Trouble::Final(reason)));
                }
                None => {
                    let reason = format!("the repository has no {name}; {hint}");
                    return Err(self.failed(Trouble::Final(reason)));
                }
            };
            download::file(remote, cache, &listing.sha, &file).await.map_err(|trouble| self.failed(trouble))
        };
        let config = get("config.json", "is it a model of `transformers`?").await?;
        let bytes = tokio::fs::read(&config).await.map_err(Error::io(&config))?;
        let value = serde_json::from_slice(&bytes).map_err(|error| Error::malformed(&config, error))?;
        detect(&self.repo, &value, &config, listing.has(MODULES))?;
        for name in OPTIONAL {
            if listing.has(name) {
                get(name, "").await?;
            } else {
                cache.mark_absent(&listing.sha, name).map_err(|error| self.cache_failed(error))?;
            }
        }
        get("tokenizer.json", "a fast tokenizer is needed").await?;
        // In the order in which a folder is read.
        let known = [files::WHOLE, files::INDEX, files::PICKLE, PICKLE_INDEX];
        let weights = known.into_iter().find(|name| listing.has(name)).unwrap_or(files::WHOLE);
        let fetched =
            get(weights, "nor sharded safetensors nor a pytorch_model.bin; those are supported").await?;
        if [files::INDEX, PICKLE_INDEX].contains(&weights) {
            for shard in shards(&fetched)? {
                get(&shard, "the index of the weights names it").await?;
            }
        }
        Ok(())
    }

    fn failed(&self, trouble: Trouble) -> Error {
        let reason = match trouble {
            Trouble::Passing(reason) => {
                format!(
                    "{reason}; check the network, or give a local folder or GGUF file instead of a hub id"
                )
            }
            Trouble::Final(reason) => reason,
        };
        Error::Hub { repo: self.repo.clone(), endpoint: remote::endpoint(), reason }
    }

    fn cache_failed(&self, error: std::io::Error) -> Error {
        self.failed(error.into())
    }
}

/// Optional files that are neither in the cache nor known to be absent from the repository.
fn unknown(cache: &Cache, commit: &str) -> Vec<&'static str> {
    OPTIONAL.into_iter().filter(|name| !cache.knows(commit, name)).collect()
}

/// As `huggingface_hub` reads the variable.
fn offline_by_environment() -> bool {
    let value = std::env::var("HF_HUB_OFFLINE").unwrap_or_default();
    matches!(value.to_ascii_uppercase().as_str(), "1" | "ON" | "YES" | "TRUE")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revision_after_the_at_sign() {
        let check = |text, revision, want: (&str, Option<&str>)| {
            let model = HubModel::parse(text, revision, false);
            assert_eq!((model.repo.as_str(), model.revision.as_deref()), want);
        };
        check("org/name", None, ("org/name", None));
        check("org/name", Some("v1"), ("org/name", Some("v1")));
        check("org/name@refs/pr/1", Some("v1"), ("org/name", Some("refs/pr/1")));
    }
}
