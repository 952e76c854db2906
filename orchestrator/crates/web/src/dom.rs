//! Helpers for all HTML readers here.

mod parse;

use dom_query::NodeRef;
pub(crate) use parse::{Parsed, parse};
use std::borrow::Cow;

/// Elements with invisible contents.
pub(crate) fn is_invisible_element(name: &str) -> bool {
    matches!(
        name,
        "script"
            | "style"
            | "template"
            | "noscript"
            | "head"
            | "iframe"
            | "object"
            | "svg"
            | "math"
            | "canvas"
            | "audio"
            | "video"
            | "datalist"
            | "dialog"
    )
}

/// How to read the characters beside it, which a text would otherwise have twice: `<ruby>眠<rt>ねむ</rt></ruby>`.
pub(crate) fn is_reading(name: &str) -> bool {
    matches!(name, "rt" | "rp")
}

/// Elements that stand on lines of their own.
pub(crate) fn is_block_element(name: &str) -> bool {
    matches!(
        name,
        "address"
            | "article"
            | "aside"
            | "blockquote"
            | "body"
            | "br"
            | "caption"
            | "center"
            | "dd"
            | "details"
            | "div"
            | "dl"
            | "dt"
            | "fieldset"
            | "figcaption"
            | "figure"
            | "footer"
            | "form"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "header"
            | "hr"
            | "html"
            | "li"
            | "main"
            | "menu"
            | "nav"
            | "ol"
            | "option"
            | "p"
            | "pre"
            | "section"
            | "summary"
            | "table"
            | "tbody"
            | "td"
            | "tfoot"
            | "th"
            | "thead"
            | "tr"
            | "ul"
    )
}

const SOFT_HYPHEN: char = '\u{ad}';

/// A step of a walk through a tree in document order.
pub(crate) enum Visit<'a> {
    /// An element, document or fragment begins.
    Enter(NodeRef<'a>, String),
    /// It ends.
    Leave(String),
    /// A text node, without the soft hyphens: they say where a word may be broken, and no reader sees them.
    Text(String),
}

/// Walks a tree without recursion, so that no depth of nesting ends the program. `visit` returns whether to visit the
/// contents of an element; if not, it does not get its end either.
pub(crate) fn walk<'a>(root: NodeRef<'a>, mut visit: impl FnMut(Visit<'a>) -> bool) {
    enum Todo<'a> {
        Node(NodeRef<'a>),
        End(String),
    }
    let mut todo = vec![Todo::Node(root)];
    while let Some(next) = todo.pop() {
        match next {
            Todo::End(name) => {
                visit(Visit::Leave(name));
            }
            Todo::Node(node) if node.is_text() => {
                visit(Visit::Text(without_soft_hyphens(&node.text()).into_owned()));
            }
            Todo::Node(node) if node.is_element() || node.is_document() || node.is_fragment() => {
                let name = node.node_name().map(|name| name.to_string()).unwrap_or_default();
                if visit(Visit::Enter(node, name.clone())) {
                    todo.push(Todo::End(name));
                    todo.extend(node.children_it(true).map(Todo::Node));
                }
            }
            Todo::Node(_) => {}
        }
    }
}

/// The text that a reader sees, with single spaces.
pub(crate) fn visible_text(root: NodeRef<'_>) -> String {
    let mut text = String::new();
    walk(root, |visit| {
        match visit {
            Visit::Enter(_, name) => {
                if is_invisible_element(&name) || is_reading(&name) {
                    return false;
                }
                if is_block_element(&name) {
                    text.push(' ');
                }
            }
            Visit::Leave(name) if is_block_element(&name) => text.push(' '),
            Visit::Leave(_) => {}
            Visit::Text(found) => text.push_str(&found),
        }
        true
    });
    single_spaces(&text)
}

/// Soft hyphens say where a word may be divided; a reader sees none of them, and a search finds no word with one.
fn without_soft_hyphens(text: &str) -> Cow<'_, str> {
    if text.contains(SOFT_HYPHEN) { text.replace(SOFT_HYPHEN, "").into() } else { text.into() }
}

