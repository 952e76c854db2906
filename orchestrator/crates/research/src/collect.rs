//! Asking every source, completing what they name, and merging it (evidence design, section 2, steps 1 to 4).

use crate::pipeline::Pipeline;
use crate::ports::{EvidenceSource, Hit, NewPage};
use crate::{PortError, Result};
use futures::future::join_all;
use lyra_domain::domains::registrable_domain;
use lyra_domain::{
    CanonicalPaperIndex, CanonicalWork, FetchMethod, FoundBy, Fragment, FragmentId, Identifier, Page, PageId,
    PaperMetadata, Query, TaskPageReason, Work,
};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

/// Category of a domain that no configuration knows.
const UNVERIFIED: &str = "unverified";
/// Most identifiers that one query has completed.
const MAX_LOOKUPS: usize = 100;

/// What the sources answered together.
pub(crate) struct Collected {
    /// One page per work or document with a text, the best ranked first.
    pub(crate) pages: Vec<NewPage>,
    /// Vectors that sources gave along, by page.
    pub(crate) vectors: Vec<(PageId, String, Vec<f32>)>,
    /// Hits over all sources.
    pub(crate) hits: usize,
    /// Works that are known by their metadata only.
    pub(crate) without_text: usize,
    /// What went wrong, source by source.
    pub(crate) errors: Vec<String>,
}

/// A page, and the vector of its text when its source gave one along, with the model that made it.
type PageAndVector = (NewPage, Option<(String, Vec<f32>)>);

/// One hit and who named it.
struct Named {
    source: String,
    found_by: FoundBy,
    hit: Hit,
}

