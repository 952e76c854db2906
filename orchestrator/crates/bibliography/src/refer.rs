//! `EndNote`'s lines with tags (`.enw`, Refer), which Google Scholar and publishers write, too. The fields are those of
//! RIS under other tags.

use crate::tagged::{Group, Lines};
use crate::{Outcome, Source, ris};

#[derive(Default)]
pub(crate) struct Refer {
    lines: Lines,
    next: Option<Group>,
}

/// A tag and its value: `%T Title`.
fn tag(line: &str) -> Option<(char, &str)> {
    let mut chars = line.strip_prefix('%')?.chars();
    let tag = chars.next().filter(char::is_ascii_graphic)?;
    let value = chars.as_str();
    (value.is_empty() || value.starts_with([' ', '\t'])).then(|| (tag, value.trim()))
}

/// Whether a line begins a record.
pub(crate) fn begins(line: &str) -> bool {
    tag(line).is_some_and(|(tag, value)| tag == '0' && !kind(value).is_empty())
}

impl Source for Refer {
    fn next(&mut self, text: &str) -> Option<Outcome> {
        let mut group = self.next.take();
        while let Some((number, line)) = self.lines.next(text) {
            match (tag(line), &mut group) {
                (Some(('0', value)), _) => {
                    let mut begun = Group::at(number);
                    begun.add("TY", if kind(value).is_empty() { "GEN" } else { kind(value) });
                    if let Some(before) = group.replace(begun) {
                        self.next = group;
                        return Some(ris::finish(&before));
                    }
                }
                (Some((tag, value)), Some(open)) => open.add(ris_tag(tag), value),
                (None, Some(open)) if !line.is_empty() => open.extend(line),
                _ => {}
            }
        }
        group.as_ref().map(ris::finish)
    }
}

fn ris_tag(tag: char) -> &'static str {
    match tag {
        'T' => "TI",
        'A' => "AU",
        'E' => "ED",
        'J' => "JF",
        'B' => "T2",
        'V' => "VL",
        'N' => "IS",
        'P' => "SP",
        'D' => "PY",
        '8' => "DA",
        'I' => "PB",
        'C' => "CY",
        '7' => "ET",
        'X' => "AB",
        'K' => "KW",
        'U' => "UR",
        'R' => "DO",
        '@' => "SN",
        'M' => "AN",
        'W' => "DB",
        'G' => "LA",
        'F' => "ID",
        'Z' | '<' => "N1",
        '>' => "L1",
        '2' => "C2",
        // What is not read.
        _ => "XX",
    }
}

fn kind(name: &str) -> &'static str {
    match name {
        "Journal Article" | "Electronic Article" => "JOUR",
        "Book" | "Edited Book" | "Electronic Book" => "BOOK",
        "Book Section" | "Electronic Book Section" | "Encyclopedia" => "CHAP",
        "Conference Proceedings" | "Conference Paper" => "CPAPER",
        "Thesis" => "THES",
        "Report" | "Government Document" => "RPRT",
        "Web Page" | "Blog" | "Electronic Source" => "ELEC",
        "Newspaper Article" | "Magazine Article" => "NEWS",
        "Dataset" => "DATA",
        "Computer Program" => "COMP",
        "Patent" => "PAT",
        "Standard" => "STAND",
        "Manuscript" | "Unpublished Work" => "UNPB",
        "Generic" => "GEN",
        _ => "",
    }
}
