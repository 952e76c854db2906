//! Weights from a `pytorch_model.bin`, for repositories without other formats.

mod unpickle;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use half::{bf16, f16};
use zip::ZipArchive;

use super::weights::{HostTensor, TensorData, WeightSource};
use crate::error::Error;
use unpickle::{Id, Object, Objects, unpickle};

/// The pickle of an archive, in bytes, at most; those of large models have a megabyte.
const MOST_PICKLE: u64 = 64 << 20;

/// An open `pytorch_model.bin`. Its index is parsed without executing the pickle; tensors are read one at a time.
pub struct PickleFile {
    path: PathBuf,
    archive: ZipArchive<BufReader<File>>,
    tensors: BTreeMap<String, Place>,
}

/// Where a tensor is.
#[derive(Debug)]
struct Place {
    /// In the archive.
    file: String,
    kind: Kind,
    shape: Vec<usize>,
    /// In values, from one index of each dimension to the next.
    strides: Vec<usize>,
    /// The first value.
    offset: usize,
}

/// How values are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    F32,
    F16,
    Bf16,
    /// A type that weights are not read from, with its bytes per value.
    Other(&'static str, usize),
}

impl PickleFile {
    /// Opens a file and reads which tensors it has.
    ///
    /// # Errors
    /// When it is not a zip file as `PyTorch` has written them since version 1.6, or has no tensors.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let refused = |reason: String| {
            Error::malformed(path, format!("{reason}; weights as PyTorch 1.6 and later save them are needed"))
        };
        let file = File::open(path).map_err(Error::io(path))?;
        let length = file.metadata().map_err(Error::io(path))?.len();
        let mut archive =
            ZipArchive::new(BufReader::new(file)).map_err(|error| refused(error.to_string()))?;
        let tensors = read_places(&mut archive).map_err(refused)?;
        for (name, place) in &tensors {
            // Archives of weights are stored, not compressed.
            if place.bytes().is_none_or(|bytes| bytes as u64 > length) {
                let shape = &place.shape;
                return Err(refused(format!("tensor {name} of shape {shape:?} is larger than the file")));
            }
        }
        if tensors.is_empty() {
            return Err(Error::malformed(path, "has no tensors; a saved state dictionary is needed"));
        }
        Ok(Self { path: path.to_owned(), archive, tensors })
    }
}

impl WeightSource for PickleFile {
    fn contains(&self, name: &str) -> bool {
        self.tensors.contains_key(name)
    }

    fn tensor(&mut self, name: &str) -> Result<HostTensor, Error> {
        let broken = |reason: String| Error::malformed(&self.path, format!("tensor {name}: {reason}"));
        let Some(place) = self.tensors.get(name) else {
            return Err(Error::malformed(&self.path, format!("tensor {name} is missing")));
        };
        let values = read_values(&mut self.archive, place).map_err(broken)?;
        Ok(HostTensor { shape: place.shape.clone(), data: TensorData::F32(values) })
    }

    fn path(&self) -> PathBuf {
        self.path.clone()
    }

    fn dtype(&self) -> String {
        let largest = self.tensors.values().max_by_key(|place| place.bytes());
        largest.map_or("empty", |place| place.kind.name()).to_owned()
    }

    fn names(&self) -> Vec<String> {
        self.tensors.keys().cloned().collect()
    }
}

impl Kind {
    /// Of a storage, by the name of its class.
    fn of(storage: &str) -> Result<Self, String> {
        Ok(match storage {
            "FloatStorage" => Self::F32,
            "HalfStorage" => Self::F16,
            "BFloat16Storage" => Self::Bf16,
            "DoubleStorage" => Self::Other("f64", 8),
            "LongStorage" => Self::Other("i64", 8),
            "IntStorage" => Self::Other("i32", 4),
            "ByteStorage" => Self::Other("u8", 1),
            "BoolStorage" => Self::Other("bool", 1),
            other => return Err(format!("unsupported storage type {other}")),
        })
    }

    const fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::Other(name, _) => name,
        }
    }

    const fn size(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F16 | Self::Bf16 => 2,
            Self::Other(_, size) => size,
        }
    }
}

impl Place {
    /// Bytes of its values; none when there are more than can be counted.
    fn bytes(&self) -> Option<usize> {
        self.shape.iter().try_fold(self.kind.size(), |bytes, &extent| bytes.checked_mul(extent))
    }

    /// How many values of its storage it reaches over.
    fn reach(&self) -> Option<usize> {
        if self.shape.contains(&0) {
            return Some(0);
        }
        self.shape.iter().zip(&self.strides).try_fold(1_usize, |reach, (&extent, &stride)| {
            (extent - 1).checked_mul(stride)?.checked_add(reach)
        })
    }

    /// Whether its values stand one after the other.
    fn is_contiguous(&self) -> bool {
        let mut expected = 1;
        self.shape.iter().zip(&self.strides).rev().all(|(&extent, &stride)| {
            let fits = extent == 1 || stride == expected;
            expected *= extent;
            fits
        })
    }
}

