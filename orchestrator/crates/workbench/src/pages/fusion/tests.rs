use super::*;

#[test]
fn only_a_person_on_this_site_starts_a_search() {
    let from = |sent: &[(&'static str, &'static str)]| {
        let headers = sent.iter().map(|(name, value)| {
            (axum::http::HeaderName::from_static(name), axum::http::HeaderValue::from_static(value))
        });
        own_request(&headers.collect::<HeaderMap>())
    };
    assert!(from(&[]) && from(&[("sec-fetch-site", "none")]) && from(&[("sec-fetch-site", "same-origin")]));
    assert!(!from(&[("sec-fetch-site", "cross-site")]) && !from(&[("sec-fetch-site", "same-site")]));
    let own = ("sec-fetch-site", "same-origin");
    assert!(from(&[own, ("sec-fetch-mode", "navigate")]));
    assert!(!from(&[own, ("sec-fetch-mode", "cors")]), "a page loads itself again after every event");
}

#[test]
fn shares_are_rounded_and_never_lost() {
    assert_eq!([0.0, 0.001, 0.5, 1.0, 7.0].map(percent), ["0 %", "<1 %", "50 %", "100 %", "100 %"]);
    assert_eq!(address("fusion-1/../x"), "/fusion/runs/fusion-1%2F%2E%2E%2Fx");
}
