//! Documents of a corpus that are probably one work, but were not merged.
//!
//! Pairs come from blocks that share a key: an identifier, a title, or the first author and a rare word of the title.
//! Within a block each document is compared with a bounded number of neighbors, so that the work is linear in the
//! number of documents but for sorting.

use crate::Document;
use lyra_domain::Identifier;
use lyra_text::{bigrams, content_words, normalise};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Letters and digits that a title has at least to tell a work from others.
const TELLING_TITLE: usize = 20;
/// Different words that it has at least, for titles that are only alike.
const TELLING_WORDS: usize = 4;
/// Share of words that two titles have in common, of all that one of them has.
const ALIKE: f64 = 0.8;
/// Neighbors in a block that a document is compared with.
const NEIGHBORS: usize = 64;
/// Words of a title that count.
const MAX_WORDS: usize = 64;
/// Years between two versions of a work, such as a preprint and its article.
const YEARS: i32 = 2;

/// Why documents are probably one work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reason {
    SameIdentifier,
    SameTitle,
    SimilarTitle,
}

impl Reason {
    fn text(self) -> &'static str {
        match self {
            Self::SameIdentifier => "same identifier",
            Self::SameTitle => "same title and year",
            Self::SimilarTitle => "similar title and same first author",
        }
    }
}

/// Documents that are probably one work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Duplicates {
    /// Why: `same identifier`, `same title and year` (at most one year apart), `similar title and same first author`.
    pub reasons: Vec<&'static str>,
    /// Two documents or more, by id.
    pub documents: Vec<Alike>,
}

/// One of several documents that are alike.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Alike {
    /// Its id.
    pub doc_id: String,
    /// Title.
    pub title: String,
    /// First author.
    pub author: Option<String>,
    /// Year.
    pub year: Option<i32>,
    /// Identifiers, the DOI first.
    pub identifiers: Vec<String>,
}

/// What is compared of a document.
struct Seen {
    shown: Alike,
    /// Letters and digits of a title that tells; empty for others.
    title: String,
    /// Words of such a title.
    words: Vec<String>,
    /// Numbers in it: "Part 1" and "Part 2" are two works.
    numbers: Vec<String>,
    family: Option<String>,
}

/// Collects documents.
#[derive(Default)]
pub(crate) struct Survey {
    seen: Vec<Seen>,
}

impl Survey {
    pub(crate) fn add(&mut self, document: &Document) {
        let mut identifiers: Vec<String> = document.doi.iter().map(|doi| format!("doi:{doi}")).collect();
        identifiers.extend(document.identifiers.iter().map(ToString::to_string));
        // The DOI that arXiv gives names the same work as arXiv's own number.
        let arxiv = document.doi.as_ref().and_then(lyra_domain::Doi::arxiv).map(Identifier::Arxiv);
        let arxiv = arxiv.map(|id| id.to_string()).filter(|id| !identifiers.contains(id));
        identifiers.extend(arxiv);
        // Patents of one family, and of one applicant, have the same titles.
        let is_patent = document.app_id.is_some() || document.pub_id.is_some() || !document.codes.is_empty();
        let lower = normalise(&document.title).to_lowercase();
        let letters: String = lower.chars().filter(|c| c.is_alphanumeric()).collect();
        let weight: usize = letters.chars().map(|c| if c > '\u{3000}' { 3 } else { 1 }).sum();
        let title = if weight >= TELLING_TITLE && !is_patent { letters } else { String::new() };
        let (mut words, mut numbers) = (Vec::new(), Vec::new());
        if !title.is_empty() {
            let pairs = bigrams(&lower).into_iter().map(|token| token.text);
            words = content_words(&lower).into_iter().chain(pairs).take(MAX_WORDS).collect();
            words.sort_unstable();
            words.dedup();
            let is_number = |word: &&str| word.bytes().any(|b| b.is_ascii_digit()) || is_roman(word);
            let plain = lower.split(|c: char| !c.is_alphanumeric());
            numbers = plain.filter(is_number).map(str::to_owned).collect();
        }
        self.seen.push(Seen {
            shown: Alike {
                doc_id: document.doc_id.clone(),
                title: document.title.clone(),
                author: document.authors.first().cloned(),
                year: document.year,
                identifiers,
            },
            title,
            words,
            numbers,
            family: document.authors.first().and_then(|author| family(author)),
        });
    }

    /// The groups, by the first id of each.
    pub(crate) fn groups(self) -> Vec<Duplicates> {
        let mut joined = Joined::new(self.seen.len());
        self.by_identifier(&mut joined);
        self.by_title(&mut joined);
        self.by_words(&mut joined);
        let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for nth in 0..self.seen.len() {
            groups.entry(joined.root(nth)).or_default().push(nth);
        }
        let mut found: Vec<Duplicates> = Vec::new();
        for (root, members) in groups.into_iter().filter(|(_, members)| members.len() > 1) {
            let mut documents: Vec<Alike> = members.iter().map(|nth| self.seen[*nth].shown.clone()).collect();
            documents.sort_by(|a, b| a.doc_id.cmp(&b.doc_id));
            let reasons = joined.reasons.remove(&root).unwrap_or_default();
            found.push(Duplicates { reasons: reasons.into_iter().map(Reason::text).collect(), documents });
        }
        found.sort_by(|a, b| a.documents[0].doc_id.cmp(&b.documents[0].doc_id));
        found
    }

