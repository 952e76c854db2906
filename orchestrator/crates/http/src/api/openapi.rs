//! The description of the API, `OpenAPI` 3.1, from the table of routes.

use super::call::{Call, Reply};
use super::route::{Needs, Nothing, Returns, Route, SchemaOf, Takes, get};
use super::{BASE, ROUTES};
use crate::problem::{Failure, PROBLEM};
use lyra_wire::ProblemDocument;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::sync::LazyLock;

static DOCUMENT: LazyLock<Value> = LazyLock::new(document);

pub(super) fn routes() -> Vec<Route> {
    vec![get("/openapi.json", "get_openapi", "This description", openapi)]
}

/// A document of `OpenAPI`.
#[derive(Debug, Serialize)]
#[serde(transparent)]
struct Description(&'static Value);

impl JsonSchema for Description {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "OpenApi".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        lyra_wire::schema::any_object(generator)
    }
}

async fn openapi(_: Call, _: Nothing) -> Result<Reply<Description>, Failure> {
    Ok(Description(&DOCUMENT).into())
}

/// Why a route may refuse a request, by status.
fn refusals(route: &Route) -> Vec<(&'static str, &'static str)> {
    let mut refusals = vec![
        ("400", "The request is malformed, or asks for something out of range"),
        ("401", "A token is missing or no longer valid"),
    ];
    if route.needs != Needs::Nothing {
        refusals
            .push(("403", "The token is read-only, or the request comes from a page that is not allowed"));
    }
    refusals.push(("404", "There is no such item"));
    if !matches!(route.takes, Takes::Nothing) {
        refusals.push(("413", "The body is too large"));
    }
    if matches!(route.takes, Takes::Json(_)) {
        refusals.push(("415", "The body is not JSON"));
        refusals.push(("422", "The body has another shape, or a statement was refused"));
    }
    refusals.push(("429", "Too many requests; `Retry-After` says when to try again"));
    refusals.push(("500", "A defect; `error_id` is in the server's log"));
    refusals.push(("503", "Something that is needed does not answer now"));
    refusals
}

/// A part of a path in words, and what it looks like.
fn part(name: &str) -> (&'static str, Option<&'static str>) {
    match name {
        "task_id" => ("Id of a task", Some("^task_.+$")),
        "claim_id" => ("Id of a claim", Some("^claim_.+$")),
        "edge_id" => ("Id of a judgment", Some("^edge_.+$")),
        "page_id" => ("Id of a page", Some("^page_.+$")),
        "queue_id" => ("Id of a waiting page", Some("^auth_.+$")),
        "run_id" => ("Id of a run of a lane or of a blend", None),
        "other_id" => ("Id of the run to compare with", None),
        "doc_id" => ("Id of the document in its corpus, percent-encoded", None),
        "pattern" => {
            let domain = r"^(\*\.)?[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$";
            ("`example.com`, or `*.example.com` for everything below it", Some(domain))
        }
        "id" => ("Id or name of a token", None),
        _ => ("Its name", Some("^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$")),
    }
}

fn document() -> Value {
    let settings = SchemaSettings::draft2020_12();
    let settings = settings.with(|settings| settings.definitions_path = "/components/schemas".into());
    let mut answers = settings.for_serialize().into_generator();
    let mut paths: Map<String, Value> = Map::new();
    for route in ROUTES.iter() {
        let operation = operation(route, &mut answers);
        let path = paths.entry(format!("{BASE}{}", route.path)).or_insert_with(|| json!({}));
        path[route.method.as_str().to_ascii_lowercase()] = operation;
    }
    let schemas = answers.take_definitions(true);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Lyra",
            "description": "The evidence engine's JSON API. Errors are problem documents (RFC 9457); writes accept \
                `Idempotency-Key`; reads have an `ETag`.",
            "version": env!("CARGO_PKG_VERSION"),
            "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
        },
        "security": [{"token": []}, {"session": []}, {}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "session": {"type": "apiKey", "in": "cookie", "name": "lyra_session"},
            },
        },
    })
}

/// Shapes of requests are written where they are used: no two routes share one.
fn inlined(schema: SchemaOf) -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = schema(&mut settings.into_generator()).to_value();
    if let Some(fields) = schema.as_object_mut() {
        fields.remove("title");
    }
    schema
}

