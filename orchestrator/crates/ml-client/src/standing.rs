//! Whether a server of a pool may answer in the place of the others.

use std::time::{Duration, Instant};

use tokio::sync::Mutex;

use crate::error::Error;

/// What is known about a server. Several requests wait for one examination.
#[derive(Debug, Default)]
pub(crate) struct Standing(Mutex<State>);

#[derive(Debug, Default)]
enum State {
    #[default]
    Unknown,
    /// It answered as the others do.
    Fits { at: Instant },
    /// It did not, and this is how.
    Differs { at: Instant, url: String, reason: String },
}

impl Standing {
    /// That the server fits, by an examination that is at most this old.
    pub(crate) async fn check(
        &self,
        valid_for: Duration,
        examine: impl Future<Output = Result<(), Error>>,
    ) -> Result<(), Error> {
        let mut state = self.0.lock().await;
        match &*state {
            State::Fits { at } if at.elapsed() < valid_for => return Ok(()),
            State::Differs { at, url, reason } if at.elapsed() < valid_for => {
                return Err(Error::Different { url: url.clone(), reason: reason.clone() });
            }
            _ => {}
        }
        let result = examine.await;
        *state = State::of(&result);
        result
    }

    /// Notes the result of an examination.
    pub(crate) async fn note(&self, result: &Result<(), Error>) {
        *self.0.lock().await = State::of(result);
    }

    /// Whether it answered as the others do when it was examined last.
    pub(crate) async fn fits(&self) -> bool {
        matches!(*self.0.lock().await, State::Fits { .. })
    }

    /// What stands behind the address may be another server by now.
    pub(crate) async fn forget(&self) {
        *self.0.lock().await = State::Unknown;
    }
}

impl State {
    fn of(result: &Result<(), Error>) -> Self {
        let at = Instant::now();
        match result {
            Ok(()) => Self::Fits { at },
            Err(Error::Different { url, reason }) => {
                tracing::warn!(%url, %reason, "this ml-server is not used: it differs from the others");
                Self::Differs { at, url: url.clone(), reason: reason.clone() }
            }
            Err(_) => Self::Unknown,
        }
    }
}
