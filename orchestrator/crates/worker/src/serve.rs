//! The worker's side.

use crate::{Access, Limits, frame};
use std::io::{Result, Write};
use std::process::exit;
use std::sync::mpsc;

/// Reads jobs from standard input until it closes, and writes each answer to standard output. Nothing else may use
/// these streams. `most` is the size of a job and of an answer in bytes.
///
/// The limits apply before the first job is read, and only the files of `access` can be opened. A worker whose standard
/// input closes while it works exits: its parent is gone.
///
/// # Errors
/// When the system refuses a limit, or the parent does not read.
pub fn serve(
    limits: &Limits,
    access: &Access,
    most: usize,
    mut work: impl FnMut(Vec<u8>) -> Vec<u8>,
) -> Result<()> {
    limits.apply()?;
    let confinement = access.confine()?;
    let (send, jobs) = mpsc::sync_channel(1);
    std::thread::Builder::new().name("jobs".to_owned()).spawn(move || {
        let mut input = std::io::stdin().lock();
        while let Ok(Some(job)) = frame::read(&mut input, most) {
            if send.send(job).is_err() {
                break;
            }
        }
        exit(0);
    })?;
    let mut output = std::io::stdout().lock();
    // Ready: from now on it is the job that takes time.
    frame::write(&mut output, &[confinement.to_byte()], most)?;
    for job in jobs {
        limits.begin_job()?;
        let answer = work(job);
        if answer.len() > most {
            // The parent reads the length, and kills this worker.
            output.write_all(&frame::TOO_LONG)?;
            output.flush()?;
        } else {
            frame::write(&mut output, &answer, most)?;
        }
    }
    Ok(())
}
