//! The boundaries between crates that no compiler checks: which direct dependencies a crate may have, and that only the
//! edges name commands, flags and tools.
#![expect(clippy::unwrap_used, reason = "a test")]

use clap::{Command, CommandFactory};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const CRATES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/crates");

/// Names of the direct dependencies of a crate, those for tests left out.
fn dependencies(name: &str) -> BTreeSet<String> {
    let path = Path::new(CRATES).join(name).join("Cargo.toml");
    let manifest: toml::Table = std::fs::read_to_string(path).unwrap().parse().unwrap();
    manifest["dependencies"].as_table().unwrap().keys().cloned().collect()
}

#[test]
fn crates_do_not_know_what_is_above_or_beside_them() {
    let edges = ["lyra", "lyra-mcp", "lyra-http"];
    let command_line = ["clap", "clap_complete", "clap_mangen", "indicatif"];
    let servers = ["axum", "hyper", "rmcp", "tower", "tower-http", "lyra-serve", "lyra-ml-server"];
    let outside = ["tokio", "reqwest", "sqlx", "tantivy"];
    let check = |name: &str, forbidden: &[&[&str]]| {
        let known = dependencies(name);
        for forbidden in forbidden.iter().copied().flatten() {
            assert!(!known.contains(*forbidden), "{name} depends on {forbidden}");
        }
    };
    let wire = dependencies("wire");
    let known = ["lyra-domain", "schemars", "serde", "serde_json"];
    assert!(wire.iter().all(|name| known.contains(&name.as_str())), "wire knows {wire:?}");
    check("usecases", &[&edges, &command_line, &servers]);
    check("mcp", &[&["lyra", "lyra-http"], &command_line]);
    check("http", &[&["lyra", "lyra-mcp", "rmcp"], &command_line]);
    for below in ["research", "domain", "graph", "fusion", "store", "corpus", "sources", "llm", "ml-client"] {
        check(below, &[&edges, &["lyra-usecases", "lyra-wire"], &command_line, &["axum", "rmcp"]]);
    }
    for pure in PURE {
        check(pure, &[&edges, &["lyra-usecases", "lyra-research"], &command_line, &servers, &outside]);
    }
}

/// Crates that do no I/O, to which time and randomness are given.
const PURE: [&str; 9] =
    ["domain", "text", "web", "documents", "graph", "bibliography", "fusion", "screening", "wire"];

#[test]
fn pure_crates_do_no_io() {
    let reach = ["std::fs", "std::env", "std::process", "std::thread", "Instant::now", "fastrand::Rng::new"];
    for name in PURE {
        for file in sources(&Path::new(CRATES).join(name).join("src")) {
            // It finds recorded pages for tests.
            if file.ends_with("web/src/testing.rs") {
                continue;
            }
            let code = std::fs::read_to_string(&file).unwrap();
            let code = code.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
            for reach in reach {
                assert!(!names(code, reach), "{} has {reach}", file.display());
            }
        }
    }
}

#[test]
fn what_reaches_outside_has_its_owners() {
    let owners: [(&str, &[&str]); 6] = [
        ("sqlx", &["store"]),
        ("libsqlite3-sys", &["store"]),
        ("tantivy", &["corpus"]),
        ("tantivy-fst", &["corpus"]),
        ("lyra-proto", &["ml-client"]),
        ("reqwest", &["corpus", "llm", "ml-client", "sources"]),
    ];
    for entry in std::fs::read_dir(CRATES).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let known = dependencies(&name);
        for (dependency, owners) in owners {
            let owns = owners.contains(&name.as_str());
            assert_eq!(known.contains(dependency), owns, "{name} and {dependency}");
        }
    }
}

/// Use cases that handle JSON as such, and what it is there.
const JSON: [(&str, &str); 7] = [
    ("access.rs", "the arguments of a call, for the audit log"),
    ("eval/set/lines.rs", "lines of a user's file, of which only some fields are known"),
    ("fusion/blend.rs", "recipes, judgments and measurements, which the store keeps as JSON"),
    ("fusion/fuse.rs", "the same"),
    ("fusion/saved.rs", "the same"),
    ("fusion/search.rs", "the same"),
    ("llm.rs", "an answer of a language model, as it is checked"),
];

/// The configuration alone has a schema of its own, of its file.
#[test]
fn use_cases_leave_shapes_to_wire() {
    let folder = Path::new(CRATES).join("usecases/src");
    let mut json = BTreeSet::new();
    for file in sources(&folder) {
        let name = file.strip_prefix(&folder).unwrap().to_str().unwrap().to_owned();
        if name == "config.rs" || name.starts_with("config/") {
            continue;
        }
        let code = std::fs::read_to_string(&file).unwrap();
        let code = code.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        assert!(!names(code, "JsonSchema"), "{name} has a schema; put the shape into `wire`");
        if names(code, "Value") || code.contains("json!") {
            json.insert(name);
        }
    }
    let expected: BTreeSet<String> = JSON.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(json, expected, "name a shape of `wire`, or list the file with its reason");
}

