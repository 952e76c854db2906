//! Searches for evidence in a corpus on a cluster: BM25, vectors, and the mix of both, as in local corpora; and its tags
//! and collections.

use super::dsl;
use super::mapping::vector_field;
use super::paragraphs;
use super::record;
use super::shelf::Shelf;
use crate::backend::{FeatureScope, Filter, ValueField};
use crate::search::{BM25_WEIGHT, BODY_SCORE, Narrow, POOL, TITLE_WEIGHT, Texts, Within, without_embeddings};
use crate::{CorpusError, CorpusHit, Label, Labels, Method, Result, labels as forms};
use lyra_domain::ranking::{min_max, mix};
use lyra_domain::vector::dot;
use lyra_text::{Analysis, bigrams, content_words, tokens};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use tokio_util::sync::CancellationToken;

/// Neighbors that the graph of vectors is searched for, at least.
const LEAST_NEIGHBOURS: usize = 200;
/// Names per page of all tags.
const NAMES: usize = 1_000;

#[derive(Default)]
struct Candidate {
    bm25: Option<f64>,
    cosine: Option<f64>,
    score: f64,
}

/// The best `k` documents.
pub(crate) async fn search(
    shelf: &Shelf,
    query: &str,
    method: Method,
    k: usize,
    vector: Option<&[f32]>,
    narrow: &Narrow,
    stop: &CancellationToken,
) -> Result<Vec<CorpusHit>> {
    if narrow.within == Within::Notes && method != Method::Bm25 {
        return Err(CorpusError::Search {
            why: format!("notes have no embeddings, which {method} search compares"),
            expected: "search them with bm25".to_owned(),
        });
    }
    shelf.check_once(stop).await?;
    check_labels(shelf, &narrow.filters, stop).await?;
    let dimension = shelf.manifest.dimension;
    if let Some(vector) = vector {
        if dimension == 0 {
            let documents = shelf.count(&json!({"match_all": {}}), stop).await?;
            return Err(without_embeddings(documents, !shelf.manifest.pending.is_empty()));
        }
        if vector.len() != dimension {
            return Err(CorpusError::BadEmbedding {
                got: format!("a query vector of {} numbers", vector.len()),
                expected: dimension.to_string(),
            });
        }
    }
    let needed = || vector.ok_or_else(|| CorpusError::NoQueryVector { why: "none was given".to_owned() });
    let mut candidates: HashMap<String, Candidate> = HashMap::new();
    let pool = if method == Method::Hybrid { POOL.max(k) } else { k };
    let words = clause(query, narrow.within);
    if method != Method::Dense
        && let Some(words) = &words
    {
        for (id, score) in top(shelf, words, pool, &narrow.filters, stop).await? {
            candidates.entry(id).or_default().bm25 = Some(score);
        }
    }
    if method != Method::Bm25 {
        for (id, score) in nearest(shelf, needed()?, pool, &narrow.filters, stop).await? {
            candidates.entry(id).or_default().cosine = Some(score);
        }
    }
    match method {
        Method::Bm25 => candidates.values_mut().for_each(|c| c.score = c.bm25.unwrap_or(0.0)),
        Method::Dense => candidates.values_mut().for_each(|c| c.score = c.cosine.unwrap_or(0.0)),
        Method::Hybrid => mixed(shelf, words.as_ref(), needed()?, &mut candidates, stop).await?,
    }
    let mut ranked: Vec<(String, Candidate)> = candidates.into_iter().collect();
    ranked.sort_by(|a, b| b.1.score.total_cmp(&a.1.score).then_with(|| a.0.cmp(&b.0)));
    ranked.truncate(k);
    hits(shelf, ranked, (narrow.texts, query), stop).await
}

