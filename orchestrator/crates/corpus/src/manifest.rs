//! `corpus.json`: what a corpus folder holds.

use crate::backend::FeatureScope;
use crate::remote::Analyzer;
use crate::{CorpusError, Result};
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::path::Path;

/// Newest format that this version reads.
///
/// 5: `corpus.json` with `opensearch`, `files.jsonl`: the documents are on a cluster. Only such corpora have it.
pub(crate) const NEWEST: u32 = 5;

/// The format of a corpus whose documents are here.
///
/// 4: `corpus.json`, `fulltext-4/` (tantivy, schema of `index/schema.rs`), `embeddings.f32` (rows of `dimension`
/// little-endian numbers), `files.jsonl` (`ledger.rs`). Counts are not kept here: the index knows them.
///
/// 3: `fulltext-3/` in place of `fulltext-4/`, without fields for inventors, citations, families, USPC, Locarno, and words
/// as written.
///
/// 2: `fulltext/` in place of `fulltext-3/`, also without fields for tags, collections, and notes.
///
/// 1: `index/`, which holds title and text alone, and one embedding per document.
///
/// Older formats are brought to the newest when they are opened (`upgrade.rs`).
pub(crate) const FORMAT: u32 = 4;
const FILE: &str = "corpus.json";

/// The manifest of a corpus.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    /// Version of the folder's layout.
    pub(crate) format: u32,
    /// Name of the corpus.
    pub(crate) name: String,
    /// Embedder with its revision; empty without embeddings.
    pub(crate) embedder: String,
    /// Numbers per embedding; 0 without embeddings.
    pub(crate) dimension: usize,
    /// Scopes that documents are embedded in; none without embeddings. Format 1 knew the first alone.
    #[serde(default = "format_1_scopes")]
    pub(crate) scopes: Vec<FeatureScope>,
    /// Scopes that some documents are still to be embedded in; those beyond `scopes` have no embeddings at all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) pending: Vec<FeatureScope>,
    /// When the corpus was created; also tells two corpora apart that had the same name one after the other.
    pub(crate) created: jiff::Timestamp,
    /// Where its documents are, if not in this folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) opensearch: Option<OnCluster>,
}

/// Where the documents of a corpus are on a cluster. The credentials are the configuration's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OnCluster {
    /// Identifies the cluster, whatever its address.
    pub(crate) cluster: String,
    /// Its address when the corpus was created, for people.
    pub(crate) url: String,
    /// The name that stays: it leads to `index`.
    pub(crate) alias: String,
    /// The index that counts.
    pub(crate) index: String,
    /// How its texts are cut into words.
    pub(crate) analyzer: Analyzer,
    /// A new index that is being filled to take its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) building: Option<Building>,
}

/// An index that is being filled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Building {
    pub(crate) index: String,
    pub(crate) analyzer: Analyzer,
    pub(crate) embedder: String,
    pub(crate) dimension: usize,
    pub(crate) scopes: Vec<FeatureScope>,
}

impl Manifest {
    /// The manifest in `folder`, `None` if it has no manifest.
    pub(crate) fn read(folder: &Path, name: &str) -> Result<Option<Self>> {
        let path = folder.join(FILE);
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(CorpusError::io(&path)(error)),
        };
        let broken = |error: serde_json::Error| CorpusError::io(&path)(error.into());
        let found = serde_json::from_slice::<Version>(&bytes).map_err(broken)?.format;
        if found > NEWEST {
            return Err(CorpusError::Newer { name: name.to_owned(), found, known: NEWEST });
        }
        serde_json::from_slice(&bytes).map(Some).map_err(broken)
    }

    /// Whether a folder that came from elsewhere is a corpus of this name that this version reads, as far as its manifest says.
    fn check(folder: &Path, name: &str) -> Result<()> {
        check_name(name)?;
        let manifest =
            Self::read(folder, name)?.ok_or_else(|| CorpusError::NotFound { name: name.to_owned() })?;
        if manifest.name == name {
            return Ok(());
        }
        let why = format!("it is the manifest of the corpus `{}`", manifest.name);
        Err(CorpusError::io(&folder.join(FILE))(std::io::Error::other(why)))
    }

    /// Writes the manifest so that it is there whole or not at all.
    pub(crate) fn write(&self, folder: &Path) -> Result<()> {
        let (path, draft) = (folder.join(FILE), folder.join("corpus.json.new"));
        let text = serde_json::to_vec_pretty(self).map_err(|error| CorpusError::io(&path)(error.into()))?;
        let write = || {
            let mut file = std::fs::File::create(&draft)?;
            file.write_all(&text)?;
            file.sync_all()?;
            std::fs::rename(&draft, &path)
        };
        write().map_err(CorpusError::io(&path))
    }
}

fn format_1_scopes() -> Vec<FeatureScope> {
    vec![FeatureScope::Wide]
}

/// Read first: the rest of a newer manifest may look different.
#[derive(Deserialize)]
struct Version {
    format: u32,
}

/// Checks the manifest of a corpus folder that came from elsewhere, as from a backup.
///
/// # Errors
/// A name that no corpus can have, a manifest that is missing, damaged, of a newer version, or of another corpus.
pub fn check_manifest(folder: &Path, name: &str) -> Result<()> {
    Manifest::check(folder, name)
}

/// Checks a corpus name: it becomes a folder's.
pub(crate) fn check_name(name: &str) -> Result<()> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let fine = (1..=64).contains(&name.len()) && name.chars().all(allowed) && !name.starts_with(['.', '-']);
    if fine { Ok(()) } else { Err(CorpusError::Name { name: name.to_owned() }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for name in ["scifact", "a", "My-corpus_2.1"] {
            assert!(check_name(name).is_ok(), "{name}");
        }
        for name in ["", ".", "..", "a/b", "a b", "-x", ".hidden", "日本", &"x".repeat(65)] {
            assert!(check_name(name).is_err(), "{name}");
        }
    }

    #[test]
    fn a_newer_format_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(FILE), r#"{"format": 99, "shape": "unknown"}"#).unwrap();
        let error = Manifest::read(folder.path(), "x").unwrap_err().to_string();
        assert!(error.starts_with("corpus `x` has format 99 and this version reads up to 5"), "{error}");
    }

    #[test]
    fn format_1_is_still_read() {
        let folder = tempfile::tempdir().unwrap();
        let stored = r#"{"format": 1, "name": "x", "embedder": "m@1", "dimension": 3, "created": "2026-11-20T00:00:00Z"}"#;
        std::fs::write(folder.path().join(FILE), stored).unwrap();
        let manifest = Manifest::read(folder.path(), "x").unwrap().unwrap();
        assert_eq!((manifest.embedder.as_str(), manifest.dimension), ("m@1", 3));
        assert_eq!((manifest.format, manifest.scopes.as_slice()), (1, &[FeatureScope::Wide][..]));
        manifest.write(folder.path()).unwrap();
        assert_eq!(Manifest::read(folder.path(), "x").unwrap(), Some(manifest));
    }
}
