use super::*;
use std::collections::BTreeSet;

fn layers(text: &str, variables: &[(&str, &str)]) -> anyhow::Result<Layers> {
    let dir = tempfile::tempdir()?;
    let file = dir.path().join("lyra.toml");
    std::fs::write(&file, text)?;
    let variables = variables.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    Layers::read(Some(&file), variables)
}

#[track_caller]
fn wrong(text: &str, variables: &[(&str, &str)], expect: &[&str]) {
    let problems = layers(text, variables).expect("it is TOML").problems();
    assert_eq!(problems.len(), expect.len(), "{problems:?}");
    for expect in expect {
        assert!(
            problems.iter().any(|problem| problem.contains(expect)),
            "`{expect}` is not in: {problems:?}"
        );
    }
}

#[test]
fn unknown_keys_are_refused_with_the_nearest() {
    wrong("[server]\nprot = 1\n", &[], &["unknown key `server.prot`, did you mean `server.port`?"]);
    wrong("port = 1\n", &[], &["unknown key `port`, did you mean `server.port`?"]);
    wrong(
        "[sources.openalx]\nmailto = \"a\"\n",
        &[],
        &["unknown table [sources.openalx], did you mean [sources.openalex]?"],
    );
    wrong(
        "[serch.citation_filter]\nstage1_top_k = 1\n",
        &[],
        &["unknown table [serch], did you mean [search]?"],
    );
    wrong("zzz = 1\n", &[], &["unknown key `zzz`"]);
    // All of them together.
    wrong(
        "zzz = 1\n[server]\nprot = 1\nhots = 2\n",
        &[("LYRA__LOG__LEVL", "x")],
        &["hots", "prot", "zzz", "LEVL"],
    );
}

#[test]
fn unknown_variables_are_refused_with_the_nearest() {
    for (name, expect) in [
        (
            "LYRA__SERVER__PROT",
            "the variable LYRA__SERVER__PROT does not name a key, did you mean LYRA__SERVER__PORT?",
        ),
        ("LYRA__SERVER_PORT", "did you mean LYRA__SERVER__PORT?"),
        ("LYRA_SERVER_PORT", "the variable LYRA_SERVER_PORT is not read, did you mean LYRA__SERVER__PORT?"),
        ("LYRA_DATADIR", "the variable LYRA_DATADIR is not read, did you mean LYRA_DATA_DIR?"),
        ("LYRA_MODEL_DIR", "did you mean LYRA_MODELS_DIR?"),
        ("LYRA_CONFG", "did you mean LYRA_CONFIG?"),
        ("LYRA__SERVER", "names a table; name a key of it, such as LYRA__SERVER__"),
        ("LYRA__WORKERS__COUNT", "the variable LYRA__WORKERS__COUNT should be a whole number"),
        ("LYRA__RESEARCH__BM25_WEIGHT", "should be a number"),
        ("LYRA__SOURCES__WEB__ENGINES", "should be a list such as [\"a\", \"b\"] or a,b"),
    ] {
        wrong("", &[(name, "[x")], &[expect]);
    }
    let others = ["LYRA_ML_THREADS", "PATH", "LYRA_MEMORY", "LYRA_PORT", "LYRA_CUDA_LIBS", "LYRA_BIN"];
    for name in READ.into_iter().chain(others) {
        wrong("", &[(name, "x")], &[]);
    }
}

#[test]
fn values_of_the_wrong_kind_or_size_are_named_with_their_key() {
    wrong("[server]\nport = \"x\"\n", &[], &["`server.port` ("]);
    wrong("[server]\nport = 70000\n", &[], &["is 70000 and should be 0 to 65535"]);
    wrong("[research]\nbm25_weight = 1.5\n", &[], &["is 1.5 and should be 0 to 1"]);
    wrong("", &[("LYRA__RESEARCH__BM25_WEIGHT", "-1")], &["should be 0 to 1"]);
    wrong("server = 1\n", &[], &["write [server] above its keys"]);
    wrong("[server]\nauth = \"never\"\n", &[], &["`server.auth`"]);
    wrong("[sources]\ndefault = [\"web\", 1]\n", &[], &["`sources.default` ("]);
    assert!(layers("[server", &[]).is_err_and(|error| format!("{error:#}").contains("not valid TOML")));
}

