//! The language model, when one is configured.

use super::doctor::Finding;
use super::web::Web;
use crate::config::{LlmProvider, LlmSettings};
use lyra_llm::{Client, LlmConfig, Prompts, Provider};
use lyra_research::ports::{LanguageModel, Purpose};
use lyra_research::{Llm, check_answer, sample_prompt};
use lyra_web::danger::Severity;
use secrecy::SecretString;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The client that the settings describe; `None` when no provider is chosen. It does not connect yet.
///
/// # Errors
/// A setting or a prompt that cannot be used, named.
fn client(settings: &LlmSettings) -> anyhow::Result<Option<Client>> {
    let provider = match settings.provider {
        LlmProvider::None => return Ok(None),
        LlmProvider::Ollama => Provider::Ollama,
        LlmProvider::OpenAi => Provider::OpenAi,
    };
    anyhow::ensure!(
        (0.0..=1.0).contains(&settings.time_share),
        "llm.time_share: {} is not a share of the time; write 0 to 1",
        settings.time_share
    );
    let prompts = Prompts::open(settings.prompts_dir.as_deref())?;
    let config = LlmConfig {
        provider,
        base_url: settings.base_url.clone(),
        model: settings.model.clone().unwrap_or_default(),
        api_key: settings.api_key.as_ref().and_then(|key| key.reveal()).map(SecretString::from),
        timeout: Duration::from_secs(settings.timeout_seconds.max(1)),
        max_concurrent: settings.max_concurrent,
    };
    Ok(Some(Client::new(config, prompts)?))
}

/// The language model for tasks: text that matches dangerous patterns is withheld from it.
///
/// # Errors
/// A setting or a prompt that cannot be used, named.
pub(super) fn open(settings: &LlmSettings, web: &Web) -> anyhow::Result<Option<Llm>> {
    let rules = web.rules();
    Ok(client(settings)?.map(|client| Llm {
        model: Arc::new(client),
        time_share: settings.time_share,
        is_hostile: Arc::new(move |text| {
            rules.patterns().in_text(text).iter().any(|finding| finding.severity >= Severity::Medium)
        }),
    }))
}

/// Asks a small question, as a task would.
pub(super) async fn examine(settings: &LlmSettings) -> Finding {
    const PART: &str = "llm";
    let client = match client(settings) {
        Ok(Some(client)) => client,
        Ok(None) => return Finding::ok(PART, "none: rules extract claims"),
        Err(error) => {
            let remedy = "fix [llm] in the configuration, or set provider = \"none\"";
            return Finding::broken(PART, format!("{error:#}"), remedy);
        }
    };
    let begun = Instant::now();
    let accept = |answer: &serde_json::Value| check_answer(Purpose::Relevance, answer);
    let reply = client.ask(&sample_prompt(Purpose::Relevance), &accept).await;
    let place = format!("{} at {}", client.name(), client.endpoint());
    match reply.answer {
        Ok(_) if reply.failures == 0 => Finding::ok(
            PART,
            format!("{place} answered a question in {:.1} s", begun.elapsed().as_secs_f64()),
        ),
        Ok(_) => Finding::note(
            PART,
            format!("{place} answered a question after {} failed attempts", reply.failures),
            "a model that follows a JSON schema answers at once",
        ),
        Err(error) => Finding::broken(
            PART,
            format!("{place}: {error}"),
            "start the server, or correct base_url, model and api_key under [llm]; until then rules take its place",
        ),
    }
}
