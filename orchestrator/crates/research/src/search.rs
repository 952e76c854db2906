//! One query: collect from every source, register what has a text, fetch the rest, rank it, follow citations (evidence
//! design, section 2, steps 1 to 7).

use crate::ask::Asker;
use crate::citations::{self, Expansion};
use crate::collect::{Collected, Search, collect};
use crate::complete::named_in;
use crate::fetch::{self, fetch};
use crate::lanes::{self, Candidates};
use crate::pipeline::{Outcome, Pipeline, Step};
use crate::ports::{EmbeddingTarget, EvidenceSource, FragmentRank, Models, NewPage, TaskFragment, TextRole};
use crate::register::{register, usable};
use crate::{PortError, Result, SourceFailure, embed, links, resume};
use lyra_domain::{Job, JobKind, PageId, Query, QueryId, QueryStatus, Task, bm25, ranking, vector};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

pub(crate) async fn run(
    pipeline: &Pipeline,
    job: &Job,
    query: &QueryId,
    used_seconds: f64,
    cancel: &CancellationToken,
) -> Result<Outcome> {
    let task = pipeline.store.task(&job.task_id).await?;
    let mut query = pipeline.store.query(query).await?;
    let allowed = f64::from(task.config.budget.max_seconds) - used_seconds;
    if allowed <= 0.0 {
        let warning = format!(
            "the time budget of {} s is used up: later searches were left out",
            task.config.budget.max_seconds
        );
        pipeline.store.add_warning(&task.id, &warning).await?;
        query.status = QueryStatus::Partial;
        query.source_errors = vec![warning];
        pipeline.store.update_query(&query).await?;
        return Ok(follow_up(&query, None, None));
    }
    let allowed = Duration::from_secs_f64(allowed);
    query.status = QueryStatus::Running;
    query.language = query
        .language
        .or_else(|| task.config.language.clone())
        .or_else(|| lyra_text::language(&query.query_text).map(str::to_owned));
    pipeline.store.update_query(&query).await?;

    let sources = chosen((pipeline.sources)(&task.config), &query.sources);
    let asked = sources.len();
    let asking = query.clone();
    let searching = Search::begin(pipeline, &task, &sources, &asking, allowed).await?;
    let collected = unless_cancelled(cancel, collect(&searching)).await?;
    resume::await_person(pipeline, &query, &collected.waiting, &job.id).await?;
    pipeline
        .report(&task.id, Step::Collected { query: query.query_text.clone(), hits: collected.pages.len() });

    let Collected { pages, vectors, links, hits, without_text, known, mut failures, .. } = collected;
    // Stored now, so that it is visible while the search still runs.
    query.result_count = hits as u32;
    query.source_errors = said(&failures);
    pipeline.store.update_query(&query).await?;
    let (mut pages, mut ids) = register(pipeline, job, &task, &query, pages).await?;
    keep_vectors(pipeline, &vectors, &pages).await?;
    query.pages_fetched = pages.len() as u32;
    pipeline.store.update_query(&query).await?;
    let fetched = unless_cancelled(cancel, fetch(&searching, job, &task, without_text)).await?;
    let texts = fetched.pages.iter().flat_map(|page| &page.fragments).map(|f| f.text_content.as_str());
    let cited = named_in(&searching, texts, &known, &mut failures);
    let cited = unless_cancelled(cancel, async { Ok(cited.await) }).await?;
    let (cited, cited_ids) = register(pipeline, job, &task, &query, cited).await?;
    let fetching = fetched.counts;
    pages.extend(fetched.pages.into_iter().chain(cited));
    ids.extend(fetched.ids.into_iter().chain(cited_ids));
    let mut ranks = unless_cancelled(cancel, rank(pipeline, &task, &query, &ids)).await?;
    pipeline.report(&task.id, Step::Ranked { relevant: relevant(&ranks) });

    let read = links::read(&links, &pages, &ids, &ranks, pipeline.search.web_citation_links_per_page);
    let asker = Asker::new(pipeline, job, &task).await?;
    let asker = asker.as_ref();
    let expanding = citations::expand(&searching, &failures, (&pages, &ids), &ranks, asker);
    let mut expansion = unless_cancelled(cancel, expanding).await?;
    if let Some(found) = &mut expansion {
        let (chosen, chosen_ids) = register(pipeline, job, &task, &query, found.chosen.clone()).await?;
        if !chosen.is_empty() {
            ids.extend(chosen_ids);
            pages.extend(chosen);
            ranks = unless_cancelled(cancel, rank(pipeline, &task, &query, &ids)).await?;
            pipeline.report(&task.id, Step::Ranked { relevant: relevant(&ranks) });
        }
        pipeline.store.add_edges(&task.id, &found.edges(&pages, &ids), &job.id).await?;
        failures.append(&mut found.failures);
    }
    let linked = match asker {
        Some(asker) => {
            Some(unless_cancelled(cancel, links::record(pipeline, job, asker, &read, &pages, &ids)).await?)
        }
        None => None,
    };

    let relevant = relevant(&ranks);
    query.pages_fetched = pages.len() as u32;
    query.useful_fragments = relevant as u32;
    query.harvest_rate = if pages.is_empty() { 0.0 } else { relevant as f64 / pages.len() as f64 };
    query.source_errors = said(&failures);
    query.status = match (relevant, failures.len()) {
        (0, 0) => QueryStatus::Exhausted,
        (0, failures) if failures >= asked => QueryStatus::Failed,
        (_, 0) => QueryStatus::Satisfied,
        _ => QueryStatus::Partial,
    };
    for error in &query.source_errors {
        pipeline.store.add_warning(&task.id, &format!("a source did not answer in full: {error}")).await?;
    }
    pipeline.store.update_query(&query).await?;
    let llm = asker.zip(linked).map(|(asker, linked)| {
        let mut used = serde_json::json!(asker.used());
        used["web_citations"] = serde_json::json!(linked);
        used
    });
    Ok(follow_up(&query, Some((&fetching, expansion.as_ref())), llm))
}