    fn by_identifier(&self, joined: &mut Joined) {
        let mut first: HashMap<&str, usize> = HashMap::new();
        for (nth, seen) in self.seen.iter().enumerate() {
            for identifier in &seen.shown.identifiers {
                let known = *first.entry(identifier).or_insert(nth);
                joined.join(known, nth, Reason::SameIdentifier);
            }
        }
    }

    fn by_title(&self, joined: &mut Joined) {
        let mut blocks: HashMap<&str, Vec<usize>> = HashMap::new();
        for (nth, seen) in self.seen.iter().enumerate().filter(|(_, seen)| !seen.title.is_empty()) {
            blocks.entry(&seen.title).or_default().push(nth);
        }
        for mut block in blocks.into_values() {
            block.sort_by_key(|nth| (&self.seen[*nth].family, self.seen[*nth].shown.year));
            for_neighbors(&block, |a, b| {
                if self.in_years(a, b, 1) && self.compatible(a, b) {
                    joined.join(a, b, Reason::SameTitle);
                }
                true
            });
        }
    }

    /// Pairs with enough words in common. Of two such titles, the rarest words of both have one in common, so many as a
    /// title may lack and one more.
    fn by_words(&self, joined: &mut Joined) {
        let mut frequency: HashMap<&str, u32> = HashMap::new();
        for word in self.seen.iter().flat_map(|seen| &seen.words) {
            *frequency.entry(word).or_default() += 1;
        }
        let mut known: HashSet<(&str, &str)> = HashSet::new();
        let mut blocks: HashMap<(&str, &str), Vec<usize>> = HashMap::new();
        for (nth, seen) in self.seen.iter().enumerate() {
            let Some(family) = seen.family.as_deref().filter(|_| seen.words.len() >= TELLING_WORDS) else {
                continue;
            };
            // Equal titles were compared; one stands for all.
            if !known.insert((family, &seen.title)) {
                continue;
            }
            let mut words: Vec<&str> = seen.words.iter().map(String::as_str).collect();
            words.sort_by_key(|word| (frequency.get(word).copied().unwrap_or(0), *word));
            let lacking = words.len() - (ALIKE * words.len() as f64).ceil() as usize;
            for word in words.into_iter().take(lacking + 1) {
                blocks.entry((family, word)).or_default().push(nth);
            }
        }
        for mut block in blocks.into_values() {
            block.sort_by_key(|nth| (self.seen[*nth].words.len(), *nth));
            for_neighbors(&block, |a, b| {
                let (short, long) = (&self.seen[a].words, &self.seen[b].words);
                if (short.len() as f64) < ALIKE * long.len() as f64 {
                    return false;
                }
                let is_same = self.seen[a].numbers == self.seen[b].numbers && self.in_years(a, b, YEARS);
                if is_same && jaccard(short, long) >= ALIKE {
                    joined.join(a, b, Reason::SimilarTitle);
                }
                true
            });
        }
    }

    fn in_years(&self, a: usize, b: usize, most: i32) -> bool {
        let years = self.seen[a].shown.year.zip(self.seen[b].shown.year);
        years.is_none_or(|(a, b)| a.abs_diff(b) <= most.unsigned_abs())
    }

    fn compatible(&self, a: usize, b: usize) -> bool {
        let families = self.seen[a].family.as_ref().zip(self.seen[b].family.as_ref());
        families.is_none_or(|(a, b)| a == b)
    }
}

/// Calls `compare` with each element of a block and those that follow it, up to a bound or until it returns `false`.
fn for_neighbors(block: &[usize], mut compare: impl FnMut(usize, usize) -> bool) {
    for (at, a) in block.iter().enumerate() {
        for b in block.iter().skip(at + 1).take(NEIGHBORS) {
            if !compare(*a, *b) {
                break;
            }
        }
    }
}

/// Words that two sorted lists share, of all that they have.
fn jaccard(a: &[String], b: &[String]) -> f64 {
    let shared = a.iter().filter(|word| b.binary_search(word).is_ok()).count();
    shared as f64 / (a.len() + b.len() - shared).max(1) as f64
}

fn is_roman(word: &str) -> bool {
    matches!(word, "i" | "ii" | "iii" | "iv" | "v" | "vi" | "vii" | "viii" | "ix" | "x")
}

/// The family name in `Lee, Ann` and `Ann Lee`, in lower case.
fn family(author: &str) -> Option<String> {
    let lower = normalise(author).to_lowercase();
    let part = lower.split(',').next().unwrap_or_default();
    part.split(|c: char| !c.is_alphanumeric()).rfind(|word| !word.is_empty()).map(str::to_owned)
}

