//! What holds documents: a file, or a member of an archive. The process that has the file open does all reading.

mod foreign;
mod tarred;
mod zipped;

use super::messages::{Failure, Said};
use super::{Format, READS};
use flate2::read::MultiGzDecoder;
use lyra_bibliography::Parts;
use lyra_worker::{Handed, Turns};
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::io::{BufRead, BufReader, Read, Result, Seek, SeekFrom};
use std::path::Path;
use std::rc::Rc;
use zipped::Member;

/// Unpacked content, and the bytes on disk read for it so far.
type Content<'t> = (Box<dyn BufRead + 't>, Rc<Cell<u64>>);

/// Bytes that a format is detected from.
const BEGINNING: u64 = 8_192;
/// Most members of an archive.
const MOST_MEMBERS: usize = 100_000;
/// Bytes of a piece of content that is handed over.
const PIECE: u64 = 1 << 20;

/// What a file holds.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Contents {
    /// What can be read from it.
    pub(super) parts: Vec<Part>,
    /// Archives and databases, which are unpacked before they are read.
    pub(super) packed: Vec<Part>,
    /// Members that cannot be read, with the reason; without a name, the file itself.
    pub(super) rejected: Vec<(String, String)>,
}

impl Contents {
    fn one(part: Part) -> Self {
        Self { parts: vec![part], ..Self::default() }
    }

    /// Takes a member of an archive that begins like this, unless it is of no use.
    fn take(&mut self, mut part: Part, format: Option<Format>, beginning: &[u8]) {
        let name = part.name.clone().unwrap_or_default();
        if is_hidden(&name) {
            return;
        }
        if is_packed(&name, beginning) {
            self.packed.push(part);
        } else if let Some(format) = told(format, Path::new(&name), beginning) {
            part.format = format;
            self.parts.push(part);
        }
    }

    /// A file that cannot be imported: an error if it was `named`, otherwise rejected as a whole.
    fn refused(named: bool, what: &str) -> std::result::Result<Self, Failure> {
        if named {
            return Err(Failure::refused(format!("this is {what}; {READS}")));
        }
        let mut contents = Self::default();
        contents.reject("", format!("this is {what}, which Lyra does not read"));
        Ok(contents)
    }

    fn reject(&mut self, name: &str, why: impl Into<String>) {
        self.rejected.push((name.to_owned(), why.into()));
    }
}

/// What programs write beside the files that they pack: `__MACOSX/`, `.DS_Store`.
fn is_hidden(name: &str) -> bool {
    name.split(['/', '\\']).any(|part| part == "__MACOSX" || (part.starts_with('.') && part.len() > 2))
}

/// Whether a member is an archive or Zotero's database, which are read from anywhere and so are unpacked first.
fn is_packed(name: &str, beginning: &[u8]) -> bool {
    let is_zip =
        beginning.starts_with(b"PK\x03\x04") && lyra_documents::Format::detect(name, beginning).is_none();
    is_zip
        || beginning.starts_with(&[0x1F, 0x8B])
        || tarred::is_tar(beginning)
        || is_database(name, beginning)
}

/// Whether a file is a database that is named like Zotero's.
fn is_database(name: &str, beginning: &[u8]) -> bool {
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    beginning.starts_with(b"SQLite format 3\0") && name.starts_with("zotero") && name.ends_with(".sqlite")
}

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
    /// A member of a tar archive: where it begins in it.
    Tar(u64),
    /// A database and its journals.
    Database(Parts),
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

