//! What only patents have: priorities, legal events, families, numbers under which others cite them.

use crate::Document;
use crate::backend::number;
use lyra_domain::Doi;
use lyra_text::normalise;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// An earlier application whose priority is claimed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Priority {
    /// Number of the application, as the source writes it; `None` where only its date is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<String>,
    /// Day of its filing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<jiff::civil::Date>,
}

/// An event of a patent's legal life, as its source says it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LegalEvent {
    /// Day on which the gazette published it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<jiff::civil::Date>,
    /// Code of the office: `AS`, `PG25`.
    pub code: String,
    /// What the code stands for.
    pub text: String,
}

impl Document {
    /// The first filing day of what it claims the priority of.
    pub fn priority_date(&self) -> Option<jiff::civil::Date> {
        self.priorities.iter().filter_map(|priority| priority.date).min()
    }

    /// The country that its own number names. A number without a kind of document may be anything, unless other fields
    /// say that this is a patent.
    pub(super) fn country_of_number(&self) -> Option<String> {
        let own = [&self.pub_id, &self.exam_id, &self.app_id];
        let is_patent = !self.codes.is_empty() || own.iter().any(|number| number.is_some());
        let numbers = std::iter::once(&self.doc_id).chain(own.into_iter().flatten());
        let found = numbers.filter_map(|id| number::office(id)).find(|(_, has_kind)| *has_kind || is_patent);
        found.map(|(office, _)| office).or_else(|| {
            let (office, _) = self.doc_id.split_once('-')?;
            (is_patent && number::is_office(&office.to_ascii_uppercase()))
                .then(|| office.to_ascii_uppercase())
        })
    }

    /// The keys under which others cite it.
    pub(crate) fn cited_keys(&self) -> BTreeSet<String> {
        let numbers = [&self.pub_id, &self.exam_id].into_iter().flatten();
        let dois = self.doi.iter().chain(self.versions.iter().filter_map(|version| version.doi.as_ref()));
        let mut keys: BTreeSet<String> = numbers.filter_map(|of| number::key(of)).collect();
        keys.extend(dois.map(|doi| format!("doi:{doi}")));
        keys.insert(citation_key(&self.doc_id));
        keys
    }

    /// The keys of what it cites.
    pub(crate) fn citing_keys(&self) -> BTreeSet<String> {
        self.references.iter().map(|of| citation_key(of)).collect()
    }

    /// What documents of one family have in common: the number of the family that a source gives (`family:`), numbers of
    /// one publication (`number:`) or application (`application:`), and the same set of priorities (`priorities:`), which is how
    /// the EPO's DOCDB defines a simple family.
    pub(crate) fn family_keys(&self) -> Vec<String> {
        let mut keys: Vec<String> = self.family_id.iter().map(|id| format!("family:{id}")).collect();
        let numbers = [Some(&self.doc_id), self.pub_id.as_ref(), self.exam_id.as_ref()].into_iter().flatten();
        let numbers: BTreeSet<String> = numbers.filter_map(|of| number::key(of)).collect();
        keys.extend(numbers.into_iter().map(|key| format!("number:{key}")));
        keys.extend(self.app_id.iter().map(|id| format!("application:{}", bare(id))));
        let priorities: BTreeSet<String> =
            self.priorities.iter().filter_map(|priority| priority.number.as_deref()).map(bare).collect();
        if !priorities.is_empty() {
            let all: Vec<String> = priorities.into_iter().collect();
            keys.push(format!("priorities:{}", all.join("+")));
        }
        keys
    }
}

/// The key of a cited document: of a patent, its number without its kind; of a paper, its DOI; else the text.
pub(crate) fn citation_key(written: &str) -> String {
    let text = normalise(written);
    let bare = text.strip_prefix("doi:").unwrap_or(&text);
    match Doi::parse(bare) {
        Some(doi) => format!("doi:{doi}"),
        None => number::key(&text).unwrap_or(text),
    }
}

/// Letters and digits in upper case.
fn bare(number: &str) -> String {
    normalise(number).to_uppercase().chars().filter(char::is_ascii_alphanumeric).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patent(id: &str) -> Document {
        Document { doc_id: id.to_owned(), title: "T".to_owned(), ..Document::default() }
    }

    #[test]
    fn the_country_is_in_the_number() {
        for (id, country) in [
            ("US-D0513425-S1", Some("US")),
            ("US-PP03823-P", Some("US")),
            ("EP1000000A1", Some("EP")),
            ("US-1234567", None),
            ("doc-0001", None),
            ("it-12345", None),
        ] {
            assert_eq!(patent(id).finish().unwrap().country.as_deref(), country, "{id}");
        }
        let applied = Document { app_id: Some("US-15000001".to_owned()), ..patent("a") };
        assert_eq!(applied.finish().unwrap().country.as_deref(), Some("US"));
    }

    #[test]
    fn keys_of_citations_and_families() {
        let grant = Document {
            pub_id: Some("US-20050004437-A1".to_owned()),
            references: vec!["US5678901".to_owned(), "10.1000/X".to_owned(), "Lee 2019".to_owned()],
            family_id: Some("19768124".to_owned()),
            priorities: vec![Priority { number: Some("NL 1010536".to_owned()), date: None }],
            ..patent("US-07272630-B2")
        };
        assert_eq!(Vec::from_iter(grant.cited_keys()), ["US2005/4437", "US7272630"]);
        assert_eq!(Vec::from_iter(grant.citing_keys()), ["Lee 2019", "US5678901", "doi:10.1000/x"]);
        let keys = ["family:19768124", "number:US2005/4437", "number:US7272630", "priorities:NL1010536"];
        assert_eq!(grant.family_keys(), keys);
        assert_eq!(citation_key("doi:10.1000/X"), "doi:10.1000/x");
    }
}
