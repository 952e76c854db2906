//! Citation keys: short, ASCII, unique, and the same for the same works.

use super::Reference;
use super::names::Name;
use std::collections::HashSet;
use unicode_normalization::UnicodeNormalization;

/// Uninformative words at the beginning of a title.
const FILLERS: &[&str] = &["a", "an", "the", "on", "of", "in", "is", "are", "does", "do", "and", "for", "to"];

/// One key per reference, in order: family name, year, first telling word (`curie1911radioactive`), with `a`, `b`, …
/// after it where several works would share it. Keys differ by more than capitals, which BibTeX ignores.
pub(super) fn keys(references: &[Reference]) -> Vec<String> {
    let mut used = HashSet::new();
    references
        .iter()
        .map(|reference| {
            let base = base(reference);
            let mut key = base.clone();
            let mut tried = 0;
            while !used.insert(key.clone()) {
                key = format!("{base}{}", letters(tried));
                tried += 1;
            }
            key
        })
        .collect()
}

fn base(reference: &Reference) -> String {
    let author = reference.authors.first().map(|name| ascii(Name::read(name).family())).unwrap_or_default();
    let year = reference.year.map(|year| year.to_string()).unwrap_or_default();
    let word = reference
        .title
        .split(|c: char| !c.is_alphanumeric())
        .map(ascii)
        .find(|word| !word.is_empty() && !FILLERS.contains(&word.as_str()))
        .unwrap_or_default();
    let key = format!("{author}{year}{word}");
    // Neither a name nor a title in letters that ASCII has: the id is all there is.
    if author.is_empty() && word.is_empty() { format!("{}{key}", ascii(&reference.page_id)) } else { key }
}

/// Letters and digits that remain when accents are dropped, in lower case.
fn ascii(text: &str) -> String {
    text.nfkd().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// `a` … `z`, `aa`, `ab`, …
fn letters(mut i: usize) -> String {
    let mut out = Vec::new();
    loop {
        out.push(char::from(b'a' + (i % 26) as u8));
        if i < 26 {
            break;
        }
        i = i / 26 - 1;
    }
    out.iter().rev().collect()
}
