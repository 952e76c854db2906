//! One entry per scholarly work, however many sources named it.

mod title;

use crate::{Identifier, Work, named_enum};
use std::collections::{BTreeMap, HashMap};
use title::Likeness;

named_enum! {
    /// What kind of source named a work.
    pub enum FoundBy {
        /// One that keeps metadata: an academic API, a local corpus.
        Api = "api",
        /// A search engine's result page.
        Serp = "serp",
    }
}

named_enum! {
    /// Which kinds of sources named a work.
    pub enum Coverage {
        /// Both kinds.
        Both = "both",
        /// Only sources that keep metadata.
        ApiOnly = "api_only",
        /// Only search engines.
        SerpOnly = "serp_only",
    }
}

/// Whose metadata wins when several sources describe one work: that of the lower number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Precedence(pub u8);

impl Precedence {
    /// Of a source that yields to every other one.
    pub const LAST: Self = Self(u8::MAX);
}

/// Merges the records of works from several sources.
///
/// The same DOI is the same work. A record without a DOI joins by another identifier, else by a title at least 90 %
/// alike with compatible year and first author. Titles never chain: all records merged by title are similar pairwise,
/// and two DOIs are always two works. The order of the records does not matter.
#[derive(Debug, Clone, Default)]
pub struct CanonicalPaperIndex {
    records: Vec<Record>,
}

#[derive(Debug, Clone)]
struct Record {
    found_by: FoundBy,
    precedence: Precedence,
    work: Work,
}

/// One work.
#[derive(Debug, Clone, PartialEq)]
pub struct CanonicalWork {
    /// The merged metadata: each field from the best source that has it.
    pub work: Work,
    /// The source of the record.
    pub coverage: Coverage,
    /// Numbers of its records, as [`CanonicalPaperIndex::add`] gave them, ascending.
    pub records: Vec<usize>,
}

impl CanonicalPaperIndex {
    /// Takes in a record and answers with its number.
    pub fn add(&mut self, found_by: FoundBy, precedence: Precedence, work: Work) -> usize {
        self.records.push(Record { found_by, precedence, work });
        self.records.len() - 1
    }

    /// The works, in the order of their first records.
    pub fn works(&self) -> Vec<CanonicalWork> {
        // From here on the order of the records depends only on their contents.
        let mut order: Vec<usize> = (0..self.records.len()).collect();
        order.sort_by_cached_key(|&i| self.sort_key(i));
        let mut groups = self.by_identifier(&order);
        self.join_by_title(&mut groups);
        let mut works: Vec<CanonicalWork> = groups.into_iter().map(|group| self.merge(group)).collect();
        works.sort_by_key(|work| work.records.first().copied());
        works
    }

    fn work(&self, i: usize) -> &Work {
        &self.records[i].work
    }

    /// Metadata before result pages, then by precedence, then by content.
    fn sort_key(&self, i: usize) -> (FoundBy, Precedence, String) {
        let record = &self.records[i];
        (record.found_by, record.precedence, serde_json::to_string(&record.work).unwrap_or_default())
    }

