//! What answers queries, what may be used of it, and what is remembered of who answers.

use crate::{PortError, Result};
use async_trait::async_trait;
use lyra_domain::domains::{DomainOverride, DomainRules};
use lyra_domain::{FetchMethod, Fragment, Identifier, Precedence, Priority, Work};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// What kind of source answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceKind {
    /// A local corpus: documents that the user imported.
    Corpus,
    /// An academic API.
    Api,
    /// Something that searches the web and fetches pages, each of which costs from the page budget.
    Web,
}

impl SourceKind {
    /// `corpus`, `api`, `web`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Corpus => "corpus",
            Self::Api => "api",
            Self::Web => "web",
        }
    }
}

/// Anything that answers a query with documents: a local corpus, an academic API, a web search. It keeps nothing of a
/// search: one value serves several at a time.
#[async_trait]
pub trait EvidenceSource: Send + Sync {
    /// `corpus:NAME`, `semantic_scholar`, `openalex`, an engine's name.
    fn name(&self) -> &str;
    /// What kind of source it is.
    fn kind(&self) -> SourceKind;
    /// Whose metadata wins when several sources describe one work.
    fn precedence(&self) -> Precedence {
        Precedence::LAST
    }
    /// An answer of at most `limit` hits. A source that fetches pages fetches at most `limit`.
    async fn search(&self, query: &str, language: Option<&str>, limit: usize) -> Result<Answer>;
    /// Whether only searches that name it ask it.
    fn on_request(&self) -> bool {
        false
    }
    /// Whether its documents lead to works without being works themselves: an encyclopedia, a registry. What they name
    /// ([`Work::references`], as identifiers with their kind: `doi:…`, `pmid:…`) is looked up, as what texts name is.
    fn leads_to_works(&self) -> bool {
        false
    }
    /// The source confined to parts of it, of which a query names each as `SOURCE:PART`: engines of the web. `None` when
    /// it has no parts.
    fn confined_to(&self, _parts: &[String]) -> Option<Arc<dyn EvidenceSource>> {
        None
    }
    /// Repeats a blocked part ([`Waiting::part`]) after a person has unblocked it. Answers like a search.
    async fn resume(
        &self,
        part: &str,
        _query: &str,
        _language: Option<&str>,
        _limit: usize,
    ) -> Result<Answer> {
        let why = format!("no part of it requires a person, so there is no `{part}` to resume");
        Err(PortError::Refused { what: self.name().to_owned(), why })
    }
    /// What it knows of works beyond search, when it is an academic API.
    fn scholarly(&self) -> Option<&dyn ScholarlySource> {
        None
    }
}

/// An academic API: it knows works by their identifiers, and who cites whom.
#[async_trait]
pub trait ScholarlySource: Send + Sync {
    /// Whether it says of works that they were retracted.
    fn knows_retractions(&self) -> bool {
        false
    }
    /// Whether all it knows of a work is where it is free to read: then it is asked only about works that no source has
    /// a text or a free copy of.
    fn finds_copies(&self) -> bool {
        false
    }
    /// The identifier that an entry of [`Work::references`] stands for, when it is one of this API's own: then the API
    /// states that citation.
    fn own_reference(&self, _entry: &str) -> Option<Identifier> {
        None
    }
    /// The works with these identifiers, in any order; unknown ones are left out.
    async fn lookup(&self, ids: &[Identifier]) -> Result<Vec<Hit>>;
    /// The full text of a work, when the API has it itself and it is free.
    async fn full_text(&self, _work: &Work) -> Result<Option<SourcePage>> {
        Ok(None)
    }
    /// At most `limit` works that this one cites; none when the API does not know citations.
    async fn references(&self, _work: &Work, _limit: usize) -> Result<Vec<Hit>> {
        Ok(Vec::new())
    }
    /// At most `limit` works that cite this one, the most cited or newest first as the API prefers; none when the API
    /// does not know.
    async fn citations(&self, _work: &Work, _limit: usize) -> Result<Vec<Hit>> {
        Ok(Vec::new())
    }
}

/// What a source answers to one search.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Answer {
    /// What it found, best first.
    pub hits: Vec<Hit>,
    /// Pages that it fetched and read, by the address of their hit.
    pub pages: HashMap<String, SourcePage>,
    /// What is missing although it answered: an engine that required a person, an unreadable page.
    pub notes: Vec<String>,
    /// Parts that require a person.
    pub waiting: Vec<Waiting>,
}

impl From<Vec<Hit>> for Answer {
    fn from(hits: Vec<Hit>) -> Self {
        Self { hits, ..Self::default() }
    }
}

/// Where a document of a local corpus is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CorpusDocument {
    /// Name of the corpus.
    pub corpus: String,
    /// The document's identifier in it.
    pub doc_id: String,
    /// Passages of its full text, in order; without its abstract.
    pub passages: Vec<CorpusPassage>,
}

impl CorpusDocument {
    /// A document of which no full text is at hand.
    pub fn new(corpus: &str, doc_id: &str) -> Self {
        Self { corpus: corpus.to_owned(), doc_id: doc_id.to_owned(), passages: Vec::new() }
    }
}

/// A passage of a document's full text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CorpusPassage {
    /// Section and page that it is in, as they are shown: `Results, p. 7`.
    pub place: Option<String>,
    /// The text.
    pub text: String,
}

