//! RIS, for Zotero, Mendeley, `EndNote` and the like.

use super::names::Name;
use super::{Reference, line};
use lyra_domain::WorkKind;
use std::fmt::Write;

/// The references as RIS records, in the order given, UTF-8 with CRLF line ends, of the type that their source says.
/// Without one, it is `JOUR` for a work in a venue, `GEN` for another work, `ELEC` for a web page. `ID` is the page's id;
/// the keywords tell whether a work is `evidence` or `cited` by evidence, and whether it is `retracted`.
pub fn ris(references: &[Reference]) -> String {
    references.iter().map(record).collect::<Vec<_>>().join("\r\n")
}

fn record(reference: &Reference) -> String {
    let otherwise = if reference.is_work { WorkKind::Other } else { WorkKind::WebPage };
    let kind = reference.kind().unwrap_or(otherwise);
    let imprint = &reference.imprint;
    let mut out = String::new();
    let mut tag = |tag: &str, value: &str| {
        let value = line(value);
        if !value.is_empty() {
            let _ = write!(out, "{tag}  - {value}\r\n");
        }
    };
    tag("TY", kind.ris());
    tag("ID", &reference.page_id);
    tag("M3", if kind == WorkKind::Preprint { "Preprint" } else { "" });
    tag("TI", &reference.title);
    for name in &reference.authors {
        tag("AU", &Name::read(name).suffix_last());
    }
    for name in &imprint.editors {
        tag("A2", &Name::read(name).suffix_last());
    }
    tag("PY", &reference.year.map(|year| year.to_string()).unwrap_or_default());
    let container = match kind {
        WorkKind::Article | WorkKind::News => "JO",
        // A site takes the place of a publisher.
        _ if imprint.publisher.is_none() && !kind.is_part() => "PB",
        _ => "T2",
    };
    tag(container, &reference.container().unwrap_or_default());
    tag("PB", imprint.publisher.as_deref().unwrap_or_default());
    tag("CY", imprint.place.as_deref().unwrap_or_default());
    // Of an article, programs read the day on which it was online.
    if kind != WorkKind::Article {
        tag("ET", imprint.edition.as_deref().unwrap_or_default());
    }
    for number in imprint.isbn.iter().chain(&imprint.issn) {
        tag("SN", number);
    }
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
