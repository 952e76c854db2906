//! Markdown (`CommonMark` with tables, footnotes, math) with YAML front matter.

mod front;

use crate::budget::Budget;
use crate::draft::{self, Draft};
use crate::encoding::decode;
use crate::math;
use crate::paper::{Kind, Paper};
use pulldown_cmark::{Event, HeadingLevel, MetadataBlockKind, Options, Parser, Tag, TagEnd};

pub(crate) fn read(bytes: &[u8], budget: &mut Budget) -> Paper {
    let text = decode(bytes);
    let mut reader = Markdown {
        draft: Draft::new(budget),
        kinds: Vec::new(),
        front: None,
        rows: Vec::new(),
        depth: None,
        taken: Vec::new(),
        picture: false,
    };
    for event in Parser::new_ext(&text, options()) {
        reader.event(event);
    }
    reader.finish()
}

fn options() -> Options {
    Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_HEADING_ATTRIBUTES
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS
        | Options::ENABLE_PLUSES_DELIMITED_METADATA_BLOCKS
        | Options::ENABLE_MATH
        | Options::ENABLE_DEFINITION_LIST
        | Options::ENABLE_WIKILINKS
}

struct Markdown<'b> {
    draft: Draft<'b>,
    /// Kinds of the open blocks.
    kinds: Vec<Kind>,
    /// Front matter that is being read, if it is YAML.
    front: Option<String>,
    rows: Vec<Vec<String>>,
    /// Depth of the heading that is being read.
    depth: Option<u8>,
    /// Text before footnotes that are being read.
    taken: Vec<String>,
    /// A picture stands in the paragraph.
    picture: bool,
}

impl Markdown<'_> {
    fn kind(&self) -> Kind {
        self.kinds.last().copied().unwrap_or(Kind::Text)
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(&tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.front {
                Some(front) => front.push_str(&text),
                // Pandoc's fences of divisions do not hold text.
                None if text.starts_with(":::") => {}
                None => self.draft.push(&text),
            },
            Event::Code(text) => self.draft.push(&text),
            Event::InlineMath(source) | Event::DisplayMath(source) => {
                let formula = math::tex(&source);
                self.draft.push(&formula);
            }
            Event::SoftBreak | Event::HardBreak => self.draft.push("\n"),
            Event::Html(html) | Event::InlineHtml(html) => {
                let text = without_tags(&html);
                self.draft.push(&text);
            }
            Event::Rule => self.draft.flush(Kind::Text),
            Event::FootnoteReference(_) | Event::TaskListMarker(_) => {}
        }
    }

    fn start(&mut self, tag: &Tag<'_>) {
        match tag {
            Tag::MetadataBlock(MetadataBlockKind::YamlStyle | MetadataBlockKind::PlusesStyle) => {
                self.draft.flush(Kind::Text);
                self.front = Some(String::new());
            }
            Tag::Heading { level, .. } => {
                self.draft.flush(self.kind());
                self.depth = Some(depth_of(*level));
            }
            Tag::CodeBlock(_) => {
                self.draft.flush(self.kind());
                self.kinds.push(Kind::Code);
            }
            Tag::Item | Tag::DefinitionListTitle | Tag::DefinitionListDefinition => {
                self.draft.flush(self.kind());
                self.kinds.push(Kind::ListItem);
            }
            Tag::FootnoteDefinition(_) => {
                self.draft.flush(self.kind());
                self.taken.push(String::new());
                self.kinds.push(Kind::Footnote);
            }
            Tag::Table(_) => {
                self.draft.flush(self.kind());
                self.rows.clear();
            }
            Tag::TableHead | Tag::TableRow => self.rows.push(Vec::new()),
            Tag::Paragraph | Tag::List(_) | Tag::BlockQuote(_) | Tag::HtmlBlock => {
                self.draft.flush(self.kind());
            }
            Tag::Image { .. } => self.picture = true,
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::MetadataBlock(kind) => {
                let front = self.front.take().unwrap_or_default();
                if kind == MetadataBlockKind::YamlStyle {
                    front::read(&front, &mut self.draft);
                }
            }
            TagEnd::Heading(_) => {
                let text = self.draft.take_buffer();
                self.draft.heading(self.depth.take().unwrap_or(1), &text);
            }
            TagEnd::CodeBlock
            | TagEnd::Item
            | TagEnd::DefinitionListTitle
            | TagEnd::DefinitionListDefinition => {
                self.draft.flush(self.kind());
                self.kinds.pop();
            }
            TagEnd::FootnoteDefinition => {
                let mut note = self.taken.pop().unwrap_or_default();
                note.push_str(&self.draft.take_buffer());
                self.draft.footnote(&note);
                self.kinds.pop();
            }
            TagEnd::TableCell => {
                let cell = draft::clean(&self.draft.take_buffer());
                if let Some(row) = self.rows.last_mut() {
                    row.push(cell);
                }
            }
            TagEnd::Table => {
                let rows = std::mem::take(&mut self.rows);
                self.draft.paragraph(Kind::Table, &draft::table(rows.into_iter()));
            }
            TagEnd::Paragraph => self.paragraph(),
            TagEnd::HtmlBlock | TagEnd::List(_) | TagEnd::BlockQuote(_) => self.draft.flush(self.kind()),
            _ => {}
        }
    }

    fn paragraph(&mut self) {
        let picture = std::mem::take(&mut self.picture);
        let kind = self.kind();
        if kind == Kind::Footnote {
            let part = self.draft.take_buffer();
            if let Some(note) = self.taken.last_mut() {
                note.push_str(&part);
                note.push(' ');
            }
        } else if kind == Kind::Text {
            let text = self.draft.take_buffer();
            // Pandoc's captions of tables: `: Text {#id}`.
            let caption = text.strip_prefix(": ").or_else(|| text.strip_prefix("Table: "));
            let bare = caption.map(|text| {
                text.rsplit_once('{').filter(|(_, id)| id.ends_with('}')).map_or(text, |it| it.0)
            });
            match bare {
                Some(caption) => self.draft.paragraph(Kind::Caption, caption),
                None => self.draft.paragraph(if picture { Kind::Caption } else { kind }, &text),
            }
        } else {
            self.draft.flush(kind);
        }
    }

    /// The paper, whose title is that of the front matter, or the only heading of the first level.
    fn finish(self) -> Paper {
        let mut paper = self.draft.finish();
        if paper.title.is_none() {
            let tops: Vec<usize> = paper
                .sections
                .iter()
                .enumerate()
                .filter(|(_, section)| section.depth == 1)
                .map(|(at, _)| at)
                .collect();
            let first = paper.sections.iter().position(|section| section.heading.is_some());
            if let ([only], Some(first)) = (tops.as_slice(), first)
                && *only == first
            {
                paper.title = paper.sections[first].heading.take();
                paper.sections[first].depth = 0;
                if paper.sections[first].paragraphs.is_empty() {
                    paper.sections.remove(first);
                }
            }
        }
        paper
    }
}

fn depth_of(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}

/// HTML in Markdown without tags and comments.
fn without_tags(html: &str) -> String {
    let mut text = String::new();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let (end, length) =
            if rest.starts_with("<!--") { (rest.find("-->"), 3) } else { (rest.find('>'), 1) };
        rest = end.map_or("", |end| &rest[end + length..]);
        if html.len() > 8 {
            text.push(' ');
        }
    }
    text.push_str(rest);
    text
}
