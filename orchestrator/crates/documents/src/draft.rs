//! A paper while it is read: paragraphs find their section, the abstract or the reference list.

use crate::budget::Budget;
use crate::fields::{self, Role};
use crate::paper::{Cited, Kind, Paper, Paragraph, Section};

/// Longest abstract that a heading "Abstract" is believed to begin, in bytes.
const LONGEST_ABSTRACT: usize = 20_000;

/// Longest heading, in characters.
const LONGEST_HEADING: usize = 250;
/// Authors that are kept. Papers of particle physics have thousands.
const MOST_NAMES: usize = 20_000;
/// Keywords that are kept.
const MOST_KEYWORDS: usize = 500;

pub(crate) struct Draft<'b> {
    pub(crate) paper: Paper,
    pub(crate) budget: &'b mut Budget,
    /// The page that is being read.
    pub(crate) page: Option<u32>,
    /// Inline text that is not a paragraph yet.
    buffer: String,
    notes: Vec<Paragraph>,
    place: Place,
}

/// Where a paragraph belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Body,
    Abstract,
    Keywords,
    /// Below a heading of this depth.
    References(u8),
}

impl<'b> Draft<'b> {
    pub(crate) fn new(budget: &'b mut Budget) -> Self {
        let (paper, buffer) = (Paper::default(), String::new());
        Self { paper, budget, page: None, buffer, notes: Vec::new(), place: Place::Body }
    }

    /// Adds inline text to the paragraph that is being read.
    pub(crate) fn push(&mut self, text: &str) {
        if self.buffer.len() < self.budget.limits.text_bytes {
            self.buffer.push_str(text);
        } else {
            self.budget.leave_out(format!("text after the first {} bytes", self.budget.limits.text_bytes));
        }
    }

    /// Takes the inline text, for another use than a paragraph.
    pub(crate) fn take_buffer(&mut self) -> String {
        std::mem::take(&mut self.buffer)
    }

    /// Puts inline text back that was taken.
    pub(crate) fn put_buffer(&mut self, text: String) {
        self.buffer = text;
    }

    /// Ends the paragraph that is being read.
    pub(crate) fn flush(&mut self, kind: Kind) {
        let text = std::mem::take(&mut self.buffer);
        self.paragraph(kind, &text);
    }

    /// Begins a section. `depth` counts from 1.
    pub(crate) fn heading(&mut self, depth: u8, text: &str) {
        self.flush(Kind::Text);
        let text = clean(text);
        if text.is_empty() {
            return;
        }
        // A paragraph that someone made look like a heading.
        if text.chars().nth(LONGEST_HEADING).is_some() {
            self.paragraph(Kind::Text, &text);
            return;
        }
        let depth = depth.max(1);
        // The title is no section of its own.
        if self.paper.sections.is_empty() && self.paper.title.as_deref() == Some(text.as_str()) {
            return;
        }
        self.place_notes();
        match fields::role(&text) {
            Some(Role::References) => {
                self.place = Place::References(depth);
                return;
            }
            Some(Role::Abstract) if self.paper.abstract_text.is_none() && !self.has_headings() => {
                self.place = Place::Abstract;
                return;
            }
            Some(Role::Keywords) if self.paper.keywords.is_empty() => {
                self.place = Place::Keywords;
                return;
            }
            _ => {}
        }
        if let Place::References(above) = self.place
            && depth > above
        {
            return;
        }
        self.place = Place::Body;
        if let Some(text) = self.budget.take(text) {
            self.paper.sections.push(Section { heading: Some(text), depth, paragraphs: Vec::new() });
        }
    }

    /// Begins a section without heading, unless the current one has no text yet.
    pub(crate) fn break_section(&mut self) {
        self.flush(Kind::Text);
        self.place_notes();
        self.place = Place::Body;
        if self.paper.sections.last().is_some_and(|section| !section.paragraphs.is_empty()) {
            self.paper.sections.push(Section::default());
        }
    }

