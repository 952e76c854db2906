//! Members of ZIP archives, in which patent offices hand out their weeks.

use super::{Contents, Counted, Held, MOST_MEMBERS, Packing, Part};
use crate::import::Format;
use crate::import::messages::Failure;
use flate2::CrcReader;
use flate2::bufread::DeflateDecoder;
use serde::{Deserialize, Serialize};
use std::io::{BufReader, Read, Seek, SeekFrom, Take};
use zip::{CompressionMethod, ZipArchive};

/// Where a member lies in its archive.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Member {
    start: u64,
    bytes: u64,
    deflated: bool,
    /// CRC-32 of the content.
    sum: u32,
}

/// The members with a known format.
pub(super) fn look(format: Option<Format>, file: Held<'_>) -> Result<Contents, Failure> {
    let unreadable = |error: zip::result::ZipError| Failure::refused(format!("as a ZIP archive: {error}"));
    let mut archive = ZipArchive::new(BufReader::new(file.open())).map_err(unreadable)?;
    if archive.len() > MOST_MEMBERS {
        return Err(Failure::refused(format!("the archive has more than {MOST_MEMBERS} members")));
    }
    let mut found = Contents::default();
    for nth in 0..archive.len() {
        let member = match archive.by_index_raw(nth) {
            Ok(member) => member,
            Err(error) => {
                found.reject(&format!("member {}", nth + 1), format!("as a ZIP archive: {error}"));
                continue;
            }
        };
        if !member.is_file() {
            continue;
        }
        let name = member.name().map_err(unreadable)?.into_owned();
        if member.encrypted() {
            found.reject(&name, "it is encrypted: unpack the archive and import what is in it");
            continue;
        }
        let deflated = match member.compression() {
            CompressionMethod::Stored => false,
            CompressionMethod::Deflated => true,
            other => {
                let why =
                    format!("packed by {other}, not deflated: unpack the archive and import what is in it");
                found.reject(&name, why);
                continue;
            }
        };
        let Some(start) = member.data_start() else {
            found.reject(&name, "the archive does not say where it is");
            continue;
        };
        let bytes = member.compressed_size();
        let packing = Packing::Zip(Member { start, bytes, deflated, sum: member.crc32() });
        let part = Part { name: Some(name.clone()), bytes, format: Format::Jsonl, packing };
        match part.beginning(file.open()) {
            Ok(beginning) => found.take(part, format, &beginning),
            Err(error) => found.reject(&name, error.to_string()),
        }
    }
    Ok(found)
}

impl Member {
    /// The content, with its checksum compared at the end.
    pub(super) fn unpack<'t>(&self, mut archive: Counted<'t>) -> std::io::Result<Content<'t>> {
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

pub(super) struct Content<'t> {
    content: CrcReader<Unpacked<'t>>,
    sum: u32,
}

enum Unpacked<'t> {
    Stored(Take<Counted<'t>>),
    Deflated(DeflateDecoder<BufReader<Take<Counted<'t>>>>),
}

impl Read for Unpacked<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Self::Stored(content) => content.read(buffer),
            Self::Deflated(content) => content.read(buffer),
        }
    }
}

impl Read for Content<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.content.read(buffer)?;
        if read == 0 && !buffer.is_empty() && self.content.crc().sum() != self.sum {
            let why = "the archive is damaged: the content's checksum is another than it says";
            return Err(std::io::Error::new(std::io::ErrorKind::InvalidData, why));
        }
        Ok(read)
    }
}