/// The tensors of the state dictionary.
fn read_places(archive: &mut ZipArchive<BufReader<File>>) -> Result<BTreeMap<String, Place>, String> {
    let pickle = (0..archive.len()).find_map(|at| {
        let name = archive.by_index_raw(at).ok()?.name().ok()?.into_owned();
        (name == "data.pkl" || name.ends_with("/data.pkl")).then_some((at, name))
    });
    let (at, name) = pickle.ok_or("the archive lacks data.pkl")?;
    let mut bytes = Vec::new();
    let file = archive.by_index(at).map_err(|error| error.to_string())?;
    if file.size() > MOST_PICKLE {
        return Err(format!("{name} has {} bytes; {MOST_PICKLE} at most are read", file.size()));
    }
    file.take(MOST_PICKLE).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    let (objects, top) = unpickle(&bytes).map_err(|reason| format!("{name}: {reason}"))?;
    let Object::Dictionary(entries) = objects.get(top) else {
        return Err(format!("{name} holds no dictionary"));
    };
    let folder = name.strip_suffix(".pkl").unwrap_or_default();
    let mut places = BTreeMap::new();
    for (key, value) in entries {
        if let Some(name) = objects.text(*key)
            && let Some(tensor) = tensor_of(&objects, *value)
        {
            let place =
                place_of(&objects, tensor, folder).map_err(|reason| format!("tensor {name}: {reason}"))?;
            places.insert(name.to_owned(), place);
        }
    }
    Ok(places)
}

/// The arguments of `_rebuild_tensor_v2`, also of a parameter and of a tensor with attributes.
fn tensor_of(objects: &Objects, value: Id) -> Option<&[Id]> {
    if let Some([tensor, ..]) = objects.call(value, "_rebuild_parameter") {
        return objects.call(*tensor, "_rebuild_tensor_v2");
    }
    // Function, type, its arguments, state.
    if let Some([_, _, arguments, ..]) = objects.call(value, "_rebuild_from_type_v2") {
        return objects.sequence(*arguments);
    }
    objects.call(value, "_rebuild_tensor_v2")
}

/// From the arguments storage, offset, shape, strides; a storage is ("storage", class, key, device, size).
fn place_of(objects: &Objects, arguments: &[Id], folder: &str) -> Result<Place, String> {
    let unreadable = || "its description is unreadable".to_owned();
    let &[storage, offset, shape, strides, ..] = arguments else { return Err(unreadable()) };
    let Object::Outside(storage) = objects.get(storage) else { return Err(unreadable()) };
    let Some([_, class, key, ..]) = objects.sequence(*storage) else { return Err(unreadable()) };
    let Object::Global(_, class) = objects.get(*class) else { return Err(unreadable()) };
    let key = objects.text(*key).ok_or_else(unreadable)?;
    let sizes =
        |id| -> Option<Vec<usize>> { objects.sequence(id)?.iter().map(|id| objects.size(*id)).collect() };
    let place = Place {
        file: format!("{folder}/{key}"),
        kind: Kind::of(class)?,
        shape: sizes(shape).ok_or_else(unreadable)?,
        strides: sizes(strides).ok_or_else(unreadable)?,
        offset: objects.size(offset).ok_or_else(unreadable)?,
    };
    if place.shape.len() == place.strides.len() { Ok(place) } else { Err(unreadable()) }
}

/// The values of a tensor, row-major.
fn read_values(archive: &mut ZipArchive<BufReader<File>>, place: &Place) -> Result<Vec<f32>, String> {
    let size = place.kind.size();
    let (Some(reach), Some(skipped)) = (place.reach(), place.offset.checked_mul(size)) else {
        return Err("it is larger than its file".to_owned());
    };
    let mut file = archive.by_name(&place.file).map_err(|error| format!("{}: {error}", place.file))?;
    let needed = reach.checked_mul(size).and_then(|bytes| bytes.checked_add(skipped));
    if needed.is_none_or(|needed| needed as u64 > file.size()) {
        return Err(format!("cut short: {} has {} bytes", place.file, file.size()));
    }
    std::io::copy(&mut file.by_ref().take(skipped as u64), &mut std::io::sink())
        .map_err(|error| error.to_string())?;
    let mut bytes = vec![0; reach * size];
    file.read_exact(&mut bytes).map_err(|error| error.to_string())?;
    let values: Vec<f32> = match place.kind {
        Kind::F32 => bytes.as_chunks().0.iter().copied().map(f32::from_le_bytes).collect(),
        Kind::F16 => {
            bytes.as_chunks().0.iter().copied().map(|two| f16::from_le_bytes(two).to_f32()).collect()
        }
        Kind::Bf16 => {
            bytes.as_chunks().0.iter().copied().map(|two| bf16::from_le_bytes(two).to_f32()).collect()
        }
        Kind::Other(name, _) => return Err(format!("has type {name}; f32, f16 and bf16 are supported")),
    };
    if place.is_contiguous() { Ok(values) } else { Ok(gather(&values, &place.shape, &place.strides)) }
}

/// Values of a strided tensor, such as a transposed one, in row-major order.
fn gather(values: &[f32], shape: &[usize], strides: &[usize]) -> Vec<f32> {
    let (Some((&extent, shape)), Some((&stride, strides))) = (shape.split_first(), strides.split_first())
    else {
        return values.first().copied().into_iter().collect();
    };
    (0..extent).flat_map(|at| gather(values.get(at * stride..).unwrap_or_default(), shape, strides)).collect()
}
