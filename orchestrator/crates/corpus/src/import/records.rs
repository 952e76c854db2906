//! Records of a file, one after the other: only the one at hand is in memory.

mod table;

use super::exchange::Exchange;
use super::patent::api;
use super::{Format, paper, references, tagged, xml};
use crate::Document;
use crate::document::json::{self, OddCodes};
use serde::{Deserialize, Serialize};
use std::io::BufRead;
use table::Table;

/// Longest line of JSON in bytes; a longer one is rejected without being held in memory.
const MAX_LINE: u64 = 16 << 20;
/// Longest record of several lines.
const MAX_RECORD: usize = 64 << 20;

/// What begins the type of an XML document.
const DOCTYPE: &[u8] = b"<!DOCTYPE";

/// A document with the codes dropped from it, or the reason why it was rejected.
pub(super) type Read = Result<(Document, OddCodes), String>;

/// A record: where it begins, and its document or the reason why it was rejected.
pub(super) struct Record {
    pub(super) line: u64,
    pub(super) outcome: Read,
    /// What it is in a person's library, whose document has no id yet then, or that it is a part of what there is to say.
    pub(super) holding: Option<Holding>,
    /// What of it was not read, and why.
    pub(super) left_out: Option<String>,
}

impl Record {
    pub(super) fn new(line: u64, outcome: Read) -> Self {
        Self { line, outcome, holding: None, left_out: None }
    }
}

/// What a person's library holds of a work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Holding {
    /// A part of what there is to say about a publication: what the corpus has beside it stays.
    Part,
    /// The work itself.
    Paper,
    /// Its entry in a list of references.
    Reference {
        /// Attached files, as the list has them.
        files: Vec<String>,
        /// Identifiers of other versions of the work, in their normal forms.
        versions: Vec<String>,
    },
}

/// Reads records in one format.
pub(super) enum Records<R> {
    Lines(Lines<R>),
    Table(Box<Table<R>>),
    Blocks {
        blocks: Blocks<R>,
        parse: fn(&[u8]) -> Read,
    },
    Exchange(Box<Exchange<R>>),
    /// An answer in JSON, which is read as a whole; none once it was read.
    Answer(Option<R>, std::vec::IntoIter<Record>),
    /// A paper, which is a whole file; none once it was read.
    Paper(Option<R>, Format),
    /// References: the content, and then its records.
    References {
        content: Option<R>,
        format: lyra_bibliography::Format,
        records: std::vec::IntoIter<Record>,
    },
    /// Records that were read already.
    Ready(std::vec::IntoIter<Record>),
}

impl<R: BufRead> Records<R> {
    pub(super) fn new(content: R, format: Format) -> Self {
        let blocks = |content, starts, has_head, parse| Self::Blocks {
            blocks: Blocks { lines: Lines { content, line: 0 }, starts, in_head: has_head, next: None },
            parse,
        };
        match format {
            Format::Jsonl => Self::Lines(Lines { content, line: 0 }),
            Format::Csv => Self::Table(Box::new(Table::new(content))),
            Format::Xml => blocks(content, xml::starts, false, xml::parse),
            Format::Exchange => Self::Exchange(Box::new(Exchange::new(content))),
            Format::Answer => Self::Answer(Some(content), Vec::new().into_iter()),
            Format::Greenbook => blocks(content, tagged::starts_greenbook, true, tagged::greenbook),
            Format::Brs => blocks(content, tagged::starts_brs, true, tagged::brs),
            Format::Pdf | Format::Html | Format::Text(_) => Self::Paper(Some(content), format),
            // A database is read from anywhere, not from its beginning to its end.
            Format::Zotero => {
                let why = "Zotero's database is not read from an archive";
                Self::Ready(vec![Record::new(0, Err(why.to_owned()))].into_iter())
            }
            Format::References(format) => {
                Self::References { content: Some(content), format, records: Vec::new().into_iter() }
            }
        }
    }

