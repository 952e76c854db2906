//! Following citations from the best works of a query (evidence design, section 2, step 7).

use crate::config::CitationDirection;
use crate::context::{Context, Step};
use crate::error::is_silent;
use crate::ports::{EvidenceSource, FragmentRank, Hit, NewPage, TextRole};
use crate::steps::ask::{Asker, Usefulness};
use crate::steps::asking::{Search, within};
use crate::steps::hit::as_page;
use crate::steps::metadata::cleaned;
use crate::steps::register::silence;
use crate::{PortError, Result, SourceFailure};
use futures::future::join_all;
use lyra_domain::{
    CanonicalPaperIndex, CanonicalWork, Edge, FoundBy, Fragment, Identifier, PageId, Precedence, Query,
    TaskPageReason, WorkId, ranking, vector,
};
use serde::Serialize;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

/// What following the citations of a query came to.
#[derive(Debug, Clone)]
pub(crate) struct Expansion {
    /// Works to register, the most useful first.
    pub(crate) chosen: Vec<NewPage>,
    /// Who cites whom, in the order in which the APIs count.
    pub(crate) links: Vec<Link>,
    /// How many entered and left every stage.
    pub(crate) counts: Counts,
    /// What is missing, source by source.
    pub(crate) failures: Vec<SourceFailure>,
}

/// How many works entered and left every stage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Counts {
    /// Works whose citations were followed.
    pub(crate) followed: usize,
    /// Entries that the APIs answered.
    pub(crate) entries: usize,
    /// Distinct works among them that are not yet pages of the query.
    pub(crate) before_stage0: usize,
    /// Those with an abstract, cited often enough.
    pub(crate) after_stage0: usize,
    /// Those closest to the query and of the most impact.
    pub(crate) after_stage1: usize,
    /// Those that become pages.
    pub(crate) after_stage2: usize,
    /// Questions to a language model.
    pub(crate) llm_calls: usize,
}

/// One work cites another, says a source.
#[derive(Debug, Clone)]
pub(crate) struct Link {
    from: WorkId,
    to: WorkId,
    source: String,
}

/// One entry of an API's list.
struct Entry {
    source: String,
    /// Which of the followed works.
    followed: usize,
    /// Whether the entry cites it, or is cited by it.
    cites: bool,
    hit: Hit,
}

