//! Files of the EPO's exchange format: answers of Open Patent Services, and DOCDB. One of them may hold any number of
//! publications, of which one at a time is in memory.

use super::patent::exchange;
use super::records::{Holding, Record};
use super::xml::Growing;
use quick_xml::Reader;
use quick_xml::events::Event;
use std::io::{BufRead, Error, Read, Result};

/// Longest text of one publication, in bytes.
const MAX_RECORD: usize = 64 << 20;

/// Whether a file that begins like this is one of them.
pub(super) fn is_exchange(beginning: &str) -> bool {
    let mut tags = beginning.split('<').skip(1).filter(|tag| !tag.starts_with(['?', '!']));
    let name = |tag: &str| -> Option<String> {
        let name = tag.split(|c: char| c.is_whitespace() || matches!(c, '>' | '/')).next()?;
        Some(name.rsplit(':').next().unwrap_or(name).to_owned())
    };
    tags.find_map(name).is_some_and(|root| exchange::ROOTS.contains(&root.as_str()))
}

/// Publications of a file, one after the other.
pub(super) struct Exchange<R> {
    reader: Reader<Numbered<R>>,
    buffer: Vec<u8>,
    /// It ended, or nothing more can be read.
    ended: bool,
    found: bool,
}

impl<R: BufRead> Exchange<R> {
    pub(super) fn new(content: R) -> Self {
        let mut reader = Reader::from_reader(Numbered { content, line: 1 });
        reader.config_mut().allow_dangling_amp = true;
        Self { reader, buffer: Vec::new(), ended: false, found: false }
    }

    pub(super) fn next(&mut self) -> Result<Option<Record>> {
        let (mut growing, mut line) = (Growing::default(), 0);
        while !self.ended {
            self.buffer.clear();
            let position = self.reader.buffer_position();
            let before = self.reader.get_ref().line;
            let event = match self.reader.read_event_into(&mut self.buffer) {
                Ok(event) => event,
                Err(quick_xml::Error::Io(error)) => return Err(Error::new(error.kind(), error.to_string())),
                Err(error) => {
                    self.ended = true;
                    let why = format!("broken XML at byte {position}: {error}");
                    return Ok(Some(Record::new(before, Err(why))));
                }
            };
            if growing.is_empty() {
                match &event {
                    Event::Start(tag) | Event::Empty(tag)
                        if exchange::RECORDS.contains(&tag.local_name().as_ref()) =>
                    {
                        line = before;
                    }
                    Event::Eof => {
                        self.ended = true;
                        break;
                    }
                    _ => continue,
                }
            }
            match growing.take(event, position) {
                Ok(None) if growing.bytes <= MAX_RECORD => {}
                Ok(None) => {
                    self.ended = true;
                    let why = format!("longer than {} MiB", MAX_RECORD >> 20);
                    return Ok(Some(Record::new(line, Err(why))));
                }
                Ok(Some(element)) => {
                    self.found = true;
                    return Ok(Some(Record::part(line, exchange::read(&element))));
                }
                Err(why) => {
                    self.ended = true;
                    return Ok(Some(Record::new(line, Err(why))));
                }
            }
        }
        if std::mem::replace(&mut self.found, true) {
            return Ok(None);
        }
        let why = format!("no publication in it: none of {}", exchange::RECORDS.join(", "));
        Ok(Some(Record::new(1, Err(why))))
    }
}

impl Record {
    /// A record that may say only a part of what there is to say about its publication.
    pub(super) fn part(line: u64, outcome: super::records::Read) -> Self {
        let holding = outcome.is_ok().then_some(Holding::Part);
        Self { holding, ..Self::new(line, outcome) }
    }
}

/// Content that counts the lines that were taken from it.
struct Numbered<R> {
    content: R,
    line: u64,
}

/// Ends of lines.
fn lines(bytes: &[u8]) -> u64 {
    bytes.split(|byte| *byte == b'\n').count() as u64 - 1
}

impl<R: BufRead> Read for Numbered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let read = self.content.read(buffer)?;
        self.line += lines(&buffer[..read]);
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Numbered<R> {
    fn fill_buf(&mut self) -> Result<&[u8]> {
        self.content.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        // What is consumed was filled before, so that this reads nothing.
        let taken = self.content.fill_buf().map_or(0, |filled| lines(&filled[..amount.min(filled.len())]));
        self.line += taken;
        self.content.consume(amount);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(text: &str) -> Vec<(u64, std::result::Result<String, String>)> {
        let mut content = Exchange::new(text.as_bytes());
        std::iter::from_fn(|| content.next().unwrap())
            .map(|record| (record.line, record.outcome.map(|(document, _)| document.doc_id)))
            .collect()
    }

    #[test]
    fn publications_come_one_after_the_other() {
        let document = |number| {
            format!(
                "<exch:exchange-document country=\"EP\" doc-number=\"{number}\" kind=\"A1\" family-id=\"7\"/>"
            )
        };
        let text = format!(
            "<?xml version=\"1.0\"?>\n<exch:exchange-documents xmlns:exch=\"x\">\n{}\n{}</exch:exchange-documents>",
            document(1),
            document(2)
        );
        assert!(is_exchange(&text) && !is_exchange("<us-patent-grant><exchange-documents/>"));
        assert_eq!(records(&text), [(3, Ok("EP-1-A1".to_owned())), (4, Ok("EP-2-A1".to_owned()))]);
        let broken = text.replace("</exch:exchange-documents>", "</other>");
        let found = records(&broken);
        assert!(
            found.len() == 3 && found[2].1.as_ref().is_err_and(|why| why.starts_with("broken XML at byte")),
            "{found:?}"
        );
        let cut = records("<ops:world-patent-data><exchange-document><bibliographic-data>");
        assert!(
            cut[0].1.as_ref().is_err_and(|why| why.contains("ends inside") || why.contains("broken")),
            "{cut:?}"
        );
        let none = records("<ops:world-patent-data/>");
        assert!(none[0].1.as_ref().is_err_and(|why| why.starts_with("no publication in it")), "{none:?}");
    }
}
