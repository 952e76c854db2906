//! One page: fetched politely, decoded, read, cut into fragments, and searched for text meant for the reading AI.

use super::parser::{parsed, unread};
use super::{Aids, Rules};
use crate::cookies::Session;
use crate::http::{Cache, HttpClient, Origin, Policy, Request, Response, Settles};
use crate::{Error, Result};
use async_trait::async_trait;
use jiff::Timestamp;
use lyra_domain::domains::{DomainCategory, DomainDecision};
use lyra_domain::{FetchMethod, Fragment, PageId, hex};
use lyra_research::ports::{Answered, Danger, Quarantined, SourcePage};
use lyra_web::danger::{Finding, Place, Severity};
use lyra_web::extract::Extracted;
use lyra_web::read::{PageKind, PageText, TITLE, Task, Unread};
use lyra_web::serp::ChallengeKind;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::time::Duration;
use url::Url;

/// Most consecutive pages with a refresh to another; the next one is read as it is.
const MAX_REFRESHES: usize = 3;
/// Bytes of a page in which to look for a refresh.
const REFRESH_BYTES: usize = 32 << 10;
/// Supported types; a response without a type is judged by its bytes.
const CONTENT_TYPES: [&str; 5] = ["text/html", "application/xhtml+xml", "text/plain", "application/pdf", ""];

/// Limits of fetching.
#[derive(Debug, Clone, PartialEq)]
pub struct FetchLimits {
    /// Limit of one attempt.
    pub timeout: Duration,
    /// Most bytes of a page, unpacked.
    pub max_bytes: usize,
    /// How long to cache a page without `Cache-Control`.
    pub keep: Duration,
    /// Origins that may be fetched although they are not public (test servers).
    pub trusted: Vec<Origin>,
}

impl Default for FetchLimits {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(20),
            max_bytes: 12 << 20,
            keep: Duration::from_hours(24),
            trusted: Vec::new(),
        }
    }
}

/// Fetches pages. Cheap to clone.
#[derive(Clone)]
pub struct Pages {
    http: HttpClient,
    pub(super) rules: Rules,
    limits: FetchLimits,
    aids: Aids,
}

/// A page that was fetched and read. Its text is untrusted data.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FetchedPage {
    /// Identity, from the canonical requested address.
    pub id: PageId,
    /// The canonical requested address.
    pub url: String,
    /// The address that answered.
    pub final_url: String,
    /// Status code.
    pub status: u16,
    /// How it was fetched: plain HTTP or a browser.
    pub fetch_method: FetchMethod,
    /// What it was.
    pub kind: PageKind,
    /// Encoding of its text, for HTML and plain text.
    pub encoding: Option<String>,
    /// SHA-256 of its bytes, in hexadecimal.
    pub content_hash: String,
    /// When it was received.
    pub fetched_at: Timestamp,
    /// Category of the domain that answered, and why.
    pub domain: DomainDecision,
    /// Main text and the page's metadata.
    pub extracted: Extracted,
    /// The main text in pieces.
    pub fragments: Vec<Fragment>,
    /// Text meant for the reading AI: facts, and no judgment of the page.
    pub findings: Vec<Finding>,
    /// Positions of the fragments that such text touches, of medium severity and above.
    pub quarantined: Vec<u32>,
    /// Why the browser did not load it, if its scripts might have added text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unrendered: Option<String>,
}

impl FetchedPage {
    /// # Errors
    /// A page without text.
    pub(super) fn with_text(self) -> Result<Self> {
        if self.extracted.text.trim().is_empty() {
            let why = self.unrendered.as_ref().map_or_else(
                || "it has no text".to_owned(),
                |why| format!("it has no text without JavaScript: {why}"),
            );
            let url = self.url.parse().as_ref().map_or_else(|_| self.url.clone(), shown);
            return Err(Error::Unreadable { url, why });
        }
        Ok(self)
    }

    /// As the pipeline takes it: what addresses an AI apart from the rest.
    pub(super) fn into_source_page(self) -> SourcePage {
        let touched = lyra_web::fragment::touched(&self.extracted, &self.fragments, &self.findings);
        let dangers: HashMap<u32, Danger> = touched
            .into_iter()
            .map(|(position, finding)| {
                let severity = finding.severity.as_str().to_owned();
                (position, Danger { rule: finding.rule.clone(), severity })
            })
            .collect();
        let (mut fragments, mut quarantined) = (Vec::new(), Vec::new());
        for fragment in self.fragments {
            match dangers.get(&fragment.position) {
                Some(danger) => quarantined.push(Quarantined { fragment, danger: danger.clone() }),
                None => fragments.push(fragment),
            }
        }
        // Visible text may be an article about attacks; hidden text is meant for machines.
        let hidden = |finding: &Finding| matches!(&finding.place, Place::Hidden { how } if how != TITLE);
        let hostile =
            self.findings.into_iter().find(|finding| finding.severity == Severity::High && hidden(finding));
        SourcePage {
            domain: self.domain.domain,
            domain_category: self.domain.category.to_string(),
            method: self.fetch_method,
            answer: Answered {
                final_url: self.final_url,
                http_status: self.status,
                content_hash: self.content_hash,
            },
            title: self.extracted.title,
            language: self.extracted.language,
            fragments,
            links: Vec::new(),
            quarantined,
            left_out: self.extracted.left_out,
            hostile: hostile.map(|finding| finding.rule),
        }
    }
}

