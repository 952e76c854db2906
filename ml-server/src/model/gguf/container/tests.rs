//! What is written is read back; what is damaged is refused and never panics.

#![allow(clippy::unwrap_used, clippy::allow_attributes, reason = "tests fail by panicking")]

use super::{Header, Value, write};
use crate::model::weights::{HostTensor, TensorData, to_q8_0};
use proptest::prelude::*;
use std::io::Cursor;

fn file() -> Vec<u8> {
    let metadata = [
        ("number", Value::Unsigned(7)),
        ("large", Value::Unsigned(1 << 40)),
        ("flag", Value::Flag(true)),
        ("text", Value::Text("Säure".to_owned())),
        ("list", Value::List(vec![Value::Text("en".to_owned()), Value::Text("ja".to_owned())])),
        ("empty", Value::List(Vec::new())),
    ];
    let values: Vec<f32> = (0..64).map(|value| value as f32 / 8.0 - 3.0).collect();
    let plain = HostTensor { shape: vec![3], data: TensorData::F32(values[..3].to_vec()) };
    let blocks = HostTensor { shape: vec![2, 32], data: TensorData::Q8_0(to_q8_0(&values)) };
    let mut file = Vec::new();
    write(&mut file, &metadata, &[("plain".to_owned(), plain), ("blocks".to_owned(), blocks)]).unwrap();
    file
}

/// Everything in a file, or what is wrong with it.
fn read(bytes: &[u8]) -> Result<(Header, Vec<(String, HostTensor)>), String> {
    let mut file = Cursor::new(bytes);
    let header = Header::read(&mut file)?;
    let mut tensors = Vec::new();
    for (name, place) in &header.tensors {
        tensors.push((name.clone(), header.tensor(&mut file, place)?));
    }
    tensors.sort_by(|a, b| a.0.cmp(&b.0));
    Ok((header, tensors))
}

#[test]
fn what_is_written_is_read_back() {
    let (header, tensors) = read(&file()).unwrap();
    assert_eq!(header.metadata["large"], Value::Unsigned(1 << 40));
    assert_eq!(header.metadata["flag"], Value::Flag(true));
    assert_eq!(header.metadata["text"], Value::Text("Säure".to_owned()));
    assert_eq!(header.metadata["empty"], Value::List(Vec::new()));
    assert_eq!(tensors[0].1.shape, [2, 32]);
    assert_eq!(tensors[1].1, HostTensor { shape: vec![3], data: TensorData::F32(vec![-3.0, -2.875, -2.75]) });
}

proptest! {
    #[test]
    fn a_damaged_file_is_refused_or_read(at in 0_usize..700, byte: u8, length in 0_usize..2000) {
        let mut bytes = file();
        let at = at % bytes.len();
        bytes[at] = byte;
        bytes.truncate(length.max(1));
        let _ = read(&bytes);
    }

    #[test]
    fn a_length_beyond_the_end_allocates_nothing(length: u64) {
        let mut bytes = b"GGUF\x02\0\0\0".to_vec();
        bytes.extend(0_u64.to_le_bytes());
        bytes.extend(1_u64.to_le_bytes());
        bytes.extend(length.max(64).to_le_bytes());
        let error = read(&bytes).unwrap_err();
        prop_assert!(error.contains("remaining"), "{error}");
    }
}
