//! The text of a document: paragraphs, tables, runs, notes, text boxes.

use super::styles::{Styles, Use, is_on, level};
use crate::draft::{self, Draft};
use crate::fields;
use crate::math;
use crate::paper::Kind;
use crate::xml::{Child, Element, Tree};
use std::collections::HashMap;

pub(super) struct Body<'d, 'b, 't> {
    draft: &'d mut Draft<'b>,
    styles: Styles<'t>,
    notes: HashMap<(&'static str, &'t str), Element<'t>>,
    /// Text boxes that are anchored in the current paragraph.
    boxes: Vec<Element<'t>>,
    /// Notes that the current paragraph refers to.
    cited: Vec<Element<'t>>,
    code: String,
}

impl<'d, 'b, 't> Body<'d, 'b, 't> {
    pub(super) fn new(
        draft: &'d mut Draft<'b>,
        styles: Styles<'t>,
        footnotes: &'t Tree,
        endnotes: &'t Tree,
    ) -> Self {
        let mut notes = HashMap::new();
        for (tree, name) in [(footnotes, "footnote"), (endnotes, "endnote")] {
            for note in tree.root().into_iter().flat_map(|root| root.all(name)) {
                // Separator lines have a type.
                let plain = note.attribute("type").is_none_or(|kind| kind == "normal");
                if let Some(id) = note.attribute("id").filter(|_| plain) {
                    notes.insert((name, id), note);
                }
            }
        }
        let (boxes, cited, code) = (Vec::new(), Vec::new(), String::new());
        Self { draft, styles, notes, boxes, cited, code }
    }

    pub(super) fn read(mut self, body: Element<'t>) {
        if body.below("lastRenderedPageBreak").next().is_some() {
            self.draft.page = Some(1);
        }
        self.blocks(body);
        self.end_code();
    }

    fn blocks(&mut self, parent: Element<'t>) {
        for block in parent.elements() {
            match block.name() {
                "p" => self.paragraph(block),
                "tbl" => self.table(block),
                "sdt" => {
                    let contents =
                        block.at("sdtPr/docPartObj/docPartGallery").and_then(|it| it.attribute("val"));
                    if contents != Some("Table of Contents")
                        && let Some(content) = block.child("sdtContent")
                    {
                        self.blocks(content);
                    }
                }
                "ins" | "moveTo" | "customXml" | "smartTag" => self.blocks(block),
                "oMathPara" | "oMath" => self.draft.paragraph(Kind::Text, &math::omml(block)),
                "AlternateContent" => {
                    if let Some(choice) = block.child("Choice").or_else(|| block.child("Fallback")) {
                        self.blocks(choice);
                    }
                }
                _ => {}
            }
        }
    }

    fn paragraph(&mut self, paragraph: Element<'t>) {
        let properties = paragraph.child("pPr");
        let style = properties.and_then(|p| p.child("pStyle")?.attribute("val"));
        let own = properties.and_then(|p| p.child("outlineLvl")).and_then(level).map(Use::Heading);
        let numbered = properties.and_then(|p| p.child("numPr")).is_some();
        let found = own.or_else(|| style.and_then(|style| self.styles.of(style)));
        let found = found.unwrap_or(Use::Plain(if numbered { Kind::ListItem } else { Kind::Text }));
        let page = self.draft.page;
        self.inline(paragraph);
        let text = self.draft.take_buffer();
        if found == Use::Plain(Kind::Code) {
            self.code.push_str(text.trim_end());
            self.code.push('\n');
        } else {
            self.end_code();
            // Where the paragraph began, not where it ended.
            let after = std::mem::replace(&mut self.draft.page, page);
            self.keep(found, &text);
            self.draft.page = after;
        }
        for text_box in std::mem::take(&mut self.boxes) {
            self.blocks(text_box);
        }
        for note in std::mem::take(&mut self.cited) {
            let mut text = String::new();
            for part in note.below("p") {
                self.inline(part);
                text.push_str(&self.draft.take_buffer());
                text.push(' ');
            }
            self.boxes.clear();
            self.cited.clear();
            self.draft.footnote(&text);
        }
    }

    fn keep(&mut self, found: Use, text: &str) {
        match found {
            Use::Contents | Use::AbstractTitle => {}
            Use::Heading(depth) => self.draft.heading(depth, text),
            Use::Title if self.draft.paper.title.is_none() => self.draft.title(text),
            Use::Author => {
                for name in fields::names(text) {
                    self.draft.author(&name);
                }
            }
            Use::Date => self.draft.date(text),
            Use::Abstract => {
                let bare = fields::after_label(text, fields::Role::Abstract).unwrap_or(text);
                self.draft.add_abstract(bare);
            }
            Use::Keywords => {
                self.draft.keywords(fields::after_label(text, fields::Role::Keywords).unwrap_or(text));
            }
            Use::Reference if fields::role(&draft::clean(text)).is_some() => self.draft.heading(1, text),
            Use::Reference => {
                if !draft::clean(text).is_empty() {
                    self.draft.begin_references();
                    self.draft.paragraph(Kind::Text, text);
                }
            }
            // An unstyled paragraph of nothing but "References" is a heading.
            Use::Plain(Kind::Text) if text.len() < 60 && fields::role(&draft::clean(text)).is_some() => {
                self.draft.heading(1, text);
            }
            Use::Plain(kind) => self.draft.paragraph(kind, text),
            Use::Title | Use::Subtitle => self.draft.paragraph(Kind::Text, text),
        }
    }

