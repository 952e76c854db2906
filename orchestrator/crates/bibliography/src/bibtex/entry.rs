//! The syntax of BibTeX: where entries begin and end, and their fields.

use std::ops::Range;

/// What follows an `@`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    /// Byte offset of the `@`.
    pub(super) at: usize,
    /// `article`, `string`, `comment`, in lower case.
    pub(super) kind: String,
    /// What is between the delimiters; `None` if the closing one is missing.
    pub(super) body: Option<Range<usize>>,
    /// Where the search for the next block goes on.
    pub(super) next: usize,
}

/// A part of a value; parts are joined by `#`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece<'t> {
    /// Between braces or quotes, or a number.
    Text(&'t str),
    /// An abbreviation.
    Name(&'t str),
}

/// A field's name as written, and its value.
pub(super) type Field<'t> = (&'t str, Vec<Piece<'t>>);

/// The kind of the block at the beginning of a text, the offset of its opening delimiter, and which that is.
fn opening(text: &str) -> Option<(&str, usize, u8)> {
    let rest = text.strip_prefix('@')?.trim_start_matches([' ', '\t']);
    let start = text.len() - rest.len();
    let name = &rest[..rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len())];
    let after = rest[name.len()..].trim_start_matches([' ', '\t', '\n']);
    let open = *after.as_bytes().first().filter(|byte| matches!(byte, b'{' | b'('))?;
    (!name.is_empty() && name.len() < 40).then_some((
        &text[start..start + name.len()],
        text.len() - after.len(),
        open,
    ))
}

/// Whether an entry begins at the beginning of a line.
pub(crate) fn begins(line: &str) -> bool {
    opening(line).is_some_and(|(kind, open, _)| {
        let special = ["string", "comment", "preamble"].iter().any(|name| kind.eq_ignore_ascii_case(name));
        special || key(&line[open + 1..]).is_some() || line[open + 1..].trim().is_empty()
    })
}

/// The citation key at the beginning of a body, if a comma follows it.
fn key(body: &str) -> Option<&str> {
    let (key, _) = body.split_once(',')?;
    (!key.contains(['=', '{', '}', '"', '\n', '(']) && key.len() < 1_000).then(|| key.trim())
}

/// The next block at or after a byte offset. Text between blocks is a comment, and so is what follows a `%`.
pub(super) fn next(text: &str, from: usize) -> Option<Block> {
    let bytes = text.as_bytes();
    let mut at = from;
    while at < bytes.len() {
        match bytes[at] {
            b'%' => at += bytes[at..].iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len() - at),
            b'@' if at == 0 || !bytes[at - 1].is_ascii_alphanumeric() => {
                if let Some((kind, open, delimiter)) = opening(&text[at..]) {
                    let (body, next) = closing(text, at + open, delimiter, true);
                    let body = body.or_else(|| closing(&text[..next], at + open, delimiter, false).0);
                    return Some(Block { at, kind: kind.to_ascii_lowercase(), body, next });
                }
                at += 1;
            }
            _ => at += 1,
        }
    }
    None
}

/// Whether a backslash belongs to what follows it, so that the character is no delimiter. Paths of Windows end in one,
/// and if braces are not `escaped`, it closes the field: `file = {C:\naps\}`.
fn escapes(next: Option<&u8>, escaped: bool) -> bool {
    escaped || !matches!(next, Some(b'{' | b'}'))
}

/// Whether the braces of a body are closed, without those behind a backslash.
fn is_closed(body: &str) -> bool {
    let bytes = body.as_bytes();
    let (mut depth, mut at) = (0_usize, 0);
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    depth == 0
}

