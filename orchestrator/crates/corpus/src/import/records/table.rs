//! Tables: comma, semicolon or tab separated, with a header of the names that JSON has, or of those of a patent service's exports.

use super::{MAX_LINE, Record};
use crate::backend::number::dashed;
use crate::document::json;
use crate::import::patent::exchange::without_country;
use crate::import::patent::identify;
use csv::{ByteRecord, ReaderBuilder};
use serde_json::{Map, Value};
use std::collections::VecDeque;
use std::io::{BufRead, Read};

/// Columns whose cells hold several values.
const LISTS: [&str; 31] = [
    "authors",
    "inventors",
    "references",
    "cites",
    "applicants",
    "assignees",
    "assignee",
    "cross_en_applicants",
    "ipc",
    "ipc_codes",
    "cpc",
    "cpc_codes",
    "fi",
    "fi_codes",
    "ft",
    "ft_codes",
    "fterm",
    "f_terms",
    "claims",
    "claim",
    "keywords",
    "uspc",
    "uspc_codes",
    "locarno",
    "locarno_codes",
    "priorities",
    "priority_numbers",
    "tags",
    "editors",
    "isbn",
    "issn",
];

/// Headings of what Espacenet, The Lens, `PatSnap`, and Google Patents export, in lower case, and the fields that they are.
const HEADINGS: [(&str, &str); 48] = [
    ("publication number", NUMBER),
    ("publication no.", NUMBER),
    ("display key", NUMBER),
    ("lens id", "lens_id"),
    ("application number", "app_id"),
    ("application date", "app_date"),
    ("filing date", "app_date"),
    ("filing/creation date", "app_date"),
    ("publication date", "pub_date"),
    ("publication year", "year"),
    ("priority date", "priority_date"),
    ("earliest priority", "priority_date"),
    ("earliest priority date", "priority_date"),
    ("priority number", "priorities"),
    ("priority numbers", "priorities"),
    ("title (english)", "title"),
    ("abstract (english)", "abstract"),
    ("first claim", "claims"),
    ("independent claims", "claims"),
    ("inventor", "inventors"),
    ("inventor(s)", "inventors"),
    ("inventor/author", "inventors"),
    ("applicant", "applicants"),
    ("applicant(s)", "applicants"),
    ("current assignee", "applicants"),
    ("[standardized] current assignee", "applicants"),
    ("original assignee", "applicants"),
    ("[standardized] original assignee", "applicants"),
    ("owners", "applicants"),
    ("ipc classification", "ipc"),
    ("ipcr classifications", "ipc"),
    ("cpc classification", "cpc"),
    ("cpc classifications", "cpc"),
    ("us classifications", "uspc"),
    ("upc", "uspc"),
    ("loc", "locarno"),
    ("locarno classification", "locarno"),
    ("family number", "family_id"),
    ("simple family id", "family_id"),
    ("simple legal status", "legal_status"),
    ("legal status", "legal_status"),
    ("cited by patent count", "citation_count"),
    ("cited by patents count", "citation_count"),
    ("cited patents", "references"),
    ("cites patents", "references"),
    ("backward citations", "references"),
    ("result link", "url"),
    ("doc. language", "language"),
];

/// The field of a publication's own number, which becomes the document's id.
const NUMBER: &str = "publication number";
/// Lines before the header at most: some services write what was searched there.
const MOST_BEFORE: usize = 20;

/// Reads a table row by row.
pub(in crate::import) struct Table<R> {
    reader: csv::Reader<Bounded<Start<R>>>,
    header: Option<Header>,
    /// Rows that were read while the header was looked for.
    before: VecDeque<(u64, Row)>,
    ended: bool,
}

/// Most bytes that are read for one row: the reader is some kilobytes ahead of it.
const MAX_ROW: u64 = MAX_LINE + 64 * 1024;

/// Content that ends with an error when one row takes too much of it.
struct Bounded<R> {
    content: R,
    left: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.left == 0 {
            return Err(std::io::Error::other("the row is too long"));
        }
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        let read = self.content.read(&mut buffer[..most])?;
        self.left -= read as u64;
        Ok(read)
    }
}

