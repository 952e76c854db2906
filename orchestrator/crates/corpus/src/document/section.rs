//! Where the sections and pages of a full text begin.

use crate::Document;
use serde::{Deserialize, Serialize};

/// A part of a document's full text under one heading and on one page.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Section {
    /// Its first line in [`Document::desc`], from 0.
    pub line: u32,
    /// Heading above it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heading: Option<String>,
    /// Page that it begins on, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u32>,
}

/// Paragraphs of a full text that stand together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passage<'a> {
    /// Heading above them.
    pub heading: Option<&'a str>,
    /// Page that they begin on, from 1.
    pub page: Option<u32>,
    /// One paragraph a line.
    pub text: &'a str,
}

impl Document {
    /// The full text by sections and pages, in order; a text without them is one passage.
    pub fn passages(&self) -> Vec<Passage<'_>> {
        let mut starts: Vec<usize> = vec![0];
        starts.extend(self.desc.match_indices('\n').map(|(at, _)| at + 1));
        let at = |line: u32| starts.get(line as usize).copied().unwrap_or(self.desc.len());
        let first = self.sections.first().map_or(self.desc.len(), |section| at(section.line));
        let before = Passage { heading: None, page: None, text: &self.desc[..first] };
        let following = self.sections.iter().skip(1).map(|section| at(section.line)).chain([self.desc.len()]);
        let parts = self.sections.iter().zip(following).map(|(section, end)| Passage {
            heading: section.heading.as_deref(),
            page: section.page,
            text: self.desc.get(at(section.line)..end).unwrap_or_default(),
        });
        std::iter::once(before)
            .chain(parts)
            .map(|passage| Passage { text: passage.text.trim_matches('\n'), ..passage })
            .filter(|passage| !passage.text.is_empty())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn section(line: u32, heading: &str, page: u32) -> Section {
        Section { line, heading: Some(heading.to_owned()), page: Some(page) }
    }

    #[test]
    fn passages_by_heading_and_page() {
        let document = Document {
            desc: "Before.\nWe asked forty adults.\nThey slept.\nNaps helped.".to_owned(),
            sections: vec![section(1, "Methods", 2), section(3, "Results", 4)],
            ..Document::default()
        };
        let found: Vec<_> = document.passages().iter().map(|p| (p.heading, p.page, p.text)).collect();
        assert_eq!(
            found,
            [
                (None, None, "Before."),
                (Some("Methods"), Some(2), "We asked forty adults.\nThey slept."),
                (Some("Results"), Some(4), "Naps helped."),
            ]
        );
        let plain = Document { desc: "One.\nTwo.".to_owned(), ..Document::default() };
        assert_eq!(plain.passages().len(), 1);
        assert!(Document::default().passages().is_empty());
    }

    proptest! {
        #[test]
        fn any_sections(desc in "[a\n]{0,20}", lines in prop::collection::vec(0_u32..30, 0..6)) {
            let sections = lines.into_iter().map(|line| section(line, "x", 1)).collect();
            let _ = Document { desc, sections, ..Document::default() }.passages();
        }
    }
}
