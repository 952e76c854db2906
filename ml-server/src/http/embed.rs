//! `POST /embed`, and `POST /` as TEI has it.

use std::time::Instant;

use axum::extract::{Request, State};
use axum::handler::Handler;
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Response};
use lyra_proto::{EMBEDDING_SHAPE_HEADER, EmbedInput, EmbedRequest, ModelKind};

use super::AppState;
use super::answer::{cost_headers, json};
use super::body::JsonBody;
use super::predict::predict;
use super::vectors::{Options, truncation, vectors};
use crate::error::RequestError;

const OCTETS: &str = "application/octet-stream";

/// One vector per text, as JSON or, where the client accepts that, as raw numbers.
pub(super) async fn embed(
    State(state): State<AppState>,
    headers: HeaderMap,
    JsonBody(request): JsonBody<EmbedRequest>,
) -> Result<Response, RequestError> {
    let received = Instant::now();
    let engine = state.engine(ModelKind::Embed)?;
    let inputs: Vec<EmbedInput> = request.inputs.into();
    state.check_batch(inputs.len(), "inputs is empty; send at least one text")?;
    let options = Options {
        truncation: truncation(request.truncate, request.truncation_direction),
        prompt_name: request.prompt_name.as_deref(),
        dimensions: request.dimensions,
        normalise: request.normalize,
    };
    let answer = vectors(engine, inputs, options).await?;
    let cost = cost_headers(&answer.cost, received);
    if wants_octets(&headers) {
        Ok((cost, octets(&answer.rows)).into_response())
    } else {
        let numbers = answer.rows.iter().map(Vec::len).sum();
        Ok((cost, json(answer.rows, numbers).await?).into_response())
    }
}

/// `POST /`: the hosted model's route, `/embed` before `/predict`. For clients that know only a base URL.
pub(super) async fn root(State(state): State<AppState>, request: Request) -> Result<Response, RequestError> {
    let embeds = state.serving()?.model(ModelKind::Embed).is_ok();
    Ok(if embeds { embed.call(request, state).await } else { predict.call(request, state).await })
}

fn wants_octets(headers: &HeaderMap) -> bool {
    headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()).is_some_and(|accept| accept.contains(OCTETS))
}

/// Little-endian f32 rows, one after the other.
fn octets(rows: &[Vec<f32>]) -> Response {
    let columns = rows.first().map_or(0, Vec::len);
    let bytes: Vec<u8> = rows.iter().flatten().flat_map(|value| value.to_le_bytes()).collect();
    let mut response = bytes.into_response();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(OCTETS));
    if let Ok(shape) = HeaderValue::try_from(format!("{},{columns}", rows.len())) {
        response.headers_mut().insert(EMBEDDING_SHAPE_HEADER, shape);
    }
    response
}
