//! Is a backup that lies in a folder what its manifest says, and are its databases whole: looked at by a process that
//! can read this folder and nothing else.

use super::manifest::{DATABASE, Manifest, PRIVATE, damaged};
use super::{BackupReport, STEP, unread};
use crate::{AppError, ErrorCode};
use lyra_store::{check_file, check_private_file};
use lyra_worker::{Talks, Turns, WorkerError};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Bytes of a database for which its check is given one more second.
const BYTES_A_SECOND: u64 = 1 << 20;

/// What is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum What {
    /// Every file.
    Whole,
    /// What describes the backup: the manifests and the databases. Its files were held against the manifest before.
    Described,
}

/// What the checker says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Said {
    /// It goes on when it gets word.
    Busy,
    Done(Box<Result<BackupReport, AppError>>),
}

/// Has a folder looked at; once more when the checker ended for a reason that may be another than the folder.
pub(super) async fn check(folder: &Path, what: What, checkers: &Talks) -> Result<BackupReport, AppError> {
    let limit = STEP + Duration::from_secs(databases(folder) / BYTES_A_SECOND);
    let mut tried = false;
    loop {
        match attempt(what, limit, checkers).await {
            Ok(done) => return Ok(BackupReport { path: folder.to_owned(), ..done? }),
            Err(WorkerError::Died { .. }) if !tried => tried = true,
            Err(error) => return Err(unread(&folder.display().to_string(), error)),
        }
    }
}

async fn attempt(
    what: What,
    limit: Duration,
    checkers: &Talks,
) -> Result<Result<BackupReport, AppError>, WorkerError> {
    let mut talk = checkers.begin().await?;
    let mut message = serde_json::to_vec(&what).unwrap_or_default();
    loop {
        let answer = talk.say(message, limit).await?;
        match serde_json::from_slice(&answer) {
            Ok(Said::Busy) => message = Vec::new(),
            Ok(Said::Done(outcome)) => return Ok(*outcome),
            Err(error) => return Ok(Err(AppError::new(ErrorCode::Internal, error.to_string()))),
        }
    }
}

/// Bytes of the databases in a folder.
fn databases(folder: &Path) -> u64 {
    let size = |name| std::fs::metadata(folder.join(name)).map_or(0, |file| file.len());
    size(DATABASE).saturating_add(size(PRIVATE))
}

/// Looks at the backup in a folder, in a worker process or a thread.
pub(crate) fn check_backup(folder: &Path, job: &[u8], turns: &dyn Turns) -> Vec<u8> {
    let busy = serde_json::to_vec(&Said::Busy).unwrap_or_default();
    let look = || -> Result<BackupReport, AppError> {
        let internal = |error: std::io::Error| AppError::new(ErrorCode::Internal, error.to_string());
        let what: What = serde_json::from_slice(job).map_err(std::io::Error::from).map_err(internal)?;
        let manifest = Manifest::read(folder)?;
        if what == What::Whole {
            manifest.verify(folder, &mut || turns.turn(&busy).map(drop))?;
        }
        // Without what waits for sockets, which a worker has no right to.
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().build().map_err(internal)?;
        runtime.block_on(describe(folder, &manifest))
    };
    // Strings and numbers always can be written.
    serde_json::to_vec(&Said::Done(Box::new(look()))).unwrap_or_default()
}

/// Checks the database of a backup whose files are what its manifest says.
async fn describe(folder: &Path, manifest: &Manifest) -> Result<BackupReport, AppError> {
    let same_version = manifest.lyra == env!("CARGO_PKG_VERSION");
    let mut check = check_file(&folder.join(DATABASE), same_version).await?;
    if manifest.entry(PRIVATE).is_some() {
        check.problems.extend(check_private_file(&folder.join(PRIVATE)).await?);
    }
    for (kind, what) in [("integrity", "is damaged"), ("schema", "has been tampered with")] {
        if let Some(problem) = check.problems.iter().find(|problem| problem.check == kind) {
            return Err(AppError::new(
                ErrorCode::Internal,
                format!("the database in {} {what}: {}", folder.display(), problem.found),
            ));
        }
    }
    for name in manifest.corpora() {
        let checked = lyra_corpus::check_manifest(&folder.join("corpora").join(&name), &name);
        checked.map_err(|error| damaged(&error.to_string()))?;
    }
    Ok(BackupReport {
        // Not every path can be said in JSON; who asked knows it.
        path: PathBuf::new(),
        created_at: manifest.created_at.to_string(),
        lyra: manifest.lyra.clone(),
        schema: check.schema,
        corpora: manifest.corpora(),
        files: manifest.files.len(),
        bytes: manifest.files.iter().fold(0, |sum: u64, file| sum.saturating_add(file.bytes)),
        problems: check
            .problems
            .into_iter()
            .map(|problem| format!("{}: {}", problem.check, problem.found))
            .collect(),
        replaced: None,
        tokens_in_force: Vec::new(),
        tokens_revoked: 0,
    })
}
