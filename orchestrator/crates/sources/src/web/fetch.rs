//! Pages: fetched politely, with a browser where a plain request does not do, and read.

use super::parser::{parsed, unread};
use super::{Aids, FetchedPage, Rules};
use crate::cookies::Session;
use crate::http::{Cache, HttpClient, Origin, Policy, Request, Response, Settles};
use crate::{Error, Result};
use async_trait::async_trait;
use lyra_domain::domains::{DomainCategory, DomainDecision};
use lyra_domain::{FetchMethod, PageId, hex};
use lyra_web::read::{PageKind, PageText, Task, Unread};
use lyra_web::serp::ChallengeKind;
use sha2::{Digest, Sha256};
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

/// Where a plain request ended up.
struct Landed {
    /// The request that was answered last.
    request: Request,
    response: Response,
}

/// A response that was read.
struct Read {
    page: FetchedPage,
    /// It is HTML with scripts and hardly any text: its scripts may add text.
    thin: bool,
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
        let Landed { request, response } = self.land(&policy, &url, session.clone()).await?;
        let read = self.read(&policy, &url, response, FetchMethod::Http).await;
        if matches!(read, Err(Error::Challenge { .. })) {
            // After the person's visit it must be fetched again.
            self.http.forget(&request).await;
        }
        let Read { page, thin } = read?;
        Ok(if thin { self.in_browser(&policy, &url, session.as_ref(), page).await } else { page })
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

    /// Sends a plain request. A refresh is followed like a redirect.
    async fn land(&self, policy: &Policy, url: &Url, session: Option<Session>) -> Result<Landed> {
        let challenges = &Challenges { pages: self, url };
        let mut request = Request::get(url.clone()).session(session);
        let mut response = self.http.send_until(policy, request.clone(), challenges).await?;
        for _ in 0..MAX_REFRESHES {
            let Some(next) = self.refresh_target(&response).await else { break };
            let policy = self.policy(&self.decision(&next).await?);
            request = Request::get(next.clone()).session(self.aids.session(&next).await);
            response = self.http.send_until(&policy, request.clone(), challenges).await?;
        }
        Ok(Landed { request, response })
    }

    /// The page as the browser renders it, if that has more text than the plain one.
    async fn in_browser(
        &self,
        policy: &Policy,
        url: &Url,
        session: Option<&Session>,
        plain: FetchedPage,
    ) -> FetchedPage {
        let rendered = async {
            let response = self.aids.rendered(&self.http, policy, url, session).await?;
            self.read(policy, url, response, FetchMethod::Browser).await
        };
        let length = |page: &FetchedPage| page.extracted.text.len();
        match rendered.await {
            Ok(rendered) if length(&rendered.page) > length(&plain) => rendered.page,
            Ok(_) => plain,
            Err(error) => {
                tracing::debug!(%error, "the plain page is kept");
                FetchedPage { unrendered: Some(error.to_string()), ..plain }
            }
        }
    }

    /// Reads a response to a request for `url`.
    async fn read(
        &self,
        policy: &Policy,
        url: &Url,
        response: Response,
        fetch_method: FetchMethod,
    ) -> Result<Read> {
        // A redirect may lead to a blocked domain.
        let domain = self.decision(&response.url).await?;
        if !response.status.is_success() {
            // Where the browser fails, the plain page is kept: only a plain request ends in a challenge.
            let challenge = match fetch_method {
                FetchMethod::Http => self.challenged(url, &response).await,
                _ => None,
            };
            return Err(challenge.unwrap_or_else(|| rejected(policy, &response)));
        }
        let kind = kind_of(&response);
        let id = PageId::derive(&["url", url.as_str()]);
        let task = Task::Page { id: id.clone(), kind };
        let text: PageText = parsed(&*self.aids.parser, &self.rules, task, &response)
            .await
            .map_err(|why| unread(url, in_words(why, kind, &response)))?;
        let page = FetchedPage {
            id,
            url: url.to_string(),
            final_url: response.url.to_string(),
            status: response.status.as_u16(),
            fetch_method,
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
        Ok(Read { page, thin: text.thin })
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
}

fn rejected(policy: &Policy, response: &Response) -> Error {
    let message = response.reason().to_owned();
    Error::Rejected { provider: policy.provider.clone(), status: response.status.as_u16(), message }
}

/// Names what the response is instead of a page, where its bytes tell.
fn in_words(why: Unread, kind: PageKind, response: &Response) -> Unread {
    match (why, response.unread_kind().filter(|_| kind != PageKind::Pdf)) {
        (Unread::Unreadable(_), Some(other)) => Unread::Unreadable(format!("it is not text but {other}")),
        (why, _) => why,
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
