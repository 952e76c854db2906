use super::*;
use std::collections::BTreeSet;
use std::path::Path;

fn placeholders(text: &str) -> BTreeSet<&str> {
    text.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(name, _)| name).collect()
}

#[test]
fn both_languages_say_the_same_things() {
    let [english, japanese] = &*TEXTS;
    let keys = |texts: &Texts| texts.keys().cloned().collect::<BTreeSet<_>>();
    assert_eq!(keys(english), keys(japanese));
    assert!(english.len() > 50);
    for (key, text) in english {
        assert!(!text.is_empty() && !japanese[key].is_empty(), "{key} is empty");
        assert_eq!(placeholders(text), placeholders(&japanese[key]), "{key}");
    }
    for files in [ENGLISH, JAPANESE] {
        for (page, text) in files {
            let object: HashMap<String, String> = serde_json::from_str(text).expect(page);
            assert!(!object.is_empty(), "{page}");
        }
    }
}

/// Every text that code names exists, and every text is named somewhere.
#[test]
fn the_pages_use_what_there_is() {
    let code = sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    let used: BTreeSet<String> = code
        .split('"')
        .filter(|word| {
            word.split_once('.').is_some_and(|(page, key)| {
                ENGLISH.iter().any(|(known, _)| known == &page)
                    && !matches!(key, "" | "js")
                    && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            })
        })
        .map(str::to_owned)
        .collect();
    let known: BTreeSet<String> = TEXTS[0].keys().cloned().collect();
    assert_eq!(used.difference(&known).collect::<Vec<_>>(), Vec::<&String>::new(), "missing texts");
    assert_eq!(known.difference(&used).collect::<Vec<_>>(), Vec::<&String>::new(), "unused texts");
}

fn sources(folder: &Path) -> String {
    let mut all = String::new();
    for entry in std::fs::read_dir(folder).expect("the folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() && !path.ends_with("tests") {
            all += &sources(&path);
        } else if path.extension().is_some_and(|end| end == "rs") && !path.ends_with("tests.rs") {
            all += &std::fs::read_to_string(path).expect("a file");
        }
    }
    all
}

#[test]
fn a_browser_s_first_known_language_is_taken() {
    assert_eq!(Language::accepted("de-DE, ja;q=0.8, en;q=0.5"), Some(Language::Japanese));
    assert_eq!(Language::accepted("en-US,en;q=0.9"), Some(Language::English));
    assert_eq!(Language::accepted("fr, *"), None);
}

#[test]
fn numbers_are_grouped_and_texts_filled() {
    let words = Words(Language::English);
    assert_eq!([0, 999, 1_000, 1_234_567].map(|n| words.number(n)), ["0", "999", "1,000", "1,234,567"]);
    assert_eq!(filled("{n} of {m}", &[("n", "1"), ("m", "2")]), "1 of 2");
}