/// Scores of both kinds for every candidate, and their mix.
async fn mixed(
    shelf: &Shelf,
    words: Option<&Value>,
    vector: &[f32],
    candidates: &mut HashMap<String, Candidate>,
    stop: &CancellationToken,
) -> Result<()> {
    let without = |has: fn(&Candidate) -> bool, all: &HashMap<String, Candidate>| -> Vec<String> {
        all.iter().filter(|(_, candidate)| !has(candidate)).map(|(id, _)| id.clone()).collect()
    };
    let unscored = without(|candidate| candidate.bm25.is_some(), candidates);
    if let Some(words) = words.filter(|_| !unscored.is_empty()) {
        let among = json!({"bool": {"must": [words], "filter": [{"terms": {"id": unscored}}]}});
        for (id, score) in scored(shelf, &among, unscored.len(), stop).await? {
            candidates.entry(id).or_default().bm25 = Some(score);
        }
    }
    let far = without(|candidate| candidate.cosine.is_some(), candidates);
    let vectors = shelf.vectors(&far, FeatureScope::Wide, stop).await?;
    let mut ids: Vec<String> = candidates.keys().cloned().collect();
    ids.sort();
    for id in &ids {
        let candidate = candidates.entry(id.clone()).or_default();
        candidate.bm25 = Some(candidate.bm25.unwrap_or(0.0));
        let of_document = || vectors.get(id).map_or(0.0, |own| cosine(own, vector));
        candidate.cosine = Some(candidate.cosine.unwrap_or_else(of_document));
    }
    let of = |get: fn(&Candidate) -> Option<f64>| -> Vec<f64> {
        ids.iter().filter_map(|id| get(candidates.get(id)?)).collect()
    };
    let (bm25, cosines) = (of(|candidate| candidate.bm25), of(|candidate| candidate.cosine));
    let scores: Vec<f64> = mix(&min_max(&bm25), &min_max(&cosines), BM25_WEIGHT).into_iter().collect();
    for (id, score) in ids.into_iter().zip(scores) {
        candidates.entry(id).or_default().score = score;
    }
    Ok(())
}

fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let length = |vector: &[f32]| f64::from(dot(vector, vector)).sqrt();
    let lengths = length(a) * length(b);
    if lengths > 0.0 { f64::from(dot(a, b)) / lengths } else { 0.0 }
}

/// Any text as a disjunction of its words. `None` when there is no word in it.
fn clause(text: &str, within: Within) -> Option<Value> {
    let cut = |stop| tokens(text, Analysis { stem: false, stop });
    let words = Some(cut(true)).filter(|words| !words.is_empty()).unwrap_or_else(|| cut(false));
    if words.is_empty() {
        return None;
    }
    let words: Vec<String> = words.into_iter().map(|word| word.text).collect();
    let query = words.join(" ");
    let matching = |field: &str, boost: f32| json!({"match": {field: {"query": query, "boost": boost}}});
    Some(match within {
        Within::Paper => {
            let mut should = vec![matching("title.words", TITLE_WEIGHT), matching("paper", 1.0)];
            should.extend(in_bodies(text, words));
            json!({"bool": {"should": should}})
        }
        Within::Notes => matching("notes", 1.0),
    })
}

/// One clause of [`BODY_SCORE`] per distinct word, and pair of characters where words are not apart.
fn in_bodies(text: &str, words: Vec<String>) -> impl Iterator<Item = Value> {
    let apart = words.into_iter().filter(|word| bigrams(word).is_empty());
    let by_stem: BTreeMap<String, String> =
        apart.map(|word| (content_words(&word).join(" "), word)).collect();
    let pairs: BTreeSet<String> = bigrams(text).into_iter().map(|pair| pair.text).collect();
    by_stem
        .into_values()
        .chain(pairs)
        .map(|token| json!({"constant_score": {"filter": {"match": {"desc": token}}, "boost": BODY_SCORE}}))
}

async fn top(
    shelf: &Shelf,
    clause: &Value,
    k: usize,
    filters: &[Filter],
    stop: &CancellationToken,
) -> Result<Vec<(String, f64)>> {
    let clause = dsl::filtered(clause.clone(), &dsl::filters(filters));
    scored(shelf, &clause, k, stop).await
}

async fn nearest(
    shelf: &Shelf,
    vector: &[f32],
    k: usize,
    filters: &[Filter],
    stop: &CancellationToken,
) -> Result<Vec<(String, f64)>> {
    let (field, filters) = (vector_field(FeatureScope::Wide), dsl::filters(filters));
    let clause =
        dsl::knn(&field, vector, (2 * k).clamp(LEAST_NEIGHBOURS, crate::backend::MAX_TOP_K), &filters);
    let found = scored(shelf, &clause, k, stop).await?;
    Ok(found.into_iter().map(|(id, score)| (id, 2.0 * score - 1.0)).collect())
}

async fn scored(
    shelf: &Shelf,
    clause: &Value,
    k: usize,
    stop: &CancellationToken,
) -> Result<Vec<(String, f64)>> {
    let body = json!({"size": k, "query": clause, "_source": false, "track_total_hits": false});
    let answer = shelf.cluster.search(Some(&shelf.index), &body, stop).await?;
    let found = answer["hits"]["hits"].as_array().map(Vec::as_slice).unwrap_or_default();
    let hits =
        found.iter().filter_map(|hit| Some((hit["_id"].as_str()?.to_owned(), hit["_score"].as_f64()?)));
    Ok(hits.collect())
}

