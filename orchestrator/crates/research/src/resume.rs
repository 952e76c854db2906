//! Parts of a search that require a person: queued for authentication, and searched again after the visit.

use crate::collect::{Search, collect};
use crate::fetch::fetch;
use crate::pipeline::{Outcome, Pipeline, Step};
use crate::ports::{EvidenceSource, Hit, ScholarlySource, SourceKind, SourcePage, Waiting};
use crate::register::register;
use crate::search::{rank, relevant, unless_cancelled};
use crate::{PortError, Result};
use async_trait::async_trait;
use lyra_domain::{Job, JobId, JobKind, PageId, Query, QueryId, QueryStatus, TaskId};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Queues the parts of the sources' last searches that require a person. The search goes on with what it has.
pub(crate) async fn await_person(
    pipeline: &Pipeline,
    query: &Query,
    sources: &[Arc<dyn EvidenceSource>],
    cause: &JobId,
) -> Result<()> {
    for source in sources {
        let waiting = source.waiting();
        if !waiting.is_empty() {
            pipeline.store.await_person(query, source.name(), &waiting, cause).await?;
        }
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
    let inner = (pipeline.sources)(&task.config).into_iter().find(|known| known.name() == source);
    let Some(inner) = inner else {
        return Err(PortError::NotFound { what: format!("the source `{source}` of the task") });
    };
    let sources: Vec<Arc<dyn EvidenceSource>> = vec![Arc::new(Part { inner, part: part.to_owned() })];
    let asking = query.clone();
    let searching =
        Search::begin(pipeline, &task, &sources, &asking, Duration::from_secs_f64(allowed)).await?;
    let collected = unless_cancelled(cancel, collect(&searching)).await?;
    await_person(pipeline, &query, &sources, &job.id).await?;
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
    for error in collected.errors {
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

/// One part of a source, as a source.
struct Part {
    inner: Arc<dyn EvidenceSource>,
    part: String,
}

#[async_trait]
impl EvidenceSource for Part {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn kind(&self) -> SourceKind {
        self.inner.kind()
    }

    async fn search(&self, query: &str, language: Option<&str>, limit: usize) -> Result<Vec<Hit>> {
        self.inner.resume(&self.part, query, language, limit).await
    }

    fn notes(&self) -> Vec<String> {
        self.inner.notes()
    }

    fn waiting(&self) -> Vec<Waiting> {
        self.inner.waiting()
    }

    fn page(&self, url: &str) -> Option<SourcePage> {
        self.inner.page(url)
    }

    fn scholarly(&self) -> Option<&dyn ScholarlySource> {
        self.inner.scholarly()
    }
}
