//! One ml-server: a request for each of its routes, checked against what was asked, and how it has been doing.

use std::time::{Duration, Instant};

use lyra_proto::{
    EMBEDDING_SHAPE_HEADER, EmbedRequest, ErrorBody, ErrorType, InfoResponse, NliRequest, NliResponse,
    NliResult, NliScores, ReadyResponse, VerifyRequest, VerifyResponse, VerifyResult,
};
use lyra_research::trace;
use reqwest::header::{ACCEPT, CONTENT_TYPE, RETRY_AFTER};
use reqwest::{Client, RequestBuilder, Response, StatusCode, Url};
use tracing::Instrument;

use crate::ClientConfig;
use crate::breaker::Breaker;
use crate::error::Error;
use crate::load::Load;
use crate::standing::Standing;

/// Names the trace that a request belongs to (W3C Trace Context).
const TRACEPARENT: &str = "traceparent";
/// By how much the length of a vector, or the sum of three scores, may differ from 1: what 16-bit numbers lose.
const ROUNDING: f32 = 0.05;

/// A server at an address.
#[derive(Debug)]
pub(crate) struct Server {
    base: String,
    /// The same as errors name it, without a password.
    shown: String,
    http: Client,
    /// Stops requests to it while it keeps failing.
    pub(crate) breaker: Breaker,
    /// What it has to do, and how fast it is.
    pub(crate) load: Load,
    /// Whether it may answer in the place of others.
    pub(crate) standing: Standing,
}

impl Server {
    pub(crate) fn new(base_url: &str, config: &ClientConfig) -> Result<Self, Error> {
        let base = base_url.trim_end_matches('/').to_owned();
        let shown = without_password(&base);
        let http = lyra_tls::client().timeout(config.timeout).connect_timeout(config.connect_timeout).build();
        let http = http.map_err(|error| Error::Protocol { url: shown.clone(), reason: chain(&error) })?;
        let breaker = Breaker::new(config.failures_to_open, config.open_for);
        Ok(Self { base, shown, http, breaker, load: Load::default(), standing: Standing::default() })
    }

    /// Its address without a password.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    /// Its address.
    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    /// One attempt at a request, with the circuit breaker before and after it.
    pub(crate) async fn attempt<T>(&self, call: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        self.breaker
            .check(Instant::now())
            .map_err(|retry_in| Error::CircuitOpen { url: self.shown.clone(), retry_in })?;
        let result = call.await;
        match &result {
            Err(error) if error.counts_against_server() => self.breaker.failed(Instant::now()),
            _ => self.breaker.succeeded(),
        }
        result
    }

    pub(crate) async fn info(&self) -> Result<InfoResponse, Error> {
        let response = self.send(self.http.get(self.at("/info"))).await?;
        response.json().await.map_err(|error| self.unfit(chain(&error)))
    }

    pub(crate) async fn ready(&self) -> Result<ReadyResponse, Error> {
        let response =
            self.http.get(self.at("/ready")).send().await.map_err(|error| self.unreachable(&error))?;
        response.json().await.map_err(|error| self.unfit(chain(&error)))
    }

    /// A vector of length 1 for each of `texts`.
    pub(crate) async fn embed(&self, texts: &[String], prompt: Option<&str>) -> Result<Vec<Vec<f32>>, Error> {
        let request =
            EmbedRequest { prompt_name: prompt.map(str::to_owned), ..EmbedRequest::new(texts.to_vec()) };
        let post = self.http.post(self.at("/embed")).header(ACCEPT, "application/octet-stream");
        let response = self.send(post.json(&request)).await?;
        let shape = response.headers().get(EMBEDDING_SHAPE_HEADER).and_then(|shape| shape.to_str().ok());
        let shape = shape.unwrap_or_default().to_owned();
        let bytes = response.bytes().await.map_err(|error| self.unreachable(&error))?;
        let vectors = rows(&bytes, &shape, texts.len()).ok_or_else(|| {
            let texts = texts.len();
            self.unfit(format!("{texts} texts gave {} bytes of shape `{shape}`", bytes.len()))
        })?;
        let is_unit = |vector: &Vec<f32>| {
            let square: f32 = vector.iter().map(|value| value * value).sum();
            (square.sqrt() - 1.0).abs() <= ROUNDING
        };
        match vectors.iter().position(|vector| !is_unit(vector)) {
            Some(at) => Err(self.unfit(format!("vector {at} does not have the length 1"))),
            None => Ok(vectors),
        }
    }

    /// A judgment per pair.
    pub(crate) async fn nli(&self, request: &NliRequest) -> Result<Vec<NliResult>, Error> {
        let response = self.send(self.http.post(self.at("/nli")).json(request)).await?;
        let answer: NliResponse = response.json().await.map_err(|error| self.unfit(chain(&error)))?;
        let (pairs, results) = (request.pairs.len(), answer.results.len());
        if pairs != results {
            return Err(self.unfit(format!("{pairs} pairs gave {results} results")));
        }
        self.distributions(answer.results.iter().map(|result| result.scores))?;
        Ok(answer.results)
    }

