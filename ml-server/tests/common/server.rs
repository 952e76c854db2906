//! A server over a real socket and a client to talk to it.

use lyra_ml_server::{ServerConfig, ServerHandle};
use lyra_proto::ErrorBody;
use reqwest::{Client, Response, StatusCode};
use serde_json::Value;

/// A running server and a client.
pub struct Server {
    pub handle: ServerHandle,
    pub client: Client,
}

/// A client that keeps its connections.
pub fn client() -> Client {
    lyra_tls::client().build().unwrap()
}

impl Server {
    /// A server of the repository's models.
    pub async fn lite(change: impl FnOnce(&mut ServerConfig)) -> Self {
        Self { handle: super::lite_server(change).await, client: client() }
    }

    /// Any server on a free port, ready.
    pub async fn start(config: ServerConfig) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let handle = lyra_ml_server::start(config, listener).unwrap();
        handle.ready().await.unwrap();
        Self { handle, client: client() }
    }

    pub async fn post(&self, path: &str, body: &Value) -> Response {
        self.client.post(format!("{}{path}", self.handle.url())).json(body).send().await.unwrap()
    }

    pub async fn get(&self, path: &str) -> Response {
        self.client.get(format!("{}{path}", self.handle.url())).send().await.unwrap()
    }

    /// Rows of `/embed`.
    pub async fn embed(&self, body: &Value) -> Vec<Vec<f32>> {
        let response = self.post("/embed", body).await;
        assert_eq!(response.status(), StatusCode::OK);
        response.json().await.unwrap()
    }

    /// The answer to a request that must fail with this status.
    pub async fn refused(&self, path: &str, body: &Value, status: u16) -> ErrorBody {
        error(self.post(path, body).await, status).await
    }
}

/// The body of an answer that must have this status.
pub async fn error(response: Response, status: u16) -> ErrorBody {
    assert_eq!(response.status().as_u16(), status);
    let body: ErrorBody = response.json().await.unwrap();
    assert!(!body.error_id.is_empty());
    body
}

/// Euclidean length.
pub fn length(row: &[f32]) -> f32 {
    row.iter().map(|x| x * x).sum::<f32>().sqrt()
}

/// Inner product.
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