/// Asks every source at once, each for at most `time`. One that fails is written down; only when all fail for a passing
/// reason is it an error, so that the job is tried again.
pub(crate) async fn collect(
    pipeline: &Pipeline,
    sources: &[Arc<dyn EvidenceSource>],
    query: &Query,
    time: Duration,
) -> Result<Collected> {
    if sources.is_empty() {
        return Err(PortError::Refused {
            what: "search".to_owned(),
            why: "no source is configured; import a corpus with `lyra corpus import NAME FILE`".to_owned(),
        });
    }
    let limit = pipeline.config.hits_per_source;
    let answers = join_all(
        sources
            .iter()
            .map(|source| within(time, source.search(&query.query_text, query.language.as_deref(), limit))),
    )
    .await;
    let mut errors = Vec::new();
    let mut passing_failures = 0;
    let mut named: Vec<Named> = Vec::new();
    for (source, answer) in sources.iter().zip(answers) {
        match answer {
            Ok(hits) => named.extend(hits.into_iter().map(|hit| {
                let keeps_metadata = source.scholarly().is_some() || source.name().starts_with("corpus:");
                let found_by = if keeps_metadata { FoundBy::Api } else { FoundBy::Serp };
                Named { source: source.name().to_owned(), found_by, hit: identified(hit) }
            })),
            Err(error) => {
                tracing::warn!(source = source.name(), %error, query_id = %query.id, "source failed");
                passing_failures += usize::from(error.is_transient());
                errors.push(format!("{}: {error}", source.name()));
            }
        }
    }
    if passing_failures == sources.len() {
        return Err(PortError::Unavailable { what: "every source".to_owned(), why: errors.join("; ") });
    }
    for source in sources {
        errors.extend(source.notes().into_iter().map(|note| format!("{}: {note}", source.name())));
    }
    let hits = named.len();
    complete(sources, &mut named, &mut errors, time).await;

    let mut index = CanonicalPaperIndex::default();
    for entry in &named {
        index.add(entry.found_by, entry.hit.work.clone());
    }
    let mut collected = Collected { pages: Vec::new(), vectors: Vec::new(), hits, without_text: 0, errors };
    let mut works = index.works();
    // Best ranks first over all sources, so that a budget cuts the tails and not the last source.
    works.sort_by_key(|work| work.records.iter().map(|&i| named[i].hit.rank).min());
    let mut seen = HashSet::new();
    for work in works {
        let Some((mut page, vector)) = page_of(&work, &named) else { continue };
        as_fetched(sources, &mut page);
        if page.fragments.is_empty() {
            collected.without_text += 1;
        } else if seen.insert(page.page.id.clone()) {
            collected.vectors.extend(vector.map(|(model, vector)| (page.page.id.clone(), model, vector)));
            collected.pages.push(page);
        }
    }
    Ok(collected)
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

/// Asks the academic APIs once about works without abstract, works that nobody said anything about being retracted, and
/// works that texts from elsewhere name. What they answer joins the hits, and is not followed further.
async fn complete(
    sources: &[Arc<dyn EvidenceSource>],
    named: &mut Vec<Named>,
    errors: &mut Vec<String>,
    time: Duration,
) {
    let mut index = CanonicalPaperIndex::default();
    for entry in named.iter() {
        index.add(entry.found_by, entry.hit.work.clone());
    }
    let works = index.works();
    let known: HashSet<Identifier> = named.iter().flat_map(|entry| entry.hit.work.identifiers()).collect();
    // Identifiers in abstracts and full texts of sources that are no academic API.
    let elsewhere =
        |entry: &&Named| !sources.iter().any(|s| s.name() == entry.source && s.scholarly().is_some());
    let mut cited: Vec<Identifier> = named
        .iter()
        .filter(elsewhere)
        .filter_map(|entry| entry.hit.text.as_deref())
        .flat_map(Identifier::in_text)
        .filter(|id| !known.contains(id))
        .collect();
    cited.sort();
    cited.dedup();
    let questions = sources.iter().filter(|source| !failed(errors, source.name())).filter_map(|source| {
        let scholarly = source.scholarly()?;
        let lacks = |work: &&CanonicalWork| {
            let named_here = work.records.iter().any(|&i| named[i].source == source.name());
            let no_text = work.records.iter().all(|&i| is_blank(named[i].hit.text.as_deref()));
            let unsure = work.work.is_retracted.is_none() && scholarly.knows_retractions();
            !named_here && (no_text || unsure)
        };
        let mut ids: Vec<Identifier> =
            works.iter().filter(lacks).filter_map(|work| work.work.identifiers().next()).collect();
        ids.extend(cited.iter().cloned());
        ids.truncate(MAX_LOOKUPS);
        let name = source.name().to_owned();
        (!ids.is_empty()).then_some(async move { (name, within(time, scholarly.lookup(&ids)).await) })
    });
    let questions: Vec<_> = questions.collect();
    let answers = join_all(questions).await;
    let behind = named.iter().map(|entry| entry.hit.rank).max().unwrap_or(0);
    for (source, answer) in answers {
        match answer {
            Ok(hits) => named.extend(hits.into_iter().map(|mut hit| {
                hit.rank += behind;
                Named { source: source.clone(), found_by: FoundBy::Api, hit }
            })),
            Err(error) => {
                tracing::warn!(source, %error, "works could not be completed");
                errors.push(format!("{source}: {error}"));
            }
        }
    }
}

/// Whether this source is among those that failed; it is not asked again for the same query.
pub(crate) fn failed(errors: &[String], source: &str) -> bool {
    errors.iter().any(|error| error.strip_prefix(source).is_some_and(|rest| rest.starts_with(": ")))
}

fn is_blank(text: Option<&str>) -> bool {
    text.is_none_or(|text| text.trim().is_empty())
}

/// A work as a page: its text is that of one hit, with the vector of that text; its metadata is everybody's.
fn page_of(work: &CanonicalWork, named: &[Named]) -> Option<PageAndVector> {
    let hits = || work.records.iter().map(|&i| &named[i]);
    // A document of one's own before an abstract from an API, before whatever a search engine showed.
    let preference = |entry: &&Named| {
        let own = entry.source.starts_with("corpus:");
        (is_blank(entry.hit.text.as_deref()), !own, entry.found_by, entry.hit.rank)
    };
    let best = hits().min_by_key(preference)?;
    let text = best.hit.text.as_deref().unwrap_or_default().trim();
    let mut page = as_page(&best.source, &best.hit, &work.work);
    page.found_by = hits().map(|entry| (entry.source.clone(), entry.hit.rank)).collect();
    page.found_by.sort_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
    page.found_by.dedup_by(|a, b| a.0 == b.0);
    if !text.is_empty() {
        page.fragments = vec![Fragment::of_abstract(&page.page.id, text)];
    }
    Some((page, best.hit.embedding.clone()))
}

/// A page that a source fetched comes with its domain and its fragments.
fn as_fetched(sources: &[Arc<dyn EvidenceSource>], page: &mut NewPage) {
    let Some(fetched) = sources.iter().find_map(|source| source.page(&page.page.url)) else { return };
    page.page.domain = fetched.domain;
    page.page.domain_category = fetched.domain_category;
    page.page.fetch_method = fetched.fetch_method;
    page.reason = TaskPageReason::Serp;
    // What is no scholarly work is told apart by its domain.
    if page.work.as_ref().is_some_and(|work| work.identifiers().next().is_none()) {
        page.work = None;
        page.page.work_id = None;
    }
    page.fragments = fetched
        .fragments
        .into_iter()
        .map(|fragment| Fragment {
            id: FragmentId::derive(&[page.page.id.as_str(), &fragment.text_content]),
            page_id: page.page.id.clone(),
            ..fragment
        })
        .collect();
}

/// The page that a hit is, with the metadata known of its work and no fragments yet.
pub(crate) fn as_page(source: &str, hit: &Hit, work: &Work) -> NewPage {
    let work_id = work.id();
    let id = match &work.doi {
        Some(_) => PageId::derive(&["work", work_id.as_str()]),
        None => PageId::derive(&["url", &hit.url]),
    };
    let corpus = source.strip_prefix("corpus:").map(str::to_owned);
    let text = hit.text.as_deref().unwrap_or_default();
    let detected = if corpus.is_some() { None } else { lyra_text::language(text) };
    let page = Page {
        domain: if corpus.is_some() { source.to_owned() } else { domain_of(&hit.url) },
        domain_category: UNVERIFIED.to_owned(),
        // The title that the text's vector was made with.
        title: if hit.work.title.is_empty() { work.title.clone() } else { hit.work.title.clone() },
        work_id: Some(work_id),
        // A corpus that names no language means none; an API just does not say.
        language: hit.language.clone().or_else(|| detected.map(str::to_owned)),
        fetch_method: if corpus.is_some() { FetchMethod::Corpus } else { FetchMethod::AcademicApi },
        paper_metadata: PaperMetadata {
            year: work.year,
            venue: work.venue.clone(),
            doi: work.doi.as_ref().map(ToString::to_string),
            authors: work.authors.clone(),
            citation_count: work.citation_count,
            corpus,
            doc_id: hit.doc_id.clone(),
        },
        url: hit.url.clone(),
        id,
    };
    let reason = match page.fetch_method {
        FetchMethod::Corpus => TaskPageReason::Corpus,
        _ => TaskPageReason::AcademicApi,
    };
    let found_by = vec![(source.to_owned(), hit.rank)];
    NewPage { page, work: Some(work.clone()), fragments: Vec::new(), reason, found_by, via: None }
}

/// The registrable domain of an address, which is what makes two pages the same source; its host where there is none.
fn domain_of(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#', ':']).next().unwrap_or(rest);
    registrable_domain(host).unwrap_or_else(|| host.to_owned())
}
