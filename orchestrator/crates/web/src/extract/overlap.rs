//! Two texts of one page: how much of one is in the other, and what one adds to the other.

use super::blocks::{Block, BlockKind, Content};
use super::edges::{ends_sentence, kept};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Words of a run.
const RUN: usize = 3;
/// Characters that a paragraph has at least which one text adds to the other.
const PARAGRAPH: usize = 40;

/// Characters that the items of such a list have at least, on average.
const ITEM: usize = 30;

/// Characters that a lead has at least.
const LEAD: usize = 80;

/// The runs of three words of a text, as hashes, in order.
pub(super) struct Runs {
    ordered: Vec<u64>,
    known: HashSet<u64>,
    words: usize,
}

impl Runs {
    pub(super) fn of(text: &str) -> Self {
        let words: Vec<String> = text
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect();
        let runs: Vec<u64> = words.windows(RUN.min(words.len().max(1))).map(hash).collect();
        let known = runs.iter().copied().collect();
        Self { ordered: runs, known, words: words.len() }
    }

    /// Whether most of a text of three words and more is in this one.
    pub(super) fn has_most_of(&self, text: &str) -> bool {
        Self::of(text).is_mostly_in(self)
    }

    /// Whether the other text has most of this one, which is of three words and more.
    pub(super) fn is_mostly_in(&self, other: &Self) -> bool {
        self.words >= RUN && self.share_in(other) > 0.6
    }

    /// The share of these runs that the other text has too, 0 to 1; 0 without any runs.
    pub(super) fn share_in(&self, other: &Self) -> f64 {
        let shared = self.ordered.iter().filter(|run| other.known.contains(run)).count();
        if self.ordered.is_empty() { 0.0 } else { shared as f64 / self.ordered.len() as f64 }
    }
}

fn hash(words: &[String]) -> u64 {
    let mut hasher = DefaultHasher::new();
    words.hash(&mut hasher);
    hasher.finish()
}

/// `text` with what `wider`, of which it is a part, holds before and between its blocks: paragraphs, lists, tables,
/// headings of what is kept. Nothing after its last block is added: comments and teasers stand there.
pub(super) fn filled(text: Content, wider: &Content) -> Content {
    let runs = Runs::of(&text.text);
    let lines: HashSet<String> = text.text.lines().map(normal).collect();
    let chars: Vec<char> = wider.text.chars().collect();
    let of = |block: &Block| chars[block.start as usize..block.end as usize].iter().collect::<String>();
    let texts: Vec<String> = wider.blocks.iter().map(of).collect();
    let has = |at: usize| {
        let own = Runs::of(&texts[at]);
        if own.ordered.len() > 2 { own.share_in(&runs) > 0.6 } else { lines.contains(&normal(&texts[at])) }
    };
    let mut linked = vec![0_usize; wider.blocks.len()];
    for link in &wider.links {
        linked[link.block] += link.text.chars().count();
    }
    let known: Vec<bool> = (0..texts.len()).map(has).collect();
    let Some(last) = known.iter().rposition(|known| *known) else { return text };
    let mut keep = known.clone();
    for at in (0..last).rev() {
        let (block, length) = (&wider.blocks[at], texts[at].chars().count());
        let is_linked = linked[at] * 2 >= length;
        keep[at] |= match block.kind {
            // Some leads are marked up as headings.
            BlockKind::Heading { .. } if length >= LEAD && ends_sentence(&texts[at]) => !is_linked,
            BlockKind::Heading { .. } => {
                keep[at + 1] && !matches!(wider.blocks[at + 1].kind, BlockKind::Heading { .. }) && at > 0
            }
            BlockKind::Paragraph | BlockKind::Quote | BlockKind::Caption => {
                !is_linked && length >= PARAGRAPH && ends_sentence(&texts[at])
            }
            BlockKind::List => !is_linked && length >= ITEM * texts[at].lines().count(),
            BlockKind::Table => !is_linked && length >= PARAGRAPH,
            BlockKind::Preformatted => true,
        };
    }
    let whole = kept(wider, &chars, &keep);
    let (before, after) = (text.text.chars().count(), whole.text.chars().count());
    // What the other text does not have is worth more than what it adds.
    if after < before || after * 2 > before * 3 { text } else { whole }
}

pub(super) fn normal(line: &str) -> String {
    line.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
