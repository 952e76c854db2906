//! Bytes to text: byte order mark, then the header, then the page's own declaration, then the bytes themselves.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

/// Bytes at the beginning of a page in which a declaration is looked for. The standard says 1024; real pages put
/// scripts before it.
const DECLARATION: usize = 4096;

/// Bytes from which an encoding can be guessed against what is declared.
const ENOUGH: usize = 64;

/// Decoded text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded {
    /// The text; what is malformed has become U+FFFD.
    pub text: String,
    /// Name of the encoding, as the Encoding Standard writes it.
    pub encoding: &'static str,
    /// Some bytes were no text in this encoding.
    pub malformed: bool,
}

impl Decoded {
    /// Whether this is text at all: one in a hundred characters that no text has, or a thousand of them, are those of another kind
    /// of file, or of another encoding than the one named.
    pub fn is_text(&self) -> bool {
        let no_text = |c: char| matches!(c, '\0'..='\x08' | '\x0E'..='\x1A' | '\x1C'..='\x1F' | '\u{FFFD}');
        let (mut bad, mut all) = (0_usize, 0_usize);
        for c in self.text.chars() {
            all += 1;
            bad += usize::from(no_text(c));
        }
        bad < 1_000 && bad * 100 <= all.max(200)
    }
}

/// Decodes a page. `content_type` is the header's value, with its charset if it names one.
pub fn decode(bytes: &[u8], content_type: Option<&str>) -> Decoded {
    let declared = Encoding::for_bom(bytes)
        .map(|(encoding, _)| encoding)
        .or_else(|| content_type.and_then(charset).and_then(|label| Encoding::for_label(label.as_bytes())))
        .or_else(|| declaration(bytes));
    let encoding = match declared {
        // UTF-8 declared as another encoding is detected; the reverse is guessed too.
        _ if std::str::from_utf8(bytes).is_ok() && !bytes.is_ascii() => {
            declared.filter(|e| is_wide(e)).unwrap_or(UTF_8)
        }
        Some(encoding) => encoding,
        None => guess(bytes),
    };
    let (text, used, malformed) = encoding.decode(bytes);
    let decoded = Decoded { text: text.into_owned(), encoding: used.name(), malformed };
    // What is declared may be wrong; then the bytes know better.
    if decoded.malformed && bytes.len() >= ENOUGH && !decoded.is_text() {
        let (text, used, malformed) = guess(bytes).decode(bytes);
        if !malformed {
            return Decoded { text: text.into_owned(), encoding: used.name(), malformed };
        }
    }
    decoded
}

/// Encodings whose bytes may by chance be UTF-8: two bytes a character, or escapes in ASCII.
fn is_wide(encoding: &Encoding) -> bool {
    encoding == encoding_rs::UTF_16LE
        || encoding == encoding_rs::UTF_16BE
        || encoding == encoding_rs::ISO_2022_JP
}

/// The charset parameter of a content type.
fn charset(content_type: &str) -> Option<&str> {
    content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches(['"', '\'']))
    })
}

/// `<meta charset=…>`, `<meta http-equiv=… content="…charset=…">` or `<?xml encoding=…?>` near the beginning.
fn declaration(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(DECLARATION)]).to_ascii_lowercase();
    let value = |after: &str| {
        let after = after.trim_start().strip_prefix('=')?.trim_start().trim_start_matches(['"', '\'']);
        let label = after
            .split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ';' | '>' | '/' | '?'))
            .next()?;
        Encoding::for_label(label.as_bytes())
    };
    let xml = head.trim_start().strip_prefix("<?xml").and_then(|rest| {
        let rest = rest.split('>').next()?;
        value(rest.split_once("encoding")?.1)
    });
    let found = xml.or_else(|| {
        head.split("<meta").skip(1).find_map(|meta| {
            let meta = meta.split('>').next()?;
            value(meta.split_once("charset")?.1)
        })
    });
    // A page that could be read far enough to find this is not in UTF-16 (HTML Standard, 13.2.3.2).
    found.map(|encoding| if encoding.is_ascii_compatible() { encoding } else { UTF_8 })
}

