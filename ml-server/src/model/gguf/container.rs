//! The GGUF container: metadata, then tensors, little-endian.
//!
//! Source: <https://github.com/ggml-org/ggml/blob/master/docs/gguf.md>. Versions 2 and 3 are read, version 2 is written.
//! Of metadata, the types that Lyra uses are kept: whole numbers, truth values, texts, and lists of these.

use std::collections::HashMap;
use std::io::{self, BufRead, Seek, SeekFrom, Write};

use half::{bf16, f16};

use crate::model::weights::{HostTensor, Q8_0_BLOCK, Q8_0_BYTES, TensorData};

const MAGIC: [u8; 4] = *b"GGUF";
const WRITTEN_VERSION: u32 = 2;
/// Where tensors begin, unless `general.alignment` says otherwise.
const ALIGNMENT: u64 = 32;
/// Lists in lists, at most.
const MOST_NESTED: usize = 4;
/// Dimensions of a tensor, at most, as in ggml.
const MOST_DIMENSIONS: u32 = 4;

/// A value of the metadata.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::model) enum Value {
    /// Any unsigned whole number.
    Unsigned(u64),
    /// A truth value.
    Flag(bool),
    /// A text.
    Text(String),
    /// Values of one type.
    List(Vec<Value>),
}

/// How a tensor's values are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    F32,
    F16,
    Bf16,
    Q8_0,
    /// A type of ggml that is not read.
    Other(u32),
}

/// Where a tensor is, and its shape, outermost dimension first.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) shape: Vec<usize>,
    pub(super) kind: Kind,
    /// In bytes, from the first tensor on.
    offset: u64,
}

/// The part of a file before its tensors.
#[derive(Debug, Clone)]
pub(super) struct Header {
    pub(super) metadata: HashMap<String, Value>,
    pub(super) tensors: HashMap<String, Place>,
    /// Where the first tensor begins, in bytes from the start of the file.
    start: u64,
}

impl Kind {
    const fn of(code: u32) -> Self {
        match code {
            0 => Self::F32,
            1 => Self::F16,
            8 => Self::Q8_0,
            30 => Self::Bf16,
            other => Self::Other(other),
        }
    }

    const fn code(self) -> u32 {
        match self {
            Self::F32 => 0,
            Self::F16 => 1,
            Self::Q8_0 => 8,
            Self::Bf16 => 30,
            Self::Other(code) => code,
        }
    }

    /// Its name, as `/info` shows it.
    pub(super) fn name(self) -> String {
        match self {
            Self::F32 => "f32".to_owned(),
            Self::F16 => "f16".to_owned(),
            Self::Q8_0 => "q8_0".to_owned(),
            Self::Bf16 => "bf16".to_owned(),
            Self::Other(code) => format!("ggml type {code}"),
        }
    }

    /// Bytes of so many values.
    fn bytes(self, values: usize) -> Result<u64, String> {
        let bytes = match self {
            Self::F32 => values.checked_mul(4),
            Self::F16 | Self::Bf16 => values.checked_mul(2),
            Self::Q8_0 if values.is_multiple_of(Q8_0_BLOCK) => (values / Q8_0_BLOCK).checked_mul(Q8_0_BYTES),
            Self::Q8_0 => return Err(format!("{values} values are not whole blocks of {Q8_0_BLOCK}")),
            Self::Other(_) => {
                return Err(format!("has {}; f32, f16, bf16 and q8_0 are supported", self.name()));
            }
        };
        bytes.map(|bytes| bytes as u64).ok_or_else(|| format!("{values} values are too many"))
    }
}

