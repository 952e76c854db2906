//! Which format a file has.

use crate::encoding::{decode, is_text};

/// A format that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Format {
    /// Word and others (ECMA-376).
    Docx,
    /// `OpenDocument` text, packed or flat.
    Odt,
    /// EPUB 2 and 3.
    Epub,
    /// Markdown, with YAML front matter.
    Markdown,
    /// LaTeX source.
    Latex,
    /// Plain text.
    Text,
    /// JATS XML and its ancestors (NLM).
    Jats,
    /// TEI XML.
    Tei,
    /// A page that a browser saved as one file.
    Mhtml,
}

/// Bytes at the beginning that are looked at.
const BEGINNING: usize = 8 << 10;

impl Format {
    /// Every format.
    pub const ALL: [Self; 9] = [
        Self::Docx,
        Self::Odt,
        Self::Epub,
        Self::Markdown,
        Self::Latex,
        Self::Text,
        Self::Jats,
        Self::Tei,
        Self::Mhtml,
    ];

    /// Its name in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Docx => "docx",
            Self::Odt => "odt",
            Self::Epub => "epub",
            Self::Markdown => "markdown",
            Self::Latex => "latex",
            Self::Text => "text",
            Self::Jats => "jats",
            Self::Tei => "tei",
            Self::Mhtml => "mhtml",
        }
    }

    /// The format of a file, by its first bytes (8 KiB suffice), then by its name.
    ///
    /// Plain text needs a name that says so (`.txt`, `.text`, `.asc`) or one without extension. `None` for everything
    /// else: PDF, HTML, other XML, programs, data.
    pub fn detect(name: &str, beginning: &[u8]) -> Option<Self> {
        let beginning = &beginning[..beginning.len().min(BEGINNING)];
        let file = name.rsplit(['/', '\\']).next().unwrap_or(name).to_ascii_lowercase();
        let extension = file.rsplit_once('.').map(|(_, extension)| extension);
        let by_name = match extension {
            Some("docx" | "docm" | "dotx") => Some(Self::Docx),
            Some("odt" | "ott" | "fodt") => Some(Self::Odt),
            Some("epub") => Some(Self::Epub),
            Some("md" | "markdown" | "mdown" | "mkd" | "qmd" | "rmd") => Some(Self::Markdown),
            Some("tex" | "ltx" | "latex") => Some(Self::Latex),
            Some("txt" | "text" | "asc") | None => Some(Self::Text),
            Some("mht" | "mhtml") => Some(Self::Mhtml),
            _ => None,
        };
        if beginning.starts_with(b"PK\x03\x04") {
            let packed = by_name.filter(|format| matches!(format, Self::Docx | Self::Odt | Self::Epub));
            return zip_beginning(beginning).or(packed);
        }
        // An encrypted DOCX is a compound file; reading it says so.
        if beginning.starts_with(&[0xD0, 0xCF, 0x11, 0xE0]) {
            return by_name.filter(|format| *format == Self::Docx);
        }
        if beginning.starts_with(b"%PDF") || beginning.starts_with(b"{\\rtf") {
            return None;
        }
        let text = decode(beginning);
        let text = text.trim_start_matches('\u{FEFF}').trim_start();
        if let Some(root) = root_element(text) {
            match root {
                "TEI" | "TEI.2" | "teiCorpus" => return Some(Self::Tei),
                "document" if text.contains("urn:oasis:names:tc:opendocument") => return Some(Self::Odt),
                "article" | "pmc-articleset" if is_jats(text) => return Some(Self::Jats),
                "OAI-PMH" if text.contains("<article") && is_jats(text) => return Some(Self::Jats),
                _ => {}
            }
        }
        if is_saved_page(text) {
            return Some(Self::Mhtml);
        }
        let markup =
            text.get(..5).is_some_and(|front| front.eq_ignore_ascii_case("<!doc") || front == "<?xml")
                || text.get(..5).is_some_and(|front| front.eq_ignore_ascii_case("<html"));
        match by_name {
            Some(format @ (Self::Markdown | Self::Latex)) if is_text(beginning) => Some(format),
            Some(Self::Text) if extension.is_some() && is_text(beginning) => Some(Self::Text),
            _ if markup || !is_text(beginning) => None,
            _ if begins_latex(text) => Some(Self::Latex),
            Some(Self::Text) if text.starts_with("---\n") && text[4..].contains("\n---\n") => {
                Some(Self::Markdown)
            }
            Some(Self::Text) => Some(Self::Text),
            _ => None,
        }
    }

    /// The format of a ZIP archive, by the names of its members and the content of the one named `mimetype`.
    pub fn detect_zip<'a>(
        members: impl IntoIterator<Item = &'a str>,
        mimetype: Option<&[u8]>,
    ) -> Option<Self> {
        match mimetype.map(|kind| String::from_utf8_lossy(kind).trim().to_owned()).as_deref() {
            Some("application/epub+zip") => return Some(Self::Epub),
            Some(kind) if kind.starts_with("application/vnd.oasis.opendocument.text") => {
                return Some(Self::Odt);
            }
            Some(kind) if kind.starts_with("application/vnd.oasis.opendocument.") => return None,
            _ => {}
        }
        let (mut types, mut word) = (false, false);
        for name in members {
            types |= name == "[Content_Types].xml";
            word |= name == "word/document.xml" || name.starts_with("word/document");
            if name == "META-INF/container.xml" {
                return Some(Self::Epub);
            }
        }
        (types && word).then_some(Self::Docx)
    }
}

