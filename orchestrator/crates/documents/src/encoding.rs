//! Bytes to text: byte order mark, UTF-8, the file's own declaration, then the bytes themselves.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// Bytes at the beginning in which XML declares its encoding.
const DECLARATION: usize = 256;

/// The text of a file without a declaration of its own.
pub(crate) fn decode(bytes: &[u8]) -> String {
    decode_as(bytes, None)
}

/// The text of XML.
pub(crate) fn decode_xml(bytes: &[u8]) -> String {
    decode_as(bytes, declared(bytes))
}

/// The text in the encoding that the bytes are in; a declared one is a hint.
pub(crate) fn decode_as(bytes: &[u8], declared: Option<&'static Encoding>) -> String {
    let marked = Encoding::for_bom(bytes).map(|(encoding, _)| encoding);
    let encoding = match (marked, declared) {
        (Some(marked), _) => marked,
        (None, _) if std::str::from_utf8(bytes).is_ok() && !looks_wide(bytes) => UTF_8,
        (None, Some(declared)) if declared != UTF_8 => declared,
        _ => guess(bytes),
    };
    encoding.decode(bytes).0.into_owned()
}

fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let beginning = String::from_utf8_lossy(&bytes[..bytes.len().min(DECLARATION)]).into_owned();
    let after = beginning.split("?>").next()?.split("encoding").nth(1)?;
    let after = after.trim_start().strip_prefix('=')?.trim_start();
    let quote = after.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let label = after[1..].split(quote).next()?;
    // What is declared in readable ASCII is not UTF-16.
    Encoding::for_label(label.as_bytes()).filter(|encoding| ![UTF_16LE, UTF_16BE].contains(encoding))
}

/// Whether every other byte at the beginning is zero: UTF-16 without a mark.
fn looks_wide(bytes: &[u8]) -> bool {
    let beginning = &bytes[..bytes.len().min(64) & !1];
    let zeros = |from: usize| beginning.iter().skip(from).step_by(2).filter(|byte| **byte == 0).count();
    beginning.len() >= 4 && (zeros(0) * 4 >= beginning.len() || zeros(1) * 4 >= beginning.len())
}

fn guess(bytes: &[u8]) -> &'static Encoding {
    if looks_wide(bytes) {
        return if bytes[0] == 0 { UTF_16BE } else { UTF_16LE };
    }
    if bytes.is_ascii() {
        return if bytes.contains(&0x1B) { encoding_rs::ISO_2022_JP } else { WINDOWS_1252 };
    }
    let mut detector = chardetng::EncodingDetector::new(chardetng::Iso2022JpDetection::Allow);
    detector.feed(bytes, true);
    detector.guess(None, chardetng::Utf8Detection::Allow)
}

/// Whether these are the bytes of a text: at most one control character in a hundred.
pub(crate) fn is_text(bytes: &[u8]) -> bool {
    let text = decode(bytes);
    let no_text = |c: &char| matches!(c, '\0'..='\x08' | '\x0E'..='\x1A' | '\x1C'..='\x1F' | '\u{FFFD}');
    let bad = text.chars().filter(no_text).count();
    !text.trim().is_empty() && bad * 100 <= text.chars().count()
}
