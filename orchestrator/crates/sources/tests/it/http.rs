//! The HTTP layer: guards, limits, retries, cache.

use crate::support::{MemoryRates, Names, Now, StandIn, client, config, json, reply};
use flate2::Compression;
use flate2::write::GzEncoder;
use lyra_sources::Error;
use lyra_sources::http::{Cache, HttpClient, Origin, Policy, Request};
use secrecy::SecretString;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

fn gzip(data: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn an_answer_is_unpacked_and_the_question_is_polite() {
    let server = StandIn::start(|_, _| {
        reply(
            200,
            &[("content-type", "text/html; charset=utf-8"), ("content-encoding", "gzip")],
            gzip(b"<p>naps"),
        )
    })
    .await;
    let answer = client(None).send(&server.policy(), Request::get(server.at("/a?q=1"))).await.unwrap();
    assert_eq!((answer.status.as_u16(), &answer.body[..], answer.from_cache), (200, &b"<p>naps"[..], false));
    assert_eq!(answer.content_type(), "text/html");
    let seen = &server.seen()[0];
    assert_eq!(seen.headers["user-agent"], "Lyra/0.1 (tests; mailto:test@example.org)");
    assert_eq!(seen.headers["accept-encoding"], "gzip, br, zstd");
}

#[tokio::test]
async fn a_gzip_bomb_and_an_endless_body_are_refused() {
    let server = StandIn::start(|seen, _| {
        if seen.path == "/bomb" {
            return reply(200, &[("content-encoding", "gzip")], gzip(&vec![0; 20 << 20]));
        }
        let endless = futures::stream::repeat_with(|| Ok::<_, std::io::Error>(vec![b'x'; 4_096]));
        reply(200, &[], axum::body::Body::from_stream(endless))
    })
    .await;
    for path in ["/bomb", "/endless"] {
        let error = client(None).send(&server.policy(), Request::get(server.at(path))).await.unwrap_err();
        assert!(matches!(error, Error::TooLarge { limit: 0x80_0000, .. }), "{path}: {error}");
    }
    assert_eq!(server.seen().len(), 2, "asking again would bring the same");
}

#[tokio::test]
async fn redirects_to_the_inside_are_refused_before_anything_is_sent() {
    let inside = StandIn::start(|_, _| reply(200, &[], "secret")).await;
    let port = inside.url.port().unwrap();
    let server = StandIn::start(move |seen, _| {
        let to = match seen.path.as_str() {
            "/loopback" => format!("http://127.0.0.1:{port}/"),
            "/loopback80" => "http://127.0.0.1/".to_owned(),
            "/metadata" => "http://169.254.169.254/latest/meta-data/".to_owned(),
            "/mapped" => "http://[::ffff:127.0.0.1]/".to_owned(),
            "/decimal" => "http://2130706433/".to_owned(),
            "/file" => "file:///etc/passwd".to_owned(),
            _ => "/done".to_owned(),
        };
        if seen.path == "/done" { reply(200, &[], "done") } else { reply(302, &[("location", &to)], "") }
    })
    .await;
    for path in ["/loopback", "/loopback80", "/metadata", "/mapped", "/decimal", "/file"] {
        let error = client(None).send(&server.policy(), Request::get(server.at(path))).await.unwrap_err();
        assert!(matches!(error, Error::Forbidden { .. }), "{path}: {error}");
    }
    assert!(inside.seen().is_empty());
    let answer = client(None).send(&server.policy(), Request::get(server.at("/ok"))).await.unwrap();
    assert_eq!((answer.url.path(), answer.redirects.len()), ("/done", 1));
}

#[tokio::test]
async fn a_name_that_leads_inside_is_refused_when_the_connection_is_made() {
    let inside = StandIn::start(|_, _| reply(200, &[], "secret")).await;
    let port = inside.url.port().unwrap();
    let policy =
        Policy { ports: vec![port], max_attempts: 1, timeout: Duration::from_secs(2), ..Policy::new("web") };
    // The second client's name is public when first asked, and private from then on: a rebinding attack.
    for names in [
        Names::of(&["127.0.0.1"]),
        Names::of(&["192.0.2.1", "127.0.0.1"]),
        Names::of(&["::ffff:169.254.169.254"]),
    ] {
        let rates = Arc::new(MemoryRates::default());
        let client = HttpClient::with_resolver(config(None), rates, Arc::new(Now), Arc::new(names)).unwrap();
        for _ in 0..2 {
            let url = format!("http://rebind.test:{port}/").parse().unwrap();
            let error = client.send(&policy, Request::get(url)).await.unwrap_err();
            assert!(matches!(error, Error::Forbidden { .. }), "{error}");
        }
    }
    assert!(inside.seen().is_empty());
}

#[tokio::test]
async fn passing_failures_are_tried_again() {
    let server = StandIn::start(|seen, before| match (seen.path.as_str(), before) {
        ("/half", n) if n % 2 == 0 => json(500, r#"{"message":"internal"}"#),
        ("/busy", n) if n < 2 => reply(503, &[("retry-after", "0")], ""),
        ("/down", _) => json(502, r#"{"error":"bad gateway"}"#),
        ("/gone", _) => reply(404, &[("content-type", "text/html")], "<h1>Not Found</h1>"),
        _ => json(200, "{}"),
    })
    .await;
    let client = client(None);
    let policy = server.policy();
    let send = |path: &str| client.send(&policy, Request::get(server.at(path)));
    assert_eq!(send("/half").await.unwrap().status, 200);
    assert_eq!(server.seen().len(), 2);
    assert_eq!(send("/half").await.unwrap().status, 200);
    let error = send("/down").await.unwrap_err();
    assert_eq!(error.to_string(), "stand-in answered 502 Bad Gateway: bad gateway");
    assert!(error.is_transient());
    let asked = server.seen().len();
    assert_eq!(send("/gone").await.unwrap().status, 404);
    assert_eq!(server.seen().len(), asked + 1, "404 is an answer");
}

#[tokio::test]
async fn two_refusals_in_a_row_start_a_cool_down() {
    let quoted = r#"{"message": "Too Many Requests. Please wait", "code": "429"}"#;
    let server = StandIn::start(move |_, _| json(429, quoted)).await;
    let client = client(None);
    let policy = Policy { max_attempts: 5, ..server.policy() };
    let error = client.send(&policy, Request::get(server.at("/"))).await.unwrap_err();
    assert!(error.to_string().contains("Too Many Requests. Please wait"), "{error}");
    assert_eq!(error.retry_after_seconds(), Some(60));
    assert!(
        matches!(&error, Error::CoolingDown { why, .. } if why.contains("429 Too Many Requests")),
        "{error}"
    );
    assert_eq!(server.seen().len(), 2);
    // While it lasts nothing is sent.
    assert!(matches!(
        client.send(&policy, Request::get(server.at("/"))).await,
        Err(Error::CoolingDown { .. })
    ));
    assert_eq!(server.seen().len(), 2);
    assert!(client.pause("stand-in").await.is_some() && client.pause("other").await.is_none());
}

#[tokio::test]
async fn a_body_cut_short_and_a_wrong_type_are_no_answers() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url: url::Url = format!("http://{}/", listener.local_addr().unwrap()).parse().unwrap();
    let cutter = tokio::spawn(async move {
        loop {
            let (mut socket, _) = listener.accept().await.unwrap();
            let mut question = [0; 1_024];
            assert!(socket.read(&mut question).await.unwrap() > 0);
            let cut =
                b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{\"a\"";
            socket.write_all(cut).await.unwrap();
        }
    });
    let html = StandIn::start(|_, _| reply(200, &[("content-type", "text/html")], "<p>")).await;
    let trusted = lyra_sources::http::Origin::of(&url).into_iter().collect();
    let client = client(None);
    let error = client.send(&Policy { trusted, ..html.policy() }, Request::get(url)).await.unwrap_err();
    assert!(error.is_transient() && error.to_string().contains("cut short"), "{error}");
    cutter.abort();
    let policy = Policy { content_types: vec!["application/json".to_owned()], ..html.policy() };
    let error = client.send(&policy, Request::get(html.at("/"))).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "stand-in sent an unexpected response: `text/html` instead of application/json"
    );
}

#[tokio::test]
async fn silence_ends_with_the_time_limit_and_nobody_home_at_once() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url: url::Url = format!("http://{}/", listener.local_addr().unwrap()).parse().unwrap();
    let policy = Policy {
        trusted: lyra_sources::http::Origin::of(&url).into_iter().collect(),
        timeout: Duration::from_millis(100),
        backoff: Duration::from_millis(1),
        min_interval: Duration::ZERO,
        max_attempts: 2,
        ..Policy::new("silent")
    };
    let client = client(None);
    let error = client.send(&policy, Request::get(url.clone())).await.unwrap_err();
    assert!(matches!(error, Error::Timeout { .. }), "{error}");
    drop(listener);
    let error = client
        .send(&Policy { timeout: Duration::from_secs(20), ..policy }, Request::get(url))
        .await
        .unwrap_err();
    assert!(matches!(error, Error::Unreachable { .. }), "{error}");
}

#[tokio::test]
async fn a_silent_server_is_waited_for_once() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url: url::Url = format!("http://{}/", listener.local_addr().unwrap()).parse().unwrap();
    let asked = tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok(Ok((stream, _))) = tokio::time::timeout(Duration::from_secs(3), listener.accept()).await
        {
            held.push(stream);
        }
        held.len()
    });
    let policy = Policy {
        max_attempts: 3,
        min_interval: Duration::ZERO,
        backoff: Duration::from_millis(1),
        timeout: Duration::from_millis(300),
        trusted: Origin::of(&url).into_iter().collect(),
        ..Policy::new("silent")
    };
    let error = client(None).send(&policy, Request::get(url)).await.unwrap_err();
    assert!(matches!(error, Error::Timeout { .. }), "{error}");
    assert_eq!(asked.await.unwrap(), 1);
}

