//! Where the main text begins, by what the page says of itself: its title stands above the text, its description is
//! often how the text begins. A text that stands elsewhere is a banner, a comment or an author's portrait.

use super::blocks::{BlockKind, Content};
use super::choice::Candidate;
use super::edges::{Line, kept, lines};
use super::metadata::Said;
use super::outline::{Part, outline};
use super::overlap::{Runs, filled, normal};
use crate::dom::visible_text;
use dom_query::NodeRef;
use url::Url;

/// Characters of a text from which it can stand for an article.
const ENOUGH: usize = 200;
/// As above, where there is no more.
const LEAST: usize = 80;
/// Characters up to which a text may be too short for its page.
const SHORT: usize = 1_500;
/// Bytes by which a heading and a title agree at least.
const SAME: usize = 6;
/// Characters that a heading has at most.
const HEADING: usize = 300;

/// `content`, or the text that stands under the page's title when `content` stands elsewhere.
pub(super) fn anchored(body: NodeRef<'_>, base: &Url, content: Content, said: &Said) -> Content {
    let parts = outline(body);
    let Some(title) = heading(&parts, said) else { return content };
    let runs = Runs::of(&content.text);
    let Some(holder) = holder(&parts, &runs) else {
        return under(&parts, title, base).unwrap_or(content);
    };
    if parts[holder].end <= title {
        let Some(found) = under(&parts, title, base) else { return content };
        let few = found.text.len() * 5 < content.text.len();
        return if few && !is_described(&found, said) { content } else { found };
    }
    let Some(around) = above(&parts, title).find(|at| parts[*at].end >= parts[holder].end && *at <= holder) else {
        return content;
    };
    let whole = after_title(&parts, around, title, base);
    let chars: Vec<char> = whole.text.chars().collect();
    let view = lines(&whole, &chars, &[]);
    let first = known(&whole, &chars, &runs).iter().position(|known| *known).unwrap_or(view.len());
    let mut prose = 0;
    for (at, line) in view[..first].iter().enumerate() {
        if line.ends_article && prose >= LEAST {
            let keep: Vec<bool> = (0..view.len()).map(|block| block < at).collect();
            return kept(&whole, &chars, &keep);
        }
        prose += if line.is_prose() { line.chars } else { 0 };
    }
    let length = prose_of(&content);
    if length < SHORT {
        let end = end(&view);
        let keep: Vec<bool> = (0..view.len()).map(|block| block < end).collect();
        let found = [Some(kept(&whole, &chars, &keep)), under(&parts, title, base)];
        let longest = found
            .into_iter()
            .flatten()
            .filter(|found| runs.share_in(&Runs::of(&found.text)) > 0.6)
            .map(|found| (prose_of(&found), found))
            .max_by_key(|found| found.0);
        if let Some((prose, found)) = longest && prose > 2 * length {
            return found;
        }
    }
    filled(content, &whole)
}

/// Characters of running text.
fn prose_of(content: &Content) -> usize {
    let chars: Vec<char> = content.text.chars().collect();
    lines(content, &chars, &[]).iter().filter(|line| line.is_prose()).map(|line| line.chars).sum()
}

/// The heading that repeats the page's title, the best match first; else the only one of the first level.
fn heading(parts: &[Part<'_>], said: &Said) -> Option<usize> {
    let titles: Vec<String> = said.titles.iter().map(|title| normal(title)).collect();
    let site = said.site.as_deref().map(normal);
    let mut best: Option<(usize, (bool, usize))> = None;
    let mut first_level = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        let is_heading = matches!(part.name.as_str(), "h1" | "h2" | "h3" | "h4");
        if !is_heading || part.amount.chars == 0 || part.amount.chars > HEADING {
            continue;
        }
        let text = normal(&visible_text(part.node));
        if site.as_ref() == Some(&text) {
            continue;
        }
        let is_plain = !part.amount.is_linked(50);
        if part.name == "h1" && is_plain {
            first_level.push(at);
        }
        let shared = titles.iter().map(|title| agreement(&text, title)).max().unwrap_or_default();
        if shared > 0 && best.is_none_or(|(_, known)| (is_plain, shared) > known) {
            best = Some((at, (is_plain, shared)));
        }
    }
    best.map(|(at, _)| at).or(if let [only] = first_level[..] { Some(only) } else { None })
}

