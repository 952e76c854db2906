//! Records as RIS.

use crate::names::ordered;
use crate::text::{line, plain};
use crate::write::{Parts, guarded};
use crate::{Kind, Record};
use std::fmt::Write;

/// The record, up to its last line.
pub(crate) fn written(record: &Record, key: &str) -> String {
    let mut out = String::new();
    let mut tag = |tag: &str, value: &str| {
        if !value.is_empty() {
            let _ = write!(out, "{tag}  - {value}\r\n");
        }
    };
    let text = |value: &Option<String>| value.as_deref().map(shown).unwrap_or_default();
    tag("TY", record.kind.ris());
    tag("ID", key);
    tag("M3", if record.kind == Kind::Preprint { "Preprint" } else { "" });
    tag("TI", &shown(&record.title));
    for author in &record.authors {
        tag("AU", &name(&line(author)));
    }
    for editor in &record.editors {
        tag("A2", &name(&line(editor)));
    }
    let venue = match record.kind {
        Kind::Chapter | Kind::ConferencePaper => "T2",
        _ => "JF",
    };
    tag(venue, &text(&record.venue));
    let date = record.date.as_deref().unwrap_or_default();
    let year = date.split('-').next().filter(|year| !year.is_empty()).map(str::to_owned);
    tag("PY", &year.or_else(|| Some(record.year?.to_string())).unwrap_or_default());
    if date.len() > "2024".len() {
        tag("DA", &slashed(date));
    }
    tag("VL", &text(&record.volume));
    tag("IS", &text(&record.issue));
    pages(record, &mut tag);
    tag("PB", &text(&record.publisher));
    tag("CY", &text(&record.place));
    if record.kind != Kind::Article {
        tag("ET", &text(&record.edition));
    }
    for serial in record.isbn.iter().chain(&record.issn) {
        tag("SN", &line(serial));
    }
    tag("DO", record.doi.as_ref().map(lyra_domain::Doi::as_str).unwrap_or_default());
    if let Some(pmid) = &record.pmid {
        // Of a number alone, it is not known which database it is from.
        tag("AN", &line(pmid));
        tag("DB", "PubMed");
    }
    tag("C2", record.pmcid.as_deref().unwrap_or_default());
    tag("UR", &line(record.url.as_deref().unwrap_or_default()));
    tag("Y2", &record.accessed.as_deref().map(slashed).unwrap_or_default());
    tag("LA", &text(&record.language));
    tag("AB", &lines(record.abstract_text.as_deref().unwrap_or_default()));
    for word in &record.tags {
        // Programs read a semicolon as the end of a tag, also that of an entity.
        tag("KW", &line(word).replace(';', ","));
    }
    if let Some(arxiv) = &record.arxiv {
        tag("N1", &format!("arXiv:{arxiv}"));
    }
    tag("N1", if record.is_retracted { "Retracted" } else { "" });
    for note in &record.notes {
        tag("N1", &lines(note));
    }
    for file in &record.files {
        tag("L1", &line(&file.path));
    }
    out.push_str("ER  - \r\n");
    out
}

/// A date with the slashes of year, month, and day: `2024///`, `2024/05//`, `2024/05/31/`.
fn slashed(date: &str) -> String {
    let written = date.replace('-', "/");
    let missing = 3_usize.saturating_sub(written.matches('/').count());
    written + &"/".repeat(missing)
}

/// First and last page of one range; anything else in one field. Of a book, that would be how many it has.
fn pages(record: &Record, tag: &mut impl FnMut(&str, &str)) {
    let pages = shown(record.pages.as_deref().unwrap_or_default());
    match pages.split_once('-') {
        Some((first, last)) if first != last && !last.contains('-') && !pages.contains(',') => {
            tag("SP", first);
            tag("EP", last);
        }
        _ if matches!(record.kind, Kind::Book | Kind::Thesis) => tag("C7", &pages),
        _ => tag("SP", &pages),
    }
}

/// `Family, Given` or `Family, Given, Suffix` where that is read as the same name, else the name.
fn name(name: &str) -> String {
    let inverted = Parts::of(name).map(|parts| guarded(&parts.suffix_last()).into_owned());
    let is_same = |written: &String| line(&plain(&ordered(written))) == name;
    inverted.filter(is_same).unwrap_or_else(|| guarded(name).into_owned())
}

fn shown(text: impl AsRef<str>) -> String {
    guarded(&line(text.as_ref())).into_owned()
}

/// Several lines; those after the first begin with a blank, so that none is a tag.
fn lines(text: &str) -> String {
    let lines = text.lines().map(line).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
    guarded(&lines).replace('\n', "\r\n ")
}
