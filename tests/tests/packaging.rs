//! What is handed to registries and clients fits the binaries, and the repository holds only sources.

use serde_json::Value;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
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
fn the_packages_of_the_registry_are_named_as_they_prove_it() {
    let server = json(include_str!("../../packaging/server.json"));
    let readme = include_str!("../../packaging/README.md");
    // PyPI's description holds the name of the server, npm's manifest does as well.
    let name = server["name"].as_str().expect("a name");
    assert!(readme.contains(&format!("mcp-name: {name} ")), "{readme}");
    let packages = server["packages"].as_array().expect("packages");
    let kinds: Vec<&str> = packages.iter().filter_map(|package| package["registryType"].as_str()).collect();
    assert_eq!(kinds, ["pypi", "npm"], "scripts/release.sh adds the bundle");
    for package in packages {
        assert_eq!(package["version"], env!("CARGO_PKG_VERSION"), "{package}");
        assert_eq!(package["packageArguments"][0]["value"], "mcp", "{package}");
        let identifier = package["identifier"].as_str().expect("text");
        assert!(readme.contains(identifier), "{package}");
    }
}

#[test]
fn binstall_finds_the_archive_that_a_release_has() {
    let manifest: toml::Table = include_str!("../../orchestrator/Cargo.toml").parse().expect("TOML");
    let facts = &manifest["package"]["metadata"]["binstall"];
    let (version, target) = (env!("CARGO_PKG_VERSION"), "x86_64-unknown-linux-musl");
    let filled = |key: &str| {
        [
            ("repo", env!("CARGO_PKG_REPOSITORY")),
            ("name", "lyra"),
            ("bin", "lyra"),
            ("version", version),
            ("target", target),
            ("archive-suffix", ".tar.gz"),
            ("binary-ext", ""),
        ]
        .iter()
        .fold(facts[key].as_str().expect("text").to_owned(), |text, (name, value)| {
            text.replace(&format!("{{ {name} }}"), value)
        })
    };
    // The names that the script gives, with its variables filled in.
    let script = include_str!("../../scripts/release.sh");
    let name = script.lines().find_map(|line| line.strip_prefix("name=")).expect("the archive's name");
    let name = name.replace("$version", version).replace("$target", target);
    assert!(script.contains("tar -C dist -czf \"dist/$name.tar.gz\" \"$name\""), "{script}");
    assert!(script.contains("mkdir -p \"dist/$name\"/{bin,"), "{script}");
    let url = format!("{}/releases/download/v{version}/{name}.tar.gz", env!("CARGO_PKG_REPOSITORY"));
    assert_eq!(filled("pkg-url"), url);
    assert_eq!(filled("bin-dir"), format!("{name}/bin/lyra"));
}

/// A folder like the one that `scripts/release.sh` packs; a shell script stands in for the binaries.
fn release(folder: &Path) -> PathBuf {
    let release = folder.join(format!("lyra-{}-x86_64-unknown-linux-musl", env!("CARGO_PKG_VERSION")));
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for part in ["bin", "models", "man", "completions", "docs"] {
        std::fs::create_dir_all(release.join(part)).expect("a folder");
    }
    let script = "#!/bin/sh\necho \"$0 $*\"\nexit 7\n";
    for binary in ["lyra", "lyra-ml-server"] {
        let path = release.join("bin").join(binary);
        std::fs::write(&path, script).expect("written");
        let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&path, executable).expect("executable");
    }
    for file in ["models/lite-embed.gguf", "models/README.md", "man/lyra.1", "docs/mcp.md"] {
        std::fs::write(release.join(file), file).expect("written");
    }
    for shell in ["bash", "zsh", "fish"] {
        std::fs::write(release.join(format!("completions/lyra.{shell}")), shell).expect("written");
    }
    for file in ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"] {
        std::fs::copy(root.join(file), release.join(file)).expect("copied");
    }
    std::fs::copy(root.join("config/lyra.toml"), release.join("lyra.toml")).expect("copied");
    release
}

/// Runs a program; its output, and whether it succeeded.
fn ran(program: impl AsRef<OsStr>, folder: &Path, args: &[&OsStr]) -> Option<(bool, String)> {
    let output = Command::new(program.as_ref()).args(args).current_dir(folder).output().ok()?;
    let said = [output.stdout, output.stderr].concat();
    Some((output.status.success(), String::from_utf8_lossy(&said).into_owned()))
}

