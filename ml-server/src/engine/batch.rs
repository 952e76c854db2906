//! Which of the waiting inputs run together.

use super::queue::{Item, Queue};

/// Inputs that run together, and how many were dropped because their clients are gone.
pub struct Taken {
    /// Longest first.
    pub batch: Vec<Item>,
    /// Inputs of clients that went away.
    pub dropped: usize,
}

/// Takes the oldest items up to `budget` tokens (at least one item), longest first.
///
/// Strictly by age, so nothing starves. Lengths need not match: sequences are concatenated without padding. Longest
/// first lets the threads finish together. Items of disconnected clients are dropped here.
pub fn take(queue: &mut Queue, budget: usize) -> Taken {
    let mut batch: Vec<Item> = Vec::new();
    let (mut tokens, mut dropped) = (0, 0);
    while let Some(item) = queue.peek() {
        if item.reply.is_closed() {
            queue.pop();
            dropped += 1;
            continue;
        }
        if !batch.is_empty() && tokens + item.tokens.len() > budget {
            break;
        }
        tokens += item.tokens.len();
        batch.extend(queue.pop());
    }
    batch.sort_by_key(|item| std::cmp::Reverse(item.tokens.len()));
    Taken { batch, dropped }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
    use tracing::Span;

    use super::super::queue::Reply;
    use super::*;
    use crate::model::tokenizer::Tokens;

    fn queue(lengths: &[usize]) -> (Queue, Vec<UnboundedReceiver<Reply>>) {
        let mut queue = Queue::default();
        let receivers = lengths.iter().enumerate().map(|(index, &length)| {
            let (reply, receiver) = unbounded_channel();
            let tokens = Tokens { ids: vec![0; length], type_ids: vec![0; length], marks: Vec::new() };
            queue.push(Item { tokens, index, queued: Instant::now(), reply, span: Span::none() });
            receiver
        });
        let receivers = receivers.collect();
        (queue, receivers)
    }

    fn taken(queue: &mut Queue, budget: usize) -> Vec<usize> {
        take(queue, budget).batch.iter().map(|item| item.index).collect()
    }

    #[test]
    fn oldest_first_up_to_the_budget() {
        let (mut queue, _clients) = queue(&[10, 30, 20, 50, 5]);
        assert_eq!(queue.tokens(), 115);
        assert_eq!(taken(&mut queue, 60), [1, 2, 0]);
        assert_eq!(taken(&mut queue, 40), [3], "an item over the budget runs alone");
        assert_eq!(taken(&mut queue, 40), [4]);
        assert_eq!((taken(&mut queue, 40), queue.tokens()), (vec![], 0));
    }

    #[test]
    fn clients_that_went_away_are_dropped() {
        let (mut queue, mut clients) = queue(&[10, 10, 10]);
        clients.remove(0);
        clients.remove(1);
        let taken = take(&mut queue, 100);
        assert_eq!((taken.batch.len(), taken.batch[0].index, taken.dropped), (1, 1, 2));
        assert_eq!(queue.tokens(), 0);
    }
}
