//! Whether a work that a source names surely is a document's.

use lyra_corpus::Document;
use lyra_domain::Work;
use std::collections::HashSet;

/// Least likeness of two titles, as the share of characters that need no edit.
const ALIKE: f64 = 0.95;
/// Characters at the beginning of a text in which a by-line may stand.
const BEGINNING: usize = 3_000;
/// Shortest family name that is looked for in a text.
const NAME: usize = 3;

/// Whether the titles are equal or very nearly so, the years at most one apart, and a family name in common. What one
/// side does not know is not compared, but year or names must be. Where the file's by-line was not read, a name counts
/// that stands at the beginning of its text.
pub(super) fn is_same(document: &Document, work: &Work) -> bool {
    if !titles_agree(&document.title, &work.title) {
        return false;
    }
    let years = document.year.zip(work.year).map(|(own, other)| own.abs_diff(other) <= 1);
    let names = if document.authors.is_empty() {
        let beginning: String = document.text.chars().chain(document.desc.chars()).take(BEGINNING).collect();
        let words: HashSet<String> = words(&beginning).into_iter().collect();
        let mut telling =
            work.authors.iter().filter_map(|author| family(author)).filter(|name| name.len() >= NAME);
        telling.any(|name| words.contains(&name)).then_some(true)
    } else if work.authors.is_empty() {
        None
    } else {
        let own: HashSet<String> = document.authors.iter().filter_map(|author| family(author)).collect();
        Some(work.authors.iter().filter_map(|author| family(author)).any(|name| own.contains(&name)))
    };
    !matches!((years, names), (Some(false), _) | (_, Some(false)) | (None, None))
}

fn titles_agree(one: &str, other: &str) -> bool {
    let (one, other) = (words(one), words(other));
    // "Part 2" and "Part 3" differ by one character and are two works.
    let numbers =
        |words: &[String]| -> Vec<String> { words.iter().filter(|word| is_number(word)).cloned().collect() };
    !one.is_empty()
        && numbers(&one) == numbers(&other)
        && strsim::normalized_levenshtein(&one.join(" "), &other.join(" ")) >= ALIKE
}

fn is_number(word: &str) -> bool {
    word.chars().any(|c| c.is_ascii_digit())
        || matches!(word, "i" | "ii" | "iii" | "iv" | "v" | "vi" | "vii" | "viii" | "ix" | "x")
}

/// `Lee, Ann` or `Ann Lee`.
fn family(author: &str) -> Option<String> {
    words(author.split(',').next().unwrap_or_default()).pop()
}

/// Words in lower case, without punctuation.
fn words(text: &str) -> Vec<String> {
    let lower = lyra_text::normalise(text).to_lowercase();
    lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TITLE: &str = "Short naps and the memory of adults";

    fn document(authors: &[&str], year: Option<i32>) -> Document {
        let authors = authors.iter().map(|name| (*name).to_owned()).collect();
        Document { title: TITLE.to_owned(), authors, year, ..Document::default() }
    }

    fn work(title: &str, authors: &[&str], year: Option<i32>) -> Work {
        let authors = authors.iter().map(|name| (*name).to_owned()).collect();
        Work { title: title.to_owned(), authors, year, ..Work::default() }
    }

    #[test]
    fn the_same_work() {
        let shout = "SHORT NAPS and the memory of adults.";
        let lee = document(&["Lee, Ann"], Some(2019));
        assert!(is_same(&lee, &work(shout, &["Bo Ek", "Ann Lee"], Some(2020))));
        assert!(is_same(&lee, &work(TITLE, &[], Some(2018))));
        assert!(is_same(&document(&["A. Lee"], None), &work(TITLE, &["Ann Lee"], Some(1990))));
        let read = Document { desc: "Ann Lee, Bo Ek\nAdults napped.".to_owned(), ..document(&[], None) };
        assert!(is_same(&read, &work(TITLE, &["Lee, Ann"], Some(1990))));
    }

    #[test]
    fn another_work() {
        let lee = document(&["Lee, Ann"], Some(2019));
        for other in [
            work(TITLE, &["Bo Ek"], Some(2019)),
            work(TITLE, &["Ann Lee"], Some(2022)),
            work("Long naps and the memory of old adults", &["Ann Lee"], Some(2019)),
            work("", &["Ann Lee"], Some(2019)),
        ] {
            assert!(!is_same(&lee, &other), "{other:?}");
        }
        // Nothing but the title is known.
        assert!(!is_same(&document(&[], None), &work(TITLE, &["Ann Lee"], Some(2019))));
        let part = Document { title: format!("{TITLE}: part 2"), ..lee };
        assert!(!is_same(&part, &work(&format!("{TITLE}: part 3"), &["Ann Lee"], Some(2019))));
    }
}
