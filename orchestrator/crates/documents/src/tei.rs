//! TEI, as GROBID writes it, and as editions do.

use crate::budget::Budget;
use crate::draft::{self, Draft};
use crate::fields;
use crate::math;
use crate::paper::{Cited, Kind, Paper};
use crate::xml::{Child, Element, Markup, Tree};
use crate::{ReadError, Result};

pub(crate) fn read(bytes: &[u8], budget: &mut Budget) -> Result<Paper> {
    let tree = Tree::read(bytes, Markup::Strict, &[], budget)?;
    let Some(root) = tree.root() else { return Err(ReadError::NoText) };
    let document = if matches!(root.name(), "TEI" | "TEI.2") {
        root
    } else if let Some(first) = root.below("TEI").next() {
        budget.leave_out("further texts of a TEI corpus");
        first
    } else {
        let why = format!("its outermost element is `{}`, not `TEI`", root.name());
        return Err(ReadError::OtherFormat(why));
    };
    let mut reader = Tei { draft: Draft::new(budget) };
    if let Some(header) = document.child("teiHeader") {
        reader.header(header);
    }
    let text = document.child("text");
    let language = [text, Some(document), document.child("teiHeader")];
    reader.draft.paper.language =
        language.into_iter().flatten().find_map(|it| it.attribute("xml:lang")).map(str::to_owned);
    if let Some(text) = text {
        for part in ["front", "body", "back"] {
            if let Some(part) = text.child(part) {
                reader.blocks(part, 1);
            }
        }
        if let Some(group) = text.child("group") {
            reader.blocks(group, 1);
        }
    }
    Ok(reader.draft.finish())
}

struct Tei<'b> {
    draft: Draft<'b>,
}

