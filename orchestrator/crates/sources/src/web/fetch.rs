//! One page: fetched politely, decoded, read, cut into fragments, and searched for text meant for the reading AI.

use super::{Aids, Rules};
use crate::cookies::Session;
use crate::http::{Cache, HttpClient, Origin, Policy, Request, Response};
use crate::{Error, Result};
use jiff::Timestamp;
use lyra_domain::domains::{DomainCategory, DomainDecision};
use lyra_domain::{FetchMethod, Fragment, PageId, hex};
use lyra_research::ports::{Answered, Danger, Quarantined, SourcePage};
use lyra_web::danger::{Finding, Place, Severity};
use lyra_web::extract::{Extracted, decode};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::time::Duration;
use url::Url;

/// A page with scripts and less text than this may have more when they have run.
const THIN_CHARS: usize = 200;
/// How a title is named that addresses an AI: it is shown apart from the text, and seen by readers.
const TITLE: &str = "title";
/// Pages in a row that send their readers on to another; the next one is read as it is.
const MAX_REFRESHES: usize = 3;
/// Bytes of a page in which it is looked for whether it does.
const REFRESH_BYTES: usize = 32 << 10;
/// Longest time that reading one page may take.
const READING_TIME: Duration = Duration::from_secs(30);
/// What is read; an answer that names no type is judged by its bytes.
const CONTENT_TYPES: [&str; 5] = ["text/html", "application/xhtml+xml", "text/plain", "application/pdf", ""];

/// Limits of fetching.
#[derive(Debug, Clone, PartialEq)]
pub struct FetchLimits {
    /// Limit of one attempt.
    pub timeout: Duration,
    /// Most bytes of a page, unpacked.
    pub max_bytes: usize,
    /// How long a page is kept that does not say how long it may be.
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
    /// Identity, from the canonical address asked for.
    pub id: PageId,
    /// The address asked for, canonical.
    pub url: String,
    /// The address that answered.
    pub final_url: String,
    /// Status code.
    pub status: u16,
    /// How it was had: plain HTTP, or a browser.
    pub fetch_method: FetchMethod,
    /// What it was.
    pub kind: PageKind,
    /// Encoding of its text, for HTML and plain text.
    pub encoding: Option<&'static str>,
    /// SHA-256 of its bytes, in hexadecimal.
    pub content_hash: String,
    /// When it was received.
    pub fetched_at: Timestamp,
    /// Category of the domain that answered, and why.
    pub domain: DomainDecision,
    /// Main text and what the page says of itself.
    pub extracted: Extracted,
    /// The main text in pieces.
    pub fragments: Vec<Fragment>,
    /// Text meant for the reading AI: facts, and no judgement of the page.
    pub findings: Vec<Finding>,
    /// Positions of the fragments that such text touches, of medium severity and above.
    pub quarantined: Vec<u32>,
    /// Why the browser did not load it, when its scripts might have had more to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unrendered: Option<String>,
}

/// What a page was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PageKind {
    /// HTML.
    Html,
    /// Plain text.
    Text,
    /// PDF.
    Pdf,
}

