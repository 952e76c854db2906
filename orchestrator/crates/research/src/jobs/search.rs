//! A search: collect from every source, register what has a text, fetch the rest, rank it, follow citations (evidence
//! design, section 2, steps 1 to 8). Stages answer with what they found; only [`Record`] writes it to the query.

mod record;

use crate::Result;
use crate::context::{Context, Step};
use crate::jobs::{Outcome, await_person, time_left};
use crate::ports::{EmbeddingTarget, EvidenceSource, NewPage};
use crate::steps::ask::Asker;
use crate::steps::asking::Search;
use crate::steps::citations::{self, Expansion, expand};
use crate::steps::collect::{Collected, collect};
use crate::steps::complete::named_in;
use crate::steps::fetch::{self, Fetched, fetch};
use crate::steps::links;
use crate::steps::rank::{rank, relevant};
use crate::steps::register::register;
use lyra_domain::{Job, JobKind, PageId, Query, QueryId, QueryStatus, Task};
use record::{Found, Record};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;

pub(crate) async fn run(context: &Context, job: &Job, query: &QueryId, used_seconds: f64) -> Result<Outcome> {
    let task = context.store.task(&job.task_id).await?;
    let query = context.store.query(query).await?;
    let Some(allowed) = time_left(&task, used_seconds) else {
        return out_of_time(context, &task, query).await;
    };
    let mut record = Record::begin(context, &task, query).await?;
    let query = record.query.clone();
    let sources = chosen((context.sources)(&task.config), &query.sources);
    let search = Search::begin(context, &task, &sources, &query, allowed).await?;
    let at = Stage { context, job, task: &task, search: &search };

    let Collected { pages, vectors, links, hits, without_text, known, failures, waiting } =
        collect(&search).await?;
    await_person(context, &query, &waiting, &job.id).await?;
    context.report(&task.id, Step::Collected { query: query.query_text.clone(), hits: pages.len() });
    record.add(Found { hits, failures, ..Found::default() }).await?;

    let registered = at.registered(pages).await?;
    keep_vectors(context, &vectors, &registered.pages).await?;
    record.add(registered).await?;
    let Fetched { pages, ids, counts: fetching } = fetch(&search, job, &task, without_text).await?;
    let texts = pages.iter().flat_map(|page| &page.fragments).map(|f| f.text_content.as_str());
    let (named, failures) = named_in(&search, texts, &known, record.failures()).await;
    record.add(Found { pages, ids, failures, ..Found::default() }).await?;
    record.add(at.registered(named).await?).await?;
    record.add(at.ranked(record.ids()).await?).await?;

    let links_per_page = context.search.web_citation_links_per_page;
    let read = links::read(&links, record.pages(), record.ids(), record.ranks(), links_per_page);
    let asker = Asker::new(context, job, &task).await?;
    let found = (record.pages(), record.ids());
    let expansion = expand(&search, record.failures(), found, record.ranks(), asker.as_ref()).await?;
    let citing = match expansion {
        Some(expansion) => Some(at.followed(&mut record, expansion).await?),
        None => None,
    };
    let llm = match &asker {
        Some(asker) => {
            let linked = links::record(context, job, asker, &read, record.pages(), record.ids()).await?;
            let mut used = json!(asker.used());
            used["web_citations"] = json!(linked);
            Some(used)
        }
        None => None,
    };
    let query = record.finish(sources.len()).await?;
    Ok(outcome(&query, Some((&fetching, citing.as_ref())), llm))
}

/// What the stages of one search have in common.
struct Stage<'a> {
    context: &'a Context,
    job: &'a Job,
    task: &'a Task,
    search: &'a Search<'a>,
}

impl Stage<'_> {
    async fn registered(&self, pages: Vec<NewPage>) -> Result<Found> {
        let (pages, ids) = register(self.context, self.job, self.task, self.search.query, pages).await?;
        Ok(Found { pages, ids, ..Found::default() })
    }

    async fn ranked(&self, ids: &[PageId]) -> Result<Found> {
        let ranks = rank(self.context, self.task, self.search.query, ids).await?;
        self.context.report(&self.task.id, Step::Ranked { relevant: relevant(&ranks) });
        Ok(Found { ranks: Some(ranks), ..Found::default() })
    }

    /// Registers the works that citations led to, ranks everything again if there are any, and stores who cites whom.
    async fn followed(&self, record: &mut Record<'_>, found: Expansion) -> Result<citations::Counts> {
        let Expansion { chosen, links, counts, failures } = found;
        let chosen = self.registered(chosen).await?;
        let is_new = !chosen.pages.is_empty();
        record.add(Found { failures, ..chosen }).await?;
        if is_new {
            record.add(self.ranked(record.ids()).await?).await?;
        }
        let edges = citations::edges(&links, record.pages(), record.ids());
        self.context.store.add_edges(&self.task.id, &edges, &self.job.id).await?;
        Ok(counts)
    }
}

async fn out_of_time(context: &Context, task: &Task, mut query: Query) -> Result<Outcome> {
    let seconds = task.config.budget.max_seconds;
    let warning = format!("the time budget of {seconds} s is used up: later searches were left out");
    context.store.add_warning(&task.id, &warning).await?;
    query.status = QueryStatus::Partial;
    query.source_errors = vec![warning];
    context.store.update_query(&query).await?;
    Ok(outcome(&query, None, None))
}

fn outcome(
    query: &Query,
    found: Option<(&fetch::Counts, Option<&citations::Counts>)>,
    llm: Option<Value>,
) -> Outcome {
    let (fetching, citing) = found.unzip();
    let mut output = json!({
        "hits": query.result_count, "pages": query.pages_fetched, "relevant": query.useful_fragments,
        "fetching": fetching, "citations": citing.flatten(),
    });
    if let Some(llm) = llm {
        output["llm"] = llm;
    }
    Outcome { output, then: vec![JobKind::Judge] }
}

/// Keeps vectors that a source gave along, so that they are not computed again.
async fn keep_vectors(
    context: &Context,
    vectors: &[(PageId, String, Vec<f32>)],
    pages: &[NewPage],
) -> Result<()> {
    let models = context.inference.models().await?;
    let by_id: HashMap<&PageId, &NewPage> = pages.iter().map(|page| (&page.page.id, page)).collect();
    let kept: Vec<(EmbeddingTarget, Vec<f32>)> = vectors
        .iter()
        .filter(|(_, model, vector)| *model == models.embedder && vector.len() == models.dimension)
        .filter_map(|(id, _, vector)| {
            let [fragment] = by_id.get(id)?.fragments.as_slice() else { return None };
            Some((EmbeddingTarget::Fragment(fragment.id.clone()), vector.clone()))
        })
        .collect();
    context.store.put_embeddings(&models.embedder, &kept).await
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
