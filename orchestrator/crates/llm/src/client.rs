//! Queries to a model, with bounded retries.

use crate::openai::Dialect;
use crate::prompts::Messages;
use crate::{Error, Prompts, Result, ollama, openai, wire};
use async_trait::async_trait;
use lyra_research::ports::{Accept, LanguageModel, Prompt, Reply};
use reqwest::RequestBuilder;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use std::time::Duration;
use tokio::sync::Semaphore;
use url::Url;

/// Limit of connecting, within that of the whole request.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Pause before a retry when the server names none.
const PAUSE: Duration = Duration::from_millis(500);
/// The longest pause to wait for.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Whose API is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provider {
    /// Ollama's `/api/chat`.
    Ollama,
    /// OpenAI's `/chat/completions`, or a server that speaks the same.
    OpenAi,
}

impl Provider {
    /// Its name in the configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ollama => "ollama",
            Self::OpenAi => "openai",
        }
    }

    /// Where it is by default.
    pub const fn base_url(self) -> &'static str {
        match self {
            Self::Ollama => "http://127.0.0.1:11434",
            Self::OpenAi => "https://api.openai.com/v1",
        }
    }
}

/// The model and the limits of its requests.
#[derive(Debug, Clone)]
pub struct LlmConfig {
    /// API.
    pub provider: Provider,
    /// Address that the API's paths are under; the provider's own when absent.
    pub base_url: Option<String>,
    /// Name of the model.
    pub model: String,
    /// Key, sent as a bearer token.
    pub api_key: Option<SecretString>,
    /// Limit of one request.
    pub timeout: Duration,
    /// Parallel requests.
    pub max_concurrent: usize,
}

/// A language model behind an API.
#[derive(Debug)]
pub struct Client {
    config: LlmConfig,
    endpoint: Url,
    name: String,
    http: reqwest::Client,
    prompts: Prompts,
    slots: Semaphore,
    dialect: Dialect,
}

/// Requests per question.
#[derive(Debug, Default)]
struct Tally {
    calls: u32,
    failures: u32,
}

