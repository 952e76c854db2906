//! Text of documents for a terminal: what would drive it is shown instead.

use std::borrow::Cow;
use std::fmt::Write;

/// The text with control characters and those that reorder text as `\u{1b}`. Line feeds and tabs stay.
///
/// ```
/// assert_eq!(lyra_text::terminal::escaped("red: \u{1b}[31m"), "red: \\u{1b}[31m");
/// ```
pub fn escaped(text: &str) -> Cow<'_, str> {
    if !text.chars().any(drives) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if drives(c) {
            // Writing to a string does not fail.
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Whether a terminal does something else with it than show it: moves, colors, clears, renames, rings, reorders.
pub fn drives(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t'))
        || matches!(c, '\u{61C}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_drives_a_terminal_is_shown() {
        let title = "Qzine \u{1b}[31mreduced\u{1b}]0;PWN\u{7} fever\r \u{9b}2J \u{202e}txt.exe";
        let shown = escaped(title);
        assert_eq!(
            shown,
            "Qzine \\u{1b}[31mreduced\\u{1b}]0;PWN\\u{7} fever\\u{d} \\u{9b}2J \\u{202e}txt.exe"
        );
        assert!(matches!(escaped("a table\twith\nlines, 昼寝 and é"), Cow::Borrowed(_)));
    }

    proptest! {
        #[test]
        fn nothing_that_drives_is_left(text in any::<String>()) {
            prop_assert!(!escaped(&text).chars().any(drives));
        }
    }
}