/// The body after an opening delimiter, and where the search goes on. A line that begins another entry ends one that is
/// not closed. Braces behind a backslash count only if they are not `escaped`.
fn closing(text: &str, open: usize, delimiter: u8, escaped: bool) -> (Option<Range<usize>>, usize) {
    let bytes = text.as_bytes();
    let (mut depth, mut quoted, mut at) = (0_usize, false, open + 1);
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if escapes(bytes.get(at + 1), escaped) => at += 1,
            b'{' => depth += 1,
            b'}' if depth == 0 && delimiter == b'{' => return (Some(open + 1..at), at + 1),
            b'}' => depth = depth.saturating_sub(1),
            b'"' if depth == 0 => quoted = !quoted,
            b')' if depth == 0 && delimiter == b'(' && !quoted => return (Some(open + 1..at), at + 1),
            b'\n' => {
                let line = text[at + 1..].trim_start_matches([' ', '\t']);
                let end = line.find('\n').unwrap_or(line.len());
                if line.starts_with('@')
                    && !line[..end].trim_end().ends_with('(')
                    && begins_keyed(&line[..end])
                {
                    return (None, at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
    (None, bytes.len())
}

/// Whether a line begins an entry with a key, which hardly occurs in a value.
fn begins_keyed(line: &str) -> bool {
    opening(line).is_some_and(|(_, open, _)| key(&line[open + 1..]).is_some_and(|key| !key.contains(' ')))
}

/// The key and the fields of a body. Anything else is skipped up to the next comma.
pub(super) fn fields(body: &str) -> (&str, Vec<Field<'_>>) {
    let key = key(body);
    let at = if key.is_some() { body.find(',').unwrap_or(0) } else { 0 };
    let mut scan = Scan { text: body, at, escaped: is_closed(body) };
    let mut fields = Vec::new();
    loop {
        scan.skip(|byte| byte.is_ascii_whitespace() || byte == b',');
        if scan.peek() == Some(b'%') {
            scan.skip(|byte| byte != b'\n');
            continue;
        }
        if scan.peek().is_none() {
            break;
        }
        let name = scan
            .take(|byte| !byte.is_ascii_whitespace() && !matches!(byte, b'=' | b',' | b'{' | b'"' | b'#'));
        scan.skip(|byte| byte.is_ascii_whitespace());
        if scan.peek() == Some(b'=') && !name.is_empty() {
            scan.at += 1;
            fields.push((name, scan.value()));
        } else {
            scan.junk();
        }
    }
    (key.unwrap_or_default(), fields)
}

/// The fields of a body without a key, as of `@string`.
pub(super) fn definitions(body: &str) -> Vec<Field<'_>> {
    // What has `=` before its first comma has no key.
    fields(body).1
}

struct Scan<'t> {
    text: &'t str,
    at: usize,
    /// Whether braces behind a backslash are no delimiters.
    escaped: bool,
}

impl<'t> Scan<'t> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Moves on while bytes fit. Only ASCII bytes end it, so that the offset stays at a character.
    fn skip(&mut self, fits: impl Fn(u8) -> bool) {
        while self.peek().is_some_and(|byte| !byte.is_ascii() && fits(b'a') || byte.is_ascii() && fits(byte))
        {
            self.at += 1;
        }
    }

    fn take(&mut self, fits: impl Fn(u8) -> bool) -> &'t str {
        let from = self.at;
        self.skip(fits);
        &self.text[from..self.at]
    }

    fn value(&mut self) -> Vec<Piece<'t>> {
        let mut pieces = Vec::new();
        loop {
            self.skip(|byte| byte.is_ascii_whitespace());
            match self.peek() {
                Some(b'{') => pieces.push(Piece::Text(self.delimited(b'}'))),
                Some(b'"') => pieces.push(Piece::Text(self.delimited(b'"'))),
                _ => {
                    let word = self
                        .take(|b| !b.is_ascii_whitespace() && !matches!(b, b',' | b'#' | b'{' | b'}' | b'"'));
                    let is_number = word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
                    if !word.is_empty() {
                        pieces.push(if is_number { Piece::Text(word) } else { Piece::Name(word) });
                    }
                }
            }
            self.skip(|byte| byte.is_ascii_whitespace());
            if self.peek() != Some(b'#') {
                return pieces;
            }
            self.at += 1;
        }
    }

    /// What is between the delimiter at the offset and its counterpart, or the end.
    fn delimited(&mut self, end: u8) -> &'t str {
        self.at += 1;
        let (from, mut depth) = (self.at, 0_usize);
        let bytes = self.text.as_bytes();
        while self.at < bytes.len() {
            match bytes[self.at] {
                byte if byte == end && depth == 0 => {
                    self.at += 1;
                    return &self.text[from..self.at - 1];
                }
                b'\\'
                    if bytes.get(self.at + 1).is_some_and(u8::is_ascii)
                        && escapes(bytes.get(self.at + 1), self.escaped) =>
                {
                    self.at += 1;
                }
                b'{' => depth += 1,
                b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.at += 1;
        }
        self.at = self.at.min(bytes.len());
        &self.text[from..]
    }

    /// Skips to the next comma outside of braces and quotes.
    fn junk(&mut self) {
        match self.peek() {
            Some(b'{') => drop(self.delimited(b'}')),
            Some(b'"') => drop(self.delimited(b'"')),
            Some(_) => self.at += 1,
            None => return,
        }
        self.skip(|byte| !matches!(byte, b',' | b'{' | b'"'));
        if matches!(self.peek(), Some(b'{' | b'"')) {
            self.junk_again();
        }
    }

    fn junk_again(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b'{' => drop(self.delimited(b'}')),
                b'"' => drop(self.delimited(b'"')),
                b',' => return,
                _ => self.skip(|byte| !matches!(byte, b',' | b'{' | b'"')),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<(String, bool)> {
        let (mut found, mut from) = (Vec::new(), 0);
        while let Some(block) = next(text, from) {
            from = block.next;
            found.push((block.kind, block.body.is_some()));
        }
        found
    }

    #[test]
    fn blocks_end_where_their_delimiter_closes() {
        let check = |text: &str, expect: &[(&str, bool)]| {
            let found = names(text);
            let found: Vec<_> = found.iter().map(|(kind, closed)| (kind.as_str(), *closed)).collect();
            assert_eq!(found, expect, "{text}");
        };
        check(
            "me@example.org {x} @Article{a, t={b}} @ book ( b, t = \"(c)\" )",
            &[("article", true), ("book", true)],
        );
        check("@article{a, t = {\\} \\{ {x}}}@misc{b,}", &[("article", true), ("misc", true)]);
        check("% @article{a,}\n@misc{b,}", &[("misc", true)]);
        check("@article{a, t = {x\n@misc{b, t={y}}", &[("article", false), ("misc", true)]);
        check("@article{a, t = {x\n  @ home}}", &[("article", true)]);
        check("@article{a, t = {x", &[("article", false)]);
        check("@comment{jabref-meta: a{b}c;}", &[("comment", true)]);
        check("@article{a, file = {C:\\naps\\},\n t = {x}}\n@misc{b,}", &[("article", true), ("misc", true)]);
        check("@article{a, file = {C:\\naps\\}}", &[("article", true)]);
    }

    #[test]
    fn values() {
        use Piece::{Name, Text};
        let (key, found) =
            fields(" k:1 , a = {x {y}}, b=\"p {\"} q\" # jan # 12 % note\n c = , junk {d = e}, f = 3");
        assert_eq!(key, "k:1");
        assert_eq!(
            found,
            [
                ("a", vec![Text("x {y}")]),
                ("b", vec![Text("p {\"} q"), Name("jan"), Text("12")]),
                ("c", vec![]),
                ("f", vec![Text("3")])
            ]
        );
        let (_, found) = fields("k, file = {C:\\naps\\}, t = {x}, q = \"M\\\"u\"");
        assert_eq!(
            found,
            [("file", vec![Text("C:\\naps\\")]), ("t", vec![Text("x")]), ("q", vec![Text("M\\\"u")])]
        );
        assert_eq!(fields("k, t = {\\} \\{}").1, [("t", vec![Text("\\} \\{")])]);
        assert_eq!(fields("title = {no key, here}").1, [("title", vec![Text("no key, here")])]);
        assert_eq!(fields("é, ü={é\\").1, [("ü", vec![Text("é\\")])]);
    }
}