/// Bytes by which a heading and a title agree, both without spaces; 0 when they are different. The site's name stands
/// at the end of titles, and at their beginning only where the rest is longer.
fn agreement(heading: &str, title: &str) -> usize {
    let (part, whole) = if heading.len() <= title.len() { (heading, title) } else { (title, heading) };
    let percent = match () {
        () if part == whole => 0,
        () if whole.starts_with(part) => 35,
        () => 55,
    };
    let agrees = part.len() >= SAME && part.len() * 100 >= whole.len() * percent && whole.contains(part);
    if agrees { part.len() } else { 0 }
}

/// The elements around an element, the closest first.
fn above<'p>(parts: &'p [Part<'_>], at: usize) -> impl Iterator<Item = usize> + 'p {
    std::iter::successors(parts[at].parent, |at| parts[*at].parent)
}

/// The smallest element that holds nearly all of a text.
fn holder(parts: &[Part<'_>], runs: &Runs) -> Option<usize> {
    let mut held: Vec<usize> = parts
        .iter()
        .map(|part| {
            let own = part.node.children_it(false).filter(NodeRef::is_text).map(|node| node.text());
            own.filter(|text| runs.has_most_of(text)).map(|text| text.len()).sum()
        })
        .collect();
    for at in (1..parts.len()).rev() {
        if let Some(parent) = parts[at].parent {
            held[parent] += held[at];
        }
    }
    let whole = *held.first()?;
    held.iter().rposition(|held| whole > 0 && *held * 10 >= whole * 9)
}

/// Which blocks stand in the text of `runs`.
fn known(content: &Content, chars: &[char], runs: &Runs) -> Vec<bool> {
    let text = |start: u32, end: u32| chars[start as usize..end as usize].iter().collect::<String>();
    content.blocks.iter().map(|block| runs.has_most_of(&text(block.start, block.end))).collect()
}

/// What an element holds after the title.
fn after_title(parts: &[Part<'_>], around: usize, title: usize, base: &Url) -> Content {
    let content = Candidate::cleared(&parts[around].node.to_fragment(), base).content;
    let chars: Vec<char> = content.text.chars().collect();
    let heading = normal(&visible_text(parts[title].node));
    let is_title = |block: &super::Block| {
        matches!(block.kind, BlockKind::Heading { .. }) && {
            let text: String = chars[block.start as usize..block.end as usize].iter().collect();
            normal(&text) == heading
        }
    };
    let Some(at) = content.blocks.iter().position(is_title) else { return content };
    let keep: Vec<bool> = (0..content.blocks.len()).map(|block| block > at).collect();
    kept(&content, &chars, &keep)
}

/// The text under the title, up to where comments or further articles begin.
fn under(parts: &[Part<'_>], title: usize, base: &Url) -> Option<Content> {
    let done = parts[title].before.plain() + parts[title].amount.plain();
    let rest = |at: usize| (parts[at].before.plain() + parts[at].amount.plain()).saturating_sub(done);
    for least in [ENOUGH, LEAST] {
        for around in above(parts, title).filter(|at| rest(*at) >= least) {
            let whole = after_title(parts, around, title, base);
            let chars: Vec<char> = whole.text.chars().collect();
            let view = lines(&whole, &chars, &[]);
            let end = end(&view);
            let prose: usize = view[..end].iter().filter(|line| line.is_prose()).map(|line| line.chars).sum();
            if prose >= least {
                let keep: Vec<bool> = (0..view.len()).map(|block| block < end).collect();
                return Some(kept(&whole, &chars, &keep));
            }
        }
    }
    None
}

/// The block with which something other than the article begins.
fn end(view: &[Line]) -> usize {
    let mut prose = 0;
    for (at, line) in view.iter().enumerate() {
        if line.ends_article && prose >= LEAST {
            return at;
        }
        prose += if line.is_prose() { line.chars } else { 0 };
    }
    view.len()
}

/// Whether the text holds most of what the page gives as its description.
fn is_described(content: &Content, said: &Said) -> bool {
    let runs = Runs::of(&content.text);
    said.descriptions.iter().any(|description| runs.has_most_of(description))
}