impl Header {
    /// Reads it from the start of a file.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub(super) fn read(file: &mut (impl BufRead + Seek)) -> Result<Self, String> {
        let length = file.seek(SeekFrom::End(0)).map_err(said)?;
        file.rewind().map_err(said)?;
        let mut fields = Fields { file, at: 0, length };
        if fields.array()? != MAGIC {
            return Err("not a GGUF file: the magic number is missing".to_owned());
        }
        let version = fields.u32()?;
        if !(2..=3).contains(&version) {
            return Err(format!("GGUF version {version}; versions 2 and 3 are supported"));
        }
        let (tensor_count, value_count) = (fields.u64()?, fields.u64()?);
        let mut metadata = HashMap::new();
        for _ in 0..value_count {
            let key = fields.text()?;
            let kind = fields.u32()?;
            if let Some(value) = fields.value(kind, 0)? {
                metadata.insert(key, value);
            }
        }
        let mut tensors = HashMap::new();
        for _ in 0..tensor_count {
            let name = fields.text()?;
            let place = fields.place(&name)?;
            tensors.insert(name, place);
        }
        let alignment = match metadata.get("general.alignment") {
            Some(Value::Unsigned(alignment @ 1..=65536)) => *alignment,
            Some(other) => return Err(format!("general.alignment is {other:?}; 1 to 65536 is possible")),
            None => ALIGNMENT,
        };
        let start = fields.at.next_multiple_of(alignment);
        Ok(Self { metadata, tensors, start })
    }

    /// Reads the values of one tensor.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn tensor(
        &self,
        file: &mut (impl BufRead + Seek),
        place: &Place,
    ) -> Result<HostTensor, String> {
        let values = place.shape.iter().try_fold(1_usize, |values, &extent| values.checked_mul(extent));
        let values = values.ok_or_else(|| format!("shape {:?} is too large", place.shape))?;
        let needed = place.kind.bytes(values)?;
        let start = self.start.checked_add(place.offset).ok_or("begins behind the end of the file")?;
        let left = file.seek(SeekFrom::End(0)).map_err(said)?.saturating_sub(start);
        if needed > left {
            return Err(format!("needs {needed} bytes at offset {start}, only {left} remaining"));
        }
        let mut bytes = vec![0; needed as usize];
        file.seek(SeekFrom::Start(start)).and_then(|_| file.read_exact(&mut bytes)).map_err(said)?;
        let data = match place.kind {
            Kind::F32 => TensorData::F32(numbers(&bytes, f32::from_le_bytes)),
            Kind::F16 => TensorData::F32(numbers(&bytes, |two| f16::from_le_bytes(two).to_f32())),
            Kind::Bf16 => TensorData::F32(numbers(&bytes, |two| bf16::from_le_bytes(two).to_f32())),
            Kind::Q8_0 | Kind::Other(_) => TensorData::Q8_0(bytes),
        };
        Ok(HostTensor { shape: place.shape.clone(), data })
    }
}

fn numbers<const N: usize>(bytes: &[u8], read: impl Fn([u8; N]) -> f32) -> Vec<f32> {
    bytes.as_chunks().0.iter().copied().map(read).collect()
}

#[expect(clippy::needless_pass_by_value, reason = "errors are mapped by value")]
fn said(error: io::Error) -> String {
    error.to_string()
}

/// Reads fields one after the other, none beyond the end of the file.
struct Fields<'a, F> {
    file: &'a mut F,
    at: u64,
    length: u64,
}

impl<F: BufRead> Fields<'_, F> {
    /// Whether so many bytes are left.
    fn check(&self, needed: u64) -> Result<(), String> {
        let left = self.length.saturating_sub(self.at);
        if needed > left {
            return Err(format!("{needed} bytes are needed at offset {}, only {left} remaining", self.at));
        }
        Ok(())
    }

    fn bytes(&mut self, count: u64) -> Result<Vec<u8>, String> {
        self.check(count)?;
        let mut bytes = vec![0; count as usize];
        self.file.read_exact(&mut bytes).map_err(said)?;
        self.at += count;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let mut bytes = [0; N];
        self.check(N as u64)?;
        self.file.read_exact(&mut bytes).map_err(said)?;
        self.at += N as u64;
        Ok(bytes)
    }

    fn u32(&mut self) -> Result<u32, String> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, String> {
        self.array().map(u64::from_le_bytes)
    }

    fn text(&mut self) -> Result<String, String> {
        let length = self.u64()?;
        Ok(String::from_utf8_lossy(&self.bytes(length)?).into_owned())
    }

    /// A value of the type with this code; none if Lyra has no use for the type.
    fn value(&mut self, kind: u32, depth: usize) -> Result<Option<Value>, String> {
        let unsigned = |number| Some(Value::Unsigned(number));
        Ok(match kind {
            0 => unsigned(u64::from(u8::from_le_bytes(self.array()?))),
            2 => unsigned(u64::from(u16::from_le_bytes(self.array()?))),
            4 => unsigned(u64::from(self.u32()?)),
            10 => unsigned(self.u64()?),
            7 => match self.array()? {
                [0] => Some(Value::Flag(false)),
                [1] => Some(Value::Flag(true)),
                [other] => return Err(format!("a truth value is {other}; 0 or 1 is possible")),
            },
            8 => Some(Value::Text(self.text()?)),
            9 => self.list(depth)?,
            // Signed whole numbers and floats.
            1 => self.array::<1>().map(|_| None)?,
            3 => self.array::<2>().map(|_| None)?,
            5 | 6 => self.array::<4>().map(|_| None)?,
            11 | 12 => self.array::<8>().map(|_| None)?,
            other => return Err(format!("metadata of type {other}, which GGUF does not define")),
        })
    }

    fn list(&mut self, depth: usize) -> Result<Option<Value>, String> {
        if depth == MOST_NESTED {
            return Err(format!("lists nested more than {MOST_NESTED} deep"));
        }
        let (kind, count) = (self.u32()?, self.u64()?);
        // Every value has a byte at least.
        self.check(count)?;
        let mut values = Some(Vec::new());
        for _ in 0..count {
            match (self.value(kind, depth + 1)?, &mut values) {
                (Some(value), Some(values)) => values.push(value),
                _ => values = None,
            }
        }
        Ok(values.map(Value::List))
    }

    fn place(&mut self, name: &str) -> Result<Place, String> {
        let dimensions = self.u32()?;
        if dimensions > MOST_DIMENSIONS {
            return Err(format!(
                "tensor {name} has {dimensions} dimensions; {MOST_DIMENSIONS} at most are possible"
            ));
        }
        let mut shape = Vec::new();
        for _ in 0..dimensions {
            let extent = self.u64()?;
            shape.push(
                usize::try_from(extent).map_err(|_| format!("tensor {name} has an extent of {extent}"))?,
            );
        }
        // The file has the innermost first.
        shape.reverse();
        let kind = Kind::of(self.u32()?);
        Ok(Place { shape, kind, offset: self.u64()? })
    }
}