/// What `scripts/NAME` makes of a release, by its path; `None` if what it needs is not installed.
#[expect(clippy::print_stdout, reason = "says why a test skips")]
fn packed(script: &str, needs: &str, folder: &Path) -> Option<Vec<PathBuf>> {
    if ran(needs, folder, &["--version".as_ref()]).is_none() {
        println!("skipped: {needs} is not installed");
        return None;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts").join(script);
    let release = release(folder);
    let (done, said) = ran(script, folder, &[release.as_ref(), folder.as_ref()]).expect("it starts");
    assert!(done, "{said}");
    Some(said.lines().map(PathBuf::from).collect())
}

#[test]
fn the_wheel_installs_into_an_empty_environment() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(wheels) = packed("wheel.py", "python3", folder.path()) else { return };
    let [wheel] = &wheels[..] else { panic!("{wheels:?}") };
    let name = wheel.file_name().expect("a name").to_string_lossy();
    assert!(name.ends_with("-py3-none-manylinux_2_17_x86_64.musllinux_1_1_x86_64.whl"), "{name}");
    let environment = folder.path().join("venv");
    let made = ran("python3", folder.path(), &["-m".as_ref(), "venv".as_ref(), environment.as_ref()]);
    if made.as_ref().is_none_or(|(done, _)| !done) {
        println!("skipped: Python has no venv: {made:?}");
        return;
    }
    let args = ["install".as_ref(), "--quiet".as_ref(), "--no-index".as_ref(), wheel.as_ref()];
    let (done, said) = ran(environment.join("bin/pip"), folder.path(), &args).expect("pip");
    assert!(done, "{said}");
    for command in ["lyra", "lyra-evidence"] {
        let (_, said) =
            ran(environment.join("bin").join(command), folder.path(), &["mcp".as_ref()]).expect(command);
        assert!(said.ends_with("bin/lyra mcp\n"), "{command}: {said}");
    }
    let model = environment.join("share/lyra/models/lite-embed.gguf");
    assert_eq!(std::fs::read_to_string(model).expect("a model"), "models/lite-embed.gguf");
}

#[test]
fn the_npm_packages_install_into_an_empty_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(packages) = packed("npm.py", "npm", folder.path()) else { return };
    let [binary, command] = &packages[..] else { panic!("{packages:?}") };
    let project = folder.path().join("project");
    std::fs::create_dir(&project).expect("a folder");
    std::fs::write(project.join("package.json"), "{}").expect("written");
    let offline = ["install", "--offline", "--no-audit", "--no-fund", "--loglevel", "error"].map(OsStr::new);
    let (done, said) =
        ran("npm", &project, &[&offline[..], &[binary.as_ref(), command.as_ref()]].concat()).expect("npm");
    assert!(done, "{said}");
    let bin = project.join("node_modules/.bin");
    for command in ["lyra", "lyra-evidence"] {
        let output = Command::new(bin.join(command)).args(["a b", "mcp"]).output().expect(command);
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.ends_with("/lyra-evidence-linux-x64/bin/lyra a b mcp\n"), "{command}: {said}");
        assert_eq!(output.status.code(), Some(7), "the exit code is the binary's");
    }
    assert!(project.join("node_modules/lyra-evidence-linux-x64/models/lite-embed.gguf").is_file());
    let manifest = std::fs::read_to_string(project.join("node_modules/lyra-evidence/package.json"));
    let server = json(include_str!("../../packaging/server.json"));
    assert_eq!(json(&manifest.expect("a manifest"))["mcpName"], server["name"]);

    std::fs::remove_dir_all(project.join("node_modules/lyra-evidence-linux-x64")).expect("removed");
    let output = Command::new(bin.join("lyra")).output().expect("lyra");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("lyra-evidence-linux-x64 is not installed"), "{said}");
}

#[test]
fn the_debian_package_has_everything_in_its_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(packages) = packed("deb.sh", "dpkg-deb", folder.path()) else { return };
    let [package] = &packages[..] else { panic!("{packages:?}") };
    let root = folder.path().join("root");
    let (done, said) =
        ran("dpkg-deb", folder.path(), &["-x".as_ref(), package.as_ref(), root.as_ref()]).expect("dpkg-deb");
    assert!(done, "{said}");
    for file in [
        "usr/bin/lyra",
        "usr/bin/lyra-ml-server",
        "usr/share/lyra/models/lite-embed.gguf",
        "usr/share/man/man1/lyra.1.gz",
        "usr/share/bash-completion/completions/lyra",
        "usr/share/doc/lyra-evidence/copyright",
    ] {
        assert!(root.join(file).is_file(), "{file}");
    }
    let (_, said) =
        ran("dpkg-deb", folder.path(), &["--field".as_ref(), package.as_ref()]).expect("dpkg-deb");
    for line in
        ["Package: lyra-evidence", "Architecture: amd64", &format!("Version: {}", env!("CARGO_PKG_VERSION"))]
    {
        assert!(said.lines().any(|said| said == line), "{line}: {said}");
    }
    assert!(!said.contains("Depends:"), "a static binary needs nothing: {said}");
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

#[test]
fn the_readme_is_read_in_a_few_minutes() {
    let words = include_str!("../../README.md").split_whitespace().count();
    assert!(words <= 900, "README.md has {words} words, at most 900 are read; docs/ has room");
}