    /// Groups by DOI; a record without one joins the only group that shares another identifier with it.
    fn by_identifier(&self, order: &[usize]) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let mut by_doi = BTreeMap::new();
        for &i in order {
            if let Some(doi) = &self.work(i).doi {
                let group = *by_doi.entry(doi).or_insert_with(|| {
                    groups.push(Vec::new());
                    groups.len() - 1
                });
                groups[group].push(i);
            }
        }
        let mut with_doi: HashMap<Identifier, Vec<usize>> = HashMap::new();
        for (group, members) in groups.iter().enumerate() {
            for id in members.iter().flat_map(|&i| self.work(i).ids.iter()) {
                let known = with_doi.entry(id.clone()).or_default();
                if !known.contains(&group) {
                    known.push(group);
                }
            }
        }
        // Those without a DOI are one when they share an identifier, also through each other.
        for members in self.connect(order) {
            let mut homes: Vec<usize> = members
                .iter()
                .flat_map(|&i| self.work(i).ids.iter())
                .filter_map(|id| with_doi.get(id))
                .flatten()
                .copied()
                .collect();
            homes.sort_unstable();
            homes.dedup();
            match homes.as_slice() {
                [home] => groups[*home].extend(members),
                // With two candidate groups there is no way to tell which is right.
                _ => groups.push(members),
            }
        }
        groups
    }

    /// Records without a DOI, grouped by what identifiers they share.
    fn connect(&self, order: &[usize]) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for &i in order.iter().filter(|&&i| self.work(i).doi.is_none()) {
            let shares = |group: &Vec<usize>| {
                group.iter().any(|&other| self.work(other).ids.iter().any(|id| self.work(i).ids.contains(id)))
            };
            let (shared, mut rest): (Vec<_>, Vec<_>) = groups.into_iter().partition(shares);
            let mut joined: Vec<usize> = shared.into_iter().flatten().collect();
            joined.push(i);
            rest.push(joined);
            groups = rest;
        }
        groups
    }

    /// Joins groups whose records are similar pairwise, the most similar first.
    fn join_by_title(&self, groups: &mut Vec<Vec<usize>>) {
        let likeness = Likeness::of(self.records.iter().map(|record| &record.work));
        let has_doi = |group: &[usize]| group.iter().any(|&i| self.work(i).doi.is_some());
        let closeness = |a: &[usize], b: &[usize]| -> Option<f64> {
            if has_doi(a) && has_doi(b) {
                return None;
            }
            let mut least = 1.0_f64;
            for &i in a {
                for &j in b {
                    if self.contradict(i, j) {
                        return None;
                    }
                    least = least.min(likeness.between(i, j)?);
                }
            }
            Some(least)
        };
        let mut pairs: Vec<(f64, usize, usize)> = Vec::new();
        // A fixed order of groups: that of their first records' contents.
        groups.sort_by_cached_key(|group| group.iter().map(|&i| self.sort_key(i)).min());
        for a in 0..groups.len() {
            for b in a + 1..groups.len() {
                pairs.extend(closeness(&groups[a], &groups[b]).map(|close| (close, a, b)));
            }
        }
        pairs.sort_by(|x, y| y.0.total_cmp(&x.0).then((x.1, x.2).cmp(&(y.1, y.2))));
        // Where each group went.
        let mut home: Vec<usize> = (0..groups.len()).collect();
        for (_, a, b) in pairs {
            let (a, b) = (home[a], home[b]);
            // Earlier joins may have added a dissimilar record.
            if a != b && closeness(&groups[a], &groups[b]).is_some() {
                let moved = std::mem::take(&mut groups[b]);
                groups[a].extend(moved);
                home.iter_mut().filter(|at| **at == b).for_each(|at| *at = a);
            }
        }
        groups.retain(|group| !group.is_empty());
    }

    /// Both name an identifier of one kind, and not the same one. Corpus and paper ids of one source may be several.
    fn contradict(&self, i: usize, j: usize) -> bool {
        let strict = |id: &&Identifier| {
            matches!(
                id,
                Identifier::Pmid(_) | Identifier::Pmcid(_) | Identifier::Arxiv(_) | Identifier::Nct(_)
            )
        };
        self.work(i).ids.iter().filter(strict).any(|a| {
            let same_kind = |b: &&Identifier| std::mem::discriminant(a) == std::mem::discriminant(*b);
            self.work(j).ids.iter().find(same_kind).is_some_and(|b| a != b)
        })
    }

    fn merge(&self, mut members: Vec<usize>) -> CanonicalWork {
        members.sort_by_cached_key(|&i| self.sort_key(i));
        let mut work = Work::default();
        for &i in &members {
            fill(&mut work, self.work(i));
        }
        let by = |kind| members.iter().any(|&i| self.records[i].found_by == kind);
        let coverage = match (by(FoundBy::Api), by(FoundBy::Serp)) {
            (true, true) => Coverage::Both,
            (false, true) => Coverage::SerpOnly,
            _ => Coverage::ApiOnly,
        };
        members.sort_unstable();
        CanonicalWork { work, coverage, records: members }
    }
}

/// Fills the missing fields of `work`. A retraction reported by any source is kept.
fn fill(work: &mut Work, from: &Work) {
    let text = |to: &mut String, from: &String| {
        if to.trim().is_empty() {
            to.clone_from(from);
        }
    };
    text(&mut work.title, &from.title);
    text(&mut work.source_api, &from.source_api);
    work.year = work.year.or(from.year);
    work.citation_count = work.citation_count.or(from.citation_count);
    work.reference_count = work.reference_count.or(from.reference_count);
    work.published_date = work.published_date.take().or_else(|| from.published_date.clone());
    work.venue = work.venue.take().or_else(|| from.venue.clone());
    work.imprint.complete_from(&from.imprint);
    work.oa_url = work.oa_url.take().or_else(|| from.oa_url.clone());
    work.is_retracted = match (work.is_retracted, from.is_retracted) {
        (Some(true), _) | (_, Some(true)) => Some(true),
        (known, new) => known.or(new),
    };
    if work.authors.is_empty() {
        work.authors.clone_from(&from.authors);
    }
    if work.references.is_empty() {
        work.references.clone_from(&from.references);
    }
    from.identifiers().for_each(|id| work.add_identifier(id));
}

#[cfg(test)]
mod tests;
