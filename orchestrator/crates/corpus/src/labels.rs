//! Tags and collections of a person's library: their forms in the index, how many documents have them, and which ones
//! a person may have meant.

use crate::backend::{Filter, ValueField, wrong};
use crate::index::{COLLECTIONS, Snapshot, TAGS};
use crate::{CorpusError, Result};
use lyra_text::normalise;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use tantivy::Term;
use tantivy::columnar::StrColumn;

/// Longest tag, and longest path of a collection, in bytes; the rest does not count.
const LONGEST: usize = 1_000;
/// Levels of a collection that count.
const LEVELS: usize = 20;
/// Tags that an error lists.
const NEAREST: usize = 5;
/// How alike a name must be to be meant, from 0 to 1.
const ALIKE: f64 = 0.75;

/// A tag or collection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Label {
    /// As the library has it.
    pub name: String,
    /// Documents that have it; of a collection, with those below it.
    pub documents: u64,
}

/// The tags and collections of a corpus.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Labels {
    /// The most frequent first, then by name.
    pub tags: Vec<Label>,
    /// By name, those above before those below.
    pub collections: Vec<Label>,
}

/// A name without what is too long.
pub(crate) fn short(name: &str) -> &str {
    &name[..name.floor_char_boundary(LONGEST)]
}

/// A tag as the index has it.
pub(crate) fn tag(name: &str) -> String {
    normalise(short(name)).to_lowercase()
}

/// The path of a collection as the index has it.
pub(crate) fn path(name: &str) -> String {
    levels(name).map(tag).collect::<Vec<_>>().join("/")
}

fn levels(name: &str) -> impl Iterator<Item = &str> {
    short(name).split('/').map(str::trim).filter(|level| !level.is_empty()).take(LEVELS)
}

/// The paths of collections and of those that contain them, each once, as the index has them.
pub(crate) fn with_ancestors(collections: &[String]) -> BTreeSet<String> {
    collections.iter().flat_map(|name| ancestors(&path(name))).collect()
}

/// A path and those above it.
fn ancestors(path: &str) -> Vec<String> {
    let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
    ends.map(|end| path[..end].to_owned()).filter(|path| !path.is_empty()).collect()
}

impl Labels {
    /// Those of every document.
    pub(crate) fn of(snapshot: &Snapshot) -> Result<Self> {
        let tags = counted(snapshot, TAGS, |name| vec![normalise(name)])?;
        let collections = counted(snapshot, COLLECTIONS, written_collections)?;
        Ok(Self::sorted(tags, collections))
    }

    /// The most frequent tags first, and collections by name.
    pub(crate) fn sorted(mut tags: Vec<Label>, mut collections: Vec<Label>) -> Self {
        tags.sort_by(|a, b| b.documents.cmp(&a.documents).then_with(|| a.name.cmp(&b.name)));
        collections.sort_by(|a, b| a.name.split('/').cmp(b.name.split('/')));
        Self { tags, collections }
    }
}

/// A collection and those above it, as they are written.
fn written_collections(name: &str) -> Vec<String> {
    ancestors(&levels(name).map(normalise).collect::<Vec<_>>().join("/"))
}

/// What a tag or collection of a document stands for: each form in which filters compare, with how it is written.
pub(crate) fn written(is_tag: bool, name: &str) -> Vec<(String, String)> {
    let names = if is_tag { vec![normalise(name)] } else { written_collections(name) };
    names.into_iter().map(|name| (name.to_lowercase(), name)).collect()
}

/// How many documents have each of the names that `names` makes of what a column holds. Names that differ only in case
/// are one, in the form that sorts first.
fn counted(snapshot: &Snapshot, column: &str, names: impl Fn(&str) -> Vec<String>) -> Result<Vec<Label>> {
    let mut found: BTreeMap<String, Label> = BTreeMap::new();
    for (segment, reader) in (0_u32..).zip(snapshot.searcher.segment_readers()) {
        let Some(column) = snapshot.texts(segment, column)? else { continue };
        let mut known: HashMap<u64, Vec<String>> = HashMap::new();
        for doc in reader.doc_ids_alive() {
            let mut of_document: HashSet<String> = HashSet::new();
            for ord in column.term_ords(doc) {
                if let std::collections::hash_map::Entry::Vacant(free) = known.entry(ord) {
                    let names = names(&text(snapshot, &column, ord)?);
                    for name in &names {
                        let label = found.entry(name.to_lowercase());
                        let label = label.or_insert_with(|| Label { name: name.clone(), documents: 0 });
                        if *name < label.name {
                            label.name.clone_from(name);
                        }
                    }
                    free.insert(names.iter().map(|name| name.to_lowercase()).collect());
                }
                of_document.extend(known.get(&ord).into_iter().flatten().cloned());
            }
            for name in of_document {
                if let Some(label) = found.get_mut(&name) {
                    label.documents += 1;
                }
            }
        }
    }
    Ok(found.into_values().filter(|label| label.documents > 0 && !label.name.is_empty()).collect())
}

