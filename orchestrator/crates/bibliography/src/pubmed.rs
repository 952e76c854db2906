//! PubMed's XML, and what it has in common with PubMed's lines with tags.
//!
//! Elements: <https://www.nlm.nih.gov/bsd/licensee/elements_descriptions.html>.

use crate::date::Date;
use crate::draft::{Draft, Slot};
use crate::names::{ordered, person};
use crate::text::line;
use crate::xml::Element;
use crate::{Kind, Outcome, ids};
use lyra_domain::Identifier;

pub(crate) fn is_record(name: &str) -> bool {
    name == "PubmedArticle" || name == "PubmedBookArticle"
}

pub(crate) fn record(line: u64, root: &Element) -> Outcome {
    let mut draft = Draft::new(line);
    match (root.at("MedlineCitation"), root.at("BookDocument")) {
        (Some(citation), _) => article(&mut draft, root, citation),
        (None, Some(book)) => self::book(&mut draft, book),
        (None, None) => {}
    }
    draft.finish()
}

fn article(draft: &mut Draft, root: &Element, citation: &Element) {
    draft.kind(Kind::Article);
    let pmid = citation.text_at("PMID");
    draft.key(&pmid);
    draft.pmid(&pmid);
    if let Some(article) = citation.at("Article") {
        let list: Vec<String> = article.below("PublicationType").into_iter().map(Element::text).collect();
        types(draft, &list.iter().map(String::as_str).collect::<Vec<_>>());
        draft.title(&title(&article.text_at("ArticleTitle")));
        draft.title(&article.text_at("VernacularTitle"));
        names(draft, article.at("AuthorList"), false);
        if let Some(journal) = article.at("Journal") {
            draft.put(Slot::Venue, &journal.text_at("Title"));
            draft.put(Slot::Venue, &journal.text_at("ISOAbbreviation"));
            draft.put(Slot::Volume, &journal.text_at("JournalIssue/Volume"));
            draft.put(Slot::Issue, &journal.text_at("JournalIssue/Issue"));
            draft.serials(&journal.text_at("ISSN"));
            draft.date(journal.at("JournalIssue/PubDate").and_then(date));
        }
        article.all("ArticleDate").for_each(|day| draft.date(date(day)));
        draft.put(Slot::Pages, &pages(&article.text_at("Pagination/MedlinePgn")));
        for id in article.all("ELocationID").filter(|id| id.has("EIdType", "doi")) {
            draft.doi(&id.text());
        }
        for id in article.all("ELocationID").filter(|id| id.has("EIdType", "pii")) {
            draft.put(Slot::Pages, &id.text());
        }
        draft.summary(&summary(article.at("Abstract")));
        draft.language(&article.text_at("Language"));
    }
    draft.put(Slot::Venue, &citation.text_at("MedlineJournalInfo/MedlineTA"));
    draft.serials(&citation.text_at("MedlineJournalInfo/ISSNLinking"));
    for heading in citation.below("DescriptorName") {
        draft.tag(&heading.text());
    }
    for keyword in citation.all("KeywordList").flat_map(Element::elements) {
        draft.tag(&keyword.text());
    }
    for note in citation.all("GeneralNote") {
        draft.note(&note.text());
    }
    for link in citation.below("CommentsCorrections") {
        let other = || {
            let pmid = ids::pmid(&link.text_at("PMID")).map(Identifier::Pmid);
            ids::in_text(&link.text_at("RefSource")).into_iter().chain(pmid).collect()
        };
        match link.attribute("RefType").unwrap_or_default() {
            "RetractionIn" => draft.retracted(),
            "RetractionOf" => draft.retracts(other()),
            "UpdateIn" | "UpdateOf" | "RepublishedIn" | "RepublishedFrom" => draft.version(other()),
            _ => {}
        }
    }
    // The list of a reference has the same elements.
    if let Some(list) = root.at("PubmedData/ArticleIdList") {
        article_ids(draft, list);
    }
}

