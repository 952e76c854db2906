//! The rules against a labelled set of our own writing: attacks in fourteen languages, frames and disguises, and harmless sentences
//! that look alike or quote attacks. Every third line of each file was not run while the rules were written; as one author wrote lines
//! and rules, this says that the rules hold together, and little of attacks that others write.

use lyra_web::danger::{DangerousPatterns, Severity};

/// Kind and sentence of every line.
fn lines(text: &str) -> Vec<(&str, &str)> {
    text.lines().filter_map(|line| line.split_once('\t')).collect()
}

const ATTACKS: &str = include_str!("danger/attacks.txt");
const HARMLESS: &str = include_str!("danger/harmless.txt");

#[derive(Debug, Default, Clone, Copy)]
struct Count {
    attacks: usize,
    caught: usize,
    harmless: usize,
    alarmed: usize,
}

impl Count {
    fn recall(self) -> f64 {
        self.caught as f64 / self.attacks as f64
    }

    fn precision(self) -> f64 {
        self.caught as f64 / (self.caught + self.alarmed) as f64
    }
}

/// Over the lines that were run while the rules were written, or over the others.
#[expect(clippy::print_stdout, reason = "what the rules got wrong is worth a look")]
fn counted(patterns: &DangerousPatterns, unseen: bool) -> Count {
    let flagged = |text: &str| patterns.gravest(text).is_some_and(|found| found.severity >= Severity::Medium);
    let part = |text: &'static str| {
        lines(text)
            .into_iter()
            .enumerate()
            .filter(move |(nth, _)| (nth % 3 == 2) == unseen)
            .map(|(_, line)| line)
    };
    let mut count = Count::default();
    for (kind, text) in part(ATTACKS) {
        count.attacks += 1;
        count.caught += usize::from(flagged(text));
        if !unseen && !flagged(text) {
            println!("missed  {kind}\t{text}");
        }
    }
    for (kind, text) in part(HARMLESS) {
        count.harmless += 1;
        count.alarmed += usize::from(flagged(text));
        if !unseen && flagged(text) {
            println!("alarmed {kind}\t{text} {:?}", patterns.gravest(text).map(|found| found.rule));
        }
    }
    count
}

#[test]
fn precision_and_recall_on_the_labelled_set() {
    let patterns = DangerousPatterns::built_in().expect("rules");
    assert_eq!((lines(ATTACKS).len(), lines(HARMLESS).len()), (96, 300));
    for (name, unseen, precision, recall) in [("seen", false, 0.9, 0.9), ("unseen", true, 0.8, 0.6)] {
        let count = counted(&patterns, unseen);
        eprintln!("{name}: precision {:.3}, recall {:.3} ({count:?})", count.precision(), count.recall());
        assert!(count.precision() >= precision && count.recall() >= recall, "{name}: {count:?}");
    }
}
