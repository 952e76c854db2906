//! Search engines, read from `config/engines.yaml`.

use super::redirect::{Redirect, Target};
use super::{ChallengeKind, Seen};
use crate::error::from_yaml;
use crate::{ConfigError, Result};
use dom_query::Matcher;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;
use url::Url;

/// The engines of the repository's `config/engines.yaml`.
const DEFAULT: &str = include_str!("../../../../../config/engines.yaml");

/// The engines, by name, with the challenge markers that they share.
#[derive(Debug, Clone)]
pub struct Engines {
    source: String,
    by_name: BTreeMap<String, Engine>,
    challenges: Vec<Challenge>,
}

/// One engine, its selectors compiled.
#[derive(Debug, Clone)]
pub struct Engine {
    /// Its name: the source on the query's results.
    pub name: String,
    /// When it is used.
    pub category: Category,
    /// Shortest time between two requests.
    pub min_interval: Duration,
    /// Most requests in one day.
    pub daily_budget: Option<u32>,
    /// How its pages are fetched.
    pub transport: Transport,
    url: String,
    pub(super) result: Matcher,
    pub(super) title: Matcher,
    pub(super) link: Option<Matcher>,
    pub(super) snippet: Matcher,
    pub(super) ads: Vec<Matcher>,
    ad_links: Vec<String>,
    pub(super) redirects: Vec<Redirect>,
    pub(super) no_results: Vec<Marker>,
    pub(super) refusals: Vec<Marker>,
    pub(super) challenges: Vec<Challenge>,
}

/// When an engine is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// For every query.
    General,
    /// When the general ones found little, within a daily budget.
    LastMile,
    /// Never, unless it is named.
    Off,
}

/// How an engine's pages are fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    /// By plain requests.
    #[default]
    Http,
    /// By a browser, always.
    Browser,
    /// By plain requests, and by a browser when such a page has neither results nor a marker.
    HttpThenBrowser,
}

impl Engines {
    /// Reads the YAML of an engines file; every selector is compiled, so that an invalid one is reported at once.
    ///
    /// # Errors
    /// Invalid YAML or an unknown key (both with line and column), an invalid selector, an address without `{query}`.
    pub fn from_yaml(text: &str) -> Result<Self> {
        let file: File = from_yaml(text)?;
        let engines = file
            .engines
            .into_iter()
            .map(|(name, spec)| Ok((name.clone(), spec.compiled(name)?)))
            .collect::<Result<BTreeMap<_, _>>>()?;
        let challenges = compiled_challenges("challenges", file.challenges)?;
        Ok(Self { source: text.to_owned(), by_name: engines, challenges })
    }

    /// The text that they were read from.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The built-in engines.
    ///
    /// # Errors
    /// None in practice: a test reads the same text.
    pub fn built_in() -> Result<Self> {
        Self::from_yaml(DEFAULT)
    }

    /// An engine by name.
    pub fn get(&self, name: &str) -> Option<&Engine> {
        self.by_name.get(name)
    }

    /// Every engine, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Engine> {
        self.by_name.values()
    }

    /// Names of the engines of a category.
    pub fn of(&self, category: Category) -> Vec<String> {
        self.iter().filter(|engine| engine.category == category).map(|engine| engine.name.clone()).collect()
    }

    /// Markers of pages that require a person, tried on every page.
    pub(super) fn challenges(&self) -> &[Challenge] {
        &self.challenges
    }
}

impl Engine {
    /// The address for this query. An unknown language counts as English.
    ///
    /// # Errors
    /// When the configured address does not parse with the query in it; reading the file has tried one.
    pub fn address(&self, query: &str, language: Option<&str>) -> Result<Url> {
        let encoded: String = url::form_urlencoded::byte_serialize(query.as_bytes()).collect();
        let address = self.url.replace("{query}", &encoded).replace("{language}", language.unwrap_or("en"));
        Url::parse(&address)
            .map_err(|error| ConfigError::value(format!("engines.{}.url", self.name), error.to_string()))
    }

    pub(super) fn is_ad_link(&self, url: &Url) -> bool {
        let place = format!("{}{}", url.host_str().unwrap_or_default(), url.path());
        self.ad_links.iter().any(|prefix| place.starts_with(prefix.as_str()))
    }
}

/// What a page shows when it means something.
#[derive(Debug, Clone)]
pub(crate) struct Marker {
    pub(super) sign: Sign,
    written: String,
}

#[derive(Debug, Clone)]
pub(super) enum Sign {
    /// An element.
    Selector(Matcher),
    /// Part of the visible text, in lower case.
    Text(String),
    /// Part of the title, in lower case.
    Title(String),
}

impl fmt::Display for Marker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

