//! What sources named, as pages.

use crate::ports::{CorpusDocument, CorpusPassage, EvidenceSource, Hit, NewPage, SourceKind, SourcePage};
use lyra_domain::domains::{host_of, registrable_domain};
use lyra_domain::{
    CanonicalPaperIndex, CanonicalWork, FetchMethod, FoundBy, Fragment, FragmentId, FragmentType, Page,
    PageId, PaperMetadata, Precedence, TaskPageReason, Work,
};
use std::collections::{HashMap, HashSet};

/// Category of a domain until the rules are asked, which happens when its page is registered.
const UNDECIDED: &str = "unverified";

/// One hit and who named it.
pub(crate) struct Named {
    pub(crate) source: String,
    pub(crate) kind: SourceKind,
    pub(crate) precedence: Precedence,
    pub(crate) hit: Hit,
}

impl Named {
    pub(crate) fn by(source: &dyn EvidenceSource, hit: Hit) -> Self {
        Self { source: source.name().to_owned(), kind: source.kind(), precedence: source.precedence(), hit }
    }

    /// How the index of works takes it.
    pub(crate) fn found_by(&self) -> FoundBy {
        if self.kind == SourceKind::Web { FoundBy::Serp } else { FoundBy::Api }
    }

    /// Adds its work to the index.
    pub(crate) fn add_to(&self, index: &mut CanonicalPaperIndex) {
        index.add(self.found_by(), self.precedence, self.hit.work.clone());
    }

    pub(crate) fn text(&self) -> &str {
        self.hit.text.as_deref().unwrap_or_default().trim()
    }
}

/// A page, and the vector of its text when its source gave one along, with the model that made it.
pub(crate) type PageAndVector = (NewPage, Option<(String, Vec<f32>)>);

/// A work as a page: its text is that of one hit, with the vector of that text; its metadata is everybody's. A page
/// that a source fetched itself, here by its address, comes with its domain and its fragments.
pub(crate) fn page_of(
    work: &CanonicalWork,
    named: &[Named],
    fetched: &HashMap<String, SourcePage>,
) -> Option<PageAndVector> {
    let hits = || work.records.iter().map(|&i| &named[i]);
    // A document of one's own before an abstract from an API, before whatever a search engine showed.
    let preference = |entry: &&Named| {
        let own = entry.kind == SourceKind::Corpus;
        (entry.text().is_empty(), !own, entry.found_by(), entry.hit.rank)
    };
    let best = hits().min_by_key(preference)?;
    let mut page = as_page(&best.source, &best.hit, &work.work);
    if let Some(document) = &best.hit.document {
        of_corpus(&mut page, document, &best.hit);
    }
    page.found_by = hits().map(|entry| (entry.source.clone(), entry.hit.rank)).collect();
    page.found_by.sort_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
    page.found_by.dedup_by(|a, b| a.0 == b.0);
    if let Some(fetched) = fetched.get(&page.page.url) {
        of_web(&mut page, fetched.clone());
        return Some((page, best.hit.embedding.clone()));
    }
    if !best.text().is_empty() {
        page.fragments = vec![Fragment::of_abstract(&page.page.id, best.text())];
    }
    // The full text is that of whichever record has one.
    let full =
        hits().filter_map(|entry| entry.hit.document.as_ref()).find(|document| !document.passages.is_empty());
    page.fragments.extend(full.into_iter().flat_map(|document| full_text(&page.page.id, &document.passages)));
    // The vector is that of the abstract alone.
    let vector = best.hit.embedding.clone().filter(|_| full.is_none());
    Some((page, vector))
}

/// Passages of a full text as fragments; those with the same text count once.
fn full_text(page: &PageId, passages: &[CorpusPassage]) -> Vec<Fragment> {
    let mut seen = HashSet::new();
    let (mut fragments, mut start) = (Vec::new(), 0_u32);
    for passage in passages {
        let end = start + passage.text.chars().count() as u32;
        let id = FragmentId::derive(&[page.as_str(), &passage.text]);
        if seen.insert(id.clone()) {
            fragments.push(Fragment {
                id,
                page_id: page.clone(),
                fragment_type: FragmentType::Paragraph,
                position: fragments.len() as u32 + 1,
                text_content: passage.text.clone(),
                heading_context: passage.place.clone(),
                char_start: start,
                char_end: end,
            });
        }
        // A blank line between.
        start = end + 2;
    }
    fragments
}

