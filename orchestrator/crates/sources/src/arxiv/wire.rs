//! The API's Atom feeds. Everything may be absent.

use crate::Paper;
use crate::paper::{address, filled};
use crate::registry::ARXIV;
use lyra_bibliography::shown_line;
use lyra_domain::{ArxivId, Doi, Identifier, Imprint, Work, WorkKind};
use quick_xml::Reader;
use quick_xml::escape::resolve_html5_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};

/// Longest text of one element that is kept, in bytes; an abstract has some 2,000.
const MOST_TEXT: usize = 1 << 20;

/// A page of results.
#[derive(Debug, Default)]
pub(super) struct Feed {
    /// How many match in all.
    pub(super) total: u64,
    /// Those of this page. Entries without an id or a title are skipped.
    pub(super) papers: Vec<Paper>,
    /// Why the query could not be answered.
    pub(super) error: Option<String>,
}

#[derive(Debug, Default)]
struct Entry {
    id: String,
    title: String,
    summary: String,
    published: String,
    authors: Vec<String>,
    doi: String,
    journal: String,
    comment: String,
    pdf: Option<String>,
}

/// Reads a feed.
///
/// # Errors
/// XML that is broken, ends early, or is no feed; a feed with entries of which none can be read.
pub(super) fn read(body: &[u8]) -> Result<Feed, String> {
    let text = std::str::from_utf8(body).map_err(|_| "its XML is not UTF-8")?;
    let mut reader = Reader::from_str(text);
    let (mut feed, mut odd) = (Feed::default(), 0_usize);
    // Names of the open elements, the text of the innermost one, and the entry that is being read.
    let (mut open, mut inside, mut entry): (Vec<String>, String, Option<Entry>) = Default::default();
    loop {
        let event = reader.read_event().map_err(|error| format!("its XML cannot be read: {error}"))?;
        match event {
            Event::Start(start) => {
                begin(&start, &mut entry);
                open.push(start.local_name().as_ref().to_owned());
                if open.first().is_some_and(|root| root != "feed") {
                    return Err("its XML is no Atom feed".to_owned());
                }
                inside.clear();
            }
            Event::Empty(start) => begin(&start, &mut entry),
            Event::Text(piece) => add(&mut inside, &piece),
            Event::CData(piece) => add(&mut inside, &piece),
            Event::GeneralRef(entity) => add(&mut inside, &resolved(&entity)),
            Event::End(_) => {
                let name = open.pop().unwrap_or_default();
                let text = std::mem::take(&mut inside);
                match (&mut entry, name.as_str()) {
                    (Some(_), "entry") => match entry.take().map(Entry::finish) {
                        Some(Ok(paper)) => feed.papers.push(paper),
                        Some(Err(Some(why))) => feed.error = Some(why),
                        _ => odd += 1,
                    },
                    (Some(entry), name) => entry.put(name, open.last().map_or("", String::as_str), &text),
                    (None, "totalResults") => feed.total = text.trim().parse().unwrap_or(0),
                    (None, "feed") => break,
                    (None, _) => {}
                }
            }
            Event::Eof => return Err("its XML ends before the feed does".to_owned()),
            Event::Decl(_) | Event::DocType(_) | Event::Comment(_) | Event::PI(_) => {}
        }
    }
    if odd > 0 && feed.papers.is_empty() && feed.error.is_none() {
        return Err(format!("none of its {odd} entries can be read: they have no id or no title"));
    }
    Ok(feed)
}

/// A new entry, or a link of the current one.
fn begin(start: &BytesStart<'_>, entry: &mut Option<Entry>) {
    let name = start.local_name();
    match (name.as_ref(), entry) {
        ("entry", entry) => *entry = Some(Entry::default()),
        ("link", Some(entry)) => {
            let attributes: Vec<(String, String)> = start
                .attributes()
                .with_checks(false)
                .flatten()
                .map(|one| (one.key.local_name().as_ref().to_owned(), shown_line(&one.value)))
                .collect();
            let of =
                |name: &str| attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
            if of("title").as_deref() == Some("pdf") || of("type").as_deref() == Some("application/pdf") {
                entry.pdf = of("href");
            }
        }
        _ => {}
    }
}

fn add(text: &mut String, piece: &str) {
    if text.len() + piece.len() <= MOST_TEXT {
        text.push_str(piece);
    }
}

