//! The formats, and how a file's format is detected.

use lyra_domain::named_enum;
use std::borrow::Cow;

named_enum! {
    /// How a file holds its records.
    pub enum Format {
        /// BibTeX and BibLaTeX.
        BibTex = "bibtex",
        /// RIS.
        Ris = "ris",
        /// EndNote's lines with tags (`.enw`).
        Refer = "refer",
        /// Web of Science's plain text.
        WebOfScience = "web_of_science",
        /// CSL-JSON: an array of items, an object with `items`, or one item.
        CslJson = "csl_json",
        /// Zotero's own items as JSON: Better BibTeX JSON, or answers of Zotero's API.
        ZoteroJson = "zotero_json",
        /// EndNote's XML.
        EndNoteXml = "endnote_xml",
        /// PubMed's lines with tags (MEDLINE).
        Nbib = "nbib",
        /// PubMed's XML.
        PubMedXml = "pubmed_xml",
        /// MODS, in a collection or alone.
        Mods = "mods",
        /// Zotero's RDF.
        ZoteroRdf = "zotero_rdf",
    }
}

/// Lines before the first record that may hold something else.
const HEAD: usize = 20;

impl Format {
    /// The format of a file by its beginning (4 KiB suffice); the name counts where BibTeX begins with other text.
    /// `None` for everything else: patents, JATS, HTML, lines of JSON, prose.
    pub fn detect(name: &str, beginning: &[u8]) -> Option<Self> {
        let text = crate::decode::decode(beginning);
        let text = text.trim_start_matches('\u{FEFF}').trim_start();
        match text.chars().next()? {
            '<' => xml(text),
            '[' | '{' => json(text),
            _ => tagged(text).or_else(|| bibtex(name, text)),
        }
    }

    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::BibTex => "BibTeX",
            Self::Ris => "RIS",
            Self::Refer => "EndNote (.enw)",
            Self::WebOfScience => "Web of Science",
            Self::CslJson => "CSL-JSON",
            Self::ZoteroJson => "Zotero JSON",
            Self::EndNoteXml => "EndNote XML",
            Self::Nbib => "MEDLINE (.nbib)",
            Self::PubMedXml => "PubMed XML",
            Self::Mods => "MODS",
            Self::ZoteroRdf => "Zotero RDF",
        }
    }
}

/// The names of the first elements, without prefixes, and the text from the first on.
fn elements(text: &str) -> (Vec<&str>, &str) {
    let (mut names, mut from, mut rest) = (Vec::new(), "", text);
    while let Some(at) = rest.find('<').filter(|_| names.len() < 3) {
        let tag = &rest[at..];
        let skip =
            [("<!--", "-->"), ("<?", "?>"), ("<!", ">")].iter().find(|(open, _)| tag.starts_with(open));
        if let Some((open, close)) = skip {
            let Some(end) = tag[open.len()..].find(close) else { break };
            rest = &tag[open.len() + end + close.len()..];
            continue;
        }
        let name =
            tag[1..].split(|c: char| c.is_whitespace() || matches!(c, '>' | '/')).next().unwrap_or_default();
        if names.is_empty() {
            from = tag;
        }
        names.push(name.rsplit(':').next().unwrap_or(name));
        rest = &tag[1..];
    }
    (names, from)
}

fn xml(text: &str) -> Option<Format> {
    let (names, root) = elements(text);
    let second = names.get(1).copied().unwrap_or_default();
    match *names.first()? {
        "PubmedArticleSet" | "PubmedArticle" | "PubmedBookArticle" | "PubmedBookArticleSet" => {
            Some(Format::PubMedXml)
        }
        "modsCollection" | "mods" => Some(Format::Mods),
        "xml" if second == "records" => Some(Format::EndNoteXml),
        "records"
            if second == "record"
                && ["<ref-type", "<rec-number", "<source-app"].iter().any(|t| root.contains(t)) =>
        {
            Some(Format::EndNoteXml)
        }
        "RDF" => root.contains("http://www.zotero.org/namespaces/export#").then_some(Format::ZoteroRdf),
        _ => None,
    }
}

/// Without white space outside of strings, as far as a beginning shows where strings are.
fn condensed(text: &str) -> String {
    let (mut out, mut quoted, mut escaped) = (String::with_capacity(text.len()), false, false);
    for c in text.chars() {
        if quoted || !c.is_whitespace() {
            out.push(c);
        }
        match c {
            '"' if !escaped => quoted = !quoted,
            _ => {}
        }
        escaped = quoted && c == '\\' && !escaped;
    }
    out
}

fn json(text: &str) -> Option<Format> {
    // A line that is an object, with another object below: lines of documents.
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    if first.starts_with('{')
        && first.ends_with('}')
        && lines.next().is_some_and(|line| line.starts_with('{'))
    {
        return None;
    }
    let text = condensed(text);
    let in_list = text.starts_with("[{") || text.contains("\"items\":[{");
    if text.contains("\"itemType\":\"") && (in_list || text.starts_with('{')) {
        return Some(Format::ZoteroJson);
    }
    if text == "[]" {
        return None;
    }
    let has_type = text
        .split("\"type\":\"")
        .skip(1)
        .any(|rest| rest.split('"').next().is_some_and(|name| crate::csl::kind(name).is_some()));
    let own = ["\"container-title\":", "\"date-parts\":[[", "\"citation-key\":", "\"DOI\":\"", "\"page\":\""];
    let signs = own.iter().filter(|sign| text.contains(**sign)).count();
    let enough = if in_list { 1 } else { 2 };
    let named = text.contains("\"family\":\"") && text.contains("\"author\":[{");
    (signs + usize::from(has_type) + usize::from(named) > enough || (in_list && has_type))
        .then_some(Format::CslJson)
}

fn tagged(text: &str) -> Option<Format> {
    let first = text.lines().next().unwrap_or_default();
    if crate::nbib::begins(first) {
        return Some(Format::Nbib);
    }
    if crate::refer::begins(first.trim_end()) {
        return Some(Format::Refer);
    }
    if crate::wos::begins(first, text.lines().nth(1).unwrap_or_default()) {
        return Some(Format::WebOfScience);
    }
    let mut head = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).take(HEAD);
    let is_prose = |line: &str| line.starts_with(['#', '`', '*', '>', '\\', '@', '%']);
    let found = head.find(|line| crate::ris::begins(line) || is_prose(line))?;
    crate::ris::begins(found).then_some(Format::Ris)
}

fn bibtex(name: &str, text: &str) -> Option<Format> {
    let is_bib =
        name.rsplit_once('.').is_some_and(|(_, end)| ["bib", "bibtex", "biblatex"].contains(&&*lower(end)));
    let mut lines =
        text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('%')).peekable();
    // A long comment at the beginning.
    if is_bib && lines.peek().is_none() {
        return Some(Format::BibTex);
    }
    let found = if is_bib {
        lines.any(crate::bibtex::begins)
    } else {
        lines.next().is_some_and(crate::bibtex::begins)
    };
    found.then_some(Format::BibTex)
}

fn lower(text: &str) -> Cow<'_, str> {
    Cow::Owned(text.to_ascii_lowercase())
}
