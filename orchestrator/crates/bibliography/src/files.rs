//! Attached files in BibTeX's `file` field, for which there is no standard.

use crate::Attachment;

/// What a backslash makes literal; before anything else it belongs to a path of Windows.
const ESCAPED: [char; 13] = [':', ';', '\\', '{', '}', '_', '%', '&', '#', '$', '~', ',', '^'];

/// Reads the fields of Zotero (`Title:path:application/pdf;…`), Better BibTeX (`path;path`), `JabRef`
/// (`Description:path:PDF`), and Mendeley (`:path:pdf`), with escaped separators, also in paths of Windows.
pub(crate) fn parse(text: &str) -> Vec<Attachment> {
    let text = text.replace("$\\backslash$", "\\\\");
    parts(&text, ';').iter().filter_map(|part| attachment(part)).collect()
}

/// The parts between separators that are not escaped, with their escapes.
fn parts(text: &str, separator: char) -> Vec<&str> {
    let (mut parts, mut start, mut escaped) = (Vec::new(), 0, false);
    for (at, c) in text.char_indices() {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if c == separator {
            parts.push(&text[start..at]);
            start = at + 1;
        }
    }
    parts.push(&text[start..]);
    parts
}

fn attachment(text: &str) -> Option<Attachment> {
    let fields: Vec<String> = parts(text, ':').iter().map(|part| unescaped(part)).collect();
    let is_drive = |field: &str| field.len() == 1 && field.chars().all(|c| c.is_ascii_alphabetic());
    let plain = |path: String| (None, path, None);
    let named = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    let (title, path, media_type) = match &fields[..] {
        [drive, ..] if is_drive(drive) && fields.len() == 2 => plain(fields.join(":")),
        [drive, path @ .., kind] if is_drive(drive) && is_type(kind) => {
            (None, format!("{drive}:{}", path.join(":")), named(kind))
        }
        [first, last] if is_type(last) => (None, first.clone(), named(last)),
        [scheme, rest] if rest.starts_with("//") || scheme == "attachments" => plain(fields.join(":")),
        [title, path] => (named(title), path.clone(), None),
        [title, path @ .., kind] => (named(title), path.join(":"), named(kind)),
        _ => plain(fields.join(":")),
    };
    (!path.is_empty()).then_some(Attachment { path, title, media_type })
}

/// A media type, or a word such as `PDF`.
fn is_type(text: &str) -> bool {
    let family = text.split_once('/').map(|(family, _)| family);
    match family {
        Some(family) => ["application", "text", "image", "audio", "video", "message"].contains(&family),
        None => text.len() <= 5 && text.bytes().all(|byte| byte.is_ascii_alphanumeric()),
    }
}

fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match chars.next_if(|next| c == '\\' && ESCAPED.contains(next)) {
            Some(escaped) => out.push(escaped),
            None => out.push(c),
        }
    }
    out.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_manager_writes_them_differently() {
        let check = |text: &str, expect: &[(&str, &str, &str)]| {
            let found = parse(text);
            let found: Vec<_> = found
                .iter()
                .map(|file| {
                    let [title, kind] = [&file.title, &file.media_type].map(|x| x.as_deref().unwrap_or(""));
                    (title, file.path.as_str(), kind)
                })
                .collect();
            assert_eq!(found, expect, "{text}");
        };
        check(
            "Full Text PDF:files/12/Lee 2019.pdf:application/pdf;Snapshot:files/13/a.html:text/html",
            &[
                ("Full Text PDF", "files/12/Lee 2019.pdf", "application/pdf"),
                ("Snapshot", "files/13/a.html", "text/html"),
            ],
        );
        check("/home/a/Zotero/storage/ABCD/Lee.pdf", &[("", "/home/a/Zotero/storage/ABCD/Lee.pdf", "")]);
        check("/home/a.pdf;/home/b\\;c.pdf", &[("", "/home/a.pdf", ""), ("", "/home/b;c.pdf", "")]);
        check(
            "PDF:C\\:\\\\Users\\\\a\\\\x.pdf:application/pdf",
            &[("PDF", "C:\\Users\\a\\x.pdf", "application/pdf")],
        );
        check("C\\:\\\\Users\\\\x.pdf", &[("", "C:\\Users\\x.pdf", "")]);
        check("C:\\Users\\x.pdf", &[("", "C:\\Users\\x.pdf", "")]);
        check("C:/Users/x.pdf:application/pdf", &[("", "C:/Users/x.pdf", "application/pdf")]);
        check(":C$\\backslash$:/Users/a/x.pdf:pdf", &[("", "C\\:/Users/a/x.pdf", "pdf")]);
        check(":papers/x.pdf:PDF", &[("", "papers/x.pdf", "PDF")]);
        check("papers/x.pdf:PDF", &[("", "papers/x.pdf", "PDF")]);
        check("Main\\: text:papers/x.pdf:PDF", &[("Main: text", "papers/x.pdf", "PDF")]);
        check("attachments:Lee.pdf", &[("", "attachments:Lee.pdf", "")]);
        check("Title:papers/x_y.pdf", &[("Title", "papers/x_y.pdf", "")]);
        check("", &[]);
        check(";:;", &[]);
    }
}
