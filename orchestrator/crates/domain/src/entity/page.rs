//! A page: anything with a text that fragments are cut from.

use crate::{Imprint, PageId, WorkId, named_enum};
use serde::{Deserialize, Serialize};

/// A page, global: tasks share it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Page {
    /// Derived from the DOI's work id when there is one, else from the URL.
    pub id: PageId,
    /// `https://…`, or `corpus:NAME/DOC_ID` for a document without an address.
    pub url: String,
    /// Registrable domain of the URL (its host if it has none), or `corpus:NAME`.
    pub domain: String,
    /// Category of the domain; `unverified` unless configured.
    pub domain_category: String,
    /// Title.
    pub title: String,
    /// The work on this page, if it is one.
    pub work_id: Option<WorkId>,
    /// ISO 639-1 code, when known.
    pub language: Option<String>,
    /// How the text was obtained.
    pub fetch_method: FetchMethod,
    /// The paper's metadata, as the source reports it.
    pub paper_metadata: PaperMetadata,
}

named_enum! {
    /// How a page's text was obtained.
    pub enum FetchMethod {
        /// Plain HTTP.
        Http = "http",
        /// A headless browser.
        Browser = "browser",
        /// An academic API's abstract.
        AcademicApi = "academic_api",
        /// A local corpus.
        Corpus = "corpus",
    }
}

named_enum! {
    /// Why a page belongs to a task.
    pub enum TaskPageReason {
        /// A search engine named it.
        Serp = "serp",
        /// An academic API named it.
        AcademicApi = "academic_api",
        /// Another page cites it.
        Citation = "citation",
        /// A local corpus named it.
        Corpus = "corpus",
        /// A person added it.
        Manual = "manual",
    }
}

/// Paper metadata stored with the page. Unknown or malformed fields degrade to null.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PaperMetadata {
    /// Year of publication.
    pub year: Option<i32>,
    /// Journal, conference or site.
    pub venue: Option<String>,
    /// What the work is, and who published it.
    #[serde(flatten)]
    pub imprint: Imprint,
    /// DOI, normalized.
    pub doi: Option<String>,
    /// Names in the order of the by-line.
    pub authors: Vec<String>,
    /// How often others cite it.
    pub citation_count: Option<u32>,
    /// Local corpus it came from.
    pub corpus: Option<String>,
    /// Its identifier there.
    pub doc_id: Option<String>,
}
