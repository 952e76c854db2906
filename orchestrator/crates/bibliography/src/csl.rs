//! CSL-JSON: <https://github.com/citation-style-language/schema>.
//!
//! Crossref's variant, with lists for texts, is read too.

mod write;

pub(crate) use write::written;

use crate::date::Date;
use crate::draft::{Draft, Slot};
use crate::json::{Collections, list, member, text};
use crate::names::{ordered, person};
use crate::{Attachment, Kind, Outcome};
use serde_json::{Map, Value};

pub(crate) fn record(line: u64, item: &Map<String, Value>, _: &Collections) -> Outcome {
    let mut draft = Draft::new(line);
    let get = |name: &str| member(item, name);
    for name in ["citation-key", "id", "citation-label"] {
        draft.key(&get(name));
    }
    let archive = format!("{} {}", get("archive"), get("number"));
    let kind = kind(&get("type")).unwrap_or(Kind::Other);
    draft.kind(kind);
    draft.titled(
        &get("title"),
        &if item.get("title").is_some_and(Value::is_array) { get("subtitle") } else { String::new() },
    );
    for author in list(item, "author") {
        draft.author(&name(author));
    }
    for editor in list(item, "editor") {
        draft.editor(&name(editor));
    }
    for name in ["container-title", "event-title", "event", "container-title-short", "journalAbbreviation"] {
        draft.put(Slot::Venue, &get(name));
    }
    draft.put(Slot::Volume, &get("volume"));
    draft.put(Slot::Issue, &get("issue"));
    draft.put(Slot::Pages, &get("page"));
    for name in ["article-number", "number"] {
        draft.put(Slot::Pages, &if kind == Kind::Article { get(name) } else { String::new() });
    }
    draft.put(Slot::Publisher, &get("publisher"));
    for name in ["publisher-place", "publisher-location"] {
        draft.put(Slot::Place, &get(name));
    }
    for name in ["edition", "edition-number"] {
        draft.put(Slot::Edition, &get(name));
    }
    for name in ["issued", "published", "published-print", "published-online", "submitted"] {
        draft.date(item.get(name).and_then(date));
    }
    draft.doi(&get("DOI"));
    draft.pmid(&get("PMID"));
    draft.pmcid(&get("PMCID"));
    if archive.to_lowercase().contains("arxiv") {
        draft.arxiv(&get("archive_location"));
        draft.identify(&archive);
    }
    for name in ["ISBN", "ISSN"] {
        for value in list(item, name) {
            draft.serials(&text(value));
        }
    }
    draft.url(&get("URL"));
    draft.accessed(item.get("accessed").and_then(date));
    draft.summary(&get("abstract"));
    draft.language(&get("language"));
    for words in list(item, "keyword") {
        for tag in text(words).split([',', ';']) {
            draft.tag(tag);
        }
    }
    for tag in list(item, "categories") {
        draft.tag(&text(tag));
    }
    let custom = item.get("custom").and_then(Value::as_object);
    let own = |name: &str| custom.map(|custom| list(custom, name)).unwrap_or_default();
    for collection in own("collections") {
        draft.collection(&text(collection));
    }
    for file in own("files") {
        if let Ok(file) = serde_json::from_value::<Attachment>(file.clone()) {
            draft.file(file);
        }
    }
    let notes = own("notes");
    if notes.is_empty() {
        draft.note(&get("note"));
    }
    for note in notes {
        draft.note(&text(note));
    }
    draft.note(&get("annote"));
    if get("status").eq_ignore_ascii_case("retracted") {
        draft.retracted();
    }
    draft.finish()
}

/// `{"family", "given", "non-dropping-particle", …}`, `{"literal"}`, `{"name"}`, or a text.
fn name(value: &Value) -> String {
    let Value::Object(parts) = value else { return ordered(&text(value)) };
    let part = |name: &str| member(parts, name);
    let family = part("family");
    if family.trim().is_empty() {
        let whole = ["literal", "name", "given"].map(part);
        return whole.into_iter().find(|name| !name.trim().is_empty()).unwrap_or_default();
    }
    let particles = [part("dropping-particle"), part("non-dropping-particle"), family].join(" ");
    person(&particles, &part("given"), &part("suffix"))
}

/// `{"date-parts": [[2024, 5, 31]]}`, `{"raw": "…"}`, `{"literal": "…"}`, or a text.
fn date(value: &Value) -> Option<Date> {
    let Value::Object(parts) = value else { return Date::parse(&text(value)) };
    let first = parts.get("date-parts").and_then(|parts| parts.get(0)?.as_array());
    let mut numbers = first.into_iter().flatten().map(|part| text(part).trim().parse::<i32>().ok());
    let mut next = || numbers.next().flatten();
    if let Some(year) = next() {
        let small = |number: i32| u32::try_from(number).ok();
        return Date::new(year, next().and_then(small), next().and_then(small));
    }
    ["raw", "literal", "date-time"].iter().find_map(|name| Date::parse(&member(parts, name)))
}

/// What a type is; `None` if there is no such type. Crossref's types are among them.
pub(crate) fn kind(name: &str) -> Option<Kind> {
    Some(match name {
        "article-journal" | "review" | "review-book" | "journal-article" => Kind::Article,
        "article" | "posted-content" => Kind::Preprint,
        "article-magazine" | "article-newspaper" => Kind::News,
        "book" | "monograph" | "edited-book" | "reference-book" | "collection" | "classic" => Kind::Book,
        "chapter" | "entry" | "entry-dictionary" | "entry-encyclopedia" | "book-chapter" | "book-section" => {
            Kind::Chapter
        }
        "paper-conference" | "speech" | "proceedings-article" => Kind::ConferencePaper,
        "proceedings" => Kind::Proceedings,
        "thesis" | "dissertation" => Kind::Thesis,
        "report" | "report-component" => Kind::Report,
        "webpage" | "post" | "post-weblog" => Kind::WebPage,
        "dataset" => Kind::Dataset,
        "software" => Kind::Software,
        "patent" => Kind::Patent,
        "standard" => Kind::Standard,
        "manuscript" => Kind::Manuscript,
        "bill"
        | "broadcast"
        | "document"
        | "event"
        | "figure"
        | "graphic"
        | "hearing"
        | "interview"
        | "legal_case"
        | "legislation"
        | "map"
        | "motion_picture"
        | "musical_score"
        | "pamphlet"
        | "performance"
        | "periodical"
        | "personal_communication"
        | "regulation"
        | "song"
        | "treaty" => Kind::Other,
        _ => return None,
    })
}
