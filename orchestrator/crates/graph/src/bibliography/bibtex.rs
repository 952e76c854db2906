//! BibTeX, in UTF-8.

use super::names::Name;
use super::{Reference, keys, line};
use lyra_domain::WorkKind;
use std::fmt::Write;

/// The references as BibTeX entries, in the order given, of the type that their source says. Without one, it is
/// `@article` for a work in a venue, and `@misc` for anything else. LaTeX special characters are escaped, capitals that
/// styles must keep are braced, `doi` and `url` are verbatim as biblatex requires. The keywords tell whether a work is
/// `evidence` or `cited` by evidence, and whether it is `retracted`.
pub fn bibtex(references: &[Reference]) -> String {
    let entries =
        references.iter().zip(keys::keys(references)).map(|(reference, key)| entry(reference, &key));
    entries.collect::<Vec<_>>().join("\n")
}

fn entry(reference: &Reference, key: &str) -> String {
    let kind = reference.kind().unwrap_or(WorkKind::Other);
    let mut out = format!("@{}{{{key},\n", kind.bibtex());
    let mut field = |name: &str, value: &str| {
        if !value.is_empty() {
            let _ = writeln!(out, "  {name} = {{{value}}},");
        }
    };
    let text = |value: &Option<String>| escape(&line(value.as_deref().unwrap_or_default()));
    let imprint = &reference.imprint;
    field("author", &authors(&reference.authors));
    field("editor", &authors(&imprint.editors));
    field("title", &title(&line(&reference.title)));
    let container = match kind {
        WorkKind::Chapter | WorkKind::ConferencePaper => "booktitle",
        WorkKind::Article | WorkKind::News => "journal",
        _ => "howpublished",
    };
    field(container, &text(&reference.container()));
    field(kind.bibtex_publisher(), &text(&imprint.publisher));
    field("address", &text(&imprint.place));
    field("edition", &text(&imprint.edition));
    field("type", if kind == WorkKind::Preprint { "Preprint" } else { "" });
    field("entrysubtype", if kind == WorkKind::News { "newspaper" } else { "" });
    field("year", &reference.year.map(|year| year.to_string()).unwrap_or_default());
    field("doi", &verbatim(reference.doi.as_deref().unwrap_or_default()));
    field("pmid", &text(&reference.pmid));
    field("isbn", &escape(&line(&imprint.isbn.join(", "))));
    field("issn", &escape(&line(&imprint.issn.join(", "))));
    field("url", &verbatim(reference.url.as_deref().unwrap_or_default()));
    if !reference.is_work {
        field("urldate", &text(&reference.accessed));
    }
    if reference.is_retracted {
        field("note", "Retracted");
    }
    let retracted = if reference.is_retracted { ", retracted" } else { "" };
    field("keywords", &format!("{}{retracted}", reference.role.keyword()));
    out.push_str("}\n");
    out
}

fn authors(names: &[String]) -> String {
    let names = names.iter().map(|name| author(name)).filter(|name| !name.is_empty());
    names.collect::<Vec<_>>().join(" and ")
}

/// `Family, Given`, or a group in braces, so that it is not split.
fn author(name: &str) -> String {
    let name = Name::read(name);
    let text = escape(&name.suffix_second());
    match name {
        Name::Group(_) => format!("{{{text}}}"),
        Name::Person { .. } => text,
    }
}

/// Words with capitals that a style would lower, such as `DNA` and names, are braced.
fn title(text: &str) -> String {
    let words = text.split(' ').enumerate().map(|(i, word)| {
        let capitals_from = usize::from(i == 0);
        let keeps = word.chars().filter(|c| c.is_alphabetic()).skip(capitals_from).any(char::is_uppercase);
        if keeps { format!("{{{}}}", escape(word)) } else { escape(word) }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Escapes what LaTeX gives a meaning to.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => {
                out.push('\\');
                out.push(c);
            }
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '\\' => out.push_str("\\textbackslash{}"),
            c => out.push(c),
        }
    }
    out
}

/// For verbatim fields: characters that would end the field or the line are percent-encoded.
fn verbatim(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.trim().chars() {
        if matches!(c, '{' | '}' | '\\' | '"') || c.is_whitespace() || c.is_control() {
            let mut bytes = [0; 4];
            for byte in c.encode_utf8(&mut bytes).bytes() {
                let _ = write!(out, "%{byte:02X}");
            }
        } else {
            out.push(c);
        }
    }
    out
}
