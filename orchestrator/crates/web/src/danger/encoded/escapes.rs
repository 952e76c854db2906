//! Characters that are written by their numbers: `%49`, `\u0049`, `&#73;`.

use super::{Candidate, MAX_CANDIDATES, MAX_CHARS};

/// Words without an escape that may stand between two with one.
const GAP: usize = 4;
/// Words before the first and after the last that belong to the sentence.
const AROUND: usize = 12;

pub(super) fn candidates(chars: &[char], words: &[(usize, usize)]) -> Vec<Candidate> {
    let escaped: Vec<usize> = (0..words.len())
        .filter(|word| {
            let (start, end) = words[*word];
            (start..end).any(|at| escape(&chars[at..end]).is_some())
        })
        .collect();
    let near = escaped.chunk_by(|one, next| next - one <= GAP);
    let found = near.take(MAX_CANDIDATES).filter_map(|run| {
        let first = run.first()?.saturating_sub(AROUND);
        let last = (run.last()? + AROUND).min(words.len() - 1);
        let (start, end) = (words[first].0, words[last].1);
        let raw = &chars[start..end.min(start + MAX_CHARS)];
        let place = (words[*run.first()?].0, words[*run.last()?].1);
        Some(Candidate { start: place.0, end: place.1, texts: vec![decoded(raw)] })
    });
    found.collect()
}

fn decoded(chars: &[char]) -> String {
    let (mut bytes, mut at) = (Vec::with_capacity(chars.len()), 0);
    while at < chars.len() {
        if let Some((length, character)) = escape(&chars[at..]) {
            match character {
                Escaped::Byte(byte) => bytes.push(byte),
                Escaped::Char(c) => bytes.extend(c.encode_utf8(&mut [0; 4]).as_bytes()),
            }
            at += length;
        } else {
            bytes.extend(chars[at].encode_utf8(&mut [0; 4]).as_bytes());
            at += 1;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

enum Escaped {
    Byte(u8),
    Char(char),
}

/// The escape that the characters begin with, and its length.
fn escape(chars: &[char]) -> Option<(usize, Escaped)> {
    let number = |from: usize, length: usize, base: u32| -> Option<u32> {
        let digits: String = chars.get(from..from + length)?.iter().collect();
        digits.chars().all(|c| c.is_digit(base)).then(|| u32::from_str_radix(&digits, base).ok())?
    };
    let character = |length: usize, number: u32| char::from_u32(number).map(|c| (length, Escaped::Char(c)));
    // As far as digits go, up to a mark that has to come.
    let ended = |from: usize, base: u32, mark: char| -> Option<(usize, u32)> {
        let length = chars[from..].iter().take(9).take_while(|c| c.is_digit(base)).count();
        (chars.get(from + length) == Some(&mark)).then_some(())?;
        Some((from + length + 1, number(from, length, base)?))
    };
    match chars {
        ['%', ..] => Some((3, Escaped::Byte(number(1, 2, 16)? as u8))),
        ['\\', 'x', ..] => Some((4, Escaped::Byte(number(2, 2, 16)? as u8))),
        ['\\', 'u', '{', ..] => ended(3, 16, '}').and_then(|(length, found)| character(length, found)),
        ['\\', 'u', ..] => character(6, number(2, 4, 16)?),
        ['\\', 'U', ..] => character(10, number(2, 8, 16)?),
        ['&', '#', 'x' | 'X', ..] => ended(3, 16, ';').and_then(|(length, found)| character(length, found)),
        ['&', '#', ..] => ended(2, 10, ';').and_then(|(length, found)| character(length, found)),
        _ => None,
    }
}
