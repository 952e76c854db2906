//! `GET /openapi.json`, generated from the wire types, and `GET /docs`, a page to try the routes.

use std::sync::LazyLock;

use axum::Json;
use axum::response::Html;
use lyra_proto::{
    EmbedRequest, EmbedResponse, EmbeddingsErrorBody, EmbeddingsRequest, EmbeddingsResponse, ErrorBody,
    InfoResponse, NliRequest, NliResponse, PredictRequest, PredictResponse, ReadyResponse, SimilarityRequest,
    SimilarityResponse, TokenizeRequest, TokenizeResponse, VerifyRequest, VerifyResponse,
};
use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

/// Statuses that every route with a body may answer with, and when.
const REFUSALS: [(&str, &str); 7] = [
    ("400", "The body is not what the route expects, or is empty"),
    (
        "413",
        "The body or the batch is larger than the server accepts; for /tokenize, more than 512 KiB of text",
    ),
    ("415", "The body is not JSON"),
    ("422", "An input is longer than the model reads, and `truncate` is false"),
    ("424", "The model failed on this input, or the server hosts no such model"),
    ("429", "The server is overloaded; `Retry-After` says when to retry"),
    ("503", "Loading, failed to load, or shutting down"),
];

static DOCUMENT: LazyLock<Value> = LazyLock::new(document);

/// The description of all routes, `OpenAPI` 3.1.
pub(super) async fn openapi() -> Json<&'static Value> {
    Json(&DOCUMENT)
}

/// A page that only needs `/openapi.json`.
pub(super) async fn docs() -> Html<&'static str> {
    Html(include_str!("docs.html"))
}

fn document() -> Value {
    let mut api = Api::new();
    let texts = json!({"inputs": ["Aspirin lowers fever.", "Basalt is a volcanic rock."]});
    api.post::<EmbedRequest, EmbedResponse>("/embed", "One vector per text (TEI)", texts);
    api.paths["/embed"]["post"]["responses"]["200"]["content"]["application/octet-stream"] = json!({});
    let pairs = json!({"pairs": [{"premise": "All cats sleep.", "hypothesis": "Some cats sleep."}]});
    api.post::<NliRequest, NliResponse>("/nli", "Whether a premise supports or refutes a hypothesis", pairs);
    let items = json!({"items": [{
        "claim": "Some cats sleep.", "title": "On cats", "sentences": ["We watched 40 cats.", "All cats slept."]
    }]});
    api.post::<VerifyRequest, VerifyResponse>(
        "/verify",
        "How a passage relates to a claim, and which sentences decide it",
        items,
    );
    let batch = json!({"inputs": [["All cats sleep.", "Some cats sleep."]]});
    api.post::<PredictRequest, PredictResponse>("/predict", "Scores of all labels (TEI)", batch);
    let sentences = json!({"inputs": {"source_sentence": "a cat", "sentences": ["a kitten", "a rock"]}});
    api.post::<SimilarityRequest, SimilarityResponse>(
        "/similarity",
        "Cosine similarities with one sentence (TEI)",
        sentences,
    );
    let text = json!({"inputs": "Some cats sleep."});
    api.post::<TokenizeRequest, TokenizeResponse>("/tokenize", "The tokens of texts (TEI)", text);
    let input = json!({"input": ["Some cats sleep."], "encoding_format": "float"});
    api.refusing_post::<EmbeddingsRequest, EmbeddingsResponse, EmbeddingsErrorBody>(
        "/v1/embeddings",
        "One vector per text (OpenAI)",
        input,
    );
    api.get("/health", "200 while the process can serve", json!({"description": "It can"}));
    let ready = api.json_answer::<ReadyResponse>("The server is ready");
    api.get("/ready", "Whether the server is ready", ready);
    api.paths["/ready"]["get"]["responses"]["503"] = api.json_answer::<ReadyResponse>(
        "Not ready yet, or shutting \
        down",
    );
    let info = api.json_answer::<InfoResponse>("Models and limits");
    api.get("/info", "The models it hosts", info);
    let metrics = json!({"description": "Prometheus text format", "content": {"text/plain": {}}});
    api.get("/metrics", "The server's metrics", metrics);
    api.finish()
}

/// A document in the making.
struct Api {
    schemas: SchemaGenerator,
    paths: Value,
}

impl Api {
    fn new() -> Self {
        let settings = SchemaSettings::draft2020_12();
        let settings = settings.with(|settings| settings.definitions_path = "/components/schemas".into());
        Self { schemas: settings.into_generator(), paths: Value::Object(Map::new()) }
    }

    fn schema<T: JsonSchema>(&mut self) -> Schema {
        self.schemas.subschema_for::<T>()
    }

    fn json_answer<A: JsonSchema>(&mut self, description: &str) -> Value {
        let schema = self.schema::<A>();
        json!({"description": description, "content": {"application/json": {"schema": schema}}})
    }

    fn get(&mut self, path: &str, summary: &str, answer: Value) {
        let operation = &mut self.paths[path]["get"];
        operation["summary"] = summary.into();
        operation["responses"]["200"] = answer;
    }

    fn post<B: JsonSchema, A: JsonSchema>(&mut self, path: &str, summary: &str, example: Value) {
        self.refusing_post::<B, A, ErrorBody>(path, summary, example);
    }

    /// `POST` with an error body that differs from most routes.
    fn refusing_post<B: JsonSchema, A: JsonSchema, E: JsonSchema>(
        &mut self,
        path: &str,
        summary: &str,
        example: Value,
    ) {
        let mut responses = Map::new();
        responses.insert("200".to_owned(), self.json_answer::<A>("One element per input, in order"));
        for (status, when) in REFUSALS {
            responses.insert(status.to_owned(), self.json_answer::<E>(when));
        }
        let mut body = Map::new();
        body.insert("schema".to_owned(), self.schema::<B>().to_value());
        body.insert("example".to_owned(), example);
        self.paths[path]["post"] = json!({
            "summary": summary,
            "requestBody": {"required": true, "content": {"application/json": body}},
            "responses": responses,
        });
    }

    fn finish(mut self) -> Value {
        let schemas = self.schemas.take_definitions(true);
        json!({
            "openapi": "3.1.0",
            "info": {
                "title": "lyra-ml-server",
                "description": "Embeddings and natural language inference. `/embed`, `/predict`, `/similarity` and \
                    `/tokenize` take the bodies of Hugging Face TEI, `/v1/embeddings` those of OpenAI; `POST /` is \
                    `/embed`, or `/predict` where no embedder is hosted. Without an NLI model, the verifier answers \
                    `/nli` and `/predict`: the premise is then the only sentence of the passage.",
                "version": env!("CARGO_PKG_VERSION"),
                "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
            },
            "paths": self.paths,
            "components": {"schemas": schemas},
        })
    }
}
