//! Asking every source, completing what they name, and merging it (evidence design, section 2, steps 1 to 4).

use crate::complete::{complete, identifiers};
use crate::hit::{Named, as_fetched, page_of};
use crate::metadata::cleaned;
use crate::pipeline::Pipeline;
use crate::ports::{EvidenceSource, Hit, NewPage, SourceKind};
use crate::{PortError, Result};
use futures::future::join_all;
use lyra_domain::{CanonicalPaperIndex, Identifier, PageId, Query, Task};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

pub(crate) use crate::hit::as_page;

/// One query at work.
pub(crate) struct Search<'a> {
    pub(crate) pipeline: &'a Pipeline,
    /// What it asks.
    pub(crate) sources: &'a [Arc<dyn EvidenceSource>],
    pub(crate) query: &'a Query,
    /// When the task's time is used up.
    pub(crate) until: Instant,
    /// Pages that the task's budget still allowed when the search began.
    pub(crate) room: usize,
}

impl<'a> Search<'a> {
    /// Begins with the pages and the time that the task still has.
    pub(crate) async fn begin(
        pipeline: &'a Pipeline,
        task: &Task,
        sources: &'a [Arc<dyn EvidenceSource>],
        query: &'a Query,
        allowed: Duration,
    ) -> Result<Self> {
        let used = pipeline.store.task_pages(&task.id).await?.len();
        let room = (task.config.budget.max_pages as usize).saturating_sub(used);
        Ok(Self { pipeline, sources, query, until: Instant::now() + allowed, room })
    }

    /// Time that is left.
    pub(crate) fn left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }
}

/// What the sources answered together.
pub(crate) struct Collected {
    /// One page per work or document with a text, the best ranked first.
    pub(crate) pages: Vec<NewPage>,
    /// Vectors that sources gave along, by page.
    pub(crate) vectors: Vec<(PageId, String, Vec<f32>)>,
    /// Hits over all sources.
    pub(crate) hits: usize,
    /// Works that are known by their metadata only, the best ranked first.
    pub(crate) without_text: Vec<NewPage>,
    /// Every identifier that was named.
    pub(crate) known: HashSet<Identifier>,
    /// What went wrong, source by source.
    pub(crate) errors: Vec<String>,
}

/// Asks every source at once, each for at most the time that is left. One that fails is written down. When all that were
/// asked fail, whatever the reason, the search has failed.
pub(crate) async fn collect(search: &Search<'_>) -> Result<Collected> {
    if search.sources.is_empty() {
        return Err(PortError::Refused {
            what: "search".to_owned(),
            why: "no source is configured; import a corpus, or select a source".to_owned(),
        });
    }
    let answers = join_all(search.sources.iter().map(|source| ask(search, source.as_ref()))).await;
    let mut errors = Vec::new();
    let mut failures: Vec<PortError> = Vec::new();
    let mut named: Vec<Named> = Vec::new();
    for (source, answer) in search.sources.iter().zip(answers) {
        match answer {
            Ok(None) => {
                errors.push(format!("{}: not asked, because the page budget is used up", source.name()));
            }
            Ok(Some(hits)) => named.extend(hits.into_iter().map(|hit| Named {
                source: source.name().to_owned(),
                kind: source.kind(),
                hit: identified(hit),
            })),
            Err(error) => {
                // The task's warnings report it to the caller.
                tracing::info!(source = source.name(), %error, query_id = %search.query.id, "source failed");
                errors.push(format!("{}: {error}", source.name()));
                failures.push(error);
            }
        }
    }
    if failures.len() == search.sources.len() {
        let retry_after = failures.iter().filter_map(PortError::retry_after).min();
        return Err(PortError::Unanswered { why: errors.join("; "), retry_after });
    }
    for source in search.sources {
        errors.extend(source.notes().into_iter().map(|note| format!("{}: {note}", source.name())));
    }
    let hits = named.len();
    let mut index = CanonicalPaperIndex::default();
    for entry in &named {
        index.add(entry.found_by(), entry.hit.work.clone());
    }
    complete(search, &mut named, &mut index, &mut errors).await;

    let known = identifiers(&named);
    let mut collected =
        Collected { pages: Vec::new(), vectors: Vec::new(), hits, without_text: Vec::new(), known, errors };
    let mut works = index.works();
    // Best ranks first over all sources, so that a budget cuts the tails and not the last source.
    works.sort_by_key(|work| work.records.iter().map(|&i| named[i].hit.rank).min());
    let mut seen = HashSet::new();
    for work in works {
        let Some((mut page, vector)) = page_of(&work, &named) else { continue };
        as_fetched(search.sources, &mut page);
        if !seen.insert(page.page.id.clone()) {
            continue;
        }
        if page.fragments.is_empty() && page.quarantined.is_empty() {
            collected.without_text.push(page);
        } else {
            collected.vectors.extend(vector.map(|(model, vector)| (page.page.id.clone(), model, vector)));
            collected.pages.push(page);
        }
    }
    Ok(collected)
}

/// One source's answer. One that fetches pages is asked for no more than the budget allows; `None` when that is nothing.
async fn ask(search: &Search<'_>, source: &dyn EvidenceSource) -> Result<Option<Vec<Hit>>> {
    let mut limit = search.pipeline.config.hits_per_source;
    if source.kind() == SourceKind::Web {
        limit = limit.min(search.room);
        if limit == 0 {
            return Ok(None);
        }
    }
    let query = search.query;
    let hits =
        within(search.left(), source.search(&query.query_text, query.language.as_deref(), limit)).await?;
    cleaned(search.pipeline.rules.as_ref(), hits).await.map(Some)
}

/// A source that takes longer than the task has left counts as one that failed.
pub(crate) async fn within<T>(time: Duration, answer: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::time::timeout(time, answer).await.unwrap_or_else(|_| {
        let why = "the task's time was used up before it answered".to_owned();
        Err(PortError::Failed { what: "asking".to_owned(), why })
    })
}

/// With the identifiers that its address gives away, when it brought none.
fn identified(mut hit: Hit) -> Hit {
    if hit.work.identifiers().next().is_none() {
        for id in Identifier::in_url(&hit.url) {
            hit.work.add_identifier(id);
        }
    }
    hit
}

/// Whether this source is among those that failed; it is not asked again for the same query.
pub(crate) fn failed(errors: &[String], source: &str) -> bool {
    errors.iter().any(|error| error.strip_prefix(source).is_some_and(|rest| rest.starts_with(": ")))
}
