//! Zotero's database, `zotero.sqlite`, as versions 5 and later write it.
//!
//! Its rows become items with the same names as in the API, which are read like those. Columns are found by name, so
//! that a version without a column or a table reads as if they were empty.

use super::draft;
use crate::json::Collections;
use crate::sqlite::{Database, Lengths, Value as Cell};
use crate::text::line;
use crate::{Outcome, Rejected};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{Read, Seek};

/// Most bytes of all texts that are read.
const MAX_TEXT: usize = 160 << 20;
/// Most rows that are read, over all tables.
const MAX_ROWS: usize = 8_000_000;
/// Deepest nesting of collections, and longest path in bytes.
const MAX_LEVELS: usize = 20;
const MAX_PATH: usize = 1_000;
/// Longest part of a date that is read.
const DATE: usize = 10;

/// Lengths in bytes of a database and of its journals, which stand behind it in what is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct Parts {
    /// `zotero.sqlite`.
    pub database: u64,
    /// `zotero.sqlite-journal`; 0 if it does not exist.
    pub journal: u64,
    /// `zotero.sqlite-wal`; 0 if it does not exist.
    pub log: u64,
}

impl From<Parts> for Lengths {
    fn from(parts: Parts) -> Self {
        Self { database: parts.database, journal: parts.journal, log: parts.log }
    }
}

/// Whether a file is a database of Zotero.
pub fn is_zotero(file: impl Read + Seek, parts: Parts) -> bool {
    let tables = ["items", "itemData", "itemDataValues", "itemTypes", "itemAttachments"];
    Database::open(file, parts.into()).is_ok_and(|database| tables.iter().all(|table| database.has(table)))
}

/// Reads the items of a Zotero database that are not in the trash, in the order of their numbers, which stand in place
/// of lines. An attached file that belongs to no item is a record without a title.
///
/// Paths of files in Zotero's storage are relative to the database's folder: `storage/ABCD2345/paper.pdf`. Those of
/// linked files are absolute, or begin with `attachments:` and are relative to the base folder that Zotero's settings
/// name. Dates, creators, and identifiers are as in other formats. Collections of a group begin with its name.
///
/// # Errors
/// If the file is no database of Zotero, or is damaged, or has more than a fixed amount of rows or text.
pub fn read_zotero(
    file: impl Read + Seek,
    parts: Parts,
) -> Result<Vec<Result<crate::Record, Rejected>>, String> {
    let database = Database::open(file, parts.into())?;
    if !database.has("items") || !database.has("itemDataValues") {
        return Err("this SQLite database is not Zotero's".to_owned());
    }
    let mut reading = Reading { database, text_left: MAX_TEXT, rows_left: MAX_ROWS };
    let tables = Tables::read(&mut reading)?;
    Ok(tables.records())
}

struct Reading<R> {
    database: Database<R>,
    text_left: usize,
    rows_left: usize,
}

impl<R: Read + Seek> Reading<R> {
    fn rows(&mut self, table: &str, columns: &[&str], take: &mut dyn FnMut(&[Cell])) -> Result<(), String> {
        let (text_left, rows_left) = (&mut self.text_left, &mut self.rows_left);
        self.database.rows(table, columns, &mut |row| {
            let text: usize =
                row.iter().map(|cell| if let Cell::Text(text) = cell { text.len() } else { 0 }).sum();
            let too_much = |what| format!("the database has {what} than is read");
            *text_left = text_left.checked_sub(text).ok_or_else(|| too_much("more text"))?;
            *rows_left = rows_left.checked_sub(1).ok_or_else(|| too_much("more rows"))?;
            take(row);
            Ok(())
        })
    }

    /// Texts by number.
    fn names(&mut self, table: &str, number: &str, name: &str) -> Result<HashMap<i64, String>, String> {
        let mut names = HashMap::new();
        self.rows(table, &[number, name], &mut |row| {
            if let (Some(number), Some(name)) = (row[0].whole(), row[1].text()) {
                names.insert(number, name);
            }
        })?;
        Ok(names)
    }

    /// Numbers in a column.
    fn numbers(&mut self, table: &str, column: &str) -> Result<HashSet<i64>, String> {
        let mut numbers = HashSet::new();
        self.rows(table, &[column], &mut |row| numbers.extend(row[0].whole()))?;
        Ok(numbers)
    }
}

/// An item, an attachment, a note, or an annotation: all have a row in `items`.
#[derive(Default)]
struct Item {
    kind: String,
    key: String,
    library: i64,
    fields: Vec<(String, i64)>,
    /// By place in the by-line: creator and type.
    creators: BTreeMap<i64, (i64, i64)>,
    tags: Vec<i64>,
    collections: Vec<i64>,
    attachments: Vec<i64>,
    notes: Vec<i64>,
    file: Option<File>,
    note: Option<String>,
    /// What it belongs to.
    parent: Option<i64>,
}

