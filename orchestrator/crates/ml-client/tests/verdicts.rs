//! Passages against claims, as the pipeline judges them, with the repository's pair classifier behind the real server: negation,
//! figures, long texts, text about something else.

#![allow(clippy::unwrap_used, clippy::allow_attributes, reason = "helpers of tests may panic")]

use std::path::PathBuf;
use std::time::Duration;

use lyra_domain::Relation::{self, Neutral, Refutes, Supports};
use lyra_ml_client::MlClient;
use lyra_ml_server::model::ModelSource;
use lyra_ml_server::{ServerConfig, ServerHandle, start};
use lyra_research::{ResearchConfig, Verdict, hold_against};

async fn lite() -> (ServerHandle, MlClient) {
    let models = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../models");
    let model = |name: &str| Some(ModelSource::Gguf(models.join(name).with_extension("gguf")));
    let config = ServerConfig::new(model("lite-embed"), model("lite-nli"));
    let server = start(config, tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap()).unwrap();
    let client = MlClient::new(server.url()).unwrap();
    client.wait_ready(Duration::from_secs(30)).await.unwrap();
    (server, client)
}

async fn held(client: &MlClient, claim: &str, passage: &str) -> Option<Verdict> {
    let config = ResearchConfig::default();
    let verdicts = hold_against(client, &config, claim, &[(passage, Some("en"))]).await.unwrap();
    verdicts.into_iter().next().unwrap()
}

async fn check(client: &MlClient, claim: &str, passage: &str, expect: Relation) {
    let verdict = held(client, claim, passage).await.unwrap();
    assert_eq!(verdict.judgement.relation, expect, "{claim} | {passage}: {verdict:?}");
    assert!(passage.contains(&verdict.premise), "{verdict:?}");
}

const NAP: &str = "Sixty volunteers learned word lists at noon. Half of them slept for twenty minutes and half read a magazine. \
    The nap improved word recall. All of them were paid for their time.";
const NO_NAP: &str = "Sixty volunteers learned word lists at noon. Half of them slept for twenty minutes and half read a \
    magazine. The nap did not improve word recall. All of them were paid for their time.";
// prose: ok
const FIGURES: &str = "We followed 800 schools for two years. Telework reduced the output of call centre agents by 8%. Sick \
    days were counted as well.";

#[tokio::test(flavor = "multi_thread")]
async fn negation_decides() {
    let (server, client) = lite().await;
    check(&client, "The nap improved word recall.", NAP, Supports).await;
    check(&client, "The nap did not improve word recall.", NAP, Refutes).await;
    check(&client, "The nap improved word recall.", NO_NAP, Refutes).await;
    check(&client, "The nap did not improve word recall.", NO_NAP, Supports).await;
    check(&client, "The nap impaired word recall.", NAP, Refutes).await;
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn figures_decide() {
    let (server, client) = lite().await;
    check(&client, "Telework reduced the output of call centre agents by 8%.", FIGURES, Supports).await; // prose: ok
    check(&client, "Telework reduced the output of call centre agents by 45%.", FIGURES, Refutes).await; // prose: ok
    check(&client, "Telework increased the output of call centre agents by 8%.", FIGURES, Refutes).await; // prose: ok
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn text_about_something_else_is_neutral() {
    let (server, client) = lite().await;
    for claim in [
        "Biochar increased maize yield on acid soils.",
        "Biochar did not increase maize yield on acid soils.",
        "Statins lower the risk of stroke by 20%.",
        "The nap room was painted blue.",
    ] {
        check(&client, claim, NAP, Neutral).await;
        check(&client, claim, NO_NAP, Neutral).await;
    }
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_passage_that_says_both_is_no_evidence() {
    let (server, client) = lite().await;
    let both = "In the first trial the nap improved word recall. In the second trial the nap did not improve word recall.";
    let verdict = held(&client, "The nap improved word recall.", both).await.unwrap();
    assert_eq!(verdict.judgement.relation, Neutral, "{verdict:?}");
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_long_passage_says_last_is_read() {
    let (server, client) = lite().await;
    let filler = "The rooms were quiet and the light was dimmed in every one of them. ".repeat(80);
    check(
        &client,
        "The nap improved word recall.",
        &format!("{filler}The nap improved word recall."),
        Supports,
    )
    .await;
    check(
        &client,
        "The nap improved word recall.",
        &format!("{filler}The nap did not improve word recall."),
        Refutes,
    )
    .await;
    server.shutdown().await;
}

/// A sentence with more tokens than the model reads: it is judged in parts, and none is skipped.
#[tokio::test(flavor = "multi_thread")]
async fn a_sentence_longer_than_the_model_reads_is_judged_in_parts() {
    let (server, client) = lite().await;
    let codes: String = (0..60).fold(String::new(), |text, i| text + &format!("x{i}; "));
    let sentence = format!("In rooms {codes}the nap improved word recall.");
    let pair = |premise: &str| (premise.to_owned(), "The nap improved word recall.".to_owned());
    let answers =
        client.nli(&[pair("Naps help."), pair(&sentence.repeat(4)), pair("Naps help.")]).await.unwrap();
    assert_eq!(answers.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false, true]);

    let codes: String = (0..110).fold(String::new(), |text, i| text + &format!("{i};x "));
    let verdict = held(
        &client,
        "The nap improved word recall.",
        &format!("In rooms {codes}the nap improved word recall."),
    )
    .await;
    assert_eq!(verdict.map(|verdict| verdict.judgement.relation), Some(Supports));

    let endless = "nap ".repeat(2_000);
    assert_eq!(held(&client, &endless, NAP).await, None);
    server.shutdown().await;
}
