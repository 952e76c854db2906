//! What a work is, and who published it.

use crate::named_enum;
use serde::{Deserialize, Serialize};

named_enum! {
    /// What kind of work something is.
    pub enum WorkKind {
        /// An article in a journal.
        Article = "journal_article",
        /// A book, or a collection as a whole.
        Book = "book",
        /// A chapter of a book, or an entry of an encyclopedia.
        Chapter = "chapter",
        /// A paper or talk at a conference.
        ConferencePaper = "conference_paper",
        /// The proceedings of a conference.
        Proceedings = "proceedings",
        /// A thesis of any degree.
        Thesis = "thesis",
        /// A preprint.
        Preprint = "preprint",
        /// A report or working paper.
        Report = "report",
        /// A page of the web, a post.
        WebPage = "web_page",
        /// An article in a newspaper or magazine.
        News = "news_article",
        /// Data.
        Dataset = "dataset",
        /// A program.
        Software = "software",
        /// A patent.
        Patent = "patent",
        /// A standard.
        Standard = "standard",
        /// Something unpublished.
        Manuscript = "manuscript",
        /// Anything else, and what does not say.
        Other = "other",
    }
}

impl WorkKind {
    /// Its type in CSL, where proceedings are a book and `article` is a preprint.
    pub const fn csl(self) -> &'static str {
        match self {
            Self::Article => "article-journal",
            Self::Book | Self::Proceedings => "book",
            Self::Chapter => "chapter",
            Self::ConferencePaper => "paper-conference",
            Self::Thesis => "thesis",
            Self::Preprint => "article",
            Self::Report => "report",
            Self::WebPage => "webpage",
            Self::News => "article-newspaper",
            Self::Dataset => "dataset",
            Self::Software => "software",
            Self::Patent => "patent",
            Self::Standard => "standard",
            Self::Manuscript => "manuscript",
            Self::Other => "document",
        }
    }

    /// Its type in RIS (`TY`), where a preprint is something unpublished.
    pub const fn ris(self) -> &'static str {
        match self {
            Self::Article => "JOUR",
            Self::Book => "BOOK",
            Self::Chapter => "CHAP",
            Self::ConferencePaper => "CPAPER",
            Self::Proceedings => "CONF",
            Self::Thesis => "THES",
            Self::Report => "RPRT",
            Self::WebPage => "ELEC",
            Self::News => "NEWS",
            Self::Dataset => "DATA",
            Self::Software => "COMP",
            Self::Patent => "PAT",
            Self::Standard => "STAND",
            Self::Preprint | Self::Manuscript => "UNPB",
            Self::Other => "GEN",
        }
    }

    /// The type of its entry in BibTeX, or in BibLaTeX for what BibTeX has none.
    pub const fn bibtex(self) -> &'static str {
        match self {
            Self::Article | Self::News => "article",
            Self::Book => "book",
            Self::Chapter => "incollection",
            Self::ConferencePaper => "inproceedings",
            Self::Proceedings => "proceedings",
            Self::Thesis => "phdthesis",
            Self::Report => "techreport",
            Self::WebPage => "online",
            Self::Dataset => "dataset",
            Self::Software => "software",
            Self::Patent => "patent",
            Self::Standard => "standard",
            Self::Manuscript => "unpublished",
            Self::Preprint | Self::Other => "misc",
        }
    }

    /// The field of BibTeX that says who published it.
    pub const fn bibtex_publisher(self) -> &'static str {
        match self {
            Self::Thesis => "school",
            Self::Report => "institution",
            _ => "publisher",
        }
    }

    /// Whether it is part of a journal, a newspaper, a book, or proceedings.
    pub const fn is_part(self) -> bool {
        matches!(self, Self::Article | Self::News | Self::Chapter | Self::ConferencePaper)
    }

    /// The kind that a catalog means by a word, however it is written: `journal-article` (Crossref), `JournalArticle`
    /// (DataCite), `Book Chapter` (Scopus), `dissertation` (OpenAlex), `research-article` (Europe PMC). `None` for a word
    /// that says something else. As in all of these, `article` is one in a journal; CSL alone means a preprint.
    pub fn of_catalog(word: &str) -> Option<Self> {
        // Longer than all of them.
        let word: String = word.chars().filter(char::is_ascii_alphanumeric).take(40).collect();
        Some(match word.to_ascii_lowercase().as_str() {
            "article" | "journalarticle" | "articlejournal" | "researcharticle" | "articleinpress"
            | "datapaper" | "review" | "reviewarticle" | "editorial" | "letter" | "shortsurvey" => {
                Self::Article
            }
            "book" | "monograph" | "editedbook" | "referencebook" => Self::Book,
            "bookchapter" | "booksection" | "bookpart" | "chapter" | "incollection" | "inbook"
            | "referenceentry" => Self::Chapter,
            "conferencepaper" | "paperconference" | "proceedingsarticle" | "proceedingspaper"
            | "inproceedings" | "conference" => Self::ConferencePaper,
            "proceedings" | "conferenceproceeding" | "conferenceproceedings" => Self::Proceedings,
            "thesis" | "dissertation" | "phdthesis" | "mastersthesis" => Self::Thesis,
            "preprint" | "postedcontent" => Self::Preprint,
            "report" | "techreport" | "technicalreport" | "workingpaper" => Self::Report,
            "webpage" | "website" | "blogpost" => Self::WebPage,
            // `News` of PubMed and others is in journals.
            "newsarticle" | "newspaperarticle" | "magazinearticle" | "articlenewspaper"
            | "articlemagazine" => Self::News,
            "dataset" => Self::Dataset,
            "software" | "computerprogram" => Self::Software,
            "patent" => Self::Patent,
            "standard" => Self::Standard,
            "manuscript" | "unpublished" => Self::Manuscript,
            _ => return None,
        })
    }
}

