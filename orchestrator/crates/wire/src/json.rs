//! JSON helpers of shapes and edges: an object's fields, a value's size, the decimals of numbers.

use serde::Serialize;
use serde_json::{Map, Value};

/// The fields of an object; empty for anything else.
pub fn fields(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// The fields of what a value is written as.
pub fn fields_of<T: Serialize + ?Sized>(value: &T) -> Map<String, Value> {
    serde_json::to_value(value).map(fields).unwrap_or_default()
}

/// The word that a value is written as; empty for anything but a word.
pub fn word<T: Serialize + ?Sized>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        _ => String::new(),
    }
}

/// Bytes of a value's JSON.
pub fn size<T: Serialize + ?Sized>(value: &T) -> usize {
    serde_json::to_vec(value).map_or(usize::MAX / 2, |bytes| bytes.len())
}

/// A number with three decimals.
pub fn thousandths(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}

/// A number with six decimals, where the differences that matter are small.
pub fn millionths(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}
