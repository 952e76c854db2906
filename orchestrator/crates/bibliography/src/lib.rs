//! Reads the files of reference managers into one kind of record, and writes such records as BibTeX, RIS, and CSL-JSON
//! ([`Writer`]).
//!
//! | format | written by |
//! |---|---|
//! | BibTeX, BibLaTeX | Zotero, Better BibTeX, `JabRef`, Mendeley, publishers, Google Scholar, Lyra |
//! | RIS | Zotero, `EndNote`, Mendeley, Scopus, Web of Science, publishers, Lyra |
//! | `.enw` (Refer) | `EndNote`, Google Scholar, publishers |
//! | Web of Science's text | Web of Science |
//! | CSL-JSON | Zotero, Better BibTeX, Mendeley, pandoc, Crossref |
//! | Zotero JSON | Better BibTeX JSON, Zotero's API |
//! | `EndNote` XML | `EndNote`, Zotero, Mendeley |
//! | `.nbib` (MEDLINE) | PubMed |
//! | PubMed XML | PubMed, the E-utilities |
//! | MODS | Zotero, libraries |
//! | Zotero RDF | Zotero, with its collections, notes, and files |
//! | `zotero.sqlite` | Zotero itself, versions 5 to 8: [`read_zotero`] |
//!
//! ```
//! use lyra_bibliography::{Format, read};
//!
//! let file = b"@article{lee2019, title = {Naps and M{\\\"u}nchen}, author = {Lee, Ann}, year = 2019}";
//! let format = Format::detect("refs.bib", file).unwrap();
//! let records: Vec<_> = read(file, format).collect();
//! let record = records[0].as_ref().unwrap();
//! assert_eq!((record.title.as_str(), record.authors[0].as_str()), ("Naps and München", "Ann Lee"));
//! ```
//!
//! # What holds for every format
//!
//! - No I/O, no clock, no panics. A record that cannot be read is a [`Rejected`] with its line and reason; the records
//!   around it are read.
//! - The encoding is that of the byte order mark, else UTF-8, else what an XML declaration names, else what the bytes
//!   look like. Malformed bytes become U+FFFD.
//! - Names are "Given Family", and "Family Given" in Chinese characters, kana, or Hangul; groups stay as they are.
//!   Dates are `2024`, `2024-05`, or `2024-05-31`. Identifiers are in their normal forms, or absent if they are
//!   invalid; they are also taken from addresses and from notes such as `PMID: 123`.
//! - LaTeX commands, HTML tags, and entities become the text that they show.
//! - Work is linear in the file. Nesting deeper than 100 levels rejects a record, and so does a length of more than
//!   64 MiB; a value longer than 1 MiB is left out, and [`Record::omitted`] names it. Abbreviations (`@string`) and
//!   cross-references in BibTeX copy at most four times the file's length.
//!
//! BibTeX has a reader of its own. The `biblatex` crate rejects a file for one bad entry, and overflows the stack on an
//! abbreviation that names itself; the tests compare with it on what it reads.

mod bibtex;
mod csl;
mod date;
mod decode;
mod draft;
mod endnote;
mod files;
mod format;
mod ids;
mod json;
mod language;
mod mods;
mod names;
mod nbib;
mod pubmed;
mod rdf;
mod record;
mod refer;
mod ris;
mod sqlite;
mod tagged;
mod text;
mod wos;
mod write;
mod xml;
mod zotero;

pub use format::Format;
pub use record::{Annotation, Attachment, Record, Rejected};
pub use write::{Output, Writer};
pub use zotero::{Parts, is_zotero, read_zotero};

use lyra_domain::WorkKind as Kind;
use std::borrow::Cow;

/// A name as records have it: "Family, Given" becomes "Given Family", and what has no comma or is the name of a group
/// stays.
pub fn given_family(name: &str) -> String {
    names::ordered(name)
}

/// A name as MEDLINE writes it, "Smith JA", as records have it, "JA Smith"; what does not end with initials, or is the
/// name of a group, stays.
pub fn initials_first(name: &str) -> String {
    names::with_initials_last(name)
}

