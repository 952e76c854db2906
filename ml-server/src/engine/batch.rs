//! Which of the waiting inputs run together.

use super::queue::{Item, Queue};

/// Takes the oldest items up to `budget` tokens (at least one item), longest first.
///
/// Strictly by age, so nothing can be overtaken for ever. Lengths need not match: sequences lie end to end without
/// padding. Longest first lets the threads finish together. Items whose client has gone away are dropped here.
pub fn take(queue: &mut Queue, budget: usize) -> Vec<Item> {
    let mut batch: Vec<Item> = Vec::new();
    let mut tokens = 0;
    while let Some(item) = queue.peek() {
        if item.reply.is_closed() {
            queue.pop();
            continue;
        }
        if !batch.is_empty() && tokens + item.tokens.len() > budget {
            break;
        }
        tokens += item.tokens.len();
        batch.extend(queue.pop());
    }
    batch.sort_by_key(|item| std::cmp::Reverse(item.tokens.len()));
    batch
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

    use super::super::queue::Reply;
    use super::*;
    use crate::model::tokenizer::Tokens;

    fn queue(lengths: &[usize]) -> (Queue, Vec<UnboundedReceiver<Reply>>) {
        let mut queue = Queue::default();
        let receivers = lengths.iter().enumerate().map(|(index, &length)| {
            let (reply, receiver) = unbounded_channel();
            let tokens = Tokens { ids: vec![0; length], type_ids: vec![0; length] };
            queue.push(Item { tokens, index, queued: Instant::now(), reply });
            receiver
        });
        let receivers = receivers.collect();
        (queue, receivers)
    }

    fn taken(queue: &mut Queue, budget: usize) -> Vec<usize> {
        take(queue, budget).iter().map(|item| item.index).collect()
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
        assert_eq!(taken(&mut queue, 100), [1]);
        assert_eq!(queue.tokens(), 0);
    }
}