impl Client {
    /// A client with these prompts. It does not connect yet.
    ///
    /// # Errors
    /// [`Error::Setting`]: no model, an invalid address, a key that is not a valid header value.
    pub fn new(config: LlmConfig, prompts: Prompts) -> Result<Self> {
        let setting = |setting, why: String| Error::Setting { setting, why };
        if config.model.trim().is_empty() {
            let why = "it is missing; `ollama list`, or the provider's page, lists the models";
            return Err(setting("llm.model", why.to_owned()));
        }
        let endpoint = endpoint(&config)?;
        let mut http = lyra_tls::client()
            // A redirect would carry the key and the text to an address that is not configured.
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT_TIMEOUT)
            .user_agent(concat!("Lyra/", env!("CARGO_PKG_VERSION")));
        if is_loopback(&endpoint) {
            http = http.no_proxy();
        }
        let http = http.build().map_err(|error| setting("llm.base_url", error.to_string()))?;
        Ok(Self {
            name: format!("{}:{}", config.provider.as_str(), config.model.trim()),
            slots: Semaphore::new(config.max_concurrent.max(1)),
            dialect: Dialect::default(),
            config,
            endpoint,
            http,
            prompts,
        })
    }

    /// The server's address.
    pub fn endpoint(&self) -> &Url {
        &self.endpoint
    }

    async fn answer(&self, prompt: &Prompt, accept: Accept<'_>, tally: &mut Tally) -> Result<Value> {
        let messages = self.prompts.render(prompt)?;
        // Closed never: it lives as long as this.
        let _slot = self.slots.acquire().await;
        match self.attempt(prompt, &messages, accept, tally).await {
            Err(Error::Malformed { why }) => {
                tracing::debug!(purpose = %prompt.purpose, why, "retrying the request to the language model");
                self.attempt(prompt, &messages.after(&why), accept, tally).await
            }
            other => other,
        }
    }

    /// One answer, read and checked.
    async fn attempt(
        &self,
        prompt: &Prompt,
        messages: &Messages,
        accept: Accept<'_>,
        tally: &mut Tally,
    ) -> Result<Value> {
        let body = self.completion(prompt, messages, tally).await?;
        let content = match self.config.provider {
            Provider::Ollama => ollama::content(body),
            Provider::OpenAi => openai::content(body),
        };
        let answer = content.and_then(|content| {
            let value = wire::object(&content).map_err(|why| Error::Malformed { why })?;
            accept(&value).map_err(|why| Error::Malformed { why })?;
            Ok(value)
        });
        tally.failures += u32::from(answer.is_err());
        answer
    }

    /// The server's answer. Transient failures are retried once; an unsupported parameter is dropped.
    async fn completion(&self, prompt: &Prompt, messages: &Messages, tally: &mut Tally) -> Result<Value> {
        let mut retried = false;
        loop {
            let used = self.dialect.now();
            tally.calls += 1;
            let error = match self.send(prompt, messages, used).await {
                Ok(body) => return Ok(body),
                Err(error) => error,
            };
            tally.failures += 1;
            if self.config.provider == Provider::OpenAi && self.dialect.learn(&error, used) {
                tracing::info!(%error, "the language model's server does not support this parameter; it is omitted \
                    from now on");
                continue;
            }
            let Error::Busy { retry_after, .. } = &error else { return Err(error) };
            let pause = retry_after.unwrap_or(PAUSE);
            if retried || pause > LONGEST_PAUSE {
                return Err(error);
            }
            retried = true;
            tokio::time::sleep(pause).await;
        }
    }

    async fn send(&self, prompt: &Prompt, messages: &Messages, used: openai::Used) -> Result<Value> {
        let model = self.config.model.trim();
        let body = match self.config.provider {
            Provider::Ollama => ollama::body(model, messages, &prompt.schema),
            Provider::OpenAi => openai::body(model, messages, prompt.purpose, &prompt.schema, used),
        };
        let secret = self.config.api_key.as_ref().map(ExposeSecret::expose_secret);
        let request = self.http.post(self.endpoint.clone()).json(&body);
        wire::send(authorised(request, secret), self.config.timeout, secret).await
    }
}

#[async_trait]
impl LanguageModel for Client {
    fn name(&self) -> &str {
        &self.name
    }

    fn concurrency(&self) -> usize {
        self.config.max_concurrent.max(1)
    }

    async fn ask(&self, prompt: &Prompt, accept: Accept<'_>) -> Reply {
        let mut tally = Tally::default();
        let answer = self.answer(prompt, accept, &mut tally).await.map_err(Into::into);
        Reply { answer, calls: tally.calls, failures: tally.failures }
    }
}

/// With the key as a bearer token, which reqwest marks as sensitive.
fn authorised(request: RequestBuilder, secret: Option<&str>) -> RequestBuilder {
    match secret {
        Some(secret) => request.bearer_auth(secret),
        None => request,
    }
}

fn endpoint(config: &LlmConfig) -> Result<Url> {
    let base = config.base_url.as_deref().unwrap_or(config.provider.base_url());
    let wrong = |why: &str| Error::Setting { setting: "llm.base_url", why: why.to_owned() };
    let not_one = format!("`{base}` is not an address such as {}", config.provider.base_url());
    let mut url: Url = base.trim().parse().map_err(|_| wrong(&not_one))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(wrong(&not_one));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("it contains a user name or password; put the key into llm.api_key"));
    }
    let path = match config.provider {
        Provider::Ollama => ollama::PATH,
        Provider::OpenAi => openai::PATH,
    };
    let full = format!("{}/{path}", url.path().trim_end_matches('/'));
    url.set_path(&full);
    url.set_fragment(None);
    Ok(url)
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        Some(url::Host::Domain(name)) => name == "localhost",
        None => false,
    }
}