/// What a file holds. One of an unknown format is an error only if it was `named` itself.
pub(super) fn look(
    name: &str,
    format: Option<Format>,
    named: bool,
    database: Option<Parts>,
    file: Held<'_>,
) -> std::result::Result<Contents, Failure> {
    let mut start = file.open();
    let mut magic = Vec::new();
    start
        .by_ref()
        .take(BEGINNING)
        .read_to_end(&mut magic)
        .and_then(|_| start.rewind())
        .map_err(Failure::io)?;
    if database.is_some() || format == Some(Format::Zotero) || is_database(name, &magic) {
        let parts = database.unwrap_or(Parts { database: file.bytes, ..Parts::default() });
        if !lyra_bibliography::is_zotero(start, parts) {
            return Err(Failure::refused("this is not a database of Zotero, or it is damaged"));
        }
        let packing = Packing::Database(parts);
        return Ok(Contents::one(Part { name: None, bytes: file.bytes, format: Format::Zotero, packing }));
    }
    // DOCX, ODT and EPUB are archives as well.
    let is_text = matches!(format, Some(Format::Text(_)))
        || (format.is_none() && lyra_documents::Format::detect(name, &magic).is_some());
    if !is_text && (magic.starts_with(b"PK\x03\x04") || magic.starts_with(b"PK\x05\x06")) {
        return zipped::look(format, file);
    }
    if tarred::is_tar(&magic) {
        return tarred::look(format, file);
    }
    let packing = if magic.starts_with(&[0x1F, 0x8B]) { Packing::Gzip } else { Packing::Plain };
    let mut part = Part { name: None, bytes: file.bytes, format: Format::Jsonl, packing };
    let name = Path::new(name);
    let name = if matches!(part.packing, Packing::Gzip) { name.with_extension("") } else { name.to_owned() };
    let beginning = part.beginning(start).map_err(Failure::io)?;
    let is_archive = tarred::is_tar(&beginning) || beginning.starts_with(b"PK\x03\x04");
    if matches!(part.packing, Packing::Gzip) && is_archive {
        return Ok(Contents { packed: vec![part], ..Contents::default() });
    }
    let told = told(format, &name, &beginning);
    let certain =
        told.is_some_and(|format| format.is_references() || format.is_paper() || format == Format::Answer);
    if format.is_none()
        && named
        && !certain
        && let Some(what) = foreign::kind(&beginning)
    {
        return Contents::refused(named, what);
    }
    let Some(format) = told else {
        let what = foreign::kind(&beginning).unwrap_or_else(|| foreign::unknown(&beginning));
        return Contents::refused(named, what);
    };
    part.format = format;
    Ok(Contents::one(part))
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

    /// The database that it is, and the lengths of what it consists of.
    pub(super) fn database<'t>(&self, file: Held<'t>) -> Option<(Handed<'t>, Parts)> {
        match self.packing {
            Packing::Database(parts) => Some((file.open(), parts)),
            _ => None,
        }
    }

    /// Hands over the content piece by piece; an empty one is the last.
    pub(super) fn unpack(&self, file: Held<'_>) -> Result<()> {
        let (mut content, _) = self.read(file)?;
        loop {
            let mut piece = Vec::new();
            content.by_ref().take(PIECE).read_to_end(&mut piece)?;
            if piece.is_empty() {
                return Ok(());
            }
            file.turns.turn(&Said::piece(&piece))?;
        }
    }

    /// The content, and how many bytes on disk were read for it so far.
    /// Reading fails once its result is no longer wanted, also in the middle of a record.
    pub(super) fn read<'t>(&self, file: Held<'t>) -> Result<Content<'t>> {
        let read = Rc::new(Cell::new(0));
        let content = Awaited { content: self.content(file.open(), &read)?, turns: file.turns };
        Ok((Box::new(BufReader::new(content)), read))
    }

    fn content<'t>(&self, file: Handed<'t>, read: &Rc<Cell<u64>>) -> Result<Box<dyn BufRead + 't>> {
        let mut counted = Counted { file, read: read.clone() };
        Ok(match &self.packing {
            Packing::Plain | Packing::Database(_) => Box::new(BufReader::new(counted)),
            Packing::Tar(start) => {
                counted.file.seek(SeekFrom::Start(*start))?;
                Box::new(BufReader::new(counted.take(self.bytes)))
            }
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
        let found = look("long.jsonl.gz", None, true, None, held).unwrap();
        let (mut content, _) = found.parts[0].read(held).unwrap();
        assert!(!content.fill_buf().unwrap().is_empty());
        holder.gone.set(true);
        let mut line = Vec::new();
        let stopped = content.read_until(b'\n', &mut line).unwrap_err();
        assert!(stopped.to_string().contains("cancelled") && line.len() < 1 << 20, "{stopped}");
    }
}
