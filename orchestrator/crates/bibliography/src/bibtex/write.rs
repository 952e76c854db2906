//! Records as BibTeX.

use super::people;
use crate::text::{line, plain};
use crate::write::{Parts, guarded};
use crate::{Attachment, Kind, Record};
use std::fmt::Write;

/// Names of months that every style knows.
const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// The entry of a record.
pub(crate) fn written(record: &Record, key: &str) -> String {
    let mut out = format!("@{}{{{key},\n", record.kind.bibtex());
    let mut field = |name: &str, value: &str| {
        if !value.is_empty() {
            let _ = writeln!(out, "  {name} = {{{value}}},");
        }
    };
    let text = |value: &Option<String>| value.as_deref().map(shown).unwrap_or_default();
    field("author", &names(&record.authors));
    field("editor", &names(&record.editors));
    field("title", &title(&line(&record.title), record.language.as_deref()));
    // What has no title of its own would take that of the whole.
    let in_book = matches!(record.kind, Kind::Chapter | Kind::ConferencePaper) && !record.title.is_empty();
    field(if in_book { "booktitle" } else { "journal" }, &text(&record.venue));
    field("volume", &text(&record.volume));
    field("number", &text(&record.issue));
    field("pages", &text(&record.pages.as_deref().map(|pages| pages.replace('-', "\u{2013}"))));
    field(record.kind.bibtex_publisher(), &text(&record.publisher));
    field("address", &text(&record.place));
    field("edition", &text(&record.edition));
    field("type", if record.kind == Kind::Preprint { "Preprint" } else { "" });
    field("entrysubtype", if record.kind == Kind::News { "newspaper" } else { "" });
    date(record, &mut field);
    field("doi", &verbatim(record.doi.as_ref().map(lyra_domain::Doi::as_str).unwrap_or_default()));
    if let Some(arxiv) = &record.arxiv {
        field("eprint", &verbatim(&arxiv.to_string()));
        field("archiveprefix", "arXiv");
    }
    field("pmid", &text(&record.pmid));
    field("pmcid", &text(&record.pmcid));
    field("isbn", &shown(record.isbn.join(", ")));
    field("issn", &shown(record.issn.join(", ")));
    field("url", &verbatim(record.url.as_deref().unwrap_or_default()));
    field("urldate", &text(&record.accessed));
    field("language", &text(&record.language));
    field("keywords", &list(record.tags.iter().map(|tag| guarded(tag).into_owned())));
    field("groups", &list(record.collections.iter().cloned()));
    field("abstract", &paragraphs(record.abstract_text.as_deref().unwrap_or_default(), "\n\n"));
    field("note", if record.is_retracted { "Retracted" } else { "" });
    field("annote", &paragraphs(&record.notes.join("\n"), "\n"));
    let files: Vec<String> = record.files.iter().map(file).collect();
    field("file", &files.join(";"));
    out.push_str("}\n");
    out
}

/// Year, month by its abbreviation, and day.
fn date(record: &Record, field: &mut impl FnMut(&str, &str)) {
    let mut parts = record.date.as_deref().unwrap_or_default().split('-');
    let year = parts.next().filter(|year| !year.is_empty()).map(str::to_owned);
    field("year", &year.or_else(|| Some(record.year?.to_string())).unwrap_or_default());
    let number = |part: Option<&str>| part.and_then(|part| part.parse::<usize>().ok());
    if let Some(month) = number(parts.next()).and_then(|month| MONTHS.get(month.checked_sub(1)?)) {
        field("month", month);
    }
    if let Some(day) = number(parts.next()) {
        field("day", &day.to_string());
    }
}

fn names(names: &[String]) -> String {
    names.iter().map(|of| name(&line(of))).filter(|name| !name.is_empty()).collect::<Vec<_>>().join(" and ")
}

/// `Family, Given` or `Family, Suffix, Given` where that is read as the same name; else in braces, as the name of a group.
fn name(name: &str) -> String {
    let inverted = Parts::of(name).map(|parts| escaped(&guarded(&parts.suffix_second())));
    let is_same = |written: &String| {
        let read = people::read(written);
        matches!(&read[..], [read] if line(&plain(read)) == name)
    };
    inverted.filter(is_same).unwrap_or_else(|| format!("{{{}}}", escaped(&guarded(name))))
}

/// A text on one line.
fn shown(text: impl AsRef<str>) -> String {
    escaped(&guarded(&line(text.as_ref())))
}