/// The answer, unless the job is cancelled first: a source may take its time.
pub(crate) async fn unless_cancelled<T>(
    cancel: &CancellationToken,
    work: impl Future<Output = Result<T>>,
) -> Result<T> {
    cancel.run_until_cancelled(work).await.unwrap_or(Err(PortError::Cancelled))
}

pub(crate) fn relevant(ranks: &[(PageId, FragmentRank)]) -> usize {
    ranks.iter().filter(|(_, rank)| rank.relevant).count()
}

fn follow_up(
    query: &Query,
    found: Option<(&fetch::Counts, Option<&Expansion>)>,
    llm: Option<serde_json::Value>,
) -> Outcome {
    let (fetching, expansion) = found.unzip();
    let mut output = serde_json::json!({
        "hits": query.result_count, "pages": query.pages_fetched, "relevant": query.useful_fragments,
        "fetching": fetching,
        "citations": expansion.flatten().map(|expansion| &expansion.counts),
    });
    if let Some(llm) = llm {
        output["llm"] = llm;
    }
    Outcome { output, then: vec![JobKind::Judge] }
}

/// What sources lack, in words.
fn said(failures: &[SourceFailure]) -> Vec<String> {
    failures.iter().map(ToString::to_string).collect()
}

/// Keeps vectors that a source gave along, so that they are not computed again.
async fn keep_vectors(
    pipeline: &Pipeline,
    vectors: &[(PageId, String, Vec<f32>)],
    pages: &[NewPage],
) -> Result<()> {
    let models = pipeline.inference.models().await?;
    let by_id: HashMap<&PageId, &NewPage> = pages.iter().map(|page| (&page.page.id, page)).collect();
    let kept: Vec<(EmbeddingTarget, Vec<f32>)> = vectors
        .iter()
        .filter(|(_, model, vector)| *model == models.embedder && vector.len() == models.dimension)
        .filter_map(|(id, _, vector)| {
            let [fragment] = by_id.get(id)?.fragments.as_slice() else { return None };
            Some((EmbeddingTarget::Fragment(fragment.id.clone()), vector.clone()))
        })
        .collect();
    pipeline.store.put_embeddings(&models.embedder, &kept).await
}

