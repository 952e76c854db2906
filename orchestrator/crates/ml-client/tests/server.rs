//! The client and the pipeline's port against the real server with the repository's models.

#![allow(clippy::unwrap_used, clippy::allow_attributes, reason = "helpers of tests may panic")]

use std::path::PathBuf;
use std::time::Duration;

use lyra_domain::Relation;
use lyra_ml_client::{ClientConfig, MlClient};
use lyra_ml_server::{Profile, ServerConfig, ServerHandle, start};
use lyra_research::ports::Inference;

async fn lite() -> (ServerHandle, MlClient) {
    let models = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../models");
    let config = ServerConfig::from_profile(Profile::Lite, Some(&models), true).unwrap();
    let server = start(config, tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap()).unwrap();
    let config = ClientConfig { batch_size: 3, ..ClientConfig::default() };
    let client = MlClient::with_config(server.url(), config).unwrap();
    client.wait_ready(Duration::from_secs(30)).await.unwrap();
    (server, client)
}

#[tokio::test(flavor = "multi_thread")]
async fn batches_keep_their_order() {
    let (server, client) = lite().await;
    let texts: Vec<String> = (0..10).map(|i| format!("text number {i}")).collect();
    let rows = client.embed(&texts).await.unwrap();
    assert_eq!(rows.len(), 10);
    for (text, row) in texts.iter().zip(&rows) {
        let alone = client.embed(std::slice::from_ref(text)).await.unwrap();
        let dot: f32 = alone[0].iter().zip(row).map(|(a, b)| a * b).sum();
        assert!(dot > 0.9999, "{text}: {dot}");
    }
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_port_judges_and_describes() {
    let (server, client) = lite().await;
    let port: &dyn Inference = &client;
    let models = port.models().await.unwrap();
    assert_eq!((models.dimension, models.languages), (384, vec!["en".to_owned()]));
    assert_eq!((models.embedder.as_str(), models.classifier.as_str()), ("all-MiniLM-L6-v2", "lyra-lite-nli"));

    let premise = "The trial found that the vaccine prevented infection in most participants.";
    let pairs = [
        "The vaccine prevented infection.",
        "The vaccine did not prevent infection.",
        "The participants were healthy adults.",
    ]
    .map(|hypothesis| (premise.to_owned(), hypothesis.to_owned()));
    let judged = port.judge(&pairs).await.unwrap();
    let relations: Vec<_> = judged.iter().flatten().map(|judgement| judgement.relation).collect();
    assert_eq!(relations, [Relation::Supports, Relation::Refutes, Relation::Neutral]);
    server.shutdown().await;
}