    /// Begins the reference list, which no heading marks.
    pub(crate) fn begin_references(&mut self) {
        self.flush(Kind::Text);
        self.place_notes();
        if !matches!(self.place, Place::References(_)) {
            self.place = Place::References(1);
        }
    }

    /// Whether paragraphs go to the reference list.
    pub(crate) fn in_references(&self) -> bool {
        matches!(self.place, Place::References(_))
    }

    fn has_headings(&self) -> bool {
        self.paper.sections.iter().any(|section| section.heading.is_some())
    }

    /// Adds a paragraph; one without text is ignored.
    pub(crate) fn paragraph(&mut self, kind: Kind, text: &str) {
        let text = if matches!(kind, Kind::Table | Kind::Code) { clean_lines(text) } else { clean(text) };
        if text.is_empty() {
            return;
        }
        let plain = matches!(kind, Kind::Text | Kind::ListItem);
        let special = match self.place {
            Place::References(_) if plain => {
                self.reference(Cited { text: text.clone(), ..Cited::default() });
                true
            }
            Place::References(_) if kind == Kind::Table => {
                for row in text.lines() {
                    self.reference(Cited { text: row.replace(" | ", " "), ..Cited::default() });
                }
                true
            }
            Place::Keywords if plain => {
                self.keywords(&text);
                true
            }
            Place::Abstract if plain => {
                let labeled = self.keyword_line(&text);
                let fits = self.abstract_length() < LONGEST_ABSTRACT;
                if fits && !labeled {
                    self.add_abstract(&text);
                }
                labeled || fits
            }
            Place::Body => plain && (self.keyword_line(&text) || self.abstract_line(&text)),
            _ => false,
        };
        if !special {
            self.keep(kind, text);
        }
    }

    fn keep(&mut self, kind: Kind, text: String) {
        let Some(text) = self.budget.take(text) else { return };
        if self.paper.sections.is_empty() {
            self.paper.sections.push(Section::default());
        }
        if let Some(section) = self.paper.sections.last_mut() {
            section.paragraphs.push(Paragraph { kind, text, page: self.page });
        }
    }

    /// Adds a footnote, which goes to the end of its section.
    pub(crate) fn footnote(&mut self, text: &str) {
        if let Some(text) = self.budget.take(clean(text)) {
            self.notes.push(Paragraph { kind: Kind::Footnote, text, page: self.page });
        }
    }

    fn place_notes(&mut self) {
        if !self.notes.is_empty() {
            if self.paper.sections.is_empty() {
                self.paper.sections.push(Section::default());
            }
            let notes = std::mem::take(&mut self.notes);
            if let Some(section) = self.paper.sections.last_mut() {
                section.paragraphs.extend(notes);
            }
        }
    }

    /// Adds an entry of the reference list; what its text says completes its fields.
    pub(crate) fn reference(&mut self, mut cited: Cited) {
        let text = fields::unnumbered(&clean(&cited.text)).to_owned();
        let Some(text) = self.budget.take(text) else { return };
        for id in lyra_domain::Identifier::in_text(&text) {
            fields::add_id(&mut cited.ids, id);
        }
        cited.year = cited.year.or_else(|| fields::year_in(&text));
        cited.text = text;
        self.paper.references.push(cited);
    }

    /// Adds a paragraph to the abstract.
    pub(crate) fn add_abstract(&mut self, text: &str) {
        let Some(text) = self.budget.take(clean(text)) else { return };
        match &mut self.paper.abstract_text {
            Some(so_far) => {
                so_far.push('\n');
                so_far.push_str(&text);
            }
            None => self.paper.abstract_text = Some(text),
        }
    }

    fn abstract_length(&self) -> usize {
        self.paper.abstract_text.as_ref().map_or(0, String::len)
    }

