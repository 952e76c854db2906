//! Putting pages into the store: every one on its way there is looked at for text that addresses an AI, gets the category
//! of its domain, and pays from the page budget. What comes out again is what may be used now.

use crate::Result;
use crate::context::Context;
use crate::ports::{Hit, NewPage, Quarantined, TaskFragment};
use lyra_domain::domains::{DomainCategory, host_of};
use lyra_domain::{FetchMethod, Fragment, Job, PageId, Query, Task, TaskId};

/// Where the records of works with a DOI stand, as far as domains go.
const DOI_HOST: &str = "doi.org";
/// Weight of what has no domain of the web: a corpus is what its owner chose to have.
const OWN_WEIGHT: f64 = 1.0;

/// Registers pages; those beyond the budget are left out, and the task says so. Answers with the pages kept and the ids
/// that they have.
pub(crate) async fn register(
    context: &Context,
    job: &Job,
    task: &Task,
    query: &Query,
    mut pages: Vec<NewPage>,
) -> Result<(Vec<NewPage>, Vec<PageId>)> {
    if pages.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    quarantine(context, &mut pages).await?;
    categorise(context, &mut pages).await?;
    let ids = context.store.register_pages(query, &pages, &job.id).await?;
    let found = pages.len();
    let (pages, ids): (Vec<NewPage>, Vec<PageId>) =
        pages.into_iter().zip(ids).filter_map(|(page, id)| Some((page, id?))).unzip();
    if pages.len() < found {
        let limit = task.config.budget.max_pages;
        let warning = format!("the page budget of {limit} is used up: some pages found were left out");
        context.store.add_warning(&task.id, &warning).await?;
    }
    for warning in pages.iter().filter_map(quarantine_note) {
        context.store.add_warning(&task.id, &warning).await?;
    }
    Ok((pages, ids))
}

/// Whether its text comes from a site of the web, and not from an API or a file.
fn is_fetched(page: &NewPage) -> bool {
    matches!(page.page.fetch_method, FetchMethod::Http | FetchMethod::Browser)
}

/// Takes passages that address an AI out of texts that no fetcher has looked at: abstracts and documents. Their
/// domains are not blocked for it: the text came from an API or a file, not from there.
async fn quarantine(context: &Context, pages: &mut [NewPage]) -> Result<()> {
    let mut unread: Vec<&mut NewPage> = pages.iter_mut().filter(|page| !is_fetched(page)).collect();
    // With the headings above them, which are shown beside them.
    let text = |fragment: &Fragment| match &fragment.heading_context {
        Some(heading) => format!("{heading}\n{}", fragment.text_content),
        None => fragment.text_content.clone(),
    };
    let texts: Vec<String> = unread.iter().flat_map(|page| page.fragments.iter().map(text)).collect();
    if texts.is_empty() {
        return Ok(());
    }
    let mut dangers = context.rules.dangers(texts).await?.into_iter();
    for page in &mut unread {
        for fragment in std::mem::take(&mut page.fragments) {
            match dangers.next().flatten() {
                Some(danger) => page.quarantined.push(Quarantined { fragment, danger }),
                None => page.fragments.push(fragment),
            }
        }
    }
    Ok(())
}

/// Takes the text from hits that address an AI in it or in their title: candidates are compared, and may be shown to a
/// language model, before they become pages.
pub(crate) async fn silence(context: &Context, hits: Vec<&mut Hit>) -> Result<()> {
    let texts: Vec<String> = hits
        .iter()
        .map(|hit| lyra_text::passage(&hit.work.title, hit.text.as_deref().unwrap_or_default()))
        .collect();
    if texts.is_empty() {
        return Ok(());
    }
    for (hit, danger) in hits.into_iter().zip(context.rules.dangers(texts).await?) {
        if let Some(danger) = danger {
            tracing::info!(url = hit.url, rule = danger.rule, "a cited work is left out");
            hit.text = None;
        }
    }
    Ok(())
}

/// Sets the category of each page's domain. The domain is that of the fetched address, else the DOI's, else that of the
/// page's address; a corpus document has one only when it names an address or a DOI. Domains that a person unblocked
/// stay unblocked, even for hostile text.
async fn categorise(context: &Context, pages: &mut [NewPage]) -> Result<()> {
    let rules = context.rules.domains().await?;
    for page in pages {
        let host = match &page.answer {
            Some(answer) if is_fetched(page) => host_of(&answer.final_url),
            _ if page.page.paper_metadata.doi.is_some() => DOI_HOST,
            _ => host_of(&page.page.url),
        };
        let decision = rules.decide(host);
        page.page.domain_category = decision.category.to_string();
        if rules.is_unblocked(host) {
            page.blocks_domain = None;
        }
    }
    Ok(())
}

fn quarantine_note(page: &NewPage) -> Option<String> {
    let mut rules: Vec<&str> = page.quarantined.iter().map(|passage| passage.danger.rule.as_str()).collect();
    rules.extend(page.blocks_domain.as_deref());
    rules.sort_unstable();
    rules.dedup();
    let blocked = if page.blocks_domain.is_some() {
        format!("; the domain {} is blocked for it", page.page.domain)
    } else {
        String::new()
    };
    (!rules.is_empty()).then(|| {
        format!(
            "{} holds text that addresses the AI that reads it ({}): {} of its passages are in quarantine{blocked}",
            page.page.url,
            rules.join(", "),
            page.quarantined.len(),
        )
    })
}

/// A fragment that may be used, with the ranking weight of its domain.
pub(crate) struct Usable {
    pub(crate) fragment: TaskFragment,
    /// In [0, 1].
    pub(crate) weight: f64,
}

/// The task's fragments but for those of domains that are blocked now, each with its domain's category and weight as
/// the rules have them now.
pub(crate) async fn usable(context: &Context, task: &TaskId) -> Result<Vec<Usable>> {
    let rules = context.rules.domains().await?;
    let fragments = context.store.task_fragments(task).await?;
    let weighed = |mut fragment: TaskFragment| {
        if fragment.domain.starts_with("corpus:") {
            return Some(Usable { fragment, weight: OWN_WEIGHT });
        }
        let host = host_of(&fragment.url);
        let decision = rules.decide(if host.is_empty() { &fragment.domain } else { host });
        fragment.domain_category = decision.category.to_string();
        let usable = decision.category != DomainCategory::Blocked;
        usable.then_some(Usable { fragment, weight: decision.weight })
    };
    Ok(fragments.into_iter().filter_map(weighed).collect())
}
