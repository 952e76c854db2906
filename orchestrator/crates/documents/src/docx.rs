//! DOCX (ECMA-376): Word, `LibreOffice`, Google Docs, pandoc.

mod body;
mod styles;

use crate::archive::{Archive, resolve};
use crate::budget::Budget;
use crate::draft::Draft;
use crate::fields;
use crate::paper::Paper;
use crate::xml::{Markup, Tree};
use crate::{ReadError, Result};
use std::collections::HashMap;
use styles::Styles;

/// Elements that only say how text looks.
const LOOKS: &[&str] = &[
    "rFonts",
    "sz",
    "szCs",
    "lang",
    "color",
    "kern",
    "spacing",
    "bCs",
    "iCs",
    "ind",
    "jc",
    "tcPr",
    "tblPr",
    "tblGrid",
    "trPr",
    "sectPr",
    "proofErr",
    "bookmarkStart",
    "bookmarkEnd",
    "theme",
    "spPr",
    "bodyPr",
    "latentStyles",
];

pub(crate) fn read(bytes: &[u8], budget: &mut Budget) -> Result<Paper> {
    let mut archive = Archive::open(bytes, budget)?;
    let main = main_part(&mut archive, budget)?;
    let Some(document) = archive.member(&main, budget)? else {
        return Err(ReadError::OtherFormat(format!("it is not a DOCX file: it has no `{main}`")));
    };
    let relations = relations(&mut archive, &main, budget)?;
    let mut part = |kind: &str, default: &str, budget: &mut Budget| -> Result<Tree> {
        let name = relations.get(kind).cloned().unwrap_or_else(|| resolve(&main, default));
        match archive.member(&name, budget)? {
            Some(bytes) => Tree::read(&bytes, Markup::Strict, LOOKS, budget),
            None => Ok(Tree::default()),
        }
    };
    let styles = part("styles", "styles.xml", budget)?;
    let footnotes = part("footnotes", "footnotes.xml", budget)?;
    let endnotes = part("endnotes", "endnotes.xml", budget)?;
    let core = archive.member("docProps/core.xml", budget)?;
    let core = core.map(|bytes| Tree::read(&bytes, Markup::Strict, &[], budget)).transpose()?;
    let document = Tree::read(&document, Markup::Strict, LOOKS, budget)?;
    let Some(text) = document.root().and_then(|root| root.child("body")) else {
        return Err(ReadError::damaged(format!("`{main}` has no body")));
    };
    let mut draft = Draft::new(budget);
    body::Body::new(&mut draft, Styles::new(&styles), &footnotes, &endnotes).read(text);
    if let Some(core) = core.as_ref().and_then(Tree::root) {
        if let Some(title) = core.text_at("title").filter(|title| is_title(title)) {
            draft.title(&title);
        }
        if draft.paper.authors.is_empty() {
            for name in core.text_at("creator").iter().flat_map(|names| fields::names(names)) {
                if !fields::is_program(&name) {
                    draft.author(&name);
                }
            }
        }
        if draft.paper.keywords.is_empty() {
            draft.keywords(&core.text_at("keywords").unwrap_or_default());
        }
        draft.paper.language = core.text_at("language");
        draft.id(core.text_at("identifier").and_then(|id| fields::any_id(&id)));
    }
    Ok(draft.finish())
}

/// Titles that programs write are not titles.
fn is_title(title: &str) -> bool {
    let lower = title.to_lowercase();
    let program = ["microsoft word -", "untitled", "document", "word document", "docx"];
    !program.iter().any(|bad| lower == *bad || (bad.ends_with('-') && lower.starts_with(bad)))
}

/// The member with the text.
fn main_part(archive: &mut Archive<'_>, budget: &mut Budget) -> Result<String> {
    let main = related(archive, "_rels/.rels", "", budget)?.remove("officeDocument");
    Ok(main.unwrap_or_else(|| "word/document.xml".to_owned()))
}

/// The members that belong to one, by the kind of their relation.
fn relations(archive: &mut Archive<'_>, main: &str, budget: &mut Budget) -> Result<HashMap<String, String>> {
    let (folder, file) = main.rsplit_once('/').unwrap_or(("", main));
    let name = format!("{folder}/_rels/{file}.rels");
    related(archive, name.trim_start_matches('/'), main, budget)
}

fn related(
    archive: &mut Archive<'_>,
    name: &str,
    base: &str,
    budget: &mut Budget,
) -> Result<HashMap<String, String>> {
    let mut found = HashMap::new();
    let Some(bytes) = archive.member(name, budget)? else { return Ok(found) };
    let tree = Tree::read(&bytes, Markup::Strict, &[], budget)?;
    for relation in tree.root().into_iter().flat_map(|root| root.all("Relationship").collect::<Vec<_>>()) {
        let inside = relation.attribute("TargetMode") != Some("External");
        if let (true, Some(kind), Some(target)) =
            (inside, relation.attribute("Type"), relation.attribute("Target"))
        {
            let kind = kind.rsplit('/').next().unwrap_or_default().to_owned();
            found.entry(kind).or_insert_with(|| resolve(base, target));
        }
    }
    Ok(found)
}
