//! Steps of tasks, forwarded to who watches them in this process.

use crate::App;
use lyra_research::Progress;
use lyra_research::ports::{Event, Subscriber};
use tokio::sync::broadcast;

/// Steps buffered for a slow listener before it misses some.
const BACKLOG: usize = 256;

/// Forwards the steps of tasks from the bus to listeners.
pub(crate) struct Steps(broadcast::Sender<Progress>);

impl Default for Steps {
    fn default() -> Self {
        Self(broadcast::channel(BACKLOG).0)
    }
}

impl Subscriber for Steps {
    fn receive(&self, event: &Event) {
        if let Event::Stepped(progress) = event {
            // It is fine if nothing listens.
            let _ = self.0.send(progress.clone());
        }
    }
}

impl App {
    /// Steps of running tasks as they happen in this process. A listener that falls far behind misses the oldest.
    pub fn progress(&self) -> broadcast::Receiver<Progress> {
        self.inner.steps.0.subscribe()
    }
}
