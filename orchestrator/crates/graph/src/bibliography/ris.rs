//! RIS, for Zotero, Mendeley, `EndNote` and the like.

use super::names::Name;
use super::{Reference, line};
use std::fmt::Write;

/// The references as RIS records, in the order given, UTF-8 with CRLF line ends: `JOUR` for a work in a venue, `GEN`
/// for another work, `ELEC` for a web page. `ID` is the page's id; the keywords tell whether a work is `evidence`
/// or `cited` by evidence, and whether it is `retracted`.
pub fn ris(references: &[Reference]) -> String {
    references.iter().map(record).collect::<Vec<_>>().join("\r\n")
}

fn record(reference: &Reference) -> String {
    let kind = match (reference.is_work, &reference.venue) {
        (true, Some(_)) => "JOUR",
        (true, None) => "GEN",
        (false, _) => "ELEC",
    };
    let mut out = String::new();
    let mut tag = |tag: &str, value: &str| {
        let value = line(value);
        if !value.is_empty() {
            let _ = write!(out, "{tag}  - {value}\r\n");
        }
    };
    tag("TY", kind);
    tag("ID", &reference.page_id);
    tag("TI", &reference.title);
    for name in &reference.authors {
        tag("AU", &Name::read(name).invert());
    }
    tag("PY", &reference.year.map(|year| year.to_string()).unwrap_or_default());
    let venue = reference.venue.as_deref().unwrap_or_default();
    tag(if kind == "JOUR" { "JO" } else { "PB" }, venue);
    tag("DO", reference.doi.as_deref().unwrap_or_default());
    tag("AN", reference.pmid.as_deref().unwrap_or_default());
    tag("UR", reference.url.as_deref().unwrap_or_default());
    if !reference.is_work {
        // RIS writes days as 2026/11/20.
        tag("Y2", &reference.accessed.as_deref().unwrap_or_default().replace('-', "/"));
    }
    tag("KW", reference.role.keyword());
    if reference.is_retracted {
        tag("KW", "retracted");
        tag("N1", "Retracted");
    }
    out.push_str("ER  - \r\n");
    out
}
