//! ODT (`OpenDocument` text): `LibreOffice`, pandoc; packed, or flat as one XML file.

use crate::archive::Archive;
use crate::budget::Budget;
use crate::draft::{self, Draft};
use crate::fields;
use crate::math;
use crate::paper::{Kind, Paper};
use crate::xml::{Child, Element, Markup, Tree};
use crate::{ReadError, Result};
use std::collections::HashMap;

/// Styles that follow each other.
const LONGEST_CHAIN: usize = 12;
/// Blanks in a row that are kept, for the sake of listings.
const MOST_BLANKS: usize = 40;
/// Embedded formulas that are read.
const MOST_FORMULAS: usize = 2_000;

pub(crate) fn read(bytes: &[u8], budget: &mut Budget) -> Result<Paper> {
    if !bytes.starts_with(b"PK") && !bytes.starts_with(&[0xD0, 0xCF]) {
        let flat = Tree::read(bytes, Markup::Strict, &["binary-data"], budget)?;
        return text_of(&flat, &[&flat], HashMap::new(), budget);
    }
    let mut archive = Archive::open(bytes, budget)?;
    if let Some(manifest) = archive.member("META-INF/manifest.xml", budget)? {
        let manifest = Tree::read(&manifest, Markup::Strict, &[], budget)?;
        if manifest.root().is_some_and(|root| root.below("encryption-data").next().is_some()) {
            return Err(ReadError::Encrypted);
        }
    }
    let Some(content) = archive.member("content.xml", budget)? else {
        return Err(ReadError::OtherFormat("it is not an ODT file: it has no `content.xml`".to_owned()));
    };
    let content = Tree::read(&content, Markup::Strict, &["binary-data"], budget)?;
    let mut part = |name: &str, budget: &mut Budget| match archive.member(name, budget)? {
        Some(bytes) => Tree::read(&bytes, Markup::Strict, &[], budget),
        None => Ok(Tree::default()),
    };
    let styles = part("styles.xml", budget)?;
    let meta = part("meta.xml", budget)?;
    let mut formulas = HashMap::new();
    for object in content.root().into_iter().flat_map(|root| root.below("object")).take(MOST_FORMULAS) {
        let Some(name) = object.attribute("href").map(member) else { continue };
        let tree = part(&format!("{name}/content.xml"), budget)?;
        if let Some(formula) = tree.root().filter(|root| root.name() == "math") {
            formulas.insert(name.to_owned(), math::mathml(formula));
        }
    }
    text_of(&content, &[&content, &styles, &meta], formulas, budget)
}

fn text_of(
    content: &Tree,
    parts: &[&Tree],
    formulas: HashMap<String, String>,
    budget: &mut Budget,
) -> Result<Paper> {
    let roots: Vec<Element<'_>> = parts.iter().filter_map(|tree| tree.root()).collect();
    let body = content.root().and_then(|root| root.child("body"));
    let Some(text) = body.and_then(|body| body.child("text")) else {
        let kind = body.and_then(|body| body.elements().next()).map_or("nothing", Element::name);
        return Err(ReadError::OtherFormat(format!(
            "it is an OpenDocument file with `{kind}`, not with `text`"
        )));
    };
    let mut styles = HashMap::new();
    for style in roots.iter().flat_map(|root| root.elements()).flat_map(Element::elements) {
        if let Some(name) = style.attribute("style:name").filter(|_| style.name() == "style") {
            styles.entry(name).or_insert(style);
        }
    }
    let mut reader = Odt { draft: Draft::new(budget), styles, formulas, pages: false, code: String::new() };
    if text.below("soft-page-break").next().is_some() {
        reader.draft.page = Some(1);
        reader.pages = true;
    }
    reader.blocks(text);
    reader.end_code();
    reader.draft.flush(Kind::Text);
    if let Some(meta) = roots.iter().find_map(|root| root.child("meta")) {
        reader.meta(meta);
    }
    Ok(reader.draft.finish())
}

/// The folder of an embedded object.
fn member(href: &str) -> &str {
    href.trim_start_matches("./").trim_end_matches('/')
}

struct Odt<'b, 't> {
    draft: Draft<'b>,
    styles: HashMap<&'t str, Element<'t>>,
    formulas: HashMap<String, String>,
    pages: bool,
    /// Lines of the listing that is being read.
    code: String,
}