/// Writes a file.
///
/// # Errors
/// When it cannot be written.
pub(in crate::model) fn write(
    file: &mut impl Write,
    metadata: &[(&str, Value)],
    tensors: &[(String, HostTensor)],
) -> io::Result<()> {
    let mut header = Vec::from(MAGIC);
    header.extend(WRITTEN_VERSION.to_le_bytes());
    header.extend((tensors.len() as u64).to_le_bytes());
    header.extend((metadata.len() as u64).to_le_bytes());
    for (key, value) in metadata {
        put_text(&mut header, key);
        header.extend(code_of(value).to_le_bytes());
        put_value(&mut header, value);
    }
    let mut offset = 0;
    for (name, tensor) in tensors {
        put_text(&mut header, name);
        header.extend((tensor.shape.len() as u32).to_le_bytes());
        for &extent in tensor.shape.iter().rev() {
            header.extend((extent as u64).to_le_bytes());
        }
        let (kind, bytes) = match &tensor.data {
            TensorData::F32(values) => (Kind::F32, values.len() as u64 * 4),
            TensorData::Q8_0(blocks) => (Kind::Q8_0, blocks.len() as u64),
        };
        header.extend(kind.code().to_le_bytes());
        header.extend(u64::to_le_bytes(offset));
        offset += bytes.next_multiple_of(ALIGNMENT);
    }
    header.resize((header.len() as u64).next_multiple_of(ALIGNMENT) as usize, 0);
    file.write_all(&header)?;
    for (_, tensor) in tensors {
        let mut bytes = match &tensor.data {
            TensorData::F32(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            TensorData::Q8_0(blocks) => blocks.clone(),
        };
        bytes.resize((bytes.len() as u64).next_multiple_of(ALIGNMENT) as usize, 0);
        file.write_all(&bytes)?;
    }
    Ok(())
}

/// The type under which a value is written; numbers that fit are of 32 bits, as most readers expect.
fn code_of(value: &Value) -> u32 {
    match value {
        Value::Unsigned(number) if u32::try_from(*number).is_ok() => 4,
        Value::Unsigned(_) => 10,
        Value::Flag(_) => 7,
        Value::Text(_) => 8,
        Value::List(_) => 9,
    }
}

fn put_value(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Unsigned(number) => match u32::try_from(*number) {
            Ok(number) => out.extend(number.to_le_bytes()),
            Err(_) => out.extend(number.to_le_bytes()),
        },
        Value::Flag(flag) => out.push(u8::from(*flag)),
        Value::Text(text) => put_text(out, text),
        Value::List(values) => {
            out.extend(values.first().map_or(4, code_of).to_le_bytes());
            out.extend((values.len() as u64).to_le_bytes());
            for value in values {
                put_value(out, value);
            }
        }
    }
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    out.extend((text.len() as u64).to_le_bytes());
    out.extend(text.as_bytes());
}

#[cfg(test)]
mod tests;
