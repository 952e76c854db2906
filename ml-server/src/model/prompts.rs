//! Prompts of embedders, for queries and for passages.
//!
//! Names and texts are those of the models' own cards and `config_sentence_transformers.json`.

use std::collections::BTreeMap;

use lyra_proto::EmbedPrompts;

use super::spec::{ModelSpec, Task};

/// What models call their prompt for queries, the most usual first.
const QUERY: [&str; 6] =
    ["query", "search_query", "retrieval.query", "s2p_query", "web_search_query", "Retrieval-query"];
/// What models call their prompt for passages.
const PASSAGE: [&str; 6] =
    ["passage", "document", "search_document", "retrieval.passage", "corpus", "Retrieval-document"];

/// Models that need prompts missing from their files: part of the name, prompt for queries, prompt for passages.
const WANTING: [(&str, &str, &str); 9] = [
    ("multilingual-e5-", "query: ", "passage: "),
    ("e5-small", "query: ", "passage: "),
    ("e5-base", "query: ", "passage: "),
    ("e5-large", "query: ", "passage: "),
    ("nomic-embed-text", "search_query: ", "search_document: "),
    ("ruri-v3-", "検索クエリ: ", "検索文書: "),
    ("bge-small-en", BGE, ""),
    ("bge-base-en", BGE, ""),
    ("bge-large-en", BGE, ""),
];
/// Prompt of the English models of the BGE family.
const BGE: &str = "Represent this sentence for searching relevant passages: ";
/// Models that need none.
const PLAIN: [&str; 10] = [
    "lyra-lite",
    "bge-m3",
    "all-minilm",
    "all-mpnet",
    "multi-qa-",
    "paraphrase-",
    "gte-modernbert",
    "gte-base-en",
    "gte-large-en",
    "granite-embedding",
];

/// A model's own prompts, or the known ones for its name when its own are all empty: `sentence-transformers` writes
/// empty ones for every model.
pub(super) fn stated_or_known(name: &str, mut stated: BTreeMap<String, String>) -> BTreeMap<String, String> {
    let name = last_part(name);
    // Those that are trained with a task in words state it themselves.
    if stated.values().any(|text| !text.is_empty()) || name.contains("instruct") {
        return stated;
    }
    if let Some((_, query, passage)) = WANTING.iter().find(|(part, ..)| name.contains(part)) {
        let named = [("query", query), ("passage", passage)].into_iter().filter(|(_, text)| !text.is_empty());
        stated.extend(named.map(|(name, text)| (name.to_owned(), (*text).to_owned())));
    }
    stated
}

/// The prompts by purpose; `None` for a classifier, and if the model's needs are unknown.
pub(crate) fn of(spec: &ModelSpec) -> Option<EmbedPrompts> {
    if !matches!(spec.task, Task::Embed(_)) {
        return None;
    }
    let wanted = |name: &&&str| spec.prompts.get(**name).is_some_and(|text| !text.is_empty());
    let first = |names: &[&str]| names.iter().find(wanted).map(ToString::to_string);
    let prompts = EmbedPrompts { query: first(&QUERY), passage: first(&PASSAGE) };
    let name = last_part(&spec.name);
    let known = prompts != EmbedPrompts::default() || PLAIN.iter().any(|part| name.contains(part));
    known.then_some(prompts)
}

/// The name without its owner or folder.
fn last_part(name: &str) -> String {
    let name = name.trim_end_matches('/');
    name.rsplit('/').next().unwrap_or(name).to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompts(name: &str, stated: &[(&str, &str)]) -> BTreeMap<String, String> {
        let stated = stated.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        stated_or_known(name, stated)
    }

    #[test]
    fn what_a_model_states_comes_first() {
        let stated = prompts("intfloat/multilingual-e5-base", &[("query", "Q: "), ("document", "")]);
        assert_eq!((stated["query"].as_str(), stated["document"].as_str()), ("Q: ", ""));
    }

    #[test]
    fn known_models_have_theirs() {
        let e5 = prompts("intfloat/multilingual-e5-small", &[("query", ""), ("document", "")]);
        assert_eq!((e5["query"].as_str(), e5["passage"].as_str()), ("query: ", "passage: "));
        assert_eq!(prompts("/models/bge-large-en-v1.5/", &[])["query"], BGE);
        assert!(prompts("BAAI/bge-m3", &[]).is_empty());
        assert!(prompts("intfloat/multilingual-e5-large-instruct", &[]).is_empty());
        assert!(prompts("someone/own-model", &[]).is_empty());
    }
}
