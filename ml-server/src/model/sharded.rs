//! Weights in several files, with an index that names them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use serde::Deserialize;

use super::weights::{HostTensor, WeightSource};
use crate::error::Error;

/// Index of the shards of a `pytorch_model.bin`.
pub const PICKLE_INDEX: &str = "pytorch_model.bin.index.json";

/// The shards of a model and which tensor is in which.
pub struct Sharded {
    index: PathBuf,
    shards: Vec<Box<dyn WeightSource>>,
    places: BTreeMap<String, usize>,
}

#[derive(Deserialize)]
struct Index {
    weight_map: BTreeMap<String, String>,
}

/// File names of the shards that an index names, sorted.
///
/// # Errors
/// It is unreadable, empty, or names a file outside its folder.
pub fn shards(index: &Path) -> Result<Vec<String>, Error> {
    let bytes = fs::read(index).map_err(Error::io(index))?;
    let Index { weight_map } =
        serde_json::from_slice(&bytes).map_err(|error| Error::malformed(index, error))?;
    let names: BTreeSet<String> = weight_map.into_values().collect();
    let outside =
        |name: &&String| !Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
    if let Some(name) = names.iter().find(outside) {
        return Err(Error::malformed(index, format!("names the file `{name}`, which is outside the model")));
    }
    if names.is_empty() {
        return Err(Error::malformed(index, "names no file of weights"));
    }
    Ok(names.into_iter().collect())
}

impl Sharded {
    /// Opens the shards that an index names, each with `open`. The contents of a shard are read from the shard itself.
    ///
    /// # Errors
    /// When the index or a shard is missing or damaged.
    pub fn open<S: WeightSource + 'static>(
        index: &Path,
        open: impl Fn(&Path) -> Result<S, Error>,
    ) -> Result<Self, Error> {
        let folder = index.parent().unwrap_or_else(|| Path::new(""));
        let mut opened: Vec<Box<dyn WeightSource>> = Vec::new();
        let mut places = BTreeMap::new();
        for name in shards(index)? {
            let shard = open(&folder.join(name))?;
            places.extend(shard.names().into_iter().map(|tensor| (tensor, opened.len())));
            opened.push(Box::new(shard));
        }
        Ok(Self { index: index.to_owned(), shards: opened, places })
    }
}

impl WeightSource for Sharded {
    fn contains(&self, name: &str) -> bool {
        self.places.contains_key(name)
    }

    fn tensor(&mut self, name: &str) -> Result<HostTensor, Error> {
        match self.places.get(name) {
            Some(&place) => self.shards[place].tensor(name),
            None => Err(Error::malformed(&self.index, format!("no shard has tensor {name}"))),
        }
    }

    fn path(&self) -> PathBuf {
        self.index.clone()
    }

    fn dtype(&self) -> String {
        self.shards.first().map_or_else(|| "empty".to_owned(), |shard| shard.dtype())
    }

    fn names(&self) -> Vec<String> {
        self.places.keys().cloned().collect()
    }
}
