//! What is handed to registries and clients fits the binaries, and the repository holds only sources.

use serde_json::Value;
use std::path::Path;
use std::process::Command;

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn the_bundle_and_the_registry_have_the_version_of_the_binaries() {
    let manifest = json(include_str!("../../packaging/mcpb/manifest.json"));
    let server = json(include_str!("../../packaging/server.json"));
    for (file, version) in [("manifest.json", &manifest["version"]), ("server.json", &server["version"])] {
        assert_eq!(version, env!("CARGO_PKG_VERSION"), "{file}");
    }
    // The registry takes no longer description.
    let description = server["description"].as_str().expect("text");
    assert!((1..=100).contains(&description.chars().count()), "{description}");
    assert_eq!(manifest["server"]["mcp_config"]["args"], serde_json::json!(["mcp"]));
}

#[test]
fn the_variables_of_the_bundle_are_keys_of_the_configuration() {
    let manifest = json(include_str!("../../packaging/mcpb/manifest.json"));
    let names = manifest["server"]["mcp_config"]["env"].as_object().expect("variables");
    let app = lyra_tests::TestApp::new();
    let mut command = app.command(&["task", "list", "--json"]);
    // What a client fills in for settings that the user left empty.
    command.envs(names.keys().filter(|name| name.starts_with("LYRA__")).map(|name| (name, "")));
    let output = command.output().expect("lyra runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn nothing_that_a_build_writes_is_tracked() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let output = Command::new("git").args(["ls-files", "--cached"]).current_dir(root).output();
    let listed = match output {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).into_owned(),
        _ => {
            println!("skipped: this is no git checkout");
            return;
        }
    };
    let built: Vec<&str> = listed
        .lines()
        .filter(|file| {
            file.split('/').any(|part| ["target", "node_modules", "__pycache__", "dist"].contains(&part))
        })
        .collect();
    assert!(built.is_empty(), "tracked, although a build writes it: {built:#?}");
}
