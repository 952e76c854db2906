//! Bytes as characters: base64, base32, base85, hexadecimal digits and bits, in one word, in lines, or in groups.

use super::{Candidate, MAX_CANDIDATES, MAX_CHARS, is_readable, runs};
use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// Characters of a word before it is decoded: shorter ones cannot hold an instruction.
const MIN_WORD: usize = 24;
/// Characters of a line that is one of several.
const MIN_LINE: usize = 8;
/// Groups of digits.
const MIN_GROUPS: usize = 12;

const CONFIG: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, CONFIG);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, CONFIG);

/// The characters of base85 as Git and Python have it.
const BASE_85: &[u8] =
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";

pub(super) fn candidates(chars: &[char], words: &[(usize, usize)]) -> Vec<Candidate> {
    let mut found = in_words(chars);
    found.extend(dense_words(chars, words));
    found.extend(lines(chars, words));
    found.extend(groups(chars, words));
    found
}

fn candidate(start: usize, end: usize, texts: Vec<String>) -> Option<Candidate> {
    (!texts.is_empty()).then_some(Candidate { start, end, texts })
}

/// Runs of letters and digits, which may stand between other characters.
fn in_words(chars: &[char]) -> Vec<Candidate> {
    let (mut found, mut start, mut runs) = (Vec::new(), 0, 0);
    while start < chars.len() && runs < MAX_CANDIDATES {
        if !is_code(chars[start]) {
            start += 1;
            continue;
        }
        let end = start + chars[start..].iter().take_while(|c| is_code(**c)).count();
        if end - start >= MIN_WORD {
            runs += 1;
            let run: String = chars[start..end.min(start + MAX_CHARS)].iter().collect();
            found.extend(candidate(start, end, decoded(&run)));
        }
        start = end;
    }
    found
}

/// Words of base85, which has all kinds of characters.
fn dense_words(chars: &[char], words: &[(usize, usize)]) -> Vec<Candidate> {
    let long = words.iter().filter(|(start, end)| end - start >= MIN_WORD);
    let dense = long.filter(|(start, end)| !chars[*start..*end].iter().all(|c| is_code(*c)));
    let found = dense.take(MAX_CANDIDATES).filter_map(|&(start, end)| {
        let word: String = chars[start..end.min(start + MAX_CHARS)].iter().collect();
        if !word.is_ascii() {
            return None;
        }
        let adobe = word.strip_prefix("<~").unwrap_or(&word);
        let adobe = adobe.strip_suffix("~>").unwrap_or(adobe);
        let bytes = [
            base_85(&word, |c| BASE_85.iter().position(|known| *known == c).map(|digit| digit as u32)),
            base_85(adobe, |c| (b'!'..=b'u').contains(&c).then(|| u32::from(c - b'!'))),
        ];
        candidate(start, end, readable(bytes.into_iter().flatten()))
    });
    found.collect()
}

/// Lines of the same length, as programs break what they encode.
fn lines(chars: &[char], words: &[(usize, usize)]) -> Vec<Candidate> {
    let code = |word: &(usize, usize)| {
        word.1 - word.0 >= MIN_LINE && chars[word.0..word.1].iter().all(|c| is_code(*c))
    };
    let mut found = Vec::new();
    // The last line may be shorter than any other word of code.
    for run in runs(words, 2, |word| chars[word.0..word.1].iter().all(|c| is_code(*c))) {
        let mut rest = run;
        while let [first, after @ ..] = rest {
            let length = first.1 - first.0;
            let same = after.iter().take_while(|line| line.1 - line.0 == length).count();
            let last = usize::from(after.get(same).is_some_and(|line| line.1 - line.0 < length));
            if code(first) && same + last > 0 && found.len() < MAX_CANDIDATES {
                let lines = &rest[..=same + last];
                let joined = lines.iter().flat_map(|(start, end)| &chars[*start..*end]).take(MAX_CHARS);
                let end = lines.last().map_or(first.1, |line| line.1);
                found.extend(candidate(first.0, end, decoded(&joined.collect::<String>())));
            }
            rest = &after[same..];
        }
    }
    found
}

