//! Which heading of a page is its title.

use super::metadata::Said;
use super::outline::Part;
use super::overlap::normal;
use crate::dom::visible_text;

/// Bytes by which a heading and a title agree at least.
const SAME: usize = 6;
/// Characters that a heading has at most.
const HEADING: usize = 300;

/// The heading that repeats the page's title, the best match first; else the only one of the first level.
pub(super) fn heading(parts: &[Part<'_>], said: &Said) -> Option<usize> {
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