async fn hits(
    shelf: &Shelf,
    ranked: Vec<(String, Candidate)>,
    (texts, query): (Texts, &str),
    stop: &CancellationToken,
) -> Result<Vec<CorpusHit>> {
    let ids: Vec<String> = ranked.iter().map(|(id, _)| id.clone()).collect();
    let field = vector_field(FeatureScope::Wide);
    let mut fields = match texts {
        Texts::All => record::FIELDS.to_vec(),
        Texts::OfPassages => record::SHORT_FIELDS.to_vec(),
    };
    if shelf.manifest.dimension > 0 {
        fields.push(&field);
    }
    let mut sources = shelf.cluster.by_id(&shelf.index, &ids, Some(&fields), stop).await?;
    if texts == Texts::OfPassages {
        let papers: Vec<String> =
            ids.into_iter().filter(|id| sources.get(id).is_some_and(record::has_sections)).collect();
        for (id, text) in paragraphs::told(shelf, &papers, query, stop).await? {
            if let Some(source) = sources.get_mut(&id) {
                source["desc"] = Value::String(text);
            }
        }
    }
    let mut hits = Vec::with_capacity(ranked.len());
    for (id, candidate) in ranked {
        // One that was removed since is not found any longer.
        let Some(source) = sources.remove(&id) else { continue };
        let embedding = record::vector(&source, FeatureScope::Wide);
        let document = record::document(&id, source)?;
        hits.push(CorpusHit {
            rank: hits.len() + 1,
            score: candidate.score,
            bm25: candidate.bm25,
            cosine: candidate.cosine,
            document,
            embedding,
        });
    }
    Ok(hits)
}

/// The tags and collections of a corpus, with how many documents have them.
pub(crate) async fn labels(shelf: &Shelf, stop: &CancellationToken) -> Result<Labels> {
    let (tags, collections) =
        (names(shelf, "tag", "tags", stop).await?, names(shelf, "collection", "collections", stop).await?);
    Ok(Labels::sorted(tags, collections))
}

/// Names in the form in which filters compare them, with how many documents have each, in the form that they are written.
async fn names(shelf: &Shelf, field: &str, written: &str, stop: &CancellationToken) -> Result<Vec<Label>> {
    let as_written = all_names(shelf, written, stop).await?;
    let mut forms: HashMap<String, String> = HashMap::new();
    for (name, _) in as_written {
        for (form, name) in forms::written(field == "tag", &name) {
            let known = forms.entry(form).or_insert_with(|| name.clone());
            if name < *known {
                *known = name;
            }
        }
    }
    let counted = all_names(shelf, field, stop).await?;
    let label = |(form, documents): (String, u64)| Label {
        name: forms.get(&form).cloned().unwrap_or(form),
        documents,
    };
    Ok(counted.into_iter().map(label).collect())
}

async fn all_names(shelf: &Shelf, field: &str, stop: &CancellationToken) -> Result<Vec<(String, u64)>> {
    let mut all = Vec::new();
    let mut after = Value::Null;
    loop {
        let mut composite = json!({"size": NAMES, "sources": [{"name": {"terms": {"field": field}}}]});
        if !after.is_null() {
            composite["after"] = after;
        }
        let body = json!({"size": 0, "track_total_hits": false, "aggs": {"names": {"composite": composite}}});
        let answer = shelf.cluster.search(Some(&shelf.index), &body, stop).await?;
        let found = &answer["aggregations"]["names"];
        let buckets = found["buckets"].as_array().map(Vec::as_slice).unwrap_or_default();
        all.extend(buckets.iter().filter_map(|bucket| {
            Some((bucket["key"]["name"].as_str()?.to_owned(), bucket["doc_count"].as_u64()?))
        }));
        after = found["after_key"].clone();
        if after.is_null() || buckets.len() < NAMES {
            return Ok(all);
        }
    }
}

/// That the tags and collections of filters are those of some document.
pub(crate) async fn check_labels(shelf: &Shelf, filters: &[Filter], stop: &CancellationToken) -> Result<()> {
    for (nth, filter) in (1..).zip(filters) {
        let Filter::Values { field: field @ (ValueField::Tag | ValueField::Collection), include, exclude } =
            filter
        else {
            continue;
        };
        for value in include.iter().chain(exclude) {
            let form = if *field == ValueField::Tag { forms::tag(value) } else { forms::path(value) };
            if shelf.count(&json!({"term": {field.name(): form}}), stop).await? > 0 {
                continue;
            }
            let labels = labels(shelf, stop).await?;
            let nth = (filters.len() > 1).then_some(nth);
            return Err(forms::unknown(&shelf.manifest.name, *field, value, &labels, nth));
        }
    }
    Ok(())
}
