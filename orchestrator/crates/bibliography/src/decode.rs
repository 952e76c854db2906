//! Bytes to text.

use encoding_rs::{Encoding, UTF_8};
use std::borrow::Cow;

/// Bytes at the beginning in which an XML declaration is looked for.
const DECLARATION: usize = 200;

/// The text of a file, with `\n` at the end of every line.
pub(crate) fn decode(bytes: &[u8]) -> Cow<'_, str> {
    let text = if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        encoding.decode_without_bom_handling(&bytes[mark..]).0
    } else if let Ok(text) = std::str::from_utf8(bytes) {
        Cow::Borrowed(text)
    } else {
        // A declaration of UTF-8 or UTF-16 is wrong, because the bytes are neither.
        let declared =
            declared(bytes).filter(|encoding| *encoding != UTF_8 && encoding.is_ascii_compatible());
        declared.unwrap_or_else(|| guess(bytes)).decode_without_bom_handling(bytes).0
    };
    if text.contains('\r') { Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n")) } else { text }
}

/// The encoding that an XML declaration names.
fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(DECLARATION)]).into_owned();
    let declaration = head.trim_start().strip_prefix("<?xml")?.split('>').next()?.to_owned();
    let value = declaration.split_once("encoding")?.1.trim_start().strip_prefix('=')?.trim_start().to_owned();
    let label = value.trim_start_matches(['"', '\'']).split(['"', '\'', '?', ' ']).next()?;
    Encoding::for_label(label.as_bytes())
}

fn guess(bytes: &[u8]) -> &'static Encoding {
    let mut detector = chardetng::EncodingDetector::new(chardetng::Iso2022JpDetection::Allow);
    detector.feed(bytes, true);
    detector.guess(None, chardetng::Utf8Detection::Allow)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_declarations_and_bytes_tell_the_encoding() {
        assert_eq!(decode(b"\xEF\xBB\xBFna\xC3\xAFve\r\nb\rc"), "naïve\nb\nc");
        let wide: Vec<u8> = "\u{FEFF}TY  - 睡眠".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(decode(&wide), "TY  - 睡眠");
        assert_eq!(decode(b"Schr\xF6dinger, na\xEFve caf\xE9"), "Schrödinger, naïve café");
        let sjis = encoding_rs::SHIFT_JIS.encode("TY  - JOUR\nTI  - 昼寝は記憶を改善した").0.into_owned();
        assert_eq!(decode(&sjis), "TY  - JOUR\nTI  - 昼寝は記憶を改善した");
        let greek =
            encoding_rs::ISO_8859_7.encode("<?xml version=\"1.0\" encoding='iso-8859-7'?><a>ύπνος</a>").0;
        assert!(decode(&greek).contains("ύπνος"));
        assert!(decode(b"<?xml encoding='utf-8'?>caf\xE9").ends_with("café"));
    }
}
