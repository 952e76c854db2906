//! APIs of web search: the request of each, and how its JSON is read. One row of [`SEARCH_APIS`] describes one API.

mod table;

pub use table::SEARCH_APIS;

use super::{SerpPage, SerpResult};
use crate::dom::{single_spaces, visible_text};
use crate::extract::PublishedDate;
use crate::{canonical, same_page_key};
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::time::Duration;

/// Most hits of one answer that are read.
const MAX_HITS: usize = 100;
/// Most bytes of a title or an excerpt that are read.
const MAX_TEXT: usize = 4 << 10;
/// Where the APIs put the explanation of an error.
const EXPLANATIONS: [&str; 10] = [
    "/error/message",
    "/error/detail",
    "/error/0/message",
    "/error/0/msg",
    "/errors/0/message",
    "/errors/0/detail",
    "/detail/error",
    "/detail",
    "/error",
    "/message",
];

/// An API of web search. Places in its answers are JSON pointers (RFC 6901).
#[derive(Debug)]
pub struct SearchApi {
    /// Its name as an engine, and in `[sources.web.apis.NAME]`.
    pub name: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// Address under which its path is; `None` when only the operator knows it.
    pub address: Option<&'static str>,
    /// Path of a search.
    pub path: &'static str,
    /// Header of the key, in lower case.
    pub key_header: &'static str,
    /// What precedes the key in that header.
    pub key_scheme: &'static str,
    /// Where its customers find keys and quotas.
    pub account: &'static str,
    /// Shortest time between two requests, by the smallest plan.
    pub min_interval: Duration,
    /// How long an answer may be reused; zero for never.
    pub keep: Duration,
    /// How parameters are sent.
    method: Method,
    parameters: &'static [(&'static str, Given)],
    /// Most characters and words of a query.
    longest: (usize, usize),
    languages: Languages,
    /// The list of hits.
    hits: &'static str,
    /// What every answer has, also one without any hit.
    always: &'static str,
    /// Those on whose behalf it searches and who did not answer.
    silent: Option<&'static str>,
    /// Places inside a hit.
    title_at: &'static str,
    url_at: &'static str,
    snippet_at: &'static str,
    date_at: &'static str,
    /// Whether titles and excerpts are HTML.
    markup: bool,
    /// Answers with an error status that mean something else than the status says.
    refusals: &'static [(u16, &'static str, Refusal)],
}

/// How parameters are sent.
#[derive(Debug, Clone, Copy)]
enum Method {
    /// GET, in the query.
    Get,
    /// POST, as a JSON object.
    Post,
}

/// The value of a parameter.
#[derive(Debug, Clone, Copy)]
enum Given {
    Query,
    Language,
    Text(&'static str),
    Number(u32),
}

/// How an API names languages.
#[derive(Debug, Clone, Copy)]
enum Languages {
    /// By ISO 639-1 codes.
    Iso,
    /// Only these; with its own names for some.
    Only { same: &'static [&'static str], other: &'static [(&'static str, &'static str)] },
}

/// The parameters of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parameters {
    /// Of a GET.
    Query(Vec<(&'static str, String)>),
    /// The JSON body of a POST.
    Json(String),
}

/// Why an API refuses a request, apart from a rate that was too high.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// It does not accept the key.
    Key,
    /// The quota or the credit of the key is used up.
    Quota,
    /// It is not set up for this.
    Setup {
        /// What to change, and where.
        remedy: &'static str,
    },
}

impl SearchApi {
    /// The row with this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        SEARCH_APIS.iter().find(|api| api.name == name)
    }

    /// Whether it can only be used with a key; else it needs an address.
    pub const fn needs_key(&self) -> bool {
        self.address.is_some()
    }

    /// The key of the configuration that has to be set before it can be used.
    pub fn setting(&self) -> String {
        format!("sources.web.apis.{}.{}", self.name, if self.needs_key() { "api_key" } else { "base_url" })
    }

    /// The parameters for a query in a language with an ISO 639-1 code. A query that is too long for the API is cut
    /// after a word.
    pub fn parameters(&self, query: &str, language: Option<&str>) -> Parameters {
        let query = self.shortened(query);
        let language = language.and_then(|code| self.language(code));
        let value = |given: Given| match given {
            Given::Query => Some(Value::String(query.clone())),
            Given::Language => language.map(Value::from),
            Given::Text(text) => Some(text.into()),
            Given::Number(number) => Some(number.into()),
        };
        let given = self.parameters.iter().filter_map(|(name, given)| Some((*name, value(*given)?)));
        match self.method {
            Method::Get => {
                let plain = |value: Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                Parameters::Query(given.map(|(name, value)| (name, plain(value))).collect())
            }
            Method::Post => {
                let object: Map<String, Value> =
                    given.map(|(name, value)| (name.to_owned(), value)).collect();
                Parameters::Json(Value::Object(object).to_string())
            }
        }
    }

