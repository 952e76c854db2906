//! What is left of other ends once an element is cleared: by-lines and dates before the text, lists of links in it,
//! headings and links after it.

use super::aside::{is_aside, is_portrait};
use super::blocks::{Block, BlockKind, Builder, Content, Link};
use super::endings::ends_article;
use lyra_domain::domains::registrable_domain;
use std::collections::HashSet;
use url::Url;

/// Characters up to which a line without the end of a sentence is no paragraph.
const SHORT: usize = 100;
/// Characters that a line has at most that stands above something else.
const HEADLINE: usize = 60;
/// Characters that the line above a list has at least when it is part of the text.
const LEAD: usize = 40;
/// Of 100 characters, those that may be taken away at the edges: more is the text itself, in an unusual form.
const MOST: usize = 8;
/// Characters of a line at most by which the site speaks to its readers.
const ASIDE: usize = 280;
/// Of 100 characters, those that may be in such lines.
const ASIDES: usize = 25;

/// The content without the blocks that are no part of the running text. `own` are addresses of the page itself.
pub(super) fn trimmed(content: &Content, own: &[&Url], authors: &[String]) -> Content {
    let chars: Vec<char> = content.text.chars().collect();
    let view = lines(content, &chars, own);
    let mut keep = vec![true; view.len()];
    drop_asides(content, &chars, &view, &mut keep);
    drop_portraits(content, &chars, authors, &view, &mut keep);
    drop_ends(&view, &mut keep);
    drop_links(&view, &mut keep);
    drop_edges(&view, &mut keep);
    kept(content, &chars, &keep)
}

/// The blocks as the rules see them.
pub(super) fn lines(content: &Content, chars: &[char], own: &[&Url]) -> Vec<Line> {
    let own: HashSet<String> = own.iter().map(|url| site(url)).collect();
    let mut links = vec![Linked::default(); content.blocks.len()];
    for link in &content.links {
        let linked = &mut links[link.block];
        linked.chars += link.text.chars().filter(|c| !c.is_whitespace()).count();
        if own.contains(&site(&link.url)) { linked.inside += 1 } else { linked.outside += 1 }
    }
    content.blocks.iter().zip(&links).map(|(block, linked)| Line::of(block, chars, linked)).collect()
}

fn site(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    registrable_domain(host).unwrap_or_else(|| host.to_owned())
}

/// The links of a block.
#[derive(Debug, Clone, Copy, Default)]
struct Linked {
    chars: usize,
    /// To pages of the same site.
    inside: usize,
    outside: usize,
}

/// A block as the rules see it.
pub(super) struct Line {
    pub(super) kind: BlockKind,
    pub(super) chars: usize,
    /// Nearly all of it is links.
    pub(super) is_linked: bool,
    leads_inside: bool,
    ends_sentence: bool,
    ends_colon: bool,
    /// Level of a heading.
    level: Option<u8>,
    /// It stands above what follows the article.
    pub(super) ends_article: bool,
}

impl Line {
    fn of(block: &Block, chars: &[char], linked: &Linked) -> Self {
        let text = &chars[block.start as usize..block.end as usize];
        let count = text.iter().filter(|c| !c.is_whitespace()).count();
        let text: String = text.iter().collect();
        let level = if let BlockKind::Heading { level } = block.kind { Some(level) } else { None };
        let ends_colon = text.ends_with([':', '：']);
        let stands_above =
            level.is_some() || (block.kind == BlockKind::Paragraph && (ends_colon || !ends_sentence(&text)));
        Self {
            kind: block.kind,
            chars: count,
            is_linked: linked.chars * 10 >= count * 8,
            leads_inside: linked.inside > linked.outside,
            ends_sentence: ends_sentence(&text),
            ends_colon,
            level,
            ends_article: stands_above && count <= HEADLINE && ends_article(&text),
        }
    }

    /// Consists of links to other pages of the site.
    pub(super) fn leads_away(&self) -> bool {
        self.is_linked && self.leads_inside
    }

    /// Is running text, or a list or table of its own.
    pub(super) fn is_prose(&self) -> bool {
        match self.kind {
            BlockKind::Heading { .. } => false,
            BlockKind::Table | BlockKind::Preformatted | BlockKind::Quote => true,
            BlockKind::List => !self.leads_away(),
            BlockKind::Paragraph | BlockKind::Caption => {
                !self.is_linked && (self.chars > SHORT || self.ends_sentence)
            }
        }
    }
}

/// Lines by which the site speaks to its readers, unless that is what the text consists of.
fn drop_asides(content: &Content, chars: &[char], view: &[Line], keep: &mut [bool]) {
    let is_aside = |block: &Block| {
        let text: String = chars[block.start as usize..block.end as usize].iter().collect();
        !matches!(block.kind, BlockKind::Preformatted | BlockKind::Quote | BlockKind::Table)
            && is_aside(&text)
    };
    let asides: Vec<usize> =
        (0..view.len()).filter(|at| view[*at].chars <= ASIDE && is_aside(&content.blocks[*at])).collect();
    let length: usize = asides.iter().map(|at| view[*at].chars).sum();
    let whole: usize = view.iter().map(|line| line.chars).sum();
    if length * 100 <= whole * ASIDES {
        for at in asides {
            keep[at] = false;
        }
    }
}

