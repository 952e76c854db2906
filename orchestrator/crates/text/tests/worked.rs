//! What docs/query.md says about queries, held against the parser and the example corpus.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

use lyra_text::query::{Query, Texts, matches};
use std::path::{Path, PathBuf};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// Titles and abstracts of the example corpus.
fn corpus() -> Vec<(String, String)> {
    let folder = repository().join("examples/corpus");
    let files =
        ["nap", "remote-work", "phone-ban", "biochar"].map(|name| folder.join(name).with_extension("jsonl"));
    let texts = files.map(|file| std::fs::read_to_string(file).expect("the example corpus"));
    let document = |line: &str| {
        let value: serde_json::Value = serde_json::from_str(line).expect("a document");
        let text = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
        (text("title"), text("abstract"))
    };
    texts.iter().flat_map(|text| text.lines().map(document).collect::<Vec<_>>()).collect()
}

/// The rows of the page's tables: cells, without the marks of code.
fn rows() -> Vec<Vec<String>> {
    let page = std::fs::read_to_string(repository().join("docs/query.md")).expect("the page");
    let cell = |cell: &str| cell.trim().replace("\\|", "|");
    let row = |line: &str| line.trim_matches('|').split(" | ").map(cell).collect();
    page.lines().filter(|line| line.starts_with("| ")).map(row).collect()
}

fn code(cell: &str) -> Option<String> {
    let inner = cell.strip_prefix('`')?.strip_suffix('`')?;
    Some(inner.trim_matches('`').trim().to_owned())
}

#[test]
fn the_worked_search_finds_what_the_page_says() {
    let corpus = corpus();
    let (mut checked, mut wrong) = (0, Vec::new());
    for row in rows() {
        let [query, found, ..] = row.as_slice() else { continue };
        let (Some(text), Ok(expect)) = (code(query), found.parse::<usize>()) else { continue };
        let query = Query::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let fits =
            |(title, abst): &&(String, String)| matches(&query, &Texts { title, abst, ..Texts::default() });
        let count = corpus.iter().filter(fits).count();
        if count != expect {
            wrong.push(format!("{text}: {count}, not {expect}"));
        }
        checked += 1;
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(checked >= 8, "{checked} rows with counts");
}

#[test]
fn forms_of_other_systems_are_read_as_the_page_says() {
    let mut checked = 0;
    for row in rows() {
        let [form, kind, lyra, ..] = row.as_slice() else { continue };
        let (Some(form), Some(lyra)) = (code(form), code(lyra)) else { continue };
        match kind.as_str() {
            "read as" => {
                let same = |text: &str| Query::parse(text).map(|query| query.to_string());
                assert_eq!(same(&form), same(&lyra), "{form}");
                assert!(Query::read(&form).is_ok_and(|read| read.notes.is_empty()), "{form}");
            }
            "refused, write" => {
                let error = Query::parse(&form).expect_err(&form);
                assert_eq!(error.instead.as_deref(), Some(lyra.as_str()), "{form}");
            }
            "a word, with a note" => {
                let read = Query::read(&form).unwrap_or_else(|error| panic!("{form}: {error}"));
                assert!(read.notes.iter().any(|note| note.hint.contains(&lyra)), "{form}: {:?}", read.notes);
            }
            _ => continue,
        }
        checked += 1;
    }
    assert!(checked >= 30, "{checked} forms");
}
