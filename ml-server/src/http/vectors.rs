//! What the routes that answer with vectors, or compare them, have in common.

use lyra_proto::{ModelKind, TruncationDirection};

use crate::engine::{Answer, Engine, too_long};
use crate::error::RequestError;
use crate::model::Model;
use crate::model::ops::normalise;
use crate::model::tokenizer::Truncation;

/// How texts become vectors.
pub(super) struct Options<'a> {
    /// Too long texts.
    pub(super) truncation: Truncation,
    /// Prompt to put before every text.
    pub(super) prompt_name: Option<&'a str>,
    /// Components to keep; all when absent.
    pub(super) dimensions: Option<usize>,
    /// Whether to scale to length 1.
    pub(super) normalise: bool,
}

/// One vector per text, in order.
///
/// # Errors
/// 400 for an unknown prompt or wrong dimensions, and what the engine answers.
pub(super) async fn vectors(
    engine: &Engine,
    texts: Vec<String>,
    options: Options<'_>,
) -> Result<Answer, RequestError> {
    let model = engine.model(ModelKind::Embed)?;
    let prompt = prompt(model, options.prompt_name)?;
    let dimensions = dimensions(model, options.dimensions)?;
    let _permit = engine.admit()?;

    let inputs = engine.tokenise(ModelKind::Embed, move |tokenizer| {
        let tokenise = |(index, text): (usize, &String)| {
            let text = if prompt.is_empty() { text.clone() } else { format!("{prompt}{text}") };
            tokenizer.text(&text, options.truncation).map_err(|error| too_long(index, &error))
        };
        texts.iter().enumerate().map(tokenise).collect()
    });
    let mut answer = engine.run(ModelKind::Embed, inputs.await?).await?;
    for row in &mut answer.rows {
        row.truncate(dimensions);
        if options.normalise {
            normalise(row);
        }
    }
    Ok(answer)
}

/// What a body's `truncate` and `truncation_direction` mean.
pub(super) fn truncation(truncate: bool, direction: Option<TruncationDirection>) -> Truncation {
    if truncate { Truncation::Cut(direction.unwrap_or_default()) } else { Truncation::Refuse }
}

/// The text of a prompt; empty when none is asked for.
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