impl<'t> Odt<'_, 't> {
    fn meta(&mut self, meta: Element<'_>) {
        self.draft.title(&meta.text_at("title").unwrap_or_default());
        if self.draft.paper.authors.is_empty() {
            let names =
                meta.text_at("initial-creator").or_else(|| meta.text_at("creator")).unwrap_or_default();
            for name in fields::names(&names) {
                if !fields::is_program(&name) {
                    self.draft.author(&name);
                }
            }
        }
        if self.draft.paper.keywords.is_empty() {
            let words: Vec<String> = meta.all("keyword").map(Element::text).collect();
            self.draft.keywords(&words.join(if words.len() > 1 { ";" } else { "" }));
        }
        self.draft.paper.language = meta.text_at("language");
    }

    /// Names of a style and of those that it is based on.
    fn names(&self, style: Option<&'t str>) -> Vec<String> {
        let mut names = Vec::new();
        let mut next = style;
        while let Some(name) = next.filter(|_| names.len() < LONGEST_CHAIN) {
            // `Heading_20_1` has a blank in its name.
            names.push(name.replace("_20_", " ").to_lowercase());
            next = self.styles.get(name).and_then(|style| style.attribute("parent-style-name"));
        }
        names
    }

    fn blocks(&mut self, parent: Element<'t>) {
        for block in parent.elements() {
            self.block(block, Kind::Text);
        }
    }

    fn end_code(&mut self) {
        let code = std::mem::take(&mut self.code);
        self.draft.paragraph(Kind::Code, &code);
    }

    fn block(&mut self, block: Element<'t>, kind: Kind) {
        if !matches!(block.name(), "p" | "soft-page-break") {
            self.end_code();
        }
        match block.name() {
            "p" => self.paragraph(block, kind),
            "h" => {
                let depth =
                    block.attribute("outline-level").and_then(|level| level.parse().ok()).unwrap_or(1);
                self.inline(block);
                let text = self.draft.take_buffer();
                let title = self.names(block.attribute("style-name")).iter().any(|name| name == "title");
                if title && self.draft.paper.title.is_none() {
                    self.draft.title(&text);
                } else {
                    self.draft.heading(depth, &text);
                }
            }
            "list" => {
                for part in block.elements().flat_map(Element::elements) {
                    self.block(part, Kind::ListItem);
                }
            }
            "table" => self.table(block),
            "bibliography" => {
                for part in block.child("index-body").into_iter().flat_map(Element::elements) {
                    if part.name() == "p" {
                        self.draft.begin_references();
                        self.paragraph(part, Kind::Text);
                    } else {
                        self.block(part, Kind::Text);
                    }
                }
            }
            "section" | "numbered-paragraph" | "note-body" | "frame" | "g" | "text-box" => {
                for part in block.elements() {
                    self.block(part, kind);
                }
            }
            "index-title" => {
                for part in block.all("p") {
                    self.inline(part);
                    let text = self.draft.take_buffer();
                    self.draft.heading(1, &text);
                }
            }
            "soft-page-break" => self.turn(),
            // Contents, indexes, deleted text, forms, declarations, comments.
            _ => {}
        }
    }

    fn paragraph(&mut self, paragraph: Element<'t>, kind: Kind) {
        let names = self.names(paragraph.attribute("style-name"));
        let page = self.draft.page;
        // Blocks inside a paragraph, such as a framed picture with its caption, follow it.
        let mut frames = Vec::new();
        self.collect(paragraph, &mut frames);
        let text = self.draft.take_buffer();
        let after = std::mem::replace(&mut self.draft.page, page);
        let is = |wanted: &[&str]| names.iter().any(|name| wanted.contains(&name.as_str()));
        let one_line = draft::clean(&text);
        if !is(&["preformatted text", "source code"]) {
            self.end_code();
        }
        if is(&["title"]) && self.draft.paper.title.is_none() {
            self.draft.title(&text);
        } else if is(&["author", "authors"]) {
            for name in fields::names(&text) {
                self.draft.author(&name);
            }
        } else if is(&["date"]) {
            self.draft.date(&text);
        } else if is(&["abstract"]) {
            let bare = fields::after_label(&one_line, fields::Role::Abstract).unwrap_or(&one_line);
            self.draft.add_abstract(bare);
        } else if is(&[
            "caption",
            "illustration",
            "table",
            "figure",
            "drawing",
            "tablecaption",
            "figurecaption",
            "text caption",
        ]) {
            self.draft.paragraph(Kind::Caption, &text);
        } else if is(&["preformatted text", "source code"]) {
            self.code.push_str(text.trim_end());
            self.code.push('\n');
            self.draft.page = after;
            return;
        } else if let Some(depth) =
            names.iter().find_map(|name| name.strip_prefix("heading ")?.parse::<u8>().ok())
        {
            self.draft.heading(depth, &text);
        } else if one_line.len() < 60 && fields::role(&one_line).is_some() {
            self.draft.heading(1, &text);
        } else {
            let styled = is(&["bibliography 1", "references"]) && !one_line.is_empty();
            if styled {
                self.draft.begin_references();
            }
            self.draft.paragraph(kind, &text);
        }
        self.draft.page = after;
        for frame in frames {
            self.block(frame, Kind::Text);
        }
    }

    fn turn(&mut self) {
        if self.pages {
            self.draft.page = self.draft.page.map(|page| page.saturating_add(1));
        }
    }

    /// Adds inline text; frames in it are dropped.
    fn inline(&mut self, parent: Element<'t>) {
        self.collect(parent, &mut Vec::new());
    }

    fn collect(&mut self, parent: Element<'t>, frames: &mut Vec<Element<'t>>) {
        for child in parent.children() {
            let child = match child {
                Child::Text(text) => {
                    self.draft.push(text);
                    continue;
                }
                Child::Element(child) => child,
            };
            match child.name() {
                "s" => {
                    let count = child.attribute("text:c").and_then(|count| count.parse().ok()).unwrap_or(1);
                    self.draft.push(&" ".repeat(count.min(MOST_BLANKS)));
                }
                "tab" => self.draft.push("\t"),
                "line-break" => self.draft.push("\n"),
                "note" => {
                    let body = child.child("note-body");
                    let so_far = self.draft.take_buffer();
                    if let Some(body) = body {
                        self.lines(body);
                    }
                    let note = self.draft.take_buffer();
                    self.draft.put_buffer(so_far);
                    self.draft.footnote(&note);
                }
                "frame" | "g" => match child.child("object").and_then(|object| self.formula(object)) {
                    Some(formula) => self.draft.push(&formula),
                    None => frames.push(child),
                },
                "ruby" => {
                    if let Some(base) = child.child("ruby-base") {
                        self.collect(base, frames);
                    }
                }
                "soft-page-break" => self.turn(),
                "annotation" | "annotation-end" | "tracked-changes" | "hidden-text" | "hidden-paragraph"
                | "custom-shape" | "ruby-text" | "desc" | "title" | "script" => {}
                _ => self.collect(child, frames),
            }
        }
    }

    fn formula(&self, object: Element<'_>) -> Option<String> {
        if let Some(formula) = object.child("math") {
            return Some(math::mathml(formula));
        }
        self.formulas.get(member(object.attribute("href")?)).cloned()
    }

    fn table(&mut self, table: Element<'t>) {
        let mut rows = Vec::new();
        self.rows(table, &mut rows);
        self.draft.paragraph(Kind::Table, &draft::table(rows.into_iter()));
    }

    fn rows(&mut self, parent: Element<'t>, rows: &mut Vec<Vec<String>>) {
        for child in parent.elements() {
            match child.name() {
                "table-row" => {
                    let cells = child.all("table-cell").map(|cell| self.cell(cell)).collect();
                    rows.push(cells);
                }
                "table-header-rows" | "table-rows" | "table-row-group" => self.rows(child, rows),
                "soft-page-break" => self.turn(),
                _ => {}
            }
        }
    }

    /// The text of a cell on one line, tables in it included.
    fn cell(&mut self, cell: Element<'t>) -> String {
        self.lines(cell);
        draft::clean(&self.draft.take_buffer())
    }

    /// Adds the text of all paragraphs as inline text.
    fn lines(&mut self, parent: Element<'t>) {
        for part in parent.elements() {
            if matches!(part.name(), "p" | "h") {
                self.inline(part);
                self.draft.push(" ");
            } else {
                self.lines(part);
            }
        }
    }
}
