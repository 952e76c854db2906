//! Members of ZIP archives, in which patent offices hand out their weeks.

use super::{Counted, Held, Packing, Part, told};
use crate::import::Format;
use crate::import::messages::Failure;
use flate2::CrcReader;
use flate2::bufread::DeflateDecoder;
use serde::{Deserialize, Serialize};
use std::io::{BufReader, Read, Seek, SeekFrom, Take};
use std::path::Path;
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
pub(super) fn look(format: Option<Format>, file: Held<'_>) -> Result<Vec<Part>, Failure> {
    let unreadable = |error: zip::result::ZipError| Failure::refused(format!("as a ZIP archive: {error}"));
    let mut archive = ZipArchive::new(BufReader::new(file.open())).map_err(unreadable)?;
    let mut parts = Vec::new();
    for nth in 0..archive.len() {
        let member = archive.by_index_raw(nth).map_err(unreadable)?;
        if !member.is_file() {
            continue;
        }
        let name = member.name().map_err(unreadable)?.into_owned();
        if member.encrypted() {
            let why = "it is encrypted: unpack the archive and import what is in it";
            return Err(Failure::refused(why).of(&name));
        }
        let deflated = match member.compression() {
            CompressionMethod::Stored => false,
            CompressionMethod::Deflated => true,
            other => {
                let why =
                    format!("packed by {other}, not deflated: unpack the archive and import what is in it");
                return Err(Failure::refused(why).of(&name));
            }
        };
        let start = member
            .data_start()
            .ok_or_else(|| Failure::refused("the archive does not say where it is").of(&name))?;
        let bytes = member.compressed_size();
        let packing = Packing::Zip(Member { start, bytes, deflated, sum: member.crc32() });
        let mut part = Part { name: Some(name.clone()), bytes, format: Format::Jsonl, packing };
        let beginning = part.beginning(file.open()).map_err(|error| Failure::io(error).of(&name))?;
        if let Some(format) = told(format, Path::new(&name), &beginning) {
            part.format = format;
            parts.push(part);
        }
    }
    Ok(parts)
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
