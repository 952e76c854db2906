//! HTML as a tree, with bounds on the work that a page can cause: parsers take time that grows with the square of
//! nesting, of open formatting elements and of the attributes of one tag.
//!
//! As browsers do, levels beyond the bound are put into the last one: their tags are dropped, their text stays. A page within the
//! bounds reaches the parser as it is.

use std::borrow::Cow;
use std::collections::HashMap;

use dom_query::Document;
use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::tree_builder::TreeBuilderOpts;
use html5ever::{ParseOpts, parse_document};

/// Levels of nesting; browsers have the same bound.
const MAX_DEPTH: usize = 512;
/// Formatting elements (`b`, `font` …) that are open at once: each is made again in every block that follows.
const MAX_FORMATTING: usize = 64;
/// Attributes of one tag.
const MAX_ATTRIBUTES: usize = 256;
/// Most nodes of a tree; the rest is not read.
const MAX_NODES: usize = 500_000;
/// Bytes to parse between two checks of the node count.
const STEP: usize = 4 * 1024;

/// A page as a tree.
pub(crate) struct Parsed {
    pub(crate) document: Document,
    /// Whether the page has more nodes than were read: its end is missing.
    pub(crate) cut: bool,
}

/// Parses a page in time linear in its length.
pub(crate) fn parse(html: &str) -> Parsed {
    let html = flattened(html);
    let options = ParseOpts {
        tree_builder: TreeBuilderOpts { scripting_enabled: false, ..TreeBuilderOpts::default() },
        ..ParseOpts::default()
    };
    let mut parser = parse_document(Document::default(), options);
    let (mut rest, mut cut) = (html.as_ref(), false);
    while !rest.is_empty() {
        let (step, after) = rest.split_at(rest.floor_char_boundary(STEP));
        parser.process(StrTendril::from_slice(step));
        rest = after;
        let document = &parser.tokenizer.sink.sink;
        // They are not used, and every malformed character adds one.
        document.errors.borrow_mut().clear();
        cut = document.tree.len() > MAX_NODES && !rest.is_empty();
        if cut {
            break;
        }
    }
    let document = parser.finish();
    Parsed { document, cut }
}

/// The page without the tags that go beyond the bounds.
fn flattened(html: &str) -> Cow<'_, str> {
    let mut out = Out { html, kept: String::new(), from: 0 };
    let mut open = Open::default();
    let mut at = 0;
    while let Some(found) = html[at..].find('<') {
        let start = at + found;
        at = start + 1;
        let rest = &html[start..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            let Some(end) = comment.find("--") else { break };
            // As the parser does: `<!-->` ends at once, and dashes may be many.
            at = start + 4 + end;
            at += rest[4 + end..].find('>').map_or(rest.len(), |end| end + 1).min(html.len() - at);
            continue;
        }
        let ends = rest.starts_with("</");
        let name_at = if ends { 2 } else { 1 };
        if !rest[name_at..].starts_with(|c: char| c.is_ascii_alphabetic()) {
            continue;
        }
        let tag = Tag::read(rest, name_at);
        let end = start + tag.end;
        at = end;
        let kept = if ends { open.end(&tag.name) } else { open.start(&tag) };
        if !kept {
            out.drop(start, end);
        } else if let Some(from) = tag.surplus {
            out.drop(start + from, end);
            out.kept.push('>');
        }
        if !ends && !open.in_foreign() && is_raw_text(&tag.name) {
            let Some(close) = closing(&html[end..], &tag.name) else { break };
            at = end + close;
            open.end(&tag.name);
        }
    }
    out.finish()
}

/// What is kept of a page.
struct Out<'a> {
    html: &'a str,
    kept: String,
    from: usize,
}

impl<'a> Out<'a> {
    fn drop(&mut self, start: usize, end: usize) {
        self.kept.push_str(&self.html[self.from..start]);
        self.from = end;
    }

    fn finish(mut self) -> Cow<'a, str> {
        if self.from == 0 {
            return Cow::Borrowed(self.html);
        }
        self.kept.push_str(&self.html[self.from..]);
        Cow::Owned(self.kept)
    }
}

/// A tag as the tokenizer would read it.
struct Tag {
    name: String,
    /// One past its `>`.
    end: usize,
    /// Where attributes begin that are too many.
    surplus: Option<usize>,
    /// It ends with `/>`.
    closes_itself: bool,
}

