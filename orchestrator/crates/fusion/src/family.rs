//! One document for each family of patents: which documents are of one family, and lists in which one stands for all.

use crate::RankedDocs;
use std::collections::{BTreeMap, HashMap};
use std::hash::BuildHasher;

/// What begins the keys of families, in the order in which they count. Documents with two different keys of the first kind are
/// never of one family: their source says so.
const KINDS: [&str; 4] = ["family:", "number:", "application:", "priorities:"];

/// The documents that another one of their family stands for, with that one: the member with the best rank in any list,
/// the first list and then the id deciding between equals.
///
/// `keys` has what each document has in common with its family. Documents that share a key, also by way of others, are
/// of one family.
pub fn representatives(
    lists: &[&RankedDocs],
    keys: &HashMap<String, Vec<String>, impl BuildHasher>,
) -> BTreeMap<String, String> {
    let mut best: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (nth, list) in lists.iter().enumerate() {
        for (rank, id) in list.ids.iter().enumerate() {
            let place = best.entry(id).or_insert((rank, nth));
            *place = (*place).min((rank, nth));
        }
    }
    let ids: Vec<&str> = best.keys().copied().collect();
    let families = Families::of(&ids, keys);
    let mut chosen: HashMap<usize, &str> = HashMap::new();
    for (nth, id) in ids.iter().enumerate() {
        let of = chosen.entry(families.root(nth)).or_insert(id);
        if best[id] < best[*of] {
            *of = id;
        }
    }
    let stands = |(nth, id): (usize, &&str)| {
        let other = chosen[&families.root(nth)];
        (other != *id).then(|| ((*id).to_owned(), other.to_owned()))
    };
    ids.iter().enumerate().filter_map(stands).collect()
}

/// A list in which the document that stands for a family has the best place of its members, which are not in it.
pub fn folded(list: &RankedDocs, into: &BTreeMap<String, String>) -> RankedDocs {
    let mut seen: std::collections::HashSet<&str> = std::collections::HashSet::new();
    let mut docs = RankedDocs { vocabulary: list.vocabulary.clone(), ..RankedDocs::default() };
    for (place, id) in list.ids.iter().enumerate() {
        let other = into.get(id);
        let shown = other.unwrap_or(id);
        if !seen.insert(shown) {
            continue;
        }
        docs.ids.push(shown.clone());
        docs.scores.extend(list.scores.get(place));
        // The codes of the document that is shown come from a list that has it.
        let codes = list.codes.get(place).filter(|_| other.is_none());
        docs.codes.push(codes.cloned().unwrap_or_default());
    }
    docs
}

/// Disjoint sets of documents.
struct Families {
    parents: Vec<usize>,
}

impl Families {
    fn of(ids: &[&str], keys: &HashMap<String, Vec<String>, impl BuildHasher>) -> Self {
        let mut families = Self { parents: (0..ids.len()).collect() };
        // The number of the family that a source gives, of each set by its root.
        let mut given: HashMap<usize, &str> = HashMap::new();
        for kind in KINDS {
            let mut owners: HashMap<&str, usize> = HashMap::new();
            for (nth, id) in ids.iter().enumerate() {
                let of_kind = keys.get(*id).into_iter().flatten().filter(|key| key.starts_with(kind));
                for key in of_kind {
                    let owner = *owners.entry(key).or_insert(nth);
                    let (one, other) = (families.root(owner), families.root(nth));
                    if kind == KINDS[0] {
                        given.entry(other).or_insert(key);
                    }
                    let differ = given.get(&one).zip(given.get(&other)).is_some_and(|(a, b)| a != b);
                    if one != other && !differ {
                        let (low, high) = (one.min(other), one.max(other));
                        families.parents[high] = low;
                        if let Some(key) = given.remove(&high) {
                            given.entry(low).or_insert(key);
                        }
                    }
                }
            }
        }
        families
    }

    fn root(&self, mut nth: usize) -> usize {
        while self.parents[nth] != nth {
            nth = self.parents[nth];
        }
        nth
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(ids: &[&str]) -> RankedDocs {
        let docs = ids.iter().enumerate();
        RankedDocs::new(
            docs.map(|(nth, id)| ((*id).to_owned(), 10.0 - nth as f64, vec![format!("ipc:{id}")])),
        )
    }

    fn keys(list: &[(&str, &[&str])]) -> HashMap<String, Vec<String>> {
        let owned = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect();
        list.iter().map(|(id, keys)| ((*id).to_owned(), owned(keys))).collect()
    }

    #[test]
    fn the_best_member_stands_for_its_family() {
        let lanes = [list(&["x", "ep-b", "us"]), list(&["ep-a", "us", "y"])];
        let keys = keys(&[
            ("ep-a", &["family:1", "number:EP1"]),
            ("ep-b", &["family:1", "number:EP1"]),
            ("us", &["number:US1", "priorities:NL1"]),
            ("y", &["family:2", "priorities:NL1"]),
        ]);
        let into = representatives(&[&lanes[0], &lanes[1]], &keys);
        assert_eq!(
            into.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect::<Vec<_>>(),
            [("ep-b", "ep-a"), ("y", "us")]
        );
        assert_eq!(folded(&lanes[0], &into).ids, ["x", "ep-a", "us"]);
        let second = folded(&lanes[1], &into);
        assert_eq!(
            (second.ids.as_slice(), second.scores.as_slice()),
            (&["ep-a".to_owned(), "us".to_owned()][..], &[10.0, 9.0][..])
        );
        assert_eq!(second.codes_of(0).collect::<Vec<_>>(), ["ipc:ep-a"]);
        assert!(folded(&lanes[0], &into).codes[1].is_empty());
    }

    #[test]
    fn families_that_a_source_tells_apart_stay_apart() {
        let lanes = [list(&["a", "b", "c"])];
        let keys = keys(&[
            ("a", &["family:1", "priorities:P"]),
            ("b", &["priorities:P"]),
            ("c", &["family:2", "priorities:P"]),
        ]);
        let into = representatives(&[&lanes[0]], &keys);
        assert_eq!(Vec::from_iter(into), [("b".to_owned(), "a".to_owned())]);
        assert!(representatives(&[&lanes[0]], &HashMap::new()).is_empty());
    }
}