#[tokio::test]
async fn kept_answers_are_confirmed_by_their_validators() {
    let server = StandIn::start(|seen, _| match seen.headers.get("if-none-match") {
        Some(tag) if tag == "\"v1\"" => reply(304, &[("cache-control", "max-age=600")], ""),
        _ => reply(
            200,
            &[("etag", "\"v1\""), ("cache-control", "no-cache"), ("set-cookie", "id=secret")],
            "one",
        ),
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    let policy = Policy { cache: Cache::Header { default: Duration::ZERO }, ..server.policy() };
    let first = client(Some(folder.path()));
    let ask = |client: HttpClient, policy: Policy| {
        let request = Request::get(server.at("/a?q=naps"));
        async move { client.send(&policy, request).await.unwrap() }
    };
    assert!(!ask(first.clone(), policy.clone()).await.from_cache);
    // Revalidated by a 304 that makes it fresh for ten minutes; then even a new process sends no request.
    assert!(ask(first, policy.clone()).await.from_cache);
    let answer = ask(client(Some(folder.path())), policy.clone()).await;
    assert_eq!((&answer.body[..], answer.from_cache, answer.status.as_u16()), (&b"one"[..], true, 200));
    assert_eq!(server.seen().len(), 2);
    // Without a cache folder, or where none can be created, every request goes out and nothing breaks.
    let blocked = folder.path().join("file");
    std::fs::write(&blocked, "").unwrap();
    for _ in 0..2 {
        assert!(!ask(client(Some(&blocked)), policy.clone()).await.from_cache);
    }
    let kept = std::fs::read_dir(folder.path()).unwrap().flatten().filter(|e| e.path().is_dir());
    for file in kept.flat_map(|part| std::fs::read_dir(part.path()).unwrap().flatten()) {
        let text = String::from_utf8_lossy(&std::fs::read(file.path()).unwrap()).into_owned();
        assert!(!text.contains("id=secret"), "{text}");
    }
}

#[tokio::test]
async fn secrets_go_to_their_own_origin_and_nowhere_else() {
    let other = StandIn::start(|_, _| reply(200, &[], "elsewhere")).await;
    let elsewhere = other.at("/landing").to_string();
    let server = StandIn::start(move |seen, _| match seen.path.as_str() {
        "/away" => reply(302, &[("location", &elsewhere)], ""),
        "/echo" => reply(302, &[("location", &format!("/end?{}", seen.query))], ""),
        "/fail" => json(500, r#"{"message":"bad key KEY-123"}"#),
        _ => reply(200, &[], "end"),
    })
    .await;
    let mut policy = server.policy();
    policy.trusted.extend(lyra_sources::http::Origin::of(&other.url));
    let folder = tempfile::tempdir().unwrap();
    policy.cache = Cache::Fixed { ttl: Duration::from_mins(1) };
    let client = client(Some(folder.path()));
    let ask = |path: &str| {
        let request = Request::get(server.at(path))
            .secret_header(http::HeaderName::from_static("x-api-key"), SecretString::from("KEY-123"))
            .secret_query("api_key", SecretString::from("KEY-456"));
        assert!(!format!("{request:?}").contains("KEY-"));
        client.send(&policy, request)
    };
    ask("/away").await.unwrap();
    assert!(other.seen()[0].headers.get("x-api-key").is_none() && other.seen()[0].query.is_empty());
    let answer = ask("/echo?a=1").await.unwrap();
    assert_eq!(answer.url.query(), Some("a=1"));
    let last = server.seen().pop().unwrap();
    assert_eq!(
        (last.headers["x-api-key"].to_str().unwrap(), last.query.as_str()),
        ("KEY-123", "a=1&api_key=KEY-456")
    );
    let error = ask("/fail").await.unwrap_err();
    assert!(!error.to_string().contains("KEY-"), "{error}");
    let on_disk =
        std::process::Command::new("grep").args(["-r", "KEY-"]).arg(folder.path()).output().unwrap();
    assert!(on_disk.stdout.is_empty());
}

#[tokio::test]
async fn robots_are_asked_once_and_obeyed() {
    let server = StandIn::start(|seen, _| match seen.path.as_str() {
        "/robots.txt" => reply(200, &[], "User-agent: lyra\nDisallow: /private\n"),
        "/hop" => reply(302, &[("location", "/private/x")], ""),
        _ => reply(200, &[], "page"),
    })
    .await;
    let client = client(None);
    let policy = Policy { robots: true, ..server.policy() };
    for (path, allowed) in [("/open", true), ("/private/x", false), ("/hop", false), ("/open", true)] {
        let answer = client.send(&policy, Request::get(server.at(path))).await;
        assert_eq!(answer.is_ok(), allowed, "{path}");
        assert!(allowed || matches!(answer, Err(Error::Robots { .. })));
    }
    let asked = |path: &str| server.seen().iter().filter(|seen| seen.path == path).count();
    assert_eq!((asked("/robots.txt"), asked("/private/x"), asked("/open")), (1, 0, 2));
}

#[tokio::test]
async fn a_post_carries_its_body_and_keeps_its_own_place_in_the_cache() {
    let server = StandIn::start(|seen, _| reply(200, &[], seen.body.clone())).await;
    let folder = tempfile::tempdir().unwrap();
    let policy = Policy { cache: Cache::Fixed { ttl: Duration::from_mins(1) }, ..server.policy() };
    let client = client(Some(folder.path()));
    for (body, cached) in [("[1]", false), ("[2]", false), ("[1]", true)] {
        let request = Request::post(server.at("/batch"), "application/json", body);
        let answer = client.send(&policy, request).await.unwrap();
        assert_eq!((&answer.body[..], answer.from_cache), (body.as_bytes(), cached));
    }
    assert_eq!(server.seen()[0].method, "POST");
    assert_eq!(server.seen()[0].headers["content-type"], "application/json");
}
