//! Files to import: opened before anything is changed, unpacked while they are read.

use super::Format;
use crate::{CorpusError, Result};
use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that a format is told from.
const BEGINNING: u64 = 4_096;

/// A file that is open for reading.
pub(super) struct Source {
    pub(super) path: PathBuf,
    pub(super) bytes: u64,
    pub(super) format: Format,
    file: File,
    packed: bool,
}

/// Opens all files and tells their formats.
pub(super) fn open(files: &[PathBuf], format: Option<Format>) -> Result<Vec<Source>> {
    files
        .iter()
        .map(|path| {
            let opened = File::open(path).and_then(|file| {
                let meta = file.metadata()?;
                if meta.is_dir() {
                    Err(std::io::ErrorKind::IsADirectory.into())
                } else {
                    Ok((file, meta.len()))
                }
            });
            let (mut file, bytes) = opened.map_err(CorpusError::io(path))?;
            let (packed, beginning) = beginning(&mut file).map_err(CorpusError::io(path))?;
            let detected = format.map_or_else(|| Format::detect(path, &beginning), Ok);
            let format = detected.map_err(|why| CorpusError::io(path)(std::io::Error::other(why)))?;
            Ok(Source { path: path.clone(), bytes, format, file, packed })
        })
        .collect()
}

/// Whether the file is gzip's, and the beginning of what is in it; the file stands at its start again.
fn beginning(file: &mut File) -> std::io::Result<(bool, Vec<u8>)> {
    let mut magic = Vec::new();
    file.by_ref().take(2).read_to_end(&mut magic)?;
    file.rewind()?;
    let packed = magic == [0x1F, 0x8B];
    let mut beginning = Vec::new();
    if packed {
        MultiGzDecoder::new(&mut *file).take(BEGINNING).read_to_end(&mut beginning)?;
    } else {
        file.by_ref().take(BEGINNING).read_to_end(&mut beginning)?;
    }
    file.rewind()?;
    Ok((packed, beginning))
}

impl Source {
    /// The content, and how many bytes of the file were read for it so far.
    pub(super) fn read(self) -> (Box<dyn BufRead + Send>, Arc<AtomicU64>) {
        let read = Arc::new(AtomicU64::new(0));
        let counted = Counted { file: self.file, read: read.clone() };
        let content: Box<dyn BufRead + Send> = if self.packed {
            Box::new(BufReader::new(MultiGzDecoder::new(BufReader::new(counted))))
        } else {
            Box::new(BufReader::new(counted))
        };
        (content, read)
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
