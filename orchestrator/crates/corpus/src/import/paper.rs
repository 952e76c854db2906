//! One paper from one file: title, by-line, abstract, and the full text by section and page.
//!
//! Files of every kind are read by crates of their own; here they become documents of a corpus.

use super::Format;
use super::records::{Holding, Record};
use crate::document::Section;
use crate::{Annotation, Document};
use lyra_documents::{Content, Kind, Paper};
use lyra_domain::Identifier;
use lyra_web::extract::{BlockKind, Extracted, Mark, decode};
use lyra_web::pdf::{self, caption, section};
use std::collections::HashSet;
use std::io::{BufRead, Read, Result};
use url::Url;

/// Largest file in bytes; a longer one is rejected.
const MAX_FILE: u64 = 128 << 20;
/// Limits of a PDF, which books of a thousand pages stay within.
const PDF: pdf::Limits =
    pdf::Limits { max_pages: 2_000, max_chars: 8_000_000, max_unpacked: 192 << 20, max_drawn: 40_000_000 };
/// Paragraphs of title pages, before the first section, that are longer belong to the text.
const MAX_FRONT: usize = 4_000;
/// Shown beside a paper without text.
const NO_TEXT: &str = "neither an abstract nor running text was found in it";
/// Where a saved page was, when it does not say so itself.
const SOMEWHERE: &str = "https://page.invalid/";

/// Reads the paper that a file holds.
pub(super) fn read(content: impl BufRead, format: Format) -> Result<Record> {
    let mut bytes = Vec::new();
    content.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
    let mut left_out = None;
    let outcome = if bytes.len() as u64 > MAX_FILE {
        Err(format!("longer than {} MiB", MAX_FILE >> 20))
    } else {
        match format {
            Format::Pdf => {
                let pdf = pdf::read(&bytes, &PDF, &|| false);
                left_out = pdf.as_ref().ok().and_then(|pdf| pdf.left_out.clone());
                pdf.map(|pdf| of_page(&pdf)).map_err(|error| error.to_string())
            }
            Format::Text(format) => text(&bytes, format, &mut left_out),
            _ => html(&bytes, None, None),
        }
    };
    if outcome.as_ref().is_ok_and(|document| document.text.is_empty() && document.desc.is_empty()) {
        left_out = Some(left_out.map_or_else(|| NO_TEXT.to_owned(), |more| format!("{NO_TEXT}; {more}")));
    }
    let outcome = outcome.map(|document| (document, Vec::new()));
    Ok(Record { line: 0, outcome, holding: Some(Holding::Paper), left_out })
}

fn html(
    bytes: &[u8],
    content_type: Option<&str>,
    url: Option<&str>,
) -> std::result::Result<Document, String> {
    let address = Url::parse(url.unwrap_or(SOMEWHERE)).map_err(|error| error.to_string())?;
    let page = Extracted::from_html(&decode(bytes, content_type).text, &address);
    if page.text.is_empty() {
        return Err("the page has no text".to_owned());
    }
    let document = of_page(&page);
    Ok(Document { url: document.url.or_else(|| url.map(str::to_owned)), ..document })
}

fn text(
    bytes: &[u8],
    format: lyra_documents::Format,
    left_out: &mut Option<String>,
) -> std::result::Result<Document, String> {
    match lyra_documents::read(bytes, format, &lyra_documents::Limits::default()) {
        Ok(Content::Paper(paper)) => {
            *left_out = Some(paper.left_out.join("; ")).filter(|what| !what.is_empty());
            Ok(of_paper(*paper))
        }
        Ok(Content::Page(page)) => html(&page.html, page.content_type.as_deref(), page.url.as_deref()),
        Err(error) => Err(error.to_string()),
    }
}

/// A document without an id.
fn of_paper(paper: Paper) -> Document {
    let mut text = FullText::default();
    let doi = paper.doi().cloned();
    for section in &paper.sections {
        if let Some(heading) = &section.heading {
            text.heading(heading);
        }
        for paragraph in section.paragraphs.iter().filter(|paragraph| paragraph.kind != Kind::Code) {
            let rows = paragraph.text.split('\n').filter(|row| !row.trim().is_empty());
            let written = rows.collect::<Vec<_>>().join("; ");
            if paragraph.kind == Kind::Caption {
                text.caption(&written, paragraph.page);
            } else {
                text.paragraph(&written, paragraph.page);
            }
        }
    }
    for cited in paper.references.iter().flat_map(|cited| &cited.ids) {
        text.cite(cited.clone());
    }
    let FullText { desc, sections, abstract_text, references, .. } = text;
    let in_text = (!abstract_text.is_empty()).then(|| abstract_text.join("\n"));
    Document {
        title: lyra_text::normalise(&paper.title.unwrap_or_default()),
        text: paper.abstract_text.or(in_text).unwrap_or_default(),
        doi,
        identifiers: paper.ids.into_iter().filter(|id| !matches!(id, Identifier::Doi(_))).collect(),
        year: paper.year,
        venue: paper.venue,
        authors: paper.authors,
        language: paper.language.and_then(|tag| Some(tag.get(..2)?.to_ascii_lowercase())),
        references,
        desc: desc.join("\n"),
        sections,
        tags: paper.keywords,
        ..Document::default()
    }
}

