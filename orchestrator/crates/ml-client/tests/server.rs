//! The client and the pipeline's port against the real server with the repository's models.

#![allow(clippy::unwrap_used, clippy::allow_attributes, reason = "helpers of tests may panic")]

#[path = "../../../../ml-server/tests/common/tiny.rs"]
mod tiny;

use std::path::PathBuf;
use std::time::Duration;

use lyra_domain::Relation;
use lyra_ml_client::{ClientConfig, MlClient};
use lyra_ml_server::model::ModelSource;
use lyra_ml_server::{ServerConfig, ServerHandle, start};
use lyra_research::ports::{Inference, JudgeKind, TextRole, Verify};

async fn lite() -> (ServerHandle, MlClient) {
    let models = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../models");
    let model = |name: &str| Some(ModelSource::Gguf(models.join(name).with_extension("gguf")));
    serve(ServerConfig::new(model("lite-embed"), model("lite-nli"))).await
}

async fn serve(config: ServerConfig) -> (ServerHandle, MlClient) {
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
    let rows = client.embed(&texts, None).await.unwrap();
    assert_eq!(rows.len(), 10);
    for (text, row) in texts.iter().zip(&rows) {
        let alone = client.embed(std::slice::from_ref(text), None).await.unwrap();
        let dot: f32 = alone[0].iter().zip(row).map(|(a, b)| a * b).sum();
        assert!(dot > 0.9999, "{text}: {dot}");
    }
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn queries_and_passages_have_their_prompts() {
    const STATED: &str = r#"{"prompts": {"query": "red ", "document": "green "}}"#;
    let (_kept, folder) = tiny::folder(tiny::FAMILIES[0], false);
    let (_kept, classifier) = tiny::folder(tiny::FAMILIES[0], true);
    let served = async |folder: &PathBuf| {
        let models = [folder, &classifier].map(|folder| Some(ModelSource::Folder(folder.clone())));
        let [embed, nli] = models;
        serve(ServerConfig::new(embed, nli)).await
    };
    let (server, client) = served(&folder).await;
    assert!(!client.models().await.unwrap().prompts_known, "nothing is known of this model");
    server.shutdown().await;

    std::fs::write(folder.join("config_sentence_transformers.json"), STATED).unwrap();
    let (server, client) = served(&folder).await;
    let port: &dyn Inference = &client;
    let models = port.models().await.unwrap();
    assert!(models.prompts_known && models.embedder.ends_with("+prompts"), "{}", models.embedder);
    for (role, prompt) in [(TextRole::Query, "red"), (TextRole::Passage, "green")] {
        let text = "stone".to_owned();
        let prompted = client.embed(&[format!("{prompt} {text}")], None).await.unwrap();
        let plain = client.embed(std::slice::from_ref(&text), None).await.unwrap();
        let made = port.embed(role, &[text]).await.unwrap();
        assert_eq!(made, prompted);
        assert_ne!(made, plain);
    }
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_port_judges_and_describes() {
    let (server, client) = lite().await;
    let port: &dyn Inference = &client;
    let models = port.models().await.unwrap();
    assert_eq!((models.dimension, models.languages), (384, vec!["en".to_owned()]));
    assert_eq!((models.judge, models.threshold), (JudgeKind::Pairs, None));
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

/// Small models made up on the spot: an embedder, a verifier, and an NLI model if asked for.
async fn tiny_models(nli: bool) -> (ServerHandle, MlClient, Vec<tempfile::TempDir>) {
    let folders = [
        Some(tiny::folder(tiny::FAMILIES[0], false)),
        nli.then(|| tiny::folder(tiny::FAMILIES[0], true)),
        Some(tiny::verifier(tiny::VERIFIERS[1])),
    ];
    let [embed, nli, verify] =
        folders.each_ref().map(|folder| folder.as_ref().map(|(_, path)| ModelSource::Folder(path.clone())));
    let (server, client) = serve(ServerConfig { verify, ..ServerConfig::new(embed, nli) }).await;
    (server, client, folders.into_iter().flatten().map(|(parent, _)| parent).collect())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_port_asks_the_verifier_where_there_is_one() {
    for nli in [false, true] {
        let (server, client, _folders) = tiny_models(nli).await;
        let port: &dyn Inference = &client;
        let models = port.models().await.unwrap();
        assert_eq!((models.judge, models.threshold), (JudgeKind::Verifier, Some(0.625)));

        let item = |claim: &str, sentences: &[&str]| Verify {
            claim: claim.to_owned(),
            title: Some("green".to_owned()),
            sentences: sentences.iter().map(|&sentence| sentence.to_owned()).collect(),
        };
        let endless = "red ".repeat(300);
        let items: Vec<_> = (0..20)
            .map(|number| match number % 3 {
                0 => item("red stone", &["blue", "green stone", "red"]),
                1 => item("blue", &["stone"]),
                _ => item("green", &["blue", &endless, "red"]),
            })
            .collect();
        let verified = port.verify(&items).await.unwrap();
        for (number, verified) in verified.iter().enumerate() {
            assert_eq!(verified.rationale.len(), [3, 1, 1][number % 3]);
            let scores = verified.judgement.scores;
            assert!((scores.supports + scores.refutes + scores.neutral - 1.0).abs() < 1e-5);
            assert_eq!(verified.judgement, port.verify(&items[number..=number]).await.unwrap()[0].judgement);
        }
        let empty = port.verify(&[item("red", &[])]).await.unwrap_err();
        assert!(empty.to_string().contains("item 0 has no sentences"), "{empty}");

        // Pairs are judged all the same; the NLI model reads 16 tokens, the verifier 256.
        let pairs = [("red blue".to_owned(), "stone".to_owned()), ("red ".repeat(100), "stone".to_owned())];
        let judged = port.judge(&pairs).await.unwrap();
        assert_eq!(judged.iter().map(Option::is_some).collect::<Vec<_>>(), [true, !nli]);
        server.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_a_verifier_says_so() {
    let (server, client) = lite().await;
    let item = Verify { claim: "c".to_owned(), title: None, sentences: vec!["s".to_owned()] };
    let error = Inference::verify(&client, &[item]).await.unwrap_err();
    assert!(error.to_string().contains("--verify-model"), "{error}");
    server.shutdown().await;
}
