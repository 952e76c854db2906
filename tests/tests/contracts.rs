//! What others build on, as it is: the commands, the tools, the routes of the API and of the
//! model server. A change here is a change for users;
//! `INSTA_UPDATE=always cargo test -p lyra-tests --test contracts` writes the new snapshots, to be read in the diff.

use anyhow::Context;
use lyra_tests::TestApp;
use lyra_tests::mcp_client::StdioClient;
use lyra_tests::mcp_server::HttpServer;
use lyra_tests::ml_server::{MlServer, get};
use serde_json::{Value, json};
use std::fmt::Write;

fn agreed(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../contracts");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

/// Help of a command and of those below it.
fn help(app: &TestApp, command: &[&str], pages: &mut String) {
    let mut asked = app.command(&[command, &["--help"]].concat());
    // Help shows the variables' values.
    asked.env_remove("LYRA_DATA_DIR").env("COLUMNS", "100");
    let output = asked.output().expect("lyra runs");
    let page = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    writeln!(pages, "$ lyra {}\n\n{page}", [command, &["--help"]].concat().join(" "))
        .expect("text takes text");
    let listed = page.split("\nCommands:\n").nth(1).unwrap_or_default();
    for line in listed.lines().take_while(|line| !line.is_empty()) {
        // Continued descriptions are indented further.
        let name = line.strip_prefix("  ").filter(|line| !line.starts_with(' '));
        if let Some(name) = name.and_then(|line| line.split(' ').next()).filter(|name| *name != "help") {
            help(app, &[command, &[name]].concat(), pages);
        }
    }
}

#[test]
fn the_help_of_every_command() {
    let mut pages = String::new();
    help(&TestApp::new(), &[], &mut pages);
    assert!(pages.matches("$ lyra ").count() > 50, "{pages}");
    agreed("help", &pages);
}

#[tokio::test]
async fn the_tools_resources_and_prompts() -> anyhow::Result<()> {
    let app = TestApp::new();
    let mut lyra = StdioClient::start(&app).await?;
    for (name, method) in [
        ("tools", "tools/list"),
        ("resources", "resources/list"),
        ("resource-templates", "resources/templates/list"),
        ("prompts", "prompts/list"),
    ] {
        let answer = lyra.request(method, json!({})).await?;
        agreed(name, &serde_json::to_string_pretty(&answer)?);
    }
    lyra.close().await
}

#[tokio::test]
async fn the_routes_of_the_model_server() -> anyhow::Result<()> {
    let server = MlServer::start().await?;
    let answer = get(server.address(), "/openapi.json").await?;
    let (_, body) = answer.split_once("\r\n\r\n").context("a body")?;
    let document: Value = serde_json::from_str(body).context("JSON")?;
    agreed("openapi", &serde_json::to_string_pretty(&document)?);
    Ok(())
}

#[tokio::test]
async fn the_routes_of_the_api() -> anyhow::Result<()> {
    let app = TestApp::new();
    let server = HttpServer::start(&app).await?;
    let answer = server.request("GET /api/v1/openapi.json", &[], "").await?;
    let document: Value = serde_json::from_str(&answer.body).context("JSON")?;
    agreed("api", &serde_json::to_string_pretty(&document)?);
    server.stop().await
}
