//! PubMed's records as lines with tags (`.nbib`, MEDLINE).
//!
//! Tags: <https://www.nlm.nih.gov/bsd/mms/medlineelements.html>.

use crate::date::Date;
use crate::draft::{Draft, Slot};
use crate::names::{ordered, with_initials_last};
use crate::pubmed;
use crate::tagged::{Field, Group, Lines};
use crate::{Kind, MAX_RECORD, Outcome, Rejected, Source, ids};

#[derive(Default)]
pub(crate) struct Nbib {
    lines: Lines,
    next: Option<Group>,
}

/// A tag and its value: `TI  - Title`, `PMID- 1`.
fn tag(line: &str) -> Option<(&str, &str)> {
    let (tag, rest) = line.split_once('-')?;
    let name = tag.trim_end_matches(' ');
    let is_tag = (2..=4).contains(&name.len())
        && tag.len() <= 5
        && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    (is_tag && (tag.len() >= 4) && (rest.is_empty() || rest.starts_with(' ')))
        .then_some((name, rest.trim_start()))
}

/// Whether a line begins a record: `PMID- 1`, or `PMC - PMC1` in exports of PubMed Central.
pub(crate) fn begins(line: &str) -> bool {
    match tag(line) {
        Some(("PMID", value)) => value.bytes().next().is_some_and(|byte| byte.is_ascii_digit()),
        Some(("PMC", value)) => value.starts_with("PMC"),
        Some(("OWN", value)) => value == "ERIC",
        _ => false,
    }
}

impl Source for Nbib {
    fn next(&mut self, text: &str) -> Option<Outcome> {
        let mut group = self.next.take();
        while let Some((number, line)) = self.lines.next(text) {
            if line.is_empty() {
                if let Some(group) = group.take() {
                    return Some(finish(&group));
                }
                continue;
            }
            let Some((tag, value)) = tag(line) else {
                if let Some(group) = &mut group {
                    group.extend(line.trim_start());
                }
                continue;
            };
            // Records without a blank line between them.
            if tag == "PMID" && group.as_ref().is_some_and(|group| group.first("PMID").is_some()) {
                let mut begun = Group::at(number);
                begun.add(tag, value);
                self.next = Some(begun);
                return group.as_ref().map(finish);
            }
            group.get_or_insert_with(|| Group::at(number)).add(tag, value);
        }
        group.as_ref().map(finish)
    }
}

fn finish(group: &Group) -> Outcome {
    if group.is_too_long() {
        let reason = format!("longer than {} MiB", MAX_RECORD >> 20);
        return Err(Rejected { line: group.line, reason });
    }
    let mut draft = Draft::new(group.line);
    draft.kind(match (group.first("BTI"), group.first("TI")) {
        (None, _) => Kind::Article,
        (Some(_), None) => Kind::Book,
        (Some(_), Some(_)) => Kind::Chapter,
    });
    let types: Vec<&str> = group.all("PT").collect();
    pubmed::types(&mut draft, &types);
    draft.title(&pubmed::title(group.first("TI").unwrap_or_default()));
    draft.title(&pubmed::title(group.first("BTI").unwrap_or_default()));
    draft.title(group.first("TT").unwrap_or_default());
    for tag in ["JT", "TA", "BTI", "CTI"] {
        let is_own_title = tag == "BTI" && group.first("TI").is_none();
        draft.put(Slot::Venue, group.first(tag).filter(|_| !is_own_title).unwrap_or_default());
    }
    draft.put(Slot::Pages, &pubmed::pages(group.first("PG").unwrap_or_default()));
    draft.date(group.first("DP").and_then(Date::parse));
    draft.date(group.first("DEP").and_then(Date::parse));
    for Field { tag, value } in &group.fields {
        read(&mut draft, tag, &value.replace('\n', " "));
    }
    // Older records have initials only.
    for (tag, has) in [("AU", draft.has_authors()), ("ED", draft.has_editors())] {
        for name in group.all(tag).filter(|_| !has) {
            let name = if name.contains(',') { ordered(name) } else { with_initials_last(name) };
            if tag == "AU" { draft.author(&name) } else { draft.editor(&name) }
        }
    }
    group.all("CN").for_each(|name| draft.author(name));
    draft.finish()
}

fn read(draft: &mut Draft, tag: &str, value: &str) {
    let article =
        |kind: &str| value.split_once('[').filter(|(_, of)| of.starts_with(kind)).map(|(id, _)| id.trim());
    match tag {
        "PMID" => {
            draft.pmid(value);
            draft.key(value);
        }
        "PMC" => draft.pmcid(value),
        "FAU" => draft.author(&ordered(value)),
        "FED" => draft.editor(&ordered(value)),
        "VI" => draft.put(Slot::Volume, value),
        "IP" => draft.put(Slot::Issue, value),
        "PB" => draft.put(Slot::Publisher, value),
        // Of a journal, it is the country.
        "PL" if draft.kind_so_far() != Kind::Article => draft.put(Slot::Place, value),
        "EN" => draft.put(Slot::Edition, value),
        "IS" | "ISBN" | "ISSN" => draft.serials(value),
        "AID" | "LID" => {
            if let Some(doi) = article("doi") {
                draft.doi(doi);
            }
            if let Some(pii) = article("pii").filter(|_| tag == "LID") {
                draft.put(Slot::Pages, pii);
            }
            draft.url(value);
        }
        "AB" => draft.summary(value),
        "LA" => draft.language(value),
        "MH" => draft.tag(value.split('/').next().unwrap_or_default().trim_start_matches('*')),
        "OT" | "KW" => draft.tag(value.trim_start_matches('*')),
        "GN" => draft.note(value),
        "RIN" => draft.retracted(),
        "ROF" => draft.retracts(ids::in_text(value)),
        "UIN" | "UOF" | "RPI" | "RPF" => draft.version(ids::in_text(value)),
        _ => {}
    }
}
