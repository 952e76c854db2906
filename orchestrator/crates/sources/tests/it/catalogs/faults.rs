//! Every source while its answers are wrong.

use super::answers::{NAMES, record, right, with_records};
use super::{found, open};
use crate::support::{Seen, StandIn, json, reply};
use axum::response::Response as Reply;
use lyra_research::PortError;
use serde_json::json;

/// A source whose stand-in answers with `answer`.
async fn asked(
    name: &'static str,
    answer: impl Fn(&Seen, usize) -> Reply + Send + Sync + 'static,
) -> (lyra_research::Result<usize>, usize) {
    let server = StandIn::start(answer).await;
    let source = open(name, &server);
    let hits = found(source.as_ref()).await;
    (hits.map(|hits| hits.len()), server.seen().len())
}

#[tokio::test]
async fn the_right_answer_has_two_records() {
    for name in NAMES {
        let (hits, _) = asked(name, move |seen, _| json(200, &right(name, seen).to_string())).await;
        assert_eq!(hits.unwrap(), 2, "{name}");
    }
}

#[tokio::test]
async fn a_server_error_is_tried_again_and_then_said() {
    for name in NAMES {
        let (hits, requests) = asked(name, |_, _| json(500, r#"{"message":"no database"}"#)).await;
        let error = hits.unwrap_err();
        // Of several questions at once, the last may meet the breaker that the others opened.
        let passing = matches!(error, PortError::Unavailable { .. } | PortError::Paused { .. });
        assert!(
            passing && error.to_string().contains("500") && requests >= 3,
            "{name}: {error}, {requests} requests"
        );
        let (hits, _) = asked(name, move |seen, before| match before {
            0 => json(500, "{}"),
            _ => json(200, &right(name, seen).to_string()),
        })
        .await;
        assert_eq!(hits.unwrap(), 2, "{name}");
    }
}

#[tokio::test]
async fn a_named_pause_is_kept() {
    for name in NAMES {
        let server = StandIn::start(|_, _| {
            let headers = [("content-type", "application/json"), ("retry-after", "3600")];
            reply(429, &headers, r#"{"message":"Too many requests"}"#)
        })
        .await;
        let source = open(name, &server);
        let error = found(source.as_ref()).await.unwrap_err();
        let PortError::Paused { retry_after, .. } = &error else { panic!("{name}: {error}") };
        assert!((3_590..=3_600).contains(&retry_after.as_secs()), "{name}: {error}");
        let asked = server.seen().len();
        found(source.as_ref()).await.unwrap_err();
        assert_eq!(server.seen().len(), asked, "{name} is not asked again");
        assert!(source.pause().await.is_some(), "{name}");
    }
}

#[tokio::test]
async fn what_is_not_its_json_is_said() {
    type Answer = fn() -> Reply;
    let page: Answer = || reply(200, &[("content-type", "text/html")], "<!doctype html><h1>Maintenance</h1>");
    let cut: Answer = || json(200, r#"{"studies":[{"protocolSection":{"identif"#);
    let nothing: Answer = || json(200, "");
    for name in NAMES {
        for (answer, why) in [(page, "text/html"), (cut, "its JSON"), (nothing, "its JSON")] {
            let (hits, _) = asked(name, move |_, _| answer()).await;
            let error = hits.unwrap_err();
            assert!(matches!(error, PortError::Failed { .. }), "{name}: {error}");
            assert!(error.to_string().contains(why), "{name}: {error}");
        }
    }
}

#[tokio::test]
async fn nothing_found_is_no_error() {
    for name in NAMES {
        let (hits, _) = asked(name, |_, _| json(404, r#"{"error":true,"message":"not found"}"#)).await;
        assert_eq!(hits.unwrap(), 0, "{name}");
        let (hits, _) = asked(name, |_, _| json(200, "{}")).await;
        assert_eq!(hits.unwrap(), 0, "{name}");
        if name != "unpaywall" {
            let (hits, requests) =
                asked(name, move |_, _| json(200, &with_records(name, &[]).to_string())).await;
            assert_eq!((hits.unwrap(), requests), (0, 1), "{name}");
        }
    }
}

#[tokio::test]
async fn an_odd_record_costs_itself_alone() {
    for name in NAMES.into_iter().filter(|name| *name != "unpaywall") {
        let records = vec![record(name, 1), json!(null), json!({}), json!([7]), record(name, 2)];
        let (hits, _) = asked(name, move |_, _| json(200, &with_records(name, &records).to_string())).await;
        assert_eq!(hits.unwrap(), 2, "{name}");
        let odd = vec![json!("x"), json!(7)];
        let (hits, _) = asked(name, move |_, _| json(200, &with_records(name, &odd).to_string())).await;
        let error = hits.unwrap_err();
        assert!(error.to_string().contains("none of its 2 records"), "{name}: {error}");
    }
    let (hits, _) = asked("unpaywall", |seen, _| {
        let page = seen.path.ends_with("/1");
        if page { json(200, r#"{"doi": 7}"#) } else { json(200, &right("unpaywall", seen).to_string()) }
    })
    .await;
    assert_eq!(hits.unwrap(), 1);
}

#[tokio::test]
async fn every_source_is_probed_with_one_question() {
    for name in NAMES {
        let server = StandIn::start(move |seen, _| match name {
            "wikipedia" => json(200, r#"{"query":{"searchinfo":{"totalhits":2},"search":[]}}"#),
            "unpaywall" => {
                let results = [1, 2].map(|_| json!({"response": {"doi": "10.1000/1"}, "score": 0.1}));
                json(200, &json!({"results": results}).to_string())
            }
            _ => json(200, &right(name, seen).to_string()),
        })
        .await;
        assert_eq!(open(name, &server).probe().await.unwrap().matches, 2, "{name}");
        assert_eq!(server.seen().len(), 1, "{name}");
        let broken = StandIn::start(|_, _| json(503, "{}")).await;
        assert!(open(name, &broken).probe().await.is_err(), "{name}");
        assert_eq!(broken.seen().len(), 1, "{name}: a probe is not repeated");
    }
}
