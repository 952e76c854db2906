//! Generated bodies: random bytes, random JSON, and valid bodies with parts changed. Every one is answered as
//! the API describes. `fuzz` searches further, with the same seeds.

#![allow(clippy::unwrap_used, clippy::allow_attributes, reason = "helpers of tests may panic")]

#[path = "common/border.rs"]
mod border;

use std::collections::BTreeSet;

use border::{Border, ROUTES, seeds};
use serde_json::{Map, Value, json};

/// Pieces that parsers have stumbled over.
const PIECES: [&str; 24] = [
    "null",
    "true",
    "-1",
    "1e999",
    "1.5",
    "4294967296",
    "18446744073709551616",
    "\"\"",
    "\"\\ud800\"",
    "\"\\u0000\"",
    "[]",
    "{}",
    "[[",
    "]]",
    "[[]]",
    "[null]",
    ",",
    ":",
    "\"",
    "\\",
    "\u{feff}",
    "\u{202e}",
    "red stone blue",
    "\"inputs\":",
];

const FIELDS: [&str; 21] = [
    "inputs",
    "input",
    "pairs",
    "premise",
    "hypothesis",
    "source_sentence",
    "sentences",
    "items",
    "claim",
    "title",
    "parameters",
    "truncate",
    "truncation_direction",
    "normalize",
    "dimensions",
    "prompt_name",
    "raw_scores",
    "add_special_tokens",
    "encoding_format",
    "model",
    "user",
];

const TEXTS: [&str; 8] = ["", "red", "stone blue", "left", "Right", "base64", "\u{0}\u{202e}", "研究👩‍🔬"];

/// A linear congruential generator: always the same cases, so that nothing fails now and then.
struct Random(u64);

impl Random {
    /// A number below `end`.
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }

    fn bytes(&mut self, most: usize) -> Vec<u8> {
        (0..self.below(most)).map(|_| self.below(256) as u8).collect()
    }

    /// JSON with the field names of the API at every depth.
    fn json(&mut self, depth: usize) -> Value {
        let count = self.below(5);
        match self.below(if depth == 0 { 6 } else { 9 }) {
            0 => Value::Null,
            1 => json!(self.below(2) == 0),
            2 => json!(self.below(10)),
            3 => json!(self.0.cast_signed()),
            4 => json!(self.0 as f64 / 3.0),
            5 => json!(self.pick(&TEXTS)),
            6 => (0..count).map(|_| self.json(depth - 1)).collect(),
            _ => {
                let field = |_| (self.pick(&FIELDS).to_owned(), self.json(depth - 1));
                Value::from((0..count).map(field).collect::<Map<_, _>>())
            }
        }
    }

    /// The body with one to five changes.
    fn changed(&mut self, mut body: Vec<u8>) -> Vec<u8> {
        for _ in 0..=self.below(5) {
            let start = self.below(body.len() + 1);
            let end = body.len().min(start + 1 + self.below(30));
            let (end, new) = match self.below(5) {
                0 => (end, Vec::new()),
                1 => (start, self.pick(&PIECES).as_bytes().to_vec()),
                2 => (start, self.bytes(8)),
                3 => (body.len().min(start + 1), vec![self.below(256) as u8]),
                _ => (end, body[start..end].repeat(1 + self.below(50))),
            };
            body.splice(start..end, new);
        }
        body
    }
}

#[test]
fn every_seed_is_valid() {
    let border = Border::new();
    for (path, name) in ROUTES {
        let seeds = seeds(name);
        assert!(seeds.len() >= 3, "{name}");
        for body in seeds {
            assert_eq!(border.check(path, &body), 200, "{path} {}", String::from_utf8_lossy(&body));
        }
    }
}

#[test]
fn changed_bodies_are_answered() {
    let (border, mut random) = (Border::new(), Random(1));
    for (path, name) in ROUTES {
        let seeds = seeds(name);
        let statuses: BTreeSet<_> = (0..500)
            .map(|_| {
                let seed = random.pick(&seeds);
                border.check(path, &random.changed(seed))
            })
            .collect();
        let both = statuses.contains(&200) && statuses.contains(&400);
        assert!(both, "{path} {statuses:?}: the changes are neither too small nor too large");
    }
}

#[test]
fn random_json_is_answered() {
    let (border, mut random) = (Border::new(), Random(2));
    for (path, _) in ROUTES {
        for _ in 0..500 {
            border.check(path, random.json(4).to_string().as_bytes());
        }
    }
}

#[test]
fn random_bytes_are_answered() {
    let (border, mut random) = (Border::new(), Random(3));
    for (path, _) in ROUTES {
        for _ in 0..200 {
            border.check(path, &random.bytes(200));
        }
    }
}
