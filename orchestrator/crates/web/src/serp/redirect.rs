//! Links of an engine that lead to a page by way of the engine.

use base64::Engine as _;
use base64::alphabet::URL_SAFE;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use url::Url;

/// base64url as engines write it: the padding is optional, and odd bits at the end are ignored.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// Redirects inside redirects that are followed.
const MAX_DEPTH: usize = 3;

/// One form of redirecting link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Redirect {
    /// Host of the link, subdomains included.
    pub(super) host: String,
    /// Its path begins so.
    pub(super) path: String,
    /// Where the target is.
    pub(super) target: Target,
}

/// Where in a redirecting link the target is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    /// In this query parameter.
    Parameter(String),
    /// In this query parameter, as base64url behind a prefix.
    Base64 { parameter: String, prefix: String },
    /// In the path segment that begins so, percent-encoded.
    Segment(String),
}

/// The target behind an engine's link; the link itself when no redirect matches or its target is not an address.
pub(super) fn unwrapped(link: &Url, redirects: &[Redirect]) -> Url {
    let mut url = link.clone();
    for _ in 0..MAX_DEPTH {
        let Some(target) = redirects.iter().find_map(|redirect| redirect.target_of(&url)) else { break };
        url = target;
    }
    url
}

impl Redirect {
    fn target_of(&self, url: &Url) -> Option<Url> {
        let host = url.host_str()?;
        let of_host =
            host == self.host || host.strip_suffix(self.host.as_str()).is_some_and(|sub| sub.ends_with('.'));
        if !of_host || !url.path().starts_with(&self.path) {
            return None;
        }
        let parameter =
            |name: &str| url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
        let target = match &self.target {
            Target::Parameter(name) => parameter(name)?,
            Target::Base64 { parameter: name, prefix } => {
                let bytes = LENIENT.decode(parameter(name)?.strip_prefix(prefix.as_str())?).ok()?;
                String::from_utf8(bytes).ok()?
            }
            Target::Segment(prefix) => {
                let segment =
                    url.path().split('/').find_map(|segment| segment.strip_prefix(prefix.as_str()))?;
                // As form data, so that the one decoder of the url crate serves; a plus sign is a plus sign here.
                let encoded = format!("t={}", segment.replace('+', "%2B"));
                url::form_urlencoded::parse(encoded.as_bytes()).next()?.1.into_owned()
            }
        };
        // Bing omits the scheme for some of its own targets.
        Url::parse(&target).ok().or_else(|| url.join(&target).ok().filter(|_| target.starts_with('/')))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn redirects() -> Vec<Redirect> {
        let redirect =
            |host: &str, path: &str, target| Redirect { host: host.into(), path: path.into(), target };
        vec![
            redirect("duckduckgo.com", "/l/", Target::Parameter("uddg".into())),
            redirect("www.bing.com", "/ck/a", Target::Base64 { parameter: "u".into(), prefix: "a1".into() }),
            redirect("r.search.yahoo.com", "/", Target::Segment("RU=".into())),
        ]
    }

    #[track_caller]
    fn check(link: &str, expect: &str) {
        assert_eq!(unwrapped(&Url::parse(link).unwrap(), &redirects()).as_str(), expect);
    }

    #[test]
    fn every_form() {
        check(
            "https://duckduckgo.com/l/?uddg=https%3A%2F%2Fexample.org%2Fa%3Fb%3Dc&rut=1",
            "https://example.org/a?b=c",
        );
        check(
            "https://html.duckduckgo.com/l/?rut=1&uddg=https%3A%2F%2Fexample.org%2F",
            "https://example.org/",
        );
        check(
            "https://www.bing.com/ck/a?!&&p=1&u=a1aHR0cHM6Ly9leGFtcGxlLm9yZy9h&ntb=1",
            "https://example.org/a",
        );
        check(
            "https://r.search.yahoo.com/_ylt=A;_ylu=B/RV=2/RE=1/RO=10/RU=https%3a%2f%2fexample.org%2fa+b/RK=2/RS=x-",
            "https://example.org/a+b",
        );
    }

    #[test]
    fn a_link_that_is_no_redirect_stays() {
        check(
            "https://example.org/l/?uddg=https%3A%2F%2Fx.org%2F",
            "https://example.org/l/?uddg=https%3A%2F%2Fx.org%2F",
        );
        check(
            "https://notduckduckgo.com/l/?uddg=https%3A%2F%2Fx.org%2F",
            "https://notduckduckgo.com/l/?uddg=https%3A%2F%2Fx.org%2F",
        );
        check("https://www.bing.com/ck/a?u=a1!!", "https://www.bing.com/ck/a?u=a1!!");
        check("https://duckduckgo.com/l/?uddg=nonsense", "https://duckduckgo.com/l/?uddg=nonsense");
    }

    proptest! {
        #[test]
        fn what_was_wrapped_is_unwrapped(path in "[a-zA-Z0-9/._~+=-]{0,40}") {
            let target = Url::parse(&format!("https://example.org/{path}")).unwrap();
            let quoted: String = url::form_urlencoded::byte_serialize(target.as_str().as_bytes()).collect();
            let code = LENIENT.encode(target.as_str());
            for link in [
                format!("https://duckduckgo.com/l/?uddg={quoted}&rut=0"),
                format!("https://www.bing.com/ck/a?!&&p=0&u=a1{code}&ntb=1"),
                format!("https://r.search.yahoo.com/_ylt=A/RU={quoted}/RK=2"),
            ] {
                prop_assert_eq!(&unwrapped(&Url::parse(&link).unwrap(), &redirects()), &target);
            }
        }
    }
}
