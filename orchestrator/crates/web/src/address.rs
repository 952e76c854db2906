//! Addresses of pages: one spelling for one page.

use url::Url;

/// Query parameters that name the reader or the campaign and never the page.
const TRACKING: &[&str] = &[
    "fbclid",
    "gclid",
    "dclid",
    "gbraid",
    "wbraid",
    "msclkid",
    "yclid",
    "twclid",
    "igshid",
    "mc_cid",
    "mc_eid",
    "_hsenc",
    "_hsmi",
    "mkt_tok",
    "vero_id",
    "oly_anon_id",
    "oly_enc_id",
    "wickedid",
    "srsltid",
];

/// The address without what does not name the page: fragment, tracking parameters, user and password, a trailing dot
/// of the host.
///
/// `None` when it is not an absolute http or https address with a host.
pub fn canonical(address: &str) -> Option<Url> {
    let mut url = Url::parse(address.trim()).ok()?;
    if !matches!(url.scheme(), "http" | "https") {
        return None;
    }
    let host = url.host_str()?.trim_end_matches('.').to_owned();
    url.set_host(Some(&host)).ok()?;
    url.set_fragment(None);
    url.set_username("").ok()?;
    url.set_password(None).ok()?;
    if url.query().is_some() {
        let tracking = |part: &&str| {
            let name = part.split('=').next().unwrap_or(part).to_ascii_lowercase();
            !name.is_empty() && !name.starts_with("utm_") && !TRACKING.contains(&name.as_str())
        };
        // Whole pieces are kept as they are written: decoding and encoding again could name another page.
        let kept: Vec<&str> = url.query().unwrap_or_default().split('&').filter(tracking).collect();
        let query = (!kept.is_empty()).then(|| kept.join("&"));
        url.set_query(query.as_deref());
    }
    Some(url)
}

/// What two spellings of one page have in common: no scheme, no `www.`, no slash at the end.
pub fn same_page_key(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    let host = host.strip_prefix("www.").unwrap_or(host);
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
    format!("{host}{port}{}{query}", url.path().trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(address: &str, expect: Option<&str>) {
        assert_eq!(canonical(address).as_ref().map(Url::as_str), expect, "{address}");
    }

    #[test]
    fn what_does_not_name_the_page_goes() {
        check(
            "https://Example.org:443/a?utm_source=x&id=1&fbclid=y#part",
            Some("https://example.org/a?id=1"),
        );
        check("http://example.org/a?utm_medium=x", Some("http://example.org/a"));
        check(
            "https://user:secret@example.org./a%20b?q=%E3%81%82",
            Some("https://example.org/a%20b?q=%E3%81%82"),
        );
        check("javascript:alert(1)", None);
        check("ftp://example.org/", None);
        check("/relative", None);
        check("", None);
    }

    #[test]
    fn two_spellings_of_one_page() {
        let key = |address| same_page_key(&canonical(address).unwrap());
        assert_eq!(key("http://www.example.org/a/"), key("https://example.org/a"));
        assert_ne!(key("https://example.org/a?id=1"), key("https://example.org/a?id=2"));
        assert_ne!(key("https://example.org:8080/a"), key("https://example.org/a"));
    }

    proptest! {
        #[test]
        fn the_canonical_address_is_its_own(path in "[a-zA-Z0-9/%._~-]{0,20}", query in "[a-z_=&%0-9]{0,30}") {
            if let Some(once) = canonical(&format!("https://example.org/{path}?{query}#x")) {
                prop_assert_eq!(canonical(once.as_str()), Some(once.clone()));
            }
        }

        #[test]
        fn any_text_is_an_address_or_none(text in any::<String>()) {
            let _ = canonical(&text);
        }
    }
}
