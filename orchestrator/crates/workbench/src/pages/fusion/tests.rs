use super::*;

#[test]
fn another_site_starts_no_search() {
    let from = |site: Option<&'static str>| {
        let headers = site.map(|site| {
            (
                axum::http::HeaderName::from_static("sec-fetch-site"),
                axum::http::HeaderValue::from_static(site),
            )
        });
        own_request(&headers.into_iter().collect::<HeaderMap>())
    };
    assert!(from(None) && from(Some("none")) && from(Some("same-origin")));
    assert!(!from(Some("cross-site")) && !from(Some("same-site")));
}

#[test]
fn shares_are_rounded_and_never_lost() {
    assert_eq!([0.0, 0.001, 0.5, 1.0, 7.0].map(percent), ["0 %", "<1 %", "50 %", "100 %", "100 %"]);
    assert_eq!(address("fusion-1/../x"), "/fusion/runs/fusion-1%2F%2E%2E%2Fx");
}
