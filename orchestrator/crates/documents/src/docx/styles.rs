//! What the styles of a document mean.

use crate::paper::Kind;
use crate::xml::{Element, Tree};
use std::collections::HashMap;

/// What a paragraph of a style is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    Heading(u8),
    Title,
    Subtitle,
    Author,
    Date,
    Abstract,
    AbstractTitle,
    Keywords,
    Reference,
    /// A line of a table of contents or an index.
    Contents,
    Plain(Kind),
}

/// Styles that follow each other.
const LONGEST_CHAIN: usize = 12;

pub(super) struct Styles<'t> {
    styles: HashMap<&'t str, Element<'t>>,
}

impl<'t> Styles<'t> {
    pub(super) fn new(tree: &'t Tree) -> Self {
        let styles = tree.root().into_iter().flat_map(|root| root.all("style"));
        let styles = styles.filter_map(|style| Some((style.attribute("styleId")?, style)));
        Self { styles: styles.collect() }
    }

    /// What paragraphs of a style are: by its name, its outline level, or those of the style that it is based on.
    pub(super) fn of(&self, id: &'t str) -> Option<Use> {
        let mut id = id;
        for _ in 0..LONGEST_CHAIN {
            let style = self.styles.get(id);
            let name = style.and_then(|style| style.child("name")?.attribute("val")).unwrap_or(id);
            if let Some(found) = named(name) {
                return Some(found);
            }
            let style = style?;
            if let Some(level) = style.at("pPr/outlineLvl").and_then(level) {
                return Some(Use::Heading(level));
            }
            id = style.child("basedOn")?.attribute("val")?;
        }
        None
    }

    /// Whether text of a character style is hidden.
    pub(super) fn hides(&self, id: &str) -> bool {
        self.styles.get(id).and_then(|style| style.at("rPr/vanish")).is_some_and(is_on)
    }
}

/// A switch, which is on unless it says otherwise.
pub(super) fn is_on(switch: Element<'_>) -> bool {
    !matches!(switch.attribute("val"), Some("0" | "false" | "off"))
}

/// Depth of a heading by its outline level; 9 is running text.
pub(super) fn level(outline: Element<'_>) -> Option<u8> {
    let level: u8 = outline.attribute("val")?.parse().ok()?;
    (level < 9).then_some(level + 1)
}

/// What a style of this name is for. Word, `LibreOffice`, pandoc and publishers' templates use these.
fn named(name: &str) -> Option<Use> {
    let key: String = name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    if let Some(level) = ["heading", "überschrift", "berschrift", "titre", "título", "見出し"]
        .iter()
        .find_map(|front| key.strip_prefix(front)?.parse::<u8>().ok())
    {
        return (1..=9).contains(&level).then_some(Use::Heading(level));
    }
    let toc = key.strip_prefix("toc").or_else(|| key.strip_prefix("目次"));
    if toc.is_some_and(|rest| rest == "heading" || rest.parse::<u8>().is_ok()) || key == "tableoffigures" {
        return Some(Use::Contents);
    }
    Some(match key.as_str() {
        "title" | "papertitle" | "articletitle" | "titel" | "表題" => Use::Title,
        "subtitle" | "副題" => Use::Subtitle,
        "author" | "authors" | "authornames" | "papernames" => Use::Author,
        "date" => Use::Date,
        "abstract" => Use::Abstract,
        "abstracttitle" | "abstractheading" => Use::AbstractTitle,
        "keywords" | "keyword" => Use::Keywords,
        "bibliography" | "references" | "reference" | "reflist" | "bibitem" | "endnotebibliography" => {
            Use::Reference
        }
        "caption" | "imagecaption" | "tablecaption" | "figurecaption" | "figure" | "図表番号" => {
            Use::Plain(Kind::Caption)
        }
        "listparagraph" | "listbullet" | "listnumber" | "リスト段落" => Use::Plain(Kind::ListItem),
        "sourcecode" | "htmlpreformatted" | "code" | "verbatim" | "plaintext" | "preformattedtext" => {
            Use::Plain(Kind::Code)
        }
        "footnotetext" | "endnotetext" => Use::Plain(Kind::Footnote),
        _ => return None,
    })
}
