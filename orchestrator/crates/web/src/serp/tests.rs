use super::*;

fn engines() -> Engines {
    Engines::built_in().unwrap()
}

fn read(engine: &str, html: &str) -> SerpPage {
    let engines = engines();
    let engine = engines.get(engine).unwrap();
    engines.read(engine, html, &engine.address("any", None).unwrap())
}

/// A recorded result page; `None`, with a message, when the shared data is missing.
fn recorded(path: &str) -> Option<String> {
    text_of(&format!("serp/{path}"))
}

/// A file of the shared data, decompressed if needed; `None`, with a message, when it is missing.
fn text_of(path: &str) -> Option<String> {
    let file = crate::testing::shared("data").join(path);
    let Ok(bytes) = std::fs::read(&file) else {
        eprintln!("skipped: {} is not there", file.display());
        return None;
    };
    if !bytes.starts_with(b"\x1F\x8B") {
        return Some(String::from_utf8(bytes).unwrap());
    }
    let mut text = String::new();
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(&bytes[..]), &mut text).unwrap();
    Some(text)
}

/// Checks number of results, advertisements, and the addresses of the first and last.
#[track_caller]
fn lists(engine: &str, path: &str, count: usize, ad_count: usize, first: (&str, &str), last: &str) {
    let Some(html) = recorded(path) else { return };
    let SerpPage::Results { results, ads, unread } = read(engine, &html) else {
        panic!("{path}: {:?}", read(engine, &html));
    };
    assert_eq!((results.len(), ads, unread), (count, ad_count, 0), "{path}: {results:#?}");
    assert_eq!((results[0].title.as_str(), results[0].url.as_str()), first, "{path}");
    assert_eq!(results[count - 1].url, last, "{path}");
    for (i, result) in results.iter().enumerate() {
        assert_eq!(result.rank, i + 1);
        assert!(result.url.starts_with("http") && !result.url.contains("bing.com/ck"), "{path}: {result:?}");
    }
    let without = results.iter().filter(|result| result.snippet.len() < 20).count();
    assert!(without <= 2, "{path}: {without} results without a snippet: {results:#?}");
}

#[track_caller]
fn is(engine: &str, path: &str, expect: &SerpPage) {
    if let Some(html) = recorded(path) {
        assert_eq!(&read(engine, &html), expect, "{path}");
    }
}

const W3: (&str, &str) = ("JavaScript Tutorial - W3Schools", "https://www.w3schools.com/js/");

#[test]
fn recorded_lists() {
    lists(
        "duckduckgo",
        "serp_celina/tests/fixtures/ddg_html.html",
        9,
        0,
        ("Caffeine and Sleep Problems", "https://www.sleepfoundation.org/nutrition/caffeine-and-sleep"),
        "https://sleep.me/post/caffeine-and-sleep",
    );
    lists(
        "duckduckgo",
        "serp_meka_ddg/tests/fixtures/ddg_results.html",
        10,
        0,
        ("Rust Programming Language", "https://rust-lang.org/"),
        "https://developers.slashdot.org/story/26/04/12/2329229/has-the-rust-programming-languages-popularity-reached-its-plateau",
    );
    lists(
        "duckduckgo",
        "serp_meka_ddg/tests/fixtures/ddg_with_ad.html",
        10,
        1,
        (
            "The 7 Best Mechanical Keyboards of 2026 - RTINGS.com",
            "https://www.rtings.com/keyboard/reviews/best/mechanical",
        ),
        "https://ide.com/best-mechanical-keyboards-in-2026-7-picks-from-budget-to-endgame/",
    );
    lists(
        "bing",
        "serp_celina/tests/fixtures/bing.html",
        10,
        0,
        ("Caffeine and Sleep Problems", "https://www.sleepfoundation.org/nutrition/caffeine-and-sleep"),
        "https://sleep.me/post/caffeine-and-sleep",
    );
    lists(
        "bing",
        "serp_web_search_mcp/tests/fixtures/http-bing.html",
        10,
        0,
        ("JavaScript Tutorial - W3Schools", "https://www.w3schools.com/Js/"),
        "https://support.w3schools.com/hc/en-gb/articles/4410407881489-Tutorial-Learn-JavaScript",
    );
    lists(
        "mojeek",
        "serp_web_search_mcp/tests/fixtures/mojeek.html",
        10,
        0,
        ("The Modern JavaScript Tutorial", "https://javascript.info/"),
        "https://smartwebby.com/DHTML/",
    );
    lists(
        "brave",
        "serp_web_search_mcp/tests/fixtures/brave.html",
        20,
        0,
        ("JavaScript Tutorial", "https://www.w3schools.com/js/"),
        "https://www.simplilearn.com/tutorials/javascript-tutorial",
    );
    lists(
        "startpage",
        "serp_web_search_mcp/tests/fixtures/startpage.html",
        10,
        0,
        W3,
        "https://www.youtube.com/watch?v=lfmg-EJ8gm4",
    );
    lists(
        "startpage",
        "serp_web_search_mcp/tests/fixtures/http-startpage.html",
        10,
        0,
        W3,
        "https://www.geeksforgeeks.org/javascript/javascript-tutorial/",
    );
    lists(
        "yahoo",
        "serp_web_search_mcp/tests/fixtures/yahoo.html",
        7,
        0,
        ("JavaScript Tutorial - W3Schools", "https://www.w3schools.com/Js/"),
        "https://www.codecademy.com/learn/introduction-to-javascript",
    );
    lists(
        "ecosia",
        "serp_web_search_mcp/tests/fixtures/ecosia.html",
        10,
        0,
        W3,
        "https://www.tutorialspoint.com/javascript/index.htm",
    );
}

