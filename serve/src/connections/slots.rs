//! Slots: one per open connection, and which connection to close when all are taken.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// Grace period before an idle connection can lose its slot: a client that has just connected or been answered needs a
/// moment to send a request.
const GRACE: Duration = Duration::from_secs(1);

/// All slots of a server.
#[derive(Debug, Clone)]
pub(super) struct Slots {
    free: Arc<Semaphore>,
    open: Arc<Mutex<Open>>,
}

#[derive(Debug, Default)]
struct Open {
    next: u64,
    connections: HashMap<u64, Connection>,
}

#[derive(Debug)]
struct Connection {
    /// Requests in progress; HTTP/1.1 has one at a time.
    answering: usize,
    /// Since when no request has been in progress.
    silent_since: Instant,
    close: CancellationToken,
}

impl Slots {
    pub(super) fn new(most: usize) -> Self {
        Self { free: Arc::new(Semaphore::new(most.clamp(1, Semaphore::MAX_PERMITS))), open: Arc::default() }
    }

    /// Waits for a free slot. While all are taken, it closes the connection that has been idle longest.
    pub(super) async fn take(&self) -> Slot {
        let mut freed = std::pin::pin!(Arc::clone(&self.free).acquire_owned());
        let permit = loop {
            let wait = if self.free.available_permits() == 0 { self.close_one() } else { GRACE };
            if let Ok(permit) = tokio::time::timeout(wait, &mut freed).await {
                break permit.ok();
            }
        };
        let mut open = self.lock();
        let (id, close) = (open.next, CancellationToken::new());
        open.next += 1;
        let connection = Connection { answering: 0, silent_since: Instant::now(), close: close.clone() };
        open.connections.insert(id, connection);
        drop(open);
        Slot { id, close, slots: self.clone(), _permit: permit }
    }

    /// Closes the connection that has been idle longest, if the grace period is over. Returns how long to wait before
    /// the next attempt.
    pub(super) fn close_one(&self) -> Duration {
        let open = self.lock();
        let silent =
            open.connections.values().filter(|open| open.answering == 0 && !open.close.is_cancelled());
        let Some(longest) = silent.min_by_key(|open| open.silent_since) else { return GRACE };
        let left = GRACE.saturating_sub(longest.silent_since.elapsed());
        if left.is_zero() {
            longest.close.cancel();
            return GRACE;
        }
        left
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The slot of one connection, free again when it is dropped.
#[derive(Debug)]
pub(super) struct Slot {
    id: u64,
    close: CancellationToken,
    slots: Slots,
    /// Never `None`: the semaphore is not closed.
    _permit: Option<OwnedSemaphorePermit>,
}

impl Slot {
    /// Marks the connection as busy until the returned guard is dropped.
    pub(super) fn answering(slot: &Arc<Self>) -> Answering {
        slot.change(|connection| connection.answering += 1);
        Answering(Arc::clone(slot))
    }

    /// Returns when the connection must make room for another.
    pub(super) async fn closed(&self) {
        self.close.cancelled().await;
    }

    fn change(&self, how: impl FnOnce(&mut Connection)) {
        if let Some(connection) = self.slots.lock().connections.get_mut(&self.id) {
            how(connection);
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.slots.lock().connections.remove(&self.id);
    }
}

/// A request in progress.
#[derive(Debug)]
pub(super) struct Answering(Arc<Slot>);

impl Answering {
    /// There is no slot left for another connection.
    pub(super) fn is_full(&self) -> bool {
        self.0.slots.free.available_permits() == 0
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.change(|connection| {
            connection.answering -= 1;
            connection.silent_since = Instant::now();
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_slot_goes_to_the_newcomer_and_never_from_one_with_a_request_in_work() {
        let slots = Slots::new(2);
        let (busy, silent) = (Arc::new(slots.take().await), slots.take().await);
        let answering = Slot::answering(&busy);
        slots.lock().connections.values_mut().for_each(|open| {
            open.silent_since = open.silent_since.checked_sub(GRACE).expect("a clock that runs");
        });
        let newcomer = slots.take();
        let mut newcomer = std::pin::pin!(newcomer);
        tokio::select! {
            _ = &mut newcomer => panic!("no slot is free"),
            () = silent.closed() => {}
        }
        drop(silent);
        let newcomer = newcomer.await;
        assert!(!busy.close.is_cancelled());
        assert!(answering.is_full());
        // A newcomer has its time of grace.
        assert!(slots.close_one() > Duration::ZERO);
        assert!(!newcomer.close.is_cancelled());
    }
}
