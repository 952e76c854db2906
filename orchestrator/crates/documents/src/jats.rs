//! JATS and its ancestors (NLM DTD): PubMed Central, Europe PMC, publishers.

use crate::ReadError;
use crate::Result;
use crate::budget::Budget;
use crate::draft::{self, Draft};
use crate::fields;
use crate::math;
use crate::paper::{Cited, Kind, Paper};
use crate::xml::{Child, Element, Markup, Tree};
use lyra_domain::Identifier;
use std::collections::HashMap;

pub(crate) fn read(bytes: &[u8], budget: &mut Budget) -> Result<Paper> {
    let tree = Tree::read(bytes, Markup::Strict, &[], budget)?;
    let Some(root) = tree.root() else { return Err(ReadError::NoText) };
    let articles: Vec<Element<'_>> = if root.name() == "article" {
        vec![root]
    } else {
        // Answers of PubMed Central wrap articles.
        root.below("article").filter(|article| article.child("front").is_some()).collect()
    };
    let Some(article) = articles.first().copied() else {
        let why = format!("its outermost element is `{}`, not the `article` of JATS", root.name());
        return Err(ReadError::OtherFormat(why));
    };
    if articles.len() > 1 {
        budget.leave_out(format!("{} further articles in the same file", articles.len() - 1));
    }
    let mut reader = Jats { draft: Draft::new(budget), notes: HashMap::new() };
    reader.article(article);
    Ok(reader.draft.finish())
}

struct Jats<'b, 't> {
    draft: Draft<'b>,
    /// Footnotes that no paragraph has referred to yet, by their ids.
    notes: HashMap<&'t str, Element<'t>>,
}