/// Documents joined to groups.
struct Joined {
    parents: Vec<usize>,
    /// By the root of a group.
    reasons: HashMap<usize, BTreeSet<Reason>>,
}

impl Joined {
    fn new(count: usize) -> Self {
        Self { parents: (0..count).collect(), reasons: HashMap::new() }
    }

    fn root(&mut self, mut nth: usize) -> usize {
        while self.parents[nth] != nth {
            self.parents[nth] = self.parents[self.parents[nth]];
            nth = self.parents[nth];
        }
        nth
    }

    fn join(&mut self, a: usize, b: usize, reason: Reason) {
        if a == b {
            return;
        }
        let (a, b) = (self.root(a), self.root(b));
        let mut reasons = self.reasons.remove(&b).unwrap_or_default();
        self.parents[b] = a;
        let of_group = self.reasons.entry(a).or_default();
        of_group.append(&mut reasons);
        of_group.insert(reason);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lyra_domain::Doi;

    fn document(id: &str, title: &str, author: &str, year: i32, doi: &str) -> Document {
        Document {
            doc_id: id.to_owned(),
            title: title.to_owned(),
            authors: vec![author.to_owned()],
            year: Some(year),
            doi: Doi::parse(doi),
            ..Document::default()
        }
    }

    fn groups(documents: &[Document]) -> Vec<(Vec<&'static str>, Vec<String>)> {
        let mut survey = Survey::default();
        for document in documents {
            survey.add(document);
        }
        let ids =
            |group: Duplicates| (group.reasons, group.documents.into_iter().map(|d| d.doc_id).collect());
        survey.groups().into_iter().map(ids).collect()
    }

    fn ids(ids: &[&str]) -> Vec<String> {
        ids.iter().map(|id| (*id).to_owned()).collect()
    }

    const TITLE: &str = "Short naps and the memory of healthy adults";

    #[test]
    fn one_work_under_several_ids() {
        let arxiv = Document {
            identifiers: Identifier::in_text("arXiv:2101.00001"),
            ..document("arxiv", "Other", "B", 2021, "")
        };
        let found = groups(&[
            document("a1", TITLE, "Ann Lee", 2019, "10.1000/x"),
            document("a2", "SHORT NAPS, and the memory of healthy adults.", "Lee, Ann", 2020, "10.1000/y"),
            document("b1", "Quite something else on sleep", "Bo Ek", 2001, "10.1000/ABC"),
            document("b2", "", "", 2005, "https://doi.org/10.1000/abc"),
            document(
                "c1",
                "Daytime naps and declarative memory consolidation in healthy older adults",
                "Mei Ito",
                2018,
                "",
            ),
            document(
                "c2",
                "Daytime naps and declarative memory consolidation in older adults",
                "M. Ito",
                2020,
                "10.1000/c",
            ),
            arxiv,
            document("doi", "Third", "C", 2021, "10.48550/arXiv.2101.00001"),
        ]);
        assert_eq!(
            found,
            [
                (vec!["same title and year"], ids(&["a1", "a2"])),
                (vec!["same identifier"], ids(&["arxiv", "doi"])),
                (vec!["same identifier"], ids(&["b1", "b2"])),
                (vec!["similar title and same first author"], ids(&["c1", "c2"])),
            ]
        );
    }

    #[test]
    fn works_that_only_look_alike() {
        let patent =
            |id| Document { app_id: Some(format!("{id}-1")), ..document(id, TITLE, "Ann Lee", 2019, "") };
        let found = groups(&[
            document("year-1", "Annual report of the sleep society", "", 2001, ""),
            document("year-2", "Annual report of the sleep society", "", 2005, ""),
            document("author-1", "A book review of sleep and dreams", "Ann Lee", 2001, ""),
            document("author-2", "A book review of sleep and dreams", "Bo Ek", 2001, ""),
            document("part-1", "Memory consolidation during short naps: part 1", "Ann Lee", 2001, ""),
            document("part-2", "Memory consolidation during short naps: part 2", "Ann Lee", 2001, ""),
            document("short-1", "Editorial", "Ann Lee", 2001, ""),
            document("short-2", "Editorial", "Ann Lee", 2001, ""),
            patent("patent-1"),
            patent("patent-2"),
        ]);
        assert_eq!(found, []);
    }

    #[test]
    fn many_documents_with_one_key_are_compared_with_some() {
        // Every pair would be 10⁸ comparisons.
        let mut survey = Survey::default();
        for nth in 0..10_000 {
            let title = format!("Memory of healthy adults during naps number {nth}");
            survey.add(&document(&format!("{nth:06}"), &title, "Ann Lee", 2019, ""));
            survey.add(&document(&format!("x{nth:06}"), TITLE, "Ann Lee", 2019, ""));
        }
        let groups = survey.groups();
        assert_eq!((groups.len(), groups[0].documents.len()), (1, 10_000));
    }
}
