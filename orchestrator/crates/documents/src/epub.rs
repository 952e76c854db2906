//! EPUB 2 and 3.

use crate::archive::{Archive, resolve};
use crate::budget::Budget;
use crate::draft::Draft;
use crate::fields;
use crate::paper::Paper;
use crate::xhtml;
use crate::xml::{Element, Markup, Tree};
use crate::{ReadError, Result};
use std::collections::{HashMap, HashSet};

/// Elements whose content is not text.
const NO_TEXT: &[&str] = &["script", "style", "svg"];

pub(crate) fn read(bytes: &[u8], budget: &mut Budget) -> Result<Paper> {
    let mut archive = Archive::open(bytes, budget)?;
    let package_name = package_name(&mut archive, budget)?;
    let locked = encrypted(&mut archive, budget)?;
    let Some(package) = archive.member(&package_name, budget)? else {
        return Err(ReadError::Damaged(format!("it has no `{package_name}`, which it names as its package")));
    };
    let package = Tree::read(&package, Markup::Strict, &[], budget)?;
    let Some(package) = package.root() else { return Err(ReadError::damaged("its package is empty")) };
    let mut draft = Draft::new(budget);
    if let Some(metadata) = package.child("metadata") {
        // EPUB 2 before 2007 wrapped the fields.
        describe(metadata.child("dc-metadata").unwrap_or(metadata), &mut draft);
    }
    let items: HashMap<&str, Element<'_>> = package
        .at("manifest")
        .into_iter()
        .flat_map(|manifest| manifest.all("item"))
        .filter_map(|item| Some((item.attribute("id")?, item)))
        .collect();
    let mut seen = HashSet::new();
    let mut missing = 0_usize;
    let spine = package.child("spine");
    for reference in spine.into_iter().flat_map(|spine| spine.all("itemref")) {
        let item = reference.attribute("idref").and_then(|id| items.get(id));
        let Some(href) = item.and_then(|item| item.attribute("href")) else { continue };
        let navigation =
            item.and_then(|item| item.attribute("properties")).is_some_and(|p| p.contains("nav"));
        let name = resolve(&package_name, href);
        if navigation || !seen.insert(name.clone()) {
            continue;
        }
        if locked.contains(&name) {
            return Err(ReadError::Encrypted);
        }
        let Some(chapter) = archive.member(&name, draft.budget)? else {
            missing += 1;
            continue;
        };
        let chapter = Tree::read(&chapter, Markup::Lenient, NO_TEXT, draft.budget)?;
        if let Some(root) = chapter.root().filter(|root| root.name() != "svg") {
            // What follows is no part of the chapter before, unless it has no heading either.
            xhtml::read(root, &mut draft);
        }
    }
    if missing > 0 {
        draft.budget.leave_out(format!("{missing} chapters that are listed and missing"));
    }
    Ok(draft.finish())
}

fn package_name(archive: &mut Archive<'_>, budget: &mut Budget) -> Result<String> {
    if let Some(container) = archive.member("META-INF/container.xml", budget)? {
        let container = Tree::read(&container, Markup::Strict, &[], budget)?;
        let file = container.root().and_then(|root| root.below("rootfile").next()?.attribute("full-path"));
        if let Some(name) = file {
            return Ok(resolve("", name));
        }
    }
    let found = archive
        .names()
        .find(|name| name.to_ascii_lowercase().rsplit_once('.').is_some_and(|(_, end)| end == "opf"));
    found.ok_or_else(|| {
        ReadError::OtherFormat("it is not an EPUB: it has no `META-INF/container.xml`".to_owned())
    })
}

/// Members that are encrypted. Fonts often are, by a method that anyone can undo.
fn encrypted(archive: &mut Archive<'_>, budget: &mut Budget) -> Result<HashSet<String>> {
    let Some(list) = archive.member("META-INF/encryption.xml", budget)? else { return Ok(HashSet::new()) };
    let list = Tree::read(&list, Markup::Strict, &[], budget)?;
    let names = list.root().into_iter().flat_map(|root| root.below("CipherReference"));
    Ok(names.filter_map(|name| Some(resolve("", name.attribute("URI")?))).collect())
}

fn describe(metadata: Element<'_>, draft: &mut Draft<'_>) {
    // EPUB 3 says who wrote in `meta` elements that refer to the creator's id.
    let refined: HashMap<&str, String> = metadata
        .all("meta")
        .filter(|meta| meta.attribute("property") == Some("role"))
        .filter_map(|meta| Some((meta.attribute("refines")?.trim_start_matches('#'), meta.text())))
        .collect();
    draft.title(&metadata.text_at("title").unwrap_or_default());
    for creator in metadata.all("creator") {
        let role = creator.attribute("opf:role").map(str::to_owned);
        let role = role.or_else(|| refined.get(creator.attribute("id")?).cloned());
        if role.is_none_or(|role| role == "aut") {
            for name in fields::names(&creator.text()) {
                draft.author(&name);
            }
        }
    }
    let dates: Vec<Element<'_>> = metadata.all("date").collect();
    let published =
        dates.iter().find(|date| date.attribute("event") == Some("publication")).or(dates.first());
    if let Some(date) = published {
        draft.date(&date.text());
    }
    for id in metadata.all("identifier") {
        let text = id.text();
        if text.to_ascii_lowercase().contains("doi") || text.starts_with("10.") || text.contains("arxiv") {
            draft.id(fields::any_id(&text));
        }
    }
    for subject in metadata.all("subject") {
        draft.keywords(&subject.text());
    }
    draft.paper.venue = metadata.text_at("publisher");
    draft.paper.language = metadata.text_at("language");
}
