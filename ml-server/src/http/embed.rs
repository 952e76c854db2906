//! `POST /embed`.

use std::time::Instant;

use axum::Json;
use axum::extract::State;
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Response};
use lyra_proto::{EMBEDDING_SHAPE_HEADER, EmbedRequest, ModelKind, TruncationDirection};

use super::AppState;
use super::answer::cost_headers;
use super::body::JsonBody;
use crate::engine::too_long;
use crate::error::RequestError;
use crate::model::Model;
use crate::model::ops::normalise;
use crate::model::tokenizer::Truncation;

const OCTETS: &str = "application/octet-stream";

pub(super) async fn embed(
    State(state): State<AppState>,
    headers: HeaderMap,
    JsonBody(request): JsonBody<EmbedRequest>,
) -> Result<Response, RequestError> {
    let received = Instant::now();
    let engine = state.engine(ModelKind::Embed)?;
    let model = engine.model(ModelKind::Embed)?;
    let truncation = if request.truncate {
        Truncation::Cut(request.truncation_direction.unwrap_or(TruncationDirection::Right))
    } else {
        Truncation::Refuse
    };
    let prompt = prompt(model, request.prompt_name.as_deref())?;
    let dimensions = dimensions(model, request.dimensions)?;
    let texts: Vec<String> = request.inputs.into();
    state.check_batch(texts.len(), "inputs is empty; send at least one text")?;
    let _permit = engine.admit()?;

    let inputs = engine.tokenise(ModelKind::Embed, move |tokenizer| {
        let tokenise = |(index, text): (usize, &String)| {
            let text = if prompt.is_empty() { text.clone() } else { format!("{prompt}{text}") };
            tokenizer.text(&text, truncation).map_err(|error| too_long(index, &error))
        };
        texts.iter().enumerate().map(tokenise).collect()
    });
    let mut answer = engine.run(ModelKind::Embed, inputs.await?).await?;
    for row in &mut answer.rows {
        row.truncate(dimensions);
        if request.normalize {
            normalise(row);
        }
    }
    let cost = cost_headers(&answer.cost, received);
    if wants_octets(&headers) {
        Ok((cost, octets(&answer.rows, dimensions)).into_response())
    } else {
        Ok((cost, Json(answer.rows)).into_response())
    }
}

fn prompt(model: &Model, name: Option<&str>) -> Result<String, RequestError> {
    let Some(name) = name else { return Ok(String::new()) };
    model.spec.prompts.get(name).cloned().ok_or_else(|| {
        let known: Vec<_> = model.spec.prompts.keys().map(String::as_str).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        RequestError::Malformed(format!("prompt_name `{name}` is unknown; this model has: {known}"))
    })
}

fn dimensions(model: &Model, wanted: Option<usize>) -> Result<usize, RequestError> {
    let most = model.dimension();
    match wanted {
        None => Ok(most),
        Some(wanted) if (1..=most).contains(&wanted) => Ok(wanted),
        Some(wanted) => {
            Err(RequestError::Malformed(format!("dimensions is {wanted}, it must be 1 to {most}")))
        }
    }
}

fn wants_octets(headers: &HeaderMap) -> bool {
    headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()).is_some_and(|accept| accept.contains(OCTETS))
}

/// Little-endian f32 rows, one after the other.
fn octets(rows: &[Vec<f32>], columns: usize) -> Response {
    let bytes: Vec<u8> = rows.iter().flatten().flat_map(|value| value.to_le_bytes()).collect();
    let mut response = bytes.into_response();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(OCTETS));
    if let Ok(shape) = HeaderValue::try_from(format!("{},{columns}", rows.len())) {
        response.headers_mut().insert(EMBEDDING_SHAPE_HEADER, shape);
    }
    response
}
