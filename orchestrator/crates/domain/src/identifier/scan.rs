//! Finding identifiers in running text and in addresses.

use super::{ArxivId, Identifier};
use crate::Doi;

/// Reads the identifier that a text begins with.
type Reader = fn(&str) -> Option<Identifier>;

/// Prefixes of identifiers that are plain numbers or need a name, with their parsers.
const NAMED: &[(&str, Reader)] = &[
    ("pmid", |text| Identifier::pmid(leading(text, char::is_numeric))),
    ("pubmed id", |text| Identifier::pmid(leading(text, char::is_numeric))),
    ("pmcid", |text| Identifier::pmcid(leading(text, char::is_alphanumeric))),
    ("corpusid", |text| Identifier::corpus_id(leading(text, char::is_numeric))),
    ("corpus id", |text| Identifier::corpus_id(leading(text, char::is_numeric))),
    ("openalex", |text| Identifier::openalex(leading(text, char::is_alphanumeric))),
    ("arxiv", |text| ArxivId::at_start(text).map(|(id, _)| Identifier::Arxiv(id))),
];

pub(super) fn text(text: &str) -> Vec<Identifier> {
    let text = tidy(text);
    let mut found: Vec<(usize, Identifier)> = Vec::new();
    found.extend(Doi::all_in(&text).into_iter().map(|(at, doi)| (at, Identifier::Doi(doi))));
    // Byte offsets agree: only ASCII letters change case here.
    let lower = text.to_ascii_lowercase();
    for (name, read) in NAMED {
        for (at, _) in lower.match_indices(name).filter(|(at, _)| starts_word(&lower, *at)) {
            let value = text[at + name.len()..].trim_start_matches([':', '#', ' ', '\u{a0}', '=']);
            found.extend(read(value).map(|id| (at, id)));
        }
    }
    for (at, _) in lower.match_indices("pmc").filter(|(at, _)| starts_word(&lower, *at)) {
        let value = leading(&text[at..], char::is_alphanumeric);
        found.extend(Identifier::pmcid(value).map(|id| (at, id)));
    }
    for scheme in ["https://", "http://"] {
        for (at, _) in lower.match_indices(scheme) {
            let end = text[at..].find(|c: char| c.is_whitespace() || "\"<>".contains(c));
            let address = &text[at..end.map_or(text.len(), |end| at + end)];
            found.extend(
                url(address.trim_end_matches(['.', ',', ';', ')', ']'])).into_iter().map(|id| (at, id)),
            );
        }
    }
    found.sort_by_key(|(at, _)| *at);
    once(found.into_iter().map(|(_, id)| id))
}

pub(super) fn registrations(text: &str) -> Vec<Identifier> {
    // Byte offsets agree: only ASCII letters change case here.
    let lower = text.to_ascii_lowercase();
    let named = lower.match_indices("nct").filter(|(at, _)| starts_word(&lower, *at));
    once(named.filter_map(|(at, _)| Identifier::nct(leading(&text[at..], char::is_alphanumeric))))
}

pub(super) fn url(address: &str) -> Vec<Identifier> {
    let address = tidy(address.trim());
    let rest = address.split_once("://").map_or(address.as_str(), |(_, rest)| rest);
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = host.split(':').next().unwrap_or_default().to_ascii_lowercase();
    let host = host.strip_prefix("www.").unwrap_or(&host);
    let steps: Vec<&str> = path.split(['?', '#']).next().unwrap_or_default().split('/').collect();
    let within = |domain: &str| host == domain || host.strip_suffix(domain).is_some_and(|h| h.ends_with('.'));
    let mut found = Vec::new();
    if within("ncbi.nlm.nih.gov") || within("europepmc.org") {
        let numbered = host.starts_with("pubmed.")
            || steps
                .iter()
                .any(|step| step.eq_ignore_ascii_case("pubmed") || step.eq_ignore_ascii_case("med"));
        found.extend(
            steps
                .iter()
                .filter(|step| step.to_ascii_uppercase().starts_with("PMC"))
                .find_map(|s| Identifier::pmcid(s)),
        );
        if numbered {
            found.extend(steps.iter().find_map(|step| Identifier::pmid(step)));
        }
    } else if within("arxiv.org") {
        let start = path.find("abs/").or_else(|| path.find("pdf/")).or_else(|| path.find("html/"));
        let id = start.and_then(|at| path[at..].split_once('/'));
        found.extend(id.and_then(|(_, id)| ArxivId::at_start(id)).map(|(id, _)| Identifier::Arxiv(id)));
    } else if within("openalex.org") {
        found.extend(steps.iter().find_map(|step| Identifier::openalex(step)));
    } else if within("semanticscholar.org") {
        found.extend(steps.iter().find_map(|step| Identifier::semantic_scholar(step)));
        let named = steps
            .iter()
            .find_map(|step| step.split_once(':').filter(|(name, _)| name.eq_ignore_ascii_case("corpusid")));
        found.extend(named.and_then(|(_, number)| Identifier::corpus_id(number)));
    }
    found.extend(Doi::in_address(&address).map(Identifier::Doi));
    once(found.into_iter())
}

/// Cleans up copied text: decodes escapes, drops invisible characters, and normalizes hyphens.
fn tidy(text: &str) -> String {
    crate::doi::tidy(text)
}

fn starts_word(text: &str, at: usize) -> bool {
    text[..at].chars().next_back().is_none_or(|before| !before.is_alphanumeric())
}

fn leading(text: &str, keep: fn(char) -> bool) -> &str {
    &text[..text.find(|c| !keep(c)).unwrap_or(text.len())]
}

/// Each once, in order. An arXiv DOI also names the arXiv identifier.
fn once(found: impl Iterator<Item = Identifier>) -> Vec<Identifier> {
    let mut kept: Vec<Identifier> = Vec::new();
    for id in found {
        let arxiv = match &id {
            Identifier::Doi(doi) => doi.arxiv().map(Identifier::Arxiv),
            _ => None,
        };
        for id in [Some(id), arxiv].into_iter().flatten() {
            if !kept.contains(&id) {
                kept.push(id);
            }
        }
    }
    kept
}
