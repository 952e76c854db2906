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
/// Bytes of the files whose rules are remembered. A file of many short rules takes about ten times its bytes.
const MAX_BYTES: usize = 16 << 20;
/// What may stand before the first line.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// Names of the lines that name a site map, as parsers accept them.
const SITE_MAPS: [&[u8]; 3] = [b"sitemap", b"site-map", b"site map"];
/// No site slows us down more than this.
const LONGEST_DELAY: Duration = Duration::from_secs(30);

/// Rules of the sites visited so far.
#[derive(Default)]
pub(super) struct RobotsMemory {
    sites: Mutex<Sites>,
}

#[derive(Default)]
struct Sites {
    known: HashMap<Origin, (Instant, Arc<Site>)>,
    /// Bytes of all their files.
    bytes: usize,
}

/// Rules of one site.
pub(super) struct Site {
    rules: Robots,
    reachable: bool,
    /// Bytes of the file that they were read from, without site maps.
    bytes: usize,
}

impl Site {
    /// From a response to `/robots.txt`: its rules if it exists, everything allowed if it does not (4xx), nothing if
    /// the server fails.
    pub(super) fn read(status: http::StatusCode, body: &[u8], agent: &str) -> Self {
        let body = if status.is_success() { without_site_maps(body) } else { Vec::new() };
        let access = match status.as_u16() {
            200..=299 => AccessResult::Successful(&body),
            300..=499 if status.as_u16() != 429 => AccessResult::Unavailable,
            _ => AccessResult::Unreachable,
        };
        let reachable = !matches!(access, AccessResult::Unreachable);
        Self { rules: Robots::from_access(access, agent), reachable, bytes: body.len() }
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

/// The file without the lines that name site maps: nothing uses them, and each would be remembered as an address.
fn without_site_maps(body: &[u8]) -> Vec<u8> {
    let body = body.strip_prefix(BYTE_ORDER_MARK).unwrap_or(body);
    let lines = body.split_inclusive(|byte| matches!(byte, b'\n' | b'\r' | 0));
    lines.filter(|line| !names_site_map(line)).flatten().copied().collect()
}

fn names_site_map(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    let begins = |name: &[u8]| line.get(..name.len()).is_some_and(|word| word.eq_ignore_ascii_case(name));
    SITE_MAPS.iter().any(|name| begins(name))
}

impl Sites {
    fn remember(&mut self, origin: Origin, site: Arc<Site>) {
        self.forget(&origin);
        while self.known.len() >= MAX_SITES || self.bytes + site.bytes > MAX_BYTES {
            let oldest = self.known.iter().min_by_key(|(_, (read_at, _))| *read_at);
            let Some(oldest) = oldest.map(|(origin, _)| origin.clone()) else { break };
            self.forget(&oldest);
        }
        self.bytes += site.bytes;
        self.known.insert(origin, (Instant::now(), site));
    }

    fn forget(&mut self, origin: &Origin) {
        if let Some((_, site)) = self.known.remove(origin) {
            self.bytes -= site.bytes;
        }
    }
}

impl RobotsMemory {
    /// The rules of an origin, when they are known and not too old.
    pub(super) fn get(&self, origin: &Origin) -> Option<Arc<Site>> {
        let sites = self.sites.lock().unwrap_or_else(PoisonError::into_inner);
        let (read_at, site) = sites.known.get(origin)?;
        let kept = if site.reachable { KEPT } else { KEPT_UNREACHABLE };
        (read_at.elapsed() < kept).then(|| site.clone())
    }

    /// Remembers the rules of an origin, and forgets the oldest where there are too many.
    pub(super) fn put(&self, origin: Origin, site: Site) -> Arc<Site> {
        let site = Arc::new(site);
        let mut sites = self.sites.lock().unwrap_or_else(PoisonError::into_inner);
        sites.remember(origin, site.clone());
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

    #[test]
    fn site_maps_are_not_remembered() {
        let text = "\u{feff}Sitemap: a:\nuser-agent: *\r\n \tSITEMAP:https://a.example/\rDisallow: /a\0site-map a:\n\
                    Site Map : b:\nDisallow: /sitemap\nAllow: /a/sitemap: x";
        let kept = "user-agent: *\r\nDisallow: /a\0Disallow: /sitemap\nAllow: /a/sitemap: x";
        assert_eq!(without_site_maps(text.as_bytes()), kept.as_bytes());
        let many = Site::read(StatusCode::OK, "sitemap:a:\n".repeat(40_000).as_bytes(), "lyra");
        assert!(many.bytes == 0 && many.rules.sitemaps().is_empty());
        check(200, text, "/a", false);
        check(200, text, "/b", true);
    }

    #[test]
    fn the_oldest_sites_are_forgotten_for_their_number_and_their_bytes() {
        let memory = RobotsMemory::default();
        let origin = |n: usize| {
            let url: Url = format!("https://a{n}.example/").parse().unwrap();
            Origin::of(&url).unwrap()
        };
        let site = |bytes: usize| Site { rules: Robots::allow_all(), reachable: true, bytes };
        let known = |n: usize| memory.get(&origin(n)).is_some();
        for n in 0..MAX_SITES + 10 {
            memory.put(origin(n), site(1));
        }
        assert!(!known(9) && known(10) && known(MAX_SITES + 9));
        let large = MAX_BYTES / 4;
        for n in 0..6 {
            memory.put(origin(n), site(large));
        }
        // Read again, it counts once.
        memory.put(origin(5), site(large));
        assert_eq!([0, 1, 2, 5, 10].map(known), [false, false, true, true, false]);
        let sites = memory.sites.lock().unwrap();
        let bytes: usize = sites.known.values().map(|(_, site)| site.bytes).sum();
        assert!(sites.bytes == bytes && bytes <= MAX_BYTES);
    }
}
