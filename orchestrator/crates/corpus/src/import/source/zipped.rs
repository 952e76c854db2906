//! Members of ZIP archives, in which patent offices hand out their weeks.

use super::{Counted, Packing, Source, refused};
use crate::import::Format;
use crate::{CorpusError, Result};
use flate2::CrcReader;
use flate2::bufread::DeflateDecoder;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom, Take};
use std::path::{Path, PathBuf};
use zip::{CompressionMethod, ZipArchive};

/// Where a member lies in its archive.
pub(super) struct Member {
    start: u64,
    bytes: u64,
    deflated: bool,
    /// CRC-32 of the content.
    sum: u32,
}

/// Adds the members whose format can be told.
pub(super) fn look(path: &Path, format: Option<Format>, sources: &mut Vec<Source>) -> Result<()> {
    let unreadable = |error: zip::result::ZipError| refused(path, format!("as a ZIP archive: {error}"));
    let file = File::open(path).map_err(CorpusError::io(path))?;
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(unreadable)?;
    for nth in 0..archive.len() {
        let member = archive.by_index_raw(nth).map_err(unreadable)?;
        if !member.is_file() {
            continue;
        }
        let name = PathBuf::from(member.name().map_err(unreadable)?.as_ref());
        let shown = path.join(name.components().filter(is_name).collect::<PathBuf>());
        if member.encrypted() {
            return Err(refused(&shown, "it is encrypted: unpack the archive and import what is in it"));
        }
        let deflated = match member.compression() {
            CompressionMethod::Stored => false,
            CompressionMethod::Deflated => true,
            other => {
                let why =
                    format!("packed by {other}, not deflated: unpack the archive and import what is in it");
                return Err(refused(&shown, why));
            }
        };
        let start =
            member.data_start().ok_or_else(|| refused(&shown, "the archive does not say where it is"))?;
        let bytes = member.compressed_size();
        let packing = Packing::Zip(Member { start, bytes, deflated, sum: member.crc32() });
        let mut source = Source { path: shown, bytes, format: Format::Jsonl, file: path.to_owned(), packing };
        if let Some(format) = source.told(&name, format).map_err(CorpusError::io(&source.path))? {
            source.format = format;
            sources.push(source);
        }
    }
    Ok(())
}

/// Whether it is neither a root nor a way up: the path is only shown, and shows where the member is.
fn is_name(part: &std::path::Component<'_>) -> bool {
    matches!(part, std::path::Component::Normal(_))
}

impl Member {
    /// The content, with its checksum compared at the end.
    pub(super) fn unpack(&self, mut archive: Counted) -> std::io::Result<Content> {
        archive.file.seek(SeekFrom::Start(self.start))?;
        let packed = archive.take(self.bytes);
        let content = if self.deflated {
            Unpacked::Deflated(DeflateDecoder::new(BufReader::new(packed)))
        } else {
            Unpacked::Stored(packed)
        };
        Ok(Content { content: CrcReader::new(content), sum: self.sum })
    }
}

pub(super) struct Content {
    content: CrcReader<Unpacked>,
    sum: u32,
}

enum Unpacked {
    Stored(Take<Counted>),
    Deflated(DeflateDecoder<BufReader<Take<Counted>>>),
}

impl Read for Unpacked {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Self::Stored(content) => content.read(buffer),
            Self::Deflated(content) => content.read(buffer),
        }
    }
}

impl Read for Content {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.content.read(buffer)?;
        if read == 0 && !buffer.is_empty() && self.content.crc().sum() != self.sum {
            let why = "the archive is damaged: the content's checksum is another than it says";
            return Err(std::io::Error::new(std::io::ErrorKind::InvalidData, why));
        }
        Ok(read)
    }
}
