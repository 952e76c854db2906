//! What the pages say, in English and Japanese. Every page has a file for each language under `words/`.

use serde_json::Value;
use std::collections::HashMap;
use std::sync::LazyLock;

/// A language of the pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Language {
    English,
    Japanese,
}

impl Language {
    pub(crate) const ALL: [Self; 2] = [Self::English, Self::Japanese];

    /// ISO 639-1.
    pub(crate) fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Japanese => "ja",
        }
    }

    /// Its own name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::English => "English",
            Self::Japanese => "日本語",
        }
    }

    pub(crate) fn of_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|language| language.code() == code)
    }

    /// The first language of an `Accept-Language` header that the pages have. Weights are taken as they are sorted by
    /// browsers: in order.
    pub(crate) fn accepted(header: &str) -> Option<Self> {
        header.split(',').find_map(|range| {
            let tag = range.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
            Self::of_code(tag.split('-').next().unwrap_or_default())
        })
    }
}

macro_rules! files {
    ($language:literal: $($page:literal)*) => {
        [$(($page, include_str!(concat!("../words/", $language, "/", $page, ".json")))),*]
    };
}

/// A page's name and its words, a JSON object of texts.
type Files = &'static [(&'static str, &'static str)];

const ENGLISH: Files = &files! {
    "en": "common" "home" "task" "claim" "reader" "figures" "corpora" "sources" "explore" "calibration"
        "operations" "report" "fusion" "timeline" "matrix" "graph" "screening" "prisma"
};
const JAPANESE: Files = &files! {
    "ja": "common" "home" "task" "claim" "reader" "figures" "corpora" "sources" "explore" "calibration"
        "operations" "report" "fusion" "timeline" "matrix" "graph" "screening" "prisma"
};

type Texts = HashMap<String, String>;

static TEXTS: LazyLock<[Texts; 2]> = LazyLock::new(|| [read(ENGLISH), read(JAPANESE)]);

/// The texts by `PAGE.KEY`. An invalid file has none, which a test finds.
fn read(files: Files) -> Texts {
    let of = |(page, text): &(&str, &str)| {
        let object: HashMap<String, Value> = serde_json::from_str(text).unwrap_or_default();
        let named =
            |(key, value): (String, Value)| Some((format!("{page}.{key}"), value.as_str()?.to_owned()));
        object.into_iter().filter_map(named).collect::<Vec<_>>()
    };
    files.iter().flat_map(of).collect()
}

/// The words in one language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Words(pub(crate) Language);

impl Words {
    /// The text at `PAGE.KEY`; the key itself where it is missing, which a test finds.
    pub(crate) fn t(self, key: &'static str) -> &'static str {
        TEXTS[self.0 as usize].get(key).map_or(key, String::as_str)
    }

    /// The text with `{name}` replaced.
    pub(crate) fn with(self, key: &'static str, values: &[(&str, &str)]) -> String {
        filled(self.t(key), values)
    }

    /// A counted text: `KEY_one` or `KEY_other`, in which `{n}` is the number.
    pub(crate) fn count(self, one: &'static str, other: &'static str, n: u64) -> String {
        filled(self.t(if n == 1 { one } else { other }), &[("n", &self.number(n))])
    }

    /// A whole number with separators of thousands.
    #[expect(clippy::unused_self, reason = "both languages write whole numbers alike")]
    pub(crate) fn number(self, n: u64) -> String {
        let digits = n.to_string();
        let mut grouped = String::new();
        for (at, digit) in digits.chars().enumerate() {
            if at > 0 && (digits.len() - at).is_multiple_of(3) {
                grouped.push(',');
            }
            grouped.push(digit);
        }
        grouped
    }
}

fn filled(text: &str, values: &[(&str, &str)]) -> String {
    values.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
}

#[cfg(test)]
mod tests;
