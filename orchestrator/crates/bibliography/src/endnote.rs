//! `EndNote`'s XML. Text is in `style` elements.

use crate::date::Date;
use crate::draft::{Draft, Slot};
use crate::names::ordered;
use crate::xml::Element;
use crate::{Attachment, Kind, Outcome};

pub(crate) fn record(line: u64, root: &Element) -> Outcome {
    let mut draft = Draft::new(line);
    let get = |path: &str| root.text_at(path);
    for path in ["label", "foreign-keys/key", "rec-number"] {
        draft.key(&get(path));
    }
    let reference = root.at("ref-type");
    let name = reference.and_then(|of| of.attribute("name")).unwrap_or_default();
    let kind = kind(name, &get("ref-type"));
    draft.kind(kind);
    for path in ["titles/title", "titles/short-title", "titles/translated-title"] {
        draft.title(&get(path));
    }
    for (group, are_editors) in [("authors", false), ("secondary-authors", true)] {
        let path = format!("contributors/{group}");
        for author in root.at(&path).into_iter().flat_map(|list| list.all("author")) {
            let name = ordered(&author.text());
            if are_editors { draft.editor(&name) } else { draft.author(&name) }
        }
    }
    let is_whole = matches!(kind, Kind::Book | Kind::Thesis | Kind::Report);
    for path in ["periodical/full-title", "titles/secondary-title", "titles/alt-title", "periodical/abbr-1"] {
        draft.put(Slot::Venue, &if is_whole { String::new() } else { get(path) });
    }
    draft.put(Slot::Volume, &get("volume"));
    draft.put(Slot::Issue, &get("number"));
    draft.put(Slot::Issue, &get("issue"));
    draft.put(Slot::Pages, &if kind == Kind::Book { String::new() } else { get("pages") });
    draft.put(Slot::Publisher, &get("publisher"));
    draft.put(Slot::Place, &get("pub-location"));
    // Of an article, it is the day on which it was online.
    draft.put(Slot::Edition, &if kind == Kind::Article { String::new() } else { get("edition") });
    dates(&mut draft, root);
    draft.doi(&get("electronic-resource-num"));
    draft.serials(&get("isbn"));
    // PubMed's PMCID, in journal articles.
    let second = get("custom2");
    if second.contains("PMC") {
        draft.pmcid(&second);
    }
    let provider =
        format!("{} {}", get("remote-database-name"), get("remote-database-provider")).to_lowercase();
    let of_pubmed =
        second.contains("PMC") || ["pubmed", "medline", "nlm"].iter().any(|name| provider.contains(name));
    if of_pubmed {
        draft.pmid(&get("accession-num"));
    }
    draft.summary(&get("abstract"));
    draft.language(&get("language"));
    for keyword in root.at("keywords").into_iter().flat_map(|list| list.all("keyword")) {
        // Some exports have all keywords in one element.
        keyword.text().split([';', '\n']).for_each(|tag| draft.tag(tag));
    }
    for path in ["research-notes", "notes"] {
        draft.note(&get(path));
    }
    addresses(&mut draft, root);
    draft.finish()
}

fn dates(draft: &mut Draft, root: &Element) {
    let year = root.text_at("dates/year");
    draft.date(Date::parse(&year));
    for day in root.at("dates/pub-dates").into_iter().flat_map(|list| list.all("date")) {
        // "Jan 5" beside the year, or a date of its own.
        draft.completed_date(&day.text());
        draft.date(Date::parse(&day.text()));
    }
}

fn addresses(draft: &mut Draft, root: &Element) {
    let Some(urls) = root.at("urls") else { return };
    for list in urls.elements() {
        for url in list.below("url") {
            let path = crate::text::line(&url.text());
            let is_web = crate::draft::is_web(&path);
            if is_web {
                draft.url(&path);
            }
            if list.name == "pdf-urls" || (!is_web && path.starts_with("internal-pdf:")) {
                draft.file(Attachment { path, ..Attachment::default() });
            }
        }
    }
}

fn kind(name: &str, number: &str) -> Kind {
    match (name.trim(), number.trim()) {
        ("Journal Article" | "Electronic Article", _) | ("", "17" | "43") => Kind::Article,
        ("Book" | "Edited Book" | "Electronic Book" | "Serial", _) | ("", "6" | "28" | "44" | "57") => {
            Kind::Book
        }
        ("Book Section" | "Electronic Book Section" | "Encyclopedia" | "Dictionary", _)
        | ("", "5" | "52" | "53" | "60") => Kind::Chapter,
        ("Conference Proceedings" | "Conference Paper", _) | ("", "10" | "47") => Kind::ConferencePaper,
        ("Thesis", _) | ("", "32") => Kind::Thesis,
        ("Preprint", _) => Kind::Preprint,
        ("Report" | "Government Document", _) | ("", "27" | "46") => Kind::Report,
        ("Web Page" | "Blog", _) | ("", "12" | "56") => Kind::WebPage,
        ("Newspaper Article" | "Magazine Article", _) | ("", "19" | "23") => Kind::News,
        ("Dataset", _) | ("", "59") => Kind::Dataset,
        ("Computer Program", _) | ("", "9") => Kind::Software,
        ("Patent", _) | ("", "25") => Kind::Patent,
        ("Standard", _) | ("", "58") => Kind::Standard,
        ("Manuscript" | "Unpublished Work", _) | ("", "34" | "36") => Kind::Manuscript,
        _ => Kind::Other,
    }
}