fn guess(bytes: &[u8]) -> &'static Encoding {
    if bytes.is_ascii() {
        return if bytes.contains(&0x1B) { encoding_rs::ISO_2022_JP } else { WINDOWS_1252 };
    }
    let mut detector = chardetng::EncodingDetector::new(chardetng::Iso2022JpDetection::Allow);
    detector.feed(bytes, true);
    detector.guess(None, chardetng::Utf8Detection::Allow)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const JAPANESE: &str = "<p>昼寝は記憶を改善した。短い睡眠の効果を調べた研究である。</p>";

    #[track_caller]
    fn check(bytes: &[u8], content_type: Option<&str>, encoding: &str, contains: &str) {
        let decoded = decode(bytes, content_type);
        assert_eq!(decoded.encoding, encoding, "{:?}", decoded.text);
        assert!(decoded.text.contains(contains), "{:?}", decoded.text);
    }

    fn encoded(encoding: &'static Encoding, text: &str) -> Vec<u8> {
        encoding.encode(text).0.into_owned()
    }

    #[test]
    fn mark_header_declaration_bytes() {
        check(b"\xEF\xBB\xBFna\xC3\xAFve", Some("text/html; charset=iso-8859-1"), "UTF-8", "naïve");
        let sjis = encoded(encoding_rs::SHIFT_JIS, JAPANESE);
        check(&sjis, Some("text/html; charset=\"Shift_JIS\""), "Shift_JIS", "昼寝");
        check(&sjis, None, "Shift_JIS", "昼寝");
        let meta = format!(
            "<html><head><META http-equiv=Content-Type content='text/html; charset=euc-jp'>{JAPANESE}"
        );
        check(&encoded(encoding_rs::EUC_JP, &meta), None, "EUC-JP", "昼寝");
        let xml = format!("<?xml version=\"1.0\" encoding=\"EUC-JP\"?>{JAPANESE}");
        check(&encoded(encoding_rs::EUC_JP, &xml), None, "EUC-JP", "昼寝");
        check(&encoded(encoding_rs::ISO_2022_JP, JAPANESE), None, "ISO-2022-JP", "昼寝");
        check("naïve café".as_bytes(), None, "UTF-8", "naïve");
        check(b"na\xEFve caf\xE9 \x93quoted\x94", None, "windows-1252", "“quoted”");
        check(b"plain", None, "windows-1252", "plain");
    }

    #[test]
    fn a_wrong_declaration_of_utf_8_text_does_no_harm() {
        let meta = format!("<meta charset=shift_jis>{JAPANESE}");
        check(meta.as_bytes(), Some("text/html; charset=iso-8859-1"), "UTF-8", "昼寝");
        check(b"<meta charset=utf-16le><p>plain", None, "UTF-8", "plain");
    }

    #[test]
    fn a_declaration_that_does_not_fit_the_bytes_is_not_believed() {
        let euc = encoded(encoding_rs::EUC_JP, &JAPANESE.repeat(4));
        let meta = [b"<meta charset=utf-8>", euc.as_slice()].concat();
        check(&meta, None, "EUC-JP", "昼寝");
    }

    #[test]
    fn what_is_no_text_is_told() {
        let is_text = |bytes: &[u8]| decode(bytes, Some("text/html")).is_text();
        assert!(is_text(b"<p>plain</p>\0"));
        assert!(is_text(JAPANESE.as_bytes()));
        assert!(is_text(b""));
        assert!(!is_text(&vec![0; 11_000_000]));
        assert!(!is_text(&[b"<p>An ordinary paragraph.</p>".as_slice(), &vec![0; 100_000]].concat()));
        assert!(!is_text(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x10\0\0\0\x10\x08\x06\0\0\0"));
        let utf_16 = [b"\xFF\xFE".as_slice(), &encoding_rs::WINDOWS_1252.encode("<p>").0]
            .concat()
            .into_iter()
            .chain("a text in UTF-16".encode_utf16().flat_map(u16::to_le_bytes))
            .collect::<Vec<_>>();
        assert!(decode(&utf_16, None).encoding == "UTF-16LE");
    }

    #[test]
    fn malformed_bytes_are_told() {
        let decoded = decode(b"ok \xFF\xFE\xFF", Some("text/html; charset=utf-8"));
        assert!(decoded.malformed && decoded.text.starts_with("ok "));
    }

    proptest! {
        #[test]
        fn any_bytes_are_some_text(bytes in prop::collection::vec(any::<u8>(), 0..300), header in ".{0,40}") {
            let _ = decode(&bytes, Some(&header));
            let _ = decode(&bytes, None);
        }

        #[test]
        fn utf_8_is_kept(text in any::<String>()) {
            prop_assume!(!text.starts_with('\u{FEFF}') && !text.is_ascii());
            prop_assert_eq!(decode(text.as_bytes(), None).text, text);
        }
    }
}
