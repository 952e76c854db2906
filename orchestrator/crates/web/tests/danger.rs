//! The rules against labeled sets of our own writing: attacks in fourteen languages, frames and disguises, and harmless sentences
//! that look alike or quote attacks. The rules were written with the first set at hand. The held-out set was written later, and no
//! rule was changed for one of its lines; as both come from one project, it says little of attacks that others write.
//!
//! `docs/quality.md` publishes the figures, and a test compares them.

use lyra_web::danger::{DangerousPatterns, Severity};
use std::collections::BTreeMap;

/// Name, attacks, and harmless sentences.
const SETS: [(&str, &str, &str); 2] = [
    ("development", include_str!("danger/attacks.txt"), include_str!("danger/harmless.txt")),
    ("held out", include_str!("danger/attacks-held-out.txt"), include_str!("danger/harmless-held-out.txt")),
];
/// Least precision and recall of each set.
const LEAST: [(f64, f64); 2] = [(0.9, 0.9), (0.8, 0.6)];

/// Kind and sentence of every line.
fn lines(text: &str) -> Vec<(&str, &str)> {
    text.lines().filter_map(|line| line.split_once('\t')).collect()
}

#[derive(Debug, Default)]
struct Count {
    attacks: usize,
    caught: usize,
    harmless: usize,
    alarmed: usize,
    /// Attacks of each kind, and those caught.
    kinds: BTreeMap<&'static str, (usize, usize)>,
}

impl Count {
    fn recall(&self) -> f64 {
        self.caught as f64 / self.attacks as f64
    }

    fn precision(&self) -> f64 {
        self.caught as f64 / (self.caught + self.alarmed) as f64
    }

    /// Its line in the table of figures.
    fn row(&self, name: &str) -> String {
        format!(
            "| {name} | {} of {} | {:.3} ({}) | {} of {} | {:.3} ({}) |",
            self.caught,
            self.attacks,
            self.recall(),
            wilson(self.caught, self.attacks),
            self.alarmed,
            self.harmless,
            self.precision(),
            wilson(self.caught, self.caught + self.alarmed),
        )
    }
}

/// The 95 % interval of a share.
fn wilson(of: usize, n: usize) -> String {
    let (share, n, z) = (of as f64 / n as f64, n as f64, 1.96_f64);
    let middle = (share + z * z / (2.0 * n)) / (1.0 + z * z / n);
    let half = z / (1.0 + z * z / n) * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    format!("{:.3}–{:.3}", middle - half, middle + half)
}

/// What the rules say of a set. Errors are shown for the development set alone, so that nothing is learned from the other one.
#[expect(clippy::print_stdout, reason = "what the rules got wrong is worth a look")]
fn counted(
    patterns: &DangerousPatterns,
    (name, attacks, harmless): (&str, &'static str, &'static str),
) -> Count {
    let shown = name == "development";
    let rule = |text: &str| {
        let found = patterns.gravest(text).filter(|found| found.severity >= Severity::Medium);
        found.map(|found| found.rule)
    };
    let mut count = Count::default();
    for (kind, text) in lines(attacks) {
        let caught = rule(text).is_some();
        count.attacks += 1;
        count.caught += usize::from(caught);
        let of_kind = count.kinds.entry(kind).or_default();
        *of_kind = (of_kind.0 + 1, of_kind.1 + usize::from(caught));
        if shown && !caught {
            println!("missed  {kind}\t{text}");
        }
    }
    for (kind, text) in lines(harmless) {
        let alarm = rule(text);
        count.harmless += 1;
        count.alarmed += usize::from(alarm.is_some());
        if let Some(rule) = alarm.filter(|_| shown) {
            println!("alarmed {kind}\t{text} {rule}");
        }
    }
    count
}

#[test]
fn precision_and_recall_are_those_that_are_published() {
    let patterns = DangerousPatterns::built_in().expect("rules");
    let document = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/quality.md");
    let document = std::fs::read_to_string(document).expect("docs/quality.md");
    let mut unpublished = Vec::new();
    for (set, (precision, recall)) in SETS.into_iter().zip(LEAST) {
        let count = counted(&patterns, set);
        eprintln!("{}: {:?}", set.0, count.kinds);
        assert!(count.precision() >= precision && count.recall() >= recall, "{count:?}");
        let row = count.row(set.0);
        if !document.contains(&row) {
            unpublished.push(row);
        }
    }
    assert!(unpublished.is_empty(), "docs/quality.md has other figures than:\n{}", unpublished.join("\n"));
}

#[test]
fn the_sets_have_the_languages_and_sizes_that_are_published() {
    let all = SETS.map(|(_, attacks, harmless)| (lines(attacks), lines(harmless)));
    assert_eq!(all.iter().map(|(attacks, _)| attacks.len()).sum::<usize>(), 203);
    assert_eq!(all.iter().map(|(_, harmless)| harmless.len()).sum::<usize>(), 339);
    for language in ["en", "zh", "ko", "de", "fr", "es", "ru", "ar", "pt", "hi", "it", "vi", "la", "ja"] {
        for (attacks, _) in &all {
            assert!(attacks.iter().filter(|(kind, _)| *kind == language).count() >= 3, "{language}");
        }
    }
}
