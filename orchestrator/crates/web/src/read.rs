//! Reads a server's response: a [`Job`] goes in as bytes, its answer comes out as bytes, so that another process can
//! run it.
//!
//! The rules of configuration travel with each job as the text of their files; a [`Reader`] compiles them again only when
//! they differ from those of the job before.

use crate::danger::{DangerousPatterns, Finding, Place};
use crate::extract::{Extracted, decode};
use crate::fragment::Touched;
use crate::refresh::refresh_target;
use crate::serp::{ChallengeKind, Engines, SearchApi};
use crate::{ConfigError, bounds, fragment, pdf};
use lyra_domain::{Fragment, PageId};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use url::Url;

/// How a title is named that addresses an AI: it is shown apart from the text, and seen by readers.
pub const TITLE: &str = "title";
/// A page with scripts and less text than this may have more when they have run.
const THIN_CHARS: usize = 200;
/// Bytes of the length that precedes the description of a job.
const LENGTH: usize = 4;

/// What to read, apart from the bytes themselves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// What is asked.
    pub task: Task,
    /// The address that answered.
    pub address: Url,
    /// The header's value, with its charset if it names one.
    pub content_type: Option<String>,
    /// Rules of search engines and challenges, as YAML.
    pub engines: String,
    /// Rules for text that is meant for the reading AI, as YAML.
    pub patterns: String,
}

/// The task for some bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Task {
    /// The text of a page; answered with a [`PageText`].
    Page {
        /// The page's identity.
        id: PageId,
        /// What it is.
        kind: PageKind,
    },
    /// Read a search engine's results; answered with a [`SerpPage`](crate::serp::SerpPage).
    Results {
        /// The engine's name.
        engine: String,
    },
    /// Read the hits of an API of web search; answered with a [`SerpPage`](crate::serp::SerpPage).
    Hits {
        /// The API's name.
        api: String,
    },
    /// Whether the page is a challenge; answered with an `Option<ChallengeKind>`.
    Challenge,
    /// Where the page sends its readers on to; answered with an `Option<Url>`.
    Refresh,
}

/// What a page is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PageKind {
    /// HTML.
    Html,
    /// Plain text.
    Text,
    /// PDF.
    Pdf,
}

/// The contents of a page. Its text is untrusted data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PageText {
    /// Encoding of its text, for HTML and plain text.
    pub encoding: Option<String>,
    /// Main text and the page's metadata.
    pub extracted: Extracted,
    /// The main text in pieces.
    pub fragments: Vec<Fragment>,
    /// Text meant for the reading AI: facts, and no judgment of the page.
    pub findings: Vec<Finding>,
    /// The fragments that such text touches, of medium severity and above.
    pub quarantined: Vec<Touched>,
    /// HTML with scripts and hardly any text: its scripts may add text.
    pub thin: bool,
}

/// Why something cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum Unread {
    /// It is a page that a person must deal with.
    #[error("it shows a challenge: {}", .0.as_str())]
    Challenge(ChallengeKind),
    /// It has no text that can be read; why, in words.
    #[error("{0}")]
    Unreadable(String),
}

impl Job {
    /// The job as it is sent: the length of its description as a little-endian `u32`, the description, the bytes to be read.
    pub fn to_bytes(&self, body: &[u8]) -> Vec<u8> {
        // Texts and addresses, which always can be written.
        let head = serde_json::to_vec(self).unwrap_or_default();
        let length = u32::try_from(head.len()).unwrap_or(u32::MAX).to_le_bytes();
        [&length, head.as_slice(), body].concat()
    }

    fn from_bytes(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (length, rest) = bytes.split_first_chunk::<LENGTH>()?;
        let (head, body) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        Some((serde_json::from_slice(head).ok()?, body))
    }
}

/// The answer to a job, of the type that its [`Task`] names.
///
/// # Errors
/// The reader's error, or an invalid answer, which only a broken reader sends.
pub fn answer<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Unread> {
    let answer: Result<Result<T, Unread>, _> = serde_json::from_slice(bytes);
    answer.unwrap_or_else(|error| Err(Unread::Unreadable(format!("its reader sent no answer: {error}"))))
}

/// Does jobs, one after another.
#[derive(Debug, Default)]
pub struct Reader {
    engines: Option<Engines>,
    patterns: Option<DangerousPatterns>,
}

