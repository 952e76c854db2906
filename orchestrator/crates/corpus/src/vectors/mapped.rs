//! Memory-mapped files: unread parts take no memory, and the system may evict the others.
#![expect(unsafe_code, reason = "a memory map")]

use memmap2::{Mmap, MmapOptions};
use std::fs::File;
use std::io::Result;

/// The beginning of a file. A file of no bytes cannot be mapped, and needs not be.
#[derive(Debug, Default)]
pub(super) struct Mapped(Option<Mmap>);

impl Mapped {
    /// Maps the first `bytes` bytes, which the file has.
    pub(super) fn open(file: &File, bytes: usize) -> Result<Self> {
        if bytes == 0 {
            return Ok(Self(None));
        }
        // SAFETY: the bytes must not change while they are mapped. Lyra writes these files only after the rows that a
        // commit counts, and maps only those rows. Files of a removed corpus persist while a process has them mapped.
        // Lyra cannot guard against another program that overwrites or truncates them, as for the full-text index.
        let map = unsafe { MmapOptions::new().len(bytes).map(file)? };
        Ok(Self(Some(map)))
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.0.as_deref().unwrap_or_default()
    }
}
