//! The worker's side.

use crate::{Access, Limits, Turns, frame};
use std::cell::RefCell;
use std::io::{Error, Result, StdoutLock, Write};
use std::process::exit;
use std::sync::mpsc::{self, Receiver};

/// Takes jobs from standard input until it ends, and writes the answer of each to standard output. Nothing else may use
/// these two. `most` is the size of a job and of an answer in bytes.
///
/// The limits take effect before the first job is read, and only files of `access` can be opened. A worker exits when
/// its standard input ends while it works: its parent is gone.
///
/// # Errors
/// When the system refuses a limit, or the parent does not read.
pub fn serve(
    limits: &Limits,
    access: &Access,
    most: usize,
    mut work: impl FnMut(Vec<u8>) -> Vec<u8>,
) -> Result<()> {
    serve_talks(limits, access, most, |job, _| work(job))
}

/// The same for jobs in the middle of which the work turns to the parent: see [`Talk`](crate::Talk). Processor time is
/// counted from each turn.
///
/// # Errors
/// As [`serve`].
pub fn serve_talks(
    limits: &Limits,
    access: &Access,
    most: usize,
    mut work: impl FnMut(Vec<u8>, &dyn Turns) -> Vec<u8>,
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
    let parent = Parent { output: RefCell::new(std::io::stdout().lock()), jobs, limits, most };
    // Ready: from now on it is the job that takes time.
    parent.say(&[confinement.to_byte()])?;
    while let Ok(job) = parent.hear() {
        let answer = work(job, &parent);
        parent.say(&answer)?;
    }
    Ok(())
}

struct Parent<'a> {
    output: RefCell<StdoutLock<'static>>,
    jobs: Receiver<Vec<u8>>,
    limits: &'a Limits,
    most: usize,
}

impl Parent<'_> {
    fn say(&self, answer: &[u8]) -> Result<()> {
        let mut output = self.output.borrow_mut();
        if answer.len() > self.most {
            // The parent reads the length, and ends this worker.
            output.write_all(&frame::TOO_LONG)?;
            return output.flush();
        }
        frame::write(&mut *output, answer, self.most)
    }

    fn hear(&self) -> Result<Vec<u8>> {
        let job = self.jobs.recv().map_err(Error::other)?;
        self.limits.begin_job()?;
        Ok(job)
    }
}

impl Turns for Parent<'_> {
    fn turn(&self, so_far: &[u8]) -> Result<Vec<u8>> {
        self.say(so_far)?;
        self.hear()
    }

    /// The process ends with its parent.
    fn is_over(&self) -> bool {
        false
    }
}