    fn shortened(&self, query: &str) -> String {
        let (chars, words) = self.longest;
        let mut short = String::new();
        let mut length = 0;
        for word in query.split_whitespace().take(words) {
            let more = word.chars().count() + usize::from(length > 0);
            if length + more > chars {
                if short.is_empty() {
                    // Languages without blanks have no shorter words.
                    short = word.chars().take(chars).collect();
                }
                break;
            }
            if length > 0 {
                short.push(' ');
            }
            short.push_str(word);
            length += more;
        }
        short
    }

    fn language<'a>(&self, code: &'a str) -> Option<&'a str> {
        match self.languages {
            Languages::Iso => Some(code),
            Languages::Only { same, other } => {
                let renamed = other.iter().find(|(iso, _)| *iso == code).map(|(_, own)| *own);
                renamed.or_else(|| same.contains(&code).then_some(code))
            }
        }
    }

    /// Reads an answer with a status of success. A hit without a usable address is counted as unread.
    ///
    /// # Errors
    /// In words: no JSON, no list of hits, no usable hit among several.
    pub fn read(&self, body: &[u8]) -> Result<SerpPage, String> {
        let answer: Value =
            serde_json::from_slice(body).map_err(|error| format!("its JSON cannot be read: {error}"))?;
        let hits = match answer.pointer(self.hits) {
            Some(Value::Array(hits)) => hits.as_slice(),
            None | Some(Value::Null) if answer.pointer(self.always).is_some() => &[],
            _ => return Err(format!("it has no list of hits at {}", self.hits)),
        };
        let mut results: Vec<SerpResult> = Vec::new();
        let (mut seen, mut unread) = (HashSet::new(), 0);
        for hit in hits.iter().take(MAX_HITS) {
            match self.hit(hit, results.len() + 1) {
                Some((key, result)) => {
                    if seen.insert(key) {
                        results.push(result);
                    }
                }
                None => unread += 1,
            }
        }
        if !results.is_empty() {
            return Ok(SerpPage::Results { results, ads: 0, unread });
        }
        if unread > 0 {
            return Err(format!("none of its {unread} hits has a usable address"));
        }
        Ok(match self.silent_ones(&answer) {
            Some(why) => SerpPage::Refused { why },
            None => SerpPage::NoResults,
        })
    }

    fn hit(&self, hit: &Value, rank: usize) -> Option<(String, SerpResult)> {
        let text = |place: &str| hit.pointer(place).and_then(Value::as_str).unwrap_or_default();
        let url = canonical(text(self.url_at))?;
        let result = SerpResult {
            rank,
            title: self.plain(text(self.title_at)),
            snippet: self.plain(text(self.snippet_at)),
            published: PublishedDate::parse(text(self.date_at)),
            url: url.to_string(),
        };
        Some((same_page_key(&url), result))
    }

    fn plain(&self, text: &str) -> String {
        let text = &text[..text.floor_char_boundary(MAX_TEXT)];
        if self.markup { visible_text(crate::dom::parse(text).document.root()) } else { single_spaces(text) }
    }

    /// That nothing was found because others did not answer: pairs of a name and a reason.
    fn silent_ones(&self, answer: &Value) -> Option<String> {
        let silent = answer.pointer(self.silent?)?.as_array()?;
        let named: Vec<String> = silent
            .iter()
            .take(MAX_HITS)
            .filter_map(|one| {
                let part = |i: usize| one.get(i).and_then(Value::as_str).map(single_spaces);
                Some(format!("{} ({})", part(0)?, part(1).as_deref().unwrap_or("no reason given")))
            })
            .collect();
        let named = named.join(", ");
        let named = &named[..named.floor_char_boundary(300)];
        (!named.is_empty())
            .then(|| format!("it found nothing, and some of its engines did not answer: {named}"))
    }

    /// What an answer with an error status means; `None` when the status says everything.
    pub fn refusal(&self, status: u16, body: &[u8]) -> Option<Refusal> {
        let text = String::from_utf8_lossy(&body[..body.len().min(MAX_TEXT)]).to_lowercase();
        let said = self.refusals.iter().find(|(code, words, _)| *code == status && text.contains(words));
        said.map(|(.., refusal)| *refusal).or(match status {
            401 | 403 => Some(Refusal::Key),
            402 => Some(Refusal::Quota),
            _ => None,
        })
    }

    /// How the API explains an error, at most 200 characters.
    pub fn explanation(&self, body: &[u8]) -> Option<String> {
        let answer: Value = serde_json::from_slice(body).ok()?;
        let said = EXPLANATIONS.iter().find_map(|place| {
            let text = single_spaces(answer.pointer(place)?.as_str()?);
            (!text.is_empty()).then_some(text)
        })?;
        Some(said.chars().take(200).collect())
    }
}

#[cfg(test)]
mod tests;