/// What an entity stands for; an undeclared one stays as written.
fn resolved(entity: &BytesRef<'_>) -> String {
    if let Ok(Some(c)) = entity.resolve_char_ref() {
        return c.to_string();
    }
    let name: &str = entity;
    resolve_html5_entity(name).map_or_else(|| format!("&{name};"), str::to_owned)
}

/// On one line: the API breaks lines within titles and abstracts.
fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a comment or an abstract says, as arXiv and authors write it, that the preprint was withdrawn. A drug may be
/// withdrawn too.
fn says_withdrawn(text: &str) -> bool {
    let text = text.to_lowercase();
    let what = ["paper", "article", "submission", "manuscript", "preprint", "version", "work"];
    let named = what.iter().any(|what| text.contains(&format!("this {what} has been withdrawn")));
    named || text.starts_with("withdrawn") || text.starts_with("paper withdrawn")
}

impl Entry {
    fn put(&mut self, name: &str, parent: &str, text: &str) {
        let place = match (parent, name) {
            ("author", "name") => return self.authors.extend(filled(Some(line(text)))),
            ("entry", "id") => &mut self.id,
            ("entry", "title") => &mut self.title,
            ("entry", "summary") => &mut self.summary,
            ("entry", "published") => &mut self.published,
            ("entry", "doi") => &mut self.doi,
            ("entry", "journal_ref") => &mut self.journal,
            ("entry", "comment") => &mut self.comment,
            _ => return,
        };
        *place = line(text);
    }

    /// As a paper; an error with its words if the entry is one, and without if it cannot be read.
    fn finish(self) -> Result<Paper, Option<String>> {
        if self.id.contains("/api/errors") {
            return Err(Some(if self.summary.is_empty() { self.title } else { self.summary }));
        }
        // `http://arxiv.org/abs/hep-th/9901001v3`: the version is the newest one.
        let versioned = self.id.split_once("/abs/").map(|(_, id)| id.to_owned()).unwrap_or_default();
        let Some(id) = ArxivId::parse(&versioned).filter(|_| !self.title.is_empty()) else {
            return Err(None);
        };
        // With a DOI or a journal, its authors name the article that it became.
        let is_preprint = self.doi.is_empty() && self.journal.is_empty();
        let kind = is_preprint.then_some(WorkKind::Preprint);
        let withdrawn = says_withdrawn(&self.comment) || says_withdrawn(&self.summary);
        let day = self.published.get(..10).map(str::to_owned);
        let pdf = self.pdf.map(|pdf| pdf.replacen("http://", "https://", 1));
        let mut work = Work {
            title: self.title,
            // Of its first version.
            year: day.as_deref().and_then(|day| day.get(..4)?.parse().ok()),
            published_date: day,
            venue: filled(Some(self.journal)).or_else(|| Some("arXiv".to_owned())),
            imprint: Imprint { kind, ..Imprint::default() },
            authors: self.authors,
            is_retracted: withdrawn.then_some(true),
            oa_url: pdf.or_else(|| Some(format!("https://arxiv.org/pdf/{versioned}"))),
            source_api: ARXIV.name.to_owned(),
            ..Work::default()
        };
        // The article that a preprint became, when its authors name it. The preprint's own DOI is left out: with it,
        // the record could not join that article by its arXiv id.
        if let Some(doi) = Doi::parse(&self.doi) {
            work.add_identifier(Identifier::Doi(doi));
        }
        work.add_identifier(Identifier::Arxiv(id.clone()));
        Ok(Paper {
            url: address(&work, Some(format!("https://arxiv.org/abs/{id}"))),
            work,
            abstract_text: filled(Some(self.summary)),
            language: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preprints_that_say_so_are_withdrawn() {
        for text in
            ["This paper has been withdrawn by the author.", "Withdrawn due to an error", "Paper withdrawn."]
        {
            assert!(says_withdrawn(text), "{text}");
        }
        for text in ["The drug has been withdrawn from the market.", "12 pages, not withdrawn", ""] {
            assert!(!says_withdrawn(text), "{text}");
        }
    }

    #[test]
    fn what_is_no_feed_is_an_error() {
        for (text, why) in [
            ("<html><body>Hi</body></html>", "no Atom feed"),
            ("<feed><entry>", "ends before"),
            ("", "ends before"),
            ("<feed><entry></feed>", "cannot be read"),
            ("<feed><entry><id>x</id></entry></feed>", "none of its 1"),
        ] {
            let error = read(text.as_bytes()).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
        assert!(read(&[0xFF, 0xFE]).is_err());
    }
}
