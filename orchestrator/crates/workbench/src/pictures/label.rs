//! Text in pictures: how wide it is, how it is shortened, and how numbers are written.

/// Size of all text, in pixels at 100 %.
pub(super) const SIZE: f64 = 12.0;
/// Characters of a text that a pointer shows in full.
const FULL: f64 = 300.0;

/// The text on one line without control characters and without characters that turn the direction of the text around
/// them: a title from outside must not change how its neighbors read.
fn cleaned(text: &str) -> impl Iterator<Item = char> {
    let mut after_space = true;
    text.chars().filter_map(move |c| {
        let c = if c.is_whitespace() { ' ' } else { c };
        let unwanted = c.is_control()
            || matches!(c, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{61c}' | '\u{feff}')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}');
        if unwanted || (c == ' ' && after_space) {
            return None;
        }
        after_space = c == ' ';
        Some(c)
    })
}

/// The text, shortened to a sane length.
pub(super) fn full(text: &str) -> String {
    cut(text, |_| 1.0, FULL)
}

/// The text, shortened until it fits into `width` pixels.
pub(super) fn fit(text: &str, width: f64) -> String {
    cut(text, |c| em(c) * SIZE, width)
}

/// The longest start of the text that costs no more than `limit`, with an ellipsis if it is not the whole.
fn cut(text: &str, cost: impl Fn(char) -> f64, limit: f64) -> String {
    let ellipsis = cost('…');
    let (mut shown, mut spent) = (String::new(), 0.0);
    // Where the start ends that leaves room for the ellipsis.
    let mut end = 0;
    for c in cleaned(text) {
        spent += cost(c);
        if spent > limit {
            shown.truncate(end);
            shown.truncate(shown.trim_end().len());
            if ellipsis <= limit {
                shown.push('…');
            }
            return shown;
        }
        shown.push(c);
        if spent + ellipsis <= limit {
            end = shown.len();
        }
    }
    shown.truncate(shown.trim_end().len());
    shown
}

/// About how wide the text is, in pixels; rather too wide than too narrow.
pub(super) fn width(text: &str) -> f64 {
    text.chars().map(em).sum::<f64>() * SIZE
}

/// About how wide a character is, in units of the text's size.
fn em(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | 't' | 'f' | 'r' | 'I' | ' ' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | '('
        | ')' | '[' | ']' => 0.38,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '…' => 1.0,
        'A'..='Z' | '+' | '±' | '=' | '<' | '>' | '~' => 0.74,
        '\0'..='\u{7f}' | '–' => 0.62,
        '\u{80}'..='\u{10ff}' => 0.72,
        _ => 1.05,
    }
}

/// A probability with these decimals. What is not 0 or 1 is not written as if it were.
pub(super) fn share(value: f64, decimals: usize) -> String {
    let value = if value.is_nan() { 0.0 } else { value.clamp(0.0, 1.0) };
    let least = 10_f64.powi(-i32::try_from(decimals).unwrap_or(0));
    if value > 0.0 && value < least / 2.0 {
        format!("<{least:.decimals$}")
    } else if value < 1.0 && value >= 1.0 - least / 2.0 {
        format!(">{:.decimals$}", 1.0 - least)
    } else {
        format!("{value:.decimals$}")
    }
}

/// An interval of probabilities with these decimals.
pub(super) fn range(low: f64, high: f64, decimals: usize) -> String {
    let (low, high) = (share(low, decimals), share(high, decimals));
    let signed = low.starts_with(['<', '>']) || high.starts_with(['<', '>']);
    if signed { format!("{low} – {high}") } else { format!("{low}–{high}") }
}

/// A sum of weights or a parameter, ≥ 0: two decimals, from 100,000 on as a power of ten.
pub(super) fn weight(value: f64) -> String {
    let value = if value.is_finite() { value.max(0.0) } else { 0.0 };
    if value < 99_999.995 { format!("{value:.2}") } else { format!("{value:.2e}") }
}

/// A count for an axis, in little space: from 100,000 on as a power of ten.
pub(super) fn count(value: f64) -> String {
    if value < 99_999.5 { format!("{value:.0}") } else { format!("{value:.0e}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn text_is_shortened_with_an_ellipsis() {
        assert_eq!(fit("Aspirin", 200.0), "Aspirin");
        let short = fit("Aspirin in the primary prevention of cardiovascular events", 120.0);
        assert!(short.starts_with("Aspirin in") && short.ends_with('…'), "{short}");
        assert_eq!(fit("Aspirin", 0.0), "");
        assert_eq!(full(&"x".repeat(10_000)).chars().count(), 300);
    }

    #[test]
    fn characters_that_turn_text_around_are_removed() {
        assert_eq!(full("a\u{202e}b\u{2066}c\0d\u{200f}\n\n e "), "abcd e");
        assert_eq!(full("می‌خواهم"), "می‌خواهم", "joiners are part of words");
    }

    #[test]
    fn nearly_certain_is_not_written_as_certain() {
        for (value, written) in [
            (0.0, "0.00"),
            (1e-9, "<0.01"),
            (0.5, "0.50"),
            (0.995, ">0.99"),
            (1.0, "1.00"),
            (f64::NAN, "0.00"),
        ] {
            assert_eq!(share(value, 2), written);
        }
        assert_eq!(share(0.9996, 3), ">0.999");
        assert_eq!(range(0.512, 0.876, 2), "0.51–0.88");
        assert_eq!(range(0.97, 0.999, 2), "0.97 – >0.99");
    }

    #[test]
    fn large_numbers_take_little_space() {
        assert_eq!((count(12.0), count(3e6)), ("12".to_owned(), "3e6".to_owned()));
        assert_eq!((weight(0.876), weight(1.5e8)), ("0.88".to_owned(), "1.50e8".to_owned()));
    }

    proptest! {
        #[test]
        fn what_is_fitted_fits(text in "\\PC{0,80}", wanted in 0.0_f64..300.0) {
            let shown = fit(&text, wanted);
            prop_assert!(width(&shown) <= wanted + 1e-9);
            let whole: String = cleaned(&text).collect();
            prop_assert!(shown.ends_with('…') || shown == whole.trim_end() || wanted < SIZE);
        }
    }
}