#[test]
fn googles_markup_of_2026() {
    lists(
        "google",
        "google_2026/why_are_bananas_yellow.html.gz",
        8,
        0,
        (
            "Why are bananas yellow? : r/answers",
            "https://www.reddit.com/r/answers/comments/1b6hkf3/why_are_bananas_yellow/",
        ),
        "https://pmc.ncbi.nlm.nih.gov/articles/PMC10118268/",
    );
    lists(
        "google",
        "google_2026/why_is_the_sky_blue.html.gz",
        6,
        0,
        ("Why Is the Sky Blue?", "https://spaceplace.nasa.gov/blue-sky/"),
        "https://www.britannica.com/story/why-is-the-sky-blue",
    );
}

#[test]
fn recorded_challenges_and_drift() {
    let captcha = SerpPage::Challenge { kind: ChallengeKind::Captcha };
    is("duckduckgo", "serp_celina/tests/fixtures/ddg_lite.html", &captcha);
    is("duckduckgo", "serp_meka_ddg/tests/fixtures/ddg_captcha.html", &captcha);
    is("searx", "serp_web_search_mcp/tests/fixtures/searx.html", &captcha);
    let turnstile = SerpPage::Challenge { kind: ChallengeKind::Turnstile };
    is("bing", "serp_web_search_mcp/tests/fixtures/bing.html", &turnstile);
    let why = "Unfortunately we are not yet available in your country".to_owned();
    is("qwant", "serp_web_search_mcp/tests/fixtures/qwant.html", &SerpPage::Refused { why: why.clone() });
    is("qwant", "serp_web_search_mcp/tests/fixtures/http-qwant.html", &SerpPage::Refused { why });
    if let Some(html) = recorded("serp_web_search_mcp/tests/fixtures/swisscows.html") {
        let found = read("swisscows", &html);
        assert!(matches!(&found, SerpPage::Drift { why } if why.contains("Swisscows")), "{found:?}");
    }
}

/// No recorded page of one engine is taken for an answer by another: the markup is another one, and that is drift
/// or a challenge, never "nothing found".
#[test]
fn pages_of_another_engine_are_never_an_empty_answer() {
    let Some(html) = recorded("serp_web_search_mcp/tests/fixtures/mojeek.html") else { return };
    for engine in engines().iter().filter(|engine| engine.name != "mojeek") {
        let found = read(&engine.name, &html);
        assert!(matches!(found, SerpPage::Drift { .. }), "{}: {found:?}", engine.name);
    }
}

fn result(title: &str, href: &str) -> String {
    format!(
        "<div class='result web-result'><h2><a class='result__a' href='{href}'>{title}</a></h2>\
         <a class='result__snippet' href='{href}'>About <b>{title}</b>\n and more.</a></div>"
    )
}

#[test]
fn a_list_with_an_advertisement_a_repeat_and_a_broken_entry() {
    let html = format!(
        "<html><body><div id=links>{}{}{}{}{}<div class='result'>no link</div></div></body></html>",
        result("One", "//duckduckgo.com/l/?uddg=https%3A%2F%2Fone.example%2Fa%3Futm_source%3Dx&amp;rut=1"),
        "<div class='result result--ad'><a class='result__a' href='https://shop.example/'>Buy</a></div>",
        result(
            "Buy",
            "//duckduckgo.com/l/?uddg=https%3A%2F%2Fduckduckgo.com%2Fy.js%3Fad_domain%3Dshop.example"
        ),
        result("One again", "https://www.one.example/a/"),
        result("Two", "https://two.example/"),
    );
    let SerpPage::Results { results, ads, unread } = read("duckduckgo", &html) else { panic!() };
    let found: Vec<_> = results.iter().map(|r| (r.rank, r.title.as_str(), r.url.as_str())).collect();
    assert_eq!(found, [(1, "One", "https://one.example/a"), (2, "Two", "https://two.example/")]);
    assert_eq!(results[0].snippet, "About One and more.");
    assert_eq!((ads, unread), (2, 1));
}