/// Every name of a command and every long flag, below this command.
fn command_words(command: &Command, words: &mut BTreeSet<String>) {
    let flags = command.get_arguments().filter_map(|argument| argument.get_long());
    words.extend(flags.map(|flag| format!("--{flag}")));
    for below in command.get_subcommands() {
        command_words(below, words);
    }
}

/// `lyra research` and the other commands, all flags, and the tools whose names are no plain words.
fn edge_words() -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    let command = lyra::cli::Cli::command();
    command_words(&command, &mut words);
    words.extend(command.get_subcommands().map(|command| format!("lyra {}", command.get_name())));
    for file in sources(&Path::new(CRATES).join("mcp/src/tools")) {
        let code = std::fs::read_to_string(file).unwrap();
        let names = code.lines().filter_map(|line| {
            line.trim().strip_prefix("const NAME: &'static str = \"")?.strip_suffix("\";")
        });
        words.extend(names.filter(|name| name.contains('_')).map(str::to_owned));
    }
    words
}

/// The Rust files below a folder, without those of tests.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("tests") {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|end| end == "rs") && !path.ends_with("tests.rs") {
            files.push(path);
        }
    }
    files
}

/// The texts of string literals, with lines that a backslash continues joined. Comments are left out.
fn literals(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = code;
    while let Some(at) = rest.find(['"', '/', '\'', 'r']) {
        let here = &rest[at..];
        let raw =
            here.strip_prefix('r').map(|tail| tail.trim_start_matches('#')).filter(|t| t.starts_with('"'));
        if here.starts_with("//") {
            rest = here.split_once('\n').map_or("", |(_, after)| after);
        } else if let Some(tail) = raw {
            let end = format!("\"{}", "#".repeat(here.len() - 1 - tail.len()));
            let (text, after) = tail[1..].split_once(end.as_str()).expect("a raw string ends");
            found.push(text.to_owned());
            rest = after;
        } else if let Some(tail) = here.strip_prefix('"') {
            let (mut text, mut chars) = (String::new(), tail.chars());
            while let Some(c) = chars.next().filter(|c| *c != '"') {
                match (c, chars.clone().next()) {
                    ('\\', Some('\n')) => chars = chars.as_str().trim_start().chars(),
                    ('\\', Some(_)) => {
                        chars.next();
                    }
                    _ => text.push(c),
                }
            }
            found.push(text);
            rest = chars.as_str();
        } else if here.starts_with("'\\") {
            rest = &here[3..];
            rest = rest.split_once('\'').map_or("", |(_, after)| after);
        } else if let Some(after) = here.strip_prefix("'\"'") {
            rest = after;
        } else {
            rest = &here[1..];
        }
    }
    found
}

/// Whether a text has these words, and not as part of longer ones.
fn names(text: &str, words: &str) -> bool {
    let inner = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    text.match_indices(words)
        .any(|(at, _)| !text[..at].ends_with(inner) && !text[at + words.len()..].starts_with(inner))
}

#[test]
fn only_edges_name_commands_flags_and_tools() {
    let words = edge_words();
    assert!(words.contains("lyra research") && words.contains("--data-dir") && words.contains("query_graph"));
    let mut found = Vec::new();
    let below = ["usecases", "research", "store", "corpus", "sources", "llm", "ml-client", "worker"];
    for name in below.into_iter().chain(PURE) {
        for file in sources(&Path::new(CRATES).join(name).join("src")) {
            // Flags of Chromium.
            if file.ends_with("sources/src/browser/process.rs") {
                continue;
            }
            let code = std::fs::read_to_string(&file).unwrap();
            let code = code.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
            for literal in literals(code) {
                let named = words.iter().filter(|words| names(&literal, words));
                found.extend(named.map(|words| format!("{}: `{words}` in {literal:?}", file.display())));
            }
        }
    }
    assert!(
        found.is_empty(),
        "use a `Remedy`, which each edge puts into its own words:\n{}",
        found.join("\n")
    );
}

#[test]
fn literals_are_found() {
    let code = r##"let a = "one \
        two"; // "not this"
        let b = ('"', '\'', "it\"s", r#"a "raw" text"#, 'x');
        fn lifetimes<'a>(a: &'a str) -> &'a str { "three" }"##;
    assert_eq!(literals(code), ["one two", "its", "a \"raw\" text", "three"]);
    assert!(names("run `lyra task list`", "lyra task") && !names("lyra tasks", "lyra task"));
}