impl<'t> Jats<'_, 't> {
    fn article(&mut self, article: Element<'t>) {
        self.notes = article.below("fn").filter_map(|note| Some((note.attribute("id")?, note))).collect();
        self.draft.paper.language = article.attribute("lang").map(str::to_owned);
        if let Some(front) = article.child("front") {
            self.front(front);
        }
        if let Some(body) = article.child("body") {
            self.blocks(body, 1);
        }
        if let Some(floats) = article.child("floats-group").or_else(|| article.child("floats-wrap")) {
            self.blocks(floats, 1);
        }
        if let Some(back) = article.child("back") {
            self.blocks(back, 1);
        }
        let further = article.all("sub-article").chain(article.all("response")).count();
        if further > 0 {
            self.draft.budget.leave_out(format!("{further} sub-articles, such as reviews and answers"));
        }
    }

    fn front(&mut self, front: Element<'t>) {
        let journal = front.child("journal-meta");
        let venue = journal.and_then(|journal| {
            let paths = ["journal-title-group/journal-title", "journal-title", "journal-id"];
            paths.iter().find_map(|path| journal.text_at(path))
        });
        self.draft.paper.venue = venue;
        let Some(meta) = front.child("article-meta") else { return };
        for id in meta.all("article-id") {
            self.draft.id(fields::typed_id(id.attribute("pub-id-type").unwrap_or_default(), &id.text()));
        }
        let titles = meta.child("title-group").unwrap_or(meta);
        if let Some(title) = titles.child("article-title") {
            let mut text = inline(title);
            if let Some(subtitle) = titles.child("subtitle") {
                text = format!("{}: {}", text.trim_end_matches(':'), inline(subtitle));
            }
            self.draft.title(&text);
        }
        for contributor in
            meta.all("contrib-group").flat_map(|group| group.all("contrib").collect::<Vec<_>>())
        {
            if contributor.attribute("contrib-type").is_none_or(|kind| kind == "author") {
                for name in contributor_names(contributor) {
                    self.draft.author(&name);
                }
            }
        }
        self.dates(meta);
        for words in meta.all("kwd-group") {
            for word in words.below("kwd") {
                let word = inline(word);
                if !self.draft.paper.keywords.contains(&word) {
                    self.draft.keywords(&word.replace([';', ','], " "));
                }
            }
        }
        let plain = |a: &Element<'_>| {
            let kind = a.attribute("abstract-type");
            kind.is_none_or(|kind| !["graphical", "teaser", "toc", "key-points", "summary"].contains(&kind))
        };
        let abstracts: Vec<Element<'_>> = meta.all("abstract").collect();
        if let Some(chosen) = abstracts.iter().find(|a| plain(a)).or(abstracts.first()) {
            self.abstract_of(*chosen);
        }
    }

    fn dates(&mut self, meta: Element<'t>) {
        // The version of record, else whatever is known; the day of the first that has one.
        let kind = |date: &Element<'_>| {
            let kinds = ["date-type", "pub-type"].iter().find_map(|name| date.attribute(name));
            match kinds.unwrap_or_default() {
                "epub" | "pub" => 0,
                "ppub" | "epub-ppub" => 1,
                "collection" | "pmc-release" | "preprint" => 3,
                _ => 2,
            }
        };
        let mut dates: Vec<Element<'_>> = meta.all("pub-date").collect();
        dates.sort_by_key(kind);
        let part = |date: &Element<'_>, name: &str| date.text_at(name).unwrap_or_default();
        let year = dates.iter().find_map(|date| part(date, "year").parse::<i32>().ok());
        let day = dates
            .iter()
            .find_map(|date| fields::day_of(&part(date, "year"), &part(date, "month"), &part(date, "day")));
        // Year and day must agree.
        self.draft.paper.year = day.as_deref().and_then(fields::year_in).or(year);
        self.draft.paper.date = day;
    }

    fn abstract_of(&mut self, element: Element<'t>) {
        // The title of a part ("Methods") begins its first line.
        let mut title = element.child("title").map(inline).filter(|_| element.name() == "sec");
        for part in element.elements() {
            match part.name() {
                "title" | "label" => {}
                "sec" => self.abstract_of(part),
                _ => {
                    let text = inline(part);
                    match title.take().filter(|title| !title.is_empty()) {
                        Some(title) => {
                            self.draft
                                .add_abstract(&format!("{}: {text}", title.trim_end_matches([':', '.'])));
                        }
                        None => self.draft.add_abstract(&text),
                    }
                }
            }
        }
        if self.draft.paper.abstract_text.is_none() {
            self.draft.add_abstract(&inline(element));
        }
    }

    fn blocks(&mut self, parent: Element<'t>, depth: u8) {
        for block in parent.elements() {
            self.block(block, depth);
        }
    }

    fn block(&mut self, block: Element<'t>, depth: u8) {
        match block.name() {
            "sec" | "app" | "ack" | "bio" | "notes" | "glossary" | "boxed-text" | "statement" => {
                let title = block.child("title").or_else(|| block.at("caption/title")).map(inline);
                let label = block.text_at("label");
                let heading = match (label, title) {
                    (Some(label), Some(title)) => format!("{label} {title}"),
                    (label, title) => label.or(title).unwrap_or_default(),
                };
                let heading = match (heading.is_empty(), block.name()) {
                    (true, "ack") => "Acknowledgments".to_owned(),
                    _ => heading,
                };
                self.draft.heading(depth, &heading);
                for child in block.elements().filter(|child| !matches!(child.name(), "title" | "label")) {
                    self.block(child, depth.saturating_add(1));
                }
            }
            "title" if !self.draft.in_references() => self.draft.heading(depth, &inline(block)),
            "p" | "disp-quote" | "attrib" | "verse-group" | "verse-line" | "speech" => {
                self.mixed(block, Kind::Text, depth);
                self.draft.flush(Kind::Text);
            }
            "fig" | "table-wrap" | "supplementary-material" | "media" | "graphic" | "chem-struct-wrap" => {
                self.float(block, depth);
            }
            "list" | "def-list" => self.list(block, depth),
            "disp-formula" | "disp-formula-group" => self.draft.paragraph(Kind::Text, &inline(block)),
            "code" | "preformat" => self.draft.paragraph(Kind::Code, &raw(block)),
            // One that a paragraph has referred to stands there.
            "fn" if block.attribute("id").is_none_or(|id| self.notes.remove(id).is_some()) => {
                self.draft.footnote(&without_label(block));
            }
            "ref-list" => self.references(block),
            "table" => self.table(block),
            "fig-group" | "table-wrap-group" | "app-group" | "fn-group" | "sec-group" | "alternatives" => {
                self.blocks(block, depth);
            }
            "fn" | "sec-meta" | "object-id" | "label" | "title" | "title-group" => {}
            _ => self.blocks(block, depth),
        }
    }

    /// A paragraph that may hold blocks: those end it.
    fn mixed(&mut self, element: Element<'t>, kind: Kind, depth: u8) {
        for child in element.children() {
            match child {
                Child::Text(text) => self.draft.push(text),
                Child::Element(child) if is_block(child.name()) => {
                    self.draft.flush(kind);
                    self.block(child, depth);
                }
                Child::Element(child) if child.name() == "fn" => self.block(child, depth),
                Child::Element(child) if child.attribute("ref-type") == Some("fn") => {
                    if let Some(note) = child.attribute("rid").and_then(|id| self.notes.remove(id)) {
                        self.draft.footnote(&without_label(note));
                    }
                }
                Child::Element(child)
                    if child.descendants().any(|below| is_block(below.name()) || below.name() == "fn") =>
                {
                    self.mixed(child, kind, depth);
                }
                Child::Element(child) => {
                    let mut text = String::new();
                    write(child, &mut text);
                    self.draft.push(&text);
                }
            }
        }
    }

    fn float(&mut self, float: Element<'t>, depth: u8) {
        let label = float.text_at("label").unwrap_or_default();
        let caption = float.child("caption").map(|caption| {
            let parts: Vec<String> = caption.elements().map(inline).filter(|part| !part.is_empty()).collect();
            if parts.is_empty() { inline(caption) } else { parts.join(" ") }
        });
        let text = match caption {
            Some(caption) if label.is_empty() => caption,
            Some(caption) => format!("{}. {caption}", label.trim_end_matches(['.', ':'])),
            None => label,
        };
        self.draft.paragraph(Kind::Caption, &text);
        for child in float.elements() {
            match child.name() {
                "label" | "caption" | "object-id" | "permissions" | "alt-text" | "long-desc" => {}
                "table-wrap-foot" => {
                    for note in child.elements() {
                        self.draft.paragraph(Kind::Footnote, &inline(note));
                    }
                }
                _ => self.block(child, depth),
            }
        }
    }

    fn table(&mut self, table: Element<'t>) {
        let cells = |row: Element<'_>| {
            row.elements().filter(|cell| matches!(cell.name(), "td" | "th")).map(inline).collect::<Vec<_>>()
        };
        self.draft.paragraph(Kind::Table, &draft::table(table.outermost("tr").map(cells)));
    }

    fn list(&mut self, list: Element<'t>, depth: u8) {
        for item in list.elements() {
            match item.name() {
                "list-item" => {
                    for part in item.elements().filter(|part| part.name() != "label") {
                        if matches!(part.name(), "p" | "title") {
                            self.mixed(part, Kind::ListItem, depth);
                            self.draft.flush(Kind::ListItem);
                        } else {
                            self.block(part, depth);
                        }
                    }
                }
                "def-item" => {
                    let part = |name| item.child(name).map(inline).unwrap_or_default();
                    self.draft.paragraph(Kind::ListItem, &format!("{}: {}", part("term"), part("def")));
                }
                _ => self.block(item, depth),
            }
        }
    }

    fn references(&mut self, list: Element<'t>) {
        self.draft.begin_references();
        for entry in list.elements() {
            match entry.name() {
                "ref" => {
                    for citation in entry.elements() {
                        let parts = if citation.name() == "citation-alternatives" {
                            citation.elements().take(1).collect()
                        } else {
                            vec![citation]
                        };
                        for part in parts.into_iter().filter(|part| part.name().contains("citation")) {
                            self.draft.reference(cited(part));
                        }
                    }
                }
                "ref-list" => self.references(entry),
                _ => {}
            }
        }
    }
}