struct File {
    path: String,
    media_type: Option<String>,
    /// By place in the file.
    annotations: BTreeMap<(String, i64), Marked>,
}

struct Marked {
    text: String,
    comment: String,
    page: String,
    color: String,
}

struct Collection {
    name: String,
    parent: Option<i64>,
    library: i64,
}

/// What the tables hold, without what is in the trash.
struct Tables {
    items: BTreeMap<i64, Item>,
    values: HashMap<i64, String>,
    creators: HashMap<i64, (String, String)>,
    creator_types: HashMap<i64, String>,
    tags: HashMap<i64, String>,
    collections: HashMap<i64, Collection>,
    /// Number and name of a group by library.
    groups: HashMap<i64, (i64, String)>,
    retracted: HashSet<i64>,
}

/// Ways in which files are attached: by a link of the web, and as an image in a note.
const NO_FILES: [i64; 2] = [3, 4];
/// A retracted item that was replaced by a corrected one.
const REPLACED: i64 = 2;

impl Tables {
    fn read<R: Read + Seek>(reading: &mut Reading<R>) -> Result<Self, String> {
        let mut types = reading.names("itemTypesCombined", "itemTypeID", "typeName")?;
        types.extend(reading.names("itemTypes", "itemTypeID", "typeName")?);
        let mut fields = reading.names("fieldsCombined", "fieldID", "fieldName")?;
        fields.extend(reading.names("fields", "fieldID", "fieldName")?);
        let deleted = reading.numbers("deletedItems", "itemID")?;
        let feeds = reading.numbers("feeds", "libraryID")?;
        let mut items: BTreeMap<i64, Item> = BTreeMap::new();
        reading.rows("items", &["itemID", "itemTypeID", "libraryID", "key"], &mut |row| {
            let library = row[2].whole().unwrap_or(1);
            if let (Some(id), Some(kind), Some(key)) = (row[0].whole(), row[1].whole(), row[3].text())
                && !deleted.contains(&id)
                && !feeds.contains(&library)
            {
                let kind = types.get(&kind).cloned().unwrap_or_default();
                items.insert(id, Item { kind, key, library, ..Item::default() });
            }
        })?;
        reading.rows("itemData", &["itemID", "fieldID", "valueID"], &mut |row| {
            let item = row[0].whole().and_then(|id| items.get_mut(&id));
            if let (Some(item), Some(field), Some(value)) = (item, row[1].whole(), row[2].whole())
                && let Some(field) = fields.get(&field)
            {
                item.fields.push((field.clone(), value));
            }
        })?;
        let columns = ["itemID", "creatorID", "creatorTypeID", "orderIndex"];
        reading.rows("itemCreators", &columns, &mut |row| {
            let item = row[0].whole().and_then(|id| items.get_mut(&id));
            if let (Some(item), Some(creator)) = (item, row[1].whole()) {
                let place = row[3].whole().unwrap_or(i64::MAX);
                item.creators.insert(place, (creator, row[2].whole().unwrap_or(1)));
            }
        })?;
        reading.rows("itemTags", &["itemID", "tagID"], &mut |row| {
            let item = row[0].whole().and_then(|id| items.get_mut(&id));
            if let (Some(item), Some(tag)) = (item, row[1].whole()) {
                item.tags.push(tag);
            }
        })?;
        let collections = collections(reading, &feeds)?;
        reading.rows("collectionItems", &["collectionID", "itemID"], &mut |row| {
            let item = row[1].whole().and_then(|id| items.get_mut(&id));
            if let (Some(item), Some(collection)) = (item, row[0].whole()) {
                item.collections.push(collection);
            }
        })?;
        files(reading, &mut items)?;
        // Rows of the trash and of feeds have no items, and so their values are not looked for.
        let values = reading.names("itemDataValues", "valueID", "value")?;
        let mut creators = HashMap::new();
        reading.rows("creators", &["creatorID", "lastName", "firstName"], &mut |row| {
            if let Some(id) = row[0].whole() {
                let [last, first] = [1, 2].map(|at: usize| row[at].text().unwrap_or_default());
                creators.insert(id, (last, first));
            }
        })?;
        let mut groups = HashMap::new();
        reading.rows("groups", &["libraryID", "groupID", "name"], &mut |row| {
            if let (Some(library), Some(group)) = (row[0].whole(), row[1].whole()) {
                groups.insert(library, (group, row[2].text().unwrap_or_default()));
            }
        })?;
        let mut retracted = HashSet::new();
        reading.rows("retractedItems", &["itemID", "flag"], &mut |row| {
            retracted.extend(row[0].whole().filter(|_| row[1].whole() != Some(REPLACED)));
        })?;
        Ok(Self {
            values,
            creators,
            creator_types: reading.names("creatorTypes", "creatorTypeID", "creatorType")?,
            tags: reading.names("tags", "tagID", "name")?,
            collections,
            groups,
            retracted,
            items,
        })
    }