/// `None` when there is no source to ask or no work to ask about. Sources without an answer until now are not asked.
pub(crate) async fn expand(
    search: &Search<'_>,
    failures: &[SourceFailure],
    (pages, ids): (&[NewPage], &[PageId]),
    ranks: &[(PageId, FragmentRank)],
    asker: Option<&Asker<'_>>,
) -> Result<Option<Expansion>> {
    let (context, query, time) = (search.context, search.query, search.left());
    let followed = best_works(ranks, pages, ids, context.search.citation_graph_top_n_papers);
    let asked = |source: &&Arc<dyn EvidenceSource>| {
        source.scholarly().is_some() && !is_silent(failures, source.name())
    };
    let mut apis: Vec<_> = search.sources.iter().filter(asked).collect();
    if followed.is_empty() || apis.is_empty() {
        return Ok(None);
    }
    // The first API that names a pair is its source, in this order.
    apis.sort_by_key(|source| (source.precedence(), source.name().to_owned()));
    let answers = join_all(apis.iter().map(|api| ask(context, api.as_ref(), pages, &followed, time))).await;
    let mut failures = Vec::new();
    let mut entries = Vec::new();
    for (api, (found, failed)) in apis.iter().zip(answers) {
        entries.extend(found);
        failures.extend(failed.map(|error| SourceFailure {
            message: format!("its citations: {error}"),
            ..SourceFailure::new(api.name(), &error)
        }));
    }
    silence(context, entries.iter_mut().map(|entry| &mut entry.hit).collect()).await?;

    // The query's own works come first, so that an entry that is one of them is known as such.
    let mut index = CanonicalPaperIndex::default();
    let own: Vec<Option<usize>> = pages
        .iter()
        .map(|page| {
            let work = page.work.as_ref()?;
            Some(index.add(FoundBy::Api, precedence_of(search.sources, &work.source_api), work.clone()))
        })
        .collect();
    // Which page the record of an own work belongs to.
    let owners: Vec<usize> = (0..pages.len()).filter(|&page| own[page].is_some()).collect();
    let first_entry = owners.len();
    for entry in &entries {
        index.add(FoundBy::Api, precedence_of(search.sources, &entry.source), entry.hit.work.clone());
    }
    let works = index.works();
    // What each record's work is called: by its page when it has one.
    let mut names: Vec<WorkId> = vec![WorkId::from_stored(String::new()); first_entry + entries.len()];
    let mut candidates: Vec<&CanonicalWork> = Vec::new();
    for work in &works {
        let page = work.records.iter().find_map(|&record| owners.get(record)).map(|&page| &pages[page]);
        let name =
            page.and_then(|page| page.work.as_ref()).map_or_else(|| work.work.id(), lyra_domain::Work::id);
        if page.is_none() {
            candidates.push(work);
        }
        for &record in &work.records {
            names[record] = name.clone();
        }
    }
    let links = entries.iter().enumerate().filter_map(|(i, entry)| {
        let other = names[first_entry + i].clone();
        let this = names[own[followed[entry.followed]]?].clone();
        let (from, to) = if entry.cites { (other, this) } else { (this, other) };
        Some(Link { from, to, source: entry.source.clone() })
    });
    let links: Vec<Link> = links.chain(stated(search.sources, pages)).collect();

    let mut counts = Counts {
        followed: followed.len(),
        entries: entries.len(),
        before_stage0: candidates.len(),
        ..Counts::default()
    };
    let entry_of = |work: &CanonicalWork| {
        let readable = |i: &&usize| {
            let text = entries[**i - first_entry].hit.text.as_deref();
            text.is_some_and(|text| !text.trim().is_empty())
        };
        work.records.iter().find(readable).map(|i| &entries[*i - first_entry])
    };
    let least = context.search.citation_filter.min_citation_count;
    let with_text: Vec<(&CanonicalWork, &Entry)> = candidates
        .into_iter()
        .filter(|work| work.work.citation_count.unwrap_or(0) >= least)
        .filter_map(|work| Some((work, entry_of(work)?)))
        .collect();
    counts.after_stage0 = with_text.len();
    let merits = merits(context, query, &with_text).await?;
    let mut order = by_merit(&with_text, |i| merits[i].stage1());
    let filter = &context.search.citation_filter;
    order.truncate(filter.stage1_top_k);
    counts.after_stage1 = order.len();
    // Without a language model, stage 2 keeps the order of stage 1.
    if let Some(asker) = asker {
        counts.llm_calls = by_llm(asker, query, &with_text, &merits, &mut order).await?;
    }
    counts.after_stage2 = counts.after_stage1.min(filter.stage2_top_k);
    let chosen: Vec<NewPage> = order[..counts.after_stage2]
        .iter()
        .map(|&i| {
            let (work, entry) = with_text[i];
            cited_page(work, entry, &ids[followed[entry.followed]])
        })
        .collect();
    context.report(&query.task_id, Step::Expanded { found: counts.before_stage0, chosen: chosen.len() });
    Ok(Some(Expansion { chosen, links, counts, failures }))
}

/// Of these links those between these pages, which have these ids.
pub(crate) fn edges(links: &[Link], pages: &[NewPage], ids: &[PageId]) -> Vec<Edge> {
    let by_work: HashMap<WorkId, &PageId> =
        pages.iter().zip(ids).filter_map(|(page, id)| Some((page.work.as_ref()?.id(), id))).collect();
    let mut seen = HashSet::new();
    links
        .iter()
        .filter_map(|link| {
            let (from, to) = (*by_work.get(&link.from)?, *by_work.get(&link.to)?);
            let fresh = from != to && seen.insert((from, to));
            fresh.then(|| Edge::Cites {
                from: from.clone(),
                to: to.clone(),
                citation_source: link.source.clone(),
                context: None,
            })
        })
        .collect()
}