/// Drops what describes the authors before the first paragraph or after the last.
fn drop_portraits(content: &Content, chars: &[char], authors: &[String], view: &[Line], keep: &mut [bool]) {
    let prose = |at: &usize| keep[*at] && view[*at].is_prose();
    let places: Vec<usize> = (0..view.len()).filter(prose).collect();
    if places.len() < 4 {
        return;
    }
    let edges = [&places[..1], &places[places.len() - 3..]].concat();
    for at in edges {
        let block = &content.blocks[at];
        let text: String = chars[block.start as usize..block.end as usize].iter().collect();
        if is_portrait(&text, authors) {
            keep[at] = false;
        }
    }
}

/// What stands under a line under which pages put comments or further articles, up to the next heading of that level:
/// after the first half of the text, and unless much of the text stands there.
fn drop_ends(view: &[Line], keep: &mut [bool]) {
    let mut sums = vec![(0, 0)];
    for line in view {
        let (all, prose) = sums.last().copied().unwrap_or_default();
        let is_prose = line.is_prose() && line.kind != BlockKind::List;
        sums.push((all + line.chars, prose + if is_prose { line.chars } else { 0 }));
    }
    let whole = sums[view.len()].0;
    let mut at = 0;
    while at < view.len() {
        let before = sums[at].0;
        if !view[at].ends_article || before * 2 < whole {
            at += 1;
            continue;
        }
        let end = view[at].level.map_or(view.len(), |level| {
            (at + 1..view.len())
                .find(|next| view[*next].level.is_some_and(|next| next <= level))
                .unwrap_or(view.len())
        });
        if (sums[end].1 - sums[at].1) * 5 <= before {
            keep[at..end].fill(false);
            at = end;
        } else {
            at += 1;
        }
    }
}

/// Lines and lists that are links to other pages of the site, with the short line above them: “read more”, tables of
/// contents. A list that a sentence announces is part of the text.
fn drop_links(view: &[Line], keep: &mut [bool]) {
    for at in 0..view.len() {
        let line = &view[at];
        let before = at.checked_sub(1).map(|before| &view[before]);
        let is_announced = before.is_some_and(|before| before.ends_colon && before.chars >= LEAD);
        let is_line = line.kind == BlockKind::Paragraph && !line.ends_sentence;
        let is_list = line.kind == BlockKind::List && !is_announced;
        if line.leads_away() && (is_line || is_list) {
            keep[at] = false;
            if before
                .is_some_and(|before| before.level.is_none() && !before.is_prose() && before.chars < LEAD)
            {
                keep[at - 1] = false;
            }
        }
    }
}

/// Lines before the first paragraph that are no headings, and whatever follows the last one.
fn drop_edges(view: &[Line], keep: &mut [bool]) {
    let prose = |at: &usize| keep[*at] && view[*at].is_prose();
    let (Some(first), Some(last)) = ((0..view.len()).find(prose), (0..view.len()).rev().find(prose)) else {
        return;
    };
    let edges: Vec<usize> = (0..first)
        .filter(|at| view[*at].level.is_none())
        .chain(last + 1..view.len())
        .filter(|at| keep[*at])
        .collect();
    let chars = |places: &[usize]| places.iter().map(|at| view[*at].chars).sum::<usize>();
    let whole: usize = view.iter().map(|line| line.chars).sum();
    if chars(&edges) * 100 <= whole * MOST {
        for at in edges {
            keep[at] = false;
        }
    }
}

/// Ends as sentences do, in any script.
pub(super) fn ends_sentence(text: &str) -> bool {
    text.trim_end_matches(|c: char| c.is_whitespace() || "\"'”“’»«)]」』".contains(c))
        .ends_with(['.', '!', '?', '…', ':', ';', '。', '！', '？', '؟', '।', '։'])
}

/// The blocks to keep, with the links in them.
pub(super) fn kept(content: &Content, chars: &[char], keep: &[bool]) -> Content {
    let mut out = Builder::default();
    let mut moved: Vec<Option<usize>> = Vec::with_capacity(keep.len());
    for (block, keep) in content.blocks.iter().zip(keep) {
        let text: String = chars[block.start as usize..block.end as usize].iter().collect();
        moved.push(if *keep { out.push(block.kind, &text) } else { None });
    }
    let links = content.links.iter().filter_map(|link| {
        let block = moved[link.block]?;
        let start = out.blocks[block].start + link.start - content.blocks[link.block].start;
        Some(Link { block, start, ..link.clone() })
    });
    let links = links.collect();
    let places =
        content.places.iter().zip(&moved).filter(|(_, moved)| moved.is_some()).map(|(place, _)| *place);
    Content { text: out.text, blocks: out.blocks, links, places: places.collect() }
}
