//! The embeddings file: rows of little-endian f32, only ever appended to.
//!
//! Which rows count is the index's business: its last commit names their number, and what lies behind is an
//! interrupted import's and is cut off by the next.

mod bytes;
mod mapped;

pub(crate) use bytes::{ByteRows, FILE as BYTES, LOCK as BYTES_LOCK};

use crate::{CorpusError, Result};
use mapped::Mapped;
use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

#[cfg(target_endian = "big")]
compile_error!("embeddings are mapped as they stand in their file, which is little-endian");

/// The file's name in the corpus folder.
pub(crate) const FILE: &str = "embeddings.f32";

/// Rows, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Vectors {
    dimension: usize,
    rows: usize,
    mapped: Mapped,
}

impl Vectors {
    /// Maps up to `rows` rows, fewer when the file is shorter.
    pub(crate) fn open(folder: &Path, dimension: usize, rows: u64) -> Result<Self> {
        let path = folder.join(FILE);
        let open = || {
            let file = match File::open(&path) {
                Ok(file) => file,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
                Err(error) => return Err(error),
            };
            let row_bytes = dimension.max(1) * size_of::<f32>();
            let there = file.metadata()?.len() / row_bytes as u64;
            let rows = usize::try_from(there.min(rows)).map_err(std::io::Error::other)?;
            Ok(Self { dimension, rows, mapped: Mapped::open(&file, rows * row_bytes)? })
        };
        open().map_err(CorpusError::io(&path))
    }

    /// A row, `None` when the file does not reach it.
    pub(crate) fn row(&self, row: u64) -> Option<&[f32]> {
        let row = usize::try_from(row).ok().filter(|row| *row < self.rows)?;
        let bytes = self.dimension * size_of::<f32>();
        bytemuck::try_cast_slice(self.mapped.bytes().get(row * bytes..(row + 1) * bytes)?).ok()
    }
}

/// Appends rows.
pub(crate) struct VectorWriter {
    path: PathBuf,
    file: File,
    rows: u64,
}

impl VectorWriter {
    /// Opens or creates the file with exactly `rows` rows: cuts what is behind them, fills with zeros what is missing
    /// (rows that no checksum will match, and that are written again under new numbers).
    pub(crate) fn open(folder: &Path, dimension: usize, rows: u64) -> Result<Self> {
        let path = folder.join(FILE);
        let open = || {
            bytes::cut(folder, dimension, rows)?;
            let mut file = OpenOptions::new().create(true).truncate(false).write(true).open(&path)?;
            let length = rows * (dimension * size_of::<f32>()) as u64;
            // While a file is mapped, some systems refuse to set its length.
            if file.metadata()?.len() != length {
                file.set_len(length)?;
            }
            file.seek(SeekFrom::End(0))?;
            Ok(file)
        };
        let file = open().map_err(CorpusError::io(&path))?;
        Ok(Self { path, file, rows })
    }

    /// Appends a row and returns its number.
    pub(crate) fn append(&mut self, row: &[f32]) -> Result<u64> {
        let bytes: Vec<u8> = row.iter().flat_map(|number| number.to_le_bytes()).collect();
        self.file.write_all(&bytes).map_err(CorpusError::io(&self.path))?;
        self.rows += 1;
        Ok(self.rows - 1)
    }

    /// Puts on disk what was appended, and returns the number of rows.
    pub(crate) fn sync(&mut self) -> Result<u64> {
        self.file.sync_data().map_err(CorpusError::io(&self.path))?;
        Ok(self.rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_and_a_tail_is_cut() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = VectorWriter::open(folder.path(), 2, 0).unwrap();
        for row in [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]] {
            writer.append(&row).unwrap();
        }
        assert_eq!(writer.sync().unwrap(), 3);
        let vectors = Vectors::open(folder.path(), 2, 2).unwrap();
        assert_eq!((vectors.row(1), vectors.row(2)), (Some(&[3.0, 4.0][..]), None));
        let mut writer = VectorWriter::open(folder.path(), 2, 2).unwrap();
        assert_eq!(writer.append(&[7.0, 8.0]).unwrap(), 2);
        let vectors = Vectors::open(folder.path(), 2, 9).unwrap();
        assert_eq!(
            (vectors.row(2), vectors.row(3), vectors.row(u64::MAX)),
            (Some(&[7.0, 8.0][..]), None, None)
        );
    }
}