fn operation(route: &Route, answers: &mut SchemaGenerator) -> Value {
    let mut operation = json!({
        "operationId": route.id,
        "summary": route.summary,
        "tags": [route.path.split('/').nth(1).unwrap_or_default()],
    });
    let parameters = parameters(route);
    if !parameters.is_empty() {
        operation["parameters"] = parameters.into();
    }
    match route.takes {
        Takes::Nothing => {}
        Takes::Json(schema) => {
            let schema = inlined(schema);
            // An empty body is an object without fields.
            let required = schema.get("required").is_some();
            operation["requestBody"] =
                json!({"required": required, "content": {"application/json": {"schema": schema}}});
        }
        Takes::File => {
            operation["requestBody"] = json!({"required": true, "content": {"application/octet-stream": {}}});
        }
    }
    let mut responses = Map::new();
    let answer = match route.returns {
        Returns::Nothing => json!({"description": "Done"}),
        Returns::Json(schema) => {
            json!({"description": "Done", "content": {"application/json": {"schema": schema(answers)}}})
        }
        Returns::Events(schema) => json!({
            "description": "The data of each event; `ready` and `reset` have none",
            "content": {"text/event-stream": {"schema": schema(answers)}},
        }),
        Returns::File(media_types) => {
            let content: Map<String, Value> =
                media_types.iter().map(|media_type| ((*media_type).to_owned(), json!({}))).collect();
            json!({"description": "The file", "content": content})
        }
    };
    responses.insert(route.status.as_str().to_owned(), answer);
    if route.method == axum::http::Method::GET && matches!(route.returns, Returns::Json(_)) {
        responses.insert("304".to_owned(), json!({"description": "Unchanged since `If-None-Match`"}));
    }
    let problem = answers.subschema_for::<ProblemDocument>();
    for (status, when) in refusals(route) {
        let answer = json!({"description": when, "content": {PROBLEM: {"schema": problem}}});
        responses.insert(status.to_owned(), answer);
    }
    operation["responses"] = responses.into();
    operation
}

/// A parameter can be left out; it cannot be `null`.
fn without_null(schema: &mut Value) {
    let Some(fields) = schema.as_object_mut() else { return };
    if fields.get("default") == Some(&Value::Null) {
        fields.remove("default");
    }
    let types: Vec<Value> =
        fields.get("type").and_then(Value::as_array).into_iter().flatten().cloned().collect();
    if let [kind, null] = &types[..]
        && null == "null"
    {
        fields.insert("type".to_owned(), kind.clone());
    }
    if let Some(Value::Array(choices)) = fields.remove("anyOf") {
        let kept = choices.iter().filter(|choice| choice["type"] != "null").filter_map(Value::as_object);
        for (name, value) in kept.flatten() {
            fields.entry(name.clone()).or_insert_with(|| value.clone());
        }
    }
}

fn parameters(route: &Route) -> Vec<Value> {
    let mut parameters: Vec<Value> = Vec::new();
    for name in route.parts() {
        let (description, pattern) = part(name);
        let mut schema = json!({"type": "string", "minLength": 1});
        if let Some(pattern) = pattern {
            schema["pattern"] = pattern.into();
        }
        parameters.push(json!({
            "name": name, "in": "path", "required": true, "description": description, "schema": schema,
        }));
    }
    let query = inlined(route.query);
    let required: Vec<&str> =
        query["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (name, schema) in query["properties"].as_object().into_iter().flatten() {
        let mut schema = schema.clone();
        without_null(&mut schema);
        let description = schema.as_object_mut().and_then(|fields| fields.remove("description"));
        parameters.push(json!({
            "name": name, "in": "query", "required": required.contains(&name.as_str()),
            "description": description, "schema": schema,
        }));
    }
    if route.needs == Needs::Writing && !matches!(route.takes, Takes::File) {
        parameters.push(json!({
            "name": "Idempotency-Key", "in": "header", "required": false,
            "description": "The same key with the same body gets the same answer for 24 hours",
            "schema": {"type": "string", "minLength": 1, "maxLength": 255},
        }));
    }
    if matches!(route.returns, Returns::Events(_)) {
        parameters.push(json!({
            "name": "Last-Event-ID", "in": "header", "required": false,
            "description": "The id of the last event that was seen", "schema": {"type": "string"},
        }));
    }
    parameters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_description_names_every_route_and_resolves() {
        let document = document();
        let mut count = 0;
        for route in ROUTES.iter() {
            let operation = &document["paths"][format!("{BASE}{}", route.path)]
                [route.method.as_str().to_ascii_lowercase()];
            assert_eq!(operation["operationId"], route.id);
            assert!(operation["responses"][route.status.as_str()].is_object(), "{}", route.id);
            count += 1;
        }
        let methods: usize = document["paths"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(_, path)| path.as_object().map_or(0, Map::len))
            .sum();
        assert_eq!(methods, count, "two routes share a method and a path");
        let text = document.to_string();
        for reference in text.split("\"$ref\":\"#").skip(1) {
            let pointer = reference.split('"').next().expect("a reference");
            assert!(document.pointer(pointer).is_some(), "{pointer}");
        }
        let mut ids: Vec<&str> = ROUTES.iter().map(|route| route.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), count, "two routes share a name");
    }
}