/// Places in `pages` of the works that rank best and have an identifier.
fn best_works(ranks: &[(PageId, FragmentRank)], pages: &[NewPage], ids: &[PageId], top: usize) -> Vec<usize> {
    let mut best: Vec<usize> = Vec::new();
    for (page, _) in ranks.iter().filter(|(_, rank)| rank.relevant) {
        let place = ids.iter().position(|id| id == page);
        let known =
            |place: &usize| pages[*place].work.as_ref().is_some_and(|w| w.identifiers().next().is_some());
        if let Some(place) = place.filter(|place| known(place) && !best.contains(place)) {
            best.push(place);
        }
        if best.len() >= top {
            break;
        }
    }
    best.truncate(top);
    best
}

/// What one API says of every followed work; stops at the first failure and keeps what it has.
async fn ask(
    context: &Context,
    api: &dyn EvidenceSource,
    pages: &[NewPage],
    followed: &[usize],
    time: Duration,
) -> (Vec<Entry>, Option<PortError>) {
    let mut entries = Vec::new();
    let Some(scholarly) = api.scholarly() else { return (entries, None) };
    let (limit, direction) =
        (context.search.citation_graph_fetch_limit, context.search.citation_graph_direction);
    let deadline = tokio::time::Instant::now() + time;
    for (number, &place) in followed.iter().enumerate() {
        let Some(work) = &pages[place].work else { continue };
        for cites in [false, true] {
            let skipped = if cites { CitationDirection::References } else { CitationDirection::Citations };
            if direction == skipped {
                continue;
            }
            let left = deadline.saturating_duration_since(tokio::time::Instant::now());
            let answer = if cites {
                within(left, scholarly.citations(work, limit)).await
            } else {
                within(left, scholarly.references(work, limit)).await
            };
            let answer = match answer {
                Ok(hits) => cleaned(context.rules.as_ref(), hits).await,
                Err(error) => Err(error),
            };
            match answer {
                Ok(hits) => entries.extend(hits.into_iter().map(|hit| Entry {
                    source: api.name().to_owned(),
                    followed: number,
                    cites,
                    hit,
                })),
                Err(error) => {
                    tracing::warn!(source = api.name(), %error, "citations could not be followed");
                    return (entries, Some(error));
                }
            }
        }
    }
    (entries, None)
}

/// Precedence of the source with this name, among these.
fn precedence_of(sources: &[Arc<dyn EvidenceSource>], name: &str) -> Precedence {
    sources.iter().find(|source| source.name() == name).map_or(Precedence::LAST, |source| source.precedence())
}

/// Citations among the pages that the records of APIs state by themselves.
fn stated(sources: &[Arc<dyn EvidenceSource>], pages: &[NewPage]) -> Vec<Link> {
    let stated_by = |cited: &str| {
        sources.iter().find_map(|source| Some((source.name(), source.scholarly()?.own_reference(cited)?)))
    };
    let works = || pages.iter().filter_map(|page| page.work.as_ref());
    let by_id: HashMap<Identifier, WorkId> =
        works().flat_map(|work| work.identifiers().map(|id| (id, work.id()))).collect();
    works()
        .flat_map(|work| work.references.iter().map(move |cited| (work.id(), cited)))
        .filter_map(|(from, cited)| {
            let (source, cited) = stated_by(cited)?;
            let to = by_id.get(&cited)?.clone();
            Some(Link { from, to, source: source.to_owned() })
        })
        .collect()
}

/// What speaks for a candidate.
#[derive(Debug, Clone, Copy, Default)]
struct Merit {
    /// Cosine with the query, when the models read its language.
    cosine: f64,
    /// See [`ranking::impacts`].
    impact: f64,
}