/// What a work is and who published it, as far as a source says so.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Imprint {
    /// What it is.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<WorkKind>,
    /// Publisher, university of a thesis, or institution of a report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub publisher: Option<String>,
    /// City of the publisher.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Edition as written: `2`, `Second edition`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edition: Option<String>,
    /// Names of the editors.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub editors: Vec<String>,
    /// ISBNs of 10 or 13 characters, without hyphens.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub isbn: Vec<String>,
    /// ISSNs (`1234-567X`).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub issn: Vec<String>,
}

impl Imprint {
    /// Takes from another record of the same work what this one lacks. Nothing is taken from one of another kind: a
    /// preprint and its article have different publishers.
    pub fn complete_from(&mut self, other: &Self) {
        if self.kind.zip(other.kind).is_some_and(|(own, other)| own != other) {
            return;
        }
        let text = |own: &mut Option<String>, other: &Option<String>| {
            if own.is_none() {
                own.clone_from(other);
            }
        };
        let list = |own: &mut Vec<String>, other: &Vec<String>| {
            if own.is_empty() {
                own.clone_from(other);
            }
        };
        let Self { kind, publisher, place, edition, editors, isbn, issn } = other;
        self.kind = self.kind.or(*kind);
        // The city is that of the publisher.
        if self.publisher.is_none() || self.publisher == *publisher {
            text(&mut self.place, place);
        }
        text(&mut self.publisher, publisher);
        text(&mut self.edition, edition);
        list(&mut self.editors, editors);
        list(&mut self.isbn, isbn);
        list(&mut self.issn, issn);
    }