/// The header line that was read ahead, and the rest.
type Start<R> = std::io::Chain<std::io::Cursor<Vec<u8>>, R>;

impl<R: BufRead> Table<R> {
    pub(super) fn new(mut content: R) -> Self {
        let mut start = Vec::new();
        let mut delimiter = b',';
        for _ in 0..MOST_BEFORE {
            let mut line = Vec::new();
            // An error here comes again at the first row.
            let _ = content.by_ref().take(MAX_LINE).read_until(b'\n', &mut line);
            let count = |mark: u8| line.split(|byte| *byte == mark).count();
            let most = [b',', b';', b'\t'].into_iter().max_by_key(|mark| (count(*mark), *mark == b','));
            start.extend_from_slice(&line);
            delimiter = most.unwrap_or(b',');
            // A line of one cell may stand before the header.
            if line.is_empty() || start.len() as u64 > MAX_LINE || count(delimiter) > 1 {
                break;
            }
        }
        let reader = ReaderBuilder::new()
            .delimiter(delimiter)
            .has_headers(false)
            .flexible(true)
            .from_reader(Bounded { content: std::io::Cursor::new(start).chain(content), left: MAX_ROW });
        Self { reader, header: None, before: VecDeque::new(), ended: false }
    }

    pub(super) fn next(&mut self) -> Option<Record> {
        if self.header.is_none() {
            self.find_header();
        }
        while let Some((line, row)) = self.before.pop_front().or_else(|| self.row()) {
            let cells = match row {
                Ok(cells) => cells,
                Err(why) => return Some(Record::new(line, Err(why))),
            };
            if cells.iter().any(|cell| !cell.trim().is_empty()) {
                return Some(self.header.as_ref()?.record(line, &cells));
            }
        }
        None
    }

    /// Finds the row that names the columns. If none among the first rows is known, it is the first one.
    fn find_header(&mut self) {
        let mut rows: VecDeque<(u64, Row)> = VecDeque::new();
        while rows.len() < MOST_BEFORE
            && let Some((line, row)) = self.row()
        {
            if let Some(header) = row.as_ref().ok().map(|cells| Header::of(cells)).filter(Header::is_known) {
                self.header = Some(header);
                return;
            }
            rows.push_back((line, row));
        }
        let is_table = |(_, row): &(u64, Row)| row.as_ref().is_ok_and(|cells| cells.len() > 1);
        let first = rows.iter().position(is_table).or_else(|| rows.iter().position(|(_, row)| row.is_ok()));
        let cells = first.and_then(|first| rows.remove(first)).and_then(|(_, row)| row.ok());
        self.header = Some(Header::of(&cells.unwrap_or_default()));
        self.before = rows;
    }

    /// The next row with the line on which it begins.
    fn row(&mut self) -> Option<(u64, Row)> {
        if self.ended {
            return None;
        }
        let line = self.reader.position().line();
        self.reader.get_mut().left = MAX_ROW;
        let mut row = ByteRecord::new();
        match self.reader.read_byte_record(&mut row) {
            Ok(true) => {}
            Ok(false) => {
                self.ended = true;
                return None;
            }
            Err(error) => {
                // After a broken row, the reader cannot tell where the next one begins.
                self.ended = true;
                let why = if self.reader.get_ref().left == 0 {
                    format!(
                        "a row is longer than {} MiB: is there a quotation mark that nothing closes?",
                        MAX_LINE >> 20
                    )
                } else {
                    format!("cannot be read: {error}")
                };
                return Some((line, Err(why)));
            }
        }
        let line = row.position().map_or(line, csv::Position::line);
        let cells = row.iter().map(|cell| std::str::from_utf8(cell).map(str::to_owned)).collect();
        Some((line, std::result::Result::<Vec<String>, _>::map_err(cells, |_| "not UTF-8".to_owned())))
    }
}

/// The cells of a row, or why they cannot be read.
type Row = std::result::Result<Vec<String>, String>;