/// The format of an archive by the members at its beginning.
fn zip_beginning(beginning: &[u8]) -> Option<Format> {
    let mut names: Vec<String> = Vec::new();
    let mut mimetype = None;
    let mut at = 0;
    while let Some(found) =
        beginning.get(at..).and_then(|rest| rest.windows(4).position(|four| four == b"PK\x03\x04"))
    {
        let header = &beginning[at + found..];
        let number = |from: usize| {
            header.get(from..from + 2).map(|two| usize::from(u16::from_le_bytes([two[0], two[1]])))
        };
        let (Some(length), Some(extra)) = (number(26), number(28)) else { break };
        let Some(name) = header.get(30..30 + length) else { break };
        let name = String::from_utf8_lossy(name).into_owned();
        let content = 30 + length + extra;
        if name == "mimetype" {
            let stored =
                header.get(18..22).map_or(0, |size| u32::from_le_bytes([size[0], size[1], size[2], size[3]]));
            mimetype = header.get(content..).map(|rest| &rest[..rest.len().min(stored.min(100) as usize)]);
        }
        names.push(name);
        at += found + 4;
    }
    // The types of the parts come first, and the text may come after what is looked at.
    let word = names.iter().any(|name| name.starts_with("word/"));
    let types = names.iter().any(|name| name == "[Content_Types].xml" || name == "_rels/.rels");
    Format::detect_zip(names.iter().map(String::as_str), mimetype).or((word && types).then_some(Format::Docx))
}

/// Name without prefix of the first element.
fn root_element(text: &str) -> Option<&str> {
    let mut rest = text.starts_with('<').then_some(text)?;
    while let Some(at) = rest.find('<') {
        rest = &rest[at..];
        if rest.starts_with("<?") {
            rest = &rest[rest.find("?>")? + 2..];
        } else if rest.starts_with("<!--") {
            rest = &rest[rest.find("-->")? + 3..];
        } else if rest.starts_with("<!") {
            // A document type may hold declarations in brackets.
            let end = rest.find('>')?;
            let end = match rest.find('[').filter(|bracket| *bracket < end) {
                Some(_) => {
                    rest.find("]>").or_else(|| Some(rest.find(']')? + rest[rest.find(']')?..].find('>')?))?
                }
                None => end,
            };
            rest = &rest[end + 1..];
        } else {
            let name = rest[1..].split(|c: char| c.is_whitespace() || matches!(c, '>' | '/')).next()?;
            return name.rsplit(':').next();
        }
    }
    None
}

fn is_jats(text: &str) -> bool {
    let docbook = text.contains("docbook.org") || text.contains("DocBook");
    let signs =
        ["JATS", "NLM//DTD", "article-type=", "dtd-version=", "<front>", "<journal-meta>", "<article-meta>"];
    !docbook && signs.iter().any(|sign| text.contains(sign))
}

fn is_saved_page(text: &str) -> bool {
    let mut mime = false;
    for line in text.lines().take(40) {
        let lower = line.to_ascii_lowercase();
        mime |= lower.starts_with("mime-version:") || lower.starts_with("from: <saved by");
        if lower.trim().is_empty() || !(lower.starts_with([' ', '\t']) || lower.contains(':')) {
            break;
        }
    }
    mime && (text.contains("multipart/related") || text.contains("text/html"))
}

fn begins_latex(text: &str) -> bool {
    let command = |line: &str| {
        ["\\documentclass", "\\documentstyle", "\\begin{document}"].iter().any(|c| line.starts_with(c))
    };
    text.lines().any(|line| command(line.trim_start()))
}
