//! A visit of a page: who asks, in which language and theme, and for which address.

use crate::words::{Language, Words};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use lyra_store::Scope;
use lyra_usecases::{App, Caller};
use std::convert::Infallible;

/// The cookie of the chosen language: `en` or `ja`.
const LANGUAGE: &str = "lyra_language";
/// The cookie of the chosen theme: `light` or `dark`.
const THEME: &str = "lyra_theme";

/// Colors of the pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Theme {
    /// As the browser prefers.
    Automatic,
    Light,
    Dark,
}

impl Theme {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Automatic => "auto",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }
}

/// What every page knows about the request.
#[derive(Debug, Clone)]
pub(crate) struct Visit {
    pub(crate) words: Words,
    pub(crate) theme: Theme,
    /// Path with its query.
    pub(crate) address: String,
    /// Whether the visitor may change something.
    pub(crate) may_write: bool,
    /// The token's name; `None` for a local visitor without one.
    pub(crate) token: Option<String>,
    pub(crate) takes_gzip: bool,
    /// Id of the last event before the page is read: events from then on are sent to the page once it listens.
    pub(crate) event: String,
}

impl Visit {
    /// The path without its query.
    pub(crate) fn path(&self) -> &str {
        self.address.split('?').next().unwrap_or_default()
    }
}

impl FromRequestParts<App> for Visit {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Infallible> {
        let headers = &parts.headers;
        let chosen = cookie(headers, LANGUAGE).and_then(Language::of_code);
        let accepted = || {
            let header = headers.get(header::ACCEPT_LANGUAGE)?.to_str().ok()?;
            Language::accepted(header)
        };
        let theme = match cookie(headers, THEME) {
            Some("light") => Theme::Light,
            Some("dark") => Theme::Dark,
            _ => Theme::Automatic,
        };
        let caller = parts.extensions.get::<Caller>();
        Ok(Self {
            words: Words(chosen.or_else(accepted).unwrap_or(Language::English)),
            theme,
            address: parts.uri.path_and_query().map_or_else(|| "/".to_owned(), ToString::to_string),
            may_write: caller.is_some_and(|caller| caller.scope == Scope::Full),
            token: caller.and_then(|caller| caller.actor.strip_prefix("token:")).map(str::to_owned),
            takes_gzip: lyra_serve::gzip::accepted(headers),
            event: app.last_event(),
        })
    }
}

/// The value of a cookie.
fn cookie<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = all.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(known, _)| *known == name).map(|(_, value)| value)
}