#[test]
fn empty_answers_challenges_and_drift_are_told_apart() {
    let none = "<div id=links><div class='result result--no-result'><div class='no-results'>No results.</div></div></div>";
    assert_eq!(read("duckduckgo", none), SerpPage::NoResults);
    let waiting = "<title>Just a moment...</title><body>Checking</body>";
    assert_eq!(read("mojeek", waiting), SerpPage::Challenge { kind: ChallengeKind::Cloudflare });
    let nothing =
        "<main><div data-test-id='web-no-results'>Unfortunately we didn't find any results</div></main>";
    assert_eq!(read("ecosia", nothing), SerpPage::NoResults);
    let login = "<body><main><form><input type=password name=p></form></main></body>";
    assert_eq!(read("mojeek", login), SerpPage::Challenge { kind: ChallengeKind::Login });
    let consent =
        "<body><form action='https://consent.google.com/save'><button>Accept all</button></form></body>";
    assert_eq!(read("google", consent), SerpPage::Challenge { kind: ChallengeKind::Consent });
    for html in ["", "<html><body><p>Welcome</p></body></html>", "not html at all"] {
        for engine in engines().iter() {
            let found = read(&engine.name, html);
            assert!(matches!(found, SerpPage::Drift { .. }), "{}: {found:?}", engine.name);
        }
    }
}

#[test]
fn an_article_beside_a_puzzle_or_a_login_is_an_article() {
    let engines = engines();
    let text = "Forty adults learned sixty pairs of words, and half of them slept for an hour. ".repeat(3);
    let form = "<form action=/comment><textarea></textarea><div class=g-recaptcha></div></form>";
    let login = "<main><form><input type=password name=p></form></main>";
    let beside = |html: &str, chars| engines.challenge_beside(html, chars);
    for wall in [form, login] {
        let article = format!("<body><article><p>{text}</p></article>{wall}</body>");
        assert_eq!(beside(&article, text.len()), None, "{wall}");
        let named = format!("<head><meta property='og:type' content='article'></head><p>{text}</p>{wall}");
        assert_eq!(beside(&named, text.len()), None, "{wall}");
        let other = format!("<body><p>{text}</p>{wall}</body>");
        assert!(beside(&other, text.len()).is_some(), "{wall}");
        assert_eq!(beside(&other, 5_000), None, "{wall}");
        let bare = format!("<body><article><p>Are you human?</p></article>{wall}</body>");
        assert!(beside(&bare, 14).is_some(), "{wall}");
    }
}

#[test]
fn recorded_articles_with_forms_are_no_challenges() {
    for page in ["nurmeinstandpunkt.wordpress.com.blogposting", "dietagespresse.com-halloween"] {
        let Some(html) = text_of(&format!("extraction/trafilatura/pages/{page}.html.gz")) else { return };
        let address = "https://a.example/".parse().unwrap();
        let chars = crate::extract::Extracted::from_html(&html, &address).text.chars().count();
        assert!(engines().challenge(&html).is_some(), "{page}: its form is what this test is about");
        assert_eq!(engines().challenge_beside(&html, chars), None, "{page}: {chars} characters");
    }
}

#[test]
fn addresses_carry_query_and_language() {
    let engines = engines();
    let address = |name: &str, query, language| {
        engines.get(name).unwrap().address(query, language).unwrap().to_string()
    };
    assert_eq!(address("mojeek", "nap & memory", None), "https://www.mojeek.com/search?q=nap+%26+memory");
    assert_eq!(
        address("bing", "昼寝", Some("ja")),
        "https://www.bing.com/search?q=%E6%98%BC%E5%AF%9D&setlang=ja"
    );
}

#[track_caller]
fn refused(yaml: &str, expect: &str) {
    let error = Engines::from_yaml(yaml).unwrap_err().to_string();
    assert!(error.contains(expect), "{error}");
}

#[test]
fn a_wrong_file_says_where() {
    let engine = "engines:\n  a:\n    url: 'https://a.example/?q={query}'\n    category: general\n    result: li\n    title: a\n    snippet: p\n    min_interval_ms: 1\n";
    assert!(Engines::from_yaml(engine).is_ok());
    refused(&engine.replace("result: li", "result: 'li['"), "engines.a.result");
    refused(&engine.replace("{query}", ""), "engines.a.url");
    refused(&engine.replace("https://", ""), "engines.a.url");
    refused(&engine.replace("snippet: p", "snipet: p"), "line 7");
    refused(&engine.replace("general", "often"), "line 4");
    refused(&format!("{engine}    no_results: [{{}}]\n"), "one of `selector`, `text` and `title`");
    refused(&format!("{engine}    redirects: [{{host: a, path: /}}]\n"), "engines.a.redirects");
}

#[test]
fn how_an_engine_is_reached_is_data() {
    let transport = |line: &str| {
        let yaml = format!(
            "engines:\n  a:\n    url: 'https://a.example/?q={{query}}'\n    category: general\n    result: .r\n    \
             title: .t\n    snippet: .s\n    min_interval_ms: 0\n{line}"
        );
        Engines::from_yaml(&yaml).map(|engines| engines.get("a").unwrap().transport)
    };
    assert_eq!(transport("").unwrap(), Transport::Http);
    assert_eq!(transport("    transport: browser\n").unwrap(), Transport::Browser);
    assert_eq!(transport("    transport: http_then_browser\n").unwrap(), Transport::HttpThenBrowser);
    let error = transport("    transport: telnet\n").unwrap_err().to_string();
    assert!(error.contains("telnet") || error.contains("transport"), "{error}");
}