impl Tei<'_> {
    fn header(&mut self, header: Element<'_>) {
        let file = header.child("fileDesc");
        let stated = file.and_then(|file| file.at("titleStmt"));
        let source = file.and_then(|file| file.at("sourceDesc/biblStruct"));
        if let Some(title) =
            stated.and_then(main_title).or_else(|| source?.child("analytic").and_then(main_title))
        {
            self.draft.title(&title);
        }
        let analytic = source.and_then(|source| source.child("analytic"));
        let monograph = source.and_then(|source| source.child("monogr"));
        for part in [analytic, monograph, stated].into_iter().flatten() {
            if self.draft.paper.authors.is_empty() {
                for author in part.all("author") {
                    self.draft.author(&name_of(author));
                }
            }
        }
        for id in source.into_iter().flat_map(|source| source.below("idno").collect::<Vec<_>>()) {
            self.draft.id(fields::typed_id(id.attribute("type").unwrap_or_default(), &id.text()));
        }
        self.draft.paper.venue = monograph.and_then(main_title).filter(|_| analytic.is_some());
        let dates = [
            monograph.and_then(|monograph| monograph.at("imprint/date")),
            file.and_then(|file| file.at("publicationStmt/date")),
        ];
        for date in dates.into_iter().flatten() {
            self.draft.date(&date.attribute("when").map_or_else(|| date.text(), str::to_owned));
        }
        let profile = header.child("profileDesc");
        if let Some(element) = profile.and_then(|profile| profile.child("abstract")) {
            let paragraphs: Vec<String> = element.outermost("p").map(inline).collect();
            if paragraphs.is_empty() {
                self.draft.add_abstract(&inline(element));
            }
            for text in paragraphs {
                self.draft.add_abstract(&text);
            }
        }
        if let Some(words) = profile.and_then(|profile| profile.at("textClass/keywords")) {
            let terms: Vec<String> = words.below("term").map(inline).collect();
            self.draft.keywords(&if terms.is_empty() { inline(words) } else { terms.join(";") });
        }
    }

    fn blocks(&mut self, parent: Element<'_>, depth: u8) {
        for block in parent.elements() {
            self.block(block, depth);
        }
    }

    fn block(&mut self, block: Element<'_>, depth: u8) {
        self.turn(block);
        match block.name() {
            "div" | "div1" | "div2" | "div3" | "div4" | "text" | "front" | "body" | "back" => {
                self.division(block, depth);
            }
            "head" => self.draft.heading(depth, &inline(block)),
            "p" | "ab" | "quote" | "cit" | "lg" | "sp" | "epigraph" => {
                self.mixed(block, Kind::Text, depth);
                self.draft.flush(Kind::Text);
            }
            "formula" => self.draft.paragraph(Kind::Text, &inline(block)),
            "figure" => {
                let parts = ["head", "label", "figDesc"].map(|name| block.child(name).map(inline));
                let [head, label, description] = parts.map(|part| part.filter(|text| !text.is_empty()));
                // The label is the number that the head begins with.
                let head = head.or_else(|| label.map(|label| format!("Figure {label}")));
                let parts: Vec<String> = [head, description].into_iter().flatten().collect();
                self.draft.paragraph(Kind::Caption, &parts.join(" "));
                for table in block.all("table") {
                    self.table(table);
                }
                for note in block.all("note") {
                    self.draft.paragraph(Kind::Footnote, &inline(note));
                }
            }
            "table" => {
                self.draft.paragraph(Kind::Caption, &block.child("head").map(inline).unwrap_or_default());
                self.table(block);
            }
            "list" => {
                for item in block.elements() {
                    if matches!(item.name(), "item" | "label") {
                        self.mixed(item, Kind::ListItem, depth);
                        self.draft.flush(Kind::ListItem);
                    }
                }
            }
            "note" => self.draft.footnote(&inline(block)),
            "listBibl" => {
                self.draft.begin_references();
                for entry in block
                    .elements()
                    .filter(|entry| matches!(entry.name(), "biblStruct" | "bibl" | "biblFull"))
                {
                    self.draft.reference(cited(entry));
                }
            }
            "pb" | "fw" | "graphic" => {}
            _ => self.blocks(block, depth),
        }
    }

    fn division(&mut self, division: Element<'_>, depth: u8) {
        let kind = division.attribute("type").unwrap_or_default();
        let heading = division.child("head");
        // GROBID writes sections side by side and their depth as a number: `2.1`.
        let number = heading.and_then(|head| head.attribute("n")).map(|n| n.trim_end_matches('.'));
        let depth = number.map_or(depth, |n| depth.max(n.split('.').count().min(9) as u8));
        match heading.map(inline).filter(|text| !text.is_empty()) {
            Some(text) => {
                let number =
                    number.filter(|n| !text.starts_with(*n)).map(|n| format!("{n} ")).unwrap_or_default();
                self.draft.heading(depth, &format!("{number}{text}"));
            }
            None if matches!(kind, "acknowledgement" | "acknowledgment") => {
                self.draft.heading(depth, "Acknowledgments");
            }
            None if matches!(kind, "annex" | "availability" | "funding") => self.draft.break_section(),
            None => {}
        }
        let mut first = true;
        for block in division.elements() {
            if block.name() == "head" && std::mem::take(&mut first) {
                continue;
            }
            self.block(block, depth.saturating_add(u8::from(heading.is_some())));
        }
    }

    /// A paragraph that may hold blocks and page breaks.
    fn mixed(&mut self, element: Element<'_>, kind: Kind, depth: u8) {
        for child in element.children() {
            match child {
                Child::Text(text) => self.draft.push(text),
                Child::Element(child) => match child.name() {
                    "pb" => self.turn(child),
                    "note" => self.draft.footnote(&inline(child)),
                    "list" | "table" | "figure" | "p" | "div" | "listBibl" => {
                        self.draft.flush(kind);
                        self.block(child, depth);
                    }
                    _ if child
                        .descendants()
                        .any(|below| matches!(below.name(), "note" | "list" | "table" | "pb")) =>
                    {
                        self.mixed(child, kind, depth);
                    }
                    _ => {
                        let mut text = String::new();
                        write(child, &mut text);
                        self.draft.push(&text);
                    }
                },
            }
        }
    }

    /// Notes the page: a page break with its number, or coordinates (`3,72.0,…`).
    fn turn(&mut self, element: Element<'_>) {
        let page = if element.name() == "pb" {
            element.attribute("n")
        } else {
            element.attribute("coords").and_then(|coords| coords.split(',').next())
        };
        let page = page.and_then(|page| page.trim().parse().ok()).filter(|page| *page > 0);
        self.draft.page = page.or(self.draft.page);
    }

    fn table(&mut self, table: Element<'_>) {
        let cells = |row: Element<'_>| row.all("cell").map(inline).collect::<Vec<_>>();
        self.draft.paragraph(Kind::Table, &draft::table(table.outermost("row").map(cells)));
    }
}

