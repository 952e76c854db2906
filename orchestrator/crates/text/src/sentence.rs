//! Sentences of scientific text.

mod mend;

/// A sentence and its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sentence {
    /// The sentence as in the text, trimmed; never empty.
    pub text: String,
    /// First character in the text given.
    pub start: usize,
    /// One past the last character.
    pub end: usize,
}

/// Bytes of a line without a break that are segmented at once; longer ones are not prose, and are split at white space.
const MAX_UNIT: usize = 20_000;

/// Cuts a text into sentences, in order, without overlap; together they hold every character but white space.
///
/// `language` is an ISO 639-1 code, English rules when unknown. The rules of `sentencex` come first; what they get
/// wrong in abstracts ("S. cerevisiae", "vs. 0.2", a closing 「。」 in brackets) is fixed afterward.
pub fn sentences(text: &str, language: Option<&str>) -> Vec<Sentence> {
    let code = language.filter(|code| code.len() == 2).unwrap_or("en");
    let mut cuts = Vec::new();
    for (offset, unit) in units(text) {
        let mut at = offset;
        for piece in sentencex::segment(code, unit) {
            at += piece.len();
            cuts.push(at);
        }
    }
    let mut cuts = mend::mend(text, &cuts);
    cuts.extend(units(text).into_iter().skip(1).map(|(offset, _)| offset));
    cuts.sort_unstable();
    slices(text, &cuts)
}

/// Pieces of the text that are segmented alone: all of it, unless it is very long.
fn units(text: &str) -> Vec<(usize, &str)> {
    let mut units = Vec::new();
    let mut from = 0;
    while text.len() - from > MAX_UNIT {
        let limit = text.floor_char_boundary(from + MAX_UNIT);
        let to =
            text[from..limit].rfind(char::is_whitespace).filter(|at| *at > 0).map_or(limit, |at| from + at);
        units.push((from, &text[from..to]));
        from = to;
    }
    units.push((from, &text[from..]));
    units
}

/// The text between byte offsets `cuts`, trimmed, with character offsets.
fn slices(text: &str, cuts: &[usize]) -> Vec<Sentence> {
    let mut found = Vec::with_capacity(cuts.len());
    let (mut from, mut chars) = (0, 0);
    for &to in cuts.iter().chain([&text.len()]) {
        let Some(piece) = text.get(from..to) else { continue };
        let leading = piece.chars().take_while(|c| c.is_whitespace()).count();
        let trimmed = piece.trim();
        if !trimmed.is_empty() {
            let start = chars + leading;
            let end = start + trimmed.chars().count();
            found.push(Sentence { text: trimmed.to_owned(), start, end });
        }
        chars += piece.chars().count();
        from = to;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(language: &str, expect: &[&str]) {
        let gap = if language == "ja" { "" } else { " " };
        let text = expect.join(gap);
        let found: Vec<String> = sentences(&text, Some(language)).into_iter().map(|s| s.text).collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn abbreviations_and_numbers_do_not_end_a_sentence() {
        check(
            "en",
            &["The rate was 0.5 in S. cerevisiae and E. coli cells.", "It rose to 1.2 vs. 0.9 in controls."],
        );
        check(
            "en",
            &["As Smith et al. reported (e.g. in Fig. 2), the gain was large (P < 0.05).", "No. 3 was lost."],
        );
        check("en", &["Doses of approx. 5 mg, i.e. half, were given.", "p53 was not induced."]);
    }

    #[test]
    fn labels_and_brackets() {
        check("en", &["RESULTS Naps improved recall (n = 38; P = .02).", "CONCLUSIONS Naps help."]);
        check("en", &["The gain was large (see Methods).", "It did not last."]);
    }

    #[test]
    fn japanese() {
        check(
            "ja",
            &[
                "昼寝は記憶を改善した。",
                "差は0.5点であった（図2。付録も参照）。",
                "効果は「なかった。」という。",
            ],
        );
    }

    #[test]
    fn offsets_count_characters() {
        let text = " α rose.  β fell. ";
        let found = sentences(text, Some("en"));
        let spans: Vec<_> = found.iter().map(|s| (s.start, s.end)).collect();
        assert_eq!(spans, [(1, 8), (10, 17)]);
    }

    fn valid(text: &str, language: Option<&str>) -> Result<(), TestCaseError> {
        let chars: Vec<char> = text.chars().collect();
        let mut at = 0;
        for sentence in sentences(text, language) {
            prop_assert!(
                at <= sentence.start && sentence.start < sentence.end && sentence.end <= chars.len()
            );
            prop_assert!(chars[at..sentence.start].iter().all(|c| c.is_whitespace()));
            prop_assert_eq!(chars[sentence.start..sentence.end].iter().collect::<String>(), sentence.text);
            at = sentence.end;
        }
        prop_assert!(chars[at..].iter().all(|c| c.is_whitespace()));
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_000))]

        #[test]
        fn any_text_is_cut_into_itself(text in any::<String>(), language in "en|ja|zh|de|fr|ar|hi|ru|el|it|kk|my|hy|xx|") {
            valid(&text, Some(&language))?;
        }

        #[test]
        fn text_full_of_marks_is_cut_into_itself(
            text in "([.!?…。．「」（）()\"'’“”\\[\\]\n\r\t *•1-3iA-Cα-γa-c]|et al|Fig|vs){0,80}",
            language in "en|ja|de|fr|es|it|ru"
        ) {
            valid(&text, Some(&language))?;
        }
    }

    #[test]
    fn very_long_lines() {
        let text = "word ".repeat(20_000);
        assert!(sentences(&text, None).iter().all(|s| s.text.len() <= MAX_UNIT));
        valid(&"漢".repeat(30_000), None).unwrap();
    }
}
