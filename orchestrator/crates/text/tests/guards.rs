//! How often each guard is right, on claims that were written and labeled by reading.
//!
//! The data is not part of the repository; `LYRA_SHARED` names its folder, which is beside the repository by default:
//! `cargo test -p lyra-text --test guards -- --ignored --nocapture`.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::allow_attributes,
    reason = "helpers of tests may panic, and the table is what it is for"
)]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use lyra_text::guard::{Passage, Side, check};
use lyra_text::{Role, roles, sentences};
use serde_json::Value;

/// Most of the right sides that the guards may take away together.
const MOST_BLOCKED: f64 = 0.03;

fn shared() -> Option<PathBuf> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../../shared");
    let folder = std::env::var_os("LYRA_SHARED").map_or_else(beside, PathBuf::from);
    folder.join("tools/texts.py").exists().then_some(folder)
}

#[derive(Default)]
struct Share {
    hits: usize,
    of: usize,
}

impl Share {
    fn add(&mut self, hit: bool) {
        self.hits += usize::from(hit);
        self.of += 1;
    }

    fn get(&self) -> f64 {
        self.hits as f64 / self.of.max(1) as f64
    }
}

fn text(row: &Value, key: &str) -> String {
    row[key].as_str().unwrap_or_default().to_owned()
}

fn passage(document: &Value) -> (String, Passage) {
    let sentences: Vec<&str> =
        document["sentences"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let whole = sentences.join(" ");
    let passage = Passage::of(&text(document, "title"), &whole);
    (whole, passage)
}

/// Prints, for the training and the validation part, what each guard takes from right sides and what it catches.
#[test]
#[ignore = "needs the labeled claims"]
fn what_the_guards_take_away() {
    let Some(shared) = shared() else {
        println!("no labeled claims: set LYRA_SHARED");
        return;
    };
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/written.py");
    let output = Command::new("python3").arg(script).arg(&shared).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let show = std::env::var("SHOW").ok();
    let mut shares: BTreeMap<(String, String), Share> = BTreeMap::new();
    let mut differences: BTreeMap<(String, String), BTreeMap<String, usize>> = BTreeMap::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let (claim, label, split) = (text(&row, "claim"), text(&row, "label"), text(&row, "split"));
        let deciding = text(&row, "deciding");
        let (whole, of_claim) = passage(&row);
        let found = check(&claim, &of_claim, &deciding);
        let mut note = |what: &str, hit: bool| {
            shares.entry((split.clone(), what.to_owned())).or_default().add(hit);
        };
        let side = match label.as_str() {
            "SUPPORT" => Some(Side::Supports),
            "REFUTE" => Some(Side::Refutes),
            _ => None,
        };
        if let Some(side) = side {
            note("right sides: blocked", !found.allows(side));
            note("right sides: subject or outcome missing", !found.missing.is_empty());
            let other = if side == Side::Supports { Side::Refutes } else { Side::Supports };
            note("right sides: the wrong one blocked", found.missing.is_empty() && !found.allows(other));
            let roles = roles(&sentences(&whole, Some("en")), Some("en"));
            let cut = sentences(&whole, Some("en"));
            let mut deciding_roles = cut
                .iter()
                .zip(&roles)
                .filter(|(sentence, _)| deciding.contains(&sentence.text))
                .map(|(_, role)| role);
            note("right sides: every deciding sentence is an aim, method or background", {
                let first = deciding_roles.next();
                first.is_some_and(|role| !role.tells()) && deciding_roles.all(|role: &Role| !role.tells())
            });
        } else {
            let kind = text(&row, "kind");
            note(&format!("silent, {kind}: subject or outcome missing"), !found.missing.is_empty());
        }
        for difference in &found.differs {
            let kind = difference.split(':').next().unwrap_or_default().to_owned();
            *differences.entry((split.clone(), kind)).or_default().entry(label.clone()).or_default() += 1;
        }
        let (_, other) = passage(&row["other"]);
        note("another document: subject or outcome missing", !check(&claim, &other, "").missing.is_empty());
        let shown = side.is_some_and(|side| !found.allows(side)) && split == "train";
        if let Some(wanted) = show.as_deref().filter(|_| shown) {
            let whole = format!("{:?} {:?}", found.missing, found.differs);
            if whole.contains(wanted) {
                println!("{label} {whole} {claim} | {deciding}");
            }
        }
    }
    for ((split, what), share) in &shares {
        println!(
            "{split:<10} {what:<70} {:>6} of {:>6} {:>6.2} %",
            share.hits,
            share.of,
            100.0 * share.get()
        );
    }
    for ((split, kind), labels) in &differences {
        println!("{split:<10} differs: {kind:<20} {labels:?}");
    }
    for split in ["train", "validation"] {
        let blocked = shares[&(split.to_owned(), "right sides: blocked".to_owned())].get();
        assert!(blocked <= MOST_BLOCKED, "{split}: {blocked}");
    }
}
