//! A stand-in of a cluster of `OpenSearch`: it reads the query DSL strictly, and runs it over a few documents.

use super::{Seen, contract, documents, lane, run, serve, texts};
use crate::support::{Hashing, vector};
use axum::extract::{Path, Query as Parameters, State};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{get, post};
use axum::{Json, Router};
use lyra_corpus::backend::{FeatureScope, LaneKind, LaneQuery, SearchBackend};
use lyra_corpus::{Cluster, CorpusError, OpenSearchBackend, OpenSearchConfig};
use lyra_text::fulltext::terms;
use secrecy::SecretString;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

/// The documents as sources of an index.
fn sources() -> BTreeMap<String, Value> {
    let source = |document: Value| {
        let text = ["title", "abstract", "description"]
            .map(|name| document[name].as_str().unwrap_or_default())
            .join(" ");
        let plain = |name: &str| -> Vec<String> {
            document[name]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|code| {
                    Some(
                        code.as_str()?
                            .split("  ")
                            .next()?
                            .replace(" 2014", "")
                            .replace(' ', "")
                            .replace("0101AFI", "")
                            .replace("F03D0001060000", "F03D1/06"),
                    )
                })
                .collect()
        };
        let source = json!({
            "title": document["title"], "abst": document["abstract"], "claim": document["claims"], "desc": document["description"],
            "app_id": document["app_id"], "pub_id": document["pub_id"], "exam_id": document["exam_id"], "country": document["country"],
            "lang": document["lang"], "app_date": document["app_date"], "pub_date": document["pub_date"],
            "year": document["pub_date"].as_str().and_then(|date| date[..4].parse::<i32>().ok()),
            "applicants": document["applicants"], "cross_en_applicants": document["cross_en_applicants"],
            "ipc_codes": plain("ipc"), "cpc_codes": plain("cpc"), "fi_codes": plain("fi"), "ft_codes": plain("fterm"),
            "embedding": vector(&text),
        });
        (document["id"].as_str().unwrap().to_owned(), source)
    };
    documents().into_iter().map(source).collect()
}

/// Words, and pairs of CJK characters alone, as the `cjk` analyzer makes them.
fn analysed(text: &str) -> Vec<String> {
    let all = terms(text);
    let is_cjk = |text: &str| text.chars().any(|c| !c.is_ascii() && c.is_alphabetic());
    let paired = |position: u32| {
        all.iter().any(|term| {
            term.text.chars().count() == 2
                && is_cjk(&term.text)
                && (term.position == position || term.position + 1 == position)
        })
    };
    all.iter()
        .filter(|term| !(is_cjk(&term.text) && term.text.chars().count() == 1 && paired(term.position)))
        .map(|term| term.text.clone())
        .collect()
}

/// Spans of a span clause in a field, as (start, end).
fn spans(clause: &Value, source: &Value, field: &mut Option<String>) -> Result<Vec<(usize, usize)>, String> {
    let (kind, body) = only(clause)?;
    match kind {
        "span_term" => {
            let (name, token) = only(body)?;
            if field.get_or_insert_with(|| name.to_owned()) != name {
                return Err("spans over two fields".to_owned());
            }
            let tokens = analysed(&texts(&source[name]));
            let token = token.as_str().ok_or("a span_term without a token")?;
            Ok(tokens
                .iter()
                .enumerate()
                .filter(|(_, text)| *text == token)
                .map(|(at, _)| (at, at + 1))
                .collect())
        }
        "span_or" => {
            let clauses =
                keys(body, &["clauses", "boost"])?["clauses"].as_array().ok_or("span_or without clauses")?;
            let mut all = Vec::new();
            for clause in clauses {
                all.extend(spans(clause, source, field)?);
            }
            Ok(all)
        }
        "span_near" => {
            let body = keys(body, &["clauses", "slop", "in_order", "boost"])?;
            let slop = body["slop"].as_u64().ok_or("span_near without slop")? as usize;
            let in_order = body["in_order"].as_bool().ok_or("span_near without in_order")?;
            let mut found: Vec<Vec<(usize, usize)>> = vec![Vec::new()];
            for clause in body["clauses"].as_array().ok_or("span_near without clauses")? {
                let next = spans(clause, source, field)?;
                found = found
                    .iter()
                    .flat_map(|chosen| next.iter().map(|span| [chosen.clone(), vec![*span]].concat()))
                    .collect();
            }
            let fits = |chosen: &Vec<(usize, usize)>| {
                let mut line = chosen.clone();
                if !in_order {
                    line.sort_unstable();
                }
                let gaps: Option<Vec<usize>> =
                    line.windows(2).map(|pair| pair[1].0.checked_sub(pair[0].1)).collect();
                gaps.filter(|gaps| gaps.iter().sum::<usize>() <= slop)
                    .map(|_| (line[0].0, line[line.len() - 1].1))
            };
            Ok(found.iter().filter(|chosen| !chosen.is_empty()).filter_map(fits).collect())
        }
        other => Err(format!("no span clause: {other}")),
    }
}

