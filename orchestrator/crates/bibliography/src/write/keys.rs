//! Citation keys: short, ASCII, unique in a file, and the same for the same works in the same order.

use crate::{Record, family_name};
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use unicode_normalization::UnicodeNormalization;

/// Uninformative words at the beginning of a title.
const FILLERS: [&str; 13] =
    ["a", "an", "the", "on", "of", "in", "is", "are", "does", "do", "and", "for", "to"];

/// The keys of a file.
#[derive(Debug, Default)]
pub(super) struct Keys {
    /// By the hash of a key in lower case, how many letters were tried after it. That two keys have one hash costs a
    /// letter that would not be needed.
    used: HashMap<u64, u32>,
    hasher: RandomState,
}

impl Keys {
    /// The key of a record: its own if it can be one, else one of author, year, and title. Where it is taken, letters
    /// follow it.
    pub(super) fn key(&mut self, record: &Record) -> String {
        let base = if is_key(&record.key) { record.key.clone() } else { base(record) };
        let hash = |key: &str| self.hasher.hash_one(key.to_lowercase());
        let first = hash(&base);
        let Some(tried) = self.used.get(&first).copied() else {
            self.used.insert(first, 0);
            return base;
        };
        let mut free = tried;
        let key = loop {
            let key = format!("{base}{}", letters(free));
            free += 1;
            if !self.used.contains_key(&hash(&key)) {
                break key;
            }
        };
        let own = hash(&key);
        self.used.insert(own, 0);
        self.used.insert(first, free);
        key
    }
}

/// Whether a text is a citation key in every format and program.
fn is_key(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b":._-+/".contains(&byte);
    !text.is_empty() && text.len() <= 100 && text.bytes().all(fits)
}

fn base(record: &Record) -> String {
    let family = |name: &String| ascii(family_name(name));
    let author: String = record.authors.first().map(family).unwrap_or_default().chars().take(30).collect();
    let year = record.year.map(|year| year.to_string()).unwrap_or_default();
    let words = record.title.split(|c: char| !c.is_alphanumeric()).map(ascii);
    let word = words.filter(|word| !word.is_empty()).find(|word| !FILLERS.contains(&word.as_str()));
    let word: String = word.unwrap_or_default().chars().take(30).collect();
    if author.is_empty() && word.is_empty() {
        // Neither a name nor a title in letters that ASCII has.
        return format!("work{year}{:06x}", checksum(record) & 0xff_ffff);
    }
    format!("{author}{year}{word}")
}

/// FNV-1a of what tells a work without Latin letters from others.
fn checksum(record: &Record) -> u64 {
    let author = record.authors.first().map(String::as_str).unwrap_or_default();
    let bytes = record.title.bytes().chain([0]).chain(author.bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Letters and digits that remain when accents are dropped, in lower case.
fn ascii(text: &str) -> String {
    text.nfkd().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// `a` … `z`, `aa`, `ab`, …
fn letters(mut nth: u32) -> String {
    let mut out = Vec::new();
    loop {
        out.push(char::from(b'a' + (nth % 26) as u8));
        if nth < 26 {
            break;
        }
        nth = nth / 26 - 1;
    }
    out.iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn record(author: &str, title: &str) -> Record {
        Record {
            authors: vec![author.to_owned()],
            title: title.to_owned(),
            year: Some(2019),
            ..Record::default()
        }
    }

    #[test]
    fn author_year_word() {
        let mut keys = Keys::default();
        for (author, title, expect) in [
            ("Ann Lee", "The Memory of Naps", "lee2019memory"),
            ("Bo Lee", "On memory", "lee2019memorya"),
            ("Bo Lee", "Memory", "lee2019memoryb"),
            ("Ayşe Öztürk", "Étude", "ozturk2019etude"),
            ("World Health Organization", "Sleep", "worldhealthorganization2019sleep"),
            ("John Smith Jr.", "Naps", "smith2019naps"),
        ] {
            assert_eq!(keys.key(&record(author, title)), expect);
        }
        let first = keys.key(&record("山田 太郎", "昼寝の効果"));
        assert!(first.starts_with("work2019"), "{first}");
        assert_eq!(Keys::default().key(&record("山田 太郎", "昼寝の効果")), first);
        let own = Record { key: "Lee:2019+x".to_owned(), ..record("Ann Lee", "Naps") };
        assert_eq!((keys.key(&own), keys.key(&own)), ("Lee:2019+x".into(), "Lee:2019+xa".into()));
        assert_eq!(keys.key(&Record { key: "a b".to_owned(), ..own }), "lee2019naps");
    }

    #[test]
    fn many_works_with_one_base() {
        let mut keys = Keys::default();
        let made: HashSet<String> = (0..5_000).map(|_| keys.key(&record("Ann Lee", "Naps"))).collect();
        assert_eq!(made.len(), 5_000);
    }
}
