//! The API's JSON. Everything may be absent or null.

use crate::Paper;
use crate::paper::{address, filled};
use crate::records::Records;
use crate::registry::SEMANTIC_SCHOLAR;
use lyra_domain::{ArxivId, Doi, Identifier, Imprint, Work, WorkKind};
use serde::Deserialize;
use serde_json::Value;

/// A page of a list.
#[derive(Debug, Deserialize)]
#[serde(bound = "T: serde::de::DeserializeOwned")]
pub(super) struct Page<T> {
    pub(super) total: Option<u64>,
    pub(super) next: Option<usize>,
    pub(super) data: Option<Records<T>>,
}

/// A page of bulk search.
#[derive(Debug, Deserialize)]
pub(super) struct BulkPage {
    pub(super) token: Option<String>,
    pub(super) data: Option<Records<WirePaper>>,
}

/// Papers in the order of the requested identifiers, null for unknown ones.
pub(super) type Batch = Records<Option<WirePaper>>;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CitedPaper {
    cited_paper: Option<WirePaper>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CitingPaper {
    citing_paper: Option<WirePaper>,
}

impl From<CitedPaper> for Option<WirePaper> {
    fn from(entry: CitedPaper) -> Self {
        entry.cited_paper
    }
}

impl From<CitingPaper> for Option<WirePaper> {
    fn from(entry: CitingPaper) -> Self {
        entry.citing_paper
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct WirePaper {
    paper_id: Option<String>,
    corpus_id: Option<Value>,
    external_ids: Option<ExternalIds>,
    url: Option<String>,
    title: Option<String>,
    #[serde(rename = "abstract")]
    abstract_text: Option<String>,
    venue: Option<String>,
    journal: Option<Journal>,
    publication_types: Option<Vec<String>>,
    year: Option<i32>,
    publication_date: Option<String>,
    authors: Option<Vec<Author>>,
    citation_count: Option<u32>,
    reference_count: Option<u32>,
    open_access_pdf: Option<OpenAccessPdf>,
}

/// Numbers come as numbers or as text.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ExternalIds {
    #[serde(rename = "DOI")]
    doi: Option<Value>,
    #[serde(rename = "PubMed")]
    pubmed: Option<Value>,
    #[serde(rename = "PubMedCentral")]
    pubmed_central: Option<Value>,
    #[serde(rename = "ArXiv")]
    arxiv: Option<Value>,
    #[serde(rename = "CorpusId")]
    corpus_id: Option<Value>,
}

#[derive(Debug, Deserialize)]
struct Journal {
    name: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Author {
    name: Option<String>,
}

#[derive(Debug, Deserialize)]
struct OpenAccessPdf {
    url: Option<String>,
}

fn text(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

impl From<WirePaper> for Paper {
    fn from(paper: WirePaper) -> Self {
        let external = paper.external_ids.unwrap_or_default();
        // Preprints and papers of conferences are `JournalArticle`, too.
        let kinds = paper.publication_types.into_iter().flatten();
        let kind =
            kinds.filter_map(|word| WorkKind::of_catalog(&word)).find(|kind| *kind != WorkKind::Article);
        let mut work = Work {
            title: paper.title.unwrap_or_default(),
            year: paper.year,
            published_date: filled(paper.publication_date),
            venue: filled(paper.venue).or_else(|| filled(paper.journal.and_then(|journal| journal.name))),
            imprint: Imprint { kind, ..Imprint::default() },
            authors: paper.authors.into_iter().flatten().filter_map(|author| filled(author.name)).collect(),
            citation_count: paper.citation_count,
            reference_count: paper.reference_count,
            oa_url: filled(paper.open_access_pdf.and_then(|pdf| pdf.url)),
            source_api: SEMANTIC_SCHOLAR.name.to_owned(),
            ..Work::default()
        };
        let corpus_id = text(paper.corpus_id.as_ref()).or_else(|| text(external.corpus_id.as_ref()));
        let ids = [
            text(external.doi.as_ref()).and_then(|id| Doi::parse(&id)).map(Identifier::Doi),
            text(external.pubmed.as_ref()).and_then(|id| Identifier::pmid(&id)),
            text(external.pubmed_central.as_ref()).and_then(|id| Identifier::pmcid(&id)),
            text(external.arxiv.as_ref()).and_then(|id| ArxivId::parse(&id)).map(Identifier::Arxiv),
            paper.paper_id.and_then(|id| Identifier::semantic_scholar(&id)),
            corpus_id.and_then(|id| Identifier::corpus_id(&id)),
        ];
        ids.into_iter().flatten().for_each(|id| work.add_identifier(id));
        Self {
            url: address(&work, filled(paper.url)),
            work,
            abstract_text: filled(paper.abstract_text),
            language: None,
        }
    }
}
