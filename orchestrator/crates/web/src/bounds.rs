//! How long metadata of a work may be. Pages and APIs may send megabytes, and a value beyond SQLite's limit for statements
//! of agents makes every statement about its column fail.

use lyra_domain::Imprint;

/// Most characters of a title, and of the name of a site or a journal.
pub const MAX_TITLE: usize = 500;
/// Most characters of the name of one author.
pub const MAX_NAME: usize = 200;
/// Most authors of one work.
pub const MAX_AUTHORS: usize = 1_000;
/// Most characters of the names of all authors of one work.
pub const MAX_NAMES: usize = 50_000;
/// Most ISBNs, and ISSNs, of one work, and characters of each.
pub const MAX_SERIALS: (usize, usize) = (50, 20);
/// Most characters of an abstract.
pub const MAX_ABSTRACT: usize = 20_000;
/// Most references of one work.
pub const MAX_REFERENCES: usize = 5_000;
/// Most characters of all references of one work.
pub const MAX_REFERENCE_CHARS: usize = 100_000;

/// A title, or the name of a site or a journal, cut to [`MAX_TITLE`].
pub fn title(text: String) -> String {
    cut(text, MAX_TITLE)
}

/// An abstract, cut to [`MAX_ABSTRACT`].
pub fn abstract_text(text: String) -> String {
    cut(text, MAX_ABSTRACT)
}

/// The first authors: each name cut to [`MAX_NAME`], at most [`MAX_AUTHORS`] names of [`MAX_NAMES`] characters.
pub fn authors(names: Vec<String>) -> Vec<String> {
    let names = names.into_iter().take(MAX_AUTHORS).map(|name| cut(name, MAX_NAME));
    within(names, MAX_NAMES)
}

/// An imprint, with texts of the lengths of titles and of names.
pub fn imprint(imprint: Imprint) -> Imprint {
    let Imprint { kind, publisher, place, edition, editors, isbn, issn } = imprint;
    let name = |text: String| cut(text, MAX_NAME);
    let serials = |numbers: Vec<String>| -> Vec<String> {
        numbers.into_iter().take(MAX_SERIALS.0).map(|number| cut(number, MAX_SERIALS.1)).collect()
    };
    Imprint {
        kind,
        publisher: publisher.map(title),
        place: place.map(name),
        edition: edition.map(name),
        editors: authors(editors),
        isbn: serials(isbn),
        issn: serials(issn),
    }
}

/// The first references: at most [`MAX_REFERENCES`] of [`MAX_REFERENCE_CHARS`] characters.
pub fn references(entries: Vec<String>) -> Vec<String> {
    within(entries.into_iter().take(MAX_REFERENCES), MAX_REFERENCE_CHARS)
}

/// The text up to so many characters, cut at white space if there is any in the second half of these.
fn cut(mut text: String, most: usize) -> String {
    let end = text.char_indices().nth(most).map(|(end, _)| end);
    let Some(end) = end else { return text };
    text.truncate(end);
    if let Some(gap) = text.rfind(char::is_whitespace).filter(|gap| *gap >= end / 2) {
        text.truncate(gap);
    }
    text
}

/// The first texts that have at most so many characters together.
fn within(texts: impl Iterator<Item = String>, most: usize) -> Vec<String> {
    let mut chars = 0;
    texts
        .take_while(|text| {
            chars += text.chars().count();
            chars <= most
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_between_words_and_a_short_one_stays() {
        let short = "Naps and memory".to_owned();
        assert_eq!(title(short.clone()), short);
        let whole = "é".repeat(MAX_TITLE);
        assert_eq!(title(whole.clone()), whole);
        let words = title("sleep and naps ".repeat(1_000));
        assert!(words.chars().count() <= MAX_TITLE && words.chars().count() > MAX_TITLE - 10, "{words}");
        assert!(["sleep", "and", "naps"].iter().any(|word| words.ends_with(word)), "{words}");
        // A text without words is cut where it must be, and a first word is not all that is kept.
        assert_eq!(title("眠".repeat(2_000)).chars().count(), MAX_TITLE);
        assert_eq!(title(format!("On {}", "眠".repeat(2_000))).chars().count(), MAX_TITLE);
        assert!(abstract_text("We slept. ".repeat(60_000)).chars().count() <= MAX_ABSTRACT);
    }

    #[test]
    fn the_first_authors_and_references_are_kept() {
        let names = |count: usize, length: usize| vec!["x".repeat(length); count];
        assert_eq!(authors(names(30, 10)), names(30, 10));
        assert_eq!(authors(names(5_000, 10)), names(MAX_AUTHORS, 10));
        assert_eq!(authors(names(1, 600_000)), names(1, MAX_NAME));
        assert_eq!(authors(names(900, 600)), names(MAX_NAMES / MAX_NAME, MAX_NAME));
        assert_eq!(references(names(9_000, 12)), names(MAX_REFERENCES, 12));
        assert!(references(names(1, 600_000)).is_empty(), "half an identifier names nothing");
    }
}
