//! A file that the worker does not open: its parent reads it, and hands over what the worker asks for.

use crate::Turns;
use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result, Seek, SeekFrom};

/// Bytes that are asked for first, and after each jump.
const FIRST: u64 = 64 << 10;
/// Bytes that are asked for at most; each further piece in a row is twice as large as the one before.
const MOST: u64 = 1 << 20;

/// The file, for its reader.
pub struct Handed<'t> {
    turns: &'t dyn Turns,
    ask: fn(u64, u64) -> Vec<u8>,
    bytes: u64,
    position: u64,
    piece: Vec<u8>,
    /// Where the piece begins.
    start: u64,
    next: u64,
}

impl<'t> Handed<'t> {
    /// A file of so many bytes. `ask` makes the message that asks for bytes from a position, and how many; what comes
    /// back are these bytes, fewer at the end of the file.
    pub fn new(turns: &'t dyn Turns, bytes: u64, ask: fn(u64, u64) -> Vec<u8>) -> Self {
        Self { turns, ask, bytes, position: 0, piece: Vec::new(), start: 0, next: FIRST }
    }

    /// What is there of the piece from the position on.
    fn rest(&self) -> &[u8] {
        let from = self.position.checked_sub(self.start).and_then(|from| usize::try_from(from).ok());
        from.and_then(|from| self.piece.get(from..)).unwrap_or_default()
    }
}

impl Read for Handed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        if self.rest().is_empty() && self.position < self.bytes && !buffer.is_empty() {
            let follows = self.position == self.start + self.piece.len() as u64;
            self.next = if follows && !self.piece.is_empty() { (self.next * 2).min(MOST) } else { FIRST };
            let length = self.next.min(self.bytes - self.position);
            self.piece = self.turns.turn(&(self.ask)(self.position, length))?;
            self.start = self.position;
        }
        let rest = self.rest();
        let read = rest.len().min(buffer.len());
        buffer[..read].copy_from_slice(&rest[..read]);
        self.position += read as u64;
        Ok(read)
    }
}

impl Seek for Handed<'_> {
    fn seek(&mut self, to: SeekFrom) -> Result<u64> {
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::End(by) => self.bytes.checked_add_signed(by),
            SeekFrom::Current(by) => self.position.checked_add_signed(by),
        };
        let outside = || Error::new(ErrorKind::InvalidInput, "a position before the beginning");
        self.position = position.ok_or_else(outside)?;
        Ok(self.position)
    }
}

/// What the parent hands over: these bytes of a file, no more than a worker ever asks for, and fewer at the file's end.
///
/// # Errors
/// When the file cannot be read there.
pub fn hand(mut file: &File, from: u64, bytes: u64) -> Result<Vec<u8>> {
    file.seek(SeekFrom::Start(from))?;
    let mut piece = Vec::with_capacity(bytes.min(MOST) as usize);
    file.take(bytes.min(MOST)).read_to_end(&mut piece)?;
    Ok(piece)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    /// A parent with these bytes, which notes what it was asked.
    struct Holder(Vec<u8>, RefCell<Vec<(u64, u64)>>);

    impl Turns for Holder {
        fn turn(&self, asked: &[u8]) -> Result<Vec<u8>> {
            let number = |at: usize| u64::from_le_bytes(asked[at..at + 8].try_into().unwrap());
            let (from, length) = (number(0), number(8));
            self.1.borrow_mut().push((from, length));
            Ok(self.0[from as usize..(from + length) as usize].to_vec())
        }

        fn is_over(&self) -> bool {
            false
        }
    }

    fn ask(from: u64, length: u64) -> Vec<u8> {
        [from.to_le_bytes(), length.to_le_bytes()].concat()
    }

    #[test]
    fn a_file_is_read_from_anywhere_in_pieces_that_grow() {
        let content: Vec<u8> = (0..3_000_000_u32).map(|n| (n % 251) as u8).collect();
        let holder = Holder(content.clone(), RefCell::default());
        let mut handed = Handed::new(&holder, content.len() as u64, ask);
        let mut read = Vec::new();
        handed.read_to_end(&mut read).unwrap();
        assert!(read == content);
        let lengths: Vec<u64> = holder.1.take().into_iter().map(|(_, length)| length).collect();
        assert_eq!(lengths[..5], [64 << 10, 128 << 10, 256 << 10, 512 << 10, 1 << 20]);
        let mut four = [0; 4];
        for at in [2_999_996, 7, 9, 2_000_000] {
            handed.seek(SeekFrom::Start(at)).unwrap();
            handed.read_exact(&mut four).unwrap();
            assert_eq!(four, content[at as usize..at as usize + 4]);
        }
        assert_eq!(
            holder.1.take(),
            [(7, 64 << 10), (2_000_000, 64 << 10)],
            "what is at hand is not asked for"
        );
        handed.seek(SeekFrom::End(-4)).unwrap();
        assert_eq!(handed.read(&mut [0; 9]).unwrap(), 4);
        assert_eq!(handed.read(&mut [0; 9]).unwrap(), 0);
        assert!(handed.seek(SeekFrom::Current(-4_000_000)).is_err());
    }
}
