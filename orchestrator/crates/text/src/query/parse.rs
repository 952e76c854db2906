//! From tokens to the tree.

use super::lex::{Kind, Token, lex};
use super::{Field, Near, Query, QueryError, Range, Term};
use crate::fulltext::Pattern;
use crate::near::MAX_GROUPS;

/// Deepest nesting of brackets and `NOT`.
const MAX_DEPTH: usize = 50;
/// Most words, phrases and proximities.
const MAX_LEAVES: usize = 1_000;

const OPERAND: &str = "a word, a phrase in quotes, a proximity, NOT or `(`";

pub(super) fn parse(text: &str) -> Result<Query, QueryError> {
    let tokens = lex(text)?;
    let mut parser = Parser { tokens: &tokens, next: 0, length: text.chars().count(), leaves: 0 };
    let query = parser.or(None, 0)?;
    match parser.tokens.get(parser.next) {
        None => Ok(query),
        Some(_) => Err(parser.error("AND, OR, NOT, a word or the end")),
    }
}

struct Parser<'a> {
    tokens: &'a [Token],
    next: usize,
    length: usize,
    leaves: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&Kind> {
        self.tokens.get(self.next).map(|token| &token.kind)
    }

    fn error(&self, expected: &str) -> QueryError {
        let (at, found) = match self.tokens.get(self.next) {
            None => (self.length, "the end".to_owned()),
            Some(token) => (token.at.start, shown(&token.kind)),
        };
        QueryError { at, found, expected: expected.to_owned() }
    }

    fn or(&mut self, field: Option<Field>, depth: usize) -> Result<Query, QueryError> {
        let mut parts = vec![self.and(field, depth)?];
        while self.peek() == Some(&Kind::Or) {
            self.next += 1;
            parts.push(self.and(field, depth)?);
        }
        Ok(one_or(parts, Query::Or))
    }

    fn and(&mut self, field: Option<Field>, depth: usize) -> Result<Query, QueryError> {
        let mut parts = vec![self.not(field, depth)?];
        loop {
            match self.peek() {
                None | Some(Kind::Or | Kind::Close) => return Ok(one_or(parts, Query::And)),
                Some(Kind::And) => self.next += 1,
                Some(_) => {}
            }
            parts.push(self.not(field, depth)?);
        }
    }

    fn not(&mut self, field: Option<Field>, depth: usize) -> Result<Query, QueryError> {
        if depth > MAX_DEPTH {
            return Err(self.error(&format!("at most {MAX_DEPTH} levels of brackets")));
        }
        if self.peek() == Some(&Kind::Not) {
            self.next += 1;
            return Ok(Query::Not(Box::new(self.not(field, depth + 1)?)));
        }
        self.primary(field, depth)
    }

    fn primary(&mut self, field: Option<Field>, depth: usize) -> Result<Query, QueryError> {
        if depth > MAX_DEPTH {
            return Err(self.error(&format!("at most {MAX_DEPTH} levels of brackets")));
        }
        let Some(token) = self.tokens.get(self.next) else { return Err(self.error(OPERAND)) };
        let at = token.at;
        match &token.kind {
            Kind::Open => {
                self.next += 1;
                let inner = self.or(field, depth + 1)?;
                if self.peek() != Some(&Kind::Close) {
                    return Err(self.error(&format!("`)` for the `(` at character {}", at.start + 1)));
                }
                self.next += 1;
                Ok(inner)
            }
            Kind::Field(inner) => {
                if field.is_some() {
                    return Err(self.error("a word: one field stands around this already"));
                }
                self.next += 1;
                match self.peek() {
                    Some(Kind::Open | Kind::Word(_) | Kind::Quoted(_) | Kind::Near { .. }) => {
                        self.primary(Some(*inner), depth + 1)
                    }
                    _ => Err(self.error(&format!("a word, a phrase or `(` after `{}:`", inner.name()))),
                }
            }
            Kind::Word(text) => self.leaf(Query::Term(Term { text: text.clone(), field, quoted: false, at })),
            Kind::Quoted(text) => {
                self.leaf(Query::Term(Term { text: text.clone(), field, quoted: true, at }))
            }
            Kind::Near { distance, ordered, body, body_at } => {
                if let Some(field) = field.filter(|field| !field.is_text()) {
                    return Err(
                        self.error(&format!("a word or a phrase: `{}:` has no proximities", field.name()))
                    );
                }
                let groups = groups(body, *body_at)?;
                self.leaf(Query::Near(Near { distance: *distance, ordered: *ordered, groups, field, at }))
            }
            Kind::And | Kind::Or | Kind::Not | Kind::Close => Err(self.error(OPERAND)),
        }
    }

    fn leaf(&mut self, leaf: Query) -> Result<Query, QueryError> {
        if let Query::Term(term) = &leaf
            && term.field.is_none_or(Field::is_text)
            && Pattern::of(&term.text).is_empty()
        {
            return Err(self.error("a word with letters or digits"));
        }
        self.leaves += 1;
        if self.leaves > MAX_LEAVES {
            return Err(self.error(&format!("at most {MAX_LEAVES} words")));
        }
        self.next += 1;
        Ok(leaf)
    }
}

