//! One form for text that means the same.

use icu_normalizer::ComposingNormalizerBorrowed;

/// NFKC with every run of white space and control characters collapsed to one space, trimmed.
///
/// Full-width letters become ASCII, half-width kana full-width, ligatures letters; case and punctuation stay.
/// Idempotent.
pub fn normalise(text: &str) -> String {
    let composed = nfkc(text);
    let mut out = String::with_capacity(composed.len());
    let mut gap = false;
    for c in composed.chars() {
        if c.is_whitespace() || c.is_control() {
            gap = !out.is_empty();
        } else if !is_invisible(c) {
            if gap {
                out.push(' ');
                gap = false;
            }
            out.push(c);
        }
    }
    // Removing an invisible character can bring two characters together that compose.
    if ComposingNormalizerBorrowed::new_nfkc().is_normalized(&out) { out } else { normalise(&out) }
}

/// The text that is embedded for a document or one of its fragments: `Title. Text`, normalized.
///
/// One convention for corpora and pipeline, so that their vectors are comparable. A title that ends in a sentence
/// mark keeps its own; Japanese titles get 「。」.
pub fn passage(title: &str, text: &str) -> String {
    let (title, text) = (normalise(title), normalise(text));
    let Some(last) = title.chars().last() else { return text };
    if text.is_empty() {
        return title;
    }
    let mark = match last {
        '.' | '!' | '?' | ':' => " ",
        '。' => "",
        _ if is_cjk(last) => "。",
        _ => ". ",
    };
    format!("{title}{mark}{text}")
}

/// NFKC alone.
pub(crate) fn nfkc(text: &str) -> std::borrow::Cow<'_, str> {
    ComposingNormalizerBorrowed::new_nfkc().normalize(text)
}

/// Han, kana or Hangul.
pub fn is_cjk(c: char) -> bool {
    is_han(c) || is_kana(c) || matches!(c, '\u{AC00}'..='\u{D7AF}' | '\u{1100}'..='\u{11FF}')
}

/// Han, with the iteration mark.
pub(crate) fn is_han(c: char) -> bool {
    matches!(c, '\u{4E00}'..='\u{9FFF}' | '\u{3400}'..='\u{4DBF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{323AF}' | '々')
}

/// Hiragana or katakana, with the length mark.
pub(crate) fn is_kana(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{3096}' | '\u{309D}'..='\u{309F}' | '\u{30A1}'..='\u{30FA}' | '\u{30FC}'..='\u{30FF}' | '\u{31F0}'..='\u{31FF}' | '\u{FF66}'..='\u{FF9D}')
}

/// Zero-width characters and soft hyphens, which split words for a machine and not for a reader.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{AD}' | '\u{200B}'..='\u{200F}' | '\u{2060}' | '\u{FEFF}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn forms_that_mean_the_same() {
        assert_eq!(normalise("  Ｐ＜０．０５ \n\t ﬁsh "), "P<0.05 fish");
        assert_eq!(normalise("ﾃﾞｰﾀ"), "データ");
        assert_eq!(normalise("im\u{AD}port\u{200B}ant"), "important");
        assert_eq!(normalise(" \u{0} "), "");
    }

    #[test]
    fn passages() {
        assert_eq!(passage("Naps and memory", "We slept."), "Naps and memory. We slept.");
        assert_eq!(passage("Do naps help?", "Yes."), "Do naps help? Yes.");
        assert_eq!(passage("Naps.", "Yes."), "Naps. Yes.");
        assert_eq!(passage("昼寝と記憶", "眠った。"), "昼寝と記憶。眠った。");
        assert_eq!(passage("", "Yes."), "Yes.");
        assert_eq!(passage("Naps", " "), "Naps");
    }

    proptest! {
        #[test]
        fn normalising_twice_changes_nothing(text in any::<String>()) {
            let once = normalise(&text);
            prop_assert_eq!(&normalise(&once), &once);
            prop_assert!(!once.contains("  ") && once.trim() == once);
        }

        #[test]
        fn passages_of_anything(title in any::<String>(), text in any::<String>()) {
            prop_assert!(passage(&title, &text).contains(&normalise(&text)));
        }
    }
}
