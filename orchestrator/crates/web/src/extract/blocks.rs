//! A tree of HTML as blocks of text in reading order.

use super::boilerplate::PLACE;
use crate::dom::{
    Visit, is_block_element, is_invisible_element, is_reading, single_spaces, visible_text, walk,
};
use dom_query::NodeRef;
use serde::{Deserialize, Serialize};
use url::Url;

/// A piece of the text. Offsets count characters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// What it is.
    pub kind: BlockKind,
    /// First character.
    pub start: u32,
    /// One past the last character.
    pub end: u32,
}

/// What a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum BlockKind {
    /// A heading; 1 is the highest level, 6 the lowest.
    Heading {
        /// Level.
        level: u8,
    },
    /// Running text.
    Paragraph,
    /// A list, one item a line.
    List,
    /// A table, one row a line, cells separated by ` | `.
    Table,
    /// A quotation.
    Quote,
    /// Text whose lines and spaces matter: code, verse.
    Preformatted,
    /// The caption of a figure or a table of a PDF.
    Caption,
}

/// A link in the text. Links in navigation, headers, footers, and asides do not count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Where it leads.
    pub url: Url,
    /// Its words.
    pub text: String,
    /// The block it stands in, as an index.
    pub block: usize,
    /// First character of its words in the text.
    pub start: u32,
}

/// Text with its blocks and links.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Content {
    pub(super) text: String,
    pub(super) blocks: Vec<Block>,
    pub(super) links: Vec<Link>,
    /// Of each block the element that it begins in, as `boilerplate::note` numbers them; `None` without a number.
    pub(super) places: Vec<Option<u32>>,
}

/// Puts blocks one after another, with a blank line between, and counts characters.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    pub(crate) text: String,
    pub(crate) blocks: Vec<Block>,
    chars: u32,
}

impl Builder {
    /// Adds a block and answers its index; text that is nothing but white space adds none.
    pub(crate) fn push(&mut self, kind: BlockKind, text: &str) -> Option<usize> {
        let text = text.trim_matches(|c: char| c.is_whitespace());
        if text.is_empty() {
            return None;
        }
        if !self.blocks.is_empty() {
            self.text.push_str("\n\n");
            self.chars += 2;
        }
        let start = self.chars;
        self.text.push_str(text);
        self.chars += text.chars().count() as u32;
        self.blocks.push(Block { kind, start, end: self.chars });
        Some(self.blocks.len() - 1)
    }
}

/// Reads the tree under `root`; links are resolved against `base`.
pub(super) fn read(root: NodeRef<'_>, base: &Url) -> Content {
    let mut reader = Reader::new(base);
    walk(root, |visit| reader.visit(visit));
    reader.end_block();
    reader.end_list();
    Content { text: reader.out.text, blocks: reader.out.blocks, links: reader.links, places: reader.places }
}

struct Reader<'b> {
    base: &'b Url,
    out: Builder,
    links: Vec<Link>,
    places: Vec<Option<u32>>,
    /// Of each open element the number, or that of the block element around it.
    open: Vec<Option<u32>>,
    /// The first such number around text of the block being read, and of the list.
    begins_in: Option<u32>,
    list_begins_in: Option<u32>,
    /// Text of the block being read.
    inline: String,
    /// Links of it: address and where its words begin, in bytes of `inline`.
    open_links: Vec<(Url, usize, Option<usize>)>,
    /// Parts of a page that are open and whose links are not the text's own.
    asides: usize,
    heading: Option<u8>,
    preformatted: usize,
    quotes: usize,
    /// Numbers of the items so far in the lists that are open; `None` for lists without numbers.
    lists: Vec<Option<usize>>,
    /// The next line begins an item.
    item_begins: bool,
    list_text: String,
    /// Characters of `list_text`.
    list_chars: usize,
    list_links: Vec<Found>,
}

/// A link of a block that is not placed yet: its first character counts from the block's.
struct Found {
    url: Url,
    text: String,
    start: usize,
}

impl<'b> Reader<'b> {
    fn new(base: &'b Url) -> Self {
        Self {
            base,
            out: Builder::default(),
            links: Vec::new(),
            places: Vec::new(),
            open: Vec::new(),
            begins_in: None,
            list_begins_in: None,
            inline: String::new(),
            open_links: Vec::new(),
            asides: 0,
            heading: None,
            preformatted: 0,
            quotes: 0,
            lists: Vec::new(),
            item_begins: false,
            list_text: String::new(),
            list_chars: 0,
            list_links: Vec::new(),
        }
    }