fn text(snapshot: &Snapshot, column: &StrColumn, ord: u64) -> Result<String> {
    let mut text = String::new();
    column.ord_to_str(ord, &mut text).map_err(|error| CorpusError::index(&snapshot.name)(error.into()))?;
    Ok(text)
}

/// That the tags and collections of filters are those of some document.
///
/// # Errors
/// [`CorpusError::Filter`] for the first that is not, with the nearest that are.
pub(crate) fn check(snapshot: &Snapshot, filters: &[Filter]) -> Result<()> {
    for (nth, filter) in (1..).zip(filters) {
        let Filter::Values { field, include, exclude } = filter else { continue };
        let (of_index, form): (_, fn(&str) -> String) = match field {
            ValueField::Tag => (snapshot.fields.tag, tag),
            ValueField::Collection => (snapshot.fields.collection, path),
            _ => continue,
        };
        for value in include.iter().chain(exclude) {
            let wanted = form(value);
            let term = Term::from_field_text(of_index, &wanted);
            if snapshot.searcher.doc_freq(&term).map_err(CorpusError::index(&snapshot.name))? > 0 {
                continue;
            }
            let nth = (filters.len() > 1).then_some(nth);
            return Err(unknown(&snapshot.name, *field, value, &Labels::of(snapshot)?, nth));
        }
    }
    Ok(())
}

/// The error for a tag or collection that no document has, in the `nth` filter.
pub(crate) fn unknown(
    corpus: &str,
    field: ValueField,
    value: &str,
    labels: &Labels,
    nth: Option<usize>,
) -> CorpusError {
    let (known, form): (_, fn(&str) -> String) =
        if field == ValueField::Tag { (&labels.tags, tag) } else { (&labels.collections, path) };
    let why = format!("corpus `{corpus}` has no {} `{value}`", field.name());
    let mut error = wrong(field.name(), why, nearest(&form(value), known, field.name(), form));
    error.nth = nth;
    error.into()
}

/// What a person may have meant: names that are alike, contain the text, or are contained in it.
fn nearest(wanted: &str, known: &[Label], field: &str, form: fn(&str) -> String) -> String {
    if known.is_empty() {
        return format!("no document of it has a {field}");
    }
    let mut scored: Vec<(f64, &str)> = known
        .iter()
        .map(|label| {
            let name = form(&label.name);
            let last = name.rsplit('/').next().unwrap_or(&name);
            let within = name.contains(wanted) || (name.len() >= 3 && wanted.contains(&name));
            let alike = strsim::jaro_winkler(wanted, &name).max(strsim::jaro_winkler(wanted, last));
            (if within { alike.max(ALIKE) } else { alike }, label.name.as_str())
        })
        .filter(|(alike, _)| *alike >= ALIKE)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    let nearest: Vec<String> = scored.iter().take(NEAREST).map(|(_, name)| format!("`{name}`")).collect();
    match &nearest[..] {
        [] => {
            let first: Vec<String> =
                known.iter().take(NEAREST).map(|label| format!("`{}`", label.name)).collect();
            let more =
                if known.len() > NEAREST { format!(", of {} in all", known.len()) } else { String::new() };
            format!("it has {}{more}", first.join(", "))
        }
        [one] => format!("the nearest is {one}"),
        many => format!("the nearest are {}", many.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_and_ancestors() {
        assert_eq!(tag("  To\tREAD "), "to read");
        assert_eq!(path(" Sleep / Naps//2019 "), "sleep/naps/2019");
        let paths = with_ancestors(&["Sleep/Naps".to_owned(), "sleep".to_owned(), "/".to_owned()]);
        assert_eq!(paths.into_iter().collect::<Vec<_>>(), ["sleep", "sleep/naps"]);
        assert_eq!(tag(&"é".repeat(2_000)).chars().count(), 500);
    }

    #[test]
    fn what_a_person_may_have_meant() {
        let known = ["To Read", "naps", "Sleep/Naps", "sleep"]
            .map(|name| Label { name: name.to_owned(), documents: 1 });
        assert_eq!(nearest("too read", &known, "tag", tag), "the nearest is `To Read`");
        assert_eq!(nearest("nap", &known, "tag", tag), "the nearest are `Sleep/Naps`, `naps`");
        let other = "it has `To Read`, `naps`, `Sleep/Naps`, `sleep`";
        assert_eq!(nearest("qqq", &known, "tag", tag), other);
        assert_eq!(nearest("x", &[], "tag", tag), "no document of it has a tag");
    }
}