/// One document that a source found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// Place in the source's list, from 1.
    pub rank: usize,
    /// The source's own score.
    pub score: f64,
    /// Metadata.
    pub work: Work,
    /// Address, or `corpus:NAME/DOC_ID`.
    pub url: String,
    /// Where it is, for a document of a local corpus.
    pub document: Option<CorpusDocument>,
    /// ISO 639-1 code of the text.
    pub language: Option<String>,
    /// Abstract or full text; without it the page has to be fetched.
    pub text: Option<String>,
    /// Vector of `lyra_text::passage(title, text)` with the model that made it, when the source keeps one.
    pub embedding: Option<(String, Vec<f32>)>,
}

/// Part of a search that requires a person: a page with a CAPTCHA, a consent form, or a login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// Which part, in the source's words; [`EvidenceSource::resume`] takes it.
    pub part: String,
    /// The page to open.
    pub url: String,
    /// The domain whose cookies will count: registrable, or the host if it has no such domain.
    pub domain: String,
    /// `captcha`, `turnstile`, `cloudflare`, `consent`, `login`.
    pub auth_type: String,
    /// How much hangs on it.
    pub priority: Priority,
}

/// A page that was fetched and read.
#[derive(Debug, Clone, PartialEq)]
pub struct SourcePage {
    /// Registrable domain.
    pub domain: String,
    /// Category of the domain.
    pub domain_category: String,
    /// How it was fetched.
    pub method: FetchMethod,
    /// What answered.
    pub answer: Answered,
    /// Title, when it has a harmless one.
    pub title: String,
    /// ISO 639-1 code of its text.
    pub language: Option<String>,
    /// Its text in pieces; ids and page are set when it is registered.
    pub fragments: Vec<Fragment>,
    /// Links in its body text, those to other sites first.
    pub links: Vec<PageLink>,
    /// Pieces that address the AI that reads them.
    pub quarantined: Vec<Quarantined>,
    /// What of it was not read because it goes beyond a limit, and which.
    pub left_out: Option<String>,
    /// A rule of high severity that the page breaks where readers do not see it.
    pub hostile: Option<String>,
}

/// What answered when a page was fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    /// Address after redirects.
    pub final_url: String,
    /// Status code.
    pub http_status: u16,
    /// SHA-256 of its bytes, in hexadecimal.
    pub content_hash: String,
}

/// A link in the body text of a page. Its words are untrusted data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageLink {
    /// Where it leads, canonical.
    pub url: String,
    /// Its words.
    pub text: String,
    /// The sentence, or the item of a list, that it stands in.
    pub context: String,
}

/// What is remembered of a provider outside, so that a restart does not forget a cool-down.
#[async_trait]
pub trait RateStore: Send + Sync {
    /// The state last saved for this provider.
    async fn load(&self, provider: &str) -> Result<Option<RateState>>;
    /// Replaces the state of this provider.
    async fn save(&self, provider: &str, state: &RateState) -> Result<()>;
}

/// How a provider has been doing. Times are of the wall clock, which may jump: readers bound every wait they
/// compute from them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RateState {
    /// Start of the latest request.
    pub last_request: Option<jiff::Timestamp>,
    /// Answers of 429 in a row.
    pub refusals: u32,
    /// Other failures in a row.
    pub failures: u32,
    /// When the pause below began.
    pub paused_at: Option<jiff::Timestamp>,
    /// Not asked for this many seconds from then on.
    pub pause_seconds: u64,
    /// Why it pauses.
    pub pause_reason: Option<String>,
    /// When it named a time so near that requests wait for it.
    pub held_at: Option<jiff::Timestamp>,
    /// They wait for this many seconds from then on.
    pub held_seconds: u64,
    /// Day, counted from 1970 in UTC, that `spent` belongs to.
    pub day: i64,
    /// Requests of that day, for a provider with a daily budget.
    pub spent: u32,
}

/// What is stored about domains: read by the one that decides.
#[async_trait]
pub trait DomainStore: Send + Sync {
    /// Rules that people made, the active ones.
    async fn overrides(&self) -> Result<Vec<DomainOverride>>;
    /// Registrable domains that the server blocked for a reason it recorded.
    async fn blocked(&self) -> Result<BTreeSet<String>>;
    /// Registrable domains that nothing was known of until independent sources confirmed what they say.
    async fn confirmed(&self) -> Result<BTreeSet<String>>;
}

/// What may be used of what sources say: which domains, and which texts.
#[async_trait]
pub trait ContentRules: Send + Sync {
    /// Everything that decides about domains, as of now.
    async fn domains(&self) -> Result<DomainRules>;
    /// For every text, in order, the gravest rule that it breaks, when it addresses the AI that reads it.
    async fn dangers(&self, texts: Vec<String>) -> Result<Vec<Option<Danger>>>;
}

/// Fetches web pages: rate-limited, checked, and read by the same rules for every caller.
#[async_trait]
pub trait PageFetcher: Send + Sync {
    /// The page of a work. A landing page that only leads to the work's text is followed to it once.
    async fn fetch(&self, url: &str) -> Result<SourcePage>;
}

/// A rule for text that addresses the AI that reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Danger {
    /// Id of the rule.
    pub rule: String,
    /// `medium` or `high`.
    pub severity: String,
}

/// A passage that is stored but hidden from any reader that could take it for an instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quarantined {
    /// The passage.
    pub fragment: Fragment,
    /// The rule it broke.
    pub danger: Danger,
}

/// Sessions from people's visits to domains that require a person.
#[async_trait]
pub trait SessionStore: Send + Sync {
    /// The newest session for this domain, in the format of the component that stored it. It is a secret.
    async fn session(&self, domain: &str) -> Result<Option<String>>;
}
