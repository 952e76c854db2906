//! Background workers of this process.

use super::App;
use crate::inference::CalibratedInference;
use crate::sources::sources_of;
use lyra_domain::TaskId;
use lyra_research::{Context, Worker, WorkerConfig};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How often to check for jobs of dead processes; also done when the store is opened.
const RECLAIM_EVERY: Duration = Duration::from_secs(5);

impl App {
    /// Starts the workers: for one task, whose end a person waits for, or for all. They stop on `cancel`, and return
    /// their jobs to the queue. Those for all also embed what imports left for later.
    pub fn start_workers(&self, task: Option<&TaskId>, cancel: &CancellationToken) -> TaskTracker {
        let tracker = TaskTracker::new();
        let config = &self.inner.config.workers;
        for _ in 0..config.count.max(1) {
            let worker = Worker {
                context: self.context(),
                queue: self.inner.store.clone(),
                wake: self.inner.wake.clone(),
                stops: self.inner.stops.clone(),
                config: WorkerConfig {
                    task: task.cloned(),
                    attended: task.is_some(),
                    lease: Duration::from_secs(config.lease_seconds.max(3)),
                    ..WorkerConfig::default()
                },
            };
            let cancel = cancel.child_token();
            tracker.spawn(async move { worker.run(cancel).await });
        }
        if task.is_none() {
            let (app, cancel) = (self.clone(), cancel.child_token());
            tracker.spawn(async move { app.embed_in_background(cancel).await });
        }
        let (store, cancel) = (self.inner.store.clone(), cancel.child_token());
        tracker.spawn(async move {
            while cancel.run_until_cancelled(tokio::time::sleep(RECLAIM_EVERY)).await.is_some() {
                if let Err(error) = store.reclaim_dead_workers().await {
                    tracing::warn!(%error, "could not check for jobs of dead processes");
                }
                if let Err(error) = store.expire_auth().await {
                    tracing::warn!(%error, "could not expire items of the auth queue");
                }
            }
        });
        tracker.close();
        tracker
    }

    /// The models with the active calibration, as the pipeline uses them.
    pub(super) fn calibrated(&self) -> Arc<CalibratedInference> {
        Arc::new(CalibratedInference {
            models: self.inner.inference.clone(),
            calibrations: self.inner.store.clone(),
        })
    }

    fn context(&self) -> Context {
        let app = self.clone();
        Context {
            store: self.inner.store.clone(),
            inference: self.calibrated(),
            llm: self.inner.llm.clone(),
            sources: Arc::new(move |config| sources_of(&app, config)),
            rules: Arc::new(self.web().rules()),
            pages: Arc::new(self.web().pages()),
            config: self.inner.config.research.clone(),
            search: self.inner.config.search.clone(),
            events: self.inner.events.clone(),
        }
    }
}
