//! Items of a JSON file, each parsed on its own.

use crate::{MAX_RECORD, Outcome, Place, Rejected, Source};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::ops::Range;

/// Reads one item.
type ReadItem = fn(u64, &Map<String, Value>, &Collections) -> Outcome;

pub(crate) struct Items {
    place: Place,
    read: ReadItem,
    /// Where the next item is looked for; `None` at the end.
    at: Option<usize>,
    /// There is one item and no list.
    is_single: bool,
    collections: Collections,
}

impl Items {
    /// Items of the list that the file is, or that it has as `items`; else the file is one item.
    pub(crate) fn new(text: &str, read: ReadItem) -> Self {
        let start = skip_blanks(text, 0);
        let mut items = Self {
            place: Place::default(),
            read,
            at: Some(start),
            is_single: false,
            collections: Collections::default(),
        };
        if text[start..].starts_with('[') {
            items.at = Some(start + 1);
            return items;
        }
        let mut members = members(text, start);
        // Crossref's answers.
        if let Some((_, message)) = members.iter().find(|(key, _)| key == "message") {
            let at = message.start;
            if text[at..].starts_with('{') {
                items.at = Some(at);
                members = self::members(text, at);
            }
        }
        let list = members.iter().find(|(key, value)| key == "items" && text[value.start..].starts_with('['));
        match list {
            Some((_, list)) => items.at = Some(list.start + 1),
            None => items.is_single = true,
        }
        if let Some((_, value)) = members.iter().find(|(key, _)| key == "collections") {
            items.collections =
                serde_json::from_str(&text[value.clone()]).map(|v| Collections::new(&v)).unwrap_or_default();
        }
        items
    }
}

impl Source for Items {
    fn next(&mut self, text: &str) -> Option<Outcome> {
        let mut at = skip_blanks(text, self.at?);
        while text[at..].starts_with(',') {
            at = skip_blanks(text, at + 1);
        }
        self.at = None;
        if at >= text.len() || text[at..].starts_with([']', '}']) {
            return None;
        }
        let line = self.place.to(text, at);
        let reject = |reason: String| Some(Err(Rejected { line, reason }));
        let Some(end) = skip_value(text, at) else {
            return reject("the file ends inside an item".to_owned());
        };
        self.at = Some(end).filter(|_| !self.is_single);
        if end - at > MAX_RECORD {
            return reject(format!("longer than {} MiB", MAX_RECORD >> 20));
        }
        match serde_json::from_str(&text[at..end]) {
            Ok(Value::Object(item)) => Some((self.read)(line, &item, &self.collections)),
            Ok(_) => reject("not an object".to_owned()),
            Err(error) => reject(format!("broken JSON: {error}")),
        }
    }
}

fn skip_blanks(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    text.len() - rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{FEFF}').len()
}

/// Where the value at an offset ends, by its brackets and quotes; `None` if the text ends before. Always after `at`.
fn skip_value(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut depth, mut quoted, mut end) = (0_usize, false, at);
    while let Some(byte) = bytes.get(end) {
        match byte {
            b'\\' if quoted => end += 1,
            b'"' => {
                quoted = !quoted;
                if !quoted && depth == 0 {
                    return Some(end + 1);
                }
            }
            _ if quoted => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth <= 1 => return Some(if depth == 0 { end.max(at + 1) } else { end + 1 }),
            b'}' | b']' => depth -= 1,
            b',' if depth == 0 => return Some(end.max(at + 1)),
            _ => {}
        }
        end += 1;
    }
    (depth == 0 && !quoted).then_some(text.len())
}

/// The keys of the object at an offset, and where their values are.
fn members(text: &str, at: usize) -> Vec<(String, Range<usize>)> {
    let mut members = Vec::new();
    if !text[at..].starts_with('{') {
        return members;
    }
    let mut at = at + 1;
    loop {
        at = skip_blanks(text, at);
        while text[at..].starts_with(',') {
            at = skip_blanks(text, at + 1);
        }
        if !text[at..].starts_with('"') {
            return members;
        }
        let Some(end) = skip_value(text, at) else { return members };
        let key = text[at + 1..end - 1].to_owned();
        at = skip_blanks(text, end);
        if !text[at..].starts_with(':') {
            return members;
        }
        at = skip_blanks(text, at + 1);
        let Some(end) = skip_value(text, at) else {
            // The list of a file that was cut off.
            members.push((key, at..text.len()));
            return members;
        };
        members.push((key, at..end));
        at = end;
    }
}

/// The collections of Better BibTeX JSON.
#[derive(Debug, Default)]
pub(crate) struct Collections {
    /// Names with those of their parents.
    paths: Vec<String>,
    /// The paths of an item, by its number.
    items: HashMap<String, Vec<usize>>,
}

/// Deepest nesting, and longest path in bytes.
const MAX_LEVELS: usize = 20;
const MAX_PATH: usize = 1_000;

impl Collections {
    fn new(value: &Value) -> Self {
        let mut all = Self::default();
        let Value::Object(collections) = value else { return all };
        for (key, collection) in collections {
            let (mut names, mut next) = (Vec::new(), Some(key.as_str()));
            while let Some(collection) =
                next.and_then(|key| collections.get(key)).filter(|_| names.len() < MAX_LEVELS)
            {
                names.push(collection.get("name").and_then(Value::as_str).unwrap_or_default());
                next = collection.get("parent").and_then(Value::as_str);
            }
            names.reverse();
            let path: String = names.join("/").chars().take(MAX_PATH).collect();
            for item in collection.get("items").and_then(Value::as_array).into_iter().flatten() {
                self::append(&mut all.items, text(item), all.paths.len());
            }
            all.paths.push(path);
        }
        all
    }

    /// The collections of an item.
    pub(crate) fn of(&self, item: &str) -> impl Iterator<Item = &str> {
        self.items.get(item).into_iter().flatten().map(|at| self.paths[*at].as_str())
    }
}

fn append(items: &mut HashMap<String, Vec<usize>>, item: String, path: usize) {
    items.entry(item).or_default().push(path);
}

/// A text, a number as text, or the first of a list; else empty.
pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Array(list) => list.iter().find_map(Value::as_str).unwrap_or_default().to_owned(),
        _ => String::new(),
    }
}

/// The text of a member; empty if it is absent.
pub(crate) fn member(item: &Map<String, Value>, name: &str) -> String {
    item.get(name).map(text).unwrap_or_default()
}

/// The list of a member; a text counts as a list of one.
pub(crate) fn list<'v>(item: &'v Map<String, Value>, name: &str) -> Vec<&'v Value> {
    match item.get(name) {
        Some(Value::Array(list)) => list.iter().collect(),
        Some(value @ (Value::String(_) | Value::Object(_) | Value::Number(_))) => vec![value],
        _ => Vec::new(),
    }
}