    fn visit(&mut self, visit: Visit<'_>) -> bool {
        match visit {
            Visit::Text(text) => {
                if self.begins_in.is_none() && text.chars().any(|c| !c.is_whitespace()) {
                    self.begins_in = self.open.last().copied().flatten();
                }
                self.inline.push_str(&text);
            }
            Visit::Enter(node, name) => {
                let is_read = self.enter(node, &name);
                if is_read {
                    let place = is_block_element(&name).then(|| place(&node)).flatten();
                    self.open.push(place.or_else(|| self.open.last().copied().flatten()));
                }
                return is_read;
            }
            Visit::Leave(name) => {
                self.leave(&name);
                self.open.pop();
            }
        }
        true
    }

    fn enter(&mut self, node: NodeRef<'_>, name: &str) -> bool {
        if is_invisible_element(name) || is_reading(name) {
            return false;
        }
        match name {
            "br" => {
                self.inline.push(if self.preformatted > 0 { '\n' } else { ' ' });
                return true;
            }
            "a" => {
                let url = node.attr("href").and_then(|href| link(self.base, &href));
                if let Some(url) = url.filter(|_| self.asides == 0) {
                    self.open_links.push((url, self.inline.len(), None));
                }
                return true;
            }
            "table" => {
                if let Some(rows) = data_table(node) {
                    self.end_block();
                    self.end_list();
                    if let Some(caption) = node.find(&["caption"]).first() {
                        self.begins_in = place(caption);
                        self.push(BlockKind::Paragraph, &visible_text(*caption), Vec::new());
                    }
                    self.begins_in = place(&node);
                    self.push(BlockKind::Table, &rows, Vec::new());
                    return false;
                }
            }
            _ => {}
        }
        if is_block_element(name) {
            self.end_block();
        }
        match name {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.end_list();
                self.heading = name[1..].parse().ok();
            }
            "pre" => self.preformatted += 1,
            "nav" | "header" | "footer" | "aside" => self.asides += 1,
            "blockquote" | "q" if name == "blockquote" => self.quotes += 1,
            "ul" | "menu" => self.lists.push(None),
            "ol" => {
                let start = node.attr("start").and_then(|start| start.parse::<usize>().ok()).unwrap_or(1);
                self.lists.push(Some(start.saturating_sub(1)));
            }
            "li" => {
                if let Some(Some(number)) = self.lists.last_mut() {
                    *number = number.saturating_add(1);
                }
                self.item_begins = true;
            }
            _ => {}
        }
        true
    }

    fn leave(&mut self, name: &str) {
        if name == "a" {
            let end = self.inline.len();
            if let Some(open) = self.open_links.iter_mut().rev().find(|link| link.2.is_none()) {
                open.2 = Some(end);
            }
            return;
        }
        if is_block_element(name) {
            self.end_block();
        }
        match name {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => self.heading = None,
            "pre" => self.preformatted = self.preformatted.saturating_sub(1),
            "nav" | "header" | "footer" | "aside" => self.asides = self.asides.saturating_sub(1),
            "blockquote" => self.quotes = self.quotes.saturating_sub(1),
            "ul" | "ol" | "menu" => {
                self.lists.pop();
                if self.lists.is_empty() {
                    self.end_list();
                }
            }
            _ => {}
        }
    }

    /// The text read so far as a block, or as a line of the list that is open.
    fn end_block(&mut self) {
        let raw = std::mem::take(&mut self.inline);
        let open = std::mem::take(&mut self.open_links);
        let starts: Vec<usize> = open.iter().map(|(_, start, _)| *start).collect();
        let links: Vec<Found> = open
            .into_iter()
            .zip(places(&raw, &starts, self.preformatted > 0))
            .map(|((url, from, to), start)| {
                let text = single_spaces(raw.get(from..to.unwrap_or(raw.len())).unwrap_or_default());
                Found { url, text, start }
            })
            .filter(|link| !link.text.is_empty())
            .collect();
        // Without the white space around it, from which `places` does not count either.
        let text = if self.preformatted > 0 { raw.trim().to_owned() } else { single_spaces(&raw) };
        if text.is_empty() {
            self.begins_in = None;
            return;
        }
        if self.heading.is_none() && !self.lists.is_empty() {
            self.list_begins_in = self.list_begins_in.or(self.begins_in.take());
            let begins = self.push_item_line(&text);
            self.list_links
                .extend(links.into_iter().map(|link| Found { start: link.start + begins, ..link }));
            return;
        }
        let kind = match (self.heading, self.preformatted > 0, self.quotes > 0) {
            (Some(level), ..) => BlockKind::Heading { level },
            (None, true, _) => BlockKind::Preformatted,
            (None, false, true) => BlockKind::Quote,
            (None, false, false) => BlockKind::Paragraph,
        };
        self.push(kind, &text, links);
    }

    fn push(&mut self, kind: BlockKind, text: &str, links: Vec<Found>) {
        let place = self.begins_in.take();
        let Some(block) = self.out.push(kind, text) else { return };
        self.places.push(place);
        let begins = self.out.blocks[block].start;
        self.links.extend(links.into_iter().map(|Found { url, text, start }| Link {
            url,
            text,
            block,
            start: begins + start as u32,
        }));
    }

    /// Adds a line to the list that is open, and answers where in it the text begins.
    fn push_item_line(&mut self, text: &str) -> usize {
        let from = self.list_text.len();
        if !self.list_text.is_empty() {
            self.list_text.push('\n');
        }
        let depth = self.lists.len().saturating_sub(1).min(8);
        self.list_text.push_str(&"  ".repeat(depth));
        if std::mem::take(&mut self.item_begins) {
            match self.lists.last() {
                Some(Some(number)) => {
                    self.list_text.push_str(&number.to_string());
                    self.list_text.push_str(". ");
                }
                _ => self.list_text.push_str("- "),
            }
        } else {
            self.list_text.push_str("  ");
        }
        let begins = self.list_chars + self.list_text[from..].chars().count();
        self.list_text.push_str(text);
        self.list_chars = begins + text.chars().count();
        begins
    }

    fn end_list(&mut self) {
        let text = std::mem::take(&mut self.list_text);
        let mut links = std::mem::take(&mut self.list_links);
        self.list_chars = 0;
        // White space at the beginning is no part of the block.
        let leading = text.chars().take_while(|c| c.is_whitespace()).count();
        for link in &mut links {
            link.start = link.start.saturating_sub(leading);
        }
        let begins_in = std::mem::replace(&mut self.begins_in, self.list_begins_in.take());
        self.push(BlockKind::List, &text, links);
        self.begins_in = begins_in;
    }
}

