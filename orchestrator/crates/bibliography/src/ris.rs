//! RIS, as its many writers use it.

mod write;

pub(crate) use write::written;

use crate::date::Date;
use crate::draft::{Draft, Slot, is_web};
use crate::names::ordered;
use crate::tagged::{Field, Group, Lines};
use crate::{Attachment, Kind, MAX_RECORD, Outcome, Rejected, Source, ids};

#[derive(Default)]
pub(crate) struct Ris {
    lines: Lines,
    /// A record that began where the one before was not ended.
    next: Option<Group>,
    /// Whether the record at hand begins with `TY  - `: other lines of it that have a tag have such blanks, too.
    is_wide: bool,
}

/// A tag and its value: `TI  - Title`. Some writers put one space before the hyphen, or none after it.
fn tag(line: &str) -> Option<(&str, &str)> {
    let (tag, rest) = line.split_at_checked(2)?;
    let mut chars = tag.bytes();
    let is_tag = chars.next().is_some_and(|byte| byte.is_ascii_uppercase())
        && chars.next().is_some_and(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    let value = rest.strip_prefix("  -").or_else(|| rest.strip_prefix(" -"))?;
    (is_tag && !value.starts_with('-')).then_some((tag, value.trim_start()))
}

/// Whether a tag has two blanks before the hyphen, and one after it if there is a value.
fn is_wide(line: &str) -> bool {
    line.get(2..).is_some_and(|rest| rest == "  -" || rest.starts_with("  - "))
}

/// Whether a line begins a record.
pub(crate) fn begins(line: &str) -> bool {
    tag(line.trim_start_matches('\u{FEFF}')).is_some_and(|(tag, value)| {
        tag == "TY"
            && (2..=8).contains(&value.len())
            && value.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

impl Source for Ris {
    fn next(&mut self, text: &str) -> Option<Outcome> {
        let mut group = self.next.take();
        // Lines of a record without its beginning.
        let mut lost = None;
        while let Some((number, line)) = self.lines.next(text) {
            let may_wrap = group.is_some() && self.is_wide && !is_wide(line) && !begins(line);
            // What only looks like a tag continues the line before.
            let found = tag(line).filter(|found| !may_wrap || *found == ("ER", ""));
            match (found, &mut group) {
                (Some(("TY", value)), open) => {
                    self.is_wide = is_wide(line);
                    let mut begun = Group::at(number);
                    begun.add("TY", value);
                    let before = open.replace(begun);
                    if let Some(line) = lost {
                        self.next = group;
                        return Some(Err(no_type(line)));
                    }
                    if let Some(before) = before {
                        self.next = group;
                        return Some(finish(&before));
                    }
                }
                (Some(("ER", _)), Some(open)) => return Some(finish(open)),
                (Some(("ER", _)), None) => {
                    if let Some(line) = lost.take() {
                        return Some(Err(no_type(line)));
                    }
                }
                (Some((tag, value)), Some(open)) => open.add(tag, value),
                (Some(_), None) => drop(lost.get_or_insert(number)),
                (None, Some(open)) => open.extend(line),
                (None, None) => {}
            }
        }
        match (group, lost) {
            (Some(group), _) => Some(finish(&group)),
            (None, Some(line)) => Some(Err(no_type(line))),
            (None, None) => None,
        }
    }
}

fn no_type(line: u64) -> Rejected {
    Rejected { line, reason: "no line with `TY  - ` begins this record".to_owned() }
}

pub(crate) fn finish(group: &Group) -> Outcome {
    if group.is_too_long() {
        let reason = format!("longer than {} MiB", MAX_RECORD >> 20);
        return Err(Rejected { line: group.line, reason });
    }
    record(group)
}

fn record(group: &Group) -> Outcome {
    let mut draft = Draft::new(group.line);
    let kind = kind(group.first("TY").unwrap_or_default());
    draft.kind(kind);
    let is_whole = matches!(kind, Kind::Book | Kind::Proceedings | Kind::Thesis | Kind::Report);
    for tag in ["TI", "T1", "CT", if is_whole { "BT" } else { "TI" }, "ST"] {
        draft.title(group.first(tag).unwrap_or_default());
    }
    let venues: &[&str] = match kind {
        _ if is_whole => &["JF", "JO"],
        Kind::Chapter | Kind::ConferencePaper => &["T2", "BT", "C3", "JF", "JO", "J2", "T3"],
        _ => &["JF", "T2", "JO", "BT", "JA", "JI", "J2", "J1", "J9"],
    };
    for tag in venues {
        draft.put(Slot::Venue, group.first(tag).unwrap_or_default());
    }
    for tag in ["DA", "PY", "Y1"] {
        draft.date(group.first(tag).and_then(Date::parse));
    }
    // Web of Science writes `DA  - MAY 8` beside the year.
    draft.completed_date(group.first("DA").unwrap_or_default());
    pages(&mut draft, group);
    accession(&mut draft, group);
    custom(&mut draft, group);
    for field in &group.fields {
        read(&mut draft, field, kind);
    }
    draft.put(Slot::Issue, group.first("M1").filter(|_| kind == Kind::Article).unwrap_or_default());
    draft.finish()
}

fn read(draft: &mut Draft, Field { tag, value }: &Field, kind: Kind) {
    match tag.as_str() {
        "ID" | "LB" => draft.key(value),
        "AU" | "A1" => value.split('\n').for_each(|name| draft.author(&ordered(name))),
        "A2" | "ED" => value.split('\n').for_each(|name| draft.editor(&ordered(name))),
        "A3" if kind == Kind::Book => draft.editor(&ordered(value)),
        "VL" => draft.put(Slot::Volume, value),
        "IS" | "CP" => draft.put(Slot::Issue, value),
        "PB" => draft.put(Slot::Publisher, value),
        "CY" => draft.put(Slot::Place, value),
        // Of an article, EndNote writes the day on which it was online.
        "ET" if kind != Kind::Article => draft.put(Slot::Edition, value),
        "SN" => draft.serials(value),
        "DO" | "DI" => draft.doi(value),
        // The type of the work, or a DOI.
        "M3" if value.contains("10.") => draft.doi(value),
        "M3" if value.eq_ignore_ascii_case("retracted publication") => draft.retracted(),
        "M3" if kind == Kind::Manuscript && value.eq_ignore_ascii_case("preprint") => {
            draft.kind(Kind::Preprint);
        }
        "PM" => draft.pmid(value),
        "UR" | "LK" => draft.url(value),
        "Y2" => draft.accessed(Date::parse(value)),
        "AB" | "N2" => draft.summary(value),
        "LA" => draft.language(value),
        "KW" => value.split(['\n', ';']).for_each(|tag| draft.tag(tag)),
        "N1" | "RN" | "M2" => draft.note(value),
        "L1" | "L2" | "L4" => {
            for path in value.split('\n').flat_map(|line| line.split(';')).map(str::trim) {
                if is_web(path) {
                    draft.url(path);
                }
                if !path.is_empty() && (tag != "L2" || !is_web(path)) {
                    draft.file(Attachment { path: path.to_owned(), ..Attachment::default() });
                }
            }
        }
        _ => {}
    }
}

fn pages(draft: &mut Draft, group: &Group) {
    let start = group.first("SP").unwrap_or_default().trim();
    let end = group.first("EP").unwrap_or_default().trim();
    let is_range = start.contains(['-', '–']) || end.is_empty() || start == end;
    let of_book = matches!(draft.kind_so_far(), Kind::Book | Kind::Thesis) && end.is_empty();
    if !start.is_empty() && !of_book {
        draft.put(Slot::Pages, &if is_range { start.to_owned() } else { format!("{start}-{end}") });
    }
    // Scopus and EndNote put the number of an article here.
    for tag in ["AR", "C7"] {
        draft.put(Slot::Pages, group.first(tag).unwrap_or_default());
    }
}

/// The accession number is a PMID in records of PubMed and in files of earlier versions of Lyra; other databases have
/// numbers, too.
fn accession(draft: &mut Draft, group: &Group) {
    let Some(number) = group.first("AN") else { return };
    let database =
        ["DB", "DP"].into_iter().filter_map(|tag| group.first(tag)).collect::<String>().to_lowercase();
    let of_pubmed = ["pubmed", "medline", "nlm"].iter().any(|name| database.contains(name));
    let has_pmcid =
        group.first("C2").is_some_and(|value| ids::pmcid(value).is_some() && value.contains("PMC"));
    let of_lyra = group.first("ID").is_some_and(|id| id.starts_with("page_"));
    if of_pubmed || has_pmcid || of_lyra || number.trim().starts_with("PMID") {
        draft.pmid(number);
    }
}

/// `EndNote` puts the PMCID here, and Scopus the PMID.
fn custom(draft: &mut Draft, group: &Group) {
    let Some(id) = group.first("C2") else { return };
    let of_scopus = || {
        let said = ["DB", "DP", "UR"].into_iter().filter_map(|tag| group.first(tag));
        said.map(str::to_lowercase).any(|text| text.contains("scopus"))
    };
    if id.contains("PMC") {
        draft.pmcid(id);
    } else if of_scopus() {
        draft.pmid(id);
    }
}

fn kind(name: &str) -> Kind {
    match name.trim() {
        "JOUR" | "EJOUR" | "JFULL" | "ABST" | "INPR" => Kind::Article,
        "BOOK" | "EBOOK" | "EDBOOK" | "SER" | "CLSWK" => Kind::Book,
        "CHAP" | "ECHAP" | "ENCYC" | "DICT" => Kind::Chapter,
        "CPAPER" | "CONF" | "SLIDE" => Kind::ConferencePaper,
        "THES" => Kind::Thesis,
        "RPRT" | "GOVDOC" => Kind::Report,
        "ELEC" | "BLOG" | "ICOMM" | "WEB" => Kind::WebPage,
        "NEWS" | "MGZN" => Kind::News,
        "DATA" | "AGGR" | "DBASE" => Kind::Dataset,
        "COMP" => Kind::Software,
        "PAT" => Kind::Patent,
        "STAND" => Kind::Standard,
        "UNPB" | "UNPD" | "MANSCPT" | "PAMP" => Kind::Manuscript,
        _ => Kind::Other,
    }
}
