//! The port between fusion's tools and what they search: one trait, three implementations.
//!
//! A *lane* is one search. Everything that shapes its result is in [`LaneQuery`]; what was found is in [`LaneHits`].

mod filter;
pub(crate) mod number;
mod publication;

pub(crate) use number::other_forms;

pub use filter::{DateField, DateRange, Filter, FilterError, RawFilter, RawRange, ValueField};
pub(crate) use filter::{ONE_SYSTEM, wrong};
pub use publication::{Codes, IdType, Publication, UnknownIdType};

use crate::{CorpusError, Result};
use async_trait::async_trait;
use lyra_domain::classification::System;
use lyra_text::query::{Field, Query, QueryError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use tokio_util::sync::CancellationToken;

/// Most hits of one lane.
pub const MAX_TOP_K: usize = 10_000;

/// Searches corpora and hands out their publications.
///
/// Every method fails with [`crate::CorpusError::NotFound`] for a corpus that is not there. What the backend is asked
/// for and does not have (a scope without vectors, a field it does not keep) is an error with the reason, never an
/// empty answer.
#[async_trait]
pub trait SearchBackend: Send + Sync {
    /// Where a corpus is: part of a run's identity. [`BackendKind::Embedded`] for one that is not there.
    fn kind(&self, corpus: &str) -> BackendKind;

    /// Whether it answers for a corpus of this name, as far as that is known without asking a server.
    fn claims(&self, corpus: &str) -> bool;

    /// Names of the corpora that can be searched, sorted.
    async fn corpora(&self) -> Result<Vec<String>>;

    /// Changes whenever the corpus' documents may have changed.
    async fn snapshot(&self, corpus: &str) -> Result<String>;

    /// Runs a lane. Hits are ordered by score, ties by document id. `stop` ends it early with
    /// [`crate::CorpusError::Stopped`].
    async fn search(&self, query: &LaneQuery, stop: &CancellationToken) -> Result<LaneHits>;

    /// Publications in the order of `ids`, `None` where no document has that id.
    async fn fetch(
        &self,
        corpus: &str,
        ids: &[String],
        id_type: IdType,
        stop: &CancellationToken,
    ) -> Result<Vec<Option<Publication>>>;

    /// What documents have in common with their families, in the order of `ids` (document ids): documents that share a key
    /// are of one family. Empty for a document that is not there, or of no family.
    async fn family_keys(&self, corpus: &str, ids: &[String]) -> Result<Vec<Vec<String>>> {
        let _ = ids;
        Err(CorpusError::Search {
            why: format!("{} has no families", self.kind(corpus)),
            expected: "blend without `one_per_family`, or search a local corpus".to_owned(),
        })
    }

    /// L2-normalized embeddings of documents in the order of `ids` (document ids), `None` for a document without one; all
    /// `None` where the backend does not hand them out.
    async fn embeddings(&self, corpus: &str, ids: &[String]) -> Result<Vec<Option<Vec<f32>>>>;
}

/// The implementations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BackendKind {
    /// Corpora of the data directory.
    #[default]
    Embedded,
    /// An `OpenSearch` cluster.
    OpenSearch,
    /// Patentfield's REST API.
    Patentfield,
}

impl BackendKind {
    /// The name in the configuration and in recipes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Embedded => "embedded",
            Self::OpenSearch => "opensearch",
            Self::Patentfield => "patentfield",
        }
    }
}

impl fmt::Display for BackendKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LaneQuery {
    /// The corpus.
    pub corpus: String,
    /// What to match, and how.
    pub kind: LaneKind,
    /// All must hold. Checked together by [`Filter::check_all`].
    pub filters: Vec<Filter>,
    /// Most hits, 1 to [`MAX_TOP_K`].
    pub top_k: usize,
}

impl LaneQuery {
    /// Checks what every backend needs: sizes, weights, a readable query, and one classification system in query and
    /// filters together.
    ///
    /// # Errors
    /// [`crate::CorpusError::Search`], [`crate::CorpusError::Query`] with what would be right.
    pub fn check(&self) -> Result<()> {
        let wrong =
            |why: String, expected: &str| Err(CorpusError::Search { why, expected: expected.to_owned() });
        if !(1..=MAX_TOP_K).contains(&self.top_k) {
            return wrong(format!("top_k is {}", self.top_k), "give a number from 1 to 10000");
        }
        let mut systems: Vec<System> = Vec::new();
        match &self.kind {
            LaneKind::FullText { query, boosts } => {
                if !boosts.are_sound() {
                    let expected = "give numbers from 0 on, one of them above 0";
                    return wrong("the field boosts cannot be used".to_owned(), expected);
                }
                let query = Query::parse(query)?;
                systems.extend(query.leaves().into_iter().filter_map(|(leaf, _)| match leaf {
                    Query::Term(term) => term.field?.name().parse::<System>().ok(),
                    _ => None,
                }));
            }
            LaneKind::Semantic { text, .. } if text.trim().is_empty() => {
                return wrong("the text is empty".to_owned(), "say in words what to look for");
            }
            LaneKind::Semantic { .. } => {}
        }
        systems.extend(self.filters.iter().filter_map(|filter| match filter {
            Filter::Codes { system, .. } => Some(*system),
            _ => None,
        }));
        match systems.iter().find_map(|a| systems.iter().find(|b| !a.goes_with(**b)).map(|b| (a, b))) {
            None => Ok(()),
            Some((a, b)) => wrong(format!("`{a}` and `{b}` are mixed in one lane"), ONE_SYSTEM),
        }
    }
}

