//! Backends on other machines: `OpenSearch`, and Patentfield's REST API.

mod http;
mod opensearch;
mod patentfield;

pub use opensearch::{Analyzer, Cluster, OpenSearchBackend, OpenSearchConfig};
pub(crate) use opensearch::{Lanes, Put, Shelf, State, Written, check_labels, labels, search_evidence};
pub use patentfield::{PatentfieldBackend, PatentfieldConfig};

use crate::backend::{Codes, LaneHit, LaneHits};
use crate::document::json::civil;
use lyra_domain::classification::System;
use serde_json::Value;
use std::time::Instant;

/// What a search begun at `start` found of the `top_k` asked for: best first, ties by document.
fn lane_hits(mut hits: Vec<LaneHit>, total: Option<u64>, top_k: usize, start: Instant) -> LaneHits {
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.doc_id.cmp(&b.doc_id)));
    hits.truncate(top_k);
    let truncated = total.map_or(hits.len() == top_k, |total| total > hits.len() as u64);
    LaneHits { hits, took_ms: start.elapsed().as_millis() as u64, truncated, total, ..LaneHits::default() }
}

/// Codes of a record in normal form, read from each system's fields; invalid codes are dropped.
fn codes(record: &Value, fields: [(System, &str); 4]) -> Codes {
    let mut codes = Codes::default();
    for (system, field) in fields {
        for code in strings(&record[field]) {
            let _ = codes.add(system, &code);
        }
    }
    codes
}

/// A string or a list of strings.
fn strings(value: &Value) -> Vec<String> {
    match value {
        Value::String(one) => vec![one.clone()],
        Value::Array(many) => many.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect(),
        _ => Vec::new(),
    }
}

/// A date, or the day of a time.
fn day(value: &Value) -> Option<jiff::civil::Date> {
    let text = value.as_str()?;
    civil(text.get(..10).unwrap_or(text))
}