/// The page that a hit of an API or a search engine is, with the metadata known of its work and no fragments yet.
pub(crate) fn as_page(source: &str, hit: &Hit, work: &Work) -> NewPage {
    let work_id = work.id();
    let id = match &work.doi {
        Some(_) => PageId::derive(&["work", work_id.as_str()]),
        None => PageId::derive(&["url", &hit.url]),
    };
    let detected = lyra_text::language(hit.text.as_deref().unwrap_or_default());
    let page = Page {
        domain: domain_of(&hit.url),
        domain_category: UNDECIDED.to_owned(),
        // The title that the text's vector was made with.
        title: if hit.work.title.is_empty() { work.title.clone() } else { hit.work.title.clone() },
        work_id: Some(work_id),
        language: hit.language.clone().or_else(|| detected.map(str::to_owned)),
        fetch_method: FetchMethod::AcademicApi,
        paper_metadata: PaperMetadata {
            year: work.year,
            venue: work.venue.clone(),
            imprint: work.imprint.clone(),
            doi: work.doi.as_ref().map(ToString::to_string),
            authors: work.authors.clone(),
            citation_count: work.citation_count,
            corpus: None,
            doc_id: hit.document.as_ref().map(|document| document.doc_id.clone()),
        },
        url: hit.url.clone(),
        id,
    };
    NewPage {
        page,
        work: Some(work.clone()),
        fragments: Vec::new(),
        quarantined: Vec::new(),
        answer: None,
        blocks_domain: None,
        reason: TaskPageReason::AcademicApi,
        found_by: vec![(source.to_owned(), hit.rank)],
        via: None,
    }
}

/// A document of a local corpus: its source is the corpus, and its language stays unset unless it names one.
fn of_corpus(page: &mut NewPage, document: &CorpusDocument, hit: &Hit) {
    page.page.domain = format!("corpus:{}", document.corpus);
    page.page.fetch_method = FetchMethod::Corpus;
    page.page.language.clone_from(&hit.language);
    page.page.paper_metadata.corpus = Some(document.corpus.clone());
    page.reason = TaskPageReason::Corpus;
}

/// A page of the web that its source fetched.
fn of_web(page: &mut NewPage, fetched: SourcePage) {
    page.reason = TaskPageReason::Serp;
    // Pages that are not scholarly works are identified by domain.
    if page.work.as_ref().is_some_and(|work| work.identifiers().next().is_none()) {
        page.work = None;
        page.page.work_id = None;
    }
    read_into(page, fetched);
}

/// Gives a page what was read where it was fetched.
pub(crate) fn read_into(page: &mut NewPage, fetched: SourcePage) {
    let id = page.page.id.clone();
    let own = |fragment: Fragment| Fragment {
        id: FragmentId::derive(&[id.as_str(), &fragment.text_content]),
        page_id: id.clone(),
        ..fragment
    };
    page.page.domain = fetched.domain;
    page.page.domain_category = fetched.domain_category;
    page.page.fetch_method = fetched.method;
    if page.page.title.is_empty() {
        page.page.title = fetched.title;
    }
    page.page.language = fetched.language.or_else(|| page.page.language.take());
    page.fragments = fetched.fragments.into_iter().map(&own).collect();
    page.quarantined = fetched
        .quarantined
        .into_iter()
        .map(|passage| crate::ports::Quarantined { fragment: own(passage.fragment), ..passage })
        .collect();
    page.answer = Some(fetched.answer);
    page.blocks_domain = fetched.hostile;
}

/// The registrable domain of an address, which is what makes two pages the same source; its host if it has no such domain.
fn domain_of(url: &str) -> String {
    let host = host_of(url);
    registrable_domain(host).unwrap_or_else(|| host.to_owned())
}
