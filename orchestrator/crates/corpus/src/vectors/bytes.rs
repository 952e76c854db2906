//! The embeddings with one byte per number, for corpora too large to be compared exactly: a file beside theirs, made from
//! it when it is first needed and continued when rows were added.

use super::Vectors;
use super::mapped::Mapped;
use lyra_domain::vector::to_bytes;
use rayon::prelude::*;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Result, Write};
use std::path::Path;

/// The file's name in the corpus folder. Each row is the numbers' bytes, then their step as a little-endian f32.
pub(crate) const FILE: &str = "embeddings.u8";
/// Held by the one process that writes the file.
pub(crate) const LOCK: &str = "embeddings.u8.lock";
/// Rows that are turned into bytes at once.
const PART: usize = 16_384;
const STEP_BYTES: usize = size_of::<f32>();

/// Rows with a byte per number.
#[derive(Debug)]
pub(crate) struct ByteRows {
    dimension: usize,
    rows: Rows,
}

#[derive(Debug)]
enum Rows {
    Mapped(Mapped),
    /// Where the disk takes no file.
    Held(Vec<u8>),
}

impl ByteRows {
    /// How many rows the file has.
    pub(crate) fn kept(folder: &Path, dimension: usize) -> usize {
        std::fs::metadata(folder.join(FILE)).map_or(0, |meta| meta.len() as usize / row_bytes(dimension))
    }

    /// Every row of `vectors`: those that the file lacks are added to it. Without a file they are kept in memory.
    pub(crate) fn of(folder: &Path, vectors: &Vectors) -> Self {
        let dimension = vectors.dimension;
        let rows = match continued(folder, vectors) {
            Ok(mapped) => Rows::Mapped(mapped),
            Err(error) => {
                tracing::warn!(
                    folder = %folder.display(), %error,
                    "cannot keep byte embeddings in {FILE}; every process rebuilds them"
                );
                let mut held = Vec::with_capacity(vectors.rows * row_bytes(dimension));
                for part in parts(vectors, 0) {
                    held.extend(part);
                }
                Rows::Held(held)
            }
        };
        Self { dimension, rows }
    }

    /// The bytes of a row, and their step.
    pub(crate) fn row(&self, row: u64) -> Option<(&[u8], f32)> {
        let bytes = match &self.rows {
            Rows::Mapped(mapped) => mapped.bytes(),
            Rows::Held(held) => held,
        };
        let start = usize::try_from(row).ok()?.checked_mul(row_bytes(self.dimension))?;
        let row = bytes.get(start..start.checked_add(row_bytes(self.dimension))?)?;
        let (codes, step) = row.split_last_chunk::<STEP_BYTES>()?;
        Some((codes, f32::from_le_bytes(*step)))
    }
}

/// Cuts what is behind the first `rows` rows: other rows may come to stand there.
pub(super) fn cut(folder: &Path, dimension: usize, rows: u64) -> Result<()> {
    let path = folder.join(FILE);
    let bytes = rows * row_bytes(dimension) as u64;
    match std::fs::metadata(&path) {
        Ok(meta) if meta.len() > bytes => OpenOptions::new().write(true).open(&path)?.set_len(bytes),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

fn continued(folder: &Path, vectors: &Vectors) -> Result<Mapped> {
    let lock = File::options().create(true).truncate(false).write(true).open(folder.join(LOCK))?;
    lock.lock()?;
    let path = folder.join(FILE);
    let mut file = OpenOptions::new().create(true).truncate(false).read(true).write(true).open(&path)?;
    let stride = row_bytes(vectors.dimension);
    let kept = file.metadata()?.len() as usize / stride;
    if kept < vectors.rows {
        // A process that died while it wrote left part of a row.
        file.set_len((kept * stride) as u64)?;
        std::io::Seek::seek(&mut file, std::io::SeekFrom::End(0))?;
        for part in parts(vectors, kept) {
            file.write_all(&part)?;
        }
        file.sync_data()?;
    }
    Mapped::open(&file, vectors.rows * stride)
}

/// Rows from `from` on as they stand in the file, a part at a time.
fn parts(vectors: &Vectors, from: usize) -> impl Iterator<Item = Vec<u8>> + '_ {
    let dimension = vectors.dimension;
    (from..vectors.rows).step_by(PART).map(move |start| {
        let rows: Vec<usize> = (start..vectors.rows.min(start + PART)).collect();
        rows.par_chunks(PART.div_ceil(16))
            .map(|rows| {
                let mut written = Vec::with_capacity(rows.len() * row_bytes(dimension));
                let mut codes = Vec::with_capacity(dimension);
                for &row in rows {
                    codes.clear();
                    let step = to_bytes(vectors.row(row as u64).unwrap_or_default(), &mut codes);
                    written.extend_from_slice(&codes);
                    written.extend_from_slice(&step.to_le_bytes());
                }
                written
            })
            .collect::<Vec<Vec<u8>>>()
            .concat()
    })
}

fn row_bytes(dimension: usize) -> usize {
    dimension + STEP_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vectors::VectorWriter;
    use lyra_domain::vector::{ByteQuery, dot};

    const DIMENSION: usize = 8;

    fn vector(nth: usize) -> Vec<f32> {
        (0..DIMENSION).map(|i| ((nth * 31 + i * 7) % 19) as f32 / 19.0 - 0.5).collect()
    }

    fn append(folder: &Path, from: usize, to: usize) -> Vectors {
        let mut writer = VectorWriter::open(folder, DIMENSION, from as u64).unwrap();
        for nth in from..to {
            writer.append(&vector(nth)).unwrap();
        }
        writer.sync().unwrap();
        Vectors::open(folder, DIMENSION, to as u64).unwrap()
    }

    fn check(bytes: &ByteRows, rows: usize) {
        let query = vector(3);
        for row in 0..rows {
            let (codes, step) = bytes.row(row as u64).unwrap();
            assert!(
                (ByteQuery::of(&query).dot(codes, step) - dot(&query, &vector(row))).abs() < 0.02,
                "{row}"
            );
        }
        assert!(bytes.row(rows as u64).is_none() && bytes.row(u64::MAX).is_none());
    }

    #[test]
    fn the_file_is_continued_and_cut_with_the_embeddings() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let empty = append(folder, 0, 0);
        check(&ByteRows::of(folder, &empty), 0);
        let some = append(folder, 0, 20_000);
        check(&ByteRows::of(folder, &some), 20_000);
        assert_eq!(ByteRows::kept(folder, DIMENSION), 20_000);
        // A torn row at the end, then more rows.
        OpenOptions::new().append(true).open(folder.join(FILE)).unwrap().write_all(&[1; 5]).unwrap();
        let more = append(folder, 20_000, 20_100);
        check(&ByteRows::of(folder, &more), 20_100);
        // An import that begins behind row 15,000 writes others there.
        drop(VectorWriter::open(folder, DIMENSION, 15_000).unwrap());
        assert_eq!(ByteRows::kept(folder, DIMENSION), 15_000);
    }

    #[test]
    fn without_a_file_they_are_held() {
        let folder = tempfile::tempdir().unwrap();
        let vectors = append(folder.path(), 0, 50);
        std::fs::create_dir(folder.path().join(FILE)).unwrap();
        let bytes = ByteRows::of(folder.path(), &vectors);
        assert!(matches!(bytes.rows, Rows::Held(_)));
        check(&bytes, 50);
    }
}
