//! Names of the form "Given Family" in their parts.

use crate::names::{is_east_asian, is_group};

/// Family name and given names; the given ones may be empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Parts<'n> {
    pub(crate) family: &'n str,
    pub(crate) given: &'n str,
}

impl<'n> Parts<'n> {
    /// The parts of a person's name; `None` for a group. The family name is the last word with the words in lower case
    /// before it (`Ludwig van Beethoven`), and in Chinese characters, kana, or Hangul, the first word.
    pub(crate) fn of(name: &'n str) -> Option<Self> {
        if is_group(name) || name.contains(',') {
            return None;
        }
        if name.chars().all(|c| c == ' ' || is_east_asian(c)) {
            let (family, given) = name.split_once(' ').unwrap_or((name, ""));
            return Some(Self { family, given });
        }
        let mut at = name.rfind(' ').map_or(0, |at| at + 1);
        while let Some(before) = name[..at].strip_suffix(' ') {
            let start = before.rfind(' ').map_or(0, |at| at + 1);
            if !before[start..].starts_with(char::is_lowercase) {
                break;
            }
            at = start;
        }
        Some(Self { family: &name[at..], given: name[..at].trim_end() })
    }

    /// `Family, Given`.
    pub(crate) fn inverted(self) -> String {
        let Self { family, given } = self;
        if given.is_empty() { family.to_owned() } else { format!("{family}, {given}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn family_names() {
        let inverted = |name| Parts::of(name).map(Parts::inverted);
        for (name, expect) in [
            ("Marie Curie", Some("Curie, Marie")),
            ("Ludwig van Beethoven", Some("van Beethoven, Ludwig")),
            ("Jan van der Berg", Some("van der Berg, Jan")),
            ("van Gogh", Some("van Gogh")),
            ("山田 太郎", Some("山田, 太郎")),
            ("Plato", Some("Plato")),
            ("World Health Organization", None),
            ("", Some("")),
        ] {
            assert_eq!(inverted(name).as_deref(), expect, "{name}");
        }
    }
}
