//! Notifications that a task's resources have changed: `resources/subscribe` up to revision 2025-11-25, and
//! `subscriptions/listen` from 2026-07-28 on.
//!
//! A resource counts as changed with the same news that end a wait of `get_status`.

use super::resources::TASKS;
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use lyra_domain::TaskId;
use lyra_usecases::{App, AppError, ErrorCode, TaskWatch};
use rmcp::model::{ResourceUpdatedNotificationParam, SubscriptionFilter};
use rmcp::service::{Peer, SubscriptionContext};
use rmcp::{ErrorData, RoleServer};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio_util::sync::{CancellationToken, DropGuard};

/// Most resources that one session, or one stream, can subscribe to.
const MOST: usize = 16;

/// The subscriptions of one session. They end with it.
#[derive(Clone, Default)]
pub(super) struct Subscriptions(Arc<Mutex<HashMap<String, DropGuard>>>);

impl Subscriptions {
    /// Notifies the client of every change of a resource from now on. Subscribing again starts over.
    ///
    /// # Errors
    /// An address that never changes, a task that does not exist, or too many subscriptions.
    pub(super) async fn add(&self, app: &App, uri: String, peer: Peer<RoleServer>) -> Result<(), ErrorData> {
        #[cfg(feature = "conformance")]
        if uri == super::fixtures::WATCHED {
            return Ok(());
        }
        let task = task_of(&uri).ok_or_else(|| fixed(&uri))?;
        let mut watch = app.watch_task(&task).await.map_err(|error| failed(&uri, &error))?;
        let stop = CancellationToken::new();
        {
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if kept.len() >= MOST && !kept.contains_key(&uri) {
                let message =
                    format!("a session has at most {MOST} subscriptions; end one with resources/unsubscribe");
                return Err(ErrorData::invalid_request(message, None));
            }
            kept.insert(uri.clone(), stop.clone().drop_guard());
        }
        tokio::spawn(async move {
            while let Some(more) = stop.run_until_cancelled(next(&mut watch)).await {
                let update = ResourceUpdatedNotificationParam::new(uri.clone());
                if peer.notify_resource_updated(update).await.is_err() || !more {
                    break;
                }
            }
        });
        Ok(())
    }

    /// Ends a subscription, if there is one.
    pub(super) fn remove(&self, uri: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(uri);
    }
}

/// The part of a request for notifications that is served: changes of tasks' resources.
pub(super) fn accepted(requested: &SubscriptionFilter) -> SubscriptionFilter {
    let asked = requested.resource_subscriptions.iter().flatten();
    let uris: Vec<&String> = asked.filter(|uri| task_of(uri).is_some()).take(MOST).collect();
    if uris.is_empty() {
        return SubscriptionFilter::new();
    }
    SubscriptionFilter::builder().resource_subscriptions(uris).build()
}

/// Serves one stream until its client cancels it.
pub(super) async fn listen(app: &App, stream: SubscriptionContext) {
    let uris = stream.accepted().resource_subscriptions.clone().unwrap_or_default();
    let mut watches: FuturesUnordered<_> = uris
        .into_iter()
        .map(|uri| {
            let (app, sink) = (app.clone(), stream.sink().clone());
            async move {
                let Some(task) = task_of(&uri) else { return };
                let Ok(mut watch) = app.watch_task(&task).await else { return };
                loop {
                    let more = next(&mut watch).await;
                    if sink.notify_resource_updated(uri.clone()).await.is_err() || !more {
                        break;
                    }
                }
            }
        })
        .collect();
    let all = async {
        while watches.next().await.is_some() {}
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = stream.cancelled() => {}
        () = all => {}
    }
}

/// Waits for the next change of a task; false after the last one, when the task was deleted or cannot be read.
async fn next(watch: &mut TaskWatch) -> bool {
    let changed = watch.changed().await;
    if let Err(error) = changed.as_ref()
        && error.code != ErrorCode::NotFound
    {
        tracing::warn!(%error, "the subscriptions of a task end");
    }
    changed.is_ok()
}

/// The task whose resource this is: the task itself, its materials, its graph, or one of its claims.
fn task_of(uri: &str) -> Option<TaskId> {
    let path = uri.strip_prefix(TASKS)?;
    let (task, part) = path.split_once('/').map_or((path, None), |(task, part)| (task, Some(part)));
    let known = part.is_none_or(|part| {
        let is_claim = |claim: &str| claim.parse::<lyra_domain::ClaimId>().is_ok();
        matches!(part, "materials" | "graph") || part.strip_prefix("claims/").is_some_and(is_claim)
    });
    task.parse().ok().filter(|_| known)
}

fn fixed(uri: &str) -> ErrorData {
    let message = format!(
        "{uri} does not change; subscribe to {TASKS}{{task_id}}, or to materials, graph or claims/{{claim_id}} under it"
    );
    ErrorData::resource_not_found(message, Some(serde_json::json!({ "uri": uri })))
}

fn failed(uri: &str, error: &AppError) -> ErrorData {
    match error.code {
        ErrorCode::NotFound => {
            ErrorData::resource_not_found(format!("{uri}: {error}"), Some(serde_json::json!({ "uri": uri })))
        }
        _ => ErrorData::internal_error(format!("{uri}: {error}"), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_resources_of_tasks_change() {
        for uri in ["", "/materials", "/graph", "/claims/claim_1"] {
            let uri = format!("lyra://tasks/task_1{uri}");
            assert_eq!(task_of(&uri).as_ref().map(TaskId::as_str), Some("task_1"), "{uri}");
        }
        for uri in [
            "lyra://schema",
            "lyra://tasks/claim_1",
            "lyra://tasks/task_1/",
            "lyra://tasks/task_1/claims/task_1",
            "lyra://tasks/task_1/materials?cursor=1",
            "lyra://fusion/run_1",
        ] {
            assert_eq!(task_of(uri), None, "{uri}");
        }
    }

    #[test]
    fn a_stream_serves_tasks_and_nothing_else() {
        let task = |number: usize| format!("lyra://tasks/task_{number}");
        let asked = SubscriptionFilter::builder()
            .tools_list_changed()
            .resource_subscriptions(["lyra://schema".to_owned()].into_iter().chain((0..99).map(task)))
            .build();
        let served = accepted(&asked);
        let uris = served.resource_subscriptions.expect("tasks");
        assert_eq!((uris.len(), &uris[0], served.tools_list_changed), (MOST, &task(0), None));
        assert_eq!(accepted(&SubscriptionFilter::new()), SubscriptionFilter::new());
    }
}
