//! Inputs that wait for the device, oldest first.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedSender;
use tracing::Span;

use crate::model::tokenizer::Tokens;

/// One input of one request.
pub struct Item {
    /// What to run.
    pub tokens: Tokens,
    /// Place in its request.
    pub index: usize,
    /// When it was queued.
    pub queued: Instant,
    /// The reply channel; closed once the client has disconnected.
    pub reply: UnboundedSender<Reply>,
    /// The request, for the log.
    pub span: Span,
}

/// The answer to one [`Item`].
pub struct Reply {
    /// Place in its request.
    pub index: usize,
    /// Pooled vector or logits, or why they are missing.
    pub row: Result<Vec<f32>, String>,
    /// How long the item waited.
    pub waited: Duration,
    /// Number of the batch that it ran in.
    pub batch: u64,
    /// How long that batch ran.
    pub ran: Duration,
}

/// The inputs waiting for one model.
#[derive(Default)]
pub struct Queue {
    items: VecDeque<Item>,
    tokens: usize,
}

impl Queue {
    /// Inputs waiting.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether no input waits.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Tokens waiting.
    pub fn tokens(&self) -> usize {
        self.tokens
    }

    /// When the oldest item was queued.
    pub fn oldest(&self) -> Option<Instant> {
        self.items.front().map(|item| item.queued)
    }

    /// Appends an item.
    pub fn push(&mut self, item: Item) {
        self.tokens += item.tokens.len();
        self.items.push_back(item);
    }

    /// Removes everything; waiting clients get no answer.
    pub fn clear(&mut self) -> usize {
        self.tokens = 0;
        self.items.drain(..).count()
    }

    /// Looks at the oldest item.
    pub fn peek(&self) -> Option<&Item> {
        self.items.front()
    }

    /// Removes the oldest item.
    pub fn pop(&mut self) -> Option<Item> {
        let item = self.items.pop_front()?;
        self.tokens -= item.tokens.len();
        Some(item)
    }
}
