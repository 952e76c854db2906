//! A stand-in of Patentfield's `/patents/search`.

use super::{Seen, contract, documents, lane, run, serve, texts};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::{Json, Router, routing::post};
use lyra_corpus::backend::{FeatureScope, LaneKind, LaneQuery};
use lyra_corpus::{CorpusError, PatentfieldBackend, PatentfieldConfig};
use lyra_text::query::{Query, Texts, matches};
use secrecy::SecretString;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const KEY: &str = "secret-key-123";

/// The documents as the vendor's records.
fn records() -> Vec<Value> {
    documents()
        .into_iter()
        .map(|document| {
            json!({
                "app_doc_id": document["id"], "app_id": document["app_id"], "pub_id": document["pub_id"], "exam_id": document["exam_id"],
                "title": document["title"], "abstract": document["abstract"], "claims": document["claims"],
                "description": document["description"], "country": document["country"], "app_date": document["app_date"],
                "pub_date": document["pub_date"], "apm_applicants": document["applicants"], "cross_en_applicants": document["cross_en_applicants"],
                "ipcs": document["ipc"], "cpcs": document["cpc"], "fis": document["fi"], "fterms": document["fterm"],
            })
        })
        .collect()
}

const COLUMNS: [&str; 17] = [
    "app_doc_id",
    "app_id",
    "pub_id",
    "exam_id",
    "title",
    "abstract",
    "claims",
    "description",
    "app_date",
    "pub_date",
    "country",
    "apm_applicants",
    "cross_en_applicants",
    "ipcs",
    "cpcs",
    "fis",
    "fterms",
];

/// Faults of a request body, by the vendor's documented shape.
fn check(body: &Value, seen: &Seen) {
    let known = [
        "search_type",
        "score_type",
        "q",
        "weights",
        "feature",
        "conditions",
        "columns",
        "numbers",
        "limit",
        "offset",
        "sort_keys",
    ];
    for key in body.as_object().unwrap().keys().filter(|key| !known.contains(&key.as_str())) {
        seen.fault(format!("unknown parameter {key}"));
    }
    let columns = body["columns"].as_array().map(Vec::as_slice).unwrap_or_default();
    if columns.is_empty()
        || columns.iter().any(|column| !COLUMNS.contains(&column.as_str().unwrap_or_default()))
    {
        seen.fault(format!("columns {columns:?}"));
    }
    if !body["limit"].as_u64().is_some_and(|limit| (1..=2).contains(&limit)) {
        seen.fault(format!("limit {}", body["limit"]));
    }
    if let Some(numbers) = body["numbers"].as_array() {
        let fine = |number: &Value| {
            number["n"].is_string()
                && matches!(number["t"].as_str(), Some("app_doc_id" | "app_id" | "pub_id" | "exam_id"))
        };
        if !numbers.iter().all(fine) || body.get("q").is_some() {
            seen.fault(format!("numbers {numbers:?}"));
        }
        return;
    }
    match (body["search_type"].as_str(), body["score_type"].as_str()) {
        (Some("fulltext"), Some("tfidf")) => {
            let weights = &body["weights"][0];
            let names = ["title", "abstract", "app_claim", "description"];
            let fine = weights.as_object().is_some_and(|weights| {
                weights.iter().all(|(name, weight)| names.contains(&name.as_str()) && weight.is_u64())
            });
            if !fine {
                seen.fault(format!("weights {weights}"));
            }
        }
        (Some("semantic"), Some("similarity_score")) => {
            let features = [
                "word_weights",
                "claims_weights",
                "all_claims_weights",
                "top_claim_weights",
                "tbpes_weights",
            ];
            if !features.contains(&body["feature"].as_str().unwrap_or_default()) {
                seen.fault(format!("feature {}", body["feature"]));
            }
        }
        other => seen.fault(format!("search and score type {other:?}")),
    }
    for condition in body["conditions"].as_array().into_iter().flatten() {
        let lop = matches!(condition["lop"].as_str(), Some("and" | "or" | "not"));
        let operands = match condition["op"].as_str() {
            Some("in") => condition["q"].is_array(),
            Some("range") => condition["q1"].is_string() && condition["q2"].is_string(),
            _ => false,
        };
        if !lop || !operands || !condition["key"].is_string() {
            seen.fault(format!("condition {condition}"));
        }
    }
}

