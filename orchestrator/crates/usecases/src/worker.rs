//! Work that outsiders supply, each kind in processes of its own: `lyra` starts itself as `lyra __worker KIND …`.
//!
//! A new kind is a variant of [`Kind`] with its limits, and what its worker does with a job in `Kind::serve`.

mod backup;
mod import;
mod page;
mod sql;

pub use backup::BackupReaders;
pub use import::import_readers;
pub use page::PageParser;
pub use sql::SqlJob;

use lyra_domain::named_enum;
use lyra_worker::{Limits, Pool, PoolConfig};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// First argument of a worker.
const WORKER: &str = "__worker";

named_enum! {
    /// What a worker does.
    pub enum Kind {
        /// Agents' SQL, on the database that its argument names.
        Sql = "sql",
        /// Pages and PDFs.
        Page = "page",
        /// Files of imports.
        Import = "import",
        /// Backups in one file.
        Archive = "archive",
        /// Backups in the folder that its argument names.
        Backup = "backup",
    }
}

impl Kind {
    fn limits(self) -> Limits {
        match self {
            Self::Sql => sql::LIMITS,
            Self::Page => page::LIMITS,
            Self::Import => import::LIMITS,
            Self::Archive => backup::ARCHIVE_LIMITS,
            Self::Backup => backup::BACKUP_LIMITS,
        }
    }

    /// How long a job waits while all workers of its kind are busy.
    fn wait(self) -> Duration {
        match self {
            Self::Sql => Duration::from_secs(10),
            Self::Page | Self::Import | Self::Archive | Self::Backup => Duration::from_mins(10),
        }
    }

    /// Bytes of a job and of an answer.
    fn most_bytes(self) -> usize {
        match self {
            Self::Sql => 1 << 20,
            Self::Page => 128 << 20,
            Self::Import => 96 << 20,
            Self::Archive => 2 << 20,
            Self::Backup => 16 << 20,
        }
    }

    /// Jobs that one worker does. Of a job of several turns, a worker does no more than what belongs together.
    fn jobs(self) -> u32 {
        match self {
            Self::Sql => 500,
            Self::Page => 200,
            Self::Import | Self::Archive | Self::Backup => 1,
        }
    }

    /// Does jobs until there are no more.
    fn serve(self, arguments: &[OsString]) -> std::io::Result<()> {
        match self {
            Self::Sql => sql::serve(self, arguments),
            Self::Page => page::serve(self, arguments),
            Self::Import => import::serve(self, arguments),
            Self::Archive => backup::serve_archive(self, arguments),
            Self::Backup => backup::serve_backup(self, arguments),
        }
    }

    /// A pool of workers of this kind; two of them, or as many as there are processors up to four.
    pub(crate) fn pool(self, program: PathBuf, arguments: Vec<OsString>) -> Pool {
        let workers = std::thread::available_parallelism().map_or(2, usize::from).clamp(2, 4);
        let first = [WORKER, self.as_str()].map(OsString::from);
        Pool::new(PoolConfig {
            program,
            arguments: first.into_iter().chain(arguments).collect(),
            limits: self.limits(),
            workers,
            wait: self.wait(),
            jobs: self.jobs(),
            most_bytes: self.most_bytes(),
        })
    }
}

/// This program, to be started as a worker. On Linux it is the very file that runs, also after an upgrade has replaced it.
pub fn this_program() -> Option<PathBuf> {
    if cfg!(target_os = "linux") { Some("/proc/self/exe".into()) } else { std::env::current_exe().ok() }
}

/// Works for another `lyra` when these arguments of the program ask for it, until there is nothing more to do.
pub fn run(arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let arguments: Vec<OsString> = arguments.skip(1).collect();
    let (first, rest) = arguments.split_first()?;
    if first != OsStr::new(WORKER) {
        return None;
    }
    let kind = rest.first().and_then(|kind| kind.to_str()?.parse::<Kind>().ok());
    let ended = match kind {
        Some(kind) => kind.serve(&rest[1..]),
        None => Err(std::io::Error::other("no such kind of worker")),
    };
    Some(match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            use std::io::Write;
            // The parent reads it.
            let _ = writeln!(std::io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    })
}