fn only(clause: &Value) -> Result<(&str, &Value), String> {
    let object = clause.as_object().filter(|object| object.len() == 1);
    object
        .and_then(|object| object.iter().next())
        .map(|(key, value)| (key.as_str(), value))
        .ok_or_else(|| format!("one key expected: {clause}"))
}

fn keys<'a>(value: &'a Value, allowed: &[&str]) -> Result<&'a Value, String> {
    let object = value.as_object().ok_or_else(|| format!("an object expected: {value}"))?;
    match object.keys().find(|key| !allowed.contains(&key.as_str())) {
        Some(key) => Err(format!("unknown key {key} in {value}")),
        None => Ok(value),
    }
}

fn phrase(field: &str, text: &str, source: &Value) -> bool {
    let (tokens, wanted) = (analysed(&texts(&source[field])), analysed(text));
    !wanted.is_empty() && tokens.windows(wanted.len()).any(|window| window == wanted)
}

/// Score of a document, `None` when it does not match; an error for what is not in the DSL.
fn score(clause: &Value, source: &Value) -> Result<Option<f64>, String> {
    let (kind, body) = only(clause)?;
    let yes = |holds: bool, score: f64| Ok(holds.then_some(score));
    match kind {
        "bool" => {
            let body = keys(body, &["must", "should", "must_not", "filter", "minimum_should_match"])?;
            let list = |name: &str| body[name].as_array().map(Vec::as_slice).unwrap_or_default();
            let mut total = 0.0;
            for clause in list("must") {
                let Some(score) = score(clause, source)? else { return Ok(None) };
                total += score;
            }
            for clause in list("filter") {
                if score(clause, source)?.is_none() {
                    return Ok(None);
                }
            }
            for clause in list("must_not") {
                if score(clause, source)?.is_some() {
                    return Ok(None);
                }
            }
            if !list("should").is_empty() {
                let mut any = false;
                for clause in list("should") {
                    if let Some(score) = score(clause, source)? {
                        any = true;
                        total += score;
                    }
                }
                if body["minimum_should_match"] != 1 {
                    return Err("should without minimum_should_match".to_owned());
                }
                if !any {
                    return Ok(None);
                }
            }
            Ok(Some(total))
        }
        "constant_score" => {
            let body = keys(body, &["filter", "boost"])?;
            Ok(score(&body["filter"], source)?.map(|_| body["boost"].as_f64().unwrap_or(1.0)))
        }
        "multi_match" => {
            let body = keys(body, &["query", "type", "fields"])?;
            let text = body["query"].as_str().ok_or("multi_match without query")?;
            if !matches!(body["type"].as_str(), Some("phrase" | "most_fields")) {
                return Err(format!("multi_match type {}", body["type"]));
            }
            let mut total = None;
            for field in body["fields"].as_array().ok_or("multi_match without fields")? {
                let (name, boost) = field
                    .as_str()
                    .unwrap_or_default()
                    .split_once('^')
                    .unwrap_or((field.as_str().unwrap_or_default(), "1"));
                let boost: f64 = boost.parse().map_err(|_| format!("boost {boost}"))?;
                if phrase(name, text, source) {
                    total = Some(total.unwrap_or(0.0) + boost);
                }
            }
            Ok(total)
        }
        "match" | "match_phrase" => {
            let (field, body) = only(body)?;
            let body = keys(body, &["query", "boost"])?;
            yes(
                phrase(field, body["query"].as_str().unwrap_or_default(), source),
                body["boost"].as_f64().unwrap_or(1.0),
            )
        }
        "span_near" | "span_or" => {
            yes(!spans(clause, source, &mut None)?.is_empty(), body["boost"].as_f64().unwrap_or(1.0))
        }
        "term" | "terms" | "prefix" => {
            let (field, value) = only(body)?;
            let has = texts(&source[field]);
            let holds = |value: &str| {
                has.lines().any(|text| if kind == "prefix" { text.starts_with(value) } else { text == value })
            };
            yes(
                value.as_array().map_or_else(
                    || value.as_str().is_some_and(holds),
                    |many| many.iter().filter_map(Value::as_str).any(holds),
                ),
                1.0,
            )
        }
        "range" => {
            let (field, ends) = only(body)?;
            let ends = keys(ends, &["gte", "lte"])?;
            let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            if source[field].is_null() {
                return Ok(None);
            }
            let value = text(&source[field]);
            let inside = |name: &str, fits: fn(&str, &str) -> bool| {
                ends[name].is_null() || fits(&value, &text(&ends[name]))
            };
            yes(inside("gte", |a, b| a >= b) && inside("lte", |a, b| a <= b), 1.0)
        }
        "exists" => yes(!source[body["field"].as_str().unwrap_or_default()].is_null(), 1.0),
        "knn" => {
            let (field, body) = only(body)?;
            let body = keys(body, &["vector", "k", "filter"])?;
            if field != "embedding" || body["k"].as_u64().is_none() {
                return Err(format!("knn {clause}"));
            }
            if !body["filter"].is_null() && score(&body["filter"], source)?.is_none() {
                return Ok(None);
            }
            let numbers = |value: &Value| {
                value.as_array().into_iter().flatten().filter_map(Value::as_f64).collect::<Vec<_>>()
            };
            let dot: f64 =
                numbers(&body["vector"]).iter().zip(numbers(&source[field])).map(|(a, b)| a * b).sum();
            Ok(Some(f64::midpoint(1.0, dot)))
        }
        other => Err(format!("no query clause: {other}")),
    }
}