fn holds(record: &Value, condition: &Value) -> bool {
    let key = condition["key"].as_str().unwrap_or_default();
    let plain = |code: &str| code.replace(' ', "");
    let values: Vec<String> = match key {
        "ipc" | "cpc" | "fi" => texts(&record[format!("{key}s")]).lines().map(plain).collect(),
        "ft" => texts(&record["fterms"]).lines().map(plain).collect(),
        "assignee" => {
            format!("{}\n{}", texts(&record["apm_applicants"]), texts(&record["cross_en_applicants"]))
                .lines()
                .map(str::to_owned)
                .collect()
        }
        "pubyear" => vec![texts(&record["pub_date"])],
        other => vec![texts(&record[other])],
    };
    let below = |value: &str, code: &str| {
        value == code
            || value.strip_prefix(code).is_some_and(|rest| {
                code.len() <= 4 || !rest.starts_with(|c: char| c.is_ascii_digit()) || code.starts_with('5')
            })
    };
    let inside = match condition["op"].as_str() {
        Some("range") => values.iter().any(|value| {
            (condition["q1"].as_str().unwrap()..=condition["q2"].as_str().unwrap()).contains(&value.as_str())
        }),
        _ => condition["q"]
            .as_array()
            .unwrap()
            .iter()
            .any(|code| values.iter().any(|value| below(value, code.as_str().unwrap()))),
    };
    inside != (condition["lop"] == "not")
}

async fn search(
    State(seen): State<Arc<Seen>>,
    headers: HeaderMap,
    Json(body): Json<Value>,
) -> (StatusCode, Json<Value>) {
    if headers.get("authorization").and_then(|value| value.to_str().ok()) != Some("Token secret-key-123") {
        return (StatusCode::UNAUTHORIZED, Json(json!({"message": "invalid token"})));
    }
    check(&body, &seen);
    seen.bodies.lock().unwrap().push(body.clone());
    let mut found: Vec<Value> = records();
    if let Some(numbers) = body["numbers"].as_array() {
        found.retain(|record| {
            numbers.iter().any(|number| record[number["t"].as_str().unwrap()] == number["n"])
        });
    } else if body["search_type"] == "fulltext" {
        let Ok(query) = Query::parse(body["q"].as_str().unwrap_or_default()) else {
            return (StatusCode::NOT_FOUND, Json(json!({"message": "syntax error"})));
        };
        found.retain(|record| {
            let [title, abst, claim, desc] =
                ["title", "abstract", "claims", "description"].map(|column| texts(&record[column]));
            matches(&query, &Texts { title: &title, abst: &abst, claim: &claim, desc: &desc })
        });
    }
    found.retain(|record| {
        body["conditions"].as_array().into_iter().flatten().all(|condition| holds(record, condition))
    });
    let count = found.len();
    let offset = body["offset"].as_u64().unwrap_or(0) as usize;
    let page: Vec<Value> = found
        .into_iter()
        .enumerate()
        .skip(offset)
        .take(body["limit"].as_u64().unwrap_or(0) as usize)
        .map(|(nth, mut record)| {
            record["_score"] = json!(10.0 - nth as f64);
            record
        })
        .collect();
    (StatusCode::OK, Json(json!({"n_hits": count, "records": page})))
}

fn config(url: &str, key: &str) -> PatentfieldConfig {
    PatentfieldConfig {
        url: Some(url.to_owned()),
        api_key: SecretString::from(key),
        corpus: "patentfield".to_owned(),
        page: 2,
        timeout: Duration::from_secs(5),
    }
}

async fn stand_in() -> (Arc<Seen>, String) {
    let seen = Arc::new(Seen::default());
    let app = Router::new().route("/api/v1/patents/search", post(search)).with_state(seen.clone());
    let address = serve(app).await;
    (seen, format!("http://{address}/api/v1"))
}

#[tokio::test]
async fn patentfield_keeps_the_contract() {
    let (seen, url) = stand_in().await;
    let backend = PatentfieldBackend::new(config(&url, KEY)).unwrap();
    contract(&backend, "patentfield").await;
    seen.nothing_wrong();
}

#[tokio::test]
async fn lanes_are_sent_in_the_vendors_form() {
    let (seen, url) = stand_in().await;
    let backend = PatentfieldBackend::new(config(&url, KEY)).unwrap();
    let filters = json!([
        {"field": "fi", "include_codes": ["h01l 31/04"], "exclude_codes": ["H01L31/04@A"]},
        {"field": "pubyear", "include_range": {"from": 2020, "to": 2021}},
        {"field": "app_date", "include_range": {"from": "2019-01-01"}},
    ]);
    run(&backend, &lane("patentfield", "abst:膜 (a OR \"b c\") NOT *NP5\"太陽 (電池 パネル)\"", &filters, 3))
        .await
        .unwrap();
    let kind = LaneKind::Semantic { text: "軽い電池".to_owned(), scope: FeatureScope::BackgroundJp };
    run(&backend, &LaneQuery { kind, ..lane("patentfield", "x", &json!([]), 2) }).await.unwrap();
    let bodies = seen.bodies.lock().unwrap().clone();
    let ids = json!(["app_doc_id", "app_id", "pub_id", "exam_id", "ipcs", "cpcs", "fis", "fterms"]);
    assert_eq!(
        bodies[0],
        json!({
            "search_type": "fulltext", "score_type": "tfidf",
            "q": "(abstract:膜 AND (a OR \"b c\") NOT *N5\"太陽 (電池 パネル)\")",
            "weights": [{"title": 4, "abstract": 3, "app_claim": 2, "description": 1}],
            "columns": ids, "sort_keys": ["-_score"], "limit": 2, "offset": 0,
            "conditions": [
                {"key": "fi", "lop": "and", "op": "in", "q": ["H01L31/04"]},
                {"key": "fi", "lop": "not", "op": "in", "q": ["H01L31/04@A"]},
                {"key": "pubyear", "lop": "and", "op": "range", "q1": "2020-01-01", "q2": "2021-12-31"},
                {"key": "app_date", "lop": "and", "op": "range", "q1": "2019-01-01", "q2": "9999-12-31"},
            ],
        })
    );
    let semantic = bodies.last().unwrap();
    assert_eq!(
        *semantic,
        json!({
            "search_type": "semantic", "score_type": "similarity_score", "q": "軽い電池", "feature": "tbpes_weights",
            "columns": ids, "sort_keys": ["-_score"], "limit": 2, "offset": 0,
        })
    );
    seen.nothing_wrong();
    let refused =
        run(&backend, &lane("patentfield", "cpc:H01L", &json!([]), 3)).await.unwrap_err().to_string();
    assert_eq!(refused, "patentfield takes no `cpc:` in a query; use a filter on that field");
}