/// Names of a contributor: a person, a group, or a name as one string.
fn contributor_names(contributor: Element<'_>) -> Vec<String> {
    let named = contributor.child("name").or_else(|| contributor.at("name-alternatives/name"));
    if let Some(name) = named {
        return vec![person(name)];
    }
    ["string-name", "name-alternatives/string-name", "collab", "anonymous"]
        .iter()
        .find_map(|path| contributor.at(path))
        .map(|name| if name.child("surname").is_some() { person(name) } else { group_name(name) })
        .into_iter()
        .collect()
}

/// The name of a group without its members.
fn group_name(name: Element<'_>) -> String {
    let mut text = String::new();
    for child in name.children() {
        match child {
            Child::Text(part) => text.push_str(part),
            Child::Element(child) if !matches!(child.name(), "contrib-group" | "xref" | "aff") => {
                text.push_str(&child.text());
            }
            Child::Element(_) => {}
        }
    }
    draft::clean(&text)
}

fn person(name: Element<'_>) -> String {
    let part = |part: &str| name.text_at(part).unwrap_or_default();
    let (family, given, suffix) = (part("surname"), part("given-names"), part("suffix"));
    let eastern = name.attribute("name-style") == Some("eastern") && !family.is_ascii();
    let full = if eastern { format!("{family} {given}") } else { format!("{given} {family} {suffix}") };
    draft::clean(&full)
}

