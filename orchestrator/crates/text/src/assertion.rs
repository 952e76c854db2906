//! Whether two sentences about the same topic make the same claim.

use crate::{Polarity, hedges, numbers, polarity, populations};
use std::collections::BTreeSet;

/// The part of a sentence's meaning that embeddings do not see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assertion {
    polarity: Polarity,
    numbers: BTreeSet<String>,
    hedged: bool,
    populations: BTreeSet<String>,
}

impl Assertion {
    /// The assertion of a sentence, by word lists.
    pub fn of(text: &str) -> Self {
        Self {
            polarity: polarity(text),
            numbers: numbers(text),
            hedged: !hedges(text).is_empty(),
            populations: populations(text),
        }
    }

    /// The same polarity and the same numbers, hedged or flat alike, of the same beings. Whether two sentences are about the
    /// same thing is not looked at.
    pub fn agrees(&self, other: &Self) -> bool {
        self.polarity.agrees(other.polarity)
            && self.numbers == other.numbers
            && self.hedged == other.hedged
            && self.populations == other.populations
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(a: &str, b: &str, expect: bool) {
        assert_eq!(Assertion::of(a).agrees(&Assertion::of(b)), expect, "{a} | {b}");
    }

    #[test]
    fn one_claim_or_two() {
        check("Naps improve memory in adults.", "Memory improves in adults with naps.", true);
        check("Naps improve memory.", "Naps do not improve memory.", false);
        check("Naps improve memory.", "Naps impair memory.", false);
        check("Naps improve recall by 12%.", "Naps improve recall by 21%.", false);
        check("Naps improve recall by 12%.", "Naps improve recall.", false);
        check("1,200 adults improved.", "1200 adults improved.", true);
        check("Naps may improve memory.", "Naps improve memory.", false);
        check("The drug reduced weight in mice.", "The drug reduced weight in humans.", false);
        check("昼寝は記憶を改善した。", "昼寝は記憶を改善しなかった。", false);
    }

    proptest! {
        #[test]
        fn agreement_goes_both_ways(a in "(naps|mice|12|may|not|improve|reduce| ){0,8}", b in "(naps|mice|12|may|not|improve|reduce| ){0,8}") {
            let (one, other) = (Assertion::of(&a), Assertion::of(&b));
            prop_assert!(one.agrees(&one));
            prop_assert_eq!(one.agrees(&other), other.agrees(&one));
        }
    }
}
