//! How well abstracts are found: by the claim, and by the claim and its counter-claim within the same number of places.

use crate::CORPUS;
use crate::scifact::{Label, SciFact, jsonl};
use anyhow::Result;
use lyra_corpus::{Method, eval};
use lyra_text::claim::counter_claim;
use lyra_usecases::App;
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;
use std::time::Instant;

/// Places that passages have when a claim given by the user is judged.
const PLACES: usize = 10;

#[derive(Deserialize)]
struct BeirQuery {
    #[serde(rename = "_id")]
    id: String,
    text: String,
}

/// nDCG and recall over SciFact's training queries.
pub(crate) async fn rankings(app: &App, beir: &Path) -> Result<()> {
    let mut judged: HashMap<String, HashMap<String, u32>> = HashMap::new();
    for line in fs::read_to_string(beir.join("qrels/train.tsv"))?.lines().skip(1) {
        let mut cells = line.split('\t');
        let (Some(query), Some(doc), Some(grade)) = (cells.next(), cells.next(), cells.next()) else {
            continue;
        };
        judged.entry(query.to_owned()).or_default().insert(doc.to_owned(), grade.trim().parse()?);
    }
    let queries: Vec<BeirQuery> = jsonl(&beir.join("queries.jsonl"))?;
    let queries: Vec<&BeirQuery> = queries.iter().filter(|query| judged.contains_key(&query.id)).collect();
    println!("\nretrieval over {} training queries   nDCG@10   recall@10   ms/query", queries.len());
    for (name, method) in [("bm25", Method::Bm25), ("dense", Method::Dense), ("hybrid", Method::Hybrid)] {
        let start = Instant::now();
        let (mut ndcg, mut recall) = (0.0, 0.0);
        for query in &queries {
            let hits = app.search_corpus(CORPUS, &query.text, method, 10).await?.hits;
            let ranked: Vec<&str> = hits.iter().map(|hit| hit.document.doc_id.as_str()).collect();
            ndcg += eval::ndcg_at(10, &ranked, &judged[&query.id]);
            recall += eval::recall_at(10, &ranked, &judged[&query.id]);
        }
        let n = queries.len() as f64;
        let ms = start.elapsed().as_secs_f64() * 1e3 / n;
        println!("  {name:<42} {:.4}    {:.4}      {ms:.1}", ndcg / n, recall / n);
    }
    Ok(())
}

/// Share of the labeled abstracts among the first places, when some of these go to what the counter-claim finds.
pub(crate) async fn counter_claims(app: &App, scifact: &SciFact, claims: usize) -> Result<()> {
    const SHARES: [usize; 4] = [0, 1, 2, 5];
    let mut found: BTreeMap<(usize, Label), usize> = BTreeMap::new();
    let mut gold: BTreeMap<Label, usize> = BTreeMap::new();
    let mut turned = 0;
    for claim in scifact.sample(claims).into_iter().filter(|claim| !claim.evidence.is_empty()) {
        let by_claim = ids(app, &claim.text).await?;
        let counter = counter_claim(&claim.text, Some("en"));
        turned += usize::from(counter.is_some());
        let by_counter = ids(app, counter.as_deref().unwrap_or(&claim.text)).await?;
        for doc in claim.evidence.keys() {
            let Some(label) = claim.label(doc) else { continue };
            *gold.entry(label).or_default() += 1;
            for share in SHARES {
                let mut places: Vec<&String> = by_claim.iter().take(PLACES - share).collect();
                let new: Vec<&String> =
                    by_counter.iter().filter(|id| !places.contains(id)).take(share).collect();
                places.extend(new);
                *found.entry((share, label)).or_default() += usize::from(places.contains(&doc));
            }
        }
    }
    println!(
        "\nlabelled abstracts in {PLACES} places, {turned} claims with a counter-claim   SUPPORT   REFUTE"
    );
    for share in SHARES {
        let recall = |label: Label| {
            let all = gold.get(&label).copied().unwrap_or(0);
            found.get(&(share, label)).copied().unwrap_or(0) as f64 / all.max(1) as f64
        };
        let name = format!("{share} of them for the counter-claim");
        println!("  {name:<57} {:.4}    {:.4}", recall(Label::Support), recall(Label::Refute));
    }
    Ok(())
}

async fn ids(app: &App, query: &str) -> Result<Vec<String>> {
    let hits = app.search_corpus(CORPUS, query, Method::Hybrid, 2 * PLACES).await?.hits;
    Ok(hits.into_iter().map(|hit| hit.document.doc_id).collect())
}