/// Where the bytes `starts` of a block, in rising order, come to stand when its text is pushed: at the first character
/// from there on that is kept. With single spaces, unless the text is preformatted.
fn places(raw: &str, starts: &[usize], preformatted: bool) -> Vec<usize> {
    let mut places = Vec::with_capacity(starts.len());
    let (mut count, mut gap) = (0, 0);
    for (at, c) in raw.char_indices() {
        if c.is_whitespace() {
            gap += 1;
            continue;
        }
        if count > 0 {
            count += if preformatted { gap } else { gap.min(1) };
        }
        gap = 0;
        while starts.get(places.len()).is_some_and(|start| *start <= at) {
            places.push(count);
        }
        count += 1;
    }
    places.resize(starts.len(), count);
    places
}

/// The number that `boilerplate::note` gave an element.
fn place(node: &NodeRef<'_>) -> Option<u32> {
    node.attr(PLACE)?.parse().ok()
}

fn link(base: &Url, href: &str) -> Option<Url> {
    let href = href.trim();
    if href.is_empty() || href.starts_with('#') {
        return None;
    }
    base.join(href).ok().filter(|url| matches!(url.scheme(), "http" | "https"))
}

/// Rows of a table that holds data. `None` for tables that only arrange a page: those with a table or headings inside,
/// those of one column, and those whose cells are long texts.
fn data_table(table: NodeRef<'_>) -> Option<String> {
    const LONG_CELL: usize = 400;
    // Ends at the first of them, so that tables in tables are not looked through once for each level.
    let arranges = |node: NodeRef<'_>| {
        node.node_name().is_some_and(|name| matches!(&*name, "table" | "h1" | "h2" | "h3" | "h4" | "pre"))
    };
    if table.descendants_it().any(arranges) {
        return None;
    }
    let selection = dom_query::Selection::from(table);
    if selection.select("ul li p").exists() {
        return None;
    }
    let mut rows = Vec::new();
    let mut most_cells = 0;
    for row in selection.select("tr").nodes() {
        let cells: Vec<String> = row
            .element_children()
            .into_iter()
            .filter(|cell| cell.node_name().is_some_and(|name| matches!(&*name, "td" | "th")))
            .map(|cell| visible_text(cell).replace('|', "¦"))
            .collect();
        if cells.iter().any(|cell| cell.chars().count() > LONG_CELL) {
            return None;
        }
        if cells.iter().any(|cell| !cell.is_empty()) {
            most_cells = most_cells.max(cells.len());
            rows.push(cells.join(" | ").trim().to_owned());
        }
    }
    (most_cells >= 2 && !rows.is_empty()).then(|| rows.join("\n"))
}