#[test]
fn flags_win_over_the_environment_and_that_over_the_file() {
    let variables = [
        ("LYRA__SERVER__PORT", "2"),
        ("LYRA__SOURCES__DEFAULT", "web, openalex"),
        ("LYRA__SERVER__ALLOWED_HOSTS", "[\"a\"]"),
        ("LYRA__SOURCES__OPENALEX__API_KEY", "12345"),
        ("LYRA__ML__URL", ""),
    ];
    let text = "[server]\nport = 1\nmax_body_kb = 7\n[ml]\nurl = \"http://u:hidden@h:1\"\n[sources]\ndefault = \
        [\"x\"]\n";
    let mut layers = layers(text, &variables).expect("layers");
    layers.flag("log.level", "debug".into(), "--log");
    let config = layers.config().expect("a configuration");
    assert_eq!((config.server.port, config.server.max_body_kb), (2, 7));
    assert_eq!(config.sources.default, ["web", "openalex"]);
    assert_eq!(config.server.allowed_hosts, ["a"]);
    assert_eq!(config.ml.url, None, "an empty variable sets nothing");
    assert_eq!(config.log.level, "debug");
    let key = config.sources.openalex.api_key.expect("a key that looks like a number");
    assert_eq!(key.reveal(), Some("12345"));

    let settings = layers.settings();
    let find = |key: &str| settings.iter().find(|setting| setting.key == key).expect("a setting");
    assert_eq!(find("server.port").origin.to_string(), "environment LYRA__SERVER__PORT");
    assert!(find("server.max_body_kb").origin.to_string().ends_with("lyra.toml"));
    assert_eq!(find("log.level").origin, Origin::Flag("--log"));
    assert_eq!(find("workers.count").value, Some(2.into()));
    assert_eq!(find("workers.count").origin, Origin::Default);
    assert!(find("sources.openalex.api_key").hidden);
    let both = [("RUST_LOG", "lyra=trace"), ("LYRA__LOG__LEVEL", "info")];
    let mut layers = self::layers("[log]\nlevel = \"error\"\n", &both).expect("layers");
    assert_eq!(layers.config().expect("a configuration").log.level, "lyra=trace");
    layers.flag("log.level", "debug".into(), "--log");
    assert_eq!(layers.config().expect("a configuration").log.level, "debug", "flags win");
    assert!(!format!("{settings:?}").contains("12345"));
    assert_eq!(written(find("research.duplicate_similarity").value.as_ref().expect("a number")), "0.95");
}

#[test]
fn no_message_and_no_setting_shows_a_secret() {
    let text = "[ml]\nurl = \"http://user:hunter2@host:1\"\n[sources.web]\ntrusted_origins = \
        [\"http://u:hunter2@h\"]\n";
    let settings = layers(text, &[]).expect("layers").settings();
    let url = settings.iter().find(|setting| setting.key == "ml.url").expect("a setting");
    assert_eq!(url.value, Some("http://…@host:1".into()));
    assert!(!format!("{settings:?}").contains("hunter2"));
    // Neither a value of the wrong type nor an invalid TOML line is repeated.
    let problems = layers("[llm]\napi_key = 1234567\n", &[]).expect("layers").problems();
    assert!(problems[0].contains("`llm.api_key` (") && !problems[0].contains("1234567"), "{problems:?}");
    let error = format!("{:#}", layers("[llm]\napi_key = \"hunter2\n", &[]).expect_err("no TOML"));
    assert!(error.contains("line 2, column ") && !error.contains("hunter2"), "{error}");
}

#[test]
fn the_schema_in_the_repository_is_current() {
    let current = format!("{}\n", serde_json::to_string_pretty(&schema()).expect("JSON"));
    let kept = include_str!("../../../../../../config/lyra.schema.json");
    assert!(kept == current, "run: cargo run -p lyra -- config schema > config/lyra.schema.json");
    assert!(!current.contains("$ref"), "editors show more without references");
    for (key, schema) in keys() {
        assert!(schema["description"].as_str().is_some_and(|text| text.len() > 3), "{key} is not described");
    }
}

/// Every key is in the sample file, with its default or as an example behind `#`, and every example is valid.
#[test]
fn the_sample_file_names_every_key() {
    let sample = include_str!("../../../../../../config/lyra.toml");
    assert!(sample.starts_with("#:schema "), "editors look for the schema in the first line");
    let (mut table, mut named, mut examples) = (String::new(), BTreeSet::new(), String::new());
    for line in sample.lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            table = format!("{name}.");
        }
        let code = line.strip_prefix("# ").unwrap_or(line);
        let word = code.split(" =").next().unwrap_or_default();
        let is_key = code.contains(" = ")
            && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        if is_key {
            named.insert(format!("{table}{word}"));
        }
        if is_key || line.starts_with('[') {
            examples.push_str(code);
            examples.push('\n');
        }
    }
    let known: BTreeSet<String> = keys().iter().map(|(key, _)| key.clone()).collect();
    assert_eq!(named, known);
    assert_eq!(layers(&examples, &[]).expect("TOML").problems(), [""; 0]);
}

#[test]
fn every_source_outside_has_settings_and_a_name_to_choose_it_by() {
    let sources = Config::default().sources;
    let (_, chosen) = keys().iter().find(|(key, _)| key == "sources.default").expect("a key");
    let description = chosen["description"].as_str().unwrap_or_default();
    for provider in lyra_sources::PROVIDERS {
        let needs_settings = provider.kind() == lyra_research::ports::SourceKind::Api;
        assert_eq!(sources.api(provider.name).is_some(), needs_settings, "{}", provider.name);
        assert!(description.contains(&format!("`{}`", provider.name)), "{description}");
    }
}