/// A document without an id.
fn of_page(extracted: &Extracted) -> Document {
    let mut text = FullText::default();
    let front = front(extracted);
    for (nth, block) in extracted.blocks.iter().enumerate() {
        let page = extracted.pages.get(nth).copied();
        let written = extracted.text_of(block);
        match block.kind {
            BlockKind::Heading { .. } => text.heading(&written),
            BlockKind::Caption => text.caption(&written, page),
            _ if nth < front => {}
            _ => text.paragraph(&written, page),
        }
    }
    let FullText { desc, sections, abstract_text, references, .. } = text;
    let own = |doi: &str| extracted.doi.as_ref().is_some_and(|own| own.to_string() == doi);
    let said = extracted.abstract_text.clone();
    Document {
        title: lyra_text::normalise(&extracted.title),
        text: said
            .or_else(|| (!abstract_text.is_empty()).then(|| abstract_text.join("\n")))
            .unwrap_or_default(),
        url: extracted
            .canonical_url
            .as_ref()
            .filter(|url| url.host_str() != Some("page.invalid"))
            .map(Url::to_string),
        doi: extracted.doi.clone(),
        identifiers: extracted.arxiv.clone().map(Identifier::Arxiv).into_iter().collect(),
        year: extracted.published.map(|date| date.year),
        venue: extracted.site.clone(),
        authors: extracted.authors.clone(),
        language: extracted.language.clone(),
        references: references.into_iter().filter(|reference| !own(reference)).collect(),
        desc: desc.join("\n"),
        sections,
        annotations: extracted.marks.iter().map(annotation).collect(),
        ..Document::default()
    }
}

fn annotation(mark: &Mark) -> Annotation {
    let page = Some(mark.page.to_string());
    Annotation { text: mark.text.clone(), comment: mark.comment.clone(), page, color: mark.color.clone() }
}

/// How many blocks at the beginning are title, by-line and affiliations: those before the first section with a usual
/// name, unless there is too much text among them. What stands before the references of a paper without sections is
/// its text.
fn front(extracted: &Extracted) -> usize {
    let is_section = |nth: &usize| {
        let block = &extracted.blocks[*nth];
        let is_opening = |heading: &str| section::is_usual(heading) && !section::is_back_matter(heading);
        matches!(block.kind, BlockKind::Heading { .. }) && is_opening(&extracted.text_of(block))
    };
    let Some(first) = (0..extracted.blocks.len()).find(is_section) else { return 0 };
    let on_first_page = extracted.pages.get(first).is_some_and(|page| *page == 1);
    let chars = extracted.blocks[first].start as usize;
    if on_first_page && chars <= MAX_FRONT { first } else { 0 }
}

/// What a full text is put together from.
#[derive(Default)]
struct FullText {
    desc: Vec<String>,
    sections: Vec<Section>,
    abstract_text: Vec<String>,
    references: Vec<String>,
    cited: HashSet<Identifier>,
    heading: Option<String>,
    part: Part,
}

/// The part of a paper that a paragraph is in.
#[derive(Default, PartialEq)]
enum Part {
    #[default]
    Body,
    Abstract,
    References,
}

impl FullText {
    fn heading(&mut self, heading: &str) {
        let heading = lyra_text::normalise(heading);
        // After the works that it cites only an appendix and the like belong to the paper again.
        let ends_references = section::is_usual(&heading) || section::is_appendix(&heading);
        self.part = if section::is_abstract(&heading) {
            Part::Abstract
        } else if section::is_references(&heading) || (self.part == Part::References && !ends_references) {
            Part::References
        } else {
            Part::Body
        };
        self.heading = Some(heading);
    }

    /// A caption is a section of its own, `Figure 2`, so that it is no part of the text around it.
    fn caption(&mut self, caption: &str, page: Option<u32>) {
        let label = caption::label(caption);
        let (heading, part) = (label.or_else(|| self.heading.clone()), std::mem::take(&mut self.part));
        let heading = std::mem::replace(&mut self.heading, heading);
        self.paragraph(caption, page);
        (self.heading, self.part) = (heading, part);
    }

    fn paragraph(&mut self, paragraph: &str, page: Option<u32>) {
        let line = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
        match self.part {
            Part::Abstract => self.abstract_text.push(line),
            Part::References => {
                for identifier in Identifier::in_text(&line) {
                    self.cite(identifier);
                }
            }
            Part::Body => {
                let last = self.sections.last();
                let known = self.heading.is_some() || page.is_some();
                let same = last.is_some_and(|last| last.heading == self.heading && last.page == page);
                if known && !same {
                    let line = u32::try_from(self.desc.len()).unwrap_or(u32::MAX);
                    self.sections.push(Section { line, heading: self.heading.clone(), page });
                }
                self.desc.push(line);
            }
        }
    }

    fn cite(&mut self, identifier: Identifier) {
        let name = match &identifier {
            Identifier::Doi(doi) => doi.to_string(),
            other => other.to_string(),
        };
        if self.cited.insert(identifier) {
            self.references.push(name);
        }
    }
}
