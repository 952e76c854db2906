//! Resource limits of a guarded statement.

use super::GuardOptions;
use crate::sqlite;
use libsqlite3_sys as ffi;
use sqlx::sqlite::LockedSqliteHandle;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Steps of the virtual machine between two checks of the clock.
pub(super) const STEPS_PER_CALL: i32 = 500;

/// Memory that a statement may add to SQLite's usage, in bytes.
const MAX_MEMORY: i64 = 256 << 20;

/// Longest value in bytes. The texts of pages are stored shorter; functions that search text in text stay fast.
const MAX_LENGTH: i32 = 500_000;

/// Longest statement in bytes.
pub(super) const MAX_SQL: u16 = 20_000;

/// Lowers the connection's limits.
pub(super) fn lower(handle: &mut LockedSqliteHandle<'_>) {
    for (limit, value) in [
        (ffi::SQLITE_LIMIT_LENGTH, MAX_LENGTH),
        // It is once prefixed with `EXPLAIN `.
        (ffi::SQLITE_LIMIT_SQL_LENGTH, MAX_SQL as i32 + 16),
        (ffi::SQLITE_LIMIT_COLUMN, 100),
        (ffi::SQLITE_LIMIT_EXPR_DEPTH, 100),
        (ffi::SQLITE_LIMIT_COMPOUND_SELECT, 20),
        (ffi::SQLITE_LIMIT_VDBE_OP, 25_000),
        (ffi::SQLITE_LIMIT_FUNCTION_ARG, 50),
        (ffi::SQLITE_LIMIT_ATTACHED, 0),
        (ffi::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 500),
        (ffi::SQLITE_LIMIT_VARIABLE_NUMBER, 50),
        (ffi::SQLITE_LIMIT_TRIGGER_DEPTH, 1),
        (ffi::SQLITE_LIMIT_WORKER_THREADS, 0),
    ] {
        sqlite::set_limit(handle, limit, value);
    }
}

/// The limit that a statement hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exceeded {
    Time,
    Steps,
    Memory,
}

/// The remaining allowance of a statement; checked every [`STEPS_PER_CALL`] steps.
pub(super) struct Budget {
    deadline: Option<Instant>,
    timeout: Duration,
    steps_left: u64,
    memory: i64,
    exceeded: Arc<Mutex<Option<Exceeded>>>,
}

impl Budget {
    pub(super) fn new(options: &GuardOptions, exceeded: Arc<Mutex<Option<Exceeded>>>) -> Self {
        Self {
            deadline: None,
            timeout: Duration::from_millis(options.timeout_ms),
            steps_left: options.max_vm_steps,
            memory: sqlite::memory_used() + MAX_MEMORY,
            exceeded,
        }
    }

    /// Whether the statement may continue.
    pub(super) fn goes_on(&mut self) -> bool {
        // The clock starts with the first steps, not while the connection was being opened.
        let deadline = *self.deadline.get_or_insert_with(|| Instant::now() + self.timeout);
        self.steps_left = self.steps_left.saturating_sub(STEPS_PER_CALL as u64);
        let exceeded = if Instant::now() >= deadline {
            Exceeded::Time
        } else if self.steps_left == 0 {
            Exceeded::Steps
        } else if sqlite::memory_used() > self.memory {
            Exceeded::Memory
        } else {
            return true;
        };
        self.exceeded.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(exceeded);
        false
    }
}