/// A marker of a challenge.
#[derive(Debug, Clone)]
pub(crate) struct Challenge {
    kind: ChallengeKind,
    marker: Marker,
}

impl Challenge {
    pub(super) fn shown(&self, page: &Seen<'_>) -> Option<ChallengeKind> {
        page.shows(&self.marker).then_some(self.kind)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    challenges: Vec<ChallengeSpec>,
    engines: BTreeMap<String, EngineSpec>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EngineSpec {
    url: String,
    category: Category,
    result: String,
    title: String,
    link: Option<String>,
    snippet: String,
    #[serde(default)]
    ads: Vec<String>,
    #[serde(default)]
    ad_links: Vec<String>,
    #[serde(default)]
    redirects: Vec<RedirectSpec>,
    #[serde(default)]
    no_results: Vec<MarkerSpec>,
    #[serde(default)]
    refusals: Vec<MarkerSpec>,
    #[serde(default)]
    challenges: Vec<ChallengeSpec>,
    min_interval_ms: u64,
    daily_budget: Option<u32>,
    #[serde(default)]
    transport: Transport,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RedirectSpec {
    host: String,
    path: String,
    parameter: Option<String>,
    base64: Option<String>,
    segment: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MarkerSpec {
    selector: Option<String>,
    text: Option<String>,
    title: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChallengeSpec {
    kind: ChallengeKind,
    selector: Option<String>,
    text: Option<String>,
    title: Option<String>,
}

impl EngineSpec {
    fn compiled(self, name: String) -> Result<Engine> {
        let at = |key: &str| format!("engines.{name}.{key}");
        if !self.url.contains("{query}") {
            return Err(ConfigError::value(at("url"), "has no {query}, so every search would be the same"));
        }
        let engine = Engine {
            category: self.category,
            min_interval: Duration::from_millis(self.min_interval_ms),
            daily_budget: self.daily_budget,
            transport: self.transport,
            result: selector(&at("result"), &self.result)?,
            title: selector(&at("title"), &self.title)?,
            link: self.link.as_deref().map(|link| selector(&at("link"), link)).transpose()?,
            snippet: selector(&at("snippet"), &self.snippet)?,
            ads: self.ads.iter().map(|ads| selector(&at("ads"), ads)).collect::<Result<_>>()?,
            ad_links: self.ad_links,
            redirects: self
                .redirects
                .into_iter()
                .map(|redirect| redirect.compiled(&at("redirects")))
                .collect::<Result<_>>()?,
            no_results: markers(&at("no_results"), self.no_results)?,
            refusals: markers(&at("refusals"), self.refusals)?,
            challenges: compiled_challenges(&at("challenges"), self.challenges)?,
            url: self.url,
            name,
        };
        engine.address("a b", None)?;
        Ok(engine)
    }
}

impl RedirectSpec {
    fn compiled(self, place: &str) -> Result<Redirect> {
        let target = match (self.parameter, self.base64, self.segment) {
            (Some(parameter), None, None) => Target::Parameter(parameter),
            (Some(parameter), Some(prefix), None) => Target::Base64 { parameter, prefix },
            (None, None, Some(segment)) => Target::Segment(segment),
            _ => {
                return Err(ConfigError::value(
                    place,
                    "names where the target is in one way: `parameter`, `parameter` with `base64`, or `segment`",
                ));
            }
        };
        Ok(Redirect { host: self.host, path: self.path, target })
    }
}

fn compiled_challenges(place: &str, specs: Vec<ChallengeSpec>) -> Result<Vec<Challenge>> {
    specs
        .into_iter()
        .map(|spec| {
            let marker = MarkerSpec { selector: spec.selector, text: spec.text, title: spec.title };
            Ok(Challenge { kind: spec.kind, marker: marker.compiled(place)? })
        })
        .collect()
}

fn markers(place: &str, specs: Vec<MarkerSpec>) -> Result<Vec<Marker>> {
    specs.into_iter().map(|spec| spec.compiled(place)).collect()
}

impl MarkerSpec {
    fn compiled(self, place: &str) -> Result<Marker> {
        let (sign, written) = match (self.selector, self.text, self.title) {
            (Some(css), None, None) => (Sign::Selector(selector(place, &css)?), css),
            (None, Some(text), None) => (Sign::Text(text.to_lowercase()), text),
            (None, None, Some(title)) => (Sign::Title(title.to_lowercase()), title),
            _ => return Err(ConfigError::value(place, "a marker has one of `selector`, `text` and `title`")),
        };
        Ok(Marker { sign, written })
    }
}

fn selector(place: &str, css: &str) -> Result<Matcher> {
    Matcher::new(css).map_err(|_| ConfigError::value(place, format!("{css:?} is not a valid CSS selector")))
}
