//! How well the rules do on SciFact: sentence boundaries, language, check-worthiness. Prints figures and holds them
//! above a floor. Skipped without the shared data (`LYRA_SHARED`, default `../shared` beside the workspace).

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by panicking and prints its figures"
)]

use lyra_text::{claim, language, numbers, sentences};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

#[test]
fn sentence_boundaries_of_abstracts() {
    let Some(corpus) = lines("corpus.jsonl") else { return };
    let (mut right, mut found, mut gold) = (0_usize, 0_usize, 0_usize);
    let mut shown = 0;
    for document in &corpus {
        let parts = strings(&document["abstract"]);
        let text = parts.join(" ");
        let mut at = 0;
        let mut wanted = HashSet::new();
        for part in &parts {
            at += part.chars().count();
            wanted.insert(at);
            at += 1;
        }
        let cut: HashSet<usize> = sentences(&text, Some("en")).into_iter().map(|s| s.end).collect();
        // The end of the text is no achievement.
        let last = text.chars().count();
        wanted.remove(&last);
        let cut: HashSet<usize> = cut.into_iter().filter(|end| *end != last).collect();
        right += cut.intersection(&wanted).count();
        found += cut.len();
        gold += wanted.len();
        if std::env::var_os("LYRA_SHOW").is_some() && shown < 400 {
            for (kind, ends) in [("EXTRA", cut.difference(&wanted)), ("MISSED", wanted.difference(&cut))] {
                for end in ends {
                    let around: String = text
                        .chars()
                        .skip(end.saturating_sub(40))
                        .take(40)
                        .chain("|".chars())
                        .chain(text.chars().skip(*end).take(30))
                        .collect();
                    println!("{kind}\t{around}");
                    shown += 1;
                }
            }
        }
    }
    let (precision, recall) = (right as f64 / found as f64, right as f64 / gold as f64);
    let f1 = 2.0 * precision * recall / (precision + recall);
    println!(
        "sentence boundaries: precision {precision:.4}, recall {recall:.4}, F1 {f1:.4} ({gold} in the data)"
    );
    assert!(f1 > 0.9);
}

#[test]
fn short_english_claims_are_english() {
    let Some(claims) = lines("claims_train.jsonl") else { return };
    let mut counts: HashMap<Option<&str>, usize> = HashMap::new();
    for claim in &claims {
        let text = claim["claim"].as_str().unwrap();
        let code = language(text);
        *counts.entry(code).or_default() += 1;
        if code.is_some_and(|c| c != "en") && std::env::var_os("LYRA_SHOW").is_some() {
            println!("{code:?}\t{text}");
        }
    }
    println!("language of {} English claims: {counts:?}", claims.len());
    assert!(counts.get(&Some("en")).copied().unwrap_or(0) as f64 > 0.9 * claims.len() as f64);
}

/// Sentences that annotators cited as evidence against the other sentences of the same abstracts.
#[test]
fn cited_sentences_are_worth_checking() {
    let (Some(corpus), Some(claims)) = (lines("corpus.jsonl"), lines("claims_train.jsonl")) else { return };
    let mut cited: HashMap<String, HashSet<usize>> = HashMap::new();
    for claim in &claims {
        for (id, groups) in claim["evidence"].as_object().unwrap() {
            for group in groups.as_array().unwrap() {
                let indices =
                    group["sentences"].as_array().unwrap().iter().map(|i| i.as_u64().unwrap() as usize);
                cited.entry(id.clone()).or_default().extend(indices);
            }
        }
    }
    let (mut yes, mut no) = (Vec::new(), Vec::new());
    for document in &corpus {
        let Some(indices) = cited.get(&document["doc_id"].to_string()) else { continue };
        for (i, sentence) in strings(&document["abstract"]).iter().enumerate() {
            let score = claim::check_worthiness(sentence, Some("en"));
            if indices.contains(&i) {
                yes.push(score);
            } else {
                no.push(score);
            }
            if std::env::var_os("LYRA_SHOW").is_some() && indices.contains(&i) != (score >= claim::WORTHY) {
                println!("{score:.2} {} {sentence}", if indices.contains(&i) { "CITED" } else { "other" });
            }
        }
    }
    let wins: f64 = yes
        .iter()
        .map(|y| no.iter().map(|n| if y > n { 1.0 } else { f64::from(u8::from(y == n)) / 2.0 }).sum::<f64>())
        .sum();
    let auc = wins / (yes.len() * no.len()) as f64;
    let share =
        |scores: &[f64]| scores.iter().filter(|s| **s >= claim::WORTHY).count() as f64 / scores.len() as f64;
    println!(
        "check-worthiness: AUC {auc:.3}, worthy {:.3} of {} cited and {:.3} of {} other sentences",
        share(&yes),
        yes.len(),
        share(&no),
        no.len()
    );
    assert!(auc > 0.6);
}

/// What becomes of the sentences of real abstracts: most stay as they are, some are split, some are left out; every number
/// of a sentence that is split stays in one of its claims.
#[test]
fn atomic_claims_of_abstracts() {
    let Some(corpus) = lines("corpus.jsonl") else { return };
    let (mut sentences_in, mut claims_out, mut split, mut left_out, mut longest) = (0_usize, 0, 0, 0, 0);
    for document in corpus.iter().take(1_000) {
        for sentence in strings(&document["abstract"]) {
            let found = claim::atoms(&sentence, Some("en"));
            sentences_in += 1;
            claims_out += found.len();
            left_out += usize::from(found.is_empty());
            longest = longest.max(found.iter().map(|atom| atom.pieces.len()).max().unwrap_or(0));
            if found.len() > 1 {
                split += 1;
                let whole = numbers(claim::statement(&sentence, Some("en")));
                let kept: std::collections::BTreeSet<String> =
                    found.iter().flat_map(|atom| numbers(&atom.text)).collect();
                assert!(kept.is_subset(&whole), "{sentence}");
                if std::env::var_os("LYRA_SHOW").is_some() {
                    println!("\n{sentence}");
                    for atom in &found {
                        println!("   {:.2} {}", atom.worth, atom.text);
                    }
                }
            }
        }
    }
    println!(
        "atomic claims: {claims_out} of {sentences_in} sentences; {split} were split, {left_out} gave none, at most \
         {longest} pieces"
    );
    assert!(split > 0 && longest < 6);
}

/// For how many claims the rules find a counter-claim.
#[test]
fn counter_claims() {
    let Some(claims) = lines("claims_train.jsonl") else { return };
    let mut turned = 0;
    for claim in &claims {
        let text = claim["claim"].as_str().unwrap();
        let counter = claim::counter_claim(text, Some("en"));
        turned += usize::from(counter.is_some());
        if std::env::var_os("LYRA_SHOW").is_some() {
            println!("{}\t{text}\t{}", claim["id"], counter.unwrap_or_default());
        }
    }
    println!("counter-claims: {turned} of {} claims have one", claims.len());
    assert!(turned * 2 > claims.len());
}

fn strings(value: &Value) -> Vec<String> {
    value
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s.as_str().unwrap().trim().to_owned())
        .filter(|s| !s.is_empty())
        .collect()
}

fn lines(name: &str) -> Option<Vec<Value>> {
    let shared = std::env::var_os("LYRA_SHARED").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../../shared")),
        PathBuf::from,
    );
    let path = shared.join("data/scifact").join(name);
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("skipped: {} is absent", path.display());
        return None;
    };
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}
