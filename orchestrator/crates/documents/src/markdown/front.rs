//! Front matter: what Pandoc, Quarto, Jekyll, Hugo and Obsidian write.

use crate::draft::Draft;
use crate::fields;
use serde_json::Value;

/// Longest front matter that is read, in bytes.
const LONGEST: usize = 256 << 10;

pub(super) fn read(yaml: &str, draft: &mut Draft<'_>) {
    if yaml.len() > LONGEST {
        draft.budget.leave_out(format!("front matter of more than {LONGEST} bytes"));
        return;
    }
    let fields = match serde_saphyr::from_str::<Value>(yaml) {
        Ok(Value::Object(fields)) => fields,
        Ok(_) => return,
        Err(_) => {
            draft.budget.leave_out("front matter that is not YAML");
            return;
        }
    };
    let field = |names: &[&str]| {
        names.iter().find_map(|name| {
            fields
                .iter()
                .find(|(key, value)| key.eq_ignore_ascii_case(name) && !value.is_null())
                .map(|(_, value)| value)
        })
    };
    let text = |names: &[&str]| field(names).and_then(text_of);
    if let Some(title) = text(&["title"]) {
        match text(&["subtitle"]) {
            Some(subtitle) => draft.title(&format!("{}: {subtitle}", title.trim_end_matches(':'))),
            None => draft.title(&title),
        }
    }
    match field(&["author", "authors", "by-author", "creator"]) {
        Some(Value::Array(authors)) => {
            authors.iter().filter_map(name_of).for_each(|name| draft.author(&name));
        }
        Some(Value::String(names)) => fields::names(names).iter().for_each(|name| draft.author(name)),
        Some(one) => name_of(one).iter().for_each(|name| draft.author(name)),
        None => {}
    }
    if let Some(date) = text(&["date", "published", "date-published", "issued", "year"]) {
        draft.date(&date);
    }
    for (kind, names) in
        [("doi", &["doi"][..]), ("pmid", &["pmid"]), ("pmcid", &["pmcid"]), ("arxiv", &["arxiv", "eprint"])]
    {
        draft.id(text(names).and_then(|value| fields::typed_id(kind, &value)));
    }
    draft.paper.venue =
        text(&["journal", "container-title", "publication", "venue", "booktitle", "publisher"])
            .or_else(|| field(&["journal", "citation"])?.get("title").and_then(text_of));
    draft.paper.language = text(&["lang", "language"]);
    match field(&["keywords", "keyword", "tags"]) {
        Some(Value::Array(words)) => {
            let words: Vec<String> = words.iter().filter_map(text_of).collect();
            draft.keywords(&format!("{};", words.join(";")));
        }
        Some(words) => draft.keywords(&text_of(words).unwrap_or_default()),
        None => {}
    }
    if let Some(text) = text(&["abstract"]) {
        text.split("\n\n").for_each(|paragraph| draft.add_abstract(paragraph));
    }
}

/// A plain value as text.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The name of an author, given as text or by its parts.
fn name_of(author: &Value) -> Option<String> {
    if let Some(name) = text_of(author) {
        return Some(name);
    }
    let part = |of: &Value, names: &[&str]| names.iter().find_map(|name| of.get(name).and_then(text_of));
    let parts = author.get("name").filter(|name| name.is_object()).unwrap_or(author);
    let given = part(parts, &["given", "given-names", "first", "firstname"]);
    let family = part(parts, &["family", "surname", "last", "lastname"]);
    match (given, family) {
        (Some(given), Some(family)) => Some(format!("{given} {family}")),
        (given, family) => part(author, &["name", "literal"])
            .or(family)
            .or(given)
            // Pandoc's older form: the name is the key of its affiliation.
            .or_else(|| author.as_object().filter(|only| only.len() == 1)?.keys().next().cloned()),
    }
}