fn one_or(mut parts: Vec<Query>, many: fn(Vec<Query>) -> Query) -> Query {
    match (parts.len(), parts.pop()) {
        (1, Some(one)) => one,
        (_, Some(last)) => {
            parts.push(last);
            many(parts)
        }
        (_, None) => many(parts),
    }
}

fn shown(kind: &Kind) -> String {
    match kind {
        Kind::Open => "`(`".to_owned(),
        Kind::Close => "`)`".to_owned(),
        Kind::And => "`AND`".to_owned(),
        Kind::Or => "`OR`".to_owned(),
        Kind::Not => "`NOT`".to_owned(),
        Kind::Field(field) => format!("`{}:`", field.name()),
        Kind::Word(text) | Kind::Quoted(text) => format!("`{}`", text.chars().take(20).collect::<String>()),
        Kind::Near { .. } => "a proximity".to_owned(),
    }
}

/// The groups of a proximity: words, and alternatives in brackets. `at` is the body's place in the query.
fn groups(body: &str, at: usize) -> Result<Vec<Vec<String>>, QueryError> {
    let chars: Vec<char> = body.chars().collect();
    let fail = |place: usize, found: String, expected: &str| {
        Err(QueryError { at: at + place, found, expected: expected.to_owned() })
    };
    let mut groups: Vec<Vec<String>> = Vec::new();
    let mut open: Option<(usize, Vec<String>)> = None;
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
                let word: String = chars[start..i].iter().collect();
                if matches!(word.as_str(), "AND" | "OR" | "NOT") {
                    let expected = "a word: a proximity has no operators, write alternatives as (a b)";
                    return fail(start, format!("`{word}`"), expected);
                }
                if word.contains('*') || Pattern::of(&word).is_empty() {
                    return fail(start, format!("`{word}`"), "a word with letters or digits");
                }
                match &mut open {
                    Some((_, group)) => group.push(word),
                    None => groups.push(vec![word]),
                }
            }
        }
    }
    if let Some((from, _)) = open {
        return fail(
            chars.len(),
            "`\"`".to_owned(),
            &format!("`)` for the `(` at character {}", at + from + 1),
        );
    }
    if groups.len() < 2 {
        return fail(chars.len(), "`\"`".to_owned(), "two words or groups at least");
    }
    if groups.len() > MAX_GROUPS {
        return fail(0, format!("{} groups", groups.len()), &format!("at most {MAX_GROUPS}"));
    }
    Ok(groups)
}

impl Range {
    /// Its length in characters.
    pub fn len(&self) -> usize {
        self.end.saturating_sub(self.start)
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
