//! Where untrusted documents are parsed: in worker processes if available, else here.

use super::Rules;
use crate::http::Response;
use crate::{Error, Result};
use async_trait::async_trait;
use lyra_web::read::{Job, Reader, Task, Unread, answer};
use serde::de::DeserializeOwned;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use url::Url;

/// Longest time that reading one document may take.
const READING_TIME: Duration = Duration::from_secs(30);

/// Does jobs of [`lyra_web::read`].
#[async_trait]
pub trait Parser: Send + Sync {
    /// Runs one job within this time; when it takes longer, it is stopped.
    ///
    /// # Errors
    /// Explains a missing answer: the limit that the job hit, or that its process ended.
    async fn parse(&self, job: Vec<u8>, limit: Duration) -> Result<Vec<u8>, String>;
}

/// Parses in this process: memory limits do not apply, and a job that times out is abandoned but keeps running until it
/// finishes.
#[derive(Default)]
pub struct InProcess {
    /// Readers without a job, which have their rules compiled.
    idle: Arc<Mutex<Vec<Reader>>>,
}

#[async_trait]
impl Parser for InProcess {
    async fn parse(&self, job: Vec<u8>, limit: Duration) -> Result<Vec<u8>, String> {
        let idle = Arc::clone(&self.idle);
        let reading = tokio::task::spawn_blocking(move || {
            let mut reader = idle.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
            let started = Instant::now();
            let answer = reader.work(&job, &|| started.elapsed() > limit);
            idle.lock().unwrap_or_else(PoisonError::into_inner).push(reader);
            answer
        });
        match tokio::time::timeout(limit, reading).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(_)) => Err("reading it failed inside a parser".to_owned()),
            Err(_) => Err("reading it took too long".to_owned()),
        }
    }
}

/// Has a response parsed under these rules.
pub(super) async fn parsed<T: DeserializeOwned>(
    parser: &dyn Parser,
    rules: &Rules,
    task: Task,
    response: &Response,
) -> Result<T, Unread> {
    let content_type = response.headers.get(http::header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let job = Job {
        task,
        address: response.url.clone(),
        content_type: content_type.map(str::to_owned),
        engines: rules.engines().source().to_owned(),
        patterns: rules.patterns().source().to_owned(),
    };
    let bytes = parser.parse(job.to_bytes(&response.body), READING_TIME).await;
    answer(&bytes.map_err(Unread::Unreadable)?)
}

/// The error of a document at this address, which is shown without what may be secret.
pub(super) fn unread(url: &Url, why: Unread) -> Error {
    let url = super::fetch::shown(url);
    match why {
        Unread::Challenge(kind) => Error::Challenge { url, kind },
        Unread::Unreadable(why) => Error::Unreadable { url, why },
    }
}