impl Reader {
    /// Runs a job. PDFs stop early on `stop`.
    pub fn work(&mut self, job: &[u8], stop: &dyn Fn() -> bool) -> Vec<u8> {
        let Some((job, body)) = Job::from_bytes(job) else {
            return written(&Err::<(), _>(Unread::Unreadable("the job is malformed".to_owned())));
        };
        if let Err(error) = self.know(&job) {
            return written(&Err::<(), _>(Unread::Unreadable(error.to_string())));
        }
        let (Some(engines), Some(patterns)) = (&self.engines, &self.patterns) else {
            return written(&Err::<(), _>(Unread::Unreadable("there are no rules".to_owned())));
        };
        match &job.task {
            Task::Page { id, kind } => written(&page(engines, patterns, id, *kind, &job, body, stop)),
            Task::Results { engine } => {
                let engine = engines.get(engine).ok_or_else(|| unknown(engine));
                let html = || decode(body, job.content_type.as_deref()).text;
                written(&engine.map(|engine| engines.read(engine, &html(), &job.address)))
            }
            Task::Hits { api } => {
                let api = SearchApi::named(api).ok_or_else(|| unknown(api));
                written(&api.and_then(|api| api.read(body).map_err(Unread::Unreadable)))
            }
            Task::Challenge => {
                let html = decode(body, job.content_type.as_deref()).text;
                written(&Ok(engines.challenge(&html)))
            }
            Task::Refresh => {
                let html = decode(body, job.content_type.as_deref()).text;
                written(&Ok(refresh_target(&html, &job.address)))
            }
        }
    }

    /// Compiles the rules that differ from those of the job before.
    fn know(&mut self, job: &Job) -> Result<(), ConfigError> {
        if self.engines.as_ref().is_none_or(|engines| engines.source() != job.engines) {
            self.engines = Some(Engines::from_yaml(&job.engines)?);
        }
        if self.patterns.as_ref().is_none_or(|patterns| patterns.source() != job.patterns) {
            self.patterns = Some(DangerousPatterns::from_yaml(&job.patterns)?);
        }
        Ok(())
    }
}

fn unknown(engine: &str) -> Unread {
    Unread::Unreadable(format!("no search engine is called `{engine}`"))
}

fn written<T: Serialize>(answer: &Result<T, Unread>) -> Vec<u8> {
    // Texts and numbers, which always can be written.
    serde_json::to_vec(answer).unwrap_or_default()
}

fn page(
    engines: &Engines,
    patterns: &DangerousPatterns,
    id: &PageId,
    kind: PageKind,
    job: &Job,
    body: &[u8],
    stop: &dyn Fn() -> bool,
) -> Result<PageText, Unread> {
    let mut findings = Vec::new();
    let (extracted, encoding, thin) = match kind {
        PageKind::Pdf => {
            let text = pdf::read(body, &pdf::Limits::default(), stop);
            (text.map_err(|error| Unread::Unreadable(error.to_string()))?, None, false)
        }
        PageKind::Html | PageKind::Text => {
            let decoded = decode(body, job.content_type.as_deref());
            if !decoded.is_text() {
                return Err(Unread::Unreadable("it is not text but some other kind of file".to_owned()));
            }
            let extracted = if kind == PageKind::Html {
                findings.extend(patterns.in_hidden_html(&decoded.text));
                Extracted::from_html(&decoded.text, &job.address)
            } else {
                Extracted::from_plain_text(&decoded.text)
            };
            let chars = extracted.text.chars().count();
            if let Some(kind) = engines.challenge_beside(&decoded.text, chars) {
                return Err(Unread::Challenge(kind));
            }
            let thin = kind == PageKind::Html && chars < THIN_CHARS && decoded.text.contains("<script");
            (extracted, Some(decoded.encoding.to_owned()), thin)
        }
    };
    let mut extracted = bounded(extracted);
    findings.extend(patterns.in_text(&extracted.text));
    // A title is shown with every passage of its page.
    if let Some(finding) = patterns.gravest(&extracted.title) {
        findings.push(Finding { place: Place::Hidden { how: TITLE.to_owned() }, ..finding });
        extracted.title.clear();
    }
    let fragments = fragment::fragments(id, &extracted);
    let quarantined = fragment::touched(&extracted, &fragments, &findings);
    Ok(PageText { encoding, extracted, fragments, findings, quarantined, thin })
}

