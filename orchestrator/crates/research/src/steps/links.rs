//! Citations that web pages make by links in their body text (evidence design, section 2, step 8). A language model says
//! which links are citations; without one nothing is recorded.

use crate::Result;
use crate::context::Context;
use crate::ports::{CitedPage, FragmentRank, NewPage, PageLink};
use crate::steps::ask::{Asker, IsCitation, YesNo};
use lyra_domain::domains::{DomainRules, host_of};
use lyra_domain::{Edge, FetchMethod, Identifier, Job, Page, PageId, PaperMetadata, Work};
use serde::Serialize;
use std::collections::{HashMap, HashSet};

/// Who found these citations.
const EXTRACTION: &str = "extraction";

/// A fetched page with the links in its body.
pub(crate) struct ReadPage {
    id: PageId,
    title: String,
    links: Vec<PageLink>,
}

/// What looking at links came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct LinkCounts {
    /// Pages with links.
    pages: usize,
    /// Links that were asked about.
    links: usize,
    /// Those that are citations.
    cited: usize,
}

/// Of these links, by their page's address, those of pages that have a relevant fragment: the best ranked page first, at
/// most `per_page` of a page.
pub(crate) fn read(
    links: &HashMap<String, Vec<PageLink>>,
    pages: &[NewPage],
    ids: &[PageId],
    ranks: &[(PageId, FragmentRank)],
    per_page: usize,
) -> Vec<ReadPage> {
    let mut seen = HashSet::new();
    let relevant = ranks.iter().filter(|(page, rank)| rank.relevant && seen.insert(page));
    relevant
        .filter_map(|(id, _)| {
            let page = &pages[ids.iter().position(|known| known == id)?];
            let links: Vec<PageLink> = links.get(&page.page.url)?.iter().take(per_page).cloned().collect();
            let title = page.page.title.clone();
            (!links.is_empty()).then(|| ReadPage { id: id.clone(), title, links })
        })
        .collect()
}

/// Asks which of the links are citations, and records those: the cited page by its address or identifier, and an edge
/// with the sentence around the link. `pages` with these `ids` are those that a link may lead to by another address.
pub(crate) async fn record(
    context: &Context,
    job: &Job,
    asker: &Asker<'_>,
    read: &[ReadPage],
    pages: &[NewPage],
    ids: &[PageId],
) -> Result<LinkCounts> {
    let links: Vec<(&ReadPage, &PageLink)> =
        read.iter().flat_map(|page| page.links.iter().map(move |link| (page, link))).collect();
    let questions: Vec<IsCitation<'_>> = links
        .iter()
        .map(|(page, link)| IsCitation {
            title: &page.title,
            sentence: &link.context,
            link: &link.text,
            address: &link.url,
        })
        .collect();
    let answers = asker.ask_all(&questions).await?.answers;
    let cited: Vec<(&ReadPage, &PageLink)> = links
        .into_iter()
        .zip(&answers)
        .filter(|(_, answer)| answer.as_ref().is_some_and(|answer| answer.cited == YesNo::Yes))
        .map(|(link, _)| link)
        .collect();

    let known: HashMap<Identifier, &PageId> = pages
        .iter()
        .zip(ids)
        .flat_map(|(page, id)| page.work.iter().flat_map(Work::identifiers).map(move |name| (name, id)))
        .collect();
    let at_hand: Vec<Option<&PageId>> = cited
        .iter()
        .map(|(_, link)| Identifier::in_url(&link.url).iter().find_map(|name| known.get(name)).copied())
        .collect();
    let rules = context.rules.domains().await?;
    let new: Vec<CitedPage> = cited
        .iter()
        .zip(&at_hand)
        .filter(|(_, known)| known.is_none())
        .map(|((_, link), _)| cited_page(link, &rules))
        .collect();
    let mut registered = context.store.register_cited(&new, &job.id).await?.into_iter();
    let edges: Vec<Edge> = cited
        .iter()
        .zip(at_hand)
        .filter_map(|((page, link), known)| {
            let to = known.cloned().or_else(|| registered.next())?;
            (to != page.id).then(|| Edge::Cites {
                from: page.id.clone(),
                to,
                citation_source: EXTRACTION.to_owned(),
                context: Some(link.context.clone()),
            })
        })
        .collect();
    context.store.add_edges(&job.task_id, &edges, &job.id).await?;
    Ok(LinkCounts { pages: read.len(), links: answers.len(), cited: edges.len() })
}

/// The page that a link leads to, by the work that its address names, else by its address.
fn cited_page(link: &PageLink, rules: &DomainRules) -> CitedPage {
    let decision = rules.decide(host_of(&link.url));
    let mut work = Work { source_api: "web".to_owned(), ..Work::default() };
    for name in Identifier::in_url(&link.url) {
        work.add_identifier(name);
    }
    // A work without a DOI is identified by its title, which a link does not give.
    let work = work.doi.is_some().then_some(work);
    let work_id = work.as_ref().map(Work::id);
    let id = match &work_id {
        Some(work) => PageId::derive(&["work", work.as_str()]),
        None => PageId::derive(&["url", &link.url]),
    };
    let doi = work.as_ref().and_then(|work| work.doi.as_ref()).map(ToString::to_string);
    let page = Page {
        id,
        url: link.url.clone(),
        domain: decision.domain,
        domain_category: decision.category.to_string(),
        // What a page calls another is not its title.
        title: String::new(),
        work_id,
        language: None,
        fetch_method: FetchMethod::Http,
        paper_metadata: PaperMetadata { doi, ..PaperMetadata::default() },
    };
    CitedPage { page, work }
}
