//! Links in the body text, each with the sentence around it.

use super::{BlockKind, Extracted, Link};
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
    /// Its words, at most as many as a context has.
    pub text: String,
    /// The sentence that it stands in; in lists and preformatted text the line.
    pub context: String,
    /// First character of its words in the page's text.
    pub start: u32,
}

impl Extracted {
    /// At most `most` links to other pages in the body text, each page once: those to other sites first, in the order
    /// of the text. Links in headings lead to parts of the page or of the site, and are left out; so are those whose
    /// first character `is_left_out`.
    pub fn body_links(&self, address: &Url, most: usize, is_left_out: impl Fn(u32) -> bool) -> Vec<BodyLink> {
        let chosen = self.chosen_links(address, most, is_left_out);
        if chosen.is_empty() {
            return Vec::new();
        }
        let chars: Vec<char> = self.text.chars().collect();
        let mut sentences: HashMap<usize, Vec<Sentence>> = HashMap::new();
        let with_context = |(url, link): (Url, &Link)| {
            let block = &self.blocks[link.block];
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
                    let around = sentences.get(sentences.partition_point(|sentence| sentence.end <= at));
                    around.map_or((0, whole.len()), |sentence| (sentence.start, sentence.end))
                }
            };
            let (from, to) = around(at, from, to);
            let context: String = whole[from..to].iter().collect();
            let context = context.trim().to_owned();
            let text = link.text.chars().take(MAX_CONTEXT).collect();
            BodyLink { url, text, context, start: link.start }
        };
        chosen.into_iter().map(with_context).collect()
    }

    /// The links that [`Extracted::body_links`] returns, and where they lead.
    fn chosen_links(
        &self,
        address: &Url,
        most: usize,
        is_left_out: impl Fn(u32) -> bool,
    ) -> Vec<(Url, &Link)> {
        let own = site(address);
        let mut seen = HashSet::from([same_page_key(address)]);
        seen.extend(self.canonical_url.as_ref().map(same_page_key));
        let (mut elsewhere, mut here) = (Vec::new(), Vec::new());
        for link in &self.links {
            if elsewhere.len() >= most {
                break;
            }
            let Some(url) = canonical(link.url.as_str()) else { continue };
            let in_heading = matches!(self.blocks[link.block].kind, BlockKind::Heading { .. });
            if in_heading || !seen.insert(same_page_key(&url)) || is_left_out(link.start) {
                continue;
            }
            let side = if site(&url) == own { &mut here } else { &mut elsewhere };
            if side.len() < most {
                side.push((url, link));
            }
        }
        elsewhere.extend(here);
        elsewhere.truncate(most);
        elsewhere
    }
}

fn site(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    registrable_domain(host).unwrap_or_else(|| host.to_owned())
}

/// The line around a place, as far as a context may reach: a page may have one line, and a link at each of its words.
fn line(text: &[char], at: usize) -> (usize, usize) {
    let at = at.min(text.len());
    let (first, last) = (at.saturating_sub(MAX_CONTEXT), (at + MAX_CONTEXT).min(text.len()));
    let from = text[first..at].iter().rposition(|c| *c == '\n').map_or(first, |end| first + end + 1);
    let to = text[at..last].iter().position(|c| *c == '\n').map_or(last, |end| at + end);
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
    use crate::extract::Builder;
    use proptest::prelude::*;
    use std::cell::Cell;

    fn links(body: &str) -> Vec<(String, String, String)> {
        let filler =
            "Sleep has been studied for a long time, by many people, in many places, and with many methods. ";
        let html = format!(
            "<html lang=en><body><article><h1>Naps</h1><p>{}</p>{body}</article></body></html>",
            filler.repeat(6)
        );
        let address = Url::parse("https://news.example/naps").unwrap();
        let page = Extracted::from_html(&html, &address);
        let found = page.body_links(&address, usize::MAX, |_| false);
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

    /// One line with this many links, every third to the page's own site.
    fn one_line(links: usize) -> Extracted {
        let word = |n: usize| format!("word{n:06} ");
        let mut builder = Builder::default();
        builder.push(BlockKind::Preformatted, &(0..links).map(word).collect::<String>());
        let link = |n: usize| Link {
            url: if n.is_multiple_of(3) {
                Url::parse(&format!("https://news.example/{n}")).unwrap()
            } else {
                Url::parse(&format!("https://a{n}.example/")).unwrap()
            },
            text: word(n).trim_end().to_owned(),
            block: 0,
            start: (n * word(n).len()) as u32,
        };
        let links = (0..links).map(link).collect();
        Extracted { text: builder.text, blocks: builder.blocks, links, ..Extracted::default() }
    }

    #[test]
    fn no_more_links_are_read_than_are_wanted() {
        let address = Url::parse("https://news.example/naps").unwrap();
        let looked_at = Cell::new(0);
        let count = |_| {
            looked_at.set(looked_at.get() + 1);
            false
        };
        let page = one_line(20_000);
        let found = page.body_links(&address, 4, count);
        let texts: Vec<&str> = found.iter().map(|link| link.text.as_str()).collect();
        assert_eq!(texts, ["word000001", "word000002", "word000004", "word000005"]);
        assert!(found.iter().all(|link| link.context.contains(&link.text)));
        assert!(found.iter().all(|link| link.context.chars().count() <= MAX_CONTEXT));
        assert_eq!(looked_at.get(), 6);
        assert!(page.body_links(&address, 0, |_| panic!("no link is wanted")).is_empty());
    }

    #[test]
    fn a_limit_keeps_the_first_links_and_others_take_the_place_of_those_left_out() {
        let address = Url::parse("https://news.example/naps").unwrap();
        let page = one_line(30);
        let all = page.body_links(&address, usize::MAX, |_| false);
        assert_eq!(all.len(), 30);
        for most in 0..32 {
            assert_eq!(page.body_links(&address, most, |_| false), all[..most.min(30)], "{most}");
        }
        let odd: Vec<BodyLink> = all.iter().filter(|link| link.start % 2 == 1).cloned().collect();
        assert_eq!(page.body_links(&address, 5, |start| start % 2 == 0), odd[..5]);
    }

    /// The whole line around a place.
    fn whole_line(text: &[char], at: usize) -> (usize, usize) {
        let from = text[..at].iter().rposition(|c| *c == '\n').map_or(0, |end| end + 1);
        let to = text[at..].iter().position(|c| *c == '\n').map_or(text.len(), |end| at + end);
        (from, to)
    }

    proptest! {
        #[test]
        fn a_context_is_that_of_the_whole_line(
            lengths in prop::collection::vec(0..1_000_usize, 1..4),
            place in 0.0..1.0_f64,
        ) {
            let lines: Vec<String> = lengths.iter().map(|length| "x".repeat(*length)).collect();
            let text: Vec<char> = lines.join("\n").chars().collect();
            let at = (text.len() as f64 * place) as usize;
            let ((from, to), (first, last)) = (line(&text, at), whole_line(&text, at));
            prop_assert_eq!(around(at, from, to), around(at, first, last));
        }
    }
}
