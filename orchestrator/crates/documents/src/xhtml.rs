//! Chapters of books: XHTML with semantic markup.

use crate::draft::{self, Draft};
use crate::fields;
use crate::math;
use crate::paper::Kind;
use crate::xml::{Child, Element};

/// Adds a chapter's text.
pub(crate) fn read(root: Element<'_>, draft: &mut Draft<'_>) {
    let body = root.child("body").unwrap_or(root);
    let mut chapter = Chapter { draft };
    chapter.children(body, Kind::Text);
    chapter.draft.flush(Kind::Text);
}

struct Chapter<'d, 'b> {
    draft: &'d mut Draft<'b>,
}

impl Chapter<'_, '_> {
    fn children(&mut self, parent: Element<'_>, kind: Kind) {
        for child in parent.children() {
            match child {
                Child::Text(text) => self.draft.push(text),
                Child::Element(child) => self.element(child, kind),
            }
        }
    }

    fn element(&mut self, element: Element<'_>, kind: Kind) {
        let role = element.attribute("epub:type").or_else(|| element.attribute("role")).unwrap_or_default();
        let is = |wanted: &[&str]| {
            role.split_whitespace().any(|word| wanted.contains(&word.trim_start_matches("doc-")))
        };
        if element.attribute("hidden").is_some() || is(&["toc", "landmarks", "page-list", "index"]) {
            return;
        }
        // Marks of notes; what a title page repeats of the metadata.
        let class = element.attribute("class").unwrap_or_default();
        if is(&["noteref", "backlink"])
            || element.name() == "p" && matches!(class, "author" | "date" | "subtitle")
        {
            return;
        }
        if is(&["pagebreak"]) {
            let label = ["title", "aria-label"].iter().find_map(|name| element.attribute(name));
            let label = label.map_or_else(|| element.text(), str::to_owned);
            let number: String = label.chars().filter(char::is_ascii_digit).collect();
            self.draft.page = number.parse().ok().filter(|page| *page > 0).or(self.draft.page);
            return;
        }
        match element.name() {
            "script" | "style" | "nav" | "head" | "template" | "object" | "svg" | "iframe" | "rt" | "rp" => {}
            "br" => self.draft.push("\n"),
            "hr" => self.draft.flush(kind),
            "math" => {
                let formula = math::mathml(element);
                self.draft.push(&formula);
            }
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.draft.flush(kind);
                self.children(element, kind);
                let text = self.draft.take_buffer();
                let depth = element.name().as_bytes().get(1).map_or(1, |digit| digit.saturating_sub(b'0'));
                self.draft.heading(depth, &text);
            }
            "pre" => {
                self.draft.flush(kind);
                self.children(element, Kind::Code);
                self.draft.flush(Kind::Code);
            }
            "table" => {
                self.draft.flush(kind);
                self.table(element, kind);
            }
            "figcaption" | "caption" => self.block(element, Kind::Caption),
            // An item's paragraphs are parts of the list.
            "li" | "dd" | "dt" => self.block(element, Kind::ListItem),
            _ if is(&["footnote", "endnote", "rearnote"]) => {
                self.draft.flush(kind);
                // A note's paragraphs are one.
                let so_far = self.draft.take_buffer();
                let text = line(element);
                self.draft.put_buffer(so_far);
                self.draft.footnote(&text);
            }
            "p" | "blockquote" | "div" | "section" | "article" | "main" | "aside" | "header" | "footer"
            | "figure" | "ul" | "ol" | "dl" | "address" | "center" | "details" | "summary" | "form"
            | "body" | "hgroup" => {
                if is(&["biblioentry"]) {
                    self.draft.flush(kind);
                    self.draft.begin_references();
                }
                // Pandoc sets captions as paragraphs of this class.
                let caption = class == "caption";
                let inner = if caption { Kind::Caption } else { kind };
                self.block(element, inner);
            }
            _ => self.children(element, kind),
        }
    }

    fn block(&mut self, element: Element<'_>, kind: Kind) {
        let outer = if kind == Kind::Code { Kind::Code } else { Kind::Text };
        // What stands before it is a paragraph of its own.
        let before = if matches!(kind, Kind::ListItem) { kind } else { outer };
        self.draft.flush(before);
        self.children(element, kind);
        let text = self.draft.take_buffer();
        // A paragraph of nothing but "References" is a heading.
        if kind == Kind::Text && text.len() < 60 && fields::role(&draft::clean(&text)).is_some() {
            self.draft.heading(1, &text);
        } else {
            self.draft.put_buffer(text);
            self.draft.flush(kind);
        }
    }

    fn table(&mut self, table: Element<'_>, kind: Kind) {
        if let Some(caption) = table.child("caption") {
            self.block(caption, Kind::Caption);
        }
        let rows = table.outermost("tr").map(|row| {
            row.elements().filter(|cell| matches!(cell.name(), "td" | "th")).map(line).collect::<Vec<_>>()
        });
        let rows: Vec<Vec<String>> = rows.collect();
        // A table of one cell is a frame.
        let kind = if rows.len() == 1 && rows[0].len() == 1 { kind } else { Kind::Table };
        self.draft.paragraph(kind, &draft::table(rows.into_iter()));
    }
}

/// The text of an element on one line.
fn line(element: Element<'_>) -> String {
    let mut text = String::new();
    write(element, &mut text);
    draft::clean(&text)
}

fn write(element: Element<'_>, out: &mut String) {
    for child in element.children() {
        match child {
            Child::Text(text) => out.push_str(text),
            Child::Element(child) => match child.name() {
                "script" | "style" | "rt" | "rp" => {}
                "math" => out.push_str(&math::mathml(child)),
                name => {
                    let apart = matches!(
                        name,
                        "p" | "div" | "li" | "br" | "td" | "th" | "tr" | "dd" | "dt" | "table"
                    );
                    if apart {
                        out.push(' ');
                    }
                    write(child, out);
                    if apart {
                        out.push(' ');
                    }
                }
            },
        }
    }
}
