//! One query: collect from every source, register what has a text, rank it (evidence design, section 2, steps 1, 4, 6).

use crate::pipeline::{Outcome, Pipeline, Step};
use crate::ports::{EmbeddingTarget, EvidenceSource, FragmentRank, Hit, Models, NewPage, TaskFragment};
use crate::{PortError, Result, embed};
use futures::future::join_all;
use lyra_domain::{
    FetchMethod, Fragment, FragmentId, Job, JobKind, Page, PageId, PaperMetadata, Query, QueryId,
    QueryStatus, Task, TaskPageReason, bm25, ranking, vector,
};
use std::collections::{HashMap, HashSet};
use tokio_util::sync::CancellationToken;

/// Category of a domain that no configuration knows.
const UNVERIFIED: &str = "unverified";

pub(crate) async fn run(
    pipeline: &Pipeline,
    job: &Job,
    query: &QueryId,
    used_seconds: f64,
    cancel: &CancellationToken,
) -> Result<Outcome> {
    let task = pipeline.store.task(&job.task_id).await?;
    let mut query = pipeline.store.query(query).await?;
    let budget_left = used_seconds < f64::from(task.config.budget.max_seconds);
    if !budget_left {
        let warning = format!(
            "the time budget of {} s is used up: later searches were left out",
            task.config.budget.max_seconds
        );
        pipeline.store.add_warning(&task.id, &warning).await?;
        query.status = QueryStatus::Partial;
        query.source_errors = vec![warning];
        pipeline.store.update_query(&query).await?;
        return Ok(follow_up(&query));
    }
    query.status = QueryStatus::Running;
    query.language = query
        .language
        .or_else(|| task.config.language.clone())
        .or_else(|| lyra_text::language(&query.query_text).map(str::to_owned));
    pipeline.store.update_query(&query).await?;

    let mut sources = (pipeline.sources)(&task.config);
    sources
        .retain(|source| query.sources.is_empty() || query.sources.iter().any(|name| name == source.name()));
    let collected = collect(pipeline, &sources, &query).await?;
    pipeline
        .report(&task.id, Step::Collected { query: query.query_text.clone(), hits: collected.pages.len() });
    if cancel.is_cancelled() {
        return Err(cancelled());
    }

    let pages = within_budget(pipeline, &task, collected.pages).await?;
    pipeline.store.register_pages(&query, &pages, &job.id).await?;
    keep_vectors(pipeline, &collected.vectors, &pages).await?;
    if cancel.is_cancelled() {
        return Err(cancelled());
    }

    let relevant = rank(pipeline, &task, &query, &pages).await?;
    pipeline.report(&task.id, Step::Ranked { relevant });

    query.result_count = collected.hits as u32;
    query.pages_fetched = pages.len() as u32;
    query.useful_fragments = relevant as u32;
    query.harvest_rate = if pages.is_empty() { 0.0 } else { relevant as f64 / pages.len() as f64 };
    query.status = match (relevant, collected.errors.len()) {
        (0, 0) => QueryStatus::Exhausted,
        (0, failed) if failed == sources.len() => QueryStatus::Failed,
        (_, 0) => QueryStatus::Satisfied,
        _ => QueryStatus::Partial,
    };
    query.source_errors = collected.errors;
    pipeline.store.update_query(&query).await?;
    Ok(follow_up(&query))
}

fn follow_up(query: &Query) -> Outcome {
    Outcome {
        output: serde_json::json!({
            "hits": query.result_count, "pages": query.pages_fetched, "relevant": query.useful_fragments,
        }),
        then: vec![JobKind::Judge],
    }
}

pub(crate) fn cancelled() -> PortError {
    PortError::Refused { what: "job".to_owned(), why: "it was cancelled".to_owned() }
}

/// What the sources answered together.
struct Collected {
    pages: Vec<NewPage>,
    /// Vectors that sources gave along, by page.
    vectors: Vec<(PageId, String, Vec<f32>)>,
    hits: usize,
    errors: Vec<String>,
}

/// Asks every source at once. One that fails is written down; only when all fail for a passing reason is it an error,
/// so that the job is tried again.
async fn collect(
    pipeline: &Pipeline,
    sources: &[std::sync::Arc<dyn EvidenceSource>],
    query: &Query,
) -> Result<Collected> {
    let answers = join_all(sources.iter().map(|source| {
        source.search(&query.query_text, query.language.as_deref(), pipeline.config.hits_per_source)
    }))
    .await;
    if sources.is_empty() {
        return Err(PortError::Refused {
            what: "search".to_owned(),
            why: "no source is configured; import a corpus with `lyra corpus import NAME FILE`".to_owned(),
        });
    }
    let mut collected = Collected { pages: Vec::new(), vectors: Vec::new(), hits: 0, errors: Vec::new() };
    let mut passing_failures = 0;
    let mut ranked: Vec<(usize, &str, Hit)> = Vec::new();
    for (source, answer) in sources.iter().zip(answers) {
        match answer {
            Ok(hits) => {
                collected.hits += hits.len();
                ranked.extend(hits.into_iter().map(|hit| (hit.rank, source.name(), hit)));
            }
            Err(error) => {
                tracing::warn!(source = source.name(), %error, query_id = %query.id, "source failed");
                passing_failures += usize::from(error.is_transient());
                collected.errors.push(format!("{}: {error}", source.name()));
            }
        }
    }
    if passing_failures == sources.len() {
        return Err(PortError::Unavailable {
            what: "every source".to_owned(),
            why: collected.errors.join("; "),
        });
    }
    // Best ranks first over all sources, so that a budget cuts the tails and not the last source.
    ranked.sort_by_key(|(rank, ..)| *rank);
    let mut seen = HashSet::new();
    for (rank, source, hit) in ranked {
        let (page, vector) = page_of(source, rank, hit);
        if page.fragments.is_empty() || !seen.insert(page.page.id.clone()) {
            continue;
        }
        collected.vectors.extend(vector.map(|(model, vector)| (page.page.id.clone(), model, vector)));
        collected.pages.push(page);
    }
    Ok(collected)
}