impl LaneQuery {
    /// That it filters and searches by no field that only local corpora have.
    pub(crate) fn check_fields(&self, kind: BackendKind) -> Result<()> {
        if let LaneKind::FullText { query, .. } = &self.kind
            && let Some((word, at)) = Query::parse(query)?.as_written()
        {
            let expected = format!(
                "a word without `=`, `*`, and `?`: {kind} has no index of words as written, only local corpora do"
            );
            return Err(
                QueryError { at: at.start, found: format!("`{word}`"), expected, instead: None }.into()
            );
        }
        if let LaneKind::FullText { query, .. } = &self.kind
            && let Some(field) = Query::parse(query)?.leaves().into_iter().find_map(|(leaf, _)| match leaf {
                Query::Term(term) => term.field.filter(|field| ONLY_LOCAL.contains(field)),
                _ => None,
            })
        {
            let why = format!("{kind} has no field `{}`", field.name());
            return Err(CorpusError::Search {
                why,
                expected: "leave it out, or search a local corpus".to_owned(),
            });
        }
        let only_local = |filter: &&Filter| {
            matches!(
                filter,
                Filter::Codes { system: System::Uspc | System::Locarno, .. }
                    | Filter::Values { field: ValueField::Inventor, .. }
            )
        };
        match self.filters.iter().find(only_local) {
            None => Ok(()),
            Some(filter) => {
                let why = format!("{kind} has no such field");
                Err(wrong(filter.field(), why, "leave the filter out, or search a local corpus").into())
            }
        }
    }

    /// The same, and that it filters by none of a person's tags and collections, which indices of others lack.
    pub(crate) fn check_remote(&self, kind: BackendKind) -> Result<()> {
        self.check_fields(kind)?;
        let own = |filter: &&Filter| {
            matches!(filter, Filter::Values { field: ValueField::Tag | ValueField::Collection, .. })
        };
        match self.filters.iter().find(own) {
            None => Ok(()),
            Some(filter) => {
                let why = format!("{kind} has no tags and collections");
                Err(wrong(filter.field(), why, "leave the filter out, or search a local corpus").into())
            }
        }
    }
}

/// Fields of queries that other machines do not have.
const ONLY_LOCAL: [Field; 5] = [Field::Uspc, Field::Locarno, Field::Inventor, Field::Cites, Field::CitedBy];

/// The two kinds of lanes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum LaneKind {
    /// A query of the query language, BM25 per field.
    FullText {
        /// In the language of `lyra_text::query`.
        query: String,
        /// Weight of each field.
        boosts: FieldBoosts,
    },
    /// A text, compared by meaning.
    Semantic {
        /// Any text.
        text: String,
        /// Which part of the documents is compared.
        scope: FeatureScope,
    },
}

/// Weight of each text field in a full-text lane; 0 leaves the field out of the search for bare terms.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FieldBoosts {
    /// Title.
    #[serde(default)]
    pub title: f32,
    /// Abstract.
    #[serde(default)]
    pub abst: f32,
    /// Claims.
    #[serde(default)]
    pub claim: f32,
    /// Description.
    #[serde(default)]
    pub desc: f32,
}

impl Default for FieldBoosts {
    /// The wide lane's.
    fn default() -> Self {
        Self { title: 80.0, abst: 10.0, claim: 5.0, desc: 1.0 }
    }
}

impl FieldBoosts {
    /// Name and weight of each field.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, f32)> {
        [("title", self.title), ("abst", self.abst), ("claim", self.claim), ("desc", self.desc)].into_iter()
    }

    /// Whether every weight is finite and not negative, and one is positive.
    pub fn are_sound(&self) -> bool {
        self.iter().all(|(_, weight)| weight.is_finite() && weight >= 0.0)
            && self.iter().any(|(_, weight)| weight > 0.0)
    }
}

/// Which part of a document a semantic lane compares.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Default, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum FeatureScope {
    /// Everything: title, abstract, claims, beginning of the description.
    #[default]
    Wide,
    /// Title, abstract and claims.
    TitleAbstClaims,
    /// All claims.
    ClaimsOnly,
    /// The first claim.
    TopClaim,
    /// Background, problem and effect of a Japanese description.
    BackgroundJp,
}

impl FeatureScope {
    /// All scopes.
    pub const ALL: [Self; 5] =
        [Self::Wide, Self::TitleAbstClaims, Self::ClaimsOnly, Self::TopClaim, Self::BackgroundJp];

    /// The name in tool calls and configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::Wide => "wide",
            Self::TitleAbstClaims => "title_abst_claims",
            Self::ClaimsOnly => "claims_only",
            Self::TopClaim => "top_claim",
            Self::BackgroundJp => "background_jp",
        }
    }
}

impl fmt::Display for FeatureScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// No feature scope has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a feature scope: use wide, title_abst_claims, claims_only, top_claim or background_jp")]
pub struct UnknownScope(String);

impl FromStr for FeatureScope {
    type Err = UnknownScope;

    fn from_str(text: &str) -> Result<Self, UnknownScope> {
        Self::ALL.into_iter().find(|scope| scope.name() == text).ok_or_else(|| UnknownScope(text.to_owned()))
    }
}

/// What a lane found.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct LaneHits {
    /// Best first, ties by document id.
    pub hits: Vec<LaneHit>,
    /// Time that the search took, in milliseconds.
    pub took_ms: u64,
    /// More documents matched than `top_k`.
    pub truncated: bool,
    /// Documents that matched, where the backend counts them.
    pub total: Option<u64>,
    /// Documents that the search could not find because their embeddings are still to be made.
    #[serde(default)]
    pub unembedded: u64,
    /// Documents may be missing, because an import has not finished.
    #[serde(default)]
    pub unfinished: bool,
}

/// One document of a lane.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LaneHit {
    /// Document id.
    pub doc_id: String,
    /// The backend's own score: comparable within the lane alone.
    pub score: f64,
    /// Classification codes, in normal form.
    pub codes: Codes,
}