/// The main title among several.
fn main_title(parent: Element<'_>) -> Option<String> {
    let is = |title: &Element<'_>| title.attribute("type") == Some("main");
    let text = |title: Element<'_>| Some(inline(title)).filter(|text| !text.is_empty());
    parent.all("title").find(is).and_then(text).or_else(|| parent.all("title").find_map(text))
}

/// Given name first.
fn name_of(author: Element<'_>) -> String {
    let Some(name) = author.child("persName").or_else(|| author.child("name")) else {
        return author.child("orgName").map_or_else(|| own_text(author), inline);
    };
    let given: Vec<String> = name.all("forename").map(inline).collect();
    let family: Vec<String> = name.all("surname").map(inline).collect();
    if family.is_empty() && given.is_empty() { inline(name) } else { [given, family].concat().join(" ") }
}

/// Text that stands in an element itself, without addresses and the like below it.
fn own_text(element: Element<'_>) -> String {
    let text = element.children().map(|child| if let Child::Text(text) = child { text } else { "" });
    draft::clean(&text.collect::<String>())
}

fn cited(entry: Element<'_>) -> Cited {
    let mut cited = Cited::default();
    let analytic = entry.child("analytic");
    let monograph = entry.child("monogr");
    let parts: Vec<Element<'_>> = [analytic, monograph, Some(entry)].into_iter().flatten().collect();
    let authors = parts.iter().map(|part| part.all("author").map(name_of).collect::<Vec<_>>());
    cited.authors = authors.into_iter().find(|names| !names.is_empty()).unwrap_or_default();
    cited.authors.retain(|name| !name.is_empty());
    cited.title = parts.iter().find_map(|part| main_title(*part));
    for id in entry.below("idno") {
        let id = fields::typed_id(id.attribute("type").unwrap_or_default(), &id.text());
        if let Some(id) = id {
            fields::add_id(&mut cited.ids, id);
        }
    }
    let date = entry.below("date").next();
    let date = date.map(|date| date.attribute("when").map_or_else(|| date.text(), str::to_owned));
    cited.year = date.as_deref().and_then(fields::year_in);
    let raw = entry.below("note").find(|note| note.attribute("type") == Some("raw_reference")).map(inline);
    cited.text = match raw {
        Some(raw) => raw,
        None if entry.name() == "bibl" => inline(entry),
        None => {
            let authors = (!cited.authors.is_empty()).then(|| cited.authors.join(", "));
            let venue = monograph.and_then(main_title).filter(|venue| Some(venue) != cited.title.as_ref());
            let year = cited.year.map(|year| format!("({year})"));
            [authors, year, cited.title.clone(), venue].into_iter().flatten().collect::<Vec<_>>().join(". ")
        }
    };
    cited
}

fn inline(element: Element<'_>) -> String {
    let mut text = String::new();
    write(element, &mut text);
    draft::clean(&text)
}

fn write(element: Element<'_>, out: &mut String) {
    for child in element.children() {
        match child {
            Child::Text(text) => out.push_str(text),
            Child::Element(child) => match child.name() {
                "lb" | "pb" | "cb" => {
                    if child.attribute("break") != Some("no") {
                        out.push(' ');
                    }
                }
                "math" => out.push_str(&math::mathml(child)),
                "choice" => {
                    // The corrected or regular form of two.
                    let forms = ["corr", "reg", "expan"].iter().find_map(|form| child.child(form));
                    if let Some(form) = forms.or_else(|| child.elements().next()) {
                        write(form, out);
                    }
                }
                "del" | "graphic" | "fw" => {}
                name => {
                    let apart = matches!(name, "p" | "item" | "cell" | "row" | "l" | "head" | "div" | "s");
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
