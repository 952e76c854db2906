//! Local corpora.

use super::call::{Call, Reply, within};
use super::route::{Nothing, Route, delete, get};
use super::upload;
use crate::problem::Failure;
use lyra_corpus::backend::FeatureScope;
use lyra_corpus::{CorpusInfo, Method};
use lyra_wire::json::word;
use lyra_wire::{Corpus, CorpusDocument, CorpusHit, CorpusSearch, Removed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most documents of a search, and how many without a limit.
const MOST_HITS: usize = 100;
const HITS: usize = 10;

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/corpora", "list_corpora", "Every corpus, by name", list),
        get("/corpora/{name}", "get_corpus", "One corpus", show),
        delete("/corpora/{name}", "remove_corpus", "Delete a corpus; what tasks took from it stays", remove),
        get("/corpora/{name}/search", "search_corpus", "Search a corpus", search),
        get("/corpora/{name}/documents/{doc_id}", "get_document", "A document of a corpus", document),
        upload::route(),
    ]
}

/// The corpora.
#[derive(Debug, Serialize, JsonSchema)]
struct Corpora {
    /// By name.
    corpora: Vec<Corpus>,
}

async fn list(call: Call, _: Nothing) -> Result<Reply<Corpora>, Failure> {
    let corpora = call.app().list_corpora().await?.into_iter().map(corpus).collect();
    Ok(Corpora { corpora }.into())
}

async fn show(call: Call, _: Nothing) -> Result<Reply<Corpus>, Failure> {
    Ok(corpus(call.app().show_corpus(call.part("name")).await?).into())
}

/// Where a corpus is on the disk concerns no caller.
fn corpus(info: CorpusInfo) -> Corpus {
    let words = |scopes: &[FeatureScope]| scopes.iter().map(word).collect();
    Corpus {
        documents: info.documents,
        embedded: info.embedded,
        pending: words(&info.pending),
        scopes: words(&info.scopes),
        embedder: info.embedder,
        dimension: info.dimension,
        created: info.created.to_string(),
        bytes: info.bytes,
        backend: info.backend.to_string(),
        problem: info.problem,
        unfinished: !info.unfinished.is_empty(),
        name: info.name,
    }
}

async fn remove(call: Call, _: Nothing) -> Result<Reply<Removed>, Failure> {
    let name = call.part("name");
    call.app().remove_corpus(name).await?;
    Ok(Removed { removed: name.to_owned() }.into())
}

/// What to search a corpus for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SearchCorpus {
    /// What to search for, in words.
    #[schemars(length(min = 1))]
    query: String,
    /// Most documents, 1 to 100, default 10.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<usize>,
    /// How to search. Default: `hybrid`.
    method: Option<MethodName>,
}

/// How a corpus is searched.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum MethodName {
    /// By words.
    Bm25,
    /// By meaning.
    Dense,
    /// By both.
    Hybrid,
}

async fn search(call: Call, query: SearchCorpus) -> Result<Reply<CorpusSearch>, Failure> {
    let limit = within("limit", query.limit.unwrap_or(HITS), 1..=MOST_HITS)?;
    let method = match query.method {
        Some(MethodName::Bm25) => Method::Bm25,
        Some(MethodName::Dense) => Method::Dense,
        Some(MethodName::Hybrid) | None => Method::Hybrid,
    };
    let found = call.app().search_corpus(call.part("name"), &query.query, method, limit).await?;
    let mut hits = Vec::with_capacity(found.hits.len());
    for hit in found.hits {
        let document = serde_json::to_value(&hit.document)
            .map_err(|error| Failure::internal(format!("a document cannot be written: {error}")))?;
        let (rank, score, bm25, cosine) = (hit.rank, hit.score, hit.bm25, hit.cosine);
        hits.push(CorpusHit { rank, score, bm25, cosine, document });
    }
    Ok(CorpusSearch { method: word(&found.method), note: found.note, embedder: found.embedder, hits }.into())
}

async fn document(call: Call, _: Nothing) -> Result<Reply<CorpusDocument>, Failure> {
    let found = call.app().show_corpus_document(call.part("name"), call.part("doc_id")).await?;
    let document = serde_json::to_value(&found)
        .map_err(|error| Failure::internal(format!("the document cannot be written: {error}")))?;
    Ok(CorpusDocument(document).into())
}