    /// The next record; `None` at the end of the file.
    pub(super) fn next(&mut self) -> std::io::Result<Option<Record>> {
        match self {
            Self::Lines(lines) => lines.next_json(),
            Self::Table(table) => Ok(table.next()),
            Self::Ready(records) => Ok(records.next()),
            Self::Exchange(publications) => publications.next(),
            Self::Answer(content, records) => {
                if let Some(content) = content.take() {
                    *records = api::read(content)?.into_iter();
                }
                Ok(records.next())
            }
            Self::Paper(content, format) => match content.take() {
                Some(content) => paper::read(content, *format).map(Some),
                None => Ok(None),
            },
            Self::References { content, format, records } => {
                if let Some(content) = content.take() {
                    *records = references::read(content, *format)?.into_iter();
                }
                Ok(records.next())
            }
            Self::Blocks { blocks, parse } => loop {
                let Some(block) = blocks.next()? else { return Ok(None) };
                if block.text.iter().all(u8::is_ascii_whitespace) {
                    continue;
                }
                let outcome = if block.too_long {
                    Err(format!("longer than {} MiB", MAX_RECORD >> 20))
                } else {
                    parse(&block.text)
                };
                return Ok(Some(Record::new(block.line, outcome)));
            },
        }
    }
}

/// Numbered lines.
pub(super) struct Lines<R> {
    content: R,
    line: u64,
}

impl<R: BufRead> Lines<R> {
    /// Reads a line with its end; of one that is longer than `most` the beginning is kept. Returns whether there was
    /// one, and whether it was cut.
    fn read(&mut self, line: &mut Vec<u8>, most: u64) -> std::io::Result<Option<bool>> {
        line.clear();
        let read = std::io::Read::take(&mut self.content, most + 1).read_until(b'\n', line)? as u64;
        if read == 0 {
            return Ok(None);
        }
        self.line += 1;
        let cut = read > most;
        if cut && line.last() != Some(&b'\n') {
            self.content.skip_until(b'\n')?;
        }
        Ok(Some(cut))
    }

    fn next_json(&mut self) -> std::io::Result<Option<Record>> {
        let mut line = Vec::new();
        loop {
            let Some(cut) = self.read(&mut line, MAX_LINE)? else { return Ok(None) };
            let outcome = if cut {
                Err(format!("longer than {} MiB", MAX_LINE >> 20))
            } else {
                match std::str::from_utf8(&line) {
                    Err(_) => Err("not UTF-8".to_owned()),
                    Ok(text) => {
                        let text = text.trim_start_matches('\u{FEFF}').trim();
                        if text.is_empty() {
                            continue;
                        }
                        json::parse(text)
                    }
                }
            };
            return Ok(Some(Record::new(self.line, outcome)));
        }
    }
}

/// Lines that belong together.
#[derive(Default)]
pub(super) struct Block {
    pub(super) text: Vec<u8>,
    /// One of its lines begins with `<!DOCTYPE`.
    pub(super) has_type: bool,
    line: u64,
    too_long: bool,
}

/// Splits a file into blocks where a line begins the next one.
pub(super) struct Blocks<R> {
    lines: Lines<R>,
    starts: fn(&[u8], &Block) -> bool,
    /// What comes before the first such line is the file's head and no block.
    in_head: bool,
    /// The line that begins the next block.
    next: Option<(u64, Vec<u8>)>,
}

impl<R: BufRead> Blocks<R> {
    fn next(&mut self) -> std::io::Result<Option<Block>> {
        let mut block = match self.next.take() {
            Some((line, text)) => Block { has_type: text.starts_with(DOCTYPE), text, line, too_long: false },
            None => Block { line: self.lines.line + 1, ..Block::default() },
        };
        let mut line = Vec::new();
        while let Some(cut) = self.lines.read(&mut line, MAX_RECORD as u64)? {
            let starts = (self.starts)(&line, &block);
            if starts && std::mem::take(&mut self.in_head) {
                block = Block { line: self.lines.line, ..Block::default() };
            } else if starts && !block.text.is_empty() {
                self.next = Some((self.lines.line, line));
                return Ok(Some(block));
            }
            block.has_type |= line.starts_with(DOCTYPE);
            if cut || block.text.len() + line.len() > MAX_RECORD {
                block.too_long = true;
            } else if !block.too_long {
                block.text.extend_from_slice(&line);
            }
        }
        Ok((!block.text.is_empty()).then_some(block))
    }
}
