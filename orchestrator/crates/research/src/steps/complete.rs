//! Asking the academic APIs about works that others named (evidence design, section 2, step 2).

use crate::error::{SourceFailure, is_silent};
use crate::ports::{EvidenceSource, NewPage, ScholarlySource, SourceKind};
use crate::steps::asking::{Search, within};
use crate::steps::hit::{Named, page_of};
use crate::steps::metadata::cleaned;
use futures::future::join_all;
use lyra_domain::{CanonicalPaperIndex, CanonicalWork, Identifier};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Most identifiers that one query has completed.
const MAX_LOOKUPS: usize = 100;
/// Most identifiers looked up for fetched texts: the references of a paper do not all answer the question.
const MAX_CITED: usize = 20;

/// Asks the academic APIs once about works without abstract, works with unknown retraction status, and works named in
/// texts from other sources. Their answers join the hits and are not followed further. Returns what is missing.
pub(crate) async fn complete(
    search: &Search<'_>,
    named: &mut Vec<Named>,
    index: &mut CanonicalPaperIndex,
    failures: &[SourceFailure],
) -> Vec<SourceFailure> {
    let works = index.works();
    let known: HashSet<Identifier> = identifiers(named);
    // Identifiers in abstracts and full texts of sources other than academic APIs.
    let elsewhere = named.iter().filter(|entry| entry.kind != SourceKind::Api);
    let sources = search.sources;
    let mut cited = unknown_in(elsewhere.filter_map(|entry| entry.hit.text.as_deref()), &known);
    cited.extend(led_to(sources, named, &known, &cited));
    let wanted = |source: &Arc<dyn EvidenceSource>| {
        let Some(scholarly) = source.scholarly() else { return Vec::new() };
        let lacks = |work: &&CanonicalWork| {
            let named_here = work.records.iter().any(|&i| named[i].source == source.name());
            let no_text = work.records.iter().all(|&i| named[i].text().is_empty());
            let unsure = work.work.is_retracted.is_none() && scholarly.knows_retractions();
            if scholarly.finds_copies() {
                return no_text && work.work.oa_url.is_none();
            }
            !named_here && (no_text || unsure)
        };
        let works = works.iter().filter(lacks).filter_map(|work| work.work.identifiers().next());
        let cited = cited.iter().filter(|_| !scholarly.finds_copies());
        works.chain(cited.cloned()).take(MAX_LOOKUPS).collect()
    };
    let questions: Vec<Vec<Identifier>> = sources.iter().map(wanted).collect();
    let (found, failed) = lookups(search, questions, failures).await;
    let behind = named.iter().map(|entry| entry.hit.rank).max().unwrap_or(0);
    for mut entry in found {
        entry.hit.rank += behind;
        entry.add_to(index);
        named.push(entry);
    }
    failed
}

/// Pages of works that only fetched texts name: those that an academic API has an abstract of, and what is missing.
pub(crate) async fn named_in<'t>(
    search: &Search<'_>,
    texts: impl Iterator<Item = &'t str>,
    known: &HashSet<Identifier>,
    failures: &[SourceFailure],
) -> (Vec<NewPage>, Vec<SourceFailure>) {
    let mut cited = unknown_in(texts, known);
    cited.truncate(MAX_CITED);
    let asked = |source: &Arc<dyn EvidenceSource>| {
        let finds_copies = source.scholarly().is_some_and(ScholarlySource::finds_copies);
        if finds_copies { Vec::new() } else { cited.clone() }
    };
    let questions = search.sources.iter().map(asked).collect();
    let (named, failed) = lookups(search, questions, failures).await;
    let mut index = CanonicalPaperIndex::default();
    for entry in &named {
        entry.add_to(&mut index);
    }
    let pages = index.works().into_iter().filter_map(|work| page_of(&work, &named, &HashMap::new()));
    let pages = pages.map(|(page, _)| page).filter(|page| !page.fragments.is_empty());
    (pages.collect(), failed)
}

/// Asks every source that is an academic API and has not failed for its identifiers; those that fail are
/// answered with the hits.
async fn lookups(
    search: &Search<'_>,
    questions: Vec<Vec<Identifier>>,
    failures: &[SourceFailure],
) -> (Vec<Named>, Vec<SourceFailure>) {
    let asked = search.sources.iter().zip(questions).filter_map(|(source, ids)| {
        let scholarly = source.scholarly()?;
        (!ids.is_empty() && !is_silent(failures, source.name())).then_some((source, scholarly, ids))
    });
    let asked: Vec<_> = asked
        .map(|(source, scholarly, ids)| async move {
            let answer = match within(search.left(), scholarly.lookup(&ids)).await {
                Ok(hits) => cleaned(search.context.rules.as_ref(), hits).await,
                Err(error) => Err(error),
            };
            (source, answer)
        })
        .collect();
    let (mut found, mut failed) = (Vec::new(), Vec::new());
    for (source, answer) in join_all(asked).await {
        match answer {
            Ok(hits) => found.extend(hits.into_iter().map(|hit| Named::by(source.as_ref(), hit))),
            Err(error) => {
                tracing::warn!(source = source.name(), %error, "works could not be completed");
                failed.push(SourceFailure::new(source.name(), &error));
            }
        }
    }
    (found, failed)
}

/// Every identifier of these hits.
pub(crate) fn identifiers(named: &[Named]) -> HashSet<Identifier> {
    named.iter().flat_map(|entry| entry.hit.work.identifiers()).collect()
}

/// What documents that lead to works name, beyond what is known and cited: the best hits first, at most [`MAX_CITED`].
fn led_to(
    sources: &[Arc<dyn EvidenceSource>],
    named: &[Named],
    known: &HashSet<Identifier>,
    cited: &[Identifier],
) -> Vec<Identifier> {
    let leads = |entry: &&Named| {
        sources.iter().any(|source| source.name() == entry.source && source.leads_to_works())
    };
    let mut entries: Vec<&Named> = named.iter().filter(leads).collect();
    entries.sort_by_key(|entry| entry.hit.rank);
    let known: HashSet<Identifier> = known.iter().chain(cited).cloned().collect();
    let references = entries.into_iter().flat_map(|entry| &entry.hit.work.references);
    let mut found = unknown_in(references.map(String::as_str), &known);
    found.truncate(MAX_CITED);
    found
}

/// Identifiers that texts name, without those that are known, in a fixed order.
fn unknown_in<'t>(texts: impl Iterator<Item = &'t str>, known: &HashSet<Identifier>) -> Vec<Identifier> {
    let mut seen = known.clone();
    let mut found: Vec<Identifier> = Vec::new();
    for text in texts {
        let ids = Identifier::in_text(text).into_iter().chain(Identifier::registrations_in(text));
        found.extend(ids.filter(|id| seen.insert(id.clone())));
    }
    found
}
