//! The common part of routes that return or compare vectors.

use lyra_proto::{EmbedInput, ModelKind, TruncationDirection};

use crate::engine::{Answer, Engine, refused};
use crate::error::RequestError;
use crate::model::Model;
use crate::model::ops::normalise;
use crate::model::tokenizer::{TextTokenizer, Truncation};

/// How texts become vectors.
pub(super) struct Options<'a> {
    /// Too long texts.
    pub(super) truncation: Truncation,
    /// Prompt prepended to every text.
    pub(super) prompt_name: Option<&'a str>,
    /// Components to keep; all when absent.
    pub(super) dimensions: Option<usize>,
    /// Whether to scale to length 1.
    pub(super) normalise: bool,
}

/// One vector per input, in order.
///
/// # Errors
/// 400 for an unknown prompt, wrong dimensions, or an input without ids, and the engine's errors.
pub(super) async fn vectors(
    engine: &Engine,
    inputs: Vec<EmbedInput>,
    options: Options<'_>,
) -> Result<Answer, RequestError> {
    let model = engine.model(ModelKind::Embed)?;
    let prompt = prompt(model, options.prompt_name)?;
    let dimensions = dimensions(model, options.dimensions)?;
    if inputs.iter().any(|input| matches!(input, EmbedInput::Ids(ids) if ids.is_empty())) {
        return Err(RequestError::Empty(
            "an input is an empty list of token ids; send at least one id, or a text",
        ));
    }
    if !prompt.is_empty() && inputs.iter().any(|input| matches!(input, EmbedInput::Ids(_))) {
        let reason = "prompt_name needs texts, not token ids: a prompt is tokenized together with its text";
        return Err(RequestError::Malformed(reason.to_owned()));
    }
    let tokenise = move |tokenizer: &TextTokenizer| {
        let tokenise = |(index, input): (usize, EmbedInput)| {
            let tokens = match input {
                EmbedInput::Text(text) if prompt.is_empty() => tokenizer.text(&text, options.truncation),
                EmbedInput::Text(text) => tokenizer.text(&format!("{prompt}{text}"), options.truncation),
                EmbedInput::Ids(ids) => tokenizer.ids(&ids, options.truncation),
            };
            tokens.map_err(|error| refused(index, error))
        };
        inputs.into_iter().enumerate().map(tokenise).collect()
    };
    let mut answer = engine.infer(ModelKind::Embed, tokenise).await?;
    for row in &mut answer.rows {
        row.truncate(dimensions);
        if options.normalise {
            normalise(row);
        }
    }
    Ok(answer)
}

/// The meaning of a body's `truncate` and `truncation_direction`.
pub(super) fn truncation(truncate: bool, direction: Option<TruncationDirection>) -> Truncation {
    if truncate { Truncation::Cut(direction.unwrap_or_default()) } else { Truncation::Refuse }
}

/// The text of a prompt; empty if none is requested.
pub(super) fn prompt(model: &Model, name: Option<&str>) -> Result<String, RequestError> {
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