#[tokio::test]
async fn failures_are_told_apart_and_keep_the_key() {
    let (_, url) = stand_in().await;
    let wrong = PatentfieldBackend::new(config(&url, "another-key")).unwrap();
    let error = run(&wrong, &lane("patentfield", "x", &json!([]), 1)).await.unwrap_err();
    assert!(matches!(error, CorpusError::Backend { passing: false, .. }), "{error:?}");
    assert_eq!(
        error.to_string(),
        "patentfield: the server refuses the request (401): invalid token; check the key in the configuration"
    );

    // Busy twice, then an answer; and one that never stops being busy.
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = calls.clone();
    let app = Router::new().route(
        "/patents/search",
        post(move || async move {
            if counted.fetch_add(1, Ordering::SeqCst) < 2 {
                return (
                    StatusCode::SERVICE_UNAVAILABLE,
                    [("retry-after", "0")],
                    Json(json!({"message": format!("down, {KEY}")})),
                );
            }
            (StatusCode::OK, [("retry-after", "0")], Json(json!({"n_hits": 0, "records": []})))
        }),
    );
    let address = serve(app).await;
    let backend = PatentfieldBackend::new(config(&format!("http://{address}"), KEY)).unwrap();
    run(&backend, &lane("patentfield", "x", &json!([]), 1)).await.unwrap();
    assert_eq!(calls.load(Ordering::SeqCst), 3);
    let app = Router::new().route(
        "/patents/search",
        post(|| async {
            (StatusCode::TOO_MANY_REQUESTS, [("retry-after", "0")], format!("slow down, {KEY}"))
        }),
    );
    let address = serve(app).await;
    let backend = PatentfieldBackend::new(config(&format!("http://{address}"), KEY)).unwrap();
    let error = run(&backend, &lane("patentfield", "x", &json!([]), 1)).await.unwrap_err();
    assert!(matches!(error, CorpusError::Backend { passing: true, .. }), "{error:?}");
    assert_eq!(error.to_string(), "patentfield: the server cannot answer now (429): slow down, …");
    assert!(!format!("{:?}", config(&url, KEY)).contains(KEY));

    for (url, expect) in [
        ("ftp://x", "is not an HTTP URL"),
        ("nonsense", "is not a valid URL"),
        ("https://u:p@host", "holds a password"),
    ] {
        let error = PatentfieldBackend::new(config(url, KEY)).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(expect) && !error.contains("u:p"), "{error}");
    }
}

#[tokio::test]
async fn what_the_vendor_has_not_got_is_refused() {
    let (seen, url) = stand_in().await;
    let backend = PatentfieldBackend::new(config(&url, KEY)).unwrap();
    for (query, place, said) in [
        ("lamp measur*", 6, "found `measur*`, expected a word without `=`, `*`, and `?`"),
        ("=LED", 1, "found `=LED`, expected a word without `=`"),
        ("a OR *N5\"b* cc*\"", 11, "expected at least 2 letters"),
        ("a OR *N5\"b cc*\"", 6, "found `cc*`"),
        ("\"heat sink\" NEAR/5 lamp", 1, "found a phrase, expected words in its place"),
    ] {
        let error = run(&backend, &lane("patentfield", query, &json!([]), 3)).await.unwrap_err().to_string();
        assert!(
            error.contains(&format!("at character {place}: ")) && error.contains(said),
            "{query}: {error}"
        );
    }
    run(&backend, &lane("patentfield", "heat NEAR/5 (sink OR fin) -fan", &json!([]), 3)).await.unwrap();
    assert_eq!(seen.bodies.lock().unwrap()[0]["q"], "(*N5\"heat (sink fin)\" NOT fan)");
}
