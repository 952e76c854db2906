//! The journals of a database: pages that stand somewhere else than in the database itself.

use super::{Lengths, MAX_PAGES, Pages, Result, number};
use std::collections::HashMap;
use std::io::{Read, Seek};

/// What a rollback journal begins with while it is in use.
const JOURNAL: [u8; 8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7];
/// What a write-ahead log begins with; with the last bit, its checksums read numbers with the highest byte first.
const LOG: u64 = 0x377F_0682;

impl<R: Read + Seek> Pages<R> {
    /// Takes pages that a transaction is changing as they were before it.
    pub(super) fn roll_back(&mut self, lengths: Lengths) -> Result<()> {
        let (start, end) = (lengths.database, lengths.database.saturating_add(lengths.journal));
        let entry = self.size as u64 + 8;
        let mut at = start;
        // Each part of the journal has a head of its own.
        while at.saturating_add(28) <= end {
            let head = self.bytes(at, 28)?;
            let numbers = [8, 12, 16, 20, 24].map(|at| number::<4>(&head, at).unwrap_or_default());
            let [count, nonce, pages_before, sector, size] = numbers;
            let fits = size == self.size as u64 && (32..=65_536).contains(&sector);
            if !head.starts_with(&JOURNAL) || !fits {
                break;
            }
            if at == start {
                self.count = pages_before;
            }
            at += sector;
            let room = end.saturating_sub(at) / entry;
            let count = if count == u64::from(u32::MAX) { room } else { count };
            for _ in 0..count.min(room) {
                let saved = self.bytes(at, entry as usize)?;
                let content = &saved[4..saved.len() - 4];
                let sum = (1..)
                    .map(|nth| content.len().checked_sub(200 * nth))
                    .map_while(|at| at.filter(|at| *at > 0));
                let sum = sum.fold(nonce as u32, |sum, at| sum.wrapping_add(u32::from(content[at])));
                if number::<4>(&saved, saved.len() - 4) != Some(u64::from(sum)) {
                    return Ok(());
                }
                let page = number::<4>(&saved, 0).unwrap_or_default() as u32;
                self.moved.entry(page).or_insert(at + 4);
                at += entry;
            }
            at = start + (at - start).next_multiple_of(sector);
        }
        Ok(())
    }

    /// Takes pages that were committed to the write-ahead log from there.
    pub(super) fn take_log(&mut self, lengths: Lengths) -> Result<()> {
        let start = lengths.database.saturating_add(lengths.journal);
        let end = start.saturating_add(lengths.log);
        if start.saturating_add(32) > end {
            return Ok(());
        }
        let head = self.bytes(start, 32)?;
        let magic = number::<4>(&head, 0).unwrap_or_default();
        let salts = head[16..24].to_vec();
        let size = number::<4>(&head, 8);
        if magic & !1 != LOG || size != Some(self.size as u64) {
            return Ok(());
        }
        let sums = Sums { highest_first: magic & 1 == 1 };
        let mut sum = sums.add((0, 0), &head[..24]);
        if !Sums::are(sum, &head[24..32]) {
            return Ok(());
        }
        let frame = 24 + self.size as u64;
        let mut waiting: HashMap<u32, u64> = HashMap::new();
        let mut at = start + 32;
        while at.saturating_add(frame) <= end && waiting.len() as u64 <= MAX_PAGES {
            let bytes = self.bytes(at, frame as usize)?;
            sum = sums.add(sums.add(sum, &bytes[..8]), &bytes[24..]);
            if bytes[8..16] != salts[..] || !Sums::are(sum, &bytes[16..24]) {
                break;
            }
            waiting.insert(number::<4>(&bytes, 0).unwrap_or_default() as u32, at + 24);
            // The frame that ends a transaction says how many pages there are then.
            if let Some(count @ 1..) = number::<4>(&bytes, 4) {
                self.moved.extend(waiting.drain());
                self.count = count;
            }
            at += frame;
        }
        Ok(())
    }
}

/// Checksums of a write-ahead log.
struct Sums {
    highest_first: bool,
}

impl Sums {
    fn add(&self, (mut a, mut b): (u32, u32), bytes: &[u8]) -> (u32, u32) {
        for eight in bytes.chunks_exact(8) {
            let word = |at: usize| {
                let four = [eight[at], eight[at + 1], eight[at + 2], eight[at + 3]];
                if self.highest_first { u32::from_be_bytes(four) } else { u32::from_le_bytes(four) }
            };
            a = a.wrapping_add(word(0)).wrapping_add(b);
            b = b.wrapping_add(word(4)).wrapping_add(a);
        }
        (a, b)
    }

    fn are((a, b): (u32, u32), written: &[u8]) -> bool {
        written.len() == 8 && [a.to_be_bytes(), b.to_be_bytes()].concat() == written
    }
}