async fn action(
    State(seen): State<Arc<Seen>>,
    Path((index, action)): Path<(String, String)>,
    headers: HeaderMap,
    Json(body): Json<Value>,
) -> (StatusCode, Json<Value>) {
    if headers.get("authorization").is_none_or(|value| value != "Basic bHlyYTpwYXNz") {
        seen.fault("no credentials".to_owned());
    }
    if index != "patents-1" {
        return (
            StatusCode::NOT_FOUND,
            Json(json!({"error": {"reason": format!("no such index [{index}]")}})),
        );
    }
    seen.bodies.lock().unwrap().push(body.clone());
    let answer = match action.as_str() {
        "_analyze" => {
            let tokens = analysed(body["text"].as_str().unwrap_or_default());
            let tokens: Vec<Value> = tokens.iter().enumerate().map(|(at, token)| json!({"token": token, "position": at, "type": "word"})).collect();
            Ok(json!({"tokens": tokens}))
        }
        "_mget" => {
            let all = sources();
            let docs = body["docs"].as_array().into_iter().flatten().map(|wanted| {
                let id = wanted["_id"].as_str().unwrap_or_default();
                match all.get(id) {
                    Some(source) => json!({"_index": index, "_id": id, "found": true, "_source": source}),
                    None => json!({"_index": index, "_id": id, "found": false}),
                }
            });
            Ok(json!({"docs": docs.collect::<Vec<_>>()}))
        }
        "_search" => keys(&body, &["size", "query", "_source", "track_total_hits", "timeout"]).and_then(|body| {
            let mut hits = Vec::new();
            for (id, source) in sources() {
                if let Some(score) = score(&body["query"], &source)? {
                    hits.push(json!({"_index": index, "_id": id, "_score": score, "_source": source}));
                }
            }
            hits.sort_by(|a, b| b["_score"].as_f64().unwrap().total_cmp(&a["_score"].as_f64().unwrap()));
            let total = hits.len();
            hits.truncate(body["size"].as_u64().ok_or("no size")? as usize);
            Ok(json!({"took": 1, "timed_out": false, "hits": {"total": {"value": total, "relation": "eq"}, "hits": hits}}))
        }),
        "_count" => keys(&body, &["query"]).and_then(|body| {
            let mut count = 0;
            for (_, source) in sources() {
                count += usize::from(score(&body["query"], &source)?.is_some());
            }
            Ok(json!({"count": count, "_shards": {"total": 1, "successful": 1, "failed": 0}}))
        }),
        other => Err(format!("no action {other}")),
    };
    match answer {
        Ok(answer) => (StatusCode::OK, Json(answer)),
        Err(fault) => {
            seen.fault(fault.clone());
            (StatusCode::BAD_REQUEST, Json(json!({"error": {"root_cause": [{"reason": fault}]}})))
        }
    }
}