    /// A verdict per item.
    pub(crate) async fn verify(&self, request: &VerifyRequest) -> Result<Vec<VerifyResult>, Error> {
        let response = self.send(self.http.post(self.at("/verify")).json(request)).await?;
        let answer: VerifyResponse = response.json().await.map_err(|error| self.unfit(chain(&error)))?;
        let (items, results) = (request.items.len(), answer.results.len());
        if items != results {
            return Err(self.unfit(format!("{items} items gave {results} results")));
        }
        for (item, result) in request.items.iter().zip(&answer.results) {
            let (sentences, scores) = (item.sentences.len(), result.rationale.len());
            if scores == 0 || scores > sentences {
                return Err(self.unfit(format!("{sentences} sentences gave {scores} scores")));
            }
        }
        self.distributions(answer.results.iter().map(|result| result.scores))?;
        Ok(answer.results)
    }

    /// That these are probabilities which sum to 1.
    fn distributions(&self, mut scores: impl Iterator<Item = NliScores>) -> Result<(), Error> {
        let fits = |scores: NliScores| {
            let parts = [scores.supports, scores.refutes, scores.neutral];
            let sum: f32 = parts.iter().sum();
            parts.iter().all(|part| (0.0..=1.0).contains(part)) && (sum - 1.0).abs() <= ROUNDING
        };
        match scores.position(|scores| !fits(scores)) {
            Some(at) => {
                Err(self.unfit(format!("the scores of result {at} are no probabilities that sum to 1")))
            }
            None => Ok(()),
        }
    }

    /// Sends a request; an answer that is not a success becomes an error.
    async fn send(&self, request: RequestBuilder) -> Result<Response, Error> {
        let (client, request) = request.build_split();
        let mut request = request.map_err(|error| self.unfit(chain(&error)))?;
        let kind = lyra_telemetry::kind("client");
        let span = tracing::info_span!("ml_request", path = request.url().path(), otel.kind = kind);
        let sent = async {
            if let Some(value) = trace::traceparent().and_then(|parent| parent.to_string().parse().ok()) {
                request.headers_mut().insert(TRACEPARENT, value);
            }
            client.execute(request).await
        };
        let response = sent.instrument(span).await.map_err(|error| self.unreachable(&error))?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let retry_after =
            response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
        let retry_after = retry_after.map(Duration::from_secs);
        let body = error_body(response).await;
        let code = status.as_u16();
        Err(match status {
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
                Error::Busy { status: code, body, retry_after }
            }
            StatusCode::FAILED_DEPENDENCY => Error::Failed { status: code, body },
            status if status.is_client_error() => Error::Refused { status: code, body },
            _ => Error::Failed { status: code, body },
        })
    }

    fn at(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    fn unreachable(&self, error: &reqwest::Error) -> Error {
        Error::Unreachable { url: self.shown.clone(), reason: chain(error) }
    }

    fn unfit(&self, reason: String) -> Error {
        Error::Protocol { url: self.shown.clone(), reason }
    }
}

/// A base URL as others may see it.
fn without_password(base: &str) -> String {
    let Ok(mut url) = Url::parse(base) else { return base.to_owned() };
    if url.username().is_empty() && url.password().is_none() {
        return base.to_owned();
    }
    // Addresses that cannot have a user have none.
    let _ = url.set_password(None);
    let _ = url.set_username("…");
    url.as_str().trim_end_matches('/').replace("%E2%80%A6", "…")
}

/// Rows of little-endian f32, if `bytes` holds as many as `shape` (`rows,columns`) says and `expected` rows.
fn rows(bytes: &[u8], shape: &str, expected: usize) -> Option<Vec<Vec<f32>>> {
    let (rows, columns) = shape.split_once(',')?;
    let (rows, columns): (usize, usize) = (rows.trim().parse().ok()?, columns.trim().parse().ok()?);
    if rows != expected || columns == 0 || bytes.len() != rows.checked_mul(columns)?.checked_mul(4)? {
        return None;
    }
    let value = |bytes: &[u8]| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    Some(bytes.chunks_exact(4 * columns).map(|row| row.chunks_exact(4).map(value).collect()).collect())
}

/// The server's explanation, or that of a proxy in between.
async fn error_body(response: Response) -> ErrorBody {
    let is_json = response
        .headers()
        .get(CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
    let explain =
        |error: String| ErrorBody { error, error_type: ErrorType::Backend, error_id: "none".to_owned() };
    if is_json {
        return response.json().await.unwrap_or_else(|error| explain(chain(&error)));
    }
    let text = response.text().await.unwrap_or_default();
    explain(text.chars().take(200).collect())
}

/// An error with its causes: reqwest's own message omits them.
fn chain(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
