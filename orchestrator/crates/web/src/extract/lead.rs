//! The lead of an article, which many pages set apart from the text, beside the title or a picture. The description that
//! a page gives of itself repeats it word for word.

use super::blocks::{Block, BlockKind, Builder, Content, Link};
use super::choice::Candidate;
use super::metadata::Said;
use super::outline::outline;
use super::overlap::{Runs, normal};
use super::title::heading;
use dom_query::NodeRef;
use url::Url;

/// Characters that a lead has at least, without white space.
const LEAST: usize = 40;
/// Characters up to which a line that shares its words with the title only repeats it.
const TITLE: usize = 200;
/// Descriptions of a page that are compared, and characters of each.
const DESCRIPTIONS: usize = 4;
const DESCRIPTION: usize = 1_000;

/// `content` with the lead that stands after the page's title and before `content`. Without a description, or when
/// `content` already holds it, `content` stays as it is. `boilerplate::note` has numbered the elements of `body`.
pub(super) fn with_lead(content: Content, body: NodeRef<'_>, base: &Url, said: &Said) -> Content {
    let runs = Runs::of(&content.text);
    let descriptions: Vec<Runs> = said
        .descriptions
        .iter()
        .take(DESCRIPTIONS)
        .map(|text| Runs::of(&text.chars().take(DESCRIPTION).collect::<String>()))
        .filter(|description| !description.is_mostly_in(&runs))
        .collect();
    let Some(first) = first_place(&content).filter(|_| !descriptions.is_empty()) else { return content };
    let after = heading(&outline(body), said).unwrap_or_default();
    let titles: Vec<String> = said.titles.iter().take(DESCRIPTIONS).map(|title| normal(title)).collect();
    let whole = Candidate::loosely_cleared(&body.to_fragment(), base).content;
    let chars: Vec<char> = whole.text.chars().collect();
    let mut linked = vec![0; whole.blocks.len()];
    for link in &whole.links {
        linked[link.block] += link.text.chars().filter(|c| !c.is_whitespace()).count();
    }
    let is_lead = |at: usize| {
        let block = &whole.blocks[at];
        let text: String = chars[block.start as usize..block.end as usize].iter().collect();
        let count = text.chars().filter(|c| !c.is_whitespace()).count();
        let own = Runs::of(&text);
        !matches!(block.kind, BlockKind::List | BlockKind::Table)
            && count >= LEAST
            && linked[at] * 2 <= count
            && descriptions.iter().any(|said| own.is_mostly_in(said) || said.is_mostly_in(&own))
            && !own.is_mostly_in(&runs)
            && !(count < TITLE && repeats(&normal(&text), &titles))
    };
    let between =
        |at: &usize| whole.places[*at].is_some_and(|place| (after..first).contains(&(place as usize)));
    match (0..whole.blocks.len()).filter(between).find(|at| is_lead(*at)) {
        Some(at) => with_block(content, &whole, &chars, at),
        None => content,
    }
}

/// The number of the element that the first block of the text begins in, headings aside.
fn first_place(content: &Content) -> Option<usize> {
    let is_heading = |block: &Block| matches!(block.kind, BlockKind::Heading { .. });
    let mut text = content.blocks.iter().zip(&content.places).filter(|(block, _)| !is_heading(block));
    text.find_map(|(_, place)| *place).map(|place| place as usize)
}

fn repeats(line: &str, titles: &[String]) -> bool {
    titles.iter().any(|title| !title.is_empty() && (title.contains(line) || line.contains(title.as_str())))
}

/// `content` with the block `added` of `whole`, in the order of the page.
fn with_block(content: Content, whole: &Content, chars: &[char], added: usize) -> Content {
    let place = whole.places[added];
    let before =
        content.places.iter().take_while(|known| known.is_some_and(|known| Some(known) < place)).count();
    let old: Vec<char> = content.text.chars().collect();
    let mut out = Builder::default();
    let mut push = |block: &Block, chars: &[char]| {
        out.push(block.kind, &chars[block.start as usize..block.end as usize].iter().collect::<String>());
    };
    for block in &content.blocks[..before] {
        push(block, &old);
    }
    push(&whole.blocks[added], chars);
    for block in &content.blocks[before..] {
        push(block, &old);
    }
    let moved = |link: &Link, block: usize, from: &Content| {
        let start = out.blocks[block].start + link.start - from.blocks[link.block].start;
        Link { block, start, ..link.clone() }
    };
    let (above, below): (Vec<&Link>, Vec<&Link>) = content.links.iter().partition(|link| link.block < before);
    let links = above
        .into_iter()
        .map(|link| moved(link, link.block, &content))
        .chain(whole.links.iter().filter(|link| link.block == added).map(|link| moved(link, before, whole)))
        .chain(below.into_iter().map(|link| moved(link, link.block + 1, &content)));
    let links = links.collect();
    let mut places = content.places;
    places.insert(before, place);
    Content { text: out.text, blocks: out.blocks, links, places }
}