async fn stats(
    Path((index, metric)): Path<(String, String)>,
    Parameters(query): Parameters<HashMap<String, String>>,
) -> (StatusCode, Json<Value>) {
    if index != "patents-1" || metric != "docs" || query.get("level").map(String::as_str) != Some("shards") {
        return (StatusCode::NOT_FOUND, Json(json!({})));
    }
    let shard = |primary: bool| json!({"routing": {"primary": primary}, "docs": {"count": 3, "deleted": 0}, "seq_no": {"max_seq_no": if primary { 41 } else { 40 }}});
    (
        StatusCode::OK,
        Json(
            json!({"indices": {"patents-1": {"uuid": "abc", "shards": {"0": [shard(true), shard(false)]}}}}),
        ),
    )
}

async fn stand_in() -> (Arc<Seen>, String) {
    let seen = Arc::new(Seen::default());
    let app = Router::new()
        .route("/_cat/indices", get(|| async { Json(json!([{"index": ".hidden"}, {"index": "patents-1"}])) }))
        .route("/", get(|| async { Json(json!({"cluster_uuid": "u", "version": {"distribution": "opensearch", "number": "3.5.0"}})) }))
        .route("/_cluster/health/{index}", get(|| async { Json(json!({"status": "green", "timed_out": false})) }))
        .route("/{index}/_stats/{metric}", get(stats))
        .route("/{index}/_mapping", get(|| async {
            Json(json!({"patents-1": {"mappings": {"properties": {"embedding": {"type": "knn_vector", "dimension": 64}}}}}))
        }))
        .route("/{index}/{action}", post(action))
        .with_state(seen.clone());
    let address = serve(app).await;
    (seen, format!("http://{address}"))
}

pub(crate) fn config(urls: &[String]) -> OpenSearchConfig {
    OpenSearchConfig { timeout: Duration::from_secs(5), ..OpenSearchConfig::at(urls.to_vec()) }
}

fn backend(url: &str) -> OpenSearchBackend {
    let config = OpenSearchConfig {
        user: Some("lyra".to_owned()),
        password: Some(SecretString::from("pass")),
        indices: BTreeMap::from([("patents".to_owned(), "patents-1".to_owned())]),
        vectors: BTreeMap::from([(FeatureScope::Wide, "embedding".to_owned())]),
        ..config(&[url.to_owned()])
    };
    OpenSearchBackend::new(Cluster::new(config).unwrap(), Arc::new(Hashing::default()))
}

#[tokio::test]
async fn opensearch_keeps_the_contract() {
    let (seen, url) = stand_in().await;
    let backend = backend(&url);
    contract(&backend, "patents").await;
    seen.nothing_wrong();
    let found = backend.embeddings("patents", &["US-1-A1".to_owned()]).await.unwrap();
    let length: f32 = found[0].as_ref().unwrap().iter().map(|x| x * x).sum();
    assert!((length - 1.0).abs() < 1e-5);
}

#[tokio::test]
async fn lanes_are_sent_in_the_query_dsl() {
    let (seen, url) = stand_in().await;
    let backend = backend(&url);
    let filters = json!([{"field": "fi", "include_codes": ["H01L31/04"]}, {"field": "pub_date", "include_range": {"from": "2020-01-01"}}]);
    run(&backend, &lane("patents", "solar \"thin film\" NOT title:太陽 fi:H01L", &filters, 7)).await.unwrap();
    let body = seen.bodies.lock().unwrap().last().cloned().unwrap();
    assert_eq!(
        body,
        json!({
            "size": 7, "track_total_hits": true, "timeout": "4500ms", "_source": ["ipc_codes", "cpc_codes", "fi_codes", "ft_codes"],
            "query": {"bool": {
                "must": [{"bool": {
                    "must": [
                        {"multi_match": {"query": "solar", "type": "most_fields", "fields": ["title^4", "abst^3", "claim^2", "desc^1"]}},
                        {"multi_match": {"query": "thin film", "type": "phrase", "fields": ["title^4", "abst^3", "claim^2", "desc^1"]}},
                        {"constant_score": {"filter": {"prefix": {"fi_codes": "H01L"}}, "boost": 0.0}},
                    ],
                    "must_not": [{"match_phrase": {"title": {"query": "太陽", "boost": 4.0}}}],
                }}],
                "filter": [
                    {"bool": {"should": [{"term": {"fi_codes": "H01L31/04"}}, {"prefix": {"fi_codes": "H01L31/04,"}}, {"prefix": {"fi_codes": "H01L31/04@"}}], "minimum_should_match": 1}},
                    {"range": {"pub_date": {"gte": "2020-01-01"}}},
                ],
            }},
        })
    );
    let kind = LaneKind::Semantic { text: "x".to_owned(), scope: FeatureScope::TopClaim };
    let error = run(&backend, &LaneQuery { kind, ..lane("patents", "x", &json!([]), 2) })
        .await
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "opensearch has no vectors of scope `top_claim`; use wide, or name its vector field in the configuration"
    );
    seen.nothing_wrong();
}