/// What a name is sorted by: the family name of a person, or the whole name of a group. The name is one of a
/// [`Record`], "Given Family".
pub fn family_name(name: &str) -> &str {
    write::Parts::of(name).map_or(name, |parts| parts.family)
}

/// Longest value of a field, in bytes.
const MAX_FIELD: usize = 1 << 20;
/// Longest record, in bytes.
const MAX_RECORD: usize = 64 << 20;
/// Deepest nesting of elements and of objects.
const MAX_DEPTH: usize = 100;

/// A record, or the reason why it cannot be read.
type Outcome = Result<Record, Rejected>;

/// Takes one record after the other from a file's text, which is the same in every call.
trait Source: Send {
    fn next(&mut self, text: &str) -> Option<Outcome>;
}

/// The records of a file, in its order. One record at a time is in memory, besides the file's text.
pub fn read(bytes: &[u8], format: Format) -> impl Iterator<Item = Result<Record, Rejected>> + Send {
    let text = decode::decode(bytes);
    let source: Box<dyn Source> = match format {
        Format::BibTex => Box::new(bibtex::BibTex::new(&text)),
        Format::Ris => Box::new(ris::Ris::default()),
        Format::Refer => Box::new(refer::Refer::default()),
        Format::WebOfScience => Box::new(wos::WebOfScience::default()),
        Format::CslJson => Box::new(json::Items::new(&text, csl::record)),
        Format::ZoteroJson => Box::new(json::Items::new(&text, zotero::record)),
        Format::EndNoteXml => Box::new(xml::Records::new(|name| name == "record", endnote::record)),
        Format::Nbib => Box::new(nbib::Nbib::default()),
        Format::PubMedXml => Box::new(xml::Records::new(pubmed::is_record, pubmed::record)),
        Format::Mods => Box::new(xml::Records::new(|name| name == "mods", mods::record)),
        Format::ZoteroRdf => Box::new(rdf::Rdf::new(&text)),
    };
    Records { text, source }
}

/// What a text with tags of HTML or JATS and with entities shows, on one line.
pub fn shown_line(text: &str) -> String {
    text::line(&text::plain(text))
}

/// What a text with tags of HTML or JATS and with entities shows, one paragraph a line.
pub fn shown_lines(text: &str) -> String {
    text::lines(&text::plain(text))
}

/// The ISBNs in some texts, in their normal form. What has another number of digits is left out.
pub fn isbns(texts: &[String]) -> Vec<String> {
    texts.iter().flat_map(|text| ids::serials(text).0).collect()
}

/// The ISSNs in some texts, as [`isbns`] reads them.
pub fn issns(texts: &[String]) -> Vec<String> {
    texts.iter().flat_map(|text| ids::serials(text).1).collect()
}

/// The ISO 639-1 code of a language by its name or another code, such as `eng`; `None` for one that is not known.
pub fn language_code(text: &str) -> Option<String> {
    language::code(text)
}

struct Records<'b> {
    text: Cow<'b, str>,
    source: Box<dyn Source>,
}

impl Iterator for Records<'_> {
    type Item = Outcome;

    fn next(&mut self) -> Option<Outcome> {
        self.source.next(&self.text)
    }
}

/// A place in a text that only moves forward, and the number of its line.
#[derive(Debug, Clone, Copy)]
struct Place {
    at: usize,
    line: u64,
}

impl Default for Place {
    fn default() -> Self {
        Self { at: 0, line: 1 }
    }
}

impl Place {
    /// Moves to a byte offset, and returns the number of its line; the first line is 1.
    fn to(&mut self, text: &str, at: usize) -> u64 {
        let passed = text.as_bytes().get(self.at..at).unwrap_or_default();
        self.line += passed.split(|byte| *byte == b'\n').skip(1).count() as u64;
        self.at = self.at.max(at);
        self.line
    }
}

#[cfg(test)]
mod tests;
