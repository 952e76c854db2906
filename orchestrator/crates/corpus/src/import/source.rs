//! Files to import: looked at before anything is changed, opened and unpacked when their turn comes.

mod foreign;
mod zipped;

use super::{Format, READS};
use crate::{CorpusError, Result};
use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio_util::sync::CancellationToken;
use zipped::Member;

/// Bytes that a format is told from.
const BEGINNING: u64 = 4_096;
/// Folders within folders, at most.
const MOST_DEEP: usize = 16;

/// Documents of one format, one after the other: a file, or a member of a ZIP archive.
pub(super) struct Source {
    /// The file as it was named; a member's name stands behind its archive's.
    pub(super) path: PathBuf,
    /// Bytes on disk.
    pub(super) bytes: u64,
    pub(super) format: Format,
    file: PathBuf,
    packing: Packing,
}

/// How the bytes on disk hold the content.
enum Packing {
    Plain,
    Gzip,
    Zip(Member),
}

/// Looks at all files, at those in folders, and at the members of archives. Of folders and archives the files whose format
/// is told by their content or name are taken, by name; a file that is named itself is always taken.
pub(super) fn open(paths: &[PathBuf], format: Option<Format>) -> Result<Vec<Source>> {
    let mut sources = Vec::new();
    for path in paths {
        let before = sources.len();
        if path.is_dir() {
            for file in files_of(path, 0)? {
                look(&file, format, false, &mut sources)?;
            }
        } else {
            look(path, format, true, &mut sources)?;
        }
        if sources.len() == before {
            let formats = Format::ALL.map(Format::name).join(", ");
            return Err(refused(
                path,
                format!("there is no file to import in it: {formats}, also in gzip or ZIP"),
            ));
        }
    }
    Ok(sources)
}

fn refused(path: &Path, why: impl Into<String>) -> CorpusError {
    CorpusError::File { path: path.to_owned(), why: why.into() }
}

/// The files of a folder and of those in it, by name; links to folders are not followed, hidden files left out.
fn files_of(folder: &Path, depth: usize) -> Result<Vec<PathBuf>> {
    let mut entries: Vec<_> = std::fs::read_dir(folder)
        .and_then(Iterator::collect::<std::io::Result<_>>)
        .map_err(CorpusError::io(folder))?;
    entries.retain(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."));
    entries.sort_by_key(std::fs::DirEntry::file_name);
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.path();
        let kind = entry.file_type().map_err(CorpusError::io(&path))?;
        if kind.is_dir() {
            if depth == MOST_DEEP {
                return Err(refused(&path, format!("more than {MOST_DEEP} folders within each other")));
            }
            files.extend(files_of(&path, depth + 1)?);
        } else if path.is_file() {
            files.push(path);
        }
    }
    Ok(files)
}

/// Adds what a file holds; of a file that was not `named`, nothing when its format cannot be told.
fn look(path: &Path, format: Option<Format>, named: bool, sources: &mut Vec<Source>) -> Result<()> {
    let io = CorpusError::io(path);
    let about = std::fs::metadata(path).map_err(&io)?;
    if !about.is_file() {
        return Err(refused(
            path,
            "this is a pipe or a device; Lyra imports regular files: write its content to one first",
        ));
    }
    let bytes = about.len();
    let mut magic = Vec::new();
    let file = File::open(path).map_err(&io)?;
    file.take(4).read_to_end(&mut magic).map_err(&io)?;
    if magic == *b"PK\x03\x04" || magic == *b"PK\x05\x06" {
        return zipped::look(path, format, sources);
    }
    let packing = if magic.starts_with(&[0x1F, 0x8B]) { Packing::Gzip } else { Packing::Plain };
    let mut source =
        Source { path: path.to_owned(), bytes, format: Format::Jsonl, file: path.to_owned(), packing };
    let name =
        if matches!(source.packing, Packing::Gzip) { path.with_extension("") } else { path.to_owned() };
    let beginning = source.beginning().map_err(&io)?;
    if format.is_none()
        && named
        && let Some(what) = foreign::kind(&beginning)
    {
        return Err(refused(path, format!("this is {what}; {READS}")));
    }
    match format.filter(|_| !beginning.is_empty()).or_else(|| Format::detect(&name, &beginning)) {
        Some(format) => {
            source.format = format;
            sources.push(source);
            Ok(())
        }
        None if named => Err(refused(path, format!("this is {}; {READS}", foreign::unknown(&beginning)))),
        None => Ok(()),
    }
}

impl Source {
    /// The format that was asked for, or the one that the content, or else the name, tells.
    fn told(&self, name: &Path, asked: Option<Format>) -> std::io::Result<Option<Format>> {
        let beginning = self.beginning()?;
        Ok(asked.filter(|_| !beginning.is_empty()).or_else(|| Format::detect(name, &beginning)))
    }

    /// The first bytes of the content.
    fn beginning(&self) -> std::io::Result<Vec<u8>> {
        let mut beginning = Vec::new();
        self.content(&Arc::default())?.take(BEGINNING).read_to_end(&mut beginning)?;
        Ok(beginning)
    }

    /// The content, and how many bytes on disk were read for it so far.
    /// Reading fails once `cancel` is cancelled, also in the middle of a record.
    pub(super) fn read(
        &self,
        cancel: &CancellationToken,
    ) -> std::io::Result<(Box<dyn BufRead + Send>, Arc<AtomicU64>)> {
        let read = Arc::new(AtomicU64::new(0));
        let content = Cancelled { content: self.content(&read)?, cancel: cancel.clone() };
        Ok((Box::new(BufReader::new(content)), read))
    }

    fn content(&self, read: &Arc<AtomicU64>) -> std::io::Result<Box<dyn BufRead + Send>> {
        let counted = Counted { file: File::open(&self.file)?, read: read.clone() };
        Ok(match &self.packing {
            Packing::Plain => Box::new(BufReader::new(counted)),
            Packing::Gzip => Box::new(BufReader::new(MultiGzDecoder::new(BufReader::new(counted)))),
            Packing::Zip(member) => Box::new(BufReader::new(member.unpack(counted)?)),
        })
    }
}

/// Content that ends with an error once the import is cancelled: a few bytes can unpack to gigabytes.
struct Cancelled {
    content: Box<dyn BufRead + Send>,
    cancel: CancellationToken,
}

impl Read for Cancelled {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.cancel.is_cancelled() {
            return Err(std::io::Error::other("the import was cancelled"));
        }
        self.content.read(buffer)
    }
}

struct Counted {
    file: File,
    read: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.read.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_cancelled_import_stops_within_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("long.jsonl.gz");
        let mut packed =
            flate2::write::GzEncoder::new(File::create(&path).unwrap(), flate2::Compression::fast());
        packed.write_all(b"{\"title\": \"").unwrap();
        packed.write_all(&vec![b'a'; 4 << 20]).unwrap();
        packed.finish().unwrap();
        let sources = open(&[path], None).unwrap();
        let cancel = CancellationToken::new();
        let (mut content, _) = sources[0].read(&cancel).unwrap();
        assert!(!content.fill_buf().unwrap().is_empty());
        cancel.cancel();
        let mut line = Vec::new();
        let stopped = content.read_until(b'\n', &mut line).unwrap_err();
        assert!(stopped.to_string().contains("cancelled") && line.len() < 1 << 20, "{stopped}");
    }
}