/// With what the page says of itself in bounds.
fn bounded(extracted: Extracted) -> Extracted {
    Extracted {
        title: bounds::title(extracted.title),
        authors: bounds::authors(extracted.authors),
        site: extracted.site.map(bounds::title),
        abstract_text: extracted.abstract_text.map(bounds::abstract_text),
        ..extracted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HTML: &str = "<title>On fever</title><main><p>Aspirin reduced fever in most of the children who took it, \
         whatever their age was, and no serious harm was seen.</p><p>Dates: <time datetime='2015-03-02'></time></p></main>";

    fn job(task: Task) -> Job {
        Job {
            task,
            address: "https://a.example/2015/03/x".parse().unwrap(),
            content_type: Some("text/html; charset=utf-8".to_owned()),
            engines: Engines::built_in().unwrap().source().to_owned(),
            patterns: DangerousPatterns::built_in().unwrap().source().to_owned(),
        }
    }

    fn page_task() -> Task {
        Task::Page { id: PageId::derive(&["url", "https://a.example/"]), kind: PageKind::Html }
    }

    #[test]
    fn a_page_comes_back_as_it_was_read() {
        let mut reader = Reader::default();
        let job = job(page_task());
        for _ in 0..2 {
            let read: PageText = answer(&reader.work(&job.to_bytes(HTML.as_bytes()), &|| false)).unwrap();
            let here = Extracted::from_html(HTML, &job.address);
            assert_eq!(read.extracted, here);
            assert_eq!(read.encoding.as_deref(), Some("UTF-8"));
            assert!(here.text.contains("reduced fever") && !read.fragments.is_empty());
            assert!(here.published.is_some(), "a date travels too");
        }
    }

    #[test]
    fn what_a_page_says_of_itself_is_bounded() {
        let long = "naps and sleep ".repeat(2_000);
        let tags = ["citation_title", "citation_author", "og:site_name", "citation_abstract"]
            .map(|name| format!("<meta name='{name}' content='{long}'>"));
        let html = format!("{}{HTML}", tags.concat());
        let job = job(page_task());
        let read: PageText =
            answer(&Reader::default().work(&job.to_bytes(html.as_bytes()), &|| false)).unwrap();
        let Extracted { title, authors, site, abstract_text, .. } = read.extracted;
        let texts = [Some(title), authors.into_iter().next(), site, abstract_text].map(Option::unwrap);
        let limits = [bounds::MAX_TITLE, bounds::MAX_NAME, bounds::MAX_TITLE, bounds::MAX_ABSTRACT];
        for (text, limit) in texts.iter().zip(limits) {
            let length = text.chars().count();
            assert!(length <= limit && length > limit / 2, "{limit}: {length}");
        }
    }

    #[test]
    fn changed_rules_are_used_and_bad_ones_refused() {
        let mut reader = Reader::default();
        let mut job = job(page_task());
        let page = |reader: &mut Reader, job: &Job| -> Result<PageText, Unread> {
            answer(&reader.work(&job.to_bytes(HTML.as_bytes()), &|| false))
        };
        assert!(page(&mut reader, &job).unwrap().findings.is_empty());
        job.patterns =
            "rules:\n  - {id: fever, kind: instruction, severity: high, patterns: ['reduced fever']}\n"
                .to_owned();
        assert_eq!(page(&mut reader, &job).unwrap().findings[0].rule, "fever");
        job.patterns = "rules: [".to_owned();
        assert!(matches!(page(&mut reader, &job), Err(Unread::Unreadable(_))));
    }

    #[test]
    fn malformed_jobs_are_answered() {
        for bytes in [&b""[..], b"\xff\xff\xff\xff", b"\x02\0\0\0{}", b"\x00\0\0\0"] {
            let answer: Result<PageText, _> = answer(&Reader::default().work(bytes, &|| false));
            assert_eq!(answer, Err(Unread::Unreadable("the job is malformed".to_owned())));
        }
        let lost: Result<PageText, _> = answer(b"{");
        assert!(matches!(lost, Err(Unread::Unreadable(_))));
    }
}
