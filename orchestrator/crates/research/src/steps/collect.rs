//! Asking every source, completing what they name, and merging it (evidence design, section 2, steps 1 to 4).

use crate::ports::{
    Answer, ContentRules, EvidenceSource, Hit, NewPage, PageLink, SourceKind, SourcePage, Waiting,
};
use crate::steps::asking::{Search, within};
use crate::steps::complete::{complete, identifiers};
use crate::steps::hit::{Named, page_of};
use crate::steps::metadata::cleaned;
use crate::{Budget, FailureKind, PortError, Result, SourceFailure};
use futures::future::join_all;
use lyra_domain::{CanonicalPaperIndex, Identifier, PageId};
use std::collections::{HashMap, HashSet};
use std::time::Duration;

/// What takes the place of a message that addresses an AI.
const WITHHELD: &str = "the message was withheld because it addresses an AI";

/// What the sources answered together.
#[derive(Default)]
pub(crate) struct Collected {
    /// One page per work or document with a text, the best ranked first.
    pub(crate) pages: Vec<NewPage>,
    /// Vectors that sources gave along, by page.
    pub(crate) vectors: Vec<(PageId, String, Vec<f32>)>,
    /// Links in the pages that sources fetched, by the page's address.
    pub(crate) links: HashMap<String, Vec<PageLink>>,
    /// Hits over all sources.
    pub(crate) hits: usize,
    /// Works that are known by their metadata only, the best ranked first.
    pub(crate) without_text: Vec<NewPage>,
    /// Every identifier that was named.
    pub(crate) known: HashSet<Identifier>,
    /// What is missing, source by source.
    pub(crate) failures: Vec<SourceFailure>,
    /// What requires a person, by the name of its source.
    pub(crate) waiting: Vec<(String, Vec<Waiting>)>,
}

/// Asks every source at once, each for at most the time that is left. One that fails is written down. When all that
/// were asked fail, whatever the reason, the search has failed.
pub(crate) async fn collect(search: &Search<'_>) -> Result<Collected> {
    let Answers { mut named, pages, mut failures, waiting } = ask_all(search).await?;
    let hits = named.len();
    let mut index = CanonicalPaperIndex::default();
    for entry in &named {
        entry.add_to(&mut index);
    }
    let missing = complete(search, &mut named, &mut index, &failures).await;
    failures.extend(missing);

    let known = identifiers(&named);
    let mut collected = Collected { hits, known, failures, waiting, ..Collected::default() };
    let mut works = index.works();
    // Best ranks first over all sources, so that a budget cuts the tails and not the last source.
    works.sort_by_key(|work| work.records.iter().map(|&i| named[i].hit.rank).min());
    let mut seen = HashSet::new();
    for work in works {
        let Some((page, vector)) = page_of(&work, &named, &pages) else { continue };
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
    collected.links = pages.into_iter().map(|(address, page)| (address, page.links)).collect();
    Ok(collected)
}

/// The answers of all sources, joined.
#[derive(Default)]
struct Answers {
    named: Vec<Named>,
    /// Pages that sources fetched, by address; of several the first source's.
    pages: HashMap<String, SourcePage>,
    failures: Vec<SourceFailure>,
    waiting: Vec<(String, Vec<Waiting>)>,
}

async fn ask_all(search: &Search<'_>) -> Result<Answers> {
    if search.sources.is_empty() {
        return Err(PortError::Refused {
            what: "search".to_owned(),
            why: "no source is configured; import a corpus, or select a source".to_owned(),
        });
    }
    let asked = join_all(search.sources.iter().map(|source| ask(search, source.as_ref()))).await;
    let mut answers = Answers::default();
    let mut notes = Vec::new();
    let mut retry_after: Option<Duration> = None;
    for (source, answer) in search.sources.iter().zip(asked) {
        match answer {
            Ok(answer) => {
                let hits = answer.hits.into_iter().map(identified);
                answers.named.extend(hits.map(|hit| Named::by(source.as_ref(), hit)));
                for (address, page) in answer.pages {
                    answers.pages.entry(address).or_insert(page);
                }
                let incomplete = |note| SourceFailure::incomplete(source.name(), note);
                notes.extend(answer.notes.into_iter().map(incomplete));
                if !answer.waiting.is_empty() {
                    answers.waiting.push((source.name().to_owned(), answer.waiting));
                }
            }
            Err(error) => {
                // The task's warnings report it to the caller.
                tracing::info!(source = source.name(), %error, query_id = %search.query.id, "source failed");
                answers.failures.push(SourceFailure::new(source.name(), &error));
                retry_after = [retry_after, error.retry_after()].into_iter().flatten().min();
            }
        }
    }
    let silent = |failure: &&SourceFailure| failure.kind == FailureKind::NoAnswer;
    if answers.failures.iter().filter(silent).count() == search.sources.len() {
        let failures = harmless(search.context.rules.as_ref(), answers.failures).await?;
        let why = failures.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
        return Err(PortError::Unanswered { why, retry_after });
    }
    answers.failures.append(&mut notes);
    Ok(answers)
}

/// The failures as they may be stored, where agents read them.
pub(crate) async fn harmless(
    rules: &dyn ContentRules,
    mut failures: Vec<SourceFailure>,
) -> Result<Vec<SourceFailure>> {
    withhold(rules, failures.iter_mut().map(|failure| &mut failure.message).collect()).await?;
    Ok(failures)
}

/// Replaces the messages that address an AI: errors may repeat the words and addresses of outsiders.
pub(crate) async fn withhold(rules: &dyn ContentRules, messages: Vec<&mut String>) -> Result<()> {
    if messages.is_empty() {
        return Ok(());
    }
    let texts = messages.iter().map(|message| lyra_text::spelled_out(message)).collect();
    for (message, danger) in messages.into_iter().zip(rules.dangers(texts).await?) {
        if let Some(danger) = danger {
            tracing::warn!(rule = danger.rule, "a message is withheld: it addresses an AI");
            WITHHELD.clone_into(message);
        }
    }
    Ok(())
}

/// One source's answer. One that fetches pages is asked for no more than the budget allows.
async fn ask(search: &Search<'_>, source: &dyn EvidenceSource) -> Result<Answer> {
    let mut limit = search.context.config.hits_per_source;
    if source.kind() == SourceKind::Web {
        limit = limit.min(search.room);
        if limit == 0 {
            return Err(PortError::BudgetUsed(Budget::Pages));
        }
    }
    let (words, language) = (&search.query.query_text, search.query.language.as_deref());
    let asking = match search.part {
        Some(part) => source.resume(part, words, language, limit),
        None => source.search(words, language, limit),
    };
    let mut answer = within(search.left(), asking).await?;
    answer.hits = cleaned(search.context.rules.as_ref(), answer.hits).await?;
    Ok(answer)
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