/// `49 67 6e`, `0x49, 0x67`, `01001001 01100111`.
fn groups(chars: &[char], words: &[(usize, usize)]) -> Vec<Candidate> {
    let digits = |word: &(usize, usize)| -> Option<(u32, String)> {
        let word: String = chars[word.0..word.1.min(word.0 + 12)].iter().collect();
        let word = word.trim_end_matches([',', ';', ':']);
        let bits = matches!(word.len(), 7 | 8) && word.bytes().all(|c| matches!(c, b'0' | b'1'));
        let word = word.strip_prefix("0x").or_else(|| word.strip_prefix("\\x")).unwrap_or(word);
        let hex = word.len() == 2 && word.bytes().all(|c| c.is_ascii_hexdigit());
        (bits || hex).then(|| (if bits { 2 } else { 16 }, word.to_owned()))
    };
    let found = runs(words, MIN_GROUPS, |word| digits(word).is_some()).filter_map(|run| {
        let groups = run.iter().take(MAX_CHARS).filter_map(digits);
        let bytes = groups.filter_map(|(base, digits)| u8::from_str_radix(&digits, base).ok()).collect();
        let (start, end) = (run.first()?.0, run.last()?.1);
        candidate(start, end, readable(std::iter::once(bytes)))
    });
    found.collect()
}

fn is_code(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '-' | '_' | '=')
}

/// The texts that a word of letters and digits may stand for.
fn decoded(word: &str) -> Vec<String> {
    let digits = |base| word.chars().map(|c| c.to_digit(base).map(|d| d as u8)).collect::<Option<Vec<u8>>>();
    let packed = |digits: Option<Vec<u8>>, base: u8, size: usize| {
        let value = |group: &[u8]| group.iter().fold(0_u8, |sum, d| sum.wrapping_mul(base).wrapping_add(*d));
        digits.map(|digits| digits.chunks_exact(size).map(value).collect::<Vec<u8>>())
    };
    let bytes = [
        STANDARD.decode(word).ok(),
        URL_SAFE.decode(word).ok(),
        packed(digits(2), 2, 8),
        packed(digits(16), 16, 2),
        base_32(word),
    ];
    readable(bytes.into_iter().flatten())
}

/// Those bytes that are text: in UTF-8, or in UTF-16 in either order.
fn readable(bytes: impl Iterator<Item = Vec<u8>>) -> Vec<String> {
    let text = |bytes: Vec<u8>| {
        let wide = |from: fn([u8; 2]) -> u16| {
            let units: Vec<u16> = bytes.chunks_exact(2).map(|pair| from([pair[0], pair[1]])).collect();
            String::from_utf16(&units).ok().map(|text| text.trim_start_matches('\u{FEFF}').to_owned())
        };
        let zeros = |from: usize, step: usize| {
            bytes.iter().skip(from).step_by(step).map(|byte| usize::from(*byte == 0)).sum::<usize>()
        };
        let (all, odd) = (zeros(0, 1), zeros(1, 2));
        if all * 3 >= bytes.len() {
            wide(if odd * 2 >= all { u16::from_le_bytes } else { u16::from_be_bytes })
        } else {
            String::from_utf8(bytes).ok()
        }
    };
    bytes.filter_map(text).filter(|text| is_readable(text)).collect()
}

fn base_32(word: &str) -> Option<Vec<u8>> {
    let (mut bytes, mut bits, mut held) = (Vec::new(), 0_u32, 0);
    for c in word.trim_end_matches('=').bytes() {
        let digit = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a',
            b'2'..=b'7' => c - b'2' + 26,
            _ => return None,
        };
        bits = bits << 5 | u32::from(digit);
        held += 5;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
            bits &= (1 << held) - 1;
        }
    }
    Some(bytes)
}

/// Five characters for four bytes.
fn base_85(word: &str, digit: impl Fn(u8) -> Option<u32>) -> Option<Vec<u8>> {
    let digits: Vec<u32> = word.bytes().map(digit).collect::<Option<_>>()?;
    let mut bytes = Vec::with_capacity(digits.len() * 4 / 5 + 4);
    for group in digits.chunks(5) {
        let padded = (0..5).map(|i| group.get(i).copied().unwrap_or(84));
        let value = padded.into_iter().try_fold(0_u32, |sum, d| sum.checked_mul(85)?.checked_add(d))?;
        bytes.extend(&value.to_be_bytes()[..group.len() - 1]);
    }
    Some(bytes)
}
