//! Identifiers of scholarly works, from text and addresses.

mod arxiv;
mod scan;

use crate::Doi;
use serde::{Deserialize, Serialize};
use std::fmt;

pub use arxiv::ArxivId;

/// A name that a scholarly work is known by, in its normal form.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "kind", content = "value", rename_all = "snake_case")]
pub enum Identifier {
    /// Digital object identifier.
    Doi(Doi),
    /// PubMed: a number of up to eight digits.
    Pmid(String),
    /// PubMed Central: `PMC` and a number.
    Pmcid(String),
    /// arXiv, without version.
    Arxiv(ArxivId),
    /// OpenAlex work: `W` and a number.
    OpenAlex(String),
    /// Semantic Scholar paper: 40 hexadecimal digits, lower case.
    SemanticScholar(String),
    /// Semantic Scholar corpus number.
    CorpusId(String),
    /// Registration of a trial at ClinicalTrials.gov: `NCT` and eight digits. It names the registry's record, never a
    /// publication about the trial.
    Nct(String),
}

impl Identifier {
    /// Every identifier in a text, in order, each once. Bare numbers count only with their name before them.
    pub fn in_text(text: &str) -> Vec<Self> {
        scan::text(text)
    }

    /// Every registration of a trial in a text, in order, each once. They are apart from [`Identifier::in_text`]: a paper
    /// that names its trial's registration is not that registration.
    pub fn registrations_in(text: &str) -> Vec<Self> {
        scan::registrations(text)
    }

    /// Every identifier in the address of a page about a work, each once. Publishers' addresses often hold the DOI.
    pub fn in_url(url: &str) -> Vec<Self> {
        scan::url(url)
    }

    /// A PMID: 1 to 8 digits, no leading zero.
    pub fn pmid(text: &str) -> Option<Self> {
        number(text, 8).map(Self::Pmid)
    }

    /// A PMCID, with or without `PMC`.
    pub fn pmcid(text: &str) -> Option<Self> {
        let text = text.trim();
        let digits =
            if text.get(..3).is_some_and(|p| p.eq_ignore_ascii_case("pmc")) { &text[3..] } else { text };
        number(digits, 9).map(|digits| Self::Pmcid(format!("PMC{digits}")))
    }

    /// An OpenAlex work, as `W123` or its address.
    pub fn openalex(text: &str) -> Option<Self> {
        let id = text.trim().rsplit('/').next()?;
        let digits = id.strip_prefix(['W', 'w'])?;
        number(digits, 12).map(|digits| Self::OpenAlex(format!("W{digits}")))
    }

    /// A Semantic Scholar paper: 40 hexadecimal digits.
    pub fn semantic_scholar(text: &str) -> Option<Self> {
        let text = text.trim();
        let valid = text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        valid.then(|| Self::SemanticScholar(text.to_ascii_lowercase()))
    }

    /// A registration at ClinicalTrials.gov: `NCT` and eight digits, in either case.
    pub fn nct(text: &str) -> Option<Self> {
        let text = text.trim();
        let valid = text.len() == 11
            && text.get(..3).is_some_and(|front| front.eq_ignore_ascii_case("nct"))
            && text.bytes().skip(3).all(|byte| byte.is_ascii_digit());
        valid.then(|| Self::Nct(text.to_ascii_uppercase()))
    }

    /// A Semantic Scholar corpus number.
    pub fn corpus_id(text: &str) -> Option<Self> {
        number(text, 12).map(Self::CorpusId)
    }
}

impl fmt::Display for Identifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Doi(doi) => write!(f, "doi:{doi}"),
            Self::Pmid(id) => write!(f, "pmid:{id}"),
            Self::Pmcid(id) => write!(f, "pmcid:{id}"),
            Self::Arxiv(id) => write!(f, "arxiv:{id}"),
            Self::OpenAlex(id) => write!(f, "openalex:{id}"),
            Self::SemanticScholar(id) => write!(f, "s2:{id}"),
            Self::CorpusId(id) => write!(f, "corpusid:{id}"),
            Self::Nct(id) => write!(f, "nct:{id}"),
        }
    }
}

/// A positive number without leading zeros, of at most `longest` digits.
fn number(text: &str, longest: usize) -> Option<String> {
    let text = text.trim();
    let valid = !text.is_empty()
        && text.len() <= longest
        && !text.starts_with('0')
        && text.bytes().all(|byte| byte.is_ascii_digit());
    valid.then(|| text.to_owned())
}

#[cfg(test)]
mod tests;
