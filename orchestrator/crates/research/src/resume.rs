//! Parts of a search that require a person: queued for authentication, and searched again after the visit.

use crate::collect::{Search, collect};
use crate::fetch::fetch;
use crate::pipeline::{Outcome, Pipeline, Step};
use crate::ports::Waiting;
use crate::register::register;
use crate::search::{rank, relevant, unless_cancelled};
use crate::{PortError, Result};
use lyra_domain::{Job, JobId, JobKind, PageId, Query, QueryId, QueryStatus, TaskId};
use std::collections::HashSet;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Queues the parts of the answers that require a person. The search goes on with what it has.
pub(crate) async fn await_person(
    pipeline: &Pipeline,
    query: &Query,
    waiting: &[(String, Vec<Waiting>)],
    cause: &JobId,
) -> Result<()> {
    for (source, waiting) in waiting {
        pipeline.store.await_person(query, source, waiting, cause).await?;
    }
    Ok(())
}

/// Searches one part of a query in one source and adds what it finds to the query.
pub(crate) async fn run(
    pipeline: &Pipeline,
    job: &Job,
    query: &QueryId,
    (source, part): (&str, &str),
    used_seconds: f64,
    cancel: &CancellationToken,
) -> Result<Outcome> {
    let task = pipeline.store.task(&job.task_id).await?;
    let mut query = pipeline.store.query(query).await?;
    let allowed = f64::from(task.config.budget.max_seconds) - used_seconds;
    if allowed <= 0.0 {
        let warning = format!(
            "the time budget of {} s is used up: a search that required a person was skipped",
            task.config.budget.max_seconds
        );
        pipeline.store.add_warning(&task.id, &warning).await?;
        return Ok(outcome(0, 0));
    }
    let mut sources = (pipeline.sources)(&task.config);
    sources.retain(|known| known.name() == source);
    sources.truncate(1);
    if sources.is_empty() {
        return Err(PortError::NotFound { what: format!("the source `{source}` of the task") });
    }
    let asking = query.clone();
    let allowed = Duration::from_secs_f64(allowed);
    let searching = Search::begin(pipeline, &task, &sources, &asking, allowed).await?.of_part(part);
    let collected = unless_cancelled(cancel, collect(&searching)).await?;
    await_person(pipeline, &query, &collected.waiting, &job.id).await?;
    let hits = collected.hits;
    pipeline.report(&task.id, Step::Collected { query: query.query_text.clone(), hits });

    let (_, registered) = register(pipeline, job, &task, &query, collected.pages).await?;
    let fetched = unless_cancelled(cancel, fetch(&searching, job, &task, collected.without_text)).await?;
    let mut ids = pages_of(pipeline, &task.id, &query).await?;
    let known = ids.len();
    for id in registered.into_iter().chain(fetched.ids) {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    let found = ids.len() - known;
    let ranks = unless_cancelled(cancel, rank(pipeline, &task, &query, &ids)).await?;
    let relevant = relevant(&ranks);
    pipeline.report(&task.id, Step::Ranked { relevant });

    query.result_count += hits as u32;
    query.pages_fetched += found as u32;
    query.useful_fragments = relevant as u32;
    query.harvest_rate = if ids.is_empty() { 0.0 } else { relevant as f64 / ids.len() as f64 };
    query.status = if relevant > 0 { QueryStatus::Partial } else { query.status };
    for failure in collected.failures {
        let error = failure.to_string();
        pipeline.store.add_warning(&task.id, &format!("a source did not answer in full: {error}")).await?;
        if !query.source_errors.contains(&error) {
            query.source_errors.push(error);
        }
    }
    pipeline.store.update_query(&query).await?;
    Ok(outcome(hits, found))
}

fn outcome(hits: usize, pages: usize) -> Outcome {
    Outcome { output: serde_json::json!({"hits": hits, "pages": pages}), then: vec![JobKind::Judge] }
}

/// Pages that the query has ranked fragments of.
async fn pages_of(pipeline: &Pipeline, task: &TaskId, query: &Query) -> Result<Vec<PageId>> {
    let rankings = pipeline.store.rankings(task).await?;
    let ranked: HashSet<_> = rankings
        .into_iter()
        .filter(|(other, _)| other.id == query.id)
        .flat_map(|(_, ranks)| ranks)
        .map(|rank| rank.fragment)
        .collect();
    let mut pages: Vec<PageId> = Vec::new();
    for fragment in pipeline.store.task_fragments(task).await? {
        if ranked.contains(&fragment.fragment.id) && !pages.contains(&fragment.fragment.page_id) {
            pages.push(fragment.fragment.page_id);
        }
    }
    Ok(pages)
}
