//! Writing many documents: requests of a bounded size, several at once, at the speed that the cluster takes them.

use super::cluster::Cluster;
use super::fault::{meaning, reason};
use crate::remote::http::Body;
use crate::{CorpusError, Result};
use futures::StreamExt;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::collections::{HashSet, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Bytes of a request: what `OpenSearch` recommends, far below its limit of 100 MB.
const REQUEST: usize = 8 << 20;
/// A request is not made smaller than this, unless it is one document.
const LEAST: usize = 64 << 10;
/// Requests under way at once.
const AT_ONCE: usize = 2;
/// Pause after a refusal, doubled each time up to the longest.
const PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// How long a node is waited for that does not write anything.
const PATIENCE: Duration = Duration::from_secs(150);
/// How long the cluster itself waits for a shard.
const SHARD_TIMEOUT: &str = "15s";

/// One change: an action and, unless it deletes, what it writes.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    pub(crate) id: String,
    lines: Vec<u8>,
}

impl Change {
    /// A document in place of the one with its id.
    pub(super) fn put(id: &str, source: &Value) -> Self {
        Self::of(id, &json!({"index": {"_id": id}}), Some(source))
    }

    /// Fields of a document that is there.
    pub(super) fn update(id: &str, fields: &Value) -> Self {
        Self::of(id, &json!({"update": {"_id": id}}), Some(&json!({"doc": fields})))
    }

    /// No document of this id.
    pub(super) fn delete(id: &str) -> Self {
        Self::of(id, &json!({"delete": {"_id": id}}), None)
    }

    fn of(id: &str, action: &Value, source: Option<&Value>) -> Self {
        let mut lines = format!("{action}\n").into_bytes();
        if let Some(source) = source {
            lines.extend_from_slice(source.to_string().as_bytes());
            lines.push(b'\n');
        }
        Self { id: id.to_owned(), lines }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.lines.len()
    }
}

/// The alias through which an index is written.
pub(super) fn write_alias(index: &str) -> String {
    format!("{index}.writes")
}

/// A document that the cluster does not take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) id: String,
    pub(crate) reason: String,
}

/// What became of changes.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// Ids of documents that were not there before. After a request that was sent twice, a document may be missing here.
    pub(crate) created: HashSet<String>,
    pub(crate) refused: Vec<Refused>,
}

impl Written {
    fn extend(&mut self, more: Self) {
        self.created.extend(more.created);
        self.refused.extend(more.refused);
    }
}

/// Writes changes to an index. When it returns, those that are not refused are durable.
///
/// # Errors
/// The cluster takes nothing for some minutes, or says that it will not; what it took before stays.
pub(crate) async fn write(
    cluster: &Cluster,
    index: &str,
    changes: Vec<Change>,
    stop: &CancellationToken,
) -> Result<Written> {
    cluster.greeting(stop).await?;
    let size = AtomicUsize::new(REQUEST);
    let mut parts: Vec<VecDeque<Change>> = Vec::new();
    let mut bytes = REQUEST;
    for change in changes {
        if bytes + change.bytes() > REQUEST {
            parts.push(VecDeque::new());
            bytes = 0;
        }
        bytes += change.bytes();
        if let Some(part) = parts.last_mut() {
            part.push_back(change);
        }
    }
    let work = parts.into_iter().map(|part| write_part(cluster, index, part, &size, stop));
    let mut parts = futures::stream::iter(work).buffer_unordered(AT_ONCE);
    let mut written = Written::default();
    while let Some(part) = parts.next().await {
        written.extend(part?);
    }
    Ok(written)
}

