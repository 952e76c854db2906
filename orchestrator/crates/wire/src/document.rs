//! Large documents in parts, a page at a time.
//!
//! A document consists of its lists, item by item, and the remainder without them.

use crate::json;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// How deep lists are searched: `evidence_graph.nodes`.
const DEPTH: usize = 2;
/// Longest text in an item that exceeds a page by itself, in characters.
const LONG_TEXT: usize = 2_000;
/// Bytes of a list of words that is not worth parting from its object.
const FEW_WORDS: usize = 1_000;
/// The fields that identify an item of a list, the first of them that it has.
const IDS: [&str; 6] = ["id", "edge_id", "search_id", "claim_id", "fragment_id", "page_id"];

/// The text is not a cursor of this document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrongCursor;

/// A document as its parts.
#[derive(Debug, PartialEq)]
pub struct Document {
    /// Everything but the items of its lists.
    head: Value,
    items: Vec<Item>,
    /// Differs whenever the contents do.
    revision: u64,
}

#[derive(Debug, PartialEq)]
struct Item {
    /// Path of its list: `claims`, `evidence_graph.nodes`.
    list: Arc<str>,
    /// Its `id`, or empty.
    id: String,
    json: String,
}

/// A part of a document: a document itself, with the items of this page in its lists.
#[derive(Debug, Clone, PartialEq)]
pub struct DocumentPage {
    /// The part. The first has everything that is not a list.
    pub part: Value,
    /// Cursor of the next page; `None` after the last.
    pub next_cursor: Option<String>,
    /// Items on this page.
    pub items: usize,
    /// Items of the whole document.
    pub total_items: usize,
    /// The document has changed since the cursor was issued: moved items may be missing or duplicated.
    pub changed: bool,
}

impl Document {
    /// The parts of what a value is written as. Takes long for a large one.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Self {
        let mut head = serde_json::to_value(value).unwrap_or_default();
        let mut items = Vec::new();
        take_lists(&mut head, "", DEPTH, &mut items);
        let mut hasher = DefaultHasher::new();
        head.to_string().hash(&mut hasher);
        for item in &items {
            item.json.hash(&mut hasher);
        }
        Self { head, items, revision: hasher.finish() }
    }

    /// A page whose JSON takes at most `max_bytes`, from the beginning or from where a cursor points.
    ///
    /// # Errors
    /// A cursor of another document.
    pub fn page(&self, cursor: Option<&str>, max_bytes: usize) -> Result<DocumentPage, WrongCursor> {
        let (start, changed) = cursor.map_or(Ok((0, false)), |cursor| self.place(cursor))?;
        // The shape stays on every page, its other contents on the first.
        let mut part = if start == 0 { self.head.clone() } else { json!({}) };
        let mut left = max_bytes.saturating_sub(part.to_string().len());
        let mut end = start;
        for item in &self.items[start..] {
            // The comma, and the list's name if it is new.
            let size = item.json.len() + item.list.len() + 16;
            if size > left && end > start {
                break;
            }
            let value = serde_json::from_str(&item.json).unwrap_or_default();
            end += 1;
            if size > left {
                append(&mut part, &item.list, shortened(value, left));
                break;
            }
            append(&mut part, &item.list, value);
            left -= size;
        }
        let next_cursor =
            (end < self.items.len()).then(|| format!("{:x}.{end}.{}", self.revision, self.items[end - 1].id));
        Ok(DocumentPage { part, next_cursor, items: end - start, total_items: self.items.len(), changed })
    }

    /// Where a cursor points to, and whether the document changed since.
    fn place(&self, cursor: &str) -> Result<(usize, bool), WrongCursor> {
        let wrong = || WrongCursor;
        let mut parts = cursor.splitn(3, '.');
        let revision = parts.next().and_then(|text| u64::from_str_radix(text, 16).ok()).ok_or_else(wrong)?;
        let at: usize = parts.next().and_then(|text| text.parse().ok()).ok_or_else(wrong)?;
        let id = parts.next().ok_or_else(wrong)?;
        if revision == self.revision {
            return if at <= self.items.len() { Ok((at, false)) } else { Err(wrong()) };
        }
        let after = self.items.iter().position(|item| !id.is_empty() && item.id == id).map(|found| found + 1);
        Ok((after.unwrap_or(at).min(self.items.len()), true))
    }
}

/// Moves the items of every list in `value` into `items`, leaving the lists empty.
fn take_lists(value: &mut Value, path: &str, depth: usize, items: &mut Vec<Item>) {
    let Value::Object(fields) = value else { return };
    for (name, field) in fields {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        if let Value::Array(list) = field {
            // A few words, such as the authors of a citation, stay with what they describe.
            if depth < DEPTH && list.iter().all(Value::is_string) && json::size(list) <= FEW_WORDS {
                continue;
            }
            let path: Arc<str> = path.into();
            items.extend(std::mem::take(list).into_iter().map(|item| {
                let name = IDS.iter().find_map(|key| item.get(*key)?.as_str());
                Item {
                    id: name.unwrap_or_default().to_owned(),
                    json: item.to_string(),
                    list: Arc::clone(&path),
                }
            }));
        } else if depth > 1 {
            take_lists(field, &path, depth - 1, items);
        }
    }
}

/// Appends an item to the list at `path`, which is created if missing.
fn append(part: &mut Value, path: &str, item: Value) {
    let mut at = part;
    for name in path.split('.') {
        let Value::Object(fields) = at else { return };
        at = fields.entry(name).or_insert_with(|| Value::Object(Map::new()));
    }
    match at {
        Value::Array(list) => list.push(item),
        empty => *empty = Value::Array(vec![item]),
    }
}

/// An item that does not fit a page: long texts are truncated, then its lists from the end, with a note.
fn shortened(mut item: Value, max_bytes: usize) -> Value {
    cut_texts(&mut item);
    let Value::Object(fields) = &mut item else { return item };
    fields.insert(
        "shortened".to_owned(),
        json!("too large for a page; read this item alone, or query the graph, for the rest"),
    );
    let names: Vec<String> = fields.keys().cloned().collect();
    for name in names {
        let size = serde_json::to_string(fields).map_or(0, |text| text.len());
        if size > max_bytes
            && let Some(Value::Array(list)) = fields.get_mut(&name)
        {
            let mut over = size - max_bytes;
            while over > 0
                && let Some(last) = list.pop()
            {
                over = over.saturating_sub(last.to_string().len() + 1);
            }
        }
    }
    item
}

fn cut_texts(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Some((end, _)) = text.char_indices().nth(LONG_TEXT) {
                text.truncate(end);
                text.push('…');
            }
        }
        Value::Array(list) => list.iter_mut().for_each(cut_texts),
        Value::Object(fields) => fields.values_mut().for_each(cut_texts),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
