//! Fetching the pages of works that no source has a text of (evidence design, section 2, step 5).

use crate::context::Step;
use crate::ports::{NewPage, SourcePage};
use crate::steps::asking::{Search, within};
use crate::steps::collect::withhold;
use crate::steps::hit::read_into;
use crate::steps::register::register;
use crate::{PortError, Result};
use futures::StreamExt;
use lyra_domain::{Identifier, Job, PageId, Task, Work};
use serde::Serialize;
use std::collections::HashSet;

/// Pages fetched at once.
const AT_ONCE: usize = 4;
/// Addresses of one work that are tried.
const MAX_ADDRESSES: usize = 3;
/// Works that could not be read which a warning names.
const NAMED_IN_WARNING: usize = 3;

/// What fetching came to.
#[derive(Default)]
pub(crate) struct Fetched {
    /// Pages that are registered now, and the ids that they have.
    pub(crate) pages: Vec<NewPage>,
    pub(crate) ids: Vec<PageId>,
    /// How it went, for the job's record.
    pub(crate) counts: Counts,
}

/// How many works were fetched, and which were not.
#[derive(Debug, Default, Clone, Serialize)]
pub(crate) struct Counts {
    /// Works without a text.
    pub(crate) without_text: usize,
    /// Of those, works that the task had read before.
    pub(crate) known: usize,
    /// Works whose pages were asked for.
    pub(crate) tried: usize,
    /// Works that have a text now.
    pub(crate) read: usize,
    /// The others, each with its title and why.
    pub(crate) failed: Vec<Failure>,
    /// Works that were not read to their end, each with its title and how far.
    pub(crate) cut: Vec<Failure>,
}

/// A work that could not be read, or not to its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Failure {
    work: String,
    why: String,
}

/// Fetches as many of these works as the budgets allow, and registers each as it arrives. A work that cannot be read is
/// written down and changes nothing else.
pub(crate) async fn fetch(
    search: &Search<'_>,
    job: &Job,
    task: &Task,
    works: Vec<NewPage>,
) -> Result<Fetched> {
    let context = search.context;
    let mut fetched = Fetched::default();
    fetched.counts.without_text = works.len();
    let read_before: HashSet<PageId> =
        context.store.task_fragments(&task.id).await?.into_iter().map(|f| f.fragment.page_id).collect();
    let (known, mut works): (Vec<_>, Vec<_>) =
        works.into_iter().partition(|page| read_before.contains(&page.page.id));
    fetched.counts.known = known.len();
    (fetched.pages, fetched.ids) = register(context, job, task, search.query, known).await?;

    let used = context.store.task_pages(&task.id).await?.len();
    let room = (task.config.budget.max_pages as usize).saturating_sub(used);
    works.retain(|page| page.work.as_ref().is_some_and(|work| !addresses(work, &page.page.url).is_empty()));
    works.truncate(room.min(context.search.fetch_without_abstract));
    fetched.counts.tried = works.len();
    let reading = futures::stream::iter(works).map(|page| read(search, page)).buffer_unordered(AT_ONCE);
    let mut reading = std::pin::pin!(reading);
    while let Some((page, read)) = reading.next().await {
        match read {
            Ok(left_out) => {
                let work = page.page.title.clone();
                fetched.counts.cut.extend(left_out.map(|why| Failure { work, why }));
                let (pages, ids) = register(context, job, task, search.query, vec![page]).await?;
                fetched.counts.read += pages.len();
                fetched.pages.extend(pages);
                fetched.ids.extend(ids);
            }
            Err(why) => {
                tracing::debug!(url = page.page.url, why, "work could not be read");
                fetched.counts.failed.push(Failure { work: page.page.title, why });
            }
        }
    }
    // Whichever answered first: what is written down is in a fixed order.
    fetched.counts.failed.sort_by(|a, b| a.work.cmp(&b.work));
    fetched.counts.cut.sort_by(|a, b| a.work.cmp(&b.work));
    let Counts { failed, cut, .. } = &mut fetched.counts;
    let reasons = failed.iter_mut().chain(cut).map(|failure| &mut failure.why).collect();
    withhold(context.rules.as_ref(), reasons).await?;
    for warning in unread(&fetched.counts) {
        context.store.add_warning(&task.id, &warning).await?;
    }
    if fetched.counts.tried > 0 {
        let (read, of) = (fetched.counts.read, fetched.counts.tried);
        context.report(&task.id, Step::Fetched { read, of });
    }
    Ok(fetched)
}

