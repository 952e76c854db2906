//! Tags, collections, and likely duplicates of a corpus, as text for a terminal.

use lyra_corpus::{CorpusInfo, Duplicates, Label, Labels};
use serde::Serialize;
use std::fmt::Write;

/// Tags and collections that are listed unless all are asked for.
const SHOWN: usize = 10;

/// A corpus with its tags and collections.
#[derive(Serialize)]
pub(super) struct Shown {
    #[serde(flatten)]
    pub(super) corpus: CorpusInfo,
    #[serde(flatten)]
    pub(super) labels: Labels,
}

/// Nothing for a corpus without tags and collections.
pub(super) fn labels(labels: &Labels, all: bool) -> String {
    let mut text = String::new();
    let mut list = |heading: &str, labels: &[Label]| {
        if labels.is_empty() {
            return;
        }
        let _ = writeln!(text, "\n{heading}");
        let shown = if all { labels.len() } else { SHOWN };
        for label in labels.iter().take(shown) {
            let _ = writeln!(text, "  {:>6}  {}", label.documents, label.name);
        }
        if labels.len() > shown {
            let _ = writeln!(text, "  … and {} more (--all lists them)", labels.len() - shown);
        }
    };
    list("collections", &labels.collections);
    list("tags", &labels.tags);
    text
}

pub(super) fn duplicates(groups: &[Duplicates]) -> String {
    let Some(last) = groups.len().checked_sub(1) else {
        return "no document looks like another\n".to_owned();
    };
    let mut text = String::new();
    for (nth, group) in groups.iter().enumerate() {
        let _ = writeln!(text, "{}. {}", nth + 1, group.reasons.join("; "));
        for document in &group.documents {
            let year = document.year.map(|year| year.to_string());
            let by: Vec<&str> = document.author.as_deref().into_iter().chain(year.as_deref()).collect();
            let by = if by.is_empty() { String::new() } else { format!(" ({})", by.join(", ")) };
            let _ = writeln!(text, "   {}{by} [{}]", document.title, document.doc_id);
        }
        if nth < last {
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use lyra_corpus::Alike;

    #[test]
    fn long_lists_are_cut() {
        let tags = (0..12).map(|nth| Label { name: format!("tag {nth}"), documents: 20 - nth }).collect();
        let all = Labels { tags, collections: Vec::new() };
        let text = labels(&all, false);
        assert!(text.starts_with("\ntags\n      20  tag 0\n"), "{text}");
        assert!(text.ends_with("tag 9\n  … and 2 more (--all lists them)\n"), "{text}");
        assert_eq!(labels(&all, true).lines().count(), 14);
        assert_eq!(labels(&Labels::default(), true), "");
    }

    #[test]
    fn groups_of_duplicates() {
        let alike = |id: &str, author: Option<&str>| Alike {
            doc_id: id.to_owned(),
            title: "Naps".to_owned(),
            author: author.map(str::to_owned),
            year: Some(2019),
            identifiers: Vec::new(),
        };
        let group = Duplicates {
            reasons: vec!["same identifier"],
            documents: vec![alike("a", Some("Ann Lee")), alike("b", None)],
        };
        let expect = "1. same identifier\n   Naps (Ann Lee, 2019) [a]\n   Naps (2019) [b]\n";
        assert_eq!(duplicates(&[group]), expect);
        assert_eq!(duplicates(&[]), "no document looks like another\n");
    }
}
