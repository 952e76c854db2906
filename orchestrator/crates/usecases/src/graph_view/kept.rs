//! Graphs and views that are kept until the store changes.

use super::rows::Drawn;
use lyra_domain::TaskId;
use lyra_graph::Wanted;
use lyra_wire::GraphView;
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::sync::{Mutex, MutexGuard};

/// Tasks whose graphs are kept.
const GRAPHS: usize = 2;
/// Views that are kept.
const VIEWS: usize = 8;

/// What is kept. The lock is held while a graph is computed, so that one is laid out at a time.
#[derive(Default)]
pub(crate) struct Graphs(Mutex<Kept>);

impl Graphs {
    pub(super) async fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().await
    }
}

/// All of one stamp of the store, the newest last.
#[derive(Default)]
pub(super) struct Kept {
    stamp: i64,
    graphs: VecDeque<(TaskId, Arc<Drawn>)>,
    views: VecDeque<(TaskId, Wanted, Arc<GraphView>)>,
}

impl Kept {
    /// Forgets what was read before the store had this stamp.
    pub(super) fn forget_before(&mut self, stamp: i64) {
        if self.stamp != stamp {
            *self = Self { stamp, ..Self::default() };
        }
    }

    pub(super) fn graph(&self, task: &TaskId) -> Option<Arc<Drawn>> {
        self.graphs.iter().find(|(known, _)| known == task).map(|(_, drawn)| Arc::clone(drawn))
    }

    pub(super) fn view(&self, task: &TaskId, wanted: &Wanted) -> Option<Arc<GraphView>> {
        let found = self.views.iter().find(|(known, of, _)| known == task && of == wanted);
        found.map(|(.., view)| Arc::clone(view))
    }

    pub(super) fn keep_graph(&mut self, task: &TaskId, drawn: &Arc<Drawn>) {
        self.graphs.push_back((task.clone(), Arc::clone(drawn)));
        if self.graphs.len() > GRAPHS {
            self.graphs.pop_front();
        }
    }

    pub(super) fn keep_view(&mut self, task: &TaskId, wanted: Wanted, view: &Arc<GraphView>) {
        self.views.push_back((task.clone(), wanted, Arc::clone(view)));
        if self.views.len() > VIEWS {
            self.views.pop_front();
        }
    }
}