/// A hit as a page with its abstract as one fragment.
fn page_of(source: &str, rank: usize, hit: Hit) -> (NewPage, Option<(String, Vec<f32>)>) {
    let work_id = hit.work.id();
    let id = match &hit.work.doi {
        Some(_) => PageId::derive(&["work", work_id.as_str()]),
        None => PageId::derive(&["url", &hit.url]),
    };
    let corpus = source.strip_prefix("corpus:").map(str::to_owned);
    let text = hit.text.unwrap_or_default();
    let fragments =
        if text.trim().is_empty() { Vec::new() } else { vec![Fragment::of_abstract(&id, text.trim())] };
    let page = Page {
        domain: corpus.as_ref().map_or_else(|| host(&hit.url).to_owned(), |_| source.to_owned()),
        domain_category: UNVERIFIED.to_owned(),
        title: hit.work.title.clone(),
        work_id: Some(work_id),
        language: hit.language,
        fetch_method: if corpus.is_some() { FetchMethod::Corpus } else { FetchMethod::AcademicApi },
        paper_metadata: PaperMetadata {
            year: hit.work.year,
            venue: hit.work.venue.clone(),
            doi: hit.work.doi.as_ref().map(ToString::to_string),
            authors: hit.work.authors.clone(),
            citation_count: hit.work.citation_count,
            corpus,
            doc_id: hit.doc_id,
        },
        url: hit.url,
        id,
    };
    let reason = match page.fetch_method {
        FetchMethod::Corpus => TaskPageReason::Corpus,
        _ => TaskPageReason::AcademicApi,
    };
    let found_by = (source.to_owned(), rank);
    (NewPage { page, work: Some(hit.work), fragments, reason, found_by }, hit.embedding)
}

fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', '?', '#', ':']).next().unwrap_or(rest)
}

/// Pages the task already has, and as many new ones as its budget still allows.
async fn within_budget(pipeline: &Pipeline, task: &Task, pages: Vec<NewPage>) -> Result<Vec<NewPage>> {
    let known = pipeline.store.task_pages(&task.id).await?;
    let limit = task.config.budget.max_pages as usize;
    let mut left = limit.saturating_sub(known.len());
    let found = pages.len();
    let kept: Vec<NewPage> = pages
        .into_iter()
        .filter(|page| {
            let free = known.contains(&page.page.id);
            let paid = !free && left > 0;
            left -= usize::from(paid);
            free || paid
        })
        .collect();
    if kept.len() < found {
        let warning = format!("the page budget of {limit} is used up: some pages found were left out");
        pipeline.store.add_warning(&task.id, &warning).await?;
    }
    Ok(kept)
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

/// Ranks the fragments of the query's pages and records it. Returns how many are relevant.
async fn rank(pipeline: &Pipeline, task: &Task, query: &Query, pages: &[NewPage]) -> Result<usize> {
    // A page that the store knew under another id takes in the fragments found now.
    let found_pages: HashSet<&PageId> = pages.iter().map(|page| &page.page.id).collect();
    let found: HashSet<&FragmentId> = pages.iter().flat_map(|page| &page.fragments).map(|f| &f.id).collect();
    let fragments: Vec<TaskFragment> = pipeline
        .store
        .task_fragments(&task.id)
        .await?
        .into_iter()
        .filter(|f| found_pages.contains(&f.fragment.page_id) || found.contains(&f.fragment.id))
        .collect();

    let tokens: Vec<Vec<String>> = fragments
        .iter()
        .map(|f| lyra_text::content_words(&lyra_text::passage(&f.title, &f.fragment.text_content)))
        .collect();
    let lexical = bm25::scores(&tokens, &lyra_text::content_words(&query.query_text), bm25::K1, bm25::B);
    let config = pipeline.config.ranking();
    let candidates = ranking::top_by(&lexical, config.bm25_top);
    let lexical: Vec<f64> = candidates.iter().map(|&i| lexical[i]).collect();
    let fragments: Vec<&TaskFragment> = candidates.iter().map(|&i| &fragments[i]).collect();

    let models = pipeline.inference.models().await?;
    let cosine = if models.read(query.language.as_deref()) {
        Some(cosines(pipeline, &models, query, &fragments).await?)
    } else {
        let language = query.language.as_deref().unwrap_or_default();
        pipeline.store.add_warning(&task.id, &unread_language(language, &models)).await?;
        None
    };
    let ranks: Vec<FragmentRank> = ranking::rank(&lexical, cosine.as_deref(), &config)
        .into_iter()
        .map(|place| FragmentRank {
            fragment: fragments[place.index].fragment.id.clone(),
            bm25: lexical[place.index],
            cosine: cosine.as_ref().map(|c| c[place.index]),
            score: place.score,
            relevant: place.relevant,
        })
        .collect();
    pipeline.store.record_ranking(&query.id, &ranks).await?;
    Ok(ranks.iter().filter(|rank| rank.relevant).count())
}

async fn cosines(
    pipeline: &Pipeline,
    models: &Models,
    query: &Query,
    fragments: &[&TaskFragment],
) -> Result<Vec<f64>> {
    let vectors = embed::fragments(pipeline, models, fragments).await?;
    let query = pipeline.inference.embed(std::slice::from_ref(&query.query_text)).await?;
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
