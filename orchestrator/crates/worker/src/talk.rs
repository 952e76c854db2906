//! Jobs of several turns: the work asks for what it needs, hands over what it has, and goes on.

use crate::pool::Session;
use crate::{Confinement, Pool, WorkerError};
use std::io::{Error, ErrorKind, Result};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;
use tokio::sync::mpsc as answers;

/// The other side of a job, for its work.
pub trait Turns {
    /// Hands over an answer that is not the last one, and waits for what comes next.
    ///
    /// # Errors
    /// When the other side is gone and the work is no longer needed.
    fn turn(&self, so_far: &[u8]) -> Result<Vec<u8>>;

    /// Whether the other side is gone: work that goes on for long without a turn asks now and then.
    fn is_over(&self) -> bool;
}

/// What is done with a job: its answer, after as many turns as it takes.
pub type Work = Arc<dyn Fn(Vec<u8>, &dyn Turns) -> Vec<u8> + Send + Sync>;

/// Begins talks: with workers of a pool, and with a thread of this process where none can be started.
pub struct Talks {
    pool: Option<Pool>,
    work: Work,
    /// What is done here then, for the log.
    what: &'static str,
    said: AtomicBool,
}

impl Talks {
    /// With workers of this pool, which do this work. `what` completes "is done in this process", such as "the import
    /// of files".
    pub fn new(pool: Option<Pool>, work: Work, what: &'static str) -> Self {
        Self { pool, work, what, said: AtomicBool::new(false) }
    }

    /// Without workers.
    pub fn here(work: Work) -> Self {
        Self::new(None, work, "")
    }

    /// Begins one. What it has to do with ends when the talk is dropped.
    ///
    /// # Errors
    /// [`WorkerError::Busy`], or a worker that ends at its start for another reason than that none can be started.
    pub async fn begin(&self) -> std::result::Result<Talk, WorkerError> {
        let Some(pool) = &self.pool else { return Talk::here(self.work.clone()) };
        match pool.session().await {
            Ok(session) => Ok(Talk(Side::Worker(Box::new(session)))),
            Err(WorkerError::Start { why }) => {
                if !self.said.swap(true, Ordering::Relaxed) {
                    tracing::warn!(why, "{} is done in this process: no worker can be started", self.what);
                }
                Talk::here(self.work.clone())
            }
            Err(other) => Err(other),
        }
    }

    /// What the system enforces on the workers; `None` if the work runs in this process.
    ///
    /// # Errors
    /// [`WorkerError::Start`].
    pub async fn confinement(&self) -> std::result::Result<Option<Confinement>, WorkerError> {
        let Some(pool) = &self.pool else { return Ok(None) };
        pool.warm().await?;
        Ok(pool.confinement())
    }
}

impl std::fmt::Debug for Talks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Talks").field("pool", &self.pool).finish_non_exhaustive()
    }
}

/// One worker, or one thread, for jobs that belong together.
#[derive(Debug)]
pub struct Talk(Side);

#[derive(Debug)]
enum Side {
    Worker(Box<Session>),
    Here(Here),
}

impl Talk {
    fn here(work: Work) -> std::result::Result<Self, WorkerError> {
        let (jobs, from_here) = mpsc::channel::<Vec<u8>>();
        let (to_here, answers) = answers::unbounded_channel();
        let thread = std::thread::Builder::new().name("talk".to_owned());
        let started = thread.spawn(move || {
            let parent = Parent { jobs: from_here, answers: to_here };
            while let Ok(job) = parent.jobs.recv() {
                let answer = work(job, &parent);
                if parent.answers.send(answer).is_err() {
                    break;
                }
            }
        });
        started.map_err(|error| WorkerError::Start { why: error.to_string() })?;
        Ok(Self(Side::Here(Here { jobs, answers })))
    }

    /// Sends a job, or what the work waits for in the middle of one, and waits for the answer; of a worker no longer
    /// than `limit`. After an error, and when the future was dropped, there is nothing more to say.
    ///
    /// # Errors
    /// [`WorkerError`], which names the limit that was met.
    pub async fn say(
        &mut self,
        message: Vec<u8>,
        limit: Duration,
    ) -> std::result::Result<Vec<u8>, WorkerError> {
        match &mut self.0 {
            Side::Worker(session) => session.say(&message, limit).await,
            Side::Here(here) => {
                let ended = || WorkerError::Died { how: "a defect in it".to_owned() };
                here.jobs.send(message).map_err(|_| ended())?;
                here.answers.recv().await.ok_or_else(ended)
            }
        }
    }
}

#[derive(Debug)]
struct Here {
    jobs: mpsc::Sender<Vec<u8>>,
    answers: answers::UnboundedReceiver<Vec<u8>>,
}

/// What a thread of this process turns to.
struct Parent {
    jobs: mpsc::Receiver<Vec<u8>>,
    answers: answers::UnboundedSender<Vec<u8>>,
}

impl Turns for Parent {
    fn turn(&self, so_far: &[u8]) -> Result<Vec<u8>> {
        let gone = || Error::new(ErrorKind::BrokenPipe, "it was given up");
        self.answers.send(so_far.to_vec()).map_err(|_| gone())?;
        self.jobs.recv().map_err(|_| gone())
    }

    fn is_over(&self) -> bool {
        self.answers.is_closed()
    }
}
