//! How the web is searched.

use super::{App, Finding};
use lyra_sources::web::WebApi;
use lyra_web::serp::{Category, SearchApi};

impl App {
    /// Which APIs of web search are configured, and whether every chosen engine can be asked.
    pub(super) fn web_search(&self) -> Finding {
        const PART: &str = "web search";
        let search = &self.web().search;
        let chosen = &self.config().sources.web.engines;
        if let Some(name) = chosen.iter().find(|name| !search.knows(name)) {
            let (why, remedy) = match SearchApi::named(name) {
                Some(api) => ("which is not configured", format!("set {}", api.setting())),
                None => ("which is not an engine", format!("the engines are: {}", search.names().join(", "))),
            };
            return Finding::broken(PART, format!("sources.web.engines names `{name}`, {why}"), remedy);
        }
        let apis: Vec<&str> = search.apis().iter().map(WebApi::name).collect();
        Finding::ok(
            PART,
            match (chosen.as_slice(), apis.as_slice()) {
                ([], []) => format!(
                    "result pages of {}; no API is configured",
                    search.readable(Category::General).join(", ")
                ),
                ([], apis) => format!("{} (API); result pages if none answers", apis.join(", ")),
                (chosen, []) => format!("result pages of {}", chosen.join(", ")),
                (chosen, apis) => format!("{}; configured APIs: {}", chosen.join(", "), apis.join(", ")),
            },
        )
    }
}
