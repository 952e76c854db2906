//! Target profiles: which classification codes a search is after, and how much each counts.

use crate::error::{FusionError, Result};
use crate::pool::{Pool, RankedDocs};
use crate::proxy::over_most;
use lyra_domain::classification::{Code, Level, System};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// Codes with weights.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TargetProfile {
    entries: Vec<(Code, f64)>,
    total: f64,
}

/// A code as `system:code`, in its normal form.
pub fn key(code: &Code) -> String {
    format!("{}:{code}", code.system())
}

/// Reads `system:code` in any of the code's written forms.
///
/// # Errors
/// No or an unknown system, a code that it cannot have.
pub fn read_code(text: &str) -> Result<Code> {
    let no_system = || FusionError::NoSystem(text.chars().take(64).collect());
    let (system, code) = text.split_once(':').ok_or_else(no_system)?;
    let system: System = system.trim().parse().map_err(|_| no_system())?;
    Ok(Code::parse(system, code.trim())?)
}

impl TargetProfile {
    /// A profile from codes written as `system:code`, with weights above 0. For a duplicate code the larger weight
    /// counts.
    ///
    /// # Errors
    /// An invalid code, or a weight outside (0, 1000].
    pub fn new<'a>(entries: impl IntoIterator<Item = (&'a str, f64)>) -> Result<Self> {
        // IPC and CPC are one tree: the same symbol of both is one entry.
        let mut read: BTreeMap<Code, (Code, f64)> = BTreeMap::new();
        for (text, weight) in entries {
            if !(weight.is_finite() && weight > 0.0 && weight <= 1000.0) {
                let name = format!("target_profile.{text}");
                return Err(FusionError::Number { name, value: weight, expected: "above 0, at most 1000" });
            }
            let code = read_code(text)?;
            let (_, known) = read.entry(code.clone().in_tree()).or_insert((code, weight));
            *known = known.max(weight);
        }
        let total = read.values().map(|(_, weight)| weight).sum();
        Ok(Self { entries: read.into_values().collect(), total })
    }

    /// Whether it names no code.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Its codes and weights.
    pub fn entries(&self) -> &[(Code, f64)] {
        &self.entries
    }

    /// `c` of every document of a pool: the weights of the entries that equal or contain one of its codes, each entry
    /// once, divided by the largest such sum in the pool. So an FI code also counts at its subgroup, and an IPC code for a CPC
    /// entry of the same symbol.
    pub fn matches(&self, pool: &Pool<'_>) -> Vec<f64> {
        let hit = self.hits(pool.vocabulary());
        let mut found: Vec<u32> = Vec::new();
        let sums = (0..pool.len())
            .map(|doc| {
                found.clear();
                for &code in pool.codes(doc) {
                    found.extend_from_slice(&hit[code as usize]);
                }
                found.sort_unstable();
                found.dedup();
                // Starts from 0, because an empty sum is −0.
                found.iter().fold(0.0, |sum, &entry| sum + self.entries[entry as usize].1)
            })
            .collect();
        over_most(sums)
    }

    /// The weighted share of entries seen in the first 1, 2, … documents of `order`.
    pub fn coverage(&self, pool: &Pool<'_>, order: &[usize]) -> Vec<f64> {
        let hit = self.hits(pool.vocabulary());
        let mut seen = vec![false; self.entries.len()];
        let mut sum = 0.0;
        order
            .iter()
            .map(|&doc| {
                for &code in pool.codes(doc) {
                    for &entry in &hit[code as usize] {
                        if !std::mem::replace(&mut seen[entry as usize], true) {
                            sum += self.entries[entry as usize].1;
                        }
                    }
                }
                if self.total > 0.0 { (sum / self.total).min(1.0) } else { 0.0 }
            })
            .collect()
    }

    /// The share of its weight on codes at or below one of these.
    pub fn share_of(&self, codes: &[Code]) -> f64 {
        let within: f64 = self.entries.iter().filter(|(code, _)| within(code, codes)).map(|(_, w)| w).sum();
        if self.total > 0.0 { within / self.total } else { 0.0 }
    }

    /// For every code of a vocabulary, the entries that equal or contain it.
    fn hits(&self, vocabulary: &[&str]) -> Vec<Vec<u32>> {
        let by_code: HashMap<(System, &str), u32> = (0_u32..)
            .zip(&self.entries)
            .map(|(entry, (code, _))| ((code.system().tree(), code.as_str()), entry))
            .collect();
        let hits = |text: &&str| {
            let Ok(code) = read_code(text) else { return Vec::new() };
            code.path().filter_map(|part| by_code.get(&(code.system().tree(), part)).copied()).collect()
        };
        vocabulary.iter().map(hits).collect()
    }
}

fn within(code: &Code, codes: &[Code]) -> bool {
    codes.iter().any(|wide| wide.contains(code))
}

/// A code that a ranked list speaks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProposedCode {
    /// As `system:code`.
    pub code: String,
    /// Frequency times specificity, the largest being 1.
    pub weight: f64,
    /// Documents of the head that have it or a code below it.
    pub in_head: usize,
    /// Documents of the whole list that do.
    pub in_list: usize,
}

