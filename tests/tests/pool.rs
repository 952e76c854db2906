//! Several real ml-servers: one that is killed, halted, or hosts other models.

#![allow(clippy::unwrap_used, clippy::allow_attributes, reason = "helpers of tests may panic")]

use lyra_ml_client::{ClientConfig, MlClient};
use lyra_tests::TestApp;
use lyra_tests::ml_server::{MlServer, free_port};
use serde_json::Value;
use std::process::Command;
use std::time::Duration;

fn texts() -> Vec<String> {
    let sentence =
        |number| format!("Participant {number} recalled {} words after a nap of 20 minutes.", number % 17);
    (0..400).map(sentence).collect()
}

fn pairs() -> Vec<(String, String)> {
    let texts = texts().into_iter().take(120);
    texts.map(|text| (text, "Naps improve the recall of words.".to_owned())).collect()
}

fn client(servers: &[&MlServer]) -> MlClient {
    let urls: Vec<String> = servers.iter().map(|server| server.url()).collect();
    let config = ClientConfig {
        batch_size: 8,
        second_after: Duration::from_millis(500),
        examined_for: Duration::from_secs(1),
        ..ClientConfig::default()
    };
    MlClient::of_servers(&urls, config).unwrap()
}

/// Whether vectors and judgments are those of `expected`, up to what batches of other sizes change.
async fn agrees(client: &MlClient, expected: &MlClient) {
    let (vectors, others) =
        (client.embed(&texts(), None).await.unwrap(), expected.embed(&texts(), None).await.unwrap());
    assert_eq!(vectors.len(), others.len());
    for (mine, theirs) in vectors.iter().zip(&others) {
        let cosine: f32 = mine.iter().zip(theirs).map(|(a, b)| a * b).sum();
        assert!(cosine > 0.9999, "{cosine}");
    }
    let (judged, others) = (client.nli(&pairs()).await.unwrap(), expected.nli(&pairs()).await.unwrap());
    for (mine, theirs) in judged.iter().zip(&others) {
        let (mine, theirs) = (mine.unwrap(), theirs.unwrap());
        assert_eq!(mine.label, theirs.label);
        assert!((mine.confidence - theirs.confidence).abs() < 1e-3, "{mine:?} {theirs:?}");
    }
}

/// Halts a process, or lets it go on.
fn signal(name: &str, server: &MlServer) {
    let pid = server.pid().expect("it runs").to_string();
    assert!(Command::new("kill").args(["-s", name, &pid]).status().unwrap().success());
}

/// A server with the models of another profile than the others.
async fn other_models() -> anyhow::Result<MlServer> {
    MlServer::start_in(free_port()?, |command| {
        let mut other = Command::new(command.get_program());
        other.args(command.get_args().map(|arg| if arg == "fast" { "lite".as_ref() } else { arg }));
        other.env("RUST_LOG", "warn");
        other
    })
    .await
}

/// What `lyra doctor` says of the servers at these addresses, and its exit code.
fn doctor(urls: &[String]) -> (Value, Option<i32>) {
    let app = TestApp::new();
    let args = ["doctor", "--json", "--ml-url", &urls.join(",")];
    let output = app.command(&args).env("LYRA__SERVER__PORT", "0").output().unwrap();
    let findings: Value = serde_json::from_slice(&output.stdout).unwrap();
    let finding = findings.as_array().unwrap().iter().find(|finding| finding["part"] == "ml-server");
    (finding.cloned().unwrap_or_else(|| panic!("{findings}")), output.status.code())
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_names_servers_that_cannot_be_used_and_why() -> anyhow::Result<()> {
    let (first, second) = (MlServer::start().await?, MlServer::start().await?);
    let silent = format!("http://{}", free_port()?);
    let (finding, _) = doctor(&[first.url(), second.url()]);
    assert_ne!(finding["health"], "broken", "{finding}");
    let seen = finding["seen"].as_str().unwrap();
    assert!(seen.contains(&first.url()) && seen.contains(&second.url()), "{seen}");

    let (finding, _) = doctor(&[first.url(), silent.clone()]);
    assert_eq!(finding["health"], "note", "{finding}");
    let seen = finding["seen"].as_str().unwrap();
    assert!(seen.contains("1 of 2 are not used") && seen.contains(&silent), "{seen}");

    let other = other_models().await?;
    let (finding, code) = doctor(&[first.url(), other.url()]);
    assert_eq!((&finding["health"], code), (&"broken".into(), Some(1)), "{finding}");
    let seen = finding["seen"].as_str().unwrap();
    for part in [&first.url(), &other.url(), "lyra-lite-nli", "lyra-lite-verify"] {
        assert!(seen.contains(part), "`{part}` is not in {seen}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_killed_halted_or_started_again_changes_no_result() -> anyhow::Result<()> {
    let address = free_port()?;
    let (alone, mut first) = (MlServer::start().await?, MlServer::start_at(address).await?);
    let (second, third) = (MlServer::start().await?, MlServer::start().await?);
    let (expected, pool) = (client(&[&alone]), client(&[&first, &second, &third]));
    agrees(&pool, &expected).await;

    let work = tokio::spawn({
        let (pool, expected) = (pool.clone(), expected.clone());
        async move {
            for _ in 0..3 {
                agrees(&pool, &expected).await;
            }
        }
    });
    tokio::time::sleep(Duration::from_millis(300)).await;
    first.kill().await?;
    work.await?;
    assert!(pool.examine().await[0].is_some());

    signal("STOP", &second);
    agrees(&pool, &expected).await;
    signal("CONT", &second);

    let _first = MlServer::start_at(address).await?;
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    agrees(&pool, &expected).await;
    assert!(pool.examine().await.iter().all(Option::is_none));
    Ok(())
}
