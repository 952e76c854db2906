//! Links in the body text, each with the sentence around it.

use super::{BlockKind, Extracted};
use crate::{canonical, same_page_key};
use lyra_domain::domains::registrable_domain;
use lyra_text::Sentence;
use std::collections::{HashMap, HashSet};
use url::Url;

/// Most characters of a context; of a longer one the part around the link is kept.
const MAX_CONTEXT: usize = 400;

/// A link in the body text of a page. Its words are untrusted data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BodyLink {
    /// Where it leads, canonical.
    pub url: Url,
    /// Its words.
    pub text: String,
    /// The sentence that it stands in; in lists and preformatted text the line.
    pub context: String,
    /// First character of its words in the page's text.
    pub start: u32,
}

impl Extracted {
    /// Links to other pages in the body text, each page once: those to other sites first, in the order of the text.
    /// Links in headings lead to parts of the page or of the site, and are left out.
    pub fn body_links(&self, address: &Url) -> Vec<BodyLink> {
        let chars: Vec<char> = self.text.chars().collect();
        let mut sentences: HashMap<usize, Vec<Sentence>> = HashMap::new();
        let mut seen = HashSet::from([same_page_key(address)]);
        seen.extend(self.canonical_url.as_ref().map(same_page_key));
        let mut found = Vec::new();
        for link in &self.links {
            let block = &self.blocks[link.block];
            let Some(url) = canonical(link.url.as_str()) else { continue };
            if matches!(block.kind, BlockKind::Heading { .. }) || !seen.insert(same_page_key(&url)) {
                continue;
            }
            let whole = &chars[block.start as usize..block.end as usize];
            let at = (link.start - block.start) as usize;
            let (from, to) = match block.kind {
                BlockKind::List | BlockKind::Preformatted | BlockKind::Table => line(whole, at),
                _ => {
                    let cut = || {
                        let text: String = whole.iter().collect();
                        lyra_text::sentences(&text, self.language.as_deref())
                    };
                    let sentences = sentences.entry(link.block).or_insert_with(cut);
                    let around = sentences.iter().find(|sentence| at < sentence.end);
                    around.map_or((0, whole.len()), |sentence| (sentence.start, sentence.end))
                }
            };
            let (from, to) = around(at, from, to);
            let context: String = whole[from..to].iter().collect();
            let context = context.trim().to_owned();
            found.push(BodyLink { url, text: link.text.clone(), context, start: link.start });
        }
        let own = site(address);
        // Stable: the order of the text holds on either side.
        found.sort_by_key(|link| site(&link.url) == own);
        found
    }
}

fn site(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    registrable_domain(host).unwrap_or_else(|| host.to_owned())
}

/// The line around a place.
fn line(text: &[char], at: usize) -> (usize, usize) {
    let at = at.min(text.len());
    let from = text[..at].iter().rposition(|c| *c == '\n').map_or(0, |end| end + 1);
    let to = text[at..].iter().position(|c| *c == '\n').map_or(text.len(), |end| at + end);
    (from, to)
}

/// The part of a context that is kept: all of it, or what stands around the link.
fn around(at: usize, from: usize, to: usize) -> (usize, usize) {
    if to - from <= MAX_CONTEXT {
        return (from, to);
    }
    let begin = at.saturating_sub(MAX_CONTEXT / 2).max(from).min(to - MAX_CONTEXT);
    (begin, begin + MAX_CONTEXT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(body: &str) -> Vec<(String, String, String)> {
        let filler =
            "Sleep has been studied for a long time, by many people, in many places, and with many methods. ";
        let html = format!(
            "<html lang=en><body><article><h1>Naps</h1><p>{}</p>{body}</article></body></html>",
            filler.repeat(6)
        );
        let address = Url::parse("https://news.example/naps").unwrap();
        let page = Extracted::from_html(&html, &address);
        let found = page.body_links(&address);
        let chars: Vec<char> = page.text.chars().collect();
        for link in &found {
            let words: String = chars[link.start as usize..].iter().take(link.text.chars().count()).collect();
            assert_eq!(words, link.text, "the place of a link is that of its words");
        }
        found.into_iter().map(|link| (link.url.to_string(), link.text, link.context)).collect()
    }

    #[test]
    fn every_link_has_its_sentence_and_those_to_other_sites_come_first() {
        let found = links(
            "<p>Naps are old. A <a href='/about'>page of ours</a> says so. A  trial
             <a href='https://doi.org/10.1000/x?utm_source=n#s'>found
             that</a> naps help, as did <a href='https://b.example/'>another one</a>. Nobody knows <b>why</b>.</p>
             <ol><li>Lee. <a href='https://c.example/lee'>Naps</a>. 2019</li><li>Ek
             <ul><li><a href='https://d.example/ek'>Again</a></li></ul></li></ol>
             <p>See <a href='#top'>above</a>, <a href='https://news.example/naps#x'>here</a>, <a href='mailto:a@b.example'>us</a>,
             <a href='https://www.b.example'>again</a>.</p>",
        );
        let sentence = "A trial found that naps help, as did another one.";
        let expect = [
            ("https://doi.org/10.1000/x", "found that", sentence),
            ("https://b.example/", "another one", sentence),
            ("https://c.example/lee", "Naps", "1. Lee. Naps. 2019"),
            ("https://d.example/ek", "Again", "- Again"),
            ("https://news.example/about", "page of ours", "A page of ours says so."),
        ];
        let found: Vec<_> = found.iter().map(|(a, b, c)| (a.as_str(), b.as_str(), c.as_str())).collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn navigation_and_headings_are_not_the_body() {
        let found = links(
            "<nav><a href='https://a.example'>Home</a></nav><aside><p>Read <a href='https://b.example'>more</a></p></aside>
             <h2><a href='https://c.example'>Results</a></h2><p>The text of this part has <a href='https://d.example/'>one link</a>
             and a good many words besides it, so that nobody takes it for a menu.</p>
             <footer><p><a href='https://e.example'>Terms</a></p></footer>",
        );
        assert_eq!(found.iter().map(|(url, ..)| url.as_str()).collect::<Vec<_>>(), ["https://d.example/"]);
    }

    #[test]
    fn a_long_sentence_is_cut_around_its_link() {
        let words = "and so on ".repeat(100);
        let found =
            links(&format!("<p>It goes {words}<a href='https://a.example/'>to the point</a> {words}.</p>"));
        let context = &found[0].2;
        assert!(context.chars().count() <= MAX_CONTEXT && context.contains("to the point"), "{context}");
    }
}