    /// The venue of the work, unless it repeats the publisher, as it does for works that appeared in nothing else.
    pub fn container<'v>(&self, venue: Option<&'v str>) -> Option<&'v str> {
        let is_part = self.kind.is_some_and(WorkKind::is_part);
        venue.filter(|venue| is_part || self.publisher.as_deref() != Some(*venue))
    }

    /// Every text in it.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let Self { kind: _, publisher, place, edition, editors, isbn, issn } = self;
        let single = [publisher, place, edition].into_iter().flatten();
        single.chain(editors).chain(isbn).chain(issn).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_catalogs() {
        for (words, kind) in [
            (
                &["journal-article", "JournalArticle", "Journal Article", "article", "research-article"][..],
                WorkKind::Article,
            ),
            (&["monograph", "edited-book", "Book"], WorkKind::Book),
            (&["book-chapter", "BookSection", "Book Chapter", "reference-entry"], WorkKind::Chapter),
            (&["proceedings-article", "Conference Paper", "paper-conference"], WorkKind::ConferencePaper),
            (&["dissertation", "thesis"], WorkKind::Thesis),
            (&["posted-content", "Preprint"], WorkKind::Preprint),
            (&["dataset", "Dataset"], WorkKind::Dataset),
        ] {
            for word in words {
                assert_eq!(WorkKind::of_catalog(word), Some(kind), "{word}");
            }
        }
        for word in ["", "other", "Text", "A1", "grant", "Clinical Trial", &*"article".repeat(20)] {
            assert_eq!(WorkKind::of_catalog(word), None, "{word}");
        }
        for kind in WorkKind::ALL.iter().copied().filter(|kind| *kind != WorkKind::Other) {
            assert_eq!(WorkKind::of_catalog(kind.as_str()), Some(kind), "its own name");
        }
    }

    fn imprint(kind: Option<WorkKind>, publisher: &str) -> Imprint {
        let publisher = Some(publisher.to_owned()).filter(|name| !name.is_empty());
        Imprint { kind, publisher, ..Imprint::default() }
    }

    #[test]
    fn a_record_completes_another_of_the_same_kind() {
        let said = Imprint {
            place: Some("Bern".to_owned()),
            isbn: vec!["9783161484100".to_owned()],
            ..imprint(Some(WorkKind::Book), "North")
        };
        let mut bare = Imprint { edition: Some("2".to_owned()), ..Imprint::default() };
        bare.complete_from(&said);
        assert_eq!(bare, Imprint { edition: Some("2".to_owned()), ..said.clone() });
        // What is known stays, and the city of another publisher is not taken.
        let mut other = imprint(Some(WorkKind::Book), "South");
        other.complete_from(&said);
        assert_eq!(other, Imprint { isbn: said.isbn.clone(), ..imprint(Some(WorkKind::Book), "South") });
        let mut chapter = imprint(Some(WorkKind::Chapter), "");
        chapter.complete_from(&said);
        assert_eq!(chapter, imprint(Some(WorkKind::Chapter), ""));
    }

    #[test]
    fn a_venue_that_repeats_the_publisher_is_none() {
        for (kind, venue, expect) in [
            (Some(WorkKind::Book), "North", None),
            (Some(WorkKind::Book), "Series", Some("Series")),
            (None, "North", None),
            (Some(WorkKind::Article), "North", Some("North")),
        ] {
            assert_eq!(imprint(kind, "North").container(Some(venue)), expect);
        }
        assert_eq!(imprint(None, "").container(Some("Sleep")), Some("Sleep"));
    }

    #[test]
    fn it_is_written_under_common_names() {
        let whole = Imprint {
            editors: vec!["Jane Doe".to_owned()],
            issn: vec!["1234-5678".to_owned()],
            ..imprint(Some(WorkKind::ConferencePaper), "North")
        };
        let json = serde_json::to_string(&whole).unwrap();
        let expect =
            r#"{"type":"conference_paper","publisher":"North","editors":["Jane Doe"],"issn":["1234-5678"]}"#;
        assert_eq!(json, expect);
        assert_eq!(serde_json::from_str::<Imprint>(&json).unwrap(), whole);
        assert_eq!(whole.texts().collect::<Vec<_>>(), ["North", "Jane Doe", "1234-5678"]);
        assert_eq!(serde_json::to_string(&Imprint::default()).unwrap(), "{}");
    }
}
