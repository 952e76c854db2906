//! `POST /v1/embeddings`.

use std::time::Instant;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lyra_proto::{
    EmbedInput, Embedding, EmbeddingVector, EmbeddingsErrorBody, EmbeddingsRequest, EmbeddingsResponse,
    EncodingFormat, ModelKind, Usage,
};

use super::AppState;
use super::answer::{cost_headers, json, refusal};
use super::body::JsonBody;
use super::vectors::{Options, truncation, vectors};
use crate::error::RequestError;

/// A refusal in OpenAI's form; status and headers are those of the other routes.
pub(super) struct Refusal(RequestError);

impl From<RequestError> for Refusal {
    fn from(error: RequestError) -> Self {
        Self(error)
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        refusal(&self.0, |body| Json(EmbeddingsErrorBody::from(body)).into_response())
    }
}

/// One vector per text in OpenAI's envelope.
pub(super) async fn embeddings(
    State(state): State<AppState>,
    body: Result<JsonBody<EmbeddingsRequest>, RequestError>,
) -> Result<Response, Refusal> {
    let received = Instant::now();
    let JsonBody(request) = body?;
    let engine = state.engine(ModelKind::Embed)?;
    let inputs: Vec<EmbedInput> = request.input.into();
    state.check_batch(inputs.len(), "input is empty; send at least one text")?;
    let options = Options {
        truncation: truncation(true, None),
        prompt_name: None,
        dimensions: request.dimensions,
        normalise: true,
    };
    let answer = vectors(engine, inputs, options).await?;
    let format = request.encoding_format.unwrap_or_default();
    let numbers = answer.rows.iter().map(Vec::len).sum();
    let data = answer.rows.into_iter().enumerate().map(|(index, row)| Embedding {
        object: "embedding".to_owned(),
        index,
        embedding: write(row, format),
    });
    let response = EmbeddingsResponse {
        object: "list".to_owned(),
        data: data.collect(),
        model: engine.model(ModelKind::Embed)?.spec.name.clone(),
        usage: Usage::of(answer.cost.tokens),
    };
    let cost = cost_headers(&answer.cost, received);
    Ok((cost, json(response, numbers).await?).into_response())
}

fn write(row: Vec<f32>, format: EncodingFormat) -> EmbeddingVector {
    match format {
        EncodingFormat::Float => EmbeddingVector::Float(row),
        EncodingFormat::Base64 => {
            let bytes: Vec<u8> = row.iter().flat_map(|value| value.to_le_bytes()).collect();
            EmbeddingVector::Base64(STANDARD.encode(bytes))
        }
    }
}