impl Tag {
    /// Reads the tag at the beginning of `html`, whose name begins at `name_at`.
    fn read(html: &str, name_at: usize) -> Self {
        let bytes = html.as_bytes();
        let mut at = name_at;
        while at < bytes.len() && !bytes[at].is_ascii_whitespace() && !matches!(bytes[at], b'/' | b'>') {
            at += 1;
        }
        let name = html.get(name_at..at.min(name_at + 32)).unwrap_or_default().to_ascii_lowercase();
        let (mut attributes, mut surplus, mut closes_itself) = (0, None, false);
        loop {
            while at < bytes.len() && (bytes[at].is_ascii_whitespace() || bytes[at] == b'/') {
                closes_itself = bytes[at] == b'/';
                at += 1;
            }
            match bytes.get(at) {
                None => return Self { name, end: bytes.len(), surplus, closes_itself: false },
                Some(b'>') => return Self { name, end: at + 1, surplus, closes_itself },
                Some(_) => {}
            }
            closes_itself = false;
            attributes += 1;
            if attributes > MAX_ATTRIBUTES && surplus.is_none() {
                surplus = Some(at);
            }
            at = attribute_end(bytes, at);
        }
    }
}

/// One past the attribute that begins at `at`.
fn attribute_end(bytes: &[u8], mut at: usize) -> usize {
    let until = |mut at: usize, stop: fn(u8) -> bool| {
        while at < bytes.len() && !stop(bytes[at]) {
            at += 1;
        }
        at
    };
    // An equals sign at the beginning is part of the name.
    at = until(at + 1, |b| b.is_ascii_whitespace() || matches!(b, b'/' | b'>' | b'='));
    let equals = until(at, |b| !b.is_ascii_whitespace());
    if bytes.get(equals) != Some(&b'=') {
        return at;
    }
    at = until(equals + 1, |b| !b.is_ascii_whitespace());
    match bytes.get(at) {
        Some(b'"') => (until(at + 1, |b| b == b'"') + 1).min(bytes.len()),
        Some(b'\'') => (until(at + 1, |b| b == b'\'') + 1).min(bytes.len()),
        _ => until(at, |b| b.is_ascii_whitespace() || b == b'>'),
    }
}

/// The elements that are open, as far as tags say.
#[derive(Default)]
struct Open {
    names: Vec<String>,
    /// Tags that were dropped because the stack is full, by name.
    dropped: HashMap<String, usize>,
    formatting: HashMap<String, usize>,
    all_formatting: usize,
}

impl Open {
    /// Whether the tag that begins an element is kept.
    fn start(&mut self, tag: &Tag) -> bool {
        let name = tag.name.as_str();
        if is_void(name) || has_optional_end(name) || (tag.closes_itself && self.in_foreign()) {
            return true;
        }
        // Within itself, each of these ends the one before.
        if matches!(name, "a" | "button" | "nobr") && self.names.iter().any(|open| open == name) {
            return true;
        }
        if is_formatting(name) {
            if self.all_formatting >= MAX_FORMATTING {
                *self.dropped.entry(name.to_owned()).or_default() += 1;
                return false;
            }
            self.all_formatting += 1;
            *self.formatting.entry(name.to_owned()).or_default() += 1;
        }
        if self.names.len() >= MAX_DEPTH {
            *self.dropped.entry(name.to_owned()).or_default() += 1;
            return false;
        }
        self.names.push(name.to_owned());
        true
    }

    /// Whether the tag that ends an element is kept.
    fn end(&mut self, name: &str) -> bool {
        if let Some(dropped) = self.dropped.get_mut(name).filter(|dropped| **dropped > 0) {
            *dropped -= 1;
            return false;
        }
        if let Some(open) = self.formatting.get_mut(name).filter(|open| **open > 0) {
            *open -= 1;
            self.all_formatting -= 1;
        }
        if let Some(place) = self.names.iter().rposition(|open| open == name) {
            self.names.truncate(place);
            self.dropped.clear();
        }
        true
    }

    /// Within `svg` or `math`, where other rules hold.
    fn in_foreign(&self) -> bool {
        self.names.iter().any(|name| matches!(name.as_str(), "svg" | "math"))
    }
}

fn is_void(name: &str) -> bool {
    matches!(
        name,
        "area"
            | "base"
            | "basefont"
            | "bgsound"
            | "br"
            | "col"
            | "embed"
            | "frame"
            | "hr"
            | "image"
            | "img"
            | "input"
            | "keygen"
            | "link"
            | "meta"
            | "param"
            | "source"
            | "track"
            | "wbr"
    )
}

/// Elements that end without a tag; they nest only with another element between them, which is counted.
fn has_optional_end(name: &str) -> bool {
    matches!(
        name,
        "html"
            | "head"
            | "body"
            | "p"
            | "li"
            | "dd"
            | "dt"
            | "option"
            | "optgroup"
            | "tr"
            | "td"
            | "th"
            | "thead"
            | "tbody"
            | "tfoot"
            | "colgroup"
            | "caption"
            | "rb"
            | "rp"
            | "rt"
            | "rtc"
    )
}

