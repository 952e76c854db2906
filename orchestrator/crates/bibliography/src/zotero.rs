//! Zotero's own items as JSON: Better BibTeX JSON, and answers of Zotero's API.

mod database;

pub use database::{Parts, is_zotero, read_zotero};

use crate::date::Date;
use crate::draft::{Draft, Slot};
use crate::json::{Collections, list, member, text};
use crate::names::person;
use crate::text::line;
use crate::{Attachment, Kind, Outcome};
use serde_json::{Map, Value};

pub(crate) fn record(line: u64, item: &Map<String, Value>, collections: &Collections) -> Outcome {
    draft(line, item, collections).finish()
}

/// What the fields of an item say.
fn draft(line: u64, item: &Map<String, Value>, collections: &Collections) -> Draft {
    // The API wraps items.
    let item = item.get("data").and_then(Value::as_object).unwrap_or(item);
    let mut draft = Draft::new(line);
    let get = |name: &str| member(item, name);
    for name in ["citationKey", "citekey", "key", "itemKey"] {
        draft.key(&get(name));
    }
    let kind = kind(&get("itemType"));
    draft.kind(kind);
    for name in ["title", "caseName", "nameOfAct", "subject"] {
        draft.title(&get(name));
    }
    for creator in list(item, "creators").into_iter().filter_map(Value::as_object) {
        let part = |name: &str| member(creator, name);
        let name = match part("name") {
            whole if !whole.trim().is_empty() => whole,
            _ => person(&part("lastName"), &part("firstName"), ""),
        };
        match part("creatorType").as_str() {
            "editor" | "seriesEditor" => draft.editor(&name),
            "author" | "inventor" | "programmer" | "presenter" | "director" | "artist" | "podcaster" | "" => {
                draft.author(&name);
            }
            _ => {}
        }
    }
    let venues = [
        "publicationTitle",
        "bookTitle",
        "proceedingsTitle",
        "conferenceName",
        "websiteTitle",
        "blogTitle",
        "encyclopediaTitle",
        "dictionaryTitle",
        "forumTitle",
        "meetingName",
        "repository",
        "journalAbbreviation",
    ];
    for name in venues {
        draft.put(Slot::Venue, &get(name));
    }
    draft.put(Slot::Volume, &get("volume"));
    draft.put(Slot::Issue, &get("issue"));
    draft.put(Slot::Pages, &get("pages"));
    for name in ["publisher", "university", "institution", "company"] {
        draft.put(Slot::Publisher, &get(name));
    }
    draft.put(Slot::Place, &get("place"));
    draft.put(Slot::Edition, &get("edition"));
    let dates = ["date", "issueDate", "dateDecided", "dateEnacted", "filingDate"];
    draft.date(dates.into_iter().find_map(|name| Date::parse(&get(name))));
    draft.doi(&get("DOI"));
    draft.pmid(&get("PMID"));
    draft.pmcid(&get("PMCID"));
    draft.identify(&get("archiveID"));
    draft.serials(&get("ISBN"));
    draft.serials(&get("ISSN"));
    draft.url(&get("url"));
    draft.accessed(Date::parse(&get("accessDate")));
    draft.summary(&get("abstractNote"));
    draft.language(&get("language"));
    for tag in list(item, "tags") {
        draft.tag(&tag.as_object().map_or_else(|| text(tag), |tag| member(tag, "tag")));
    }
    for name in ["itemID", "key", "itemKey"] {
        collections.of(&get(name)).for_each(|path| draft.collection(path));
    }
    for note in list(item, "notes") {
        draft.note(&note.as_object().map_or_else(|| text(note), |note| member(note, "note")));
    }
    draft.note(&get("extra"));
    for file in list(item, "attachments").into_iter().filter_map(Value::as_object) {
        attachment(&mut draft, file);
    }
    draft
}

fn attachment(draft: &mut Draft, file: &Map<String, Value>) {
    let part = |name: &str| Some(line(&member(file, name))).filter(|text| !text.is_empty());
    let path = |name: &str| Some(member(file, name)).filter(|path| !path.trim().is_empty());
    // Links have an address and no path.
    if let Some(path) = ["localPath", "path", "defaultPath"].into_iter().find_map(path) {
        draft.file(Attachment {
            path,
            title: part("title"),
            media_type: part("mimeType").or_else(|| part("contentType")),
        });
    }
    for note in list(file, "annotations").into_iter().filter_map(Value::as_object) {
        let names = ["annotationText", "annotationComment", "annotationPageLabel", "annotationColor"];
        let [marked, comment, page, color] = names.map(|name| member(note, name));
        draft.annotation(&marked, &comment, &page, &color);
    }
}

/// What a type of Zotero is.
pub(crate) fn kind(name: &str) -> Kind {
    match name {
        "journalArticle" => Kind::Article,
        "book" => Kind::Book,
        "bookSection" | "dictionaryEntry" | "encyclopediaArticle" => Kind::Chapter,
        "conferencePaper" | "presentation" => Kind::ConferencePaper,
        "thesis" => Kind::Thesis,
        "preprint" => Kind::Preprint,
        "report" => Kind::Report,
        "webpage" | "blogPost" | "forumPost" => Kind::WebPage,
        "magazineArticle" | "newspaperArticle" => Kind::News,
        "dataset" => Kind::Dataset,
        "computerProgram" => Kind::Software,
        "patent" => Kind::Patent,
        "standard" => Kind::Standard,
        "manuscript" => Kind::Manuscript,
        _ => Kind::Other,
    }
}
