//! Names of authors. Sources write them as one text, mostly `Given Family`, sometimes `Family, Given`.

use lyra_domain::{is_east_asian, is_name_suffix};

/// A name in its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Name {
    /// A person; `given` and `suffix` may be empty.
    Person { family: String, given: String, suffix: String },
    /// A group, which has no parts.
    Group(String),
}

/// Words that persons' names do not have.
const GROUP_WORDS: &[&str] = &[
    "and",
    "of",
    "for",
    "the",
    "group",
    "consortium",
    "collaboration",
    "collaborators",
    "organization",
    "organisation", // prose: ok
    "committee",
    "institute",
    "university",
    "society",
    "association",
    "agency",
    "team",
    "network",
    "investigators",
    "ministry",
    "foundation",
];

impl Name {
    /// Parses a name. With a comma, the family name comes first, and a suffix second or last. Without, it is the last
    /// word and the lower-case words before it (`Ludwig van Beethoven`), as in BibTeX; a suffix may follow it. A name in
    /// Chinese characters, kana or Hangul begins with the family name.
    pub(super) fn read(text: &str) -> Self {
        let text = super::line(text);
        if text.split(' ').any(|word| GROUP_WORDS.contains(&word.to_lowercase().as_str())) {
            return Self::Group(text);
        }
        match text.split(',').map(str::trim).collect::<Vec<_>>()[..] {
            [name] => {
                let cut = name.rsplit_once(' ').filter(|(_, last)| is_name_suffix(last));
                let (name, suffix) = cut.unwrap_or((name, ""));
                Self::in_order(name, suffix).unwrap_or(Self::Group(text))
            }
            [family, given] if !family.is_empty() => {
                let whole = Self::in_order(family, given).filter(|_| is_name_suffix(given));
                whole.unwrap_or_else(|| Self::person(family, given, ""))
            }
            [family, suffix, given] | [family, given, suffix]
                if is_name_suffix(suffix) && !family.is_empty() && !given.is_empty() =>
            {
                Self::person(family, given, suffix)
            }
            _ => Self::Group(text),
        }
    }

    /// A name without a comma, and its suffix; `None` where no given name is left before a suffix.
    fn in_order(name: &str, suffix: &str) -> Option<Self> {
        let words: Vec<&str> = name.split(' ').collect();
        if words.len() > 1 && name.chars().all(|c| c == ' ' || is_east_asian(c)) {
            return Some(Self::person(words[0], &words[1..].join(" "), suffix));
        }
        let last = words.len() - 1;
        let particles = words[..last]
            .iter()
            .rev()
            .take_while(|word| word.chars().next().is_some_and(char::is_lowercase))
            .count();
        // A name that begins in lower case has no given name before the particle.
        let (given, family) = words.split_at(last - particles);
        let is_whole = suffix.is_empty() || !given.is_empty();
        is_whole.then(|| Self::person(&family.join(" "), &given.join(" "), suffix))
    }

    fn person(family: &str, given: &str, suffix: &str) -> Self {
        let [family, given, suffix] = [family, given, suffix].map(str::to_owned);
        Self::Person { family, given, suffix }
    }

    /// `Family, Given`, with a suffix `Family, Suffix, Given` as in BibTeX, or the whole.
    pub(super) fn suffix_second(&self) -> String {
        self.inverted(|family, given, suffix| [family, suffix, given])
    }

    /// `Family, Given`, with a suffix `Family, Given, Suffix` as in RIS, or the whole.
    pub(super) fn suffix_last(&self) -> String {
        self.inverted(|family, given, suffix| [family, given, suffix])
    }

    fn inverted<'n>(&'n self, order: fn(&'n str, &'n str, &'n str) -> [&'n str; 3]) -> String {
        match self {
            Self::Person { family, given, suffix } => {
                let parts = order(family, given, suffix).into_iter();
                parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
            }
            Self::Group(name) => name.clone(),
        }
    }

    /// The part for keys and sorting.
    pub(super) fn family(&self) -> &str {
        match self {
            Self::Person { family, .. } => family,
            Self::Group(name) => name,
        }
    }
}