/// Words whose capitals a style would lower are braced. In a title in which most words begin with a capital, only
/// capitals within words count.
fn title(text: &str, language: Option<&str>) -> String {
    let text = guarded(text);
    let words: Vec<&str> = text.split(' ').collect();
    let is_capitalized = |word: &&&str| word.starts_with(char::is_uppercase);
    let long: Vec<&&str> =
        words.iter().skip(1).filter(|w| w.chars().filter(|c| c.is_alphabetic()).count() >= 4).collect();
    let of_long = long.iter().filter(|word| is_capitalized(word)).count();
    let in_title_case = language != Some("de") && of_long * 2 > long.len() && of_long > 1;
    let written = words.iter().enumerate().map(|(nth, word)| {
        let mut letters = word.chars().filter(|c| c.is_alphabetic()).peekable();
        let is_single = letters.clone().count() == 1 && !matches!(letters.peek(), Some('A' | 'I'));
        let skipped = usize::from((nth == 0 || in_title_case) && !is_single);
        let keeps = letters.skip(skipped).any(char::is_uppercase);
        if keeps { format!("{{{}}}", escaped(word)) } else { escaped(word) }
    });
    written.collect::<Vec<_>>().join(" ")
}

/// Lines, with `between` between two of them.
fn paragraphs(text: &str, between: &str) -> String {
    let lines = text.lines().map(line).filter(|line| !line.is_empty());
    let guarded_text = lines.collect::<Vec<_>>().join("\n");
    let guarded_text = guarded(&guarded_text);
    guarded_text.split('\n').map(escaped).collect::<Vec<_>>().join(between)
}

/// A list with commas. If an item has a separator itself, such items are in braces.
fn list(items: impl Iterator<Item = String>) -> String {
    let mut braced = false;
    let items: Vec<String> = items
        .map(|item| {
            let text = escaped(&line(&item));
            if item.contains([',', ';']) {
                braced = true;
                format!("{{{text}}}")
            } else {
                text
            }
        })
        .collect();
    // One pair of braces around everything is no item.
    let end = if braced && items.len() == 1 { "," } else { "" };
    format!("{}{end}", items.join(", "))
}

/// `Title:path:type`, as Zotero and `JabRef` write it.
fn file(file: &Attachment) -> String {
    let part = |text: &str| {
        let mut out = String::with_capacity(text.len());
        for c in line(text).chars() {
            if matches!(c, '\\' | ':' | ';' | '{' | '}') {
                out.push('\\');
            }
            out.push(c);
        }
        out
    };
    // One letter would be a drive of Windows.
    let title = file.title.as_deref().filter(|title| title.len() > 1).unwrap_or_default();
    let media_type = file.media_type.as_deref().unwrap_or_default();
    format!("{}:{}:{}", part(title), part(&file.path), part(media_type))
}

/// Escapes what LaTeX gives a meaning to. Braces are commands, for BibTeX counts escaped ones too.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = '\n';
    for c in text.chars() {
        match c {
            '&' | '%' | '$' | '#' | '_' => {
                out.push('\\');
                out.push(c);
            }
            '{' => out.push_str("\\textbraceleft{}"),
            '}' => out.push_str("\\textbraceright{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '\\' => out.push_str("\\textbackslash{}"),
            '`' => out.push_str("\\textasciigrave{}"),
            // Two of them would be one dash or quotation mark.
            '-' | '\'' if before == c => {
                out.push_str("{}");
                out.push(c);
            }
            // At the beginning of a line it may begin an entry.
            '@' if before == '\n' => out.push_str("{@}"),
            c => out.push(c),
        }
        before = c;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capitals_that_matter_are_braced() {
        for (text, language, expect) in [
            ("Naps help", None, "Naps help"),
            ("Effects of DNA on mRNA in Japan", None, "Effects of {DNA} on {mRNA} in {Japan}"),
            ("Short Naps and the Memory of Adults", None, "Short Naps and the Memory of Adults"),
            (
                "The Role of Vitamin D and IL-6 in Sleep Loss",
                None,
                "The Role of Vitamin {D} and {IL-6} in Sleep Loss",
            ),
            ("Die Rolle des Schlafs", Some("de"), "Die {Rolle} des {Schlafs}"),
            ("DNA", None, "{DNA}"),
        ] {
            assert_eq!(title(text, language), expect);
        }
    }

    #[test]
    fn texts_and_lists() {
        assert_eq!(shown("a--b ''c'' {d"), "a-{}-b '{}'c'{}' \\textbraceleft{}d");
        assert_eq!(paragraphs("One\n@misc(a, b", "\n\n"), "One\n\n{@}misc(a, b");
        assert_eq!(list(["a".to_owned(), "b, c".to_owned()].into_iter()), "a, {b, c}");
        assert_eq!(list(["b, c".to_owned()].into_iter()), "{b, c},");
        assert_eq!(name("Barnes and Noble, Inc."), "{Barnes and Noble, Inc.}");
        assert_eq!(name("Ludwig van Beethoven"), "van Beethoven, Ludwig");
    }
}
