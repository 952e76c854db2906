//! A scholarly work as an API describes it.

use lyra_domain::{Identifier, Imprint, Work, WorkKind};
use lyra_research::ports::Hit;
use lyra_text::{Analysis, tokens};
use lyra_web::bounds;

/// Metadata and abstract of a work.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Paper {
    /// Metadata, every identifier the API knows included.
    pub work: Work,
    /// Abstract, when the API may show it.
    pub abstract_text: Option<String>,
    /// ISO 639-1 code, if the API reports it.
    pub language: Option<String>,
    /// Page about it.
    pub url: String,
}

impl Paper {
    /// As the hit of a source at this rank, from 1, with texts in bounds. The API's order is its score.
    pub fn into_hit(self, rank: usize) -> Hit {
        let work = self.work;
        let work = Work {
            title: bounds::title(work.title),
            venue: work.venue.map(bounds::title),
            imprint: bounds::imprint(work.imprint),
            authors: bounds::authors(work.authors),
            references: bounds::references(work.references),
            ..work
        };
        Hit {
            rank,
            score: 1.0 / rank.max(1) as f64,
            work,
            url: self.url,
            document: None,
            language: self.language,
            text: self.abstract_text.map(bounds::abstract_text),
            embedding: None,
        }
    }
}

/// Hits in the order of the papers.
pub(crate) fn hits(papers: Vec<Paper>) -> Vec<Hit> {
    papers.into_iter().enumerate().map(|(i, paper)| paper.into_hit(i + 1)).collect()
}

/// Address of the work: its DOI's resolver, else the API's.
pub(crate) fn address(work: &Work, named: Option<String>) -> String {
    match &work.doi {
        Some(doi) => format!("https://doi.org/{doi}"),
        None => {
            named.unwrap_or_else(|| work.identifiers().next().map(|id| id.to_string()).unwrap_or_default())
        }
    }
}

/// The trimmed text; `None` when it is empty.
pub(crate) fn filled(text: Option<String>) -> Option<String> {
    text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// What a work is, by a catalog's word for it, and who published it.
pub(crate) fn imprint(kind: Option<&str>, publisher: Option<String>) -> Imprint {
    Imprint { kind: kind.and_then(WorkKind::of_catalog), publisher: filled(publisher), ..Imprint::default() }
}

/// The query in plain words: characters that search languages read as operators become blanks.
pub(crate) fn plain_words(query: &str) -> String {
    let plain: String =
        query.chars().map(|c| if "?*~\"()|,:+<>{}[]^\\/!&".contains(c) { ' ' } else { c }).collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The words of a query that say what it is about, in lower case: for APIs that find only what has every word.
pub(crate) fn telling_words(query: &str) -> Vec<String> {
    // What joins letters within a word is an operator elsewhere: a colon names a field.
    let bare = query.replace(|c: char| !c.is_alphanumeric(), " ");
    let words = |stop| tokens(&bare, Analysis { stem: false, stop }).into_iter().map(|token| token.text);
    let telling: Vec<String> = words(true).collect();
    if telling.is_empty() { words(false).collect() } else { telling }
}

/// Whether a title says, as publishers write it in front, that the work was retracted or withdrawn.
pub(crate) fn says_retracted(title: &str) -> bool {
    let title = title.trim_start().to_lowercase();
    let title = title.trim_start_matches('[');
    ["retracted:", "retracted article:", "retracted]", "withdrawn:", "withdrawn article:", "withdrawn]"]
        .iter()
        .any(|mark| title.starts_with(mark))
}

/// Each identifier once, in a fixed order.
pub(crate) fn once(ids: &[Identifier]) -> Vec<Identifier> {
    let mut ids = ids.to_vec();
    ids.sort();
    ids.dedup();
    ids
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_a_hit_are_bounded() {
        let long = "naps and sleep ".repeat(40_000);
        let work = Work {
            title: long.clone(),
            venue: Some(long.clone()),
            imprint: Imprint {
                publisher: Some(long.clone()),
                editors: vec![long.clone(); 3],
                isbn: vec!["9783161484100".to_owned(); 50_000],
                ..Imprint::default()
            },
            authors: vec![long.clone(); 3],
            references: vec!["10.1000/nap".to_owned(); 50_000],
            ..Work::default()
        };
        let paper = Paper { work, abstract_text: Some(long), ..Paper::default() };
        let Hit { work, text, .. } = paper.into_hit(1);
        let length = |text: &str| text.chars().count();
        assert!(length(&work.title) <= bounds::MAX_TITLE && length(&text.unwrap()) <= bounds::MAX_ABSTRACT);
        assert!(length(&work.venue.unwrap()) <= bounds::MAX_TITLE);
        let imprint = work.imprint;
        assert!(length(&imprint.publisher.unwrap()) <= bounds::MAX_TITLE);
        assert!(imprint.editors.iter().all(|name| length(name) <= bounds::MAX_NAME));
        assert_eq!(imprint.isbn.len(), bounds::MAX_SERIALS.0);
        assert!(work.authors.len() == 3 && work.authors.iter().all(|name| length(name) <= bounds::MAX_NAME));
        assert_eq!(work.references.len(), bounds::MAX_REFERENCES);
    }

    #[test]
    fn words_that_tell_are_kept() {
        assert_eq!(telling_words("Does a daytime nap (20-min) improve memory?").join(" "), {
            "daytime nap 20 min improve memory"
        });
        assert_eq!(telling_words("Why is it?"), ["why", "is", "it"]);
        assert!(telling_words(" ?! ").is_empty());
    }

    #[test]
    fn titles_that_say_retracted() {
        for title in ["RETRACTED: Naps", "Retracted Article: Naps", "[Retracted] Naps", "WITHDRAWN: Naps"] {
            assert!(says_retracted(title), "{title}");
        }
        for title in ["Retraction: Naps", "Retracted articles and who cites them", "Naps"] {
            assert!(!says_retracted(title), "{title}");
        }
    }
}
