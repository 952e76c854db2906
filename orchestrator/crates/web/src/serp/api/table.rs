//! The rows. Beside each stands what its provider's documentation and terms of use ask for; the contract that the
//! operator accepts decides.

use super::{Given, Languages, Method, Refusal, SearchApi};
use std::time::Duration;

/// How long answers are reused when nothing forbids it, so that a repeated task costs no second request.
const HOUR: Duration = Duration::from_hours(1);
/// More characters and words than any query has.
const ANY_LENGTH: (usize, usize) = (2_000, 300);

/// Every API of web search, in the order in which those that are configured are asked: one's own first.
pub const SEARCH_APIS: &[SearchApi] = &[
    // <https://docs.searxng.org/dev/search_api.html>. An instance asks others on one's behalf: a second between
    // searches keeps it from being refused by them. The operator sets the terms; public instances mostly forbid
    // programs, and answer 403 or 429.
    SearchApi {
        name: "searxng",
        title: "SearXNG",
        address: None,
        path: "search",
        // SearXNG itself has no keys; a reverse proxy in front of it may ask for one.
        key_header: "authorization",
        key_scheme: "Bearer ",
        account: "the instance's settings.yml",
        min_interval: Duration::from_secs(1),
        keep: HOUR,
        method: Method::Get,
        parameters: &[
            ("q", Given::Query),
            ("format", Given::Text("json")),
            ("categories", Given::Text("general")),
            ("language", Given::Language),
        ],
        longest: ANY_LENGTH,
        languages: Languages::Iso,
        hits: "/results",
        always: "/results",
        silent: Some("/unresponsive_engines"),
        title_at: "/title",
        url_at: "/url",
        snippet_at: "/content",
        date_at: "/publishedDate",
        markup: false,
        refusals: &[(
            403,
            "",
            Refusal::Setup { remedy: "add `json` to `search.formats` in the instance's settings.yml" },
        )],
    },
    // <https://api-dashboard.search.brave.com/documentation>. The smallest plans allow one request per second. Results
    // may only be stored under a plan with storage rights, and only be given to a language model under a plan with AI
    // rights: nothing is cached.
    SearchApi {
        name: "brave",
        title: "Brave Search API",
        address: Some("https://api.search.brave.com/res/v1"),
        path: "web/search",
        key_header: "x-subscription-token",
        key_scheme: "",
        account: "https://api-dashboard.search.brave.com",
        min_interval: Duration::from_millis(1_100),
        keep: Duration::ZERO,
        method: Method::Get,
        parameters: &[
            ("q", Given::Query),
            ("count", Given::Number(20)),
            ("country", Given::Text("ALL")),
            ("search_lang", Given::Language),
            ("result_filter", Given::Text("web")),
            ("text_decorations", Given::Text("false")),
        ],
        longest: (400, 50),
        languages: Languages::Only {
            same: &[
                "ar", "bg", "bn", "ca", "cs", "da", "de", "en", "es", "et", "eu", "fi", "fr", "gl", "gu",
                "he", "hi", "hr", "hu", "is", "it", "kn", "ko", "lt", "lv", "ml", "mr", "ms", "nb", "nl",
                "pa", "pl", "ro", "ru", "sk", "sl", "sr", "sv", "ta", "te", "th", "tr", "uk", "vi",
            ],
            other: &[("ja", "jp"), ("no", "nb"), ("pt", "pt-br"), ("zh", "zh-hans")],
        },
        // An answer without web results lacks the whole part.
        hits: "/web/results",
        always: "/query",
        silent: None,
        title_at: "/title",
        url_at: "/url",
        snippet_at: "/description",
        date_at: "/page_age",
        markup: true,
        refusals: &[
            (422, "subscription_token_invalid", Refusal::Key),
            (422, "x-subscription-token", Refusal::Key),
            (404, "subscription_not_found", Refusal::Key),
            (429, "quota_limited", Refusal::Quota),
        ],
    },
    // <https://docs.tavily.com>. Development keys allow 100 requests a minute. A basic search costs one credit.
    SearchApi {
        name: "tavily",
        title: "Tavily",
        address: Some("https://api.tavily.com"),
        path: "search",
        key_header: "authorization",
        key_scheme: "Bearer ",
        account: "https://app.tavily.com",
        min_interval: Duration::from_millis(600),
        keep: HOUR,
        method: Method::Post,
        parameters: &[
            ("query", Given::Query),
            ("max_results", Given::Number(20)),
            ("search_depth", Given::Text("basic")),
        ],
        longest: (400, 300),
        languages: Languages::Iso,
        hits: "/results",
        always: "/results",
        silent: None,
        title_at: "/title",
        url_at: "/url",
        snippet_at: "/content",
        date_at: "/published_date",
        markup: false,
        refusals: &[(432, "", Refusal::Quota), (433, "", Refusal::Quota)],
    },
    // <https://serper.dev>. Google's results; the smallest plan allows 50 requests per second. Up to ten hits cost one
    // credit. A key without credit is refused like a wrong one, or with 400.
    SearchApi {
        name: "serper",
        title: "Serper",
        address: Some("https://google.serper.dev"),
        path: "search",
        key_header: "x-api-key",
        key_scheme: "",
        account: "https://serper.dev",
        min_interval: Duration::from_millis(250),
        keep: HOUR,
        method: Method::Post,
        parameters: &[("q", Given::Query), ("num", Given::Number(10)), ("hl", Given::Language)],
        longest: ANY_LENGTH,
        languages: Languages::Iso,
        // An answer without results may lack the list.
        hits: "/organic",
        always: "/searchParameters",
        silent: None,
        title_at: "/title",
        url_at: "/link",
        snippet_at: "/snippet",
        date_at: "/date",
        markup: false,
        refusals: &[(400, "not enough credits", Refusal::Quota)],
    },
    // <https://exa.ai/docs/reference/search>. Ten requests per second. Without contents, a hit has no excerpt, and
    // costs least: pages are fetched and read here.
    SearchApi {
        name: "exa",
        title: "Exa",
        address: Some("https://api.exa.ai"),
        path: "search",
        key_header: "x-api-key",
        key_scheme: "",
        account: "https://dashboard.exa.ai",
        min_interval: Duration::from_millis(200),
        keep: HOUR,
        method: Method::Post,
        parameters: &[
            ("query", Given::Query),
            ("type", Given::Text("auto")),
            ("numResults", Given::Number(10)),
        ],
        longest: ANY_LENGTH,
        languages: Languages::Iso,
        hits: "/results",
        always: "/results",
        silent: None,
        title_at: "/title",
        url_at: "/url",
        snippet_at: "/text",
        date_at: "/publishedDate",
        markup: false,
        refusals: &[],
    },
    // <https://kagi.com/api/docs>, version 1. Each search is paid for; personal rankings of the account apply.
    SearchApi {
        name: "kagi",
        title: "Kagi Search API",
        address: Some("https://kagi.com/api/v1"),
        path: "search",
        key_header: "authorization",
        key_scheme: "Bearer ",
        account: "https://kagi.com/api",
        min_interval: Duration::from_secs(1),
        keep: HOUR,
        method: Method::Post,
        parameters: &[
            ("query", Given::Query),
            ("workflow", Given::Text("search")),
            ("limit", Given::Number(20)),
        ],
        longest: ANY_LENGTH,
        languages: Languages::Iso,
        // One list per kind of result.
        hits: "/data/search",
        always: "/data",
        silent: None,
        title_at: "/title",
        url_at: "/url",
        snippet_at: "/snippet",
        date_at: "/time",
        markup: true,
        refusals: &[(400, "invalid_token", Refusal::Key)],
    },
];
