//! Names of the form "Given Family" in their parts.

use crate::names::is_group;
use lyra_domain::{is_east_asian, is_name_suffix};

/// Family name, given names, and suffix. The given names may be empty, but not before a suffix; the suffix mostly is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Parts<'n> {
    pub(crate) family: &'n str,
    pub(crate) given: &'n str,
    pub(crate) suffix: &'n str,
}

impl<'n> Parts<'n> {
    /// The parts of a person's name; `None` for a group. The family name is the last word with the words in lower case
    /// before it (`Ludwig van Beethoven`), and in Chinese characters, kana, or Hangul, the first word. A suffix may
    /// follow it (`John Smith Jr.`); `None` where no given name is left then.
    pub(crate) fn of(name: &'n str) -> Option<Self> {
        if is_group(name) || name.contains(',') {
            return None;
        }
        if name.chars().all(|c| c == ' ' || is_east_asian(c)) {
            let (family, given) = name.split_once(' ').unwrap_or((name, ""));
            return Some(Self { family, given, suffix: "" });
        }
        let whole = (name, "");
        let (name, suffix) = name.rsplit_once(' ').filter(|(_, last)| is_name_suffix(last)).unwrap_or(whole);
        let mut at = name.rfind(' ').map_or(0, |at| at + 1);
        while let Some(before) = name[..at].strip_suffix(' ') {
            let start = before.rfind(' ').map_or(0, |at| at + 1);
            if !before[start..].starts_with(char::is_lowercase) {
                break;
            }
            at = start;
        }
        let (given, family) = (name[..at].trim_end(), &name[at..]);
        (suffix.is_empty() || !given.is_empty()).then_some(Self { family, given, suffix })
    }

    /// `Family, Suffix, Given`, as BibTeX has it.
    pub(crate) fn suffix_second(self) -> String {
        joined([self.family, self.suffix, self.given])
    }

    /// `Family, Given, Suffix`, as RIS has it.
    pub(crate) fn suffix_last(self) -> String {
        joined([self.family, self.given, self.suffix])
    }
}

fn joined(parts: [&str; 3]) -> String {
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn family_names() {
        let inverted = |name| Parts::of(name).map(Parts::suffix_second);
        for (name, expect) in [
            ("Marie Curie", Some("Curie, Marie")),
            ("Ludwig van Beethoven", Some("van Beethoven, Ludwig")),
            ("Jan van der Berg", Some("van der Berg, Jan")),
            ("van Gogh", Some("van Gogh")),
            ("山田 太郎", Some("山田, 太郎")),
            ("Plato", Some("Plato")),
            ("John Smith Jr.", Some("Smith, Jr., John")),
            ("Robert Califf III", Some("Califf, III, Robert")),
            ("Jan van der Berg Sr", Some("van der Berg, Sr, Jan")),
            ("Naoki Ii", Some("Ii, Naoki")),
            ("King Jr.", None),
            ("van Gogh Jr.", None),
            ("World Health Organization", None),
            ("", Some("")),
        ] {
            assert_eq!(inverted(name).as_deref(), expect, "{name}");
        }
        let ris = Parts::of("John Smith Jr.").map(Parts::suffix_last);
        assert_eq!(ris.as_deref(), Some("Smith, John, Jr."));
    }
}
