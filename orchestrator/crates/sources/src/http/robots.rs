//! What robots.txt allows, remembered per origin (RFC 9309).

use super::Origin;
use robotxt::{AccessResult, Robots};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;
use url::Url;

/// How long the rules of a site are cached, the maximum of RFC 9309 (section 2.4).
const KEPT: Duration = Duration::from_hours(24);
/// How long a site with unreadable rules is skipped.
const KEPT_UNREACHABLE: Duration = Duration::from_mins(5);
/// Sites remembered.
const MAX_SITES: usize = 2_048;
/// No site slows us down more than this.
const LONGEST_DELAY: Duration = Duration::from_secs(30);

/// Rules of the sites visited so far.
#[derive(Default)]
pub(super) struct RobotsMemory {
    sites: Mutex<HashMap<Origin, (Instant, Arc<Site>)>>,
}

/// Rules of one site.
pub(super) struct Site {
    rules: Robots,
    reachable: bool,
}

impl Site {
    /// From a response to `/robots.txt`: its rules if it exists, everything allowed if it does not (4xx), nothing if
    /// the server fails.
    pub(super) fn read(status: http::StatusCode, body: &[u8], agent: &str) -> Self {
        let access = match status.as_u16() {
            200..=299 => AccessResult::Successful(body),
            300..=499 if status.as_u16() != 429 => AccessResult::Unavailable,
            _ => AccessResult::Unreachable,
        };
        let reachable = !matches!(access, AccessResult::Unreachable);
        Self { rules: Robots::from_access(access, agent), reachable }
    }

    /// `None` when the address may be fetched, else why not.
    pub(super) fn refusal(&self, url: &Url) -> Option<String> {
        if self.rules.is_url_allowed(url) {
            return None;
        }
        Some(if self.reachable {
            "its robots.txt says so".to_owned()
        } else {
            "its robots.txt is unavailable because the server fails".to_owned()
        })
    }

    /// The site's crawl delay.
    pub(super) fn delay(&self) -> Duration {
        self.rules.crawl_delay().unwrap_or_default().min(LONGEST_DELAY)
    }
}

impl RobotsMemory {
    /// The rules of an origin, when they are known and not too old.
    pub(super) fn get(&self, origin: &Origin) -> Option<Arc<Site>> {
        let sites = self.sites.lock().unwrap_or_else(PoisonError::into_inner);
        let (read_at, site) = sites.get(origin)?;
        let kept = if site.reachable { KEPT } else { KEPT_UNREACHABLE };
        (read_at.elapsed() < kept).then(|| site.clone())
    }

    /// Remembers the rules of an origin.
    pub(super) fn put(&self, origin: Origin, site: Site) -> Arc<Site> {
        let site = Arc::new(site);
        let mut sites = self.sites.lock().unwrap_or_else(PoisonError::into_inner);
        if sites.len() >= MAX_SITES {
            sites.clear();
        }
        sites.insert(origin, (Instant::now(), site.clone()));
        site
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::StatusCode;

    #[track_caller]
    fn check(status: u16, body: &str, path: &str, allowed: bool) {
        let site = Site::read(StatusCode::from_u16(status).unwrap(), body.as_bytes(), "lyra");
        let url = format!("https://example.org{path}").parse().unwrap();
        assert_eq!(site.refusal(&url).is_none(), allowed, "{status} {path}");
    }

    #[test]
    fn rules_of_our_own_group_come_first() {
        let text = "User-agent: *\nDisallow: /\n\nUser-agent: Lyra\nDisallow: /private\nAllow: \
            /private/open\nCrawl-delay: 2\n";
        check(200, text, "/paper", true);
        check(200, text, "/private/x", false);
        check(200, text, "/private/open/x", true);
        check(200, "User-agent: *\nDisallow: /*.pdf$", "/a.pdf", false);
        check(200, "<html>not a robots file</html>", "/a", true);
        let site = Site::read(StatusCode::OK, text.as_bytes(), "lyra");
        assert_eq!(site.delay(), Duration::from_secs(2));
    }

    #[test]
    fn no_file_allows_all_and_a_failing_server_nothing() {
        check(404, "", "/a", true);
        check(403, "", "/a", true);
        check(503, "", "/a", false);
        check(429, "", "/a", false);
    }
}
