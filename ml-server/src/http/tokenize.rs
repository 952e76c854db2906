//! `POST /tokenize`.

use std::time::Instant;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use lyra_proto::{ModelKind, TokenizeRequest, TokenizeResponse};

use super::AppState;
use super::answer::cost_headers;
use super::body::JsonBody;
use super::vectors::prompt;
use crate::engine::{Cost, refused};
use crate::error::RequestError;

/// Bytes of text in one request. An answer is some hundred times as large on its way out.
const MOST_BYTES: usize = 512 * 1_024;

/// The tokens of the embedder, or of the classifier if no embedder is hosted.
pub(super) async fn tokenize(
    State(state): State<AppState>,
    JsonBody(request): JsonBody<TokenizeRequest>,
) -> Result<Response, RequestError> {
    let received = Instant::now();
    let engine = state.serving()?;
    let kind = engine.models().first().map_or(ModelKind::Embed, |(kind, _)| *kind);
    let prompt = prompt(engine.model(kind)?, request.prompt_name.as_deref())?;
    let texts: Vec<String> = request.inputs.into();
    state.check_batch(texts.len(), "inputs is empty; send at least one text")?;
    let got = texts.iter().map(|text| text.len() + prompt.len()).sum();
    if got > MOST_BYTES {
        return Err(RequestError::TextTooLarge { got, limit: MOST_BYTES });
    }
    let _permit = engine.admit(kind)?;

    let special = request.add_special_tokens;
    let tokens = engine.tokenise(kind, move |tokenizer| {
        let spell = |(index, text): (usize, &String)| {
            tokenizer.spell(&format!("{prompt}{text}"), special).map_err(|error| refused(index, error))
        };
        texts.iter().enumerate().map(spell).collect()
    });
    let tokens: TokenizeResponse = tokens.await?;
    Ok((cost_headers(&Cost::default(), received), Json(tokens)).into_response())
}