/// Elements that the parser makes again in every block until they are ended.
fn is_formatting(name: &str) -> bool {
    matches!(
        name,
        "b" | "big" | "code" | "em" | "font" | "i" | "s" | "small" | "strike" | "strong" | "tt" | "u"
    )
}

/// Elements whose contents hold no tags.
fn is_raw_text(name: &str) -> bool {
    matches!(
        name,
        "iframe" | "noembed" | "noframes" | "plaintext" | "script" | "style" | "textarea" | "title" | "xmp"
    )
}

/// Where the tag begins that ends an element of raw text.
fn closing(html: &str, name: &str) -> Option<usize> {
    html.match_indices("</").map(|(at, _)| at).find(|at| {
        let tail = &html.as_bytes()[at + 2..];
        tail.len() > name.len()
            && tail[..name.len()].eq_ignore_ascii_case(name.as_bytes())
            && (tail[name.len()].is_ascii_whitespace() || matches!(tail[name.len()], b'/' | b'>'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dom::{Visit, visible_text, walk};
    use proptest::prelude::*;

    /// Deepest element.
    fn depth(document: &Document) -> usize {
        let (mut depth, mut deepest) = (0_usize, 0);
        walk(document.root(), |visit| {
            match visit {
                Visit::Enter(..) => {
                    depth += 1;
                    deepest = deepest.max(depth);
                }
                Visit::Leave(_) => depth -= 1,
                Visit::Text(_) => {}
            }
            true
        });
        deepest
    }

    #[test]
    fn nesting_is_bounded_and_the_text_stays() {
        for tags in [
            "<div>",
            "<p>text</p><div>",
            "<span>",
            "<blockquote>",
            "<ul><li>",
            "<table><tr><td>",
            "<a><b><i><u>",
            "<my-element class=x>",
            "<svg><g><foreignObject>",
            "<object>",
            "<b id=1>",
        ] {
            let html = format!("{}the end", tags.repeat(20_000));
            let parsed = parse(&html);
            assert!(!parsed.cut, "{tags}");
            let deepest = depth(&parsed.document);
            assert!(deepest <= 6 * MAX_DEPTH, "{tags}: {deepest}");
            if !tags.contains("svg") && !tags.contains("object") {
                assert!(visible_text(parsed.document.root()).ends_with("the end"), "{tags}");
            }
        }
    }

    #[test]
    fn formatting_that_is_never_ended_does_not_multiply() {
        let html = (0..20_000).map(|n| format!("<div><b id={n}>x</div>")).collect::<Vec<_>>().concat();
        let parsed = parse(&html);
        assert!(
            parsed.document.tree.len() <= MAX_NODES + STEP * MAX_FORMATTING,
            "{}",
            parsed.document.tree.len()
        );
    }

    #[test]
    fn a_page_of_too_many_nodes_is_cut_and_says_so() {
        let parsed = parse(&"<br>".repeat(MAX_NODES + 10_000));
        assert!(parsed.cut);
        assert!(parsed.document.tree.len() <= MAX_NODES + STEP);
    }

    #[test]
    fn a_tag_of_too_many_attributes_keeps_the_first() {
        let attributes = (0..300_000).map(|n| format!(" a{n}='<b>'")).collect::<Vec<_>>().concat();
        let html = format!("<p id=first{attributes}>text</p><p>more</p>");
        assert!(flattened(&html).len() < 10_000);
        let parsed = parse(&html);
        assert_eq!(visible_text(parsed.document.root()), "text more");
        assert!(parsed.document.select("p#first").exists());
    }

    #[test]
    fn errors_of_malformed_pages_are_not_collected() {
        let parsed = parse(&"</x>\0".repeat(100_000));
        assert!(parsed.document.errors.borrow().len() < 100);
    }

    #[test]
    fn pages_within_the_bounds_reach_the_parser_as_they_are() {
        for html in [
            "<p>a<p>b<ul><li>c<li>d</ul>",
            "<!-- <div> --><!--><p>x</p><!-- never ended <div>",
            "<script>if (a<b && c>d) '</div>'</script><p>x",
            "<style>a>b{}</style><textarea><div></textarea>",
            "<a href='x>y' title=\"<b>\">t</a>",
            "<svg><path d='M0'/><g></g></svg><p>a < b <3 </p>",
            "<b><i>x</b>y</i>",
            "x<",
            "<",
            "</",
            "<p",
        ] {
            assert!(matches!(flattened(html), Cow::Borrowed(_)), "{html}");
        }
    }

    proptest! {
        #[test]
        fn any_text(html in "([ -~]|<[a-z!/]{0,4}[ =>'\"/a-z-]{0,12}>?|é){0,80}") {
            prop_assert!(matches!(flattened(&html), Cow::Borrowed(_)));
            let whole = Document::from(html.as_str());
            prop_assert_eq!(parse(&html).document.html(), whole.html());
        }
    }
}