/// The page with the text that a source keeps itself, else that of the first address that has one, and what was left
/// out of it; or why none has.
async fn read(search: &Search<'_>, mut page: NewPage) -> (NewPage, Result<Option<String>, String>) {
    let addresses = page.work.as_ref().map(|work| addresses(work, &page.page.url)).unwrap_or_default();
    let mut why = Vec::new();
    if let Some(found) = kept_text(search, &page, &mut why).await {
        let left_out = found.left_out.clone();
        read_into(&mut page, found);
        return (page, Ok(left_out));
    }
    for address in addresses {
        let left = search.left();
        if left.is_zero() {
            why.push("the task's time was used up".to_owned());
            break;
        }
        let answer = tokio::time::timeout(left, search.context.pages.fetch(&address)).await;
        match answer {
            Ok(Ok(found)) if found.fragments.is_empty() && found.quarantined.is_empty() => {
                why.push(format!("{address} has no text"));
            }
            Ok(Ok(found)) => {
                let left_out = found.left_out.clone();
                read_into(&mut page, found);
                return (page, Ok(left_out));
            }
            Ok(Err(PortError::Refused { why: said, .. } | PortError::Failed { why: said, .. })) => {
                why.push(said);
            }
            Ok(Err(error)) => why.push(error.to_string()),
            Err(_) => why.push(format!("{address} took longer than the task's time")),
        }
    }
    (page, Err(why.join("; ")))
}

/// The text of the first source that keeps one of this work; `why` takes the failures of the others.
async fn kept_text(search: &Search<'_>, page: &NewPage, why: &mut Vec<String>) -> Option<SourcePage> {
    let work = page.work.as_ref()?;
    for source in search.sources {
        let Some(scholarly) = source.scholarly() else { continue };
        match within(search.left(), scholarly.full_text(work)).await {
            Ok(Some(found)) if !found.fragments.is_empty() => return Some(found),
            Ok(_) => {}
            Err(error) => why.push(format!("{}: {error}", source.name())),
        }
    }
    None
}

/// Where a work may be read: where it is free, where its repository has it, then where it is named.
fn addresses(work: &Work, named: &str) -> Vec<String> {
    let repositories = work.ids.iter().filter_map(|id| match id {
        Identifier::Arxiv(id) => Some(format!("https://arxiv.org/abs/{id}")),
        Identifier::Pmcid(id) => Some(format!("https://pmc.ncbi.nlm.nih.gov/articles/{id}/")),
        _ => None,
    });
    let mut seen = HashSet::new();
    work.oa_url
        .clone()
        .into_iter()
        .chain(repositories)
        .chain([named.to_owned()])
        .filter(|address| address.starts_with("http://") || address.starts_with("https://"))
        .filter(|address| seen.insert(address.clone()))
        .take(MAX_ADDRESSES)
        .collect()
}

/// The warnings about works without abstract that were not read, or not to the end.
fn unread(counts: &Counts) -> Vec<String> {
    let said = |these: &[Failure], what: &str| {
        let named: Vec<String> =
            these.iter().take(NAMED_IN_WARNING).map(|f| format!("\"{}\" ({})", f.work, f.why)).collect();
        let more = if these.len() > NAMED_IN_WARNING { ", …" } else { "" };
        let works = if these.len() == 1 { "work" } else { "works" };
        let text = format!("{} {works} without abstract {what}: {}{more}", these.len(), named.join(", "));
        (!these.is_empty()).then_some(text)
    };
    let failed = said(&counts.failed, "could not be read");
    failed.into_iter().chain(said(&counts.cut, "could not be read to the end")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_text_first_then_repositories_then_the_landing_page() {
        let mut work = Work { oa_url: Some("https://oa.example/a.pdf".to_owned()), ..Work::default() };
        for id in ["PMC3531190", "arXiv:1706.03762"] {
            for id in Identifier::in_text(id) {
                work.add_identifier(id);
            }
        }
        let found = addresses(&work, "https://doi.org/10.1000/1");
        assert_eq!(found[0], "https://oa.example/a.pdf");
        assert_eq!(found.len(), MAX_ADDRESSES);
        assert!(found.contains(&"https://arxiv.org/abs/1706.03762".to_owned()), "{found:?}");
        assert_eq!(addresses(&Work::default(), "https://a.example/"), ["https://a.example/"]);
        assert!(addresses(&Work::default(), "corpus:tea/1").is_empty());
    }

    #[test]
    fn a_warning_names_some_and_counts_all() {
        let failure = |work: &str| Failure { work: work.to_owned(), why: "404".to_owned() };
        let counts = Counts { failed: ["a", "b", "c", "d"].map(failure).to_vec(), ..Counts::default() };
        let text = unread(&counts).concat();
        assert!(text.starts_with("4 works") && text.contains("\"c\" (404), …"), "{text}");
        let why = "read up to page 80 of 90".to_owned();
        let counts = Counts { cut: vec![Failure { work: "a".to_owned(), why }], ..counts };
        let end = "1 work without abstract could not be read to the end: \"a\" (read up to page 80 of 90)";
        assert_eq!(unread(&counts)[1..], [end]);
        assert!(unread(&Counts::default()).is_empty());
    }
}