/// Ranks the fragments of these pages and records it, best first.
pub(crate) async fn rank(
    pipeline: &Pipeline,
    task: &Task,
    query: &Query,
    pages: &[PageId],
) -> Result<Vec<(PageId, FragmentRank)>> {
    let found: HashSet<&PageId> = pages.iter().collect();
    let mut usable = usable(pipeline, &task.id).await?;
    usable.retain(|usable| found.contains(&usable.fragment.fragment.page_id));

    let tokens: Vec<Vec<String>> = usable
        .iter()
        .map(|usable| &usable.fragment)
        .map(|f| lyra_text::content_words(&lyra_text::passage(&f.title, &f.fragment.text_content)))
        .collect();
    let lexical = bm25::scores(&tokens, &lyra_text::content_words(&query.query_text), bm25::K1, bm25::B);
    let config = pipeline.config.ranking();
    let candidates = ranking::top_by(&lexical, config.bm25_top);
    let lexical: Vec<f64> = candidates.iter().map(|&i| lexical[i]).collect();
    let weights: Vec<f64> = candidates.iter().map(|&i| usable[i].weight).collect();
    let fragments: Vec<&TaskFragment> = candidates.iter().map(|&i| &usable[i].fragment).collect();

    let models = pipeline.inference.models().await?;
    let cosine = if models.read(query.language.as_deref()) {
        Some(cosines(pipeline, &models, query, &fragments).await?)
    } else {
        let language = query.language.as_deref().unwrap_or_default();
        pipeline.store.add_warning(&task.id, &unread_language(language, &models)).await?;
        None
    };
    let found_by = pipeline.store.found_by(&query.id).await?;
    let candidates = Candidates {
        fragments: &fragments,
        lexical: &lexical,
        cosine: cosine.as_deref(),
        weights: &weights,
        found_by: &found_by,
    };
    let (scores, contributions) = lanes::mixed(&candidates, pipeline.config.ranking_method, &config);
    let ranks: Vec<(PageId, FragmentRank)> = ranking::ranked(&scores, &config)
        .into_iter()
        .map(|place| {
            let fragment = &fragments[place.index].fragment;
            let rank = FragmentRank {
                fragment: fragment.id.clone(),
                bm25: lexical[place.index],
                cosine: cosine.as_ref().map(|c| c[place.index]),
                score: place.score,
                relevant: place.relevant,
                contributions: contributions[place.index].clone(),
            };
            (fragment.page_id.clone(), rank)
        })
        .collect();
    let recorded: Vec<FragmentRank> = ranks.iter().map(|(_, rank)| rank.clone()).collect();
    pipeline.store.record_ranking(&query.id, &recorded).await?;
    Ok(ranks)
}

/// Of a task's sources those that a query asks: what it names, whole or in part (`SOURCE:PART`); without names all but those
/// that answer only when they are named.
fn chosen(sources: Vec<Arc<dyn EvidenceSource>>, named: &[String]) -> Vec<Arc<dyn EvidenceSource>> {
    let asked = |source: Arc<dyn EvidenceSource>| {
        if named.is_empty() {
            return (!source.on_request()).then_some(source);
        }
        if named.iter().any(|name| name == source.name()) {
            return Some(source);
        }
        let part = |name: &String| Some(name.strip_prefix(source.name())?.strip_prefix(':')?.to_owned());
        let parts: Vec<String> = named.iter().filter_map(part).collect();
        if parts.is_empty() { None } else { source.confined_to(&parts) }
    };
    sources.into_iter().filter_map(asked).collect()
}

async fn cosines(
    pipeline: &Pipeline,
    models: &Models,
    query: &Query,
    fragments: &[&TaskFragment],
) -> Result<Vec<f64>> {
    let vectors = embed::fragments(pipeline, models, fragments).await?;
    let query = pipeline.inference.embed(TextRole::Query, std::slice::from_ref(&query.query_text)).await?;
    let query = query.first().map(Vec::as_slice).unwrap_or_default();
    Ok(vectors.iter().map(|v| f64::from(vector::dot(query, v))).collect())
}

/// Says which language the models do not read, and what would help.
pub(crate) fn unread_language(language: &str, models: &Models) -> String {
    format!(
        "the models in use read {} only: passages in `{language}` are found by full text but neither compared by \
         meaning nor judged; the `standard` profile reads them",
        models.languages.join(", ")
    )
}
