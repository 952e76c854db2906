//! What holds documents: a file, or a member of a ZIP archive. The process that has the file open does all reading.

mod foreign;
mod zipped;

use super::messages::{Failure, Said};
use super::{Format, READS};
use flate2::read::MultiGzDecoder;
use lyra_worker::{Handed, Turns};
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::io::{BufRead, BufReader, Read, Result, Seek};
use std::path::Path;
use std::rc::Rc;
use zipped::Member;

/// Unpacked content, and the bytes on disk read for it so far.
type Content<'t> = (Box<dyn BufRead + 't>, Rc<Cell<u64>>);

/// Bytes that a format is detected from.
const BEGINNING: u64 = 8_192;

/// Documents of one format, one after the other.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Part {
    /// A member's name in its archive, as it stands there.
    pub(super) name: Option<String>,
    /// Bytes on disk.
    pub(super) bytes: u64,
    pub(super) format: Format,
    packing: Packing,
}

/// How the bytes on disk hold the content.
#[derive(Debug, Clone, Serialize, Deserialize)]
enum Packing {
    Plain,
    Gzip,
    Zip(Member),
}

/// A file that somebody else has open.
#[derive(Clone, Copy)]
pub(super) struct Held<'t> {
    pub(super) turns: &'t dyn Turns,
    pub(super) bytes: u64,
}

impl<'t> Held<'t> {
    fn open(self) -> Handed<'t> {
        Handed::new(self.turns, self.bytes, |from, bytes| Said::Want { from, bytes }.to_bytes())
    }
}

/// The parts of a file; none when its format is unknown and the file was not `named` itself.
pub(super) fn look(
    name: &str,
    format: Option<Format>,
    named: bool,
    file: Held<'_>,
) -> std::result::Result<Vec<Part>, Failure> {
    let mut start = file.open();
    let mut magic = Vec::new();
    start
        .by_ref()
        .take(BEGINNING)
        .read_to_end(&mut magic)
        .and_then(|_| start.rewind())
        .map_err(Failure::io)?;
    // DOCX, ODT and EPUB are archives as well.
    let is_text = matches!(format, Some(Format::Text(_)))
        || (format.is_none() && lyra_documents::Format::detect(name, &magic).is_some());
    let magic = &magic[..magic.len().min(4)];
    if !is_text && (magic == b"PK\x03\x04" || magic == b"PK\x05\x06") {
        return zipped::look(format, file);
    }
    let packing = if magic.starts_with(&[0x1F, 0x8B]) { Packing::Gzip } else { Packing::Plain };
    let mut part = Part { name: None, bytes: file.bytes, format: Format::Jsonl, packing };
    let name = Path::new(name);
    let name = if matches!(part.packing, Packing::Gzip) { name.with_extension("") } else { name.to_owned() };
    let beginning = part.beginning(start).map_err(Failure::io)?;
    let told = told(format, &name, &beginning);
    let certain = told.is_some_and(|format| format.is_references() || format.is_paper());
    if format.is_none()
        && named
        && !certain
        && let Some(what) = foreign::kind(&beginning)
    {
        return Err(Failure::refused(format!("this is {what}; {READS}")));
    }
    match told {
        Some(format) => {
            part.format = format;
            Ok(vec![part])
        }
        None if named => Err(Failure::refused(format!("this is {}; {READS}", foreign::unknown(&beginning)))),
        None => Ok(Vec::new()),
    }
}

/// The format that was asked for, or the one that the content, or else the name, tells.
fn told(asked: Option<Format>, name: &Path, beginning: &[u8]) -> Option<Format> {
    asked.filter(|_| !beginning.is_empty()).or_else(|| Format::detect(name, beginning))
}

impl Part {
    /// The first bytes of the content.
    fn beginning(&self, file: Handed<'_>) -> Result<Vec<u8>> {
        let mut beginning = Vec::new();
        self.content(file, &Rc::default())?.take(BEGINNING).read_to_end(&mut beginning)?;
        Ok(beginning)
    }

    /// The content, and how many bytes on disk were read for it so far.
    /// Reading fails once its result is no longer wanted, also in the middle of a record.
    pub(super) fn read<'t>(&self, file: Held<'t>) -> Result<Content<'t>> {
        let read = Rc::new(Cell::new(0));
        let content = Awaited { content: self.content(file.open(), &read)?, turns: file.turns };
        Ok((Box::new(BufReader::new(content)), read))
    }

    fn content<'t>(&self, file: Handed<'t>, read: &Rc<Cell<u64>>) -> Result<Box<dyn BufRead + 't>> {
        let counted = Counted { file, read: read.clone() };
        Ok(match &self.packing {
            Packing::Plain => Box::new(BufReader::new(counted)),
            Packing::Gzip => Box::new(BufReader::new(MultiGzDecoder::new(BufReader::new(counted)))),
            Packing::Zip(member) => Box::new(BufReader::new(member.unpack(counted)?)),
        })
    }
}

/// Content that ends with an error once it is no longer wanted: a few bytes can unpack to gigabytes.
struct Awaited<'t> {
    content: Box<dyn BufRead + 't>,
    turns: &'t dyn Turns,
}

impl Read for Awaited<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        if self.turns.is_over() {
            return Err(std::io::Error::other("the import was cancelled"));
        }
        self.content.read(buffer)
    }
}

struct Counted<'t> {
    file: Handed<'t>,
    read: Rc<Cell<u64>>,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let read = self.file.read(buffer)?;
        self.read.set(self.read.get() + read as u64);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::io::Write;

    /// The process that has the file open, until it goes away.
    struct Holder {
        file: Vec<u8>,
        gone: Cell<bool>,
    }

    impl Turns for Holder {
        fn turn(&self, so_far: &[u8]) -> Result<Vec<u8>> {
            let Ok(Said::Want { from, bytes }) = Said::read(so_far) else {
                panic!("it wants something else")
            };
            Ok(self.file[from as usize..(from + bytes) as usize].to_vec())
        }

        fn is_over(&self) -> bool {
            self.gone.get()
        }
    }

    #[test]
    fn a_cancelled_import_stops_within_a_line() {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(b"{\"title\": \"").unwrap();
        packed.write_all(&vec![b'a'; 4 << 20]).unwrap();
        let holder = Holder { file: packed.finish().unwrap(), gone: Cell::new(false) };
        let held = Held { turns: &holder, bytes: holder.file.len() as u64 };
        let parts = look("long.jsonl.gz", None, true, held).unwrap();
        let (mut content, _) = parts[0].read(held).unwrap();
        assert!(!content.fill_buf().unwrap().is_empty());
        holder.gone.set(true);
        let mut line = Vec::new();
        let stopped = content.read_until(b'\n', &mut line).unwrap_err();
        assert!(stopped.to_string().contains("cancelled") && line.len() < 1 << 20, "{stopped}");
    }
}
