//! Files of imports, read in a process that can open no file at all: it is handed their bytes.

use super::Kind;
use lyra_corpus::read_files;
use lyra_worker::{Access, Limits, Talks, serve_talks};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// A record of the largest size needs half of the memory; the processor time is that of one step, which is a record or
/// a piece of the file.
pub(super) const LIMITS: Limits =
    Limits { memory: 512 << 20, addresses: 4 << 30, cpu: Duration::from_mins(1), files: 16 };

pub(super) fn serve(kind: Kind, _arguments: &[OsString]) -> std::io::Result<()> {
    serve_talks(&kind.limits(), &Access::default(), kind.most_bytes(), |job, turns| read_files(&job, turns))
}

/// Reads files of imports in workers of this program, and in this process where none can be started.
pub fn import_readers(program: Option<PathBuf>) -> Talks {
    let pool = program.map(|program| Kind::Import.pool(program, Vec::new()));
    Talks::new(pool, Arc::new(|job, turns| read_files(&job, turns)), "reading the files of an import")
}
