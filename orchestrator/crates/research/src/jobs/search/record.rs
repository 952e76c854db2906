//! What a search has found so far, and the one place that writes it to the query.

use crate::context::Context;
use crate::ports::{FragmentRank, NewPage};
use crate::steps::collect::harmless;
use crate::steps::rank::{Ranks, relevant};
use crate::{Result, SourceFailure};
use lyra_domain::{PageId, Query, QueryStatus, Task};

/// What a stage of a search found.
#[derive(Default)]
pub(super) struct Found {
    /// Hits over all sources.
    pub(super) hits: usize,
    /// Pages that are registered now, and the ids that they have.
    pub(super) pages: Vec<NewPage>,
    pub(super) ids: Vec<PageId>,
    /// What is missing, source by source.
    pub(super) failures: Vec<SourceFailure>,
    /// The ranking of all pages, where they were ranked.
    pub(super) ranks: Option<Ranks>,
}

/// Everything that the stages found. The query shows it while the search still runs.
pub(super) struct Record<'a> {
    context: &'a Context,
    /// As it was last written.
    pub(super) query: Query,
    all: Found,
}

impl<'a> Record<'a> {
    /// The query is running from here on, in its own language, the task's, or that of its words.
    pub(super) async fn begin(context: &'a Context, task: &Task, mut query: Query) -> Result<Self> {
        query.status = QueryStatus::Running;
        query.language = query
            .language
            .or_else(|| task.config.language.clone())
            .or_else(|| lyra_text::language(&query.query_text).map(str::to_owned));
        context.store.update_query(&query).await?;
        Ok(Self { context, query, all: Found::default() })
    }

    /// Takes in what a stage found.
    pub(super) async fn add(&mut self, found: Found) -> Result<()> {
        self.all.hits += found.hits;
        self.all.pages.extend(found.pages);
        self.all.ids.extend(found.ids);
        self.all.failures.extend(harmless(self.context.rules.as_ref(), found.failures).await?);
        if found.ranks.is_some() {
            self.all.ranks = found.ranks;
        }
        self.query.result_count = self.all.hits as u32;
        self.query.pages_fetched = self.all.pages.len() as u32;
        self.query.source_errors = self.all.failures.iter().map(ToString::to_string).collect();
        self.context.store.update_query(&self.query).await
    }

    /// The search is over: what came of it, with a warning for everything that is missing. It asked so many sources.
    pub(super) async fn finish(mut self, asked: usize) -> Result<Query> {
        let (relevant, pages) = (relevant(self.ranks()), self.all.pages.len());
        self.query.useful_fragments = relevant as u32;
        self.query.harvest_rate = if pages == 0 { 0.0 } else { relevant as f64 / pages as f64 };
        self.query.status = match (relevant, self.all.failures.len()) {
            (0, 0) => QueryStatus::Exhausted,
            (0, failures) if failures >= asked => QueryStatus::Failed,
            (_, 0) => QueryStatus::Satisfied,
            _ => QueryStatus::Partial,
        };
        for failure in &self.all.failures {
            let warning = format!("a source did not answer in full: {failure}");
            self.context.store.add_warning(&self.query.task_id, &warning).await?;
        }
        self.context.store.update_query(&self.query).await?;
        Ok(self.query)
    }

    pub(super) fn pages(&self) -> &[NewPage] {
        &self.all.pages
    }

    /// The ids of the pages, in their order.
    pub(super) fn ids(&self) -> &[PageId] {
        &self.all.ids
    }

    pub(super) fn failures(&self) -> &[SourceFailure] {
        &self.all.failures
    }

    /// The latest ranking; empty before the first.
    pub(super) fn ranks(&self) -> &[(PageId, FragmentRank)] {
        self.all.ranks.as_deref().unwrap_or_default()
    }
}