/// An entry of the reference list, as printed or put together from its fields.
fn cited(citation: Element<'_>) -> Cited {
    let mut cited = Cited::default();
    for name in citation.descendants() {
        match name.name() {
            "name" if name.child("surname").is_some() => cited.authors.push(person(name)),
            "string-name" | "collab" => {
                let text = if name.child("surname").is_some() { person(name) } else { name.text() };
                cited.authors.push(text);
            }
            "pub-id" => {
                let id = fields::typed_id(name.attribute("pub-id-type").unwrap_or_default(), &name.text());
                if let Some(id) = id {
                    fields::add_id(&mut cited.ids, id);
                }
            }
            "ext-link" | "uri" => {
                let link = name.attribute("href").map_or_else(|| name.text(), str::to_owned);
                let ids = Identifier::in_url(&link).into_iter();
                ids.for_each(|id| fields::add_id(&mut cited.ids, id));
            }
            _ => {}
        }
    }
    cited.authors.retain(|name| !name.is_empty());
    let field = |name: &str| citation.below(name).next().map(inline).filter(|text| !text.is_empty());
    cited.title = ["article-title", "chapter-title", "part-title", "data-title", "source"]
        .iter()
        .find_map(|n| field(n));
    cited.year = field("year").and_then(|year| fields::year_in(year.get(..4).unwrap_or(&year)));
    let mixed =
        citation.children().any(|child| matches!(child, Child::Text(text) if text.contains(['.', ',', ';'])));
    cited.text = if mixed {
        inline(citation)
    } else {
        let source = field("source").filter(|source| Some(source) != cited.title.as_ref());
        let pages = field("fpage").map(|first| match field("lpage") {
            Some(last) => format!("{first}-{last}"),
            None => first,
        });
        let volume = field("volume").map(|volume| match &pages {
            Some(pages) => format!("{volume}:{pages}"),
            None => volume,
        });
        let authors = (!cited.authors.is_empty()).then(|| cited.authors.join(", "));
        let year = field("year").map(|year| format!("({year})"));
        let parts = [authors, year, cited.title.clone(), source, volume.or(pages)];
        let text = parts.into_iter().flatten().collect::<Vec<_>>().join(". ");
        if text.is_empty() { inline(citation) } else { text }
    };
    cited
}

/// Elements that stand for themselves inside a paragraph.
fn is_block(name: &str) -> bool {
    matches!(
        name,
        "p" | "fig"
            | "fig-group"
            | "table-wrap"
            | "table-wrap-group"
            | "list"
            | "def-list"
            | "disp-formula"
            | "disp-formula-group"
            | "disp-quote"
            | "boxed-text"
            | "code"
            | "preformat"
            | "supplementary-material"
            | "table"
            | "verse-group"
            | "speech"
            | "statement"
            | "sec"
    )
}

/// A note without its mark.
fn without_label(note: Element<'_>) -> String {
    let parts: Vec<String> = note.all("p").map(inline).collect();
    if parts.is_empty() { inline(note) } else { parts.join(" ") }
}

fn inline(element: Element<'_>) -> String {
    let mut text = String::new();
    write(element, &mut text);
    draft::clean(&text)
}

fn write(element: Element<'_>, out: &mut String) {
    match element.name() {
        "math" => out.push_str(&math::mathml(element)),
        "tex-math" => out.push_str(&math::tex_document(&element.text())),
        // The same formula in several languages.
        "alternatives" => {
            let formula = ["tex-math", "math", "textual-form"].iter().find_map(|name| element.child(name));
            if let Some(formula) = formula.or_else(|| element.elements().next()) {
                write(formula, out);
            }
        }
        "break" => out.push(' '),
        "graphic" | "inline-graphic" | "object-id" | "alt-text" | "long-desc" => {}
        _ => {
            for child in element.children() {
                match child {
                    Child::Text(text) => out.push_str(text),
                    Child::Element(child) => {
                        let apart = is_block(child.name())
                            || matches!(child.name(), "list-item" | "td" | "th" | "tr");
                        if apart {
                            out.push(' ');
                        }
                        write(child, out);
                        if apart {
                            out.push(' ');
                        }
                    }
                }
            }
        }
    }
}

/// Text with its line breaks.
fn raw(element: Element<'_>) -> String {
    let mut text = String::new();
    for child in element.children() {
        match child {
            Child::Text(part) => text.push_str(part),
            Child::Element(child) => text.push_str(&raw(child)),
        }
    }
    text
}