fn book(draft: &mut Draft, book: &Element) {
    let whole = book.text_at("Book/BookTitle");
    let chapter = book.text_at("ArticleTitle");
    draft.kind(if chapter.trim().is_empty() { Kind::Book } else { Kind::Chapter });
    draft.title(&title(&chapter));
    if chapter.trim().is_empty() {
        draft.title(&title(&whole));
    } else {
        draft.put(Slot::Venue, &whole);
    }
    let pmid = book.text_at("PMID");
    draft.key(&pmid);
    draft.pmid(&pmid);
    book.all("AuthorList").for_each(|list| names(draft, Some(list), list.has("Type", "editors")));
    for list in book.at("Book").into_iter().flat_map(Element::elements) {
        if list.name == "AuthorList" && (list.has("Type", "editors") || !draft.has_authors()) {
            names(draft, Some(list), list.has("Type", "editors"));
        }
    }
    draft.put(Slot::Publisher, &book.text_at("Book/Publisher/PublisherName"));
    draft.put(Slot::Place, &book.text_at("Book/Publisher/PublisherLocation"));
    draft.put(Slot::Edition, &book.text_at("Book/Edition"));
    draft.serials(&book.text_at("Book/Isbn"));
    draft.date(book.at("Book/PubDate").and_then(date));
    draft.date(book.at("ContributionDate").and_then(date));
    draft.summary(&summary(book.at("Abstract")));
    draft.language(&book.text_at("Language"));
    if let Some(list) = book.at("ArticleIdList") {
        article_ids(draft, list);
    }
}

fn article_ids(draft: &mut Draft, list: &Element) {
    for id in list.all("ArticleId") {
        let value = id.text();
        match id.attribute("IdType").unwrap_or_default() {
            "doi" => draft.doi(&value),
            "pmc" => draft.pmcid(&value),
            "pubmed" => draft.pmid(&value),
            _ => {}
        }
    }
}

fn names(draft: &mut Draft, list: Option<&Element>, are_editors: bool) {
    for author in list.into_iter().flat_map(|list| list.all("Author")) {
        let given = [author.text_at("ForeName"), author.text_at("Initials")];
        let given = given.iter().find(|name| !name.trim().is_empty()).map_or("", String::as_str);
        let name = match author.text_at("LastName") {
            family if family.trim().is_empty() => ordered(&author.text_at("CollectiveName")),
            family => person(&family, given, &author.text_at("Suffix")),
        };
        if are_editors { draft.editor(&name) } else { draft.author(&name) }
    }
}

fn date(element: &Element) -> Option<Date> {
    let year = element.text_at("Year");
    let Ok(year) = year.trim().parse() else { return Date::parse(&element.text_at("MedlineDate")) };
    Date::new(year, Date::month(&element.text_at("Month")), element.text_at("Day").trim().parse().ok())
}

/// The paragraphs of an abstract with their labels.
fn summary(element: Option<&Element>) -> String {
    let paragraphs = element.into_iter().flat_map(|element| element.all("AbstractText"));
    let labeled = paragraphs.map(|paragraph| {
        let text = line(&paragraph.text());
        match paragraph.attribute("Label").filter(|label| !label.is_empty() && *label != "UNLABELLED") {
            Some(label) if !text.is_empty() => format!("{label}: {text}"),
            _ => text,
        }
    });
    labeled.collect::<Vec<_>>().join("\n")
}

/// What publication types say.
pub(crate) fn types(draft: &mut Draft, types: &[&str]) {
    for name in types {
        match name.trim() {
            "Preprint" => draft.kind(Kind::Preprint),
            "Book" | "Books" | "Monograph" => draft.kind(Kind::Book),
            "Book Chapter" | "Section" => draft.kind(Kind::Chapter),
            "Technical Report" => draft.kind(Kind::Report),
            "Academic Dissertation" => draft.kind(Kind::Thesis),
            "Newspaper Article" => draft.kind(Kind::News),
            "Dataset" => draft.kind(Kind::Dataset),
            "Retracted Publication" => draft.retracted(),
            _ => {}
        }
    }
}

/// A title without the period that PubMed puts after it, and without the brackets around a translation.
pub(crate) fn title(text: &str) -> String {
    let text = line(text);
    let bare = text.strip_suffix('.').filter(|bare| !bare.ends_with('.')).unwrap_or(&text);
    let inside = bare.strip_prefix('[').and_then(|bare| bare.strip_suffix(']'));
    let inside = inside.map(|bare| bare.strip_suffix('.').unwrap_or(bare));
    inside.unwrap_or(bare).to_owned()
}

/// `6913-7` in full: `6913-6917`.
pub(crate) fn pages(text: &str) -> String {
    let full = |range: &str| match range.split_once('-') {
        Some((first, last)) if last.len() < first.len() && [first, last].iter().all(|n| is_number(n)) => {
            format!("{first}-{}{last}", &first[..first.len() - last.len()])
        }
        _ => range.to_owned(),
    };
    line(text).split(", ").map(full).collect::<Vec<_>>().join(", ")
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
