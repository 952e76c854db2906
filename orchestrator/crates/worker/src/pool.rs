//! The parent's side: idle workers, and the one job that each runs.

use crate::{Confinement, Limits, frame};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How long a worker may take to start.
const START: Duration = Duration::from_secs(20);
/// How long a worker that has closed its output may take to exit.
const END: Duration = Duration::from_millis(500);
/// Most bytes to read from a dead worker's standard error.
const LAST_WORDS: u64 = 4_096;

/// How a pool works.
#[derive(Debug, Clone)]
pub struct PoolConfig {
    /// The program. It gets an empty environment.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// The limits that the program sets for itself; here for error messages.
    pub limits: Limits,
    /// Most workers, and so parallel jobs; at least one.
    pub workers: usize,
    /// How long a job waits for a worker that is free.
    pub wait: Duration,
    /// Jobs after which a worker is replaced by a new one.
    pub jobs: u32,
    /// Most bytes of a job and of an answer.
    pub most_bytes: usize,
}

/// Why a job was not done. Other jobs are not affected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WorkerError {
    /// There is no process to do it in.
    #[error("no worker process can be started: {why}")]
    Start {
        /// The system's words.
        why: String,
    },
    /// All workers have other jobs.
    #[error("all worker processes are busy; try again in a moment")]
    Busy,
    /// It took too long, and its worker was killed.
    #[error("stopped after {} ms: its worker process was killed", limit.as_millis())]
    Deadline {
        /// Its time.
        limit: Duration,
    },
    /// It used too much processor time.
    #[error("stopped after {seconds} s of processor time")]
    Cpu {
        /// Its processor time.
        seconds: u64,
    },
    /// It took too much memory.
    #[error("stopped for using more than {} MB of memory", bytes >> 20)]
    Memory {
        /// The limit.
        bytes: u64,
    },
    /// The job or its answer is too large.
    #[error("too large: {why}")]
    TooLarge {
        /// The size and the limit.
        why: String,
    },
    /// Its worker ended for another reason.
    #[error("its worker process ended: {how}")]
    Died {
        /// A signal or an exit code, and its last output.
        how: String,
    },
}

/// Workers of one kind. They are started when they are needed, wait for the next job, and are killed when this is dropped.
#[derive(Debug)]
pub struct Pool {
    config: PoolConfig,
    free: Arc<Semaphore>,
    idle: Mutex<VecDeque<Worker>>,
    confinement: OnceLock<Confinement>,
}

impl Pool {
    /// A pool without a worker yet.
    pub fn new(config: PoolConfig) -> Self {
        let free = Arc::new(Semaphore::new(config.workers.max(1)));
        Self { config, free, idle: Mutex::default(), confinement: OnceLock::new() }
    }

    /// Starts a worker if none is idle, so that the next job finds one.
    ///
    /// # Errors
    /// [`WorkerError::Start`].
    pub async fn warm(&self) -> Result<(), WorkerError> {
        if self.idle().is_empty() {
            let worker = self.start().await?;
            self.idle().push_back(worker);
        }
        Ok(())
    }

    /// What the system enforces on the workers; `None` before the first has started.
    pub fn confinement(&self) -> Option<Confinement> {
        self.confinement.get().copied()
    }

    /// Has a job done, within this time from the moment that a worker has it. When the future is dropped, the worker is killed.
    ///
    /// # Errors
    /// [`WorkerError`], which names the limit that the job hit.
    pub async fn run(&self, job: &[u8], limit: Duration) -> Result<Vec<u8>, WorkerError> {
        let Ok(Ok(_turn)) = tokio::time::timeout(self.config.wait, self.free.acquire()).await else {
            return Err(WorkerError::Busy);
        };
        let head = frame::head(job, self.config.most_bytes)
            .map_err(|error| WorkerError::TooLarge { why: error.to_string() })?;
        let mut again = false;
        loop {
            let waited = self.idle().pop_front();
            let reused = waited.is_some();
            let mut worker = match waited {
                Some(worker) => worker,
                None => self.start().await?,
            };
            if let Err(error) = worker.send(head, job).await {
                tracing::debug!(%error, "a worker ended while it waited");
                if reused {
                    continue;
                }
                return Err(worker.died(&self.config.limits).await);
            }
            let answer = tokio::time::timeout(limit, worker.receive(self.config.most_bytes)).await;
            return match answer {
                Ok(Ok(answer)) => {
                    worker.done += 1;
                    if worker.done < self.config.jobs {
                        self.idle().push_back(worker);
                    }
                    Ok(answer)
                }
                Ok(Err(error)) if error.kind() == ErrorKind::InvalidData => {
                    Err(WorkerError::TooLarge { why: error.to_string() })
                }
                Ok(Err(_)) => {
                    let died = worker.died(&self.config.limits).await;
                    // It may have ended while it waited, or something else may have ended it: the job is tried once more.
                    if !again && matches!(died, WorkerError::Died { .. }) {
                        again = true;
                        continue;
                    }
                    Err(died)
                }
                // The worker is killed when it is dropped.
                Err(_) => Err(WorkerError::Deadline { limit }),
            };
        }
    }

