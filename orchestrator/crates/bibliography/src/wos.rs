//! Web of Science's plain text. The fields are those of RIS under other tags, some of which mean something else there.

use crate::tagged::{Group, Lines};
use crate::{Outcome, Source, ris};

#[derive(Default)]
pub(crate) struct WebOfScience {
    lines: Lines,
}

/// A tag and its value: `TI Title`.
fn tag(line: &str) -> Option<(&str, &str)> {
    let (tag, value) = line.split_at_checked(2)?;
    let is_tag = tag.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    (is_tag && (value.is_empty() || value.starts_with(' '))).then(|| (tag, value.trim()))
}

/// Whether a file begins with these lines.
pub(crate) fn begins(first: &str, second: &str) -> bool {
    tag(first).is_some_and(|(tag, _)| tag == "FN") && tag(second).is_some_and(|(tag, _)| tag == "VR")
}

impl Source for WebOfScience {
    fn next(&mut self, text: &str) -> Option<Outcome> {
        let mut group: Option<Group> = None;
        while let Some((number, line)) = self.lines.next(text) {
            match tag(line) {
                Some(("ER", _)) => {
                    if let Some(done) = group.take() {
                        return Some(finish(done));
                    }
                }
                Some(("FN" | "VR" | "EF", _)) => {}
                Some((tag, value)) => {
                    group.get_or_insert_with(|| Group::at(number)).add(tag, value);
                }
                None => {
                    if let Some(group) = group.as_mut().filter(|_| !line.is_empty()) {
                        group.extend(line.trim());
                    }
                }
            }
        }
        group.map(finish)
    }
}

/// The record under RIS's tags.
fn finish(group: Group) -> Outcome {
    if group.is_too_long() {
        return ris::finish(&group);
    }
    let mut same = Group::at(group.line);
    let has_full_names = group.first("AF").is_some();
    same.add("TY", kind(group.first("PT").unwrap_or_default(), group.first("DT").unwrap_or_default()));
    for field in group.fields {
        let tag = match field.tag.as_str() {
            "AU" if has_full_names => continue,
            "AF" | "AU" | "CA" => "AU",
            "BE" => "ED",
            "TI" => "TI",
            "SO" => "T2",
            "AB" => "AB",
            "DE" | "ID" => "KW",
            "LA" => "LA",
            "VL" => "VL",
            "IS" => "IS",
            "BP" => "SP",
            "EP" => "EP",
            "AR" => "AR",
            "PY" => "PY",
            "PD" => "DA",
            "DI" => "DO",
            "PM" => "PM",
            "SN" | "EI" | "BN" => "SN",
            "PU" => "PB",
            "PI" => "CY",
            "UT" => "ID",
            "DT" => "M3",
            _ => continue,
        };
        // Every line of these is a name; other values are wrapped.
        let value = if tag == "AU" || tag == "ED" { field.value } else { field.value.replace('\n', " ") };
        if tag == "M3" {
            value.split(';').for_each(|part| same.add(tag, part.trim()));
        } else {
            same.add(tag, &value);
        }
    }
    ris::finish(&same)
}

/// The type of a work under RIS's name. The types of the document say more than what it was published in, such as a book.
fn kind(published_in: &str, types: &str) -> &'static str {
    let types = types.replace('\n', " ");
    let has = |name: &str| types.split(';').any(|known| known.trim().eq_ignore_ascii_case(name));
    match published_in {
        _ if has("Book Chapter") => "CHAP",
        // A paper of a conference in a journal is an article, too.
        "J" if has("Article") => "JOUR",
        _ if has("Proceedings Paper") => "CPAPER",
        "B" => "BOOK",
        "P" => "PAT",
        _ => "JOUR",
    }
}
