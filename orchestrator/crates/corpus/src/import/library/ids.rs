//! Ids of the works of a library, which stay the same when the files are read again.

use super::facts::Facts;
use crate::Document;
use crate::hash::{Fnv, fnv};
use lyra_text::normalise;
use std::collections::HashMap;
use std::path::Path;

/// Most characters of an id that is made of author, year and title.
const MAX_SLUG: usize = 80;
/// Words of the title in such an id.
const WORDS_OF_TITLE: usize = 8;

/// What the id of a work comes from that no identifier names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::import) enum Naming {
    /// An earlier import gave it.
    Earlier,
    /// Author, year, and title.
    Title,
    /// Its file's name, because it has no title.
    File,
}

impl Naming {
    pub(in crate::import) fn of(title: &str) -> Self {
        if words(title).is_empty() { Self::File } else { Self::Title }
    }
}

/// Ids of a work that no identifier names.
pub(in crate::import) struct Slug {
    /// Author, year, and the first words of the title.
    pub(in crate::import) plain: String,
    /// The same with a checksum of all that, or of where its file is, for when another work has the plain one.
    pub(in crate::import) distinct: String,
}

impl Slug {
    /// `origin` is where the file is.
    pub(in crate::import) fn of(document: &Document, naming: Naming, origin: &Path) -> Self {
        let title = words(&document.title);
        let plain = if title.is_empty() {
            format!("file:{}", document.files.first().map_or("", String::as_str))
        } else {
            joined(document, &title[..title.len().min(WORDS_OF_TITLE)]).chars().take(MAX_SLUG).collect()
        };
        let whole = match naming {
            Naming::File => origin.to_string_lossy().into_owned(),
            Naming::Earlier | Naming::Title => joined(document, &title),
        };
        let distinct = format!("{plain}-{:08x}", fnv(whole.as_bytes()) >> 32);
        Self { plain, distinct }
    }
}

/// Ids that an import gave to works that no identifier names, and checksums of what tells these from others; none for
/// those of earlier imports.
#[derive(Default)]
pub(super) struct Names(HashMap<String, Option<u64>>);

impl Names {
    /// Notes the id of a work of an earlier import.
    pub(super) fn keep(&mut self, id: &str) {
        self.0.insert(id.to_owned(), None);
    }

    /// The id of a work: DOI, another identifier, the key in Zotero, else author, year, and title, else the file's name.
    pub(super) fn of(&mut self, document: &Document, naming: Naming, origin: &Path) -> String {
        if let Some(id) = identifying(document).into_iter().next() {
            return id;
        }
        let mut sum = Fnv::default();
        if naming == Naming::File {
            sum.add(document.text.as_bytes());
            sum.add(document.desc.as_bytes());
        } else {
            sum.add(joined(document, &words(&document.title)).as_bytes());
        }
        let Slug { plain, distinct } = Slug::of(document, naming, origin);
        let own = Some(sum.finish());
        if *self.0.entry(plain.clone()).or_insert(own) == own { plain } else { distinct }
    }
}

/// All ids of identifiers that a work may have been stored with, the best first.
pub(in crate::import) fn identifying(document: &Document) -> Vec<String> {
    let mut ids: Vec<String> = document.doi.iter().map(|doi| format!("doi:{doi}")).collect();
    ids.extend(document.identifiers.iter().map(ToString::to_string));
    for version in &document.versions {
        ids.extend(version.doi.iter().map(|doi| format!("doi:{doi}")));
        ids.extend(version.identifiers.iter().map(ToString::to_string));
    }
    let key = document.zotero.as_deref().and_then(|address| address.rsplit('/').next());
    ids.extend(key.map(|key| format!("zotero:{key}")));
    ids
}

/// Whether two documents have the same title, and what is known of their years and first authors is the same.
pub(in crate::import) fn same_title(a: &Document, b: &Document) -> bool {
    words(&a.title) == words(&b.title) && Facts::of(a, None).same_origin(&Facts::of(b, None))
}

/// First author, year, and these words.
fn joined(document: &Document, title: &[String]) -> String {
    let year = document.year.map(|year| year.to_string());
    let parts = family(document).into_iter().chain(year).chain(title.iter().cloned());
    parts.collect::<Vec<_>>().join("-")
}

pub(super) fn words(text: &str) -> Vec<String> {
    let lower = normalise(text).to_lowercase();
    lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// The last word of the first author's name, which is `Lee, Ann` or `Ann Lee`.
pub(super) fn family(document: &Document) -> Option<String> {
    words(document.authors.first()?.split(',').next().unwrap_or_default()).pop()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titled(title: &str) -> Document {
        let authors = vec!["Lee, Ann".to_owned()];
        Document { title: title.to_owned(), year: Some(2019), authors, ..Document::default() }
    }

    #[test]
    fn ids_without_identifiers() {
        let of = |document: &Document| {
            Names::default().of(document, Naming::of(&document.title), Path::new("/a/x.pdf"))
        };
        assert_eq!(
            of(&titled("Short naps and the memory of adults")),
            "lee-2019-short-naps-and-the-memory-of-adults"
        );
        assert_eq!(of(&Document { files: vec!["x.pdf".to_owned()], ..Document::default() }), "file:x.pdf");
    }

    #[test]
    fn two_works_do_not_get_one_id() {
        let mut names = Names::default();
        let mut of = |document: &Document, naming, path: &str| names.of(document, naming, Path::new(path));
        let plain = "lee-2019-scientific-opinion-on-the-safety-and-efficacy-of";
        let [zinc, copper] = ["zinc", "copper"]
            .map(|metal| titled(&format!("Scientific opinion on the safety and efficacy of {metal}")));
        assert_eq!(of(&zinc, Naming::Title, "/refs.bib"), plain);
        let other = of(&copper, Naming::Title, "/refs.bib");
        assert!(other.starts_with(&format!("{plain}-")) && other.len() == plain.len() + 9, "{other}");
        assert_eq!(of(&copper, Naming::Title, "/more.bib"), other);
        assert_eq!(of(&zinc, Naming::Title, "/more.bib"), plain);
        let page =
            |text: &str| Document { title: "main".to_owned(), desc: text.to_owned(), ..Document::default() };
        assert_eq!(of(&page("Naps."), Naming::File, "/a/main.html"), "main");
        assert_eq!(of(&page("Naps."), Naming::File, "/copy/main.html"), "main");
        let [second, third] =
            ["/b/main.html", "/c/main.html"].map(|path| of(&page("Tea."), Naming::File, path));
        assert!(second.starts_with("main-") && third.starts_with("main-") && second != third);
        names.keep("lee-2019-naps");
        assert_ne!(names.of(&titled("Naps"), Naming::Title, Path::new("/refs.bib")), "lee-2019-naps");
    }
}