impl FetchedPage {
    /// # Errors
    /// A page without text.
    pub(super) fn with_text(self) -> Result<Self> {
        if self.extracted.text.trim().is_empty() {
            let why = self.unrendered.as_ref().map_or_else(
                || "it has no text".to_owned(),
                |why| format!("it has no text without its scripts: {why}"),
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
        // What readers see may be an article about attacks; what is kept from their eyes is for machines.
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

    /// Fetches one page and reads it. HTML that is little more than scripts is loaded again by the browser, when there
    /// is one.
    ///
    /// # Errors
    /// What is no http address or is a blocked domain, what robots.txt keeps from robots, network errors and refusals,
    /// pages that want a person ([`Error::Challenge`]), and pages without a text that can be read.
    pub async fn fetch(&self, address: &str) -> Result<FetchedPage> {
        self.fetch_any(address).await?.with_text()
    }

    /// The same, for whom a page that only says things of itself is enough.
    pub(super) async fn fetch_any(&self, address: &str) -> Result<FetchedPage> {
        let Some(url) = lyra_web::canonical(address) else {
            let why = "it is no absolute http or https address".to_owned();
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
            // When the person has been there, it has to be fetched anew.
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

    /// The page by a plain request, and whether its scripts may have more to say. A page that sends its readers on is followed
    /// like a redirect; `request` is then the last one.
    async fn plain(
        &self,
        policy: &Policy,
        url: &Url,
        request: &mut Request,
    ) -> Result<(Result<FetchedPage>, bool)> {
        let challenges = |answer: &Response| self.challenged(url, answer).is_some();
        let mut response = self.http.send_until(policy, request.clone(), &challenges).await?;
        for _ in 0..MAX_REFRESHES {
            let Some(next) = refresh_target(&response) else { break };
            let policy = self.policy(&self.decision(&next).await?);
            *request = Request::get(next.clone()).session(self.aids.session(&next).await);
            response = self.http.send_until(&policy, request.clone(), &challenges).await?;
        }
        // A redirect may lead to a blocked domain.
        let domain = self.decision(&response.url).await?;
        if !response.status.is_success() {
            let status = response.status.as_u16();
            if let Some(error) = self.challenged(url, &response) {
                return Err(error);
            }
            let message = response.status.canonical_reason().unwrap_or("no reason given").to_owned();
            return Err(Error::Rejected { provider: policy.provider.clone(), status, message });
        }
        Ok(self.read(url.clone(), response, domain, FetchMethod::Http).await)
    }

    /// The page as the browser shows it, when that has more to say than the plain one.
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

    /// The challenge that an answer holds which is no success.
    fn challenged(&self, url: &Url, response: &Response) -> Option<Error> {
        let html = decode(&response.body, header(response).as_deref()).text;
        let kind = self.rules.engines().challenge(&html)?;
        Some(Error::Challenge { url: shown(url), kind })
    }

    /// What the answer holds, and whether it is HTML with scripts and hardly any text.
    async fn read(
        &self,
        url: Url,
        response: Response,
        domain: DomainDecision,
        by: FetchMethod,
    ) -> (Result<FetchedPage>, bool) {
        let (rules, address) = (self.rules.clone(), shown(&url));
        let reading = tokio::task::spawn_blocking(move || {
            let mut thin = false;
            (read(&rules, &url, &response, domain, by, &mut thin), thin)
        });
        let unread =
            |why: &str| (Err(Error::Unreadable { url: address.clone(), why: why.to_owned() }), false);
        match tokio::time::timeout(READING_TIME, reading).await {
            Ok(Ok(read)) => read,
            Ok(Err(_)) => unread("reading it failed inside a parser"),
            Err(_) => unread("reading it took too long"),
        }
    }
}

fn read(
    rules: &Rules,
    url: &Url,
    response: &Response,
    domain: DomainDecision,
    by: FetchMethod,
    thin: &mut bool,
) -> Result<FetchedPage> {
    let unread = |why: String| Error::Unreadable { url: shown(url), why };
    let patterns = rules.patterns();
    let mut findings = Vec::new();
    let kind = kind_of(response);
    let (mut extracted, encoding) = match kind {
        PageKind::Pdf => {
            let started = std::time::Instant::now();
            // A last resort: what is read does not depend on time, and what takes longer is not read at all.
            let late = || started.elapsed() > READING_TIME;
            let text = lyra_web::pdf::read(&response.body, &lyra_web::pdf::Limits::default(), &late);
            (text.map_err(|error| unread(error.to_string()))?, None)
        }
        PageKind::Html | PageKind::Text => {
            let decoded = decode(&response.body, header(response).as_deref());
            if !decoded.is_text() {
                let kind = response.unread_kind().unwrap_or("some other kind of file");
                return Err(unread(format!("it is not text but {kind}")));
            }
            let extracted = if kind == PageKind::Html {
                findings.extend(patterns.in_hidden_html(&decoded.text));
                Extracted::from_html(&decoded.text, &response.url)
            } else {
                Extracted::from_plain_text(&decoded.text)
            };
            let chars = extracted.text.chars().count();
            if let Some(kind) = rules.engines().challenge_beside(&decoded.text, chars) {
                return Err(Error::Challenge { url: shown(url), kind });
            }
            *thin = kind == PageKind::Html && chars < THIN_CHARS && decoded.text.contains("<script");
            (extracted, Some(decoded.encoding))
        }
    };
    findings.extend(patterns.in_text(&extracted.text));
    // A title is shown with every passage of its page.
    if let Some(finding) = patterns.gravest(&extracted.title) {
        findings.push(Finding { place: Place::Hidden { how: TITLE.to_owned() }, ..finding });
        extracted.title.clear();
    }
    let id = PageId::derive(&["url", url.as_str()]);
    let fragments = lyra_web::fragment::fragments(&id, &extracted);
    let touched = lyra_web::fragment::touched(&extracted, &fragments, &findings);
    let quarantined = touched.into_iter().map(|(position, _)| position).collect();
    Ok(FetchedPage {
        id,
        url: url.to_string(),
        final_url: response.url.to_string(),
        status: response.status.as_u16(),
        fetch_method: by,
        unrendered: None,
        kind,
        encoding,
        content_hash: hex(&Sha256::digest(&response.body)),
        fetched_at: response.received_at,
        domain,
        extracted,
        fragments,
        findings,
        quarantined,
    })
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

fn header(response: &Response) -> Option<String> {
    let value = response.headers.get(http::header::CONTENT_TYPE)?;
    value.to_str().ok().map(str::to_owned)
}

/// Where an HTML page sends its readers on to.
fn refresh_target(response: &Response) -> Option<Url> {
    if !response.status.is_success() || kind_of(response) != PageKind::Html {
        return None;
    }
    let head = &response.body[..response.body.len().min(REFRESH_BYTES)];
    lyra_web::refresh_target(&decode(head, header(response).as_deref()).text, &response.url)
}

/// The address without what may be secret.
fn shown(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    url.to_string()
}
