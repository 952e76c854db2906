//! Parts of a search that require a person: queued for authentication, and searched again after the visit.

use crate::context::{Context, Step};
use crate::jobs::{Outcome, await_person, time_left};
use crate::steps::asking::Search;
use crate::steps::collect::{collect, harmless};
use crate::steps::fetch::fetch;
use crate::steps::rank::{rank, relevant};
use crate::steps::register::register;
use crate::{PortError, Result};
use lyra_domain::{Job, JobKind, PageId, Query, QueryId, QueryStatus, TaskId};
use std::collections::HashSet;

/// Searches one part of a query in one source and adds what it finds to the query.
pub(crate) async fn run(
    context: &Context,
    job: &Job,
    query: &QueryId,
    (source, part): (&str, &str),
    used_seconds: f64,
) -> Result<Outcome> {
    let task = context.store.task(&job.task_id).await?;
    let mut query = context.store.query(query).await?;
    let Some(allowed) = time_left(&task, used_seconds) else {
        let warning = format!(
            "the time budget of {} s is used up: a search that required a person was skipped",
            task.config.budget.max_seconds
        );
        context.store.add_warning(&task.id, &warning).await?;
        return Ok(outcome(0, 0));
    };
    let mut sources = (context.sources)(&task.config);
    sources.retain(|known| known.name() == source);
    sources.truncate(1);
    if sources.is_empty() {
        return Err(PortError::NotFound { what: format!("the source `{source}` of the task") });
    }
    let asking = query.clone();
    let searching = Search::begin(context, &task, &sources, &asking, allowed).await?.of_part(part);
    let collected = collect(&searching).await?;
    await_person(context, &query, &collected.waiting, &job.id).await?;
    let hits = collected.hits;
    context.report(&task.id, Step::Collected { query: query.query_text.clone(), hits });

    let (_, registered) = register(context, job, &task, &query, collected.pages).await?;
    let fetched = fetch(&searching, job, &task, collected.without_text).await?;
    let mut ids = pages_of(context, &task.id, &query).await?;
    let known = ids.len();
    for id in registered.into_iter().chain(fetched.ids) {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    let found = ids.len() - known;
    let ranks = rank(context, &task, &query, &ids).await?;
    let relevant = relevant(&ranks);
    context.report(&task.id, Step::Ranked { relevant });

    query.result_count += hits as u32;
    query.pages_fetched += found as u32;
    query.useful_fragments = relevant as u32;
    query.harvest_rate = if ids.is_empty() { 0.0 } else { relevant as f64 / ids.len() as f64 };
    query.status = if relevant > 0 { QueryStatus::Partial } else { query.status };
    for failure in harmless(context.rules.as_ref(), collected.failures).await? {
        let error = failure.to_string();
        context.store.add_warning(&task.id, &format!("a source did not answer in full: {error}")).await?;
        if !query.source_errors.contains(&error) {
            query.source_errors.push(error);
        }
    }
    context.store.update_query(&query).await?;
    Ok(outcome(hits, found))
}

fn outcome(hits: usize, pages: usize) -> Outcome {
    Outcome { output: serde_json::json!({"hits": hits, "pages": pages}), then: vec![JobKind::Judge] }
}

/// Pages that the query has ranked fragments of.
async fn pages_of(context: &Context, task: &TaskId, query: &Query) -> Result<Vec<PageId>> {
    let rankings = context.store.rankings(task).await?;
    let ranked: HashSet<_> = rankings
        .into_iter()
        .filter(|(other, _)| other.id == query.id)
        .flat_map(|(_, ranks)| ranks)
        .map(|rank| rank.fragment)
        .collect();
    let mut pages: Vec<PageId> = Vec::new();
    for fragment in context.store.task_fragments(task).await? {
        if ranked.contains(&fragment.fragment.id) && !pages.contains(&fragment.fragment.page_id) {
            pages.push(fragment.fragment.page_id);
        }
    }
    Ok(pages)
}
