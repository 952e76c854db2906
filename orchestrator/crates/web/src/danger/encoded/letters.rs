//! Substituted letters: Morse, ROT13, and reversed text.

use super::{Candidate, MAX_CANDIDATES, MAX_CHARS, runs};

/// Signs of Morse in a row.
const MIN_SIGNS: usize = 16;
/// Words around a telltale word that belong to the sentence.
const AROUND: usize = 12;
/// Words of instructions: without one of them there is nothing to decode.
const TELLTALE: [&str; 8] =
    ["ignore", "disregard", "forget", "instruction", "prompt", "system", "override", "reveal"];

const MORSE: [(&str, char); 36] = [
    (".-", 'a'),
    ("-...", 'b'),
    ("-.-.", 'c'),
    ("-..", 'd'),
    (".", 'e'),
    ("..-.", 'f'),
    ("--.", 'g'),
    ("....", 'h'),
    ("..", 'i'),
    (".---", 'j'),
    ("-.-", 'k'),
    (".-..", 'l'),
    ("--", 'm'),
    ("-.", 'n'),
    ("---", 'o'),
    (".--.", 'p'),
    ("--.-", 'q'),
    (".-.", 'r'),
    ("...", 's'),
    ("-", 't'),
    ("..-", 'u'),
    ("...-", 'v'),
    (".--", 'w'),
    ("-..-", 'x'),
    ("-.--", 'y'),
    ("--..", 'z'),
    ("-----", '0'),
    (".----", '1'),
    ("..---", '2'),
    ("...--", '3'),
    ("....-", '4'),
    (".....", '5'),
    ("-....", '6'),
    ("--...", '7'),
    ("---..", '8'),
    ("----.", '9'),
];

pub(super) fn candidates(chars: &[char], words: &[(usize, usize)]) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = morse(chars, words).collect();
    let turned = |c: char| match c {
        'a'..='m' | 'A'..='M' => (c as u8 + 13) as char,
        'n'..='z' | 'N'..='Z' => (c as u8 - 13) as char,
        _ => c,
    };
    found.extend(disguised(chars, words, |text| text.iter().map(|c| turned(*c)).collect()));
    found.extend(disguised(chars, words, |text| text.iter().rev().collect()));
    found
}

/// `.. --. -. / .- .-.. .-..`: words end at a bar or a slash, or where there is more than one space.
fn morse<'a>(chars: &'a [char], words: &'a [(usize, usize)]) -> impl Iterator<Item = Candidate> + 'a {
    let signs = |word: &(usize, usize)| {
        word.1 - word.0 <= 7 && chars[word.0..word.1].iter().all(|c| ".-·•–−_/|".contains(*c))
    };
    runs(words, MIN_SIGNS, signs).filter_map(|run| {
        let mut text = String::new();
        let mut end = None;
        for &(from, to) in run.iter().take(MAX_CHARS) {
            if end.is_some_and(|end| from - end > 1) {
                text.push(' ');
            }
            end = Some(to);
            let sign: String = chars[from..to]
                .iter()
                .map(|c| {
                    if "·•".contains(*c) {
                        '.'
                    } else if "–−_".contains(*c) {
                        '-'
                    } else {
                        *c
                    }
                })
                .collect();
            let known = MORSE.iter().find(|(code, _)| *code == sign);
            text.push(known.map_or(' ', |(_, letter)| *letter));
        }
        Some(Candidate { start: run.first()?.0, end: run.last()?.1, texts: vec![text] })
    })
}

/// Sentences with a word that, read in this way, is one of instructions.
fn disguised(chars: &[char], words: &[(usize, usize)], read: impl Fn(&[char]) -> String) -> Vec<Candidate> {
    let tells: Vec<usize> = (0..words.len())
        .filter(|word| {
            let (start, end) = words[*word];
            let word = read(&chars[start..end.min(start + 64)]).to_ascii_lowercase();
            TELLTALE.iter().any(|telltale| word.contains(telltale))
        })
        .collect();
    let near = tells.chunk_by(|one, next| next - one <= AROUND);
    let found = near.take(MAX_CANDIDATES).filter_map(|run| {
        let first = run.first()?.saturating_sub(AROUND);
        let last = (run.last()? + AROUND).min(words.len() - 1);
        let (start, end) = (words[first].0, words[last].1);
        let text = read(&chars[start..end.min(start + MAX_CHARS)]);
        Some(Candidate { start: words[*run.first()?].0, end: words[*run.last()?].1, texts: vec![text] })
    });
    found.collect()
}
