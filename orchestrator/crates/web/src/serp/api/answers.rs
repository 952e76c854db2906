//! An answer of each API to “naps memory”, with two hits and none, and its refusals of a key and of a quota. They
//! are not recorded: they are written after the public documentation that the rows of the table name.

/// What one API sends.
pub(crate) struct Answers {
    /// The API.
    pub(crate) name: &'static str,
    /// Two hits: `https://example.org/nap` with the title `Naps & memory` and, but for Exa, an excerpt, published in
    /// 2021 as far as the API has dates; and `https://example.com/sleep`.
    pub(crate) good: &'static str,
    /// Nothing found.
    pub(crate) empty: &'static str,
    /// Status and body for a key that is not known.
    pub(crate) bad_key: (u16, &'static str),
    /// Status and body for a quota that is used up; none for an API without quotas.
    pub(crate) no_quota: Option<(u16, &'static str)>,
}

/// Of every API, in the order of the table.
pub(crate) const ANSWERS: [Answers; 6] = [
    Answers {
        name: "searxng",
        good: r#"{"query": "naps memory", "number_of_results": 0, "results": [
            {"url": "https://example.org/nap", "title": "Naps & memory", "content": "Naps  help the memory.",
             "publishedDate": "2021-03-04T00:00:00", "engine": "mojeek", "template": "default.html",
             "parsed_url": ["https", "example.org", "/nap", "", "", ""], "engines": ["mojeek", "brave"],
             "positions": [1, 2], "score": 3.0, "category": "general", "thumbnail": null},
            {"url": "https://example.com/sleep", "title": "Sleep", "content": "", "publishedDate": null,
             "engine": "brave", "engines": ["brave"], "positions": [1], "score": 1.0, "category": "general"}],
            "answers": [], "corrections": [], "infoboxes": [], "suggestions": ["nap length"],
            "unresponsive_engines": [["startpage", "CAPTCHA"]]}"#,
        empty: r#"{"query": "naps memory", "number_of_results": 0, "results": [], "answers": [], "corrections": [],
            "infoboxes": [], "suggestions": [], "unresponsive_engines": []}"#,
        // A proxy in front of it.
        bad_key: (401, "<html><head><title>401 Authorization Required</title></head></html>"),
        no_quota: None,
    },
    Answers {
        name: "brave",
        good: r#"{"type": "search", "query": {"original": "naps memory", "more_results_available": true}, "web": {
            "type": "search", "family_friendly": true, "results": [
            {"type": "search_result", "subtype": "generic", "title": "Naps &amp; memory",
             "url": "https://example.org/nap", "description": "<strong>Naps</strong> help the memory.",
             "page_age": "2021-03-04T00:00:00", "age": "March 4, 2021", "language": "en",
             "profile": {"name": "Example", "url": "https://example.org/nap"}, "meta_url": {"hostname": "example.org"}},
            {"type": "search_result", "title": "Sleep", "url": "https://example.com/sleep", "description": ""}]}}"#,
        empty: r#"{"type": "search", "query": {"original": "naps memory", "more_results_available": false}}"#,
        bad_key: (
            422,
            r#"{"type": "ErrorResponse", "error": {"id": "5d83", "code": "SUBSCRIPTION_TOKEN_INVALID", "detail":
            "The provided subscription token is invalid.", "status": 422, "meta": {"component": "authentication"}},
            "time": 1663072993}"#,
        ),
        no_quota: Some((
            429,
            r#"{"type": "ErrorResponse", "error": {"id": "5d83", "code": "QUOTA_LIMITED", "detail":
            "Request quota limit exceeded for plan.", "status": 429, "meta": {"component": "rate_limiter"}},
            "time": 1663072993}"#,
        )),
    },
    Answers {
        name: "tavily",
        good: r#"{"query": "naps memory", "follow_up_questions": null, "answer": null, "images": [], "results": [
            {"title": "Naps & memory", "url": "https://example.org/nap", "content": "Naps help the memory.",
             "score": 0.98, "raw_content": null, "published_date": "Thu, 04 Mar 2021 00:00:00 GMT"},
            {"title": "Sleep", "url": "https://example.com/sleep", "content": "", "score": 0.5, "raw_content": null}],
            "response_time": 1.09, "request_id": "123e4567"}"#,
        empty: r#"{"query": "naps memory", "follow_up_questions": null, "answer": null, "images": [], "results": [],
            "response_time": 0.5, "request_id": "123e4567"}"#,
        bad_key: (401, r#"{"detail": {"error": "Unauthorized: missing or invalid API key."}}"#),
        no_quota: Some((
            432,
            r#"{"detail": {"error": "This request exceeds your plan's set usage limit. Please upgrade your plan."}}"#,
        )),
    },
    Answers {
        name: "serper",
        good: r#"{"searchParameters": {"q": "naps memory", "type": "search", "engine": "google"}, "organic": [
            {"title": "Naps & memory", "link": "https://example.org/nap", "snippet": "Naps help the memory.",
             "date": "Mar 4, 2021", "position": 1},
            {"title": "Sleep", "link": "https://example.com/sleep", "snippet": "", "date": "3 days ago",
             "position": 2}], "peopleAlsoAsk": [], "relatedSearches": [{"query": "nap length"}], "credits": 1}"#,
        empty: r#"{"searchParameters": {"q": "naps memory", "type": "search", "engine": "google"}, "organic": [],
            "credits": 1}"#,
        bad_key: (403, r#"{"message": "Unauthorized.", "statusCode": 403}"#),
        no_quota: Some((400, r#"{"message": "Not enough credits", "statusCode": 400}"#)),
    },
    Answers {
        name: "exa",
        good: r#"{"requestId": "b5947044", "resolvedSearchType": "neural", "results": [
            {"id": "https://example.org/nap", "title": "Naps & memory", "url": "https://example.org/nap",
             "publishedDate": "2021-03-04T00:00:00.000Z", "author": "A. Author", "score": 0.4},
            {"id": "https://example.com/sleep", "title": "Sleep", "url": "https://example.com/sleep",
             "publishedDate": null, "author": null}], "costDollars": {"total": 0.005}}"#,
        empty: r#"{"requestId": "b5947044", "resolvedSearchType": "neural", "results": [],
            "costDollars": {"total": 0.005}}"#,
        bad_key: (401, r#"{"requestId": "b5947044", "error": "Invalid API key", "tag": "INVALID_API_KEY"}"#),
        no_quota: Some((
            402,
            r#"{"requestId": "b5947044", "error": "You have exceeded your credits limit.", "tag": "NO_MORE_CREDITS"}"#,
        )),
    },
    Answers {
        name: "kagi",
        good: r#"{"meta": {"trace": "ec420bfd", "node": "us-central1", "ms": 231}, "data": {"search": [
            {"url": "https://example.org/nap", "title": "Naps &amp; memory",
             "snippet": "<b>Naps</b> help the memory.", "time": "2021-03-04T00:00:00Z"},
            {"url": "https://example.com/sleep", "title": "Sleep"}],
            "related_search": [{"props": {"question": "nap length"}}]}}"#,
        empty: r#"{"meta": {"trace": "ec420bfd", "node": "us-central1", "ms": 231}, "data": {}}"#,
        bad_key: (
            400,
            r#"{"meta": {}, "data": null, "errors": [
            {"code": "general.invalid_token", "message": "Token signature failed to verify."}]}"#,
        ),
        no_quota: Some((
            402,
            r#"{"meta": {}, "data": null, "error": [{"code": 101, "msg": "Insufficient credit"}]}"#,
        )),
    },
];
