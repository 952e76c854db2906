//! The groups of a proximity, in its three forms: `*N5"a (b c)"`, `a NEAR/5 (b OR c)`, `"a b"~5`.

use super::lex::checked;
use super::{Field, Near, Query, QueryError, Range, Word};
use crate::near::MAX_GROUPS;

/// Most phrases that alternatives side by side may stand for.
const MAX_PHRASES: usize = 64;

/// Words, and alternatives in brackets. `at` is the body's place in the query.
pub(super) fn groups(body: &str, at: usize) -> Result<Vec<Vec<Word>>, QueryError> {
    let chars: Vec<char> = body.chars().collect();
    let fail = |place: usize, found: String, expected: &str| Err(error(at + place, found, expected));
    let mut groups: Vec<Vec<Word>> = Vec::new();
    let mut open: Option<(usize, Vec<Word>)> = None;
    let mut i = 0;
    while let Some(c) = chars.get(i).copied() {
        match c {
            _ if c.is_whitespace() => i += 1,
            '(' if open.is_some() => {
                return fail(i, "`(`".to_owned(), "a word: groups of a proximity are not nested");
            }
            '(' => {
                open = Some((i, Vec::new()));
                i += 1;
            }
            ')' => {
                match open.take() {
                    None => return fail(i, "`)`".to_owned(), "a word or `(`"),
                    Some((from, group)) if group.is_empty() => {
                        return fail(from, "`()`".to_owned(), "words in the group");
                    }
                    Some((_, group)) => groups.push(group),
                }
                i += 1;
            }
            _ => {
                let start = i;
                while chars.get(i).is_some_and(|c| !c.is_whitespace() && !matches!(c, '(' | ')')) {
                    i += 1;
                }
                let text: String = chars[start..i].iter().collect();
                let word = word(&text, at + start)?;
                match &mut open {
                    Some((_, group)) => group.push(word),
                    None => groups.push(vec![word]),
                }
            }
        }
    }
    if let Some((from, _)) = open {
        let expected = format!("`)` for the `(` at character {}", at + from + 1);
        return fail(chars.len(), "`\"`".to_owned(), &expected);
    }
    let instead = body.contains(['、', ',', '，']).then(|| body.replace(['、', ',', '，'], " "));
    counted(groups, at, at + chars.len()).map_err(|error| QueryError { instead, ..error })
}

fn word(text: &str, at: usize) -> Result<Word, QueryError> {
    let (bare, exact) = text.strip_prefix('=').map_or((text, false), |bare| (bare, true));
    let is_operator = |name: &&str| text.eq_ignore_ascii_case(name);
    if ["AND", "OR", "NOT"].iter().any(is_operator) || (text.starts_with('-') && text.len() > 1) {
        let expected = "a word: a proximity has no operators, write alternatives as (a b)";
        return Err(error(at, format!("`{text}`"), expected));
    }
    let word = checked(bare, at + usize::from(exact), exact)?;
    if word.pattern().is_empty() {
        return Err(error(at, format!("`{text}`"), "a word with letters or digits"));
    }
    Ok(word)
}

/// The words of a phrase that may stand apart.
pub(super) fn of_phrase(words: &str, at: Range) -> Result<Vec<Vec<Word>>, QueryError> {
    let words = words.split_whitespace().filter(|text| !crate::fulltext::Pattern::of(text).is_empty());
    let groups = words.map(|text| word(text, at.start).map(|word| vec![word])).collect::<Result<_, _>>()?;
    counted(groups, at.start, at.start)
}

/// What stands beside the operators of a chain, each with its place.
pub(super) fn between(
    operands: Vec<(usize, Query)>,
    field: Option<Field>,
    distance: u32,
    ordered: bool,
    at: Range,
) -> Result<Near, QueryError> {
    let mut only: Option<Option<Field>> = None;
    let mut groups = Vec::with_capacity(operands.len());
    for (place, operand) in operands {
        let fields = bound(&operand);
        let same = fields.iter().all(|own| *only.get_or_insert(*own) == *own);
        if !same || fields.iter().flatten().any(|field| !field.is_text()) {
            let name = only.flatten().or(fields.into_iter().flatten().next()).map_or("title", Field::name);
            let expected = "one field for the whole proximity, one of running text";
            return Err(QueryError {
                instead: Some(format!("{name}:(a NEAR/{distance} b)")),
                ..error(place, "another field".to_owned(), expected)
            });
        }
        groups.push(alternatives(operand, place)?);
    }
    let groups = counted(groups, at.start, at.end)?;
    Ok(Near { distance, ordered, groups, field: only.flatten().or(field), at })
}

/// The fields that the words of an operand are bound to.
fn bound(operand: &Query) -> Vec<Option<Field>> {
    let field = |(leaf, _): (&Query, bool)| match leaf {
        Query::Term(term) => term.field,
        Query::Near(near) => near.field,
        _ => None,
    };
    operand.leaves().into_iter().map(field).collect()
}

fn alternatives(operand: Query, place: usize) -> Result<Vec<Word>, QueryError> {
    match operand {
        Query::Term(term) => Ok(vec![term.word()]),
        Query::Or(parts) => {
            let parts =
                parts.into_iter().map(|part| alternatives(part, place)).collect::<Result<Vec<_>, _>>()?;
            Ok(parts.concat())
        }
        // Words side by side are a phrase.
        Query::Near(near) if near.distance == 0 && near.ordered => phrases(near.groups, place),
        Query::And(_) | Query::Not(_) | Query::Near(_) => {
            let expected = "a word, a phrase, or alternatives with OR, on both sides of a proximity";
            Err(error(place, "another operator".to_owned(), expected))
        }
    }
}

fn phrases(groups: Vec<Vec<Word>>, place: usize) -> Result<Vec<Word>, QueryError> {
    let mut phrases: Vec<Word> = vec![Word { text: String::new(), quoted: true, exact: false }];
    for group in groups {
        if phrases.len() * group.len() > MAX_PHRASES || group.iter().any(|word| word.exact) {
            let expected = "fewer alternatives side by side, none of them with `=`, within a proximity";
            return Err(error(place, "ADJ".to_owned(), expected));
        }
        let longer = |start: &Word, next: &Word| {
            let gap = if start.text.is_empty() { "" } else { " " };
            Word { text: format!("{}{gap}{}", start.text, next.text), ..start.clone() }
        };
        phrases =
            phrases.iter().flat_map(|start| group.iter().map(move |next| longer(start, next))).collect();
    }
    Ok(phrases)
}

fn counted(groups: Vec<Vec<Word>>, start: usize, end: usize) -> Result<Vec<Vec<Word>>, QueryError> {
    if groups.len() < 2 {
        return Err(error(end, "`\"`".to_owned(), "two words or groups at least"));
    }
    if groups.len() > MAX_GROUPS {
        let expected = format!("at most {MAX_GROUPS}");
        return Err(error(start, format!("{} groups", groups.len()), &expected));
    }
    Ok(groups)
}

fn error(at: usize, found: String, expected: &str) -> QueryError {
    QueryError { at, found, expected: expected.to_owned(), instead: None }
}
