//! Quotes of a passage: the sentences that decided a judgment, and where they stand.

use std::ops::Range;

/// What stands for the sentences that a quote leaves out.
pub const GAP: &str = " … ";

/// Where the parts of a quote stand in a passage, as byte ranges in the order of the quote. Line breaks and runs of spaces
/// count as one space. Parts that are not there are left out. Linear in the passage for each part.
pub fn places(passage: &str, quote: &str) -> Vec<Range<usize>> {
    let passage = Spaced::new(passage);
    let part = |part: &str| passage.find(&Spaced::new(part.trim()).text);
    quote.split(GAP).filter_map(part).collect()
}

/// A text with single spaces, and where each of its bytes comes from.
struct Spaced {
    text: String,
    /// For each byte of `text` and for its end, the byte of the original.
    origins: Vec<usize>,
}

impl Spaced {
    fn new(original: &str) -> Self {
        let mut text = String::with_capacity(original.len());
        let mut origins = Vec::with_capacity(original.len() + 1);
        for (at, c) in original.char_indices() {
            if !c.is_whitespace() {
                text.push(c);
                origins.extend(at..at + c.len_utf8());
            } else if !text.ends_with(' ') {
                text.push(' ');
                origins.push(at);
            }
        }
        origins.push(original.len());
        Self { text, origins }
    }

    fn find(&self, part: &str) -> Option<Range<usize>> {
        let at = self.text.find(part).filter(|_| !part.is_empty())?;
        // The end of the last byte, not the beginning of what follows: spaces after the part do not belong to it.
        let last = self.origins[at + part.len() - 1];
        Some(self.origins[at]..last + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found<'a>(passage: &'a str, quote: &str) -> Vec<&'a str> {
        places(passage, quote).into_iter().map(|place| &passage[place]).collect()
    }

    #[test]
    fn parts_are_found_across_line_breaks() {
        let passage = "We measured roofs.\n  Moss reduces\tnoise. Tin is loud.  It rains.";
        let across = "We measured roofs.\n  Moss reduces\tnoise.";
        assert_eq!(found(passage, "We measured roofs. Moss reduces noise."), [across]);
        assert_eq!(found(passage, "Moss reduces noise. … It rains."), ["Moss reduces\tnoise.", "It rains."]);
        assert_eq!(found(passage, "Tin is quiet. … It rains."), ["It rains."]);
        assert!(found(passage, "").is_empty() && found("", "It rains.").is_empty());
        assert_eq!(found("昼寝は\n効く。", "昼寝は 効く。"), ["昼寝は\n効く。"]);
    }

    proptest! {
        #[test]
        fn what_is_found_is_the_quote(passage in r"[ab …\n\u{3042}]{0,40}", quote in r"[ab …\n\u{3042}]{0,8}") {
            for place in places(&passage, &quote) {
                let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
                let part = words(&passage[place]);
                prop_assert!(quote.split(GAP).any(|quoted| words(quoted) == part), "{part}");
            }
        }
    }
}