async fn write_part(
    cluster: &Cluster,
    index: &str,
    mut waiting: VecDeque<Change>,
    size: &AtomicUsize,
    stop: &CancellationToken,
) -> Result<Written> {
    let mut all = Written::default();
    let (mut pause, mut waited) = (PAUSE, Duration::ZERO);
    while !waiting.is_empty() {
        let most = size.load(Ordering::Relaxed);
        let mut request = Vec::new();
        let mut sent: Vec<Change> = Vec::new();
        while let Some(next) = waiting.pop_front() {
            if !request.is_empty() && request.len() + next.bytes() > most {
                waiting.push_front(next);
                break;
            }
            request.extend_from_slice(&next.lines);
            sent.push(next);
        }
        let started = tokio::time::Instant::now();
        let outcome = outcome(cluster, index, &request, sent, stop).await?;
        let Outcome { done, again, written, slower, why, named } = outcome;
        all.extend(written);
        for change in again.into_iter().rev() {
            waiting.push_front(change);
        }
        if slower {
            size.fetch_min((most / 2).max(LEAST), Ordering::Relaxed);
        }
        if done {
            (pause, waited) = (PAUSE, Duration::ZERO);
        }
        let Some(why) = why else { continue };
        let rest = named.unwrap_or(pause).min(LONGEST_PAUSE);
        waited += started.elapsed() + rest;
        if waited > PATIENCE {
            return Err(cluster.error(
                format!(
                    "nothing was written for {} s: {why}; what was written before stays, repeat the import for the rest",
                    waited.as_secs()
                ),
                true,
            ));
        }
        tracing::debug!(index, why, rest = rest.as_millis(), "the cluster asks for a pause");
        cluster.client().rest(rest, stop).await?;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
    Ok(all)
}

/// What became of a request.
#[derive(Default)]
struct Outcome {
    /// Something was written, or refused for good.
    done: bool,
    /// To send again.
    again: Vec<Change>,
    written: Written,
    /// Requests should be smaller.
    slower: bool,
    /// Why to pause.
    why: Option<String>,
    /// The pause that the server names.
    named: Option<Duration>,
}

async fn outcome(
    cluster: &Cluster,
    index: &str,
    request: &[u8],
    mut sent: Vec<Change>,
    stop: &CancellationToken,
) -> Result<Outcome> {
    // Through an alias that the index was created with: an index that was deleted meanwhile must not come back with a
    // mapping that OpenSearch guesses.
    let (alias, query) = (write_alias(index), [("timeout", SHARD_TIMEOUT), ("require_alias", "true")]);
    let path = [alias.as_str(), "_bulk"];
    let answer = cluster.client().send(&Method::POST, &path, &query, Body::Lines(request), stop).await;
    let answer = match answer {
        Ok(answer) => answer,
        // Every change can be sent twice: a document is put under its id.
        Err(CorpusError::Backend { why, passing: true, .. }) => {
            return Ok(Outcome { again: sent, why: Some(why), ..Outcome::default() });
        }
        Err(error) => return Err(error),
    };
    if answer.status == StatusCode::PAYLOAD_TOO_LARGE {
        if let [one] = sent.as_slice() {
            let reason =
                format!("the cluster takes no document of {} bytes (http.max_content_length)", one.bytes());
            let refused = vec![Refused { id: one.id.clone(), reason }];
            let written = Written { refused, ..Written::default() };
            return Ok(Outcome { done: true, written, ..Outcome::default() });
        }
        // Half of them at once, whatever the limit is.
        let slower = request.len() > LEAST;
        if !slower {
            return Err(cluster.client().refusal(&answer));
        }
        return Ok(Outcome { done: true, again: sent, slower, ..Outcome::default() });
    }
    if !answer.status.is_success() {
        return match cluster.client().refusal(&answer) {
            CorpusError::Backend { why, passing: true, .. } => {
                let slower = answer.status == StatusCode::TOO_MANY_REQUESTS;
                Ok(Outcome { again: sent, why: Some(why), slower, named: answer.pause, ..Outcome::default() })
            }
            _ if answer.status == StatusCode::NOT_FOUND => {
                Err(CorpusError::NotFound { name: index.to_owned() })
            }
            error => Err(error),
        };
    }
    let items = answer.body["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    if items.len() != sent.len() {
        return Err(cluster.error(
            format!("the cluster answered about {} of {} documents", items.len(), sent.len()),
            false,
        ));
    }
    let mut outcome = Outcome::default();
    for (change, item) in sent.drain(..).zip(items) {
        let item = item.as_object().and_then(|item| item.values().next()).unwrap_or(&Value::Null);
        let status = item["status"].as_u64().unwrap_or(0);
        let error = &item["error"];
        match (status, meaning(error)) {
            (200..=299, _) => {
                outcome.done = true;
                if item["result"] == "created" {
                    outcome.written.created.insert(change.id);
                }
            }
            // Deleted before.
            (404, _) if item["result"] == "not_found" => outcome.done = true,
            // It concerns the index, and so every document.
            (_, Some((why, false))) => return Err(cluster.error(why, false)),
            (_, Some((why, true))) => {
                outcome.why = Some(why);
                outcome.again.push(change);
            }
            (429 | 500..=599, None) => {
                outcome.slower |= status == 429;
                outcome.why = Some(format!("the cluster cannot write now ({status}): {}", reason(error)));
                outcome.again.push(change);
            }
            (_, None) if error["type"] == "index_not_found_exception" => {
                return Err(CorpusError::NotFound { name: index.to_owned() });
            }
            (_, None) => {
                outcome.done = true;
                let reason = format!("the cluster refuses it ({status}): {}", reason(error));
                outcome.written.refused.push(Refused { id: change.id, reason });
            }
        }
    }
    if outcome.done {
        outcome.why = outcome.why.filter(|_| !outcome.again.is_empty());
    }
    Ok(outcome)
}