    /// One worker for jobs of several turns, which counts as a job until it is dropped; then it is killed.
    ///
    /// # Errors
    /// [`WorkerError::Busy`], [`WorkerError::Start`].
    pub(crate) async fn session(&self) -> Result<Session, WorkerError> {
        let Ok(Ok(turn)) = tokio::time::timeout(self.config.wait, self.free.clone().acquire_owned()).await
        else {
            return Err(WorkerError::Busy);
        };
        let waited = self.idle().pop_front();
        let worker = match waited {
            Some(worker) => worker,
            None => self.start().await?,
        };
        let PoolConfig { limits, most_bytes, .. } = self.config;
        Ok(Session { worker: Some(worker), limits, most_bytes, _turn: turn })
    }

    async fn start(&self) -> Result<Worker, WorkerError> {
        let (worker, confinement) = Worker::start(&self.config).await?;
        self.confinement.get_or_init(|| confinement);
        Ok(worker)
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, VecDeque<Worker>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A worker of its own.
#[derive(Debug)]
pub(crate) struct Session {
    /// None once it has ended.
    worker: Option<Worker>,
    limits: Limits,
    most_bytes: usize,
    _turn: OwnedSemaphorePermit,
}

impl Session {
    /// One message there, and one back within the time.
    pub(crate) async fn say(&mut self, message: &[u8], limit: Duration) -> Result<Vec<u8>, WorkerError> {
        let head = frame::head(message, self.most_bytes)
            .map_err(|error| WorkerError::TooLarge { why: error.to_string() })?;
        // Put back only after an answer.
        let Some(mut worker) = self.worker.take() else {
            return Err(WorkerError::Died { how: "before this".to_owned() });
        };
        let answer = async {
            // One that ended takes nothing more; why it did is found out by reading.
            let _ = worker.send(head, message).await;
            worker.receive(self.most_bytes).await
        };
        let answer = tokio::time::timeout(limit, answer).await;
        match answer {
            Ok(Ok(answer)) => {
                self.worker = Some(worker);
                Ok(answer)
            }
            Ok(Err(error)) if error.kind() == ErrorKind::InvalidData => {
                Err(WorkerError::TooLarge { why: error.to_string() })
            }
            Ok(Err(_)) => Err(worker.died(&self.limits).await),
            Err(_) => Err(WorkerError::Deadline { limit }),
        }
    }
}

#[derive(Debug)]
struct Worker {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
    errors: ChildStderr,
    /// Jobs that it has done.
    done: u32,
}

impl Worker {
    async fn start(config: &PoolConfig) -> Result<(Self, Confinement), WorkerError> {
        let failed = |why: String| WorkerError::Start { why };
        let mut command = Command::new(&config.program);
        command.args(&config.arguments).env_clear().kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(windows)]
        command.envs(std::env::var_os("SystemRoot").map(|root| ("SystemRoot", root)));
        let mut child =
            command.spawn().map_err(|error| failed(format!("{}: {error}", config.program.display())))?;
        let (Some(input), Some(output), Some(errors)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(failed("it has no pipes".to_owned()));
        };
        let mut worker = Self { child, input, output, errors, done: 0 };
        match tokio::time::timeout(START, worker.receive(1)).await {
            Ok(Ok(report)) => Ok((worker, Confinement::from_bytes(&report))),
            Ok(Err(_)) => Err(failed(worker.died(&config.limits).await.to_string())),
            Err(_) => Err(failed(format!("it was not ready after {} s", START.as_secs()))),
        }
    }

    async fn send(&mut self, head: [u8; frame::HEAD], job: &[u8]) -> std::io::Result<()> {
        self.input.write_all(&head).await?;
        self.input.write_all(job).await?;
        self.input.flush().await
    }

    async fn receive(&mut self, most: usize) -> std::io::Result<Vec<u8>> {
        let mut head = [0; frame::HEAD];
        self.output.read_exact(&mut head).await?;
        let mut answer = vec![0; frame::length(head, most)?];
        self.output.read_exact(&mut answer).await?;
        Ok(answer)
    }

    /// What ended it.
    async fn died(mut self, limits: &Limits) -> WorkerError {
        let status = tokio::time::timeout(END, self.child.wait()).await;
        let mut words = Vec::new();
        let mut errors = (&mut self.errors).take(LAST_WORDS);
        let _ = tokio::time::timeout(END, errors.read_to_end(&mut words)).await;
        let words = String::from_utf8_lossy(&words);
        match status {
            Ok(Ok(status)) => cause(status, words.trim(), limits),
            _ => WorkerError::Died { how: "it closed its output".to_owned() },
        }
    }
}

/// A limit by the signal that its excess causes.
fn cause(status: ExitStatus, words: &str, limits: &Limits) -> WorkerError {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;
        if status.signal() == Some(libc::SIGXCPU) {
            return WorkerError::Cpu { seconds: limits.cpu_seconds() };
        }
    }
    // Rust prints it before it aborts.
    if words.contains("memory allocation of") {
        return WorkerError::Memory { bytes: limits.memory };
    }
    let last = words.lines().last().map_or_else(String::new, |line| format!(": {line}"));
    WorkerError::Died { how: format!("{status}{last}") }
}
