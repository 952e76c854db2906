//! Tables: comma, semicolon or tab separated, with a header of the names that JSON has.

use super::{MAX_LINE, Record};
use crate::document::json;
use csv::{ByteRecord, ReaderBuilder};
use serde_json::{Map, Value};
use std::io::{BufRead, Read};

/// Columns whose cells hold several values.
const LISTS: [&str; 22] = [
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
];

/// Reads a table row by row.
pub(in crate::import) struct Table<R> {
    reader: csv::Reader<Bounded<Start<R>>>,
    header: Vec<String>,
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
        let mut first = Vec::new();
        // An error here comes again at the first row.
        let _ = content.by_ref().take(MAX_LINE).read_until(b'\n', &mut first);
        let count = |mark: u8| first.split(|byte| *byte == mark).count();
        let delimiter =
            [b',', b';', b'\t'].into_iter().max_by_key(|mark| (count(*mark), *mark == b',')).unwrap_or(b',');
        let reader = ReaderBuilder::new()
            .delimiter(delimiter)
            .has_headers(false)
            .flexible(true)
            .from_reader(Bounded { content: std::io::Cursor::new(first).chain(content), left: MAX_ROW });
        Self { reader, header: Vec::new(), ended: false }
    }

    pub(super) fn next(&mut self) -> Option<Record> {
        let mut row = ByteRecord::new();
        while !self.ended {
            let line = self.reader.position().line();
            self.reader.get_mut().left = MAX_ROW;
            match self.reader.read_byte_record(&mut row) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    // After a broken row, the reader cannot tell where the next one begins.
                    self.ended = true;
                    if self.reader.get_ref().left == 0 {
                        let why = format!(
                            "a row is longer than {} MiB: is there a quotation mark that nothing closes?",
                            MAX_LINE >> 20
                        );
                        return Some(Record::new(line, Err(why)));
                    }
                    return Some(Record::new(line, Err(format!("cannot be read: {error}"))));
                }
            }
            let line = row.position().map_or(line, csv::Position::line);
            let Ok(cells) = row.iter().map(std::str::from_utf8).collect::<Result<Vec<_>, _>>() else {
                return Some(Record::new(line, Err("not UTF-8".to_owned())));
            };
            if self.header.is_empty() {
                let name = |cell: &&str| cell.trim_start_matches('\u{FEFF}').trim().to_lowercase();
                self.header = cells.iter().map(name).collect();
                continue;
            }
            if cells.iter().all(|cell| cell.trim().is_empty()) {
                continue;
            }
            return Some(Record::new(line, self.document(&cells)));
        }
        None
    }

    fn document(&self, cells: &[&str]) -> Result<(crate::Document, json::OddCodes), String> {
        if cells.len() != self.header.len() {
            return Err(format!("{} cells under {} headings", cells.len(), self.header.len()));
        }
        let mut fields = Map::new();
        for (name, cell) in self.header.iter().zip(cells).filter(|(_, cell)| !cell.trim().is_empty()) {
            let value = if LISTS.contains(&name.as_str()) {
                let ends = |c: char| match name.as_str() {
                    "claims" | "claim" => c == '\n',
                    _ => matches!(c, ';' | '|' | '\n'),
                };
                let items = cell.split(ends).map(str::trim).filter(|item| !item.is_empty());
                items.map(Value::from).collect::<Vec<_>>().into()
            } else {
                Value::from(*cell)
            };
            fields.insert(name.clone(), value);
        }
        json::read(&fields)
    }
}
