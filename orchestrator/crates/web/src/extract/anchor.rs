//! Where the main text stands, by what the page says of itself: its title stands above the text, its description is
//! often how the text begins. A text that stands elsewhere is a banner, a comment or an author's portrait.

use super::blocks::{Block, BlockKind, Content};
use super::choice::Candidate;
use super::edges::{Line, kept, lines};
use super::metadata::Said;
use super::outline::{Part, outline};
use super::overlap::{Runs, filled, normal};
use super::title::heading;
use crate::dom::visible_text;
use dom_query::NodeRef;
use url::Url;

/// Characters of a text from which it can stand for an article.
const ENOUGH: usize = 200;
/// As above, where there is no more.
const LEAST: usize = 80;
/// Characters up to which a text may be too short for its page.
const SHORT: usize = 1_500;
/// Bytes of a request for consent at most.
const CONSENT: usize = 4_000;
/// Elements around the title that are read, at most.
const WIDER: usize = 6;

/// `content`, or the text that stands under the page's title where `content` stands elsewhere, or what else the page
/// has where `content` is a request for consent or hardly any text. `own` are addresses of the page.
pub(super) fn anchored(
    body: NodeRef<'_>,
    base: &Url,
    own: &[&Url],
    content: Content,
    said: &Said,
) -> Content {
    let parts = outline(body);
    let page = Page { title: heading(&parts, said), parts, base, own };
    let usable = if is_consent(&content, said) { Content::default() } else { content.clone() };
    let found = page.placed(usable, said);
    let plain = page.plain(&found);
    if plain >= LEAST {
        return found;
    }
    let all = |node: NodeRef<'_>| Candidate::cleared(&node.to_fragment(), base).content;
    let loosely = |node: NodeRef<'_>| Candidate::loosely_cleared(&node.to_fragment(), base).content;
    let other = page.under(&loosely).or_else(|| Some(all(body)));
    match other {
        Some(other) if page.prose(&other) >= LEAST.max(2 * plain) => other,
        _ if plain > 0 => found,
        _ => content,
    }
}

/// A request for consent to cookies, on a page about something else.
fn is_consent(content: &Content, said: &Said) -> bool {
    if content.text.len() > CONSENT || said.titles.iter().any(|title| title.to_lowercase().contains("cookie"))
    {
        return false;
    }
    let lower = content.text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let (all, named) =
        words.fold((0, 0), |(all, named), word| (all + 1, named + usize::from(word.starts_with("cookie"))));
    named >= 2 && named * 40 >= all
}

/// A page as the rules here see it.
struct Page<'a, 'b> {
    parts: Vec<Part<'a>>,
    /// The heading under which the text stands.
    title: Option<usize>,
    base: &'b Url,
    own: &'b [&'b Url],
}