/// Parameters for deriving a profile from a ranked list.
#[derive(Debug, Clone, Copy)]
pub struct ProposeOptions<'a> {
    /// The system the codes are from; the list's own (FI, else CPC, else IPC) when `None`.
    pub system: Option<System>,
    /// Codes that must not be in it, nor those below them: those of use cases.
    pub without: &'a [Code],
    /// Most codes.
    pub most: usize,
}

/// Share of the list that is its head.
const HEAD_SHARE: f64 = 0.25;
/// Fewest and most documents of the head.
const HEAD: (usize, usize) = (20, 200);
/// Documents of the head that have a code, at least: what a single one has says nothing of a field.
const FEWEST: usize = 2;
/// A code is redundant if a code below it has this share of its documents.
const SAME: f64 = 0.8;

/// Proposes a target profile: frequency in the head of the list times `ln(1 + lift)`, where the lift is how much more
/// frequent the code is in the head than in the whole list (add-one smoothed). Codes of a document count at every level
/// from the subclass down, those of IPC and CPC as one tree; codes made redundant by a finer one, and codes of a single
/// document, are dropped.
pub fn propose(docs: &RankedDocs, options: ProposeOptions<'_>) -> Vec<ProposedCode> {
    let codes: Vec<Option<Code>> = docs.vocabulary.iter().map(|text| read_code(text).ok()).collect();
    let count = docs.ids.len();
    let has = |of: &Vec<u32>, system: System| {
        of.iter().any(|&code| {
            codes.get(code as usize).and_then(Option::as_ref).is_some_and(|code| code.system() == system)
        })
    };
    let system = options
        .system
        .or_else(|| own_system(count, |system| docs.codes.iter().filter(|of| has(of, system)).count()));
    let head = ((count as f64 * HEAD_SHARE) as usize).clamp(HEAD.0, HEAD.1).min(count);
    let mut counts: HashMap<Code, (usize, usize)> = HashMap::new();
    for (place, of) in docs.codes.iter().enumerate() {
        let mut mine: Vec<Code> = of
            .iter()
            .filter_map(|&code| codes.get(code as usize)?.as_ref())
            .filter(|code| Some(code.system().tree()) == system.map(System::tree))
            .filter(|code| !within(code, options.without))
            .flat_map(|code| LEVELS.iter().filter_map(|&level| Some(code.at(level)?.in_tree())))
            .collect();
        mine.sort_unstable();
        mine.dedup();
        for code in mine {
            let entry = counts.entry(code).or_default();
            entry.0 += usize::from(place < head);
            entry.1 += 1;
        }
    }
    let mut found: Vec<(Code, usize, usize)> =
        counts.into_iter().filter(|(_, (head, _))| *head >= FEWEST).map(|(c, (h, l))| (c, h, l)).collect();
    found.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let redundant = |code: &Code, documents: usize| {
        found.iter().any(|(finer, held, _)| {
            finer != code && code.contains(finer) && *held as f64 >= SAME * documents as f64
        })
    };
    let weight = |in_head: usize, in_list: usize| {
        let share = in_head as f64 / head.max(1) as f64;
        let usual = (in_list + 1) as f64 / (count + 1) as f64;
        share * (1.0 + share / usual).ln()
    };
    let mut proposed: Vec<ProposedCode> = found
        .iter()
        .filter(|(code, held, _)| !redundant(code, *held))
        .map(|(code, in_head, in_list)| ProposedCode {
            code: key(&named(code, system)),
            weight: weight(*in_head, *in_list),
            in_head: *in_head,
            in_list: *in_list,
        })
        .collect();
    proposed.sort_by(|a, b| b.weight.total_cmp(&a.weight).then_with(|| a.code.cmp(&b.code)));
    proposed.truncate(options.most);
    let largest = proposed.first().map_or(1.0, |first| first.weight);
    for code in &mut proposed {
        code.weight = (code.weight / largest * 1000.0).round() / 1000.0;
    }
    proposed.retain(|code| code.weight > 0.0);
    proposed
}

/// A code of a tree as one of the documents' own system, if it has it.
fn named(code: &Code, system: Option<System>) -> Code {
    system.and_then(|system| Code::parse(system, code.as_str()).ok()).unwrap_or_else(|| code.clone())
}

/// The classification system of documents: the first of FI, CPC and IPC in which half of them have codes, else the most
/// frequent one; F-terms, USPC, and Locarno only as a last resort.
pub(crate) fn own_system(documents: usize, having: impl Fn(System) -> usize) -> Option<System> {
    let systems = [System::Fi, System::Cpc, System::Ipc, System::Ft, System::Uspc, System::Locarno];
    let counted = systems.map(|system| (system, having(system)));
    let main = &counted[..3];
    let half = main.iter().find(|(_, count)| *count > 0 && count * 2 >= documents);
    let most = || counted.iter().filter(|(_, count)| *count > 0).rev().max_by_key(|(_, count)| *count);
    half.or_else(most).map(|(system, _)| *system)
}

/// Levels that a profile may name.
const LEVELS: [Level; 5] =
    [Level::Subclass, Level::MainGroup, Level::Subgroup, Level::Subdivision, Level::Discrimination];
