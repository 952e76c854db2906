//! Finds words that a wide query should not require: generic words, and words of a use case. A document about the same
//! core in another setting lacks them.

use lyra_text::query::Query;
use lyra_text::{is_cjk, normalise, words};

/// Words to look out for.
#[derive(Debug, Clone, Default)]
pub struct WordList {
    words: Vec<Vec<String>>,
    characters: Vec<String>,
}

impl WordList {
    /// Reads words and phrases.
    pub fn new<'a>(list: impl IntoIterator<Item = &'a str>) -> Self {
        let mut read = Self::default();
        for entry in list {
            let folded = normalise(entry).to_lowercase();
            if folded.chars().any(is_cjk) {
                read.characters.push(folded);
            } else {
                let entry = words(&folded);
                if !entry.is_empty() {
                    read.words.push(entry);
                }
            }
        }
        read
    }

    /// Whether a term consists only of listed words.
    fn is(&self, term: &str) -> bool {
        let folded = normalise(term).to_lowercase();
        let term = words(&folded);
        self.characters.contains(&folded)
            || (!term.is_empty()
                && term.iter().all(|word| self.words.iter().any(|entry| *entry == [word.clone()])))
    }

    /// Whether a term has a listed word in it.
    fn is_in(&self, term: &str) -> bool {
        let folded = normalise(term).to_lowercase();
        let term = words(&folded);
        self.characters.iter().any(|entry| folded.contains(entry))
            || self.words.iter().any(|entry| term.windows(entry.len()).any(|part| part == entry))
    }
}

/// Words that a wide query requires in every document.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Demands {
    /// General words.
    pub general: Vec<String>,
    /// Words of use cases.
    pub use_case: Vec<String>,
    /// The query with all of them optional: documents that have them rank higher, others are found too. `None` when
    /// nothing else would remain.
    pub relaxed: Option<String>,
}

/// Finds the demands of a query: terms, or alternatives that are all of one kind, under `AND`.
pub fn demands(query: &Query, general: &WordList, use_case: &WordList) -> Demands {
    let mut demands = Demands::default();
    let mut optional = Vec::new();
    let core = without(query, general, use_case, &mut demands, &mut optional);
    if let (Some(core), false) = (core, optional.is_empty()) {
        let liked = if optional.len() == 1 { optional.remove(0) } else { Query::Or(optional) };
        let both = Query::And(vec![core.clone(), liked]);
        demands.relaxed = Some(Query::Or(vec![core, both]).to_string());
    }
    demands
}

/// The query without these words, which go to `demands` and `optional`; `None` when nothing remains.
fn without(
    query: &Query,
    general: &WordList,
    use_case: &WordList,
    demands: &mut Demands,
    optional: &mut Vec<Query>,
) -> Option<Query> {
    if let Query::And(parts) = query {
        let mut kept: Vec<Query> =
            parts.iter().filter_map(|part| without(part, general, use_case, demands, optional)).collect();
        return match kept.len() {
            0 => None,
            1 => kept.pop(),
            _ => Some(Query::And(kept)),
        };
    }
    let mut terms = Vec::new();
    if !alternatives(query, &mut terms) {
        return Some(query.clone());
    }
    let found = if terms.iter().all(|term| use_case.is_in(term)) {
        &mut demands.use_case
    } else if terms.iter().all(|term| general.is(term)) {
        &mut demands.general
    } else {
        return Some(query.clone());
    };
    for term in terms {
        if !found.iter().any(|known| known == term) {
            found.push(term.to_owned());
        }
    }
    optional.push(query.clone());
    None
}

/// The terms of which a part requires one; `false` when it is not a choice among terms of running text.
fn alternatives<'a>(query: &'a Query, terms: &mut Vec<&'a str>) -> bool {
    match query {
        Query::Term(term) if term.field.is_none_or(lyra_text::query::Field::is_text) => {
            terms.push(&term.text);
            true
        }
        Query::Or(parts) => parts.iter().all(|part| alternatives(part, terms)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(query: &str, general: &[&str], use_case: &[&str], relaxed: Option<&str>) {
        let lists =
            (WordList::new(["system", "device", "装置"]), WordList::new(["gate", "parking lot", "ゲート"]));
        let found = demands(&Query::parse(query).unwrap(), &lists.0, &lists.1);
        assert_eq!(found.general, general, "{query}");
        assert_eq!(found.use_case, use_case, "{query}");
        assert_eq!(found.relaxed.as_deref(), relaxed, "{query}");
        if let Some(relaxed) = relaxed {
            assert!(Query::parse(relaxed).is_ok(), "{relaxed}");
        }
    }

    #[test]
    fn demands_become_wishes() {
        check("face AND mask", &[], &[], None);
        check("face OR gate", &[], &[], None);
        check("face NOT gate", &[], &[], None);
        check("face gates", &[], &["gates"], Some("(face OR (face AND gates))"));
        check(
            "(face OR visage) AND (gate OR \"parking lots\") AND system",
            &["system"],
            &["gate", "parking lots"],
            Some("((face OR visage) OR ((face OR visage) AND ((gate OR \"parking lots\") OR system)))"),
        );
        check(
            "顔認証 AND 入退室ゲート AND 装置",
            &["装置"],
            &["入退室ゲート"],
            Some("(顔認証 OR (顔認証 AND (入退室ゲート OR 装置)))"),
        );
        check("顔認証装置", &[], &[], None);
        check("gate", &[], &["gate"], None);
        check("face AND (gate OR mask)", &[], &[], None);
        check("face AND ipc:G07C9", &[], &[], None);
    }
}