    /// Takes a paragraph that begins with "Abstract:" and stands before all headings.
    fn abstract_line(&mut self, text: &str) -> bool {
        if self.paper.abstract_text.is_some() || self.has_headings() {
            return false;
        }
        let Some(rest) = fields::after_label(text, Role::Abstract).map(str::to_owned) else { return false };
        self.add_abstract(&rest);
        true
    }

    /// Takes a paragraph that begins with "Keywords:" and stands before the text.
    fn keyword_line(&mut self, text: &str) -> bool {
        let early = self.paper.keywords.is_empty() && self.paper.sections.len() <= 2;
        let Some(rest) = early.then(|| fields::after_label(text, Role::Keywords)).flatten() else {
            return false;
        };
        let rest = rest.to_owned();
        self.keywords(&rest);
        true
    }

    /// Adds keywords that are separated by semicolons, commas, or the like.
    pub(crate) fn keywords(&mut self, text: &str) {
        for word in fields::list(text) {
            if self.paper.keywords.len() < MOST_KEYWORDS
                && let Some(word) = self.budget.take(clean(&word))
            {
                self.paper.keywords.push(word);
            }
        }
    }

    /// Sets the title unless there is one.
    pub(crate) fn title(&mut self, text: &str) {
        let text = clean(text);
        if self.paper.title.is_none() && !text.is_empty() {
            self.paper.title = self.budget.take(text);
        }
    }

    /// Adds an author, once.
    pub(crate) fn author(&mut self, name: &str) {
        let name = lyra_domain::given_first(&clean(name));
        if !name.is_empty()
            && self.paper.authors.len() < MOST_NAMES
            && !self.paper.authors.contains(&name)
            && let Some(name) = self.budget.take(name)
        {
            self.paper.authors.push(name);
        }
    }

    /// Sets day and year from a date as people and programs write it, unless they are set.
    pub(crate) fn date(&mut self, text: &str) {
        if self.paper.year.is_none() {
            self.paper.date = fields::day(text);
            self.paper.year = fields::year_in(text);
        }
    }

    /// Adds an identifier.
    pub(crate) fn id(&mut self, id: Option<lyra_domain::Identifier>) {
        if let Some(id) = id {
            fields::add_id(&mut self.paper.ids, id);
        }
    }

    /// The paper.
    pub(crate) fn finish(mut self) -> Paper {
        self.flush(Kind::Text);
        self.place_notes();
        // A book's title page, or a paper of nothing but an abstract: what was taken for it is all there is.
        self.paper.sections.retain(|section| section.heading.is_some() || !section.paragraphs.is_empty());
        self.paper
    }
}

/// One line: white space collapsed, characters without meaning dropped. A line break between two Han or kana
/// characters is no space.
pub(crate) fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut gap, mut broken) = (false, false);
    let mut last = ' ';
    for c in text.chars() {
        if c.is_whitespace() {
            gap = true;
            broken |= c == '\n';
        } else if !(c.is_control() || matches!(c, '\u{AD}' | '\u{200B}' | '\u{FEFF}' | '\u{2060}')) {
            if gap && !out.is_empty() && !(broken && unspaced(last) && unspaced(c)) {
                out.push(' ');
            }
            (gap, broken) = (false, false);
            out.push(c);
            last = c;
        }
    }
    out
}

/// Lines without trailing blanks; tabs and indentation stay.
fn clean_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let kept: String =
        lines.join("\n").chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect();
    kept.trim_matches('\n').trim_end().to_owned()
}

/// A character of a script that is written without spaces.
fn unspaced(c: char) -> bool {
    matches!(c, '\u{3000}'..='\u{30FF}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}'
        | '\u{FF00}'..='\u{FFEF}' | '\u{20000}'..='\u{323AF}')
}

/// Rows of a table as text.
pub(crate) fn table(rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut text = String::new();
    for row in rows {
        if row.iter().any(|cell| !cell.is_empty()) {
            text.push_str(&row.join(" | "));
            text.push('\n');
        }
    }
    text
}
