//! Tests of what the configuration says is wrong.

use super::*;

fn load(text: &str) -> anyhow::Result<Config> {
    let dir = tempfile::tempdir()?;
    let file = dir.path().join("lyra.toml");
    std::fs::write(&file, text)?;
    Config::load(Some(&file))
}

#[test]
fn the_sample_file_holds_the_defaults() {
    assert_eq!(load(include_str!("../../../../../config/lyra.toml")).unwrap(), Config::default());
}

#[test]
fn a_key_is_read_and_never_shown() {
    let config = load("[sources.openalex]\napi_key = \"hidden\"\n").unwrap();
    assert_eq!(config.sources.openalex.api_key.as_ref().and_then(Secret::reveal), Some("hidden"));
    assert!(!format!("{config:?}").contains("hidden"));
}

#[test]
fn a_language_model_is_configured_by_either_name() {
    let config = load("[llm]\nprovider = \"openai-compatible\"\napi_key = \"hidden\"\n").unwrap();
    assert_eq!(config.llm.provider, LlmProvider::OpenAi);
    assert!(!format!("{config:?}").contains("hidden"));
    let error = format!("{:#}", load("[llm]\nprovider = \"gpt\"\n").unwrap_err());
    assert!(error.contains("gpt") && error.contains("ollama"), "{error}");
}

#[test]
fn what_is_no_origin_of_a_web_page_is_named() {
    let text = "[server]\nallowed_origins = [\"https://app.example:8443\", \"chrome-extension://abc\", \
        \"app.example\", \"https://app.example/mcp\"]\n";
    let problems = load(text).unwrap().problems();
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(problems[0].contains("`app.example` is not an origin"), "{problems:?}");
    assert!(problems[1].contains("`https://app.example/mcp`"), "{problems:?}");
}

#[test]
fn only_named_sites_may_frame_pages() {
    let text = "[server]\nframe_ancestors = [\"https://intranet.example:8443\", \"http://127.0.0.1:3000/\", \"*\", \
        \"https://a.example; script-src *\", \"https://a.example https://b.example\", \"https://*.example\", \
        \"https://a.example/x\", \"data:text/html,x\", \"https://u@a.example\"]\n";
    let problems = load(text).unwrap().problems();
    assert_eq!(problems.len(), 7, "{problems:?}");
    assert!(problems[0].contains("`*` is not an origin of web pages"), "{problems:?}");
}

#[test]
fn an_address_of_no_server_is_named_without_its_password() {
    let problems = load("[ml]\nurl = \"u:hidden@h\"\n").unwrap().problems();
    assert_eq!(problems, ["`ml.url`: `h` should be an address such as http://127.0.0.1:8421"]);
    let problem = address_problem("`url`", "foo").unwrap();
    assert!(problem.starts_with("`url`: `foo` should be an address"), "{problem}");
    assert_eq!(address_problem("`url`", "http://user:hidden@127.0.0.1:8421/"), None);
}

#[test]
fn sources_and_profiles_that_do_not_exist_are_named() {
    let data = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(data.path().join("corpora/papers")).unwrap();
    let text = "[sources]\ndefault = [\"corpora\", \"s2\", \"web\", \"example\", \"papers\", \"opnalex\"]\n\
        [ml]\nprofile = \"fasst\"\n";
    let config = Config { data_dir: Some(data.path().to_owned()), ..load(text).unwrap() };
    let problems = config.problems();
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(problems[0].starts_with("`ml.profile`: `fasst` is not one of lite, fast,"), "{problems:?}");
    assert!(problems[1].contains("`opnalex` is neither a source nor an imported corpus"), "{problems:?}");
    assert!(problems[1].ends_with("did you mean `openalex`?"), "{problems:?}");
}

#[test]
fn an_unknown_key_is_named() {
    let error = format!("{:#}", load("[server]\nprot = 1\n").unwrap_err());
    assert!(error.contains("prot"), "{error}");
}