impl Pages {
    /// Fetches with this client under these rules.
    pub fn new(http: HttpClient, rules: Rules, limits: FetchLimits) -> Self {
        Self { http, rules, limits, aids: Aids::default() }
    }

    /// With what helps where plain requests do not do.
    #[must_use]
    pub fn with_aids(self, aids: Aids) -> Self {
        Self { aids, ..self }
    }

    /// Fetches one page and reads it. JavaScript-rendered HTML is loaded again by the browser, if available.
    ///
    /// # Errors
    /// Addresses that are not http(s), blocked domains, pages that robots.txt disallows, network errors and refusals,
    /// pages that require a person ([`Error::Challenge`]), and pages without readable text.
    pub async fn fetch(&self, address: &str) -> Result<FetchedPage> {
        self.fetch_any(address).await?.with_text()
    }

    /// The same, but a page with only metadata is acceptable.
    pub(super) async fn fetch_any(&self, address: &str) -> Result<FetchedPage> {
        let Some(url) = lyra_web::canonical(address) else {
            let why = "it is not an absolute http(s) address".to_owned();
            return Err(Error::Forbidden { url: address.chars().take(200).collect(), why });
        };
        let policy = self.policy(&self.decision(&url).await?);
        let session = self.aids.session(&url).await;
        let mut request = Request::get(url.clone()).session(session.clone());
        let page = self.plain(&policy, &url, &mut request).await;
        let page = match page {
            Ok((page, true)) => self.in_browser(&policy, &url, session, page).await,
            Ok((page, false)) => page,
            Err(error) => Err(error),
        };
        if matches!(page, Err(Error::Challenge { .. })) {
            // After the person's visit it must be fetched again.
            self.http.forget(&request).await;
        }
        page
    }

    fn policy(&self, asked: &DomainDecision) -> Policy {
        Policy {
            min_interval: Duration::from_secs_f64(1.0 / asked.requests_per_second),
            timeout: self.limits.timeout,
            max_bytes: self.limits.max_bytes,
            max_attempts: 2,
            cache: Cache::Header { default: self.limits.keep },
            robots: true,
            content_types: CONTENT_TYPES.map(str::to_owned).to_vec(),
            trusted: self.limits.trusted.clone(),
            ..Policy::new(format!("web:{}", asked.domain))
        }
    }

    /// The page by a plain request, and whether its scripts may add text. A refresh is followed like a redirect;
    /// `request` is then the last one.
    async fn plain(
        &self,
        policy: &Policy,
        url: &Url,
        request: &mut Request,
    ) -> Result<(Result<FetchedPage>, bool)> {
        let challenges = &Challenges { pages: self, url };
        let mut response = self.http.send_until(policy, request.clone(), challenges).await?;
        for _ in 0..MAX_REFRESHES {
            let Some(next) = self.refresh_target(&response).await else { break };
            let policy = self.policy(&self.decision(&next).await?);
            *request = Request::get(next.clone()).session(self.aids.session(&next).await);
            response = self.http.send_until(&policy, request.clone(), challenges).await?;
        }
        // A redirect may lead to a blocked domain.
        let domain = self.decision(&response.url).await?;
        if !response.status.is_success() {
            let status = response.status.as_u16();
            if let Some(error) = self.challenged(url, &response).await {
                return Err(error);
            }
            let message = response.status.canonical_reason().unwrap_or("no reason given").to_owned();
            return Err(Error::Rejected { provider: policy.provider.clone(), status, message });
        }
        Ok(self.read(url.clone(), response, domain, FetchMethod::Http).await)
    }

