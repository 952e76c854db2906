//! JSON Lines: a claim, a passage and a label a line.

use super::{LabelledItem, LabelledPassage, LabelledSet, MAX_ITEMS, label, too_many, unreadable, wrong};
use crate::AppError;
use flate2::read::MultiGzDecoder;
use lyra_domain::figures::Label;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

/// Longest line, in bytes.
const MAX_LINE: u64 = 4 << 20;

#[derive(Debug, Deserialize)]
struct Row {
    #[serde(alias = "hypothesis")]
    claim: Option<String>,
    label: Option<String>,
    title: Option<String>,
    sentences: Option<Vec<String>>,
    #[serde(alias = "premise")]
    passage: Option<String>,
    rationale: Option<Rationale>,
    kind: Option<String>,
    id: Option<Name>,
    group: Option<Name>,
    doc: Option<Name>,
}

/// Numbers of sentences, or sets of them, each of which suffices.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Rationale {
    Sentences(Vec<usize>),
    Sets(Vec<Vec<usize>>),
}

/// A number or a string.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Name {
    Number(u64),
    Text(String),
}

impl Name {
    pub(super) fn text(self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text,
        }
    }
}

pub(super) fn read(path: &Path) -> Result<LabelledSet, AppError> {
    let mut items: Vec<LabelledItem> = Vec::new();
    let mut groups: HashMap<String, usize> = HashMap::new();
    each(path, |line, row: Row| {
        if items.len() == MAX_ITEMS {
            return Err(too_many(path));
        }
        let (group, item) = item(path, line, row)?;
        let next = groups.len();
        let group = *groups.entry(group).or_insert(next);
        items.push(LabelledItem { group, ..item });
        Ok(())
    })?;
    items.sort_by_key(|item| item.group);
    Ok(LabelledSet { path: path.to_owned(), items, abstracts: None })
}

fn item(path: &Path, line: usize, row: Row) -> Result<(String, LabelledItem), AppError> {
    let wrong = |what: &str, right: &str| wrong(path, line, what, right);
    let claim = row
        .claim
        .filter(|claim| !claim.trim().is_empty())
        .ok_or_else(|| wrong("it has no `claim`", "give the statement to judge as \"claim\": \"…\""))?;
    let name = row
        .label
        .ok_or_else(|| wrong("it has no `label`", "give one of SUPPORT, REFUTE and NEI as \"label\""))?;
    let label = label(&name).ok_or_else(|| {
        wrong(
            &format!("`{name}` is not a label"),
            "use SUPPORT, REFUTE or NEI (or entailment, contradiction, neutral)",
        )
    })?;
    let sentences = match (row.sentences, row.passage) {
        (Some(_), Some(_)) => {
            return Err(wrong("it has both `sentences` and `passage`", "give one of the two"));
        }
        (Some(sentences), None) => sentences,
        (None, Some(passage)) => {
            let language = lyra_text::language(&passage);
            lyra_text::sentences(&passage, language).into_iter().map(|sentence| sentence.text).collect()
        }
        (None, None) => {
            return Err(wrong(
                "it has no text to judge the claim by",
                "give \"sentences\": [\"…\", \"…\"] or \"passage\": \"…\"",
            ));
        }
    };
    if sentences.iter().all(|sentence| sentence.trim().is_empty()) {
        return Err(wrong("its passage is empty", "give the text that the label is about"));
    }
    let rationales = rationales(row.rationale, label);
    let count = sentences.len();
    if let Some(outside) = rationales.iter().flatten().flatten().find(|&&sentence| sentence >= count) {
        return Err(wrong(
            &format!("`rationale` names sentence {outside}"),
            &format!("its {count} sentences have the numbers 0 to {}", count - 1),
        ));
    }
    let document = row.doc.map_or_else(|| sentences.join(" "), Name::text);
    let item = LabelledItem {
        id: row.id.map_or_else(|| line.to_string(), Name::text),
        group: 0,
        label,
        rationales,
        kind: row.kind,
        passage: Arc::new(LabelledPassage { document, title: row.title, sentences }),
        claim,
    };
    Ok((row.group.map_or_else(|| item.claim.clone(), Name::text), item))
}

/// In a flat list, every sentence belongs to the rationale. Neutral passages have none.
fn rationales(given: Option<Rationale>, label: Label) -> Option<Vec<Vec<usize>>> {
    match given {
        _ if !label.is_side() => Some(Vec::new()),
        Some(Rationale::Sentences(sentences)) => Some(sentences.into_iter().map(|s| vec![s]).collect()),
        Some(Rationale::Sets(sets)) => Some(sets),
        None => None,
    }
}

/// The first line that is not blank; `None` when the file has none.
pub(super) fn first(path: &Path) -> Result<Option<Map<String, Value>>, AppError> {
    let mut found = None;
    read_lines(path, |number, line| {
        found = Some(parsed(path, number, line)?);
        Ok(ControlFlow::Break(()))
    })?;
    Ok(found)
}

/// Calls `take` with every line that is not blank, numbered from 1.
pub(super) fn each<T: DeserializeOwned>(
    path: &Path,
    mut take: impl FnMut(usize, T) -> Result<(), AppError>,
) -> Result<(), AppError> {
    read_lines(path, |number, line| {
        take(number, parsed(path, number, line)?)?;
        Ok(ControlFlow::Continue(()))
    })
}

fn read_lines(
    path: &Path,
    mut take: impl FnMut(usize, &[u8]) -> Result<ControlFlow<()>, AppError>,
) -> Result<(), AppError> {
    let mut lines = open(path)?;
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let read = lines.by_ref().take(MAX_LINE + 1).read_until(b'\n', &mut line);
        let read = read.map_err(|error| unreadable(path, &error))?;
        if read == 0 {
            break;
        }
        if read as u64 > MAX_LINE {
            return Err(wrong(path, number, "it is longer than 4 MiB", "write one JSON object per line"));
        }
        if !line.trim_ascii().is_empty() && take(number, &line)?.is_break() {
            break;
        }
    }
    Ok(())
}

fn parsed<T: DeserializeOwned>(path: &Path, number: usize, line: &[u8]) -> Result<T, AppError> {
    serde_json::from_slice(line).map_err(|error| {
        let error = error.to_string();
        let error = error.split(" at line ").next().unwrap_or_default();
        wrong(path, number, &format!("it cannot be read: {error}"), EXAMPLE)
    })
}

const EXAMPLE: &str = "write one JSON object per line, such as {\"claim\": \"…\", \"label\": \"SUPPORT\", \
    \"sentences\": [\"…\"], \"rationale\": [0]}";

fn open(path: &Path) -> Result<Box<dyn BufRead>, AppError> {
    let file = File::open(path).map_err(|error| unreadable(path, &error))?;
    Ok(if path.extension().is_some_and(|ending| ending == "gz") {
        Box::new(BufReader::new(MultiGzDecoder::new(file)))
    } else {
        Box::new(BufReader::new(file))
    })
}