impl Merit {
    fn stage1(self) -> f64 {
        0.5 * self.cosine + 0.5 * self.impact
    }

    /// With the usefulness that a language model gave, from 0 to 1; where it gave none, stage 1 stands in for it.
    fn stage2(self, usefulness: Option<f64>) -> f64 {
        0.5 * usefulness.unwrap_or(self.stage1()) + 0.3 * self.cosine + 0.2 * self.impact
    }
}

async fn merits(
    context: &Context,
    query: &Query,
    candidates: &[(&CanonicalWork, &Entry)],
) -> Result<Vec<Merit>> {
    let counts: Vec<Option<u32>> = candidates.iter().map(|(work, _)| work.work.citation_count).collect();
    let mut merits: Vec<Merit> =
        ranking::impacts(&counts).iter().map(|impact| Merit { cosine: 0.0, impact: *impact }).collect();
    let models = context.inference.models().await?;
    if models.read(query.language.as_deref()) && !candidates.is_empty() {
        let text = |entry: &Entry| {
            lyra_text::passage(&entry.hit.work.title, entry.hit.text.as_deref().unwrap_or_default())
        };
        let texts: Vec<String> = candidates.iter().map(|(_, entry)| text(entry)).collect();
        let query = std::slice::from_ref(&query.query_text);
        let query = context.inference.embed(TextRole::Query, query).await?;
        let vectors = context.inference.embed(TextRole::Passage, &texts).await?;
        if let Some(query) = query.first() {
            for (merit, candidate) in merits.iter_mut().zip(&vectors) {
                merit.cosine = f64::from(vector::dot(query, candidate));
            }
        }
    }
    Ok(merits)
}

/// Places of the candidates, best first.
fn by_merit(candidates: &[(&CanonicalWork, &Entry)], score: impl Fn(usize) -> f64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    order.sort_by(|&a, &b| {
        let name = |i: usize| candidates[i].0.work.id();
        score(b).total_cmp(&score(a)).then_with(|| name(a).cmp(&name(b)))
    });
    order
}

/// Orders what stage 1 kept by what a language model says of its usefulness, closeness and impact. When it says nothing
/// of any, the order stays. Returns how many requests it took.
async fn by_llm(
    asker: &Asker<'_>,
    query: &Query,
    candidates: &[(&CanonicalWork, &Entry)],
    merits: &[Merit],
    order: &mut [usize],
) -> Result<usize> {
    let names: Vec<String> = order.iter().map(|&i| candidates[i].0.work.id().to_string()).collect();
    let questions: Vec<Usefulness<'_>> = order
        .iter()
        .zip(&names)
        .map(|(&i, work)| Usefulness {
            work,
            question: &query.query_text,
            title: &candidates[i].1.hit.work.title,
            text: candidates[i].1.hit.text.as_deref().unwrap_or_default(),
        })
        .collect();
    let answers = asker.ask_all(&questions).await?;
    let usefulness: HashMap<usize, f64> = order
        .iter()
        .zip(&answers.answers)
        .filter_map(|(&i, answer)| Some((i, answer.as_ref()?.score / 10.0)))
        .collect();
    if !usefulness.is_empty() {
        // Stable: equals stay in the order of stage 1.
        order.sort_by(|a, b| {
            let score = |i: &usize| merits[*i].stage2(usefulness.get(i).copied());
            score(b).total_cmp(&score(a))
        });
    }
    Ok(answers.calls)
}

fn cited_page(work: &CanonicalWork, entry: &Entry, via: &PageId) -> NewPage {
    let mut page = as_page(&entry.source, &entry.hit, &work.work);
    let text = entry.hit.text.as_deref().unwrap_or_default().trim();
    page.fragments = vec![Fragment::of_abstract(&page.page.id, text)];
    page.reason = TaskPageReason::Citation;
    page.via = Some(via.clone());
    // No query's result: no source named it for the query's words.
    page.found_by = Vec::new();
    page
}