#[tokio::test]
async fn without_named_indices_every_index_is_a_corpus() {
    let (_, url) = stand_in().await;
    let config =
        OpenSearchConfig { every_index: true, timeout: Duration::from_millis(500), ..config(&[url]) };
    let opened = |config| OpenSearchBackend::new(Cluster::new(config).unwrap(), Arc::new(Hashing::default()));
    let backend = opened(config.clone());
    assert_eq!(backend.corpora().await.unwrap(), ["patents-1"]);
    // Names that do not refer to an index are not found.
    for name in ["_all", ".hidden", ""] {
        assert!(matches!(backend.snapshot(name).await, Err(CorpusError::NotFound { .. })), "{name}");
    }
    let unreachable = opened(OpenSearchConfig { urls: vec!["http://127.0.0.1:9".to_owned()], ..config });
    let error = unreachable.corpora().await.unwrap_err();
    assert!(
        matches!(error, CorpusError::Backend { passing: true, .. })
            && error.to_string().contains("cannot reach"),
        "{error}"
    );
}

#[tokio::test]
async fn a_server_that_lyra_does_not_know_is_refused() {
    for (about, expect) in [
        (
            json!({"version": {"number": "8.11.0"}}),
            "the server is Elasticsearch 8.11.0: Lyra needs OpenSearch 2.x or 3.x",
        ),
        (
            json!({"version": {"distribution": "opensearch", "number": "1.3.20"}}),
            "the server is opensearch 1.3.20",
        ),
        (json!({"name": "something"}), "no search server that Lyra knows"),
    ] {
        let address = serve(Router::new().route("/", get(move || async move { Json(about) }))).await;
        let backend = backend(&format!("http://{address}"));
        let error = backend.snapshot("patents").await.unwrap_err().to_string();
        assert!(error.contains(expect), "{error}");
    }
}

#[tokio::test]
async fn a_wrong_password_is_said_and_not_shown() {
    let refuse = || async { (StatusCode::UNAUTHORIZED, "Unauthorized pass") };
    let address = serve(Router::new().route("/", get(refuse))).await;
    let error = backend(&format!("http://{address}")).snapshot("patents").await.unwrap_err().to_string();
    assert!(error.contains("refuses user and password (401)") && !error.contains("pass\""), "{error}");
}

#[tokio::test]
async fn an_answer_that_lacks_a_part_is_an_error() {
    for (answer, expect) in [
        (
            json!({"timed_out": true, "_shards": {"failed": 0}, "hits": {"hits": []}}),
            "saw a part of the index only",
        ),
        (
            json!({"timed_out": false, "_shards": {"total": 3, "failed": 1, "failures": [{"reason": {
                "type": "no_shard_available_action_exception", "reason": "gone"}}]}, "hits": {"hits": []}}),
            "1 of 3 shards did not answer, so the result would be partial",
        ),
    ] {
        let app = Router::new()
            .route(
                "/",
                get(|| async {
                    Json(json!({"version": {"distribution": "opensearch", "number": "2.19.1"}}))
                }),
            )
            .route("/{index}/_mapping", get(|| async { Json(json!({})) }))
            .route("/{index}/_search", post(move || async move { Json(answer) }));
        let address = serve(app).await;
        let error =
            run(&backend(&format!("http://{address}")), &lane("patents", "film", &json!([]), 5)).await;
        let error = error.unwrap_err().to_string();
        assert!(error.contains(expect), "{error}");
    }
}
