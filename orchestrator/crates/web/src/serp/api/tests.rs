#[path = "answers.rs"]
mod answers;

use super::*;
use answers::{ANSWERS, Answers};
use proptest::prelude::*;
use serde_json::json;

fn each() -> impl Iterator<Item = (&'static SearchApi, &'static Answers)> {
    ANSWERS.iter().map(|answers| (SearchApi::named(answers.name).unwrap(), answers))
}

fn results(page: Result<SerpPage, String>) -> (Vec<SerpResult>, usize) {
    match page {
        Ok(SerpPage::Results { results, unread, .. }) => (results, unread),
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_row_has_answers_and_a_name_of_its_own() {
    let rows: Vec<&str> = SEARCH_APIS.iter().map(|api| api.name).collect();
    assert_eq!(rows, ANSWERS.map(|answers| answers.name));
    assert_eq!(rows.iter().collect::<HashSet<_>>().len(), rows.len());
    for api in SEARCH_APIS {
        assert!(api.address.is_none_or(|address| url::Url::parse(address).is_ok()), "{}", api.name);
        assert!(api.parameters.iter().any(|(_, given)| matches!(given, Given::Query)), "{}", api.name);
    }
    assert_eq!(SEARCH_APIS[0].setting(), "sources.web.apis.searxng.base_url");
    assert_eq!(SEARCH_APIS[1].setting(), "sources.web.apis.brave.api_key");
}

#[test]
fn hits_are_read_and_none_found_is_an_answer() {
    for (api, answers) in each() {
        let (found, unread) = results(api.read(answers.good.as_bytes()));
        let urls: Vec<&str> = found.iter().map(|result| result.url.as_str()).collect();
        assert_eq!(urls, ["https://example.org/nap", "https://example.com/sleep"], "{}", api.name);
        assert_eq!((found[0].rank, found[1].rank, unread), (1, 2, 0), "{}", api.name);
        assert_eq!(found[0].title, "Naps & memory", "{}", api.name);
        let excerpt = if api.name == "exa" { "" } else { "Naps help the memory." };
        assert_eq!(found[0].snippet, excerpt, "{}", api.name);
        assert_eq!(
            found[0].published.map(|date| date.to_string()).as_deref(),
            Some("2021-03-04"),
            "{}",
            api.name
        );
        assert_eq!(found[1].published, None, "{}", api.name);
        assert_eq!(api.read(answers.empty.as_bytes()), Ok(SerpPage::NoResults), "{}", api.name);
    }
}

#[test]
fn an_odd_hit_costs_that_hit() {
    for (api, answers) in each() {
        let mut answer: Value = serde_json::from_str(answers.good).unwrap();
        let url = &api.url_at[1..];
        let hits = answer.pointer_mut(api.hits).unwrap().as_array_mut().unwrap();
        hits.insert(1, Value::Null);
        hits.insert(1, json!("https://example.org/text"));
        hits.insert(1, json!({ (url): 7, "title": "A number" }));
        hits.insert(1, json!({ (url): "javascript:alert(1)", "title": "A script" }));
        // One page in another spelling is no second result, and a title is no condition.
        hits.push(json!({ (url): "http://www.example.org/nap/?utm_source=x", "title": "Again" }));
        hits.push(json!({ (url): "https://example.net/untitled", "title": null }));
        let (found, unread) = results(api.read(answer.to_string().as_bytes()));
        let ranks: Vec<(usize, &str)> = found.iter().map(|r| (r.rank, r.url.as_str())).collect();
        let expect = [
            (1, "https://example.org/nap"),
            (2, "https://example.com/sleep"),
            (3, "https://example.net/untitled"),
        ];
        assert_eq!((ranks.as_slice(), unread), (expect.as_slice(), 4), "{}", api.name);
        *answer.pointer_mut(api.hits).unwrap() = json!([{ "other": 1 }, null]);
        let none = api.read(answer.to_string().as_bytes()).unwrap_err();
        assert_eq!(none, "none of its 2 hits has a usable address", "{}", api.name);
    }
}

#[test]
fn other_answers_are_no_empty_results() {
    for (api, answers) in each() {
        let cut = &answers.good[..answers.good.len() / 2];
        assert!(
            api.read(cut.as_bytes()).unwrap_err().starts_with("its JSON cannot be read: EOF"),
            "{}",
            api.name
        );
        assert!(api.read(b"<html>Sign in</html>").unwrap_err().contains("cannot be read"), "{}", api.name);
        for other in ["{}", "[]", "null", r#"{"error": "down"}"#] {
            let why = api.read(other.as_bytes()).unwrap_err();
            assert_eq!(why, format!("it has no list of hits at {}", api.hits), "{} {other}", api.name);
        }
    }
}

#[test]
fn a_search_on_behalf_that_nobody_answered_found_not_nothing() {
    let searxng = SearchApi::named("searxng").unwrap();
    let answer = json!({"results": [], "unresponsive_engines": [["brave", "timeout"], ["mojeek", null], 7]});
    let SerpPage::Refused { why } = searxng.read(answer.to_string().as_bytes()).unwrap() else { panic!() };
    assert!(why.ends_with("did not answer: brave (timeout), mojeek (no reason given)"), "{why}");
}

#[test]
fn refusals_are_told_apart_and_explained() {
    for (api, answers) in each() {
        let (status, body) = answers.bad_key;
        assert_eq!(api.refusal(status, body.as_bytes()), Some(Refusal::Key), "{}", api.name);
        let explained = api.explanation(body.as_bytes());
        assert_eq!(explained.is_some(), body.starts_with('{'), "{} {explained:?}", api.name);
        if let Some((status, body)) = answers.no_quota {
            assert_eq!(api.refusal(status, body.as_bytes()), Some(Refusal::Quota), "{}", api.name);
            assert!(api.explanation(body.as_bytes()).is_some(), "{}", api.name);
        }
        assert_eq!(api.refusal(401, b""), Some(Refusal::Key));
        assert_eq!(api.refusal(402, b"<h1>"), Some(Refusal::Quota));
        assert_eq!(api.refusal(429, br#"{"code": "RATE_LIMITED"}"#), None);
        assert_eq!(api.refusal(500, b""), None);
    }
    let searxng = SearchApi::named("searxng").unwrap();
    let Some(Refusal::Setup { remedy }) = searxng.refusal(403, b"Forbidden") else { panic!() };
    assert!(remedy.contains("search.formats"));
}

#[test]
fn parameters_are_sent_as_each_api_takes_them() {
    let sent = |name: &str, language| SearchApi::named(name).unwrap().parameters("naps  memory", language);
    let pair = |name, value: &str| (name, value.to_owned());
    assert_eq!(
        sent("searxng", Some("ja")),
        Parameters::Query(vec![
            pair("q", "naps memory"),
            pair("format", "json"),
            pair("categories", "general"),
            pair("language", "ja")
        ])
    );
    let brave = |language| match sent("brave", language) {
        Parameters::Query(given) => given.into_iter().find(|(name, _)| *name == "search_lang"),
        Parameters::Json(_) => panic!(),
    };
    assert_eq!(brave(Some("ja")), Some(pair("search_lang", "jp")));
    assert_eq!(brave(Some("de")), Some(pair("search_lang", "de")));
    // It answers 422 to a language that it does not know.
    assert_eq!((brave(Some("sw")), brave(None)), (None, None));
    let body = |name: &str| match sent(name, Some("en")) {
        Parameters::Json(body) => serde_json::from_str::<Value>(&body).unwrap(),
        Parameters::Query(_) => panic!(),
    };
    assert_eq!(body("tavily"), json!({"query": "naps memory", "max_results": 20, "search_depth": "basic"}));
    assert_eq!(body("serper"), json!({"q": "naps memory", "num": 10, "hl": "en"}));
    assert_eq!(body("exa"), json!({"query": "naps memory", "type": "auto", "numResults": 10}));
    assert_eq!(body("kagi"), json!({"query": "naps memory", "workflow": "search", "limit": 20}));
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200), status in 100_u16..600) {
        for api in SEARCH_APIS {
            let _ = (api.read(&bytes), api.refusal(status, &bytes), api.explanation(&bytes));
        }
    }

    #[test]
    fn a_query_is_cut_after_a_word(words in proptest::collection::vec("[a-zäあ]{1,60}", 1..80)) {
        let query = words.join(" ");
        for api in SEARCH_APIS {
            let short = api.shortened(&query);
            prop_assert!(query.starts_with(&short) && !short.is_empty());
            prop_assert!(short.chars().count() <= api.longest.0 && short.split(' ').count() <= api.longest.1);
            let rest = &query[short.len()..];
            prop_assert!(rest.is_empty() || rest.starts_with(' '));
        }
    }
}
