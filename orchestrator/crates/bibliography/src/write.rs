//! Records as files that reference managers read.
//!
//! | field | BibTeX | RIS | CSL-JSON |
//! |---|---|---|---|
//! | several notes | joined to one | each | each, and joined for other programs |
//! | collections | `groups` | – | `custom` |
//! | files | with title and type | path | with title and type, in `custom` |
//! | tags with a comma or semicolon | in braces | with a comma, without markup | in `categories` |
//! | proceedings | yes | as conference paper | as book |
//! | edition of an article | yes | – | yes |
//!
//! [`Record::annotations`], [`Record::zotero`], [`Record::versions`], [`Record::retracts`], and [`Record::omitted`] have no
//! place in any of them. What a format holds is what [`read`](crate::read) finds in the file.

mod keys;
mod names;
mod text;

pub(crate) use names::Parts;
pub(crate) use text::guarded;

use crate::{Record, bibtex, csl, ris};
use keys::Keys;
use lyra_domain::named_enum;

named_enum! {
    /// Formats that records can be written in.
    pub enum Output {
        /// BibTeX, with BibLaTeX's types for what BibTeX has none.
        BibTex = "bibtex",
        /// RIS, with CRLF line ends.
        Ris = "ris",
        /// CSL-JSON, an array.
        CslJson = "csl",
    }
}

/// Writes records one after the other, in UTF-8. Besides 12 bytes for each citation key, nothing stays in memory.
///
/// ```
/// use lyra_bibliography::{Output, Record, Writer};
///
/// let record = Record { title: "DNA & naps".into(), authors: vec!["Ann Lee".into()], ..Record::default() };
/// let mut writer = Writer::new(Output::BibTex);
/// let file = writer.record(&record) + writer.end();
/// assert_eq!(file, "@misc{leedna,\n  author = {Lee, Ann},\n  title = {{DNA} \\& naps},\n}\n");
/// ```
#[derive(Debug)]
pub struct Writer {
    format: Output,
    keys: Keys,
    is_first: bool,
}

impl Writer {
    /// A writer of an empty file.
    pub fn new(format: Output) -> Self {
        Self { format, keys: Keys::default(), is_first: true }
    }

    /// What the file has of the next record, with what separates it from the one before.
    ///
    /// Its citation key is [`Record::key`] if that is one in every format; else family name, year, and the first telling
    /// word of the title. Letters make it unique in the file, without regard to case.
    pub fn record(&mut self, record: &Record) -> String {
        let key = self.keys.key(record);
        let is_first = std::mem::replace(&mut self.is_first, false);
        let (before, text) = match self.format {
            Output::BibTex => ("\n", bibtex::written(record, &key)),
            Output::Ris => ("\r\n", ris::written(record, &key)),
            Output::CslJson => (",\n", csl::written(record, &key)),
        };
        match (is_first, self.format) {
            (true, Output::CslJson) => format!("[\n{text}"),
            (true, _) => text,
            (false, _) => format!("{before}{text}"),
        }
    }

    /// What ends the file.
    pub fn end(&self) -> &'static str {
        match (self.format, self.is_first) {
            (Output::CslJson, true) => "[]\n",
            (Output::CslJson, false) => "\n]\n",
            _ => "",
        }
    }
}