    fn end_code(&mut self) {
        let code = std::mem::take(&mut self.code);
        self.draft.paragraph(Kind::Code, &code);
    }

    fn table(&mut self, table: Element<'t>) {
        self.end_code();
        let rows: Vec<Element<'t>> = rows(table);
        let cells: Vec<Vec<Element<'t>>> = rows.iter().map(|row| row.all("tc").collect()).collect();
        // A table of one cell is a frame around text.
        if let [only] = cells.as_slice()
            && let [cell] = only.as_slice()
        {
            self.blocks(*cell);
            return;
        }
        let page = self.draft.page;
        let mut lines = Vec::new();
        for row in cells {
            let mut line = Vec::new();
            for cell in row {
                line.push(self.cell(cell));
            }
            lines.push(line);
        }
        let after = std::mem::replace(&mut self.draft.page, page);
        self.draft.paragraph(Kind::Table, &draft::table(lines.into_iter()));
        self.draft.page = after;
        for note in std::mem::take(&mut self.cited) {
            self.draft.footnote(&note.text());
        }
        self.boxes.clear();
    }

    /// The text of a cell, tables in it included, on one line.
    fn cell(&mut self, cell: Element<'t>) -> String {
        for paragraph in cell.below("p") {
            self.inline(paragraph);
            self.draft.push(" ");
        }
        draft::clean(&self.draft.take_buffer())
    }

    /// Adds the text of runs to the paragraph.
    fn inline(&mut self, parent: Element<'t>) {
        for part in parent.elements() {
            match part.name() {
                "r" if self.is_hidden(part) => {}
                "r" | "ins" | "moveTo" | "hyperlink" | "smartTag" | "fldSimple" | "sdt" | "sdtContent"
                | "customXml" | "dir" | "bdo" | "rubyBase" | "ruby" => self.inline(part),
                "t" => {
                    for child in part.children() {
                        if let Child::Text(text) = child {
                            self.draft.push(text);
                        }
                    }
                }
                "tab" | "ptab" => self.draft.push("\t"),
                "br" | "cr" if part.attribute("type") != Some("page") => {
                    self.draft.push("\n");
                }
                "lastRenderedPageBreak" => {
                    self.draft.page = self.draft.page.map(|page| page.saturating_add(1));
                }
                "noBreakHyphen" => self.draft.push("-"),
                "sym" => {
                    let code = part.attribute("char").and_then(|hex| u32::from_str_radix(hex, 16).ok());
                    // Private characters mean something only in their font.
                    if let Some(c) =
                        code.and_then(char::from_u32).filter(|c| !('\u{E000}'..='\u{F8FF}').contains(c))
                    {
                        self.draft.push(c.encode_utf8(&mut [0; 4]));
                    }
                }
                "oMath" | "oMathPara" => {
                    let formula = math::omml(part);
                    self.draft.push(&formula);
                }
                "footnoteReference" | "endnoteReference" => {
                    let kind = if part.name() == "footnoteReference" { "footnote" } else { "endnote" };
                    let note = part.attribute("id").and_then(|id| self.notes.remove(&(kind, id)));
                    self.cited.extend(note);
                }
                "AlternateContent" => {
                    if let Some(choice) = part.child("Choice").or_else(|| part.child("Fallback")) {
                        self.inline(choice);
                    }
                }
                "drawing" | "pict" | "object" => self.boxes.extend(outermost_boxes(part)),
                _ => {}
            }
        }
    }

    fn is_hidden(&self, run: Element<'_>) -> bool {
        let Some(properties) = run.child("rPr") else { return false };
        let style = properties.child("rStyle").and_then(|style| style.attribute("val"));
        properties.child("vanish").map_or_else(|| style.is_some_and(|style| self.styles.hides(style)), is_on)
    }
}

/// Text boxes that are not inside another one.
fn outermost_boxes(part: Element<'_>) -> Vec<Element<'_>> {
    let mut found = Vec::new();
    for child in part.elements() {
        match child.name() {
            "txbxContent" => found.push(child),
            // The fallback repeats the text for old programs.
            "AlternateContent" => {
                found.extend(
                    child
                        .child("Choice")
                        .or_else(|| child.child("Fallback"))
                        .map(outermost_boxes)
                        .into_iter()
                        .flatten(),
                );
            }
            _ => found.extend(outermost_boxes(child)),
        }
    }
    found
}

fn rows(table: Element<'_>) -> Vec<Element<'_>> {
    let mut rows = Vec::new();
    for child in table.elements() {
        match child.name() {
            "tr" => rows.push(child),
            "sdt" | "sdtContent" | "customXml" | "ins" => rows.extend(self::rows(child)),
            _ => {}
        }
    }
    rows
}