    /// The page as the browser renders it, if that has more text than the plain one.
    async fn in_browser(
        &self,
        policy: &Policy,
        url: &Url,
        session: Option<Session>,
        plain: Result<FetchedPage>,
    ) -> Result<FetchedPage> {
        let rendered = async {
            let response = self.aids.rendered(&self.http, policy, url, session.as_ref()).await?;
            let domain = self.decision(&response.url).await?;
            if !response.status.is_success() {
                let message = response.status.canonical_reason().unwrap_or("no reason given").to_owned();
                let (provider, status) = (policy.provider.clone(), response.status.as_u16());
                return Err(Error::Rejected { provider, status, message });
            }
            self.read(url.clone(), response, domain, FetchMethod::Browser).await.0
        };
        let length = |page: &FetchedPage| page.extracted.text.len();
        match (plain, rendered.await) {
            (Ok(plain), Ok(rendered)) if length(&plain) >= length(&rendered) => Ok(plain),
            (Ok(plain), Err(error)) => {
                tracing::debug!(%error, "the plain page is kept");
                Ok(FetchedPage { unrendered: Some(error.to_string()), ..plain })
            }
            (_, Ok(rendered)) => Ok(rendered),
            (Err(_), Err(error @ Error::Challenge { .. })) => Err(error),
            (Err(Error::Unreadable { url, why }), Err(error)) => {
                Err(Error::Unreadable { url, why: format!("{why}: {error}") })
            }
            (Err(error), Err(_)) => Err(error),
        }
    }

    async fn decision(&self, url: &Url) -> Result<DomainDecision> {
        let rules = self.rules.domain_rules().await.map_err(|error| Error::Setting {
            setting: "what is stored about domains".to_owned(),
            why: error.to_string(),
        })?;
        let decision = rules.decide(url.host_str().unwrap_or_default());
        if decision.category == DomainCategory::Blocked {
            let why = format!("{} is blocked by {}", decision.domain, decision.decided_by.in_words());
            return Err(Error::Forbidden { url: shown(url), why });
        }
        Ok(decision)
    }

    /// The challenge in an error response.
    async fn challenged(&self, url: &Url, response: &Response) -> Option<Error> {
        let shown = parsed(&*self.aids.parser, &self.rules, Task::Challenge, response).await;
        let kind: Option<ChallengeKind> = shown.unwrap_or_else(|error| {
            tracing::debug!(%error, "an error page was not read");
            None
        });
        Some(unread(url, Unread::Challenge(kind?)))
    }

    /// Where an HTML page sends its readers on to.
    async fn refresh_target(&self, response: &Response) -> Option<Url> {
        let mut head = response.clone();
        head.body.truncate(REFRESH_BYTES);
        let names = |word: &[u8]| head.body.windows(word.len()).any(|bytes| bytes.eq_ignore_ascii_case(word));
        // Few pages do.
        if !response.status.is_success() || kind_of(response) != PageKind::Html || !names(b"refresh") {
            return None;
        }
        let target = parsed(&*self.aids.parser, &self.rules, Task::Refresh, &head).await;
        target.unwrap_or_else(|error| {
            tracing::debug!(%error, "a page was not read for where it leads");
            None
        })
    }

    /// The parsed response, and whether it is HTML with scripts and hardly any text.
    async fn read(
        &self,
        url: Url,
        response: Response,
        domain: DomainDecision,
        by: FetchMethod,
    ) -> (Result<FetchedPage>, bool) {
        let kind = kind_of(&response);
        let id = PageId::derive(&["url", url.as_str()]);
        let task = Task::Page { id: id.clone(), kind };
        let text: PageText = match parsed(&*self.aids.parser, &self.rules, task, &response).await {
            Ok(text) => text,
            Err(why) => {
                let other = response.unread_kind().filter(|_| kind != PageKind::Pdf);
                let named = |kind| Unread::Unreadable(format!("it is not text but {kind}"));
                let why = match why {
                    Unread::Unreadable(why) => other.map_or(Unread::Unreadable(why), named),
                    challenge @ Unread::Challenge(_) => challenge,
                };
                return (Err(unread(&url, why)), false);
            }
        };
        let page = FetchedPage {
            id,
            url: url.to_string(),
            final_url: response.url.to_string(),
            status: response.status.as_u16(),
            fetch_method: by,
            unrendered: None,
            kind,
            encoding: text.encoding,
            content_hash: hex(&Sha256::digest(&response.body)),
            fetched_at: response.received_at,
            domain,
            extracted: text.extracted,
            fragments: text.fragments,
            findings: text.findings,
            quarantined: text.quarantined,
        };
        (Ok(page), text.thin)
    }
}

/// Error answers that are challenges.
struct Challenges<'a> {
    pages: &'a Pages,
    url: &'a Url,
}

#[async_trait]
impl Settles for Challenges<'_> {
    async fn settles(&self, response: &Response) -> bool {
        self.pages.challenged(self.url, response).await.is_some()
    }
}

/// By its first bytes when they are a PDF's, which servers often mislabel, else by its type.
fn kind_of(response: &Response) -> PageKind {
    if response.is_pdf() {
        return PageKind::Pdf;
    }
    match response.content_type().as_str() {
        "application/pdf" => PageKind::Pdf,
        "text/plain" => PageKind::Text,
        _ => PageKind::Html,
    }
}

/// The address without what may be secret.
pub(super) fn shown(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    url.to_string()
}
