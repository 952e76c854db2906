//! MODS: <https://www.loc.gov/standards/mods/userguide/>.

use crate::date::Date;
use crate::draft::{Draft, Slot};
use crate::names::{ordered, person};
use crate::xml::Element;
use crate::{Kind, Outcome, ids};
use lyra_domain::Identifier;

pub(crate) fn record(line: u64, root: &Element) -> Outcome {
    let mut draft = Draft::new(line);
    let host = root.all("relatedItem").find(|item| item.has("type", "host"));
    draft.key(root.attribute("ID").unwrap_or_default());
    draft.key(&root.text_at("recordInfo/recordIdentifier"));
    draft.kind(kind(root, host));
    let (title, subtitle) = title(root);
    draft.titled(&title, &subtitle);
    for element in root.all("name") {
        let name = name(element);
        let roles: Vec<String> =
            element.below("roleTerm").into_iter().map(|role| role.text().trim().to_lowercase()).collect();
        if roles.iter().any(|role| matches!(role.as_str(), "editor" | "edt")) {
            draft.editor(&name);
        } else if roles.is_empty()
            || roles.iter().any(|role| matches!(role.as_str(), "author" | "aut" | "creator" | "cre"))
        {
            draft.author(&name);
        }
    }
    identifiers(&mut draft, root);
    for origin in root.all("originInfo").chain(host.into_iter().flat_map(|host| host.all("originInfo"))) {
        draft.put(Slot::Publisher, &origin.text_at("publisher"));
        let places = origin.all("place").flat_map(|place| place.all("placeTerm"));
        // Others are codes of countries.
        for place in places.filter(|place| !place.has("type", "code")) {
            draft.put(Slot::Place, &place.text());
        }
        draft.put(Slot::Edition, &origin.text_at("edition"));
        for name in ["dateIssued", "copyrightDate", "dateCreated"] {
            draft.date(origin.all(name).find_map(|date| Date::parse(&date.text())));
        }
    }
    if let Some(host) = host {
        let (title, subtitle) = self::title(host);
        draft.put(Slot::Venue, &if subtitle.is_empty() { title } else { format!("{title}: {subtitle}") });
        for id in host.all("identifier").filter(|id| !id.has("type", "doi")) {
            draft.serials(&id.text());
        }
    }
    for part in root.all("part").chain(host.into_iter().flat_map(|host| host.all("part"))) {
        self::part(&mut draft, part);
    }
    draft.summary(&root.text_at("abstract"));
    draft.language(&root.text_at("language/languageTerm"));
    for subject in root.all("subject") {
        for topic in
            subject.elements().filter(|e| matches!(e.name.as_str(), "topic" | "geographic" | "temporal"))
        {
            draft.tag(&topic.text());
        }
    }
    for location in root.all("location").flat_map(|location| location.all("url")) {
        draft.url(&location.text());
    }
    for note in root.all("note") {
        draft.note(&note.text());
    }
    for other in root.all("relatedItem").filter(|item| item.has("type", "otherVersion")) {
        let versions =
            other.all("identifier").filter(|id| id.has("type", "doi")).filter_map(|id| ids::doi(&id.text()));
        draft.version(versions.map(Identifier::Doi).collect());
    }
    draft.finish()
}

fn identifiers(draft: &mut Draft, root: &Element) {
    for id in root.all("identifier").filter(|id| !id.has("invalid", "yes")) {
        let value = id.text();
        match id.attribute("type").unwrap_or_default().to_lowercase().as_str() {
            "doi" => draft.doi(&value),
            "isbn" | "issn" => draft.serials(&value),
            "pmid" | "pubmed" => draft.pmid(&value),
            "pmc" | "pmcid" => draft.pmcid(&value),
            "arxiv" => draft.arxiv(&value),
            "uri" | "url" => draft.url(&value),
            "citekey" | "citation-key" => draft.key(&value),
            _ => {}
        }
    }
}

/// The title that is no abbreviation and no translation, with its article, and the subtitle.
fn title(of: &Element) -> (String, String) {
    let info =
        of.all("titleInfo").find(|info| info.attribute("type").is_none()).or_else(|| of.at("titleInfo"));
    let Some(info) = info else { return Default::default() };
    let article = info.text_at("nonSort");
    let blank = if article.is_empty() || article.ends_with([' ', '\'', '’', '-']) { "" } else { " " };
    (format!("{article}{blank}{}", info.text_at("title")), info.text_at("subTitle"))
}

fn name(element: &Element) -> String {
    let part = |kind: &str| {
        let parts = element.all("namePart").filter(|part| part.has("type", kind)).map(Element::text);
        parts.collect::<Vec<_>>().join(" ")
    };
    let family = part("family");
    if family.trim().is_empty() {
        let whole = element.all("namePart").find(|part| part.attribute("type").is_none());
        return ordered(&whole.map(Element::text).unwrap_or_default());
    }
    person(&family, &part("given"), &part("termsOfAddress"))
}

fn part(draft: &mut Draft, part: &Element) {
    for detail in part.all("detail") {
        let number = detail.text_at("number");
        match detail.attribute("type").unwrap_or_default() {
            "volume" => draft.put(Slot::Volume, &number),
            "issue" | "number" => draft.put(Slot::Issue, &number),
            "page" => draft.put(Slot::Pages, &number),
            _ => {}
        }
    }
    for extent in
        part.all("extent").filter(|extent| extent.attribute("unit").is_none_or(|u| u.starts_with("page")))
    {
        let [start, end] = [extent.text_at("start"), extent.text_at("end")];
        draft.put(Slot::Pages, &if end.trim().is_empty() { start } else { format!("{start}-{end}") });
        draft.put(Slot::Pages, &extent.text_at("list"));
    }
    draft.date(Date::parse(&part.text_at("date")));
}

fn kind(root: &Element, host: Option<&Element>) -> Kind {
    let genres: Vec<String> = root.all("genre").map(|genre| genre.text().trim().to_lowercase()).collect();
    let is = |words: &[&str]| genres.iter().any(|genre| words.iter().any(|word| genre.contains(word)));
    let of_host = |word: &str| {
        host.is_some_and(|host| host.all("genre").any(|g| g.text().to_lowercase().contains(word)))
    };
    if is(&["journalarticle", "journal article", "article"]) {
        Kind::Article
    } else if is(&["preprint"]) {
        Kind::Preprint
    } else if is(&["thesis", "dissertation"]) {
        Kind::Thesis
    } else if is(&["conferencepaper", "conference paper", "conference publication"]) {
        if host.is_some() { Kind::ConferencePaper } else { Kind::Proceedings }
    } else if is(&["booksection", "book chapter"]) {
        Kind::Chapter
    } else if is(&["report"]) {
        Kind::Report
    } else if is(&["web", "blog"]) {
        Kind::WebPage
    } else if is(&["dataset"]) {
        Kind::Dataset
    } else if is(&["patent"]) {
        Kind::Patent
    } else if of_host("conference") {
        Kind::ConferencePaper
    } else if of_host("journal") || of_host("periodical") {
        Kind::Article
    } else if of_host("book") {
        Kind::Chapter
    } else if is(&["book"]) {
        Kind::Book
    } else {
        Kind::Other
    }
}
