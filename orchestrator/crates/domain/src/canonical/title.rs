//! When two titles are one.

use crate::Work;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Titles at least this alike may be one.
const ALIKE: f64 = 0.90;
/// Titles with fewer words ("Introduction", "Reply") also need the same author and year.
const TELLING_WORDS: usize = 4;

/// Records prepared for comparison.
pub(super) struct Likeness {
    records: Vec<Prepared>,
}

struct Prepared {
    title: String,
    length: usize,
    telling: bool,
    numbers: Vec<String>,
    year: Option<i32>,
    author: Vec<String>,
    family: Option<String>,
}

impl Likeness {
    pub(super) fn of<'a>(works: impl Iterator<Item = &'a Work>) -> Self {
        Self { records: works.map(prepare).collect() }
    }

    /// Similarity of two records, in [0.9, 1]: the share of characters that need no edit (normalized Levenshtein);
    /// `None` when they are different works.
    pub(super) fn between(&self, first: usize, second: usize) -> Option<f64> {
        let (a, b) = (&self.records[first], &self.records[second]);
        if a.length == 0 || b.length == 0 || a.numbers != b.numbers {
            return None;
        }
        let years = match (a.year, b.year) {
            // In print a year later than online.
            (Some(a), Some(b)) => Some((a - b).abs() <= 1),
            _ => None,
        };
        let authors = match (&a.family, &b.family) {
            (Some(one), Some(other)) => Some(b.author.contains(one) || a.author.contains(other)),
            _ => None,
        };
        if years == Some(false) || authors == Some(false) {
            return None;
        }
        if !(a.telling && b.telling) && (years, authors) != (Some(true), Some(true)) {
            return None;
        }
        // Cheap bound first: every missing character is an edit.
        let (short, long) = (a.length.min(b.length) as f64, a.length.max(b.length) as f64);
        if short / long < ALIKE {
            return None;
        }
        Some(strsim::normalized_levenshtein(&a.title, &b.title)).filter(|alike| *alike >= ALIKE)
    }
}

fn prepare(work: &Work) -> Prepared {
    let title = fold(&work.title);
    let words: Vec<&str> = title.split(' ').filter(|word| !word.is_empty()).collect();
    let ideographs = title.chars().filter(|c| *c >= '\u{3040}').count();
    // "Part 2" and "Part 3", "phase II" and "phase III" differ by one character and are two works.
    let mut numbers: Vec<String> = words
        .iter()
        .filter(|word| word.chars().any(|c| c.is_ascii_digit()) || roman(word))
        .map(|word| (*word).to_owned())
        .collect();
    numbers.sort();
    let author = work.authors.first().map(String::as_str).unwrap_or_default();
    let names: Vec<String> = fold(author).split(' ').filter(|n| !n.is_empty()).map(str::to_owned).collect();
    let family = match author.split_once(',') {
        Some((family, _)) => fold(family).split(' ').next_back().map(str::to_owned),
        None => names.last().cloned(),
    };
    Prepared {
        length: title.chars().count(),
        telling: words.len() >= TELLING_WORDS || ideographs >= 8,
        numbers,
        year: work.year,
        author: names,
        family: family.filter(|name| !name.is_empty()),
        title,
    }
}

fn roman(word: &str) -> bool {
    matches!(word, "i" | "ii" | "iii" | "iv" | "v" | "vi" | "vii" | "viii" | "ix" | "x")
}

/// Lower case, without markup, marks and punctuation, words separated by one blank.
fn fold(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let tag = rest[at + 1..].find('>').map(|end| at + 1 + end);
        // A tag starts with a letter, not a space: `<sub>`, `</i>`; "p < 0.05" is text.
        let tag =
            tag.filter(|end| rest[at + 1..*end].starts_with(|c: char| c.is_ascii_alphabetic() || c == '/'));
        let (kept, next) = tag.map_or((at + 1, at + 1), |end| (at, end + 1));
        plain.push_str(&rest[..kept]);
        rest = &rest[next..];
    }
    plain.push_str(rest);
    let folded: String = plain
        .nfkd()
        .filter(|c| !is_combining_mark(*c))
        .flat_map(char::to_lowercase)
        .map(|c| if c.is_alphanumeric() { c } else { ' ' })
        .collect();
    folded.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}
