//! Text that readers take as it is.

use crate::text::plain;
use std::borrow::Cow;

/// A text in which a reader finds no tags and entities but those that stand for the text itself.
pub(crate) fn guarded(text: &str) -> Cow<'_, str> {
    match plain(text) {
        Cow::Owned(shown) if shown != text => Cow::Owned(text.replace('&', "&amp;").replace('<', "&lt;")),
        _ => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_would_be_taken_for_markup_changes() {
        for text in ["AT&T, p < 0.05", "R&D; a<b", "naps"] {
            assert_eq!(guarded(text), text);
        }
        for text in ["<i>E. coli</i>", "&amp; is an entity", "&lt;b&gt; <sub>2</sub> &"] {
            assert_ne!(guarded(text), text);
            assert_eq!(plain(&guarded(text)), text);
        }
    }
}
