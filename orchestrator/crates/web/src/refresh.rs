//! Pages that send their readers on: `<meta http-equiv="refresh" content="0; url=…">`.

use crate::dom::parse;
use url::Url;

/// Bytes of a page in which to search for it; it is in the head.
const LOOKED_AT: usize = 16 << 10;
/// A page with a longer delay is meant to be read.
const LONGEST_STAY: f64 = 5.0;

/// The target to which a page from `address` redirects its readers within five seconds; `None` when it stays, reloads
/// itself, or has no target. Refreshes inside `noscript` do not count.
pub(crate) fn refresh_target(html: &str, address: &Url) -> Option<Url> {
    let mut end = html.len().min(LOOKED_AT);
    while !html.is_char_boundary(end) {
        end -= 1;
    }
    let head = &html[..end];
    if !head.to_ascii_lowercase().contains("http-equiv") {
        return None;
    }
    let document = parse(head).document;
    let base =
        document.base_uri().and_then(|href| address.join(&href).ok()).unwrap_or_else(|| address.clone());
    let metas = document.select("meta[http-equiv]");
    let target = metas.nodes().iter().find_map(|meta| {
        let refreshes =
            meta.attr("http-equiv").is_some_and(|name| name.trim().eq_ignore_ascii_case("refresh"));
        let shown = meta.ancestors_it(None).all(|above| above.node_name().as_deref() != Some("noscript"));
        let content = meta.attr("content").filter(|_| refreshes && shown)?;
        let (seconds, address) = parts(&content)?;
        let target = base.join(address).ok().filter(|target| matches!(target.scheme(), "http" | "https"));
        target.filter(|_| seconds <= LONGEST_STAY)
    })?;
    let page = |url: &Url| {
        let mut url = url.clone();
        url.set_fragment(None);
        url
    };
    (page(&target) != page(address)).then_some(target)
}

/// Seconds and address of `0; url='/there'` (HTML Standard, 4.2.5.3).
fn parts(content: &str) -> Option<(f64, &str)> {
    let content = content.trim_start();
    let end = content.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(content.len());
    let (number, rest) = content.split_at(end);
    let seconds = number.parse().or_else(|_| number.split('.').next().unwrap_or_default().parse()).ok()?;
    let rest = rest.trim_start();
    let rest = rest.strip_prefix([';', ',']).unwrap_or(rest).trim_start();
    let named = rest.get(..3).filter(|name| name.eq_ignore_ascii_case("url"));
    let rest = named.and_then(|_| rest[3..].trim_start().strip_prefix('=')).unwrap_or(rest).trim_start();
    let address = match rest.chars().next() {
        Some(quote @ ('"' | '\'')) => rest[1..].split(quote).next().unwrap_or_default(),
        _ => rest,
    };
    let address = address.trim();
    (!address.is_empty()).then_some((seconds, address))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(html: &str, target: Option<&str>) {
        let address = "https://a.example/old/page?x=1".parse().unwrap();
        assert_eq!(refresh_target(html, &address).as_ref().map(Url::as_str), target, "{html}");
    }

    #[test]
    fn a_page_that_sends_on_says_where() {
        let new = Some("https://a.example/old/new");
        check("<meta http-equiv=refresh content='0;url=new'>", new);
        check("<meta HTTP-EQUIV=Refresh content=' 3 ; URL = \"new\" '>", new);
        check("<meta http-equiv=refresh content='0.5, new'>", new);
        check(
            "<base href=/b/><meta http-equiv=refresh content='0;url=new'>",
            Some("https://a.example/b/new"),
        );
        check("<meta http-equiv=refresh content='0; url=https://b.example/'>", Some("https://b.example/"));
        check("<meta http-equiv=x content='0;url=y'><meta http-equiv=refresh content='0;url=new'>", new);
    }

    #[test]
    fn a_page_that_stays_is_the_page() {
        for html in [
            "<meta http-equiv=refresh content='300'>",
            "<meta http-equiv=refresh content='0'>",
            "<meta http-equiv=refresh content='30; url=new'>",
            "<meta http-equiv=refresh content='0; url=/old/page?x=1#top'>",
            "<meta http-equiv=refresh content='url=new'>",
            "<noscript><meta http-equiv=refresh content='0; url=new'></noscript>",
            "<meta name=refresh content='0; url=new'>",
            "<meta http-equiv=refresh content='0; url=javascript:go()'>",
            "<p>content='0; url=new'",
            "",
        ] {
            check(html, None);
        }
        check(
            &format!("<!--{}--><meta http-equiv=refresh content='0;url=new'>", "é".repeat(LOOKED_AT)),
            None,
        );
    }

    proptest! {
        #[test]
        fn any_content_is_taken(content in "\\PC{0,40}", html in "\\PC{0,80}") {
            let _ = parts(&content);
            let address = "https://a.example/".parse().unwrap();
            let _ = refresh_target(&format!("<meta http-equiv=refresh content=\"{content}\">{html}"), &address);
        }
    }
}