    fn records(&self) -> Vec<Outcome> {
        let mut records = Vec::new();
        for (id, item) in &self.items {
            match item.kind.as_str() {
                "note" | "annotation" => {}
                "attachment" if item.parent.is_some() || item.file.is_none() => {}
                "attachment" => records.push(Ok(self.file(*id, item))),
                _ => records.push(self.item(*id, item)),
            }
        }
        records
    }

    fn item(&self, id: i64, item: &Item) -> Outcome {
        let mut fields = Map::new();
        for (name, value) in &item.fields {
            let Some(value) = self.values.get(value) else { continue };
            let value = if name == "date" { date(value) } else { value.clone() };
            fields.insert(name.clone(), value.into());
        }
        let creators = item.creators.values().filter_map(|(creator, kind)| {
            let (last, first) = self.creators.get(creator)?;
            let kind = self.creator_types.get(kind).map_or("author", String::as_str);
            Some(json!({"creatorType": kind, "lastName": last, "firstName": first}))
        });
        fields.insert("creators".to_owned(), creators.collect());
        fields.insert("itemType".to_owned(), item.kind.clone().into());
        fields.insert("key".to_owned(), item.key.clone().into());
        let files = item.attachments.iter().filter_map(|id| self.items.get(id)?.file.as_ref());
        fields.insert("attachments".to_owned(), files.map(File::to_json).collect());
        let notes = item.notes.iter().filter_map(|id| self.items.get(id)?.note.as_deref());
        fields.insert("notes".to_owned(), notes.map(Value::from).collect());
        let mut draft = draft(line_of(id), &fields, &Collections::default());
        self.shelve(&mut draft, item);
        if self.retracted.contains(&id) {
            draft.retracted();
        }
        draft.finish()
    }

    /// A file without an item.
    fn file(&self, id: i64, item: &Item) -> crate::Record {
        let files: Value = item.file.iter().map(File::to_json).collect();
        let fields = Map::from_iter([
            ("key".to_owned(), item.key.clone().into()),
            ("attachments".to_owned(), files),
            ("notes".to_owned(), item.note.iter().map(|note| Value::from(note.as_str())).collect()),
        ]);
        let mut draft = draft(line_of(id), &fields, &Collections::default());
        self.shelve(&mut draft, item);
        draft.finish_file()
    }

    /// Where an item is in the library: its address, its tags, and its collections.
    fn shelve(&self, draft: &mut crate::draft::Draft, item: &Item) {
        let group = self.groups.get(&item.library);
        let key: String = item.key.chars().filter(char::is_ascii_alphanumeric).take(32).collect();
        draft.item(match group {
            Some((group, _)) => format!("zotero://select/groups/{group}/items/{key}"),
            None => format!("zotero://select/library/items/{key}"),
        });
        for tag in item.tags.iter().filter_map(|tag| self.tags.get(tag)) {
            draft.tag(tag);
        }
        let paths: Vec<String> = item.collections.iter().filter_map(|id| self.path(*id)).collect();
        if let (true, Some((_, name))) = (paths.is_empty(), group) {
            draft.collection(&cut(name));
        }
        for path in &paths {
            draft.collection(path);
        }
    }

    /// Names of a collection and of those that it is in; `None` if one of them is in the trash.
    fn path(&self, id: i64) -> Option<String> {
        let mut names = Vec::new();
        let (mut next, mut library) = (Some(id), 0);
        while let Some(id) = next.filter(|_| names.len() < MAX_LEVELS) {
            let collection = self.collections.get(&id)?;
            names.push(line(&collection.name));
            (next, library) = (collection.parent, collection.library);
        }
        names.extend(self.groups.get(&library).map(|(_, name)| line(name)));
        names.reverse();
        Some(cut(&names.join("/")))
    }
}

fn cut(path: &str) -> String {
    path[..path.floor_char_boundary(MAX_PATH)].to_owned()
}

fn line_of(id: i64) -> u64 {
    u64::try_from(id).unwrap_or_default()
}

fn collections<R: Read + Seek>(
    reading: &mut Reading<R>,
    feeds: &HashSet<i64>,
) -> Result<HashMap<i64, Collection>, String> {
    let deleted = reading.numbers("deletedCollections", "collectionID")?;
    let mut collections = HashMap::new();
    let columns = ["collectionID", "collectionName", "parentCollectionID", "libraryID"];
    reading.rows("collections", &columns, &mut |row| {
        let library = row[3].whole().unwrap_or(1);
        if let Some(id) = row[0].whole().filter(|id| !deleted.contains(id) && !feeds.contains(&library)) {
            let name = row[1].text().unwrap_or_default();
            collections.insert(id, Collection { name, parent: row[2].whole(), library });
        }
    })?;
    Ok(collections)
}

