//! Which sentences become claims, and how close these are to the claims that a reader wrote: 100 passages whose sentences
//! were labeled by reading. Prints figures for the first half (to develop on) and the second (to measure on), and holds the
//! second above a floor. Skipped without the shared data (`LYRA_SHARED`, default `../shared` beside the workspace).

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by panicking and prints its figures"
)]

use lyra_text::claim::{WORTHY, atoms};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::PathBuf;

#[test]
fn extracted_sentences() {
    let Some(passages) = passages() else { return };
    let (develop, measure) = passages.split_at(passages.len() / 2);
    let shown = std::env::var_os("LYRA_SHOW").is_some();
    let first = Figures::of(develop, shown);
    println!("first half:  {first}");
    let second = Figures::of(measure, false);
    println!("second half: {second}");
    assert!(second.precision() > 0.7 && second.recall() > 0.5, "{second}");
}

/// Sentences by whether they became claims, and whether they should.
#[derive(Default)]
struct Figures {
    right: usize,
    wrong: usize,
    missed: usize,
    /// Wrong ones by role.
    roles: BTreeMap<String, usize>,
    /// Sum over the right ones of the words shared with the reader's claim (F1).
    alike: f64,
}

impl Figures {
    fn of(passages: &[Value], shown: bool) -> Self {
        let mut figures = Self::default();
        for passage in passages {
            figures.add(passage, shown);
        }
        figures
    }

    fn add(&mut self, passage: &Value, shown: bool) {
        let sentences = passage["sentences"].as_array().unwrap();
        let texts: Vec<&str> = sentences.iter().map(|s| s["text"].as_str().unwrap()).collect();
        let mut starts = Vec::new();
        let mut at = 0;
        for text in &texts {
            starts.push(at);
            at += text.chars().count() + 1;
        }
        let found = atoms(&texts.join(" "), None);
        for (i, sentence) in sentences.iter().enumerate() {
            let end = starts.get(i + 1).copied().unwrap_or(at);
            // A piece may be borrowed from the sentence before: the last one says where a claim is.
            let here = |atom: &&lyra_text::claim::Atom| {
                let last = atom.pieces.iter().map(|piece| piece.start).max().unwrap_or(0);
                (starts[i]..end).contains(&last) && atom.worth >= WORTHY
            };
            let claims: Vec<String> = found.iter().filter(here).map(|atom| atom.text.clone()).collect();
            let wanted = sentence["extract"].as_bool().unwrap();
            let role = sentence["role"].as_str().unwrap();
            let verdict = match (claims.is_empty(), wanted) {
                (false, true) => {
                    self.right += 1;
                    self.alike += alike(&claims.join(" "), sentence["claim"].as_str().unwrap());
                    "RIGHT"
                }
                (false, false) => {
                    self.wrong += 1;
                    *self.roles.entry(role.to_owned()).or_default() += 1;
                    "WRONG"
                }
                (true, true) => {
                    self.missed += 1;
                    "MISSED"
                }
                (true, false) => "",
            };
            if shown && !verdict.is_empty() {
                println!("{verdict} {role}: {}\n    {claims:?}\n    {}", texts[i], sentence["claim"]);
            }
        }
    }

    fn precision(&self) -> f64 {
        self.right as f64 / (self.right + self.wrong).max(1) as f64
    }

    fn recall(&self) -> f64 {
        self.right as f64 / (self.right + self.missed).max(1) as f64
    }
}

impl std::fmt::Display for Figures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (p, r) = (self.precision(), self.recall());
        write!(
            f,
            "precision {p:.3}, recall {r:.3}, F1 {:.3}, words shared with the reader's claim {:.3}, n = {}; wrong by role {:?}",
            2.0 * p * r / (p + r).max(1e-9),
            self.alike / self.right.max(1) as f64,
            self.right + self.wrong + self.missed,
            self.roles
        )
    }
}

/// F1 of the words of two texts.
fn alike(a: &str, b: &str) -> f64 {
    let words = |text: &str| lyra_text::words(text).into_iter().collect::<BTreeSet<_>>();
    let (a, b) = (words(a), words(b));
    let shared = a.intersection(&b).count() as f64;
    2.0 * shared / (a.len() + b.len()).max(1) as f64
}

fn passages() -> Option<Vec<Value>> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../../shared");
    let shared = std::env::var_os("LYRA_SHARED").map_or_else(beside, PathBuf::from);
    let file = std::fs::File::open(shared.join("data/questions/sentence_roles.jsonl.gz"));
    let Ok(file) = file else {
        println!("skipped: no {}", shared.display());
        return None;
    };
    let mut text = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}
