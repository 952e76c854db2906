//! Text without markup and surplus white space.

use quick_xml::escape::resolve_html5_entity;
use std::borrow::Cow;

/// Longest tag and entity that are looked for, in bytes.
const MAX_TAG: usize = 500;
const MAX_ENTITY: usize = 34;

/// Elements of HTML and JATS whose tags are removed.
const INLINE: [&str; 19] = [
    "i", "b", "em", "strong", "sub", "sup", "span", "sc", "u", "a", "italic", "bold", "inf", "scp", "tt",
    "code", "font", "small", "strike",
];
/// Those that stand on lines of their own.
const BLOCKS: [&str; 19] = [
    "p",
    "br",
    "div",
    "li",
    "ul",
    "ol",
    "h1",
    "h2",
    "h3",
    "h4",
    "title",
    "sec",
    "blockquote",
    "pre",
    "table",
    "tr",
    "td",
    "html",
    "body",
];

/// On one line, without control characters.
pub(crate) fn line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    let mut out = String::with_capacity(text.len());
    for word in words.filter(|word| !word.is_empty()) {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// One line for each line with text.
pub(crate) fn lines(text: &str) -> String {
    joined(text.split('\n'))
}

/// One line for each paragraph: a single line break is a space.
pub(crate) fn paragraphs(text: &str) -> String {
    let mut parts: Vec<String> = vec![String::new()];
    for part in text.split('\n') {
        if part.trim().is_empty() {
            parts.push(String::new());
        } else if let Some(last) = parts.last_mut() {
            last.push(' ');
            last.push_str(part);
        }
    }
    joined(parts.iter().map(String::as_str))
}

fn joined<'a>(parts: impl Iterator<Item = &'a str>) -> String {
    parts.map(line).filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

/// What HTML shows: without tags, with characters for entities. Text that only looks like tags stays.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains(['<', '&']) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['<', '&']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let (shown, length) = tag(rest).or_else(|| entity(rest)).unwrap_or((rest[..1].to_owned(), 1));
        out.push_str(&shown);
        rest = &rest[length..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The beginning of a text up to a character, within `most` bytes and before another tag or entity.
fn until(text: &str, end: char, most: usize) -> Option<&str> {
    let mut near = text.char_indices().take_while(|(at, c)| *at <= most && *c != '<');
    let at = near.find(|(_, c)| *c == end)?.0;
    Some(&text[..at])
}

/// What the tag at the beginning shows, and its length in bytes.
fn tag(text: &str) -> Option<(String, usize)> {
    let inside = until(text.strip_prefix('<')?, '>', MAX_TAG)?;
    let length = inside.len() + 2;
    let bare = inside.strip_prefix('/').unwrap_or(inside);
    let bare = bare.strip_suffix('/').unwrap_or(bare);
    let end = bare.find(|c: char| !c.is_ascii_alphanumeric() && c != ':').unwrap_or(bare.len());
    let (name, attributes) = bare.split_at(end);
    // `p <b and c> d` is a comparison.
    if !attributes.trim().is_empty() && !attributes.contains('=') {
        return None;
    }
    let name = name.rsplit(':').next().unwrap_or(name).to_ascii_lowercase();
    if BLOCKS.contains(&name.as_str()) {
        return Some(("\n".to_owned(), length));
    }
    INLINE.contains(&name.as_str()).then(|| (String::new(), length))
}

/// The character of the entity at the beginning, and the entity's length in bytes.
fn entity(text: &str) -> Option<(String, usize)> {
    let name = until(text.strip_prefix('&')?, ';', MAX_ENTITY)?;
    let shown = match name.strip_prefix('#') {
        Some(number) => {
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)?.to_string()
        }
        None => resolve_html5_entity(name)?.to_owned(),
    };
    Some((shown, name.len() + 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_and_entities_go_and_comparisons_stay() {
        let check = |text: &str, expect: &str| assert_eq!(line(&plain(text)), expect);
        check("<i>E. coli</i> &amp; H<sub>2</sub>O", "E. coli & H2O");
        check("<span class=\"nocase\">mTOR</span> &#x3b1;&#946;", "mTOR αβ");
        check("p<b and c>d, p < 0.05, a<b>c AT&T; R&D", "p<b and c>d, p < 0.05, ac AT&T; R&D");
        assert_eq!(lines(&plain("<jats:p>One</jats:p>\n <jats:p>two</jats:p>")), "One\ntwo");
    }

    #[test]
    fn white_space() {
        assert_eq!(line(" a\t\u{7}b\n\u{a0}c "), "a b c");
        assert_eq!(lines("a \n\n  b\nc"), "a\nb\nc");
        assert_eq!(paragraphs("a\nb\n \nc\n"), "a b\nc");
    }
}