/// Attachments, notes, and annotations, and what they belong to.
fn files<R: Read + Seek>(reading: &mut Reading<R>, items: &mut BTreeMap<i64, Item>) -> Result<(), String> {
    let mut belonging = Vec::new();
    let columns = ["itemID", "parentItemID", "linkMode", "path", "contentType"];
    reading.rows("itemAttachments", &columns, &mut |row| {
        let id = row[0].whole();
        let Some((id, item)) = id.and_then(|id| Some((id, items.get_mut(&id)?))) else { return };
        item.parent = row[1].whole();
        if row[2].whole().is_none_or(|mode| !NO_FILES.contains(&mode)) {
            item.file = row[3].text().and_then(|path| File::new(&item.key, &path, row[4].text()));
        }
        belonging.extend(item.parent.map(|parent| (parent, id, false)));
    })?;
    reading.rows("itemNotes", &["itemID", "parentItemID", "note"], &mut |row| {
        let id = row[0].whole();
        let Some((id, item)) = id.and_then(|id| Some((id, items.get_mut(&id)?))) else { return };
        item.note = row[2].text();
        if item.kind == "note" {
            item.parent = row[1].whole();
            belonging.extend(item.parent.map(|parent| (parent, id, true)));
        }
    })?;
    for (parent, id, is_note) in belonging {
        match items.get_mut(&parent) {
            Some(parent) if is_note => parent.notes.push(id),
            Some(parent) => parent.attachments.push(id),
            None => {}
        }
    }
    let columns = ["itemID", "parentItemID", "text", "comment", "pageLabel", "color", "sortIndex"];
    reading.rows("itemAnnotations", &columns, &mut |row| {
        let (Some(id), Some(parent)) = (row[0].whole(), row[1].whole()) else { return };
        if !items.contains_key(&id) {
            return;
        }
        if let Some(file) = items.get_mut(&parent).and_then(|item| item.file.as_mut()) {
            let [text, comment, page, color, place] =
                [2, 3, 4, 5, 6].map(|at: usize| row[at].text().unwrap_or_default());
            file.annotations.insert((place, id), Marked { text, comment, page, color });
        }
    })
}

impl File {
    /// `None` for a path that leaves Zotero's storage.
    fn new(key: &str, path: &str, media_type: Option<String>) -> Option<Self> {
        let plain =
            |name: &str| !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', '\0']);
        let path = match path.strip_prefix("storage:") {
            Some(name) if plain(name) && plain(key) => format!("storage/{key}/{name}"),
            Some(_) => return None,
            None => path.to_owned(),
        };
        Some(Self { path, media_type, annotations: BTreeMap::new() })
    }

    fn to_json(&self) -> Value {
        let annotations = self.annotations.values().map(|marked| {
            let Marked { text, comment, page, color } = marked;
            json!({
                "annotationText": text,
                "annotationComment": comment,
                "annotationPageLabel": page,
                "annotationColor": color,
            })
        });
        let annotations: Value = annotations.collect();
        json!({"path": self.path, "contentType": self.media_type, "annotations": annotations})
    }
}

/// Zotero writes a date as `2019-05-00 May 2019`: what it understood, and what the user typed.
fn date(text: &str) -> String {
    let understood = text.get(..DATE).filter(|date| {
        date.bytes()
            .enumerate()
            .all(|(at, byte)| if at == 4 || at == 7 { byte == b'-' } else { byte.is_ascii_digit() })
    });
    match understood {
        Some(date) if !date.starts_with("0000") => date.trim_end_matches("-00").to_owned(),
        Some(_) => text[DATE..].trim().to_owned(),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_paths() {
        for (written, read) in [
            ("2019-05-00 May 2019", "2019-05"),
            ("2019-00-00 2019", "2019"),
            ("2019-05-31 2019-05-31", "2019-05-31"),
            ("0000-00-00 in press", "in press"),
            ("2019", "2019"),
        ] {
            assert_eq!(date(written), read);
        }
        let path = |path: &str| File::new("ABCD2345", path, None).map(|file| file.path);
        assert_eq!(path("storage:Lee 2019.pdf").as_deref(), Some("storage/ABCD2345/Lee 2019.pdf"));
        assert_eq!(path("attachments:naps/Lee.pdf").as_deref(), Some("attachments:naps/Lee.pdf"));
        for odd in ["storage:../../secret.pdf", "storage:", "storage:a\\b.pdf", "storage:.zotero-ft-cache"] {
            assert_eq!(path(odd), None, "{odd}");
        }
    }
}