impl<'a> Page<'a, '_> {
    /// `content`, or the text under the title where that is another.
    fn placed(&self, content: Content, said: &Said) -> Content {
        let Some(title) = self.title else { return content };
        let cleared = |node: NodeRef<'_>| Candidate::cleared(&node.to_fragment(), self.base).content;
        let runs = Runs::of(&content.text);
        let Some(holder) = self.holder(&runs) else { return self.under(&cleared).unwrap_or(content) };
        if self.parts[holder].end <= title {
            let Some(found) = self.under(&cleared) else { return content };
            let few = found.text.len() * 5 < content.text.len();
            return if few && !is_described(&found, said) { content } else { found };
        }
        let holds = |at: &usize| *at <= holder && self.parts[*at].end >= self.parts[holder].end;
        let Some(around) = self.above(title).find(holds) else { return content };
        let whole = self.after_title(around, title, &cleared);
        let chars: Vec<char> = whole.text.chars().collect();
        let end = end(&lines(&whole, &chars, self.own));
        let text = |block: &Block| chars[block.start as usize..block.end as usize].iter().collect::<String>();
        let first = whole.blocks.iter().position(|block| runs.has_most_of(&text(block)));
        let article = first_blocks(&whole, &chars, end);
        if end <= first.unwrap_or(whole.blocks.len()) && end < whole.blocks.len() {
            return article;
        }
        let length = self.prose(&content);
        if length < SHORT {
            let longest = [Some(article), self.under(&cleared)]
                .into_iter()
                .flatten()
                .filter(|found| runs.share_in(&Runs::of(&found.text)) > 0.6)
                .map(|found| (self.prose(&found), found))
                .max_by_key(|(prose, _)| *prose);
            match longest {
                Some((prose, found)) if prose > 2 * length => return found,
                _ => {}
            }
        }
        filled(content, &whole)
    }

    /// Characters of running text that is no list of links, wherever they lead.
    fn prose(&self, content: &Content) -> usize {
        let chars: Vec<char> = content.text.chars().collect();
        lines(content, &chars, self.own)
            .iter()
            .filter(|line| line.is_prose() && !line.is_linked)
            .map(|line| line.chars)
            .sum()
    }

    /// Characters that are no links to other pages of the site.
    fn plain(&self, content: &Content) -> usize {
        let chars: Vec<char> = content.text.chars().collect();
        let view = lines(content, &chars, self.own);
        view.iter().filter(|line| !line.leads_away()).map(|line| line.chars).sum()
    }

    /// The elements around an element, the closest first.
    fn above(&self, at: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(self.parts[at].parent, |at| self.parts[*at].parent)
    }

    /// The smallest element that holds nearly all of a text.
    fn holder(&self, runs: &Runs) -> Option<usize> {
        let own = |part: &Part<'_>| {
            let texts = part.node.children_it(false).filter(NodeRef::is_text).map(|node| node.text());
            texts.filter(|text| runs.has_most_of(text)).map(|text| text.len()).sum()
        };
        let mut held: Vec<usize> = self.parts.iter().map(own).collect();
        for at in (1..held.len()).rev() {
            if let Some(parent) = self.parts[at].parent {
                held[parent] += held[at];
            }
        }
        let whole = *held.first()?;
        held.iter().rposition(|held| whole > 0 && *held * 10 >= whole * 9)
    }

    /// What an element holds after the title, or all of it where the title is cleared away.
    fn after_title(&self, around: usize, title: usize, read: &dyn Fn(NodeRef<'a>) -> Content) -> Content {
        let content = read(self.parts[around].node);
        let chars: Vec<char> = content.text.chars().collect();
        let heading = normal(&visible_text(self.parts[title].node));
        let is_title = |block: &Block| {
            let text = &chars[block.start as usize..block.end as usize];
            matches!(block.kind, BlockKind::Heading { .. })
                && normal(&text.iter().collect::<String>()) == heading
        };
        let Some(at) = content.blocks.iter().position(is_title) else { return content };
        let keep: Vec<bool> = (0..content.blocks.len()).map(|block| block > at).collect();
        kept(&content, &chars, &keep)
    }

    /// The text under the title, up to where comments or further articles begin.
    fn under(&self, read: &dyn Fn(NodeRef<'a>) -> Content) -> Option<Content> {
        let title = self.title?;
        let through = |at: usize| self.parts[at].before.plain() + self.parts[at].amount.plain();
        for least in [ENOUGH, LEAST] {
            for around in self.above(title).filter(|at| through(*at) >= through(title) + least).take(WIDER) {
                let whole = self.after_title(around, title, read);
                let chars: Vec<char> = whole.text.chars().collect();
                let found = first_blocks(&whole, &chars, end(&lines(&whole, &chars, self.own)));
                if self.prose(&found) >= least {
                    return Some(found);
                }
            }
        }
        None
    }
}

fn first_blocks(content: &Content, chars: &[char], end: usize) -> Content {
    let keep: Vec<bool> = (0..content.blocks.len()).map(|block| block < end).collect();
    kept(content, chars, &keep)
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