/// The names of columns.
struct Header {
    /// The field of each column.
    fields: Vec<String>,
    /// It is of a patent service, whose rows say a part of what there is to say.
    is_export: bool,
}

impl Header {
    fn of(cells: &[String]) -> Self {
        let name = |cell: &String| cell.trim_start_matches('\u{FEFF}').trim().to_lowercase();
        let written: Vec<String> = cells.iter().map(name).collect();
        let field =
            |name: &String| HEADINGS.iter().find(|(heading, _)| heading == name).map(|(_, field)| *field);
        let has_number = written.iter().any(|name| field(name) == Some(NUMBER));
        let is_export = has_number && !written.iter().any(|name| IDS.contains(&name.as_str()));
        // Google Patents names its numbers `id`.
        let is_export = is_export || written.iter().any(|name| name == "inventor/author");
        let fields = written.iter().map(|name| field(name).unwrap_or(name).to_owned()).collect();
        Self { fields, is_export }
    }

    /// Whether it names a number or an id and anything else that is known.
    fn is_known(&self) -> bool {
        let has = |name: &str| self.fields.iter().any(|field| field == name);
        has(NUMBER) && has("title")
            || IDS.iter().any(|name| has(name))
            || (has("title") && self.fields.len() > 1)
    }

    fn record(&self, line: u64, cells: &[String]) -> Record {
        let outcome = self.document(cells);
        if self.is_export { Record::part(line, outcome) } else { Record::new(line, outcome) }
    }

    fn document(&self, cells: &[String]) -> Result<(crate::Document, json::OddCodes), String> {
        if cells.len() != self.fields.len() {
            return Err(format!("{} cells under {} headings", cells.len(), self.fields.len()));
        }
        let mut fields = Map::new();
        for (name, cell) in self.fields.iter().zip(cells).filter(|(_, cell)| !cell.trim().is_empty()) {
            // Of several columns for one field, the first that is filled counts.
            if !fields.contains_key(name) {
                fields.insert(name.clone(), self.value(name, cell));
            }
        }
        if self.is_export {
            // A cell may list all publications of a family: the first one is meant.
            let number = fields.remove(NUMBER).or_else(|| fields.remove("id"));
            let number = number.as_ref().and_then(Value::as_str).and_then(|cell| cell.lines().next());
            let id = number.map(dashed).filter(|id| !id.is_empty());
            if let Some(id) = id {
                fields.insert("id".to_owned(), id.into());
            } else if let Some(lens) = fields.get("lens_id").cloned() {
                fields.insert("id".to_owned(), lens);
            } else {
                return Err("no publication number".to_owned());
            }
        }
        let (mut document, odd) = json::read(&fields)?;
        let id = document.doc_id.clone();
        if self.is_export
            && let [office, doc_number, kind] = id.split('-').collect::<Vec<_>>()[..]
        {
            identify(&mut document, office, doc_number, kind);
        }
        Ok((document, odd))
    }

    fn value(&self, name: &str, cell: &str) -> Value {
        if !LISTS.contains(&name) {
            return Value::from(if name == "priority_date" { first_day(cell) } else { cell.to_owned() });
        }
        let doubled = cell.contains(";;");
        let ends = |c: char| match name {
            "claims" | "claim" => c == '\n',
            _ => matches!(c, '|' | '\n') || (c == ';' && !doubled),
        };
        let parts = cell.split(";;").flat_map(|part| part.split(ends));
        let items = parts.map(str::trim).filter(|item| !item.is_empty());
        let bare = |item: &str| if self.is_export { without_country(item) } else { item.to_owned() };
        items.map(|item| Value::from(bare(item))).collect::<Vec<_>>().into()
    }
}

/// Names of ids.
const IDS: [&str; 4] = ["id", "doc_id", "app_doc_id", "_id"];

/// The day that a cell begins with: some services write a number or further days behind it.
fn first_day(cell: &str) -> String {
    cell.split_whitespace().next().unwrap_or_default().to_owned()
}
