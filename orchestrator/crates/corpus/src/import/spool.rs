//! Bytes of an import that are in no file of their own: content of archives, and copies of databases.

use super::messages::Failure;
use lyra_worker::hand;
use std::fs::File;
use std::io::{Error, Result, Seek, SeekFrom, Write};
use std::sync::Arc;

/// Most bytes that an import unpacks and copies.
const MOST: u64 = 8 << 30;
/// Content that may unpack to any multiple of its size.
const ANY: u64 = 64 << 20;
/// How many times as long as its packed form longer content may be.
const RATIO: u64 = 200;

/// A file without a name in the system's temporary folder, which ends with the import.
#[derive(Default)]
pub(super) struct Spool {
    file: Option<Arc<File>>,
    bytes: u64,
}

/// Bytes of a file from a position on.
#[derive(Clone)]
pub(super) struct Slice {
    file: Arc<File>,
    start: u64,
    pub(super) bytes: u64,
}

impl Slice {
    /// The whole of a file with so many bytes.
    pub(super) fn whole(file: File, bytes: u64) -> Self {
        Self { file: Arc::new(file), start: 0, bytes }
    }

    /// What a reader asks for.
    pub(super) fn hand(&self, from: u64, bytes: u64) -> Result<Vec<u8>> {
        let rest = self.bytes.saturating_sub(from);
        hand(&self.file, self.start.saturating_add(from), bytes.min(rest))
    }
}

impl Spool {
    /// Where the next bytes will stand.
    pub(super) fn mark(&self) -> u64 {
        self.bytes
    }

    /// Adds bytes. They must be added one after the other.
    pub(super) fn add(&mut self, bytes: &[u8]) -> Result<()> {
        if self.bytes.saturating_add(bytes.len() as u64) > MOST {
            return Err(Error::other(format!("the import would unpack more than {} GiB", MOST >> 30)));
        }
        let mut file = match &self.file {
            Some(file) => &**file,
            None => &**self.file.insert(Arc::new(tempfile::tempfile()?)),
        };
        file.seek(SeekFrom::Start(self.bytes))?;
        file.write_all(bytes)?;
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    /// Refuses content that began at `mark` when it is out of proportion to the `packed` bytes that it comes from.
    pub(super) fn check(&self, mark: u64, packed: u64) -> std::result::Result<(), Failure> {
        let unpacked = self.bytes.saturating_sub(mark);
        if unpacked > ANY && unpacked / RATIO > packed {
            return Err(Failure::refused(format!("it unpacks to more than {RATIO} times its size")));
        }
        Ok(())
    }

    /// What was added since `mark`.
    pub(super) fn since(&self, mark: u64) -> Option<Slice> {
        let file = self.file.clone()?;
        Some(Slice { file, start: mark, bytes: self.bytes.saturating_sub(mark) })
    }

    /// Forgets what was added since `mark`.
    pub(super) fn cut(&mut self, mark: u64) {
        self.bytes = self.bytes.min(mark);
    }
}