/// White space as single spaces, none at the ends, and no soft hyphens.
pub(crate) fn single_spaces(text: &str) -> String {
    let text = without_soft_hyphens(text);
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// How an element is hidden from readers, by its own attributes.
pub(crate) fn is_hidden(node: &NodeRef<'_>) -> Option<&'static str> {
    if node.has_attr("hidden") {
        return Some("hidden attribute");
    }
    if node.attr("aria-hidden").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
        return Some("aria-hidden");
    }
    hiding_style(&node.attr("style")?)
}

/// How an inline style hides text.
pub(crate) fn hiding_style(style: &str) -> Option<&'static str> {
    let style: String = style.to_ascii_lowercase().chars().filter(|c| !c.is_whitespace()).collect();
    let declared = |name: &str| {
        style
            .split(';')
            .filter_map(|declaration| declaration.split_once(':'))
            .find(|(key, _)| *key == name)
            .map(|(_, v)| v)
    };
    let is = |name: &str, values: &[&str]| {
        declared(name).is_some_and(|value| values.contains(&value.trim_end_matches("!important")))
    };
    let length = |name: &str| {
        declared(name).and_then(|value| {
            value
                .trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '%' || c == '!')
                .parse::<f32>()
                .ok()
        })
    };
    if is("display", &["none"]) {
        return Some("display:none");
    }
    if is("visibility", &["hidden", "collapse"]) {
        return Some("visibility:hidden");
    }
    if length("opacity").is_some_and(|value| value < 0.05) {
        return Some("opacity");
    }
    if length("font-size").is_some_and(|value| value.abs() < 1.5)
        && !style.contains("font-size:1em")
        && !style.contains("rem")
    {
        return Some("font-size");
    }
    if ["left", "top", "right", "text-indent", "margin-left"]
        .iter()
        .any(|name| length(name).is_some_and(|value| value <= -900.0))
    {
        return Some("off screen");
    }
    if is("clip", &["rect(0,0,0,0)", "rect(0px,0px,0px,0px)", "rect(1px,1px,1px,1px)"])
        || is("clip-path", &["inset(50%)", "inset(100%)"])
    {
        return Some("clipped");
    }
    let colour = declared("color").and_then(|c| colour(c.trim_end_matches("!important")));
    let ground = declared("background-color")
        .or_else(|| declared("background"))
        .and_then(|c| self::colour(c.trim_end_matches("!important")));
    match (colour, ground) {
        (Some(Colour::Transparent), _) => Some("transparent"),
        (Some(Colour::Solid(ink)), Some(Colour::Solid(paper))) if near(ink, paper) => Some("same color"),
        // Without a background of its own, white ink stands on the page's paper.
        (Some(Colour::Solid(ink)), None) if near(ink, [255; 3]) && !style.contains("background") => {
            Some("white on white")
        }
        _ => None,
    }
}

#[derive(Clone, Copy)]
enum Colour {
    Solid([u8; 3]),
    Transparent,
}

fn near(a: [u8; 3], b: [u8; 3]) -> bool {
    a.iter().zip(b).all(|(a, b)| a.abs_diff(b) <= 8)
}

fn colour(text: &str) -> Option<Colour> {
    match text {
        "white" => return Some(Colour::Solid([255; 3])),
        "black" => return Some(Colour::Solid([0; 3])),
        "transparent" => return Some(Colour::Transparent),
        _ => {}
    }
    if let Some(hex) = text.strip_prefix('#').filter(|hex| hex.is_ascii()) {
        let digits: Vec<u8> = hex.chars().map(|c| c.to_digit(16).map(|d| d as u8)).collect::<Option<_>>()?;
        return match digits.as_slice() {
            [r, g, b] => Some(Colour::Solid([r * 17, g * 17, b * 17])),
            [r, rr, g, gg, b, bb] => Some(Colour::Solid([r * 16 + rr, g * 16 + gg, b * 16 + bb])),
            _ => None,
        };
    }
    let (name, rest) = text.split_once('(')?;
    let parts: Vec<f32> =
        rest.trim_end_matches(')').split([',', '/']).map(|p| p.parse().ok()).collect::<Option<_>>()?;
    match (name, parts.as_slice()) {
        ("rgba", [.., alpha]) if parts.len() == 4 && *alpha < 0.05 => Some(Colour::Transparent),
        ("rgb" | "rgba", [r, g, b, ..]) => Some(Colour::Solid([*r as u8, *g as u8, *b as u8])),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dom_query::Document;

    #[test]
    fn styles_that_hide() {
        for (style, expect) in [
            ("display: NONE !important", Some("display:none")),
            ("visibility:hidden", Some("visibility:hidden")),
            ("opacity:0.0", Some("opacity")),
            ("opacity:0.9", None),
            ("font-size:0", Some("font-size")),
            ("font-size: 1px", Some("font-size")),
            ("font-size:14px", None),
            ("font-size:1em", None),
            ("position:absolute;left:-9999px", Some("off screen")),
            ("margin-left:-10px", None),
            ("clip: rect(0, 0, 0, 0)", Some("clipped")),
            ("color:#fff;background:#fefefe", Some("same color")),
            ("color:white", Some("white on white")),
            ("color:white;background:#333", None),
            ("color:white;background-image:url(x)", None),
            ("color:rgba(0,0,0,0)", Some("transparent")),
            ("color:rgb(255, 255, 255)", Some("white on white")),
            ("color:#zzz;;:", None),
            ("", None),
        ] {
            assert_eq!(hiding_style(style), expect, "{style}");
        }
    }

    #[test]
    fn any_depth_is_walked() {
        let html = format!("{}deep{}", "<div>".repeat(5_000), "</div>".repeat(5_000));
        let document = Document::from(html);
        assert_eq!(visible_text(document.root()), "deep");
    }
}
