//! What a file is that cannot be imported, told from its first bytes.

/// Kinds of files that people have and Lyra does not read, by their first bytes.
const MAGIC: [(&[u8], &str); 9] = [
    (b"\x89PNG", "an image"),
    (b"\xFF\xD8\xFF", "an image"),
    (b"GIF8", "an image"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"PAR1", "a Parquet file"),
    (b"7z\xBC\xAF\x27\x1C", "a 7z archive"),
    (b"BZh", "a bzip2 file"),
    (b"\xFD7zXZ\0", "an xz file"),
    (b"\x28\xB5\x2F\xFD", "a Zstandard file"),
];

/// The kind of a file that certainly cannot be imported.
pub(super) fn kind(beginning: &[u8]) -> Option<&'static str> {
    if beginning.is_empty() {
        return Some("an empty file");
    }
    if let Some((_, name)) = MAGIC.iter().find(|(magic, _)| beginning.starts_with(magic)) {
        return Some(name);
    }
    let text = String::from_utf8_lossy(beginning);
    let text = text.trim_start_matches('\u{FEFF}').trim_start();
    let first = text.lines().next().unwrap_or_default().trim();
    if text.starts_with('[') {
        return Some("a JSON array or another kind of list (`jq -c '.[]' FILE` makes JSONL of an array)");
    }
    // A line of JSONL is an object from its first character to its last.
    let over_lines = matches!(first, "{") && text.lines().nth(1).is_some();
    over_lines.then_some("JSON over several lines (`jq -c . FILE` makes JSONL of it)")
}

/// What a file is whose format nothing tells.
pub(super) fn unknown(beginning: &[u8]) -> &'static str {
    let text = String::from_utf8_lossy(beginning);
    // The last character may be cut in half.
    let odd = text.chars().filter(|c| *c == '\u{FFFD}' || (c.is_control() && !c.is_whitespace())).count();
    if odd > 1 { "a binary file" } else { "plain text" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn files_that_people_have() {
        for (beginning, name) in [
            (&b""[..], "an empty file"),
            (b"[{\"id\": 1}]", "a JSON array"),
            (b"{\n  \"id\": 1\n}\n", "JSON over several lines"),
        ] {
            assert!(
                kind(beginning).is_some_and(|found| found.starts_with(name)),
                "{name}: {:?}",
                kind(beginning)
            );
        }
        for beginning in
            [&b"{\"id\": 1}\n"[..], b"id,title\n1,x\n", b"<?xml version=\"1.0\"?>", b"@ home", b"{}"]
        {
            assert_eq!(kind(beginning), None);
        }
        assert_eq!(unknown("Naps help. 昼寝".as_bytes()), "plain text");
        assert_eq!(unknown(b"\x00\x01\x02\xFF"), "a binary file");
    }

    proptest! {
        #[test]
        fn any_bytes(beginning in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = (kind(&beginning), unknown(&beginning));
        }
    }
}
