//! Names of authors. Sources write them as one text, mostly `Given Family`, sometimes `Family, Given`.

/// A name in its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Name {
    /// A person; `given` may be empty.
    Person { family: String, given: String },
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
    /// Parses a name. With a comma, the family name comes first. Without, it is the last word and the lower-case words
    /// before it (`Ludwig van Beethoven`), as in BibTeX. A name in Chinese characters, kana or Hangul begins with the
    /// family name.
    pub(super) fn read(text: &str) -> Self {
        let text = super::line(text);
        let words: Vec<&str> = text.split(' ').collect();
        if words.iter().any(|word| GROUP_WORDS.contains(&word.to_lowercase().as_str())) {
            return Self::Group(text);
        }
        match text.split(',').map(str::trim).collect::<Vec<_>>()[..] {
            [_] => {}
            [family, given] if !family.is_empty() => {
                return Self::Person { family: family.to_owned(), given: given.to_owned() };
            }
            _ => return Self::Group(text),
        }
        if words.len() > 1 && text.chars().all(|c| c == ' ' || is_east_asian(c)) {
            return Self::Person { family: words[0].to_owned(), given: words[1..].join(" ") };
        }
        let last = words.len() - 1;
        let particles = words[..last]
            .iter()
            .rev()
            .take_while(|word| word.chars().next().is_some_and(char::is_lowercase))
            .count();
        // A name that begins in lower case has no given name before the particle.
        let (given, family) = words.split_at(last - particles);
        Self::Person { family: family.join(" "), given: given.join(" ") }
    }

    /// `Family, Given`, or the whole.
    pub(super) fn invert(&self) -> String {
        match self {
            Self::Person { family, given } if given.is_empty() => family.clone(),
            Self::Person { family, given } => format!("{family}, {given}"),
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

fn is_east_asian(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}')
}
