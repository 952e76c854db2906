//! The embeddings file: rows of little-endian f32, only ever appended to.
//!
//! Which rows count is the index's business: its last commit names their number, and what lies behind is an
//! interrupted import's and is cut off by the next.

use crate::{CorpusError, Result};
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The file's name in the corpus folder.
pub(crate) const FILE: &str = "embeddings.f32";

/// Rows in memory, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Vectors {
    dimension: usize,
    numbers: Vec<f32>,
}

impl Vectors {
    /// Reads up to `rows` rows, fewer when the file is shorter.
    pub(crate) fn read(folder: &Path, dimension: usize, rows: u64) -> Result<Self> {
        let path = folder.join(FILE);
        let numbers = match File::open(&path) {
            Ok(mut file) => read_rows(&mut file, dimension, rows).map_err(CorpusError::io(&path))?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(CorpusError::io(&path)(error)),
        };
        Ok(Self { dimension, numbers })
    }

    /// A row, `None` when the file does not reach it.
    pub(crate) fn row(&self, row: u64) -> Option<&[f32]> {
        let start = usize::try_from(row).ok()?.checked_mul(self.dimension)?;
        self.numbers.get(start..start.checked_add(self.dimension)?)
    }
}

fn read_rows(file: &mut File, dimension: usize, rows: u64) -> std::io::Result<Vec<f32>> {
    let row_bytes = dimension.max(1) * 4;
    let there = file.metadata()?.len() / row_bytes as u64;
    let count = usize::try_from(there.min(rows)).map_err(std::io::Error::other)? * dimension;
    let mut numbers = vec![0.0_f32; count];
    file.read_exact(bytemuck::cast_slice_mut(&mut numbers))?;
    for number in &mut numbers {
        *number = f32::from_bits(u32::from_le(number.to_bits()));
    }
    Ok(numbers)
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
            let mut file = OpenOptions::new().create(true).truncate(false).write(true).open(&path)?;
            file.set_len(rows * dimension as u64 * 4)?;
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
        let vectors = Vectors::read(folder.path(), 2, 2).unwrap();
        assert_eq!((vectors.row(1), vectors.row(2)), (Some(&[3.0, 4.0][..]), None));
        let mut writer = VectorWriter::open(folder.path(), 2, 2).unwrap();
        assert_eq!(writer.append(&[7.0, 8.0]).unwrap(), 2);
        let vectors = Vectors::read(folder.path(), 2, 9).unwrap();
        assert_eq!(
            (vectors.row(2), vectors.row(3), vectors.row(u64::MAX)),
            (Some(&[7.0, 8.0][..]), None, None)
        );
    }
}
