//! From tokens to the tree.

use super::lex::{Kind, Token, lex};
use super::proximity;
use super::{Field, Near, Query, QueryError, Range, Reading, Term, Word};

/// Deepest nesting of brackets and `NOT`.
const MAX_DEPTH: usize = 50;
/// Most words, phrases and proximities.
const MAX_LEAVES: usize = 1_000;

const OPERAND: &str = "a word, a phrase in quotes, a proximity, NOT or `(`";

pub(super) fn parse(text: &str) -> Result<Reading, QueryError> {
    let (tokens, notes) = lex(text)?;
    let mut parser = Parser { tokens: &tokens, next: 0, length: text.chars().count(), leaves: 0 };
    let query = parser.or(None, 0)?;
    match parser.tokens.get(parser.next) {
        None => Ok(Reading { query, notes }),
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
        QueryError { at, found, expected: expected.to_owned(), instead: None }
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
        self.proximity(field, depth)
    }

    /// `a NEAR/5 b`: one operator, between operands that are words, phrases, or alternatives.
    fn proximity(&mut self, field: Option<Field>, depth: usize) -> Result<Query, QueryError> {
        let start = self.place();
        let mut operands = vec![(start, self.primary(field, depth)?)];
        let mut operator = None;
        while let Some(Kind::Beside { distance, ordered }) = self.peek() {
            let own = (*distance, *ordered);
            if *operator.get_or_insert(own) != own {
                return Err(
                    self.error("the same operator as before it: brackets hold a phrase or alternatives")
                );
            }
            self.next += 1;
            operands.push((self.place(), self.primary(field, depth)?));
        }
        match operator {
            None => Ok(operands.swap_remove(0).1),
            Some((distance, ordered)) => {
                let end =
                    self.tokens.get(self.next.saturating_sub(1)).map_or(self.length, |token| token.at.end);
                let at = Range { start, end };
                proximity::between(operands, field, distance, ordered, at).map(Query::Near)
            }
        }
    }

    /// The character where the next token begins.
    fn place(&self) -> usize {
        self.tokens.get(self.next).map_or(self.length, |token| token.at.start)
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
                    Some(Kind::Open | Kind::Word(_) | Kind::Near { .. } | Kind::Slop { .. }) => {
                        self.primary(Some(*inner), depth + 1)
                    }
                    _ => Err(self.error(&format!("a word, a phrase or `(` after `{}:`", inner.name()))),
                }
            }
            Kind::Word(Word { text, quoted, exact }) => {
                let (text, quoted, exact) = (text.clone(), *quoted, *exact);
                self.leaf(Query::Term(Term { text, field, quoted, exact, at }))
            }
            Kind::Near { distance, ordered, body, body_at } => {
                self.near(field, |_| proximity::groups(body, *body_at), *distance, *ordered)
            }
            Kind::Slop { distance, words } => {
                self.near(field, |at| proximity::of_phrase(words, at), *distance, false)
            }
            Kind::Beside { .. } => {
                Err(self.error("a word, a phrase or `(` on both sides; in quotes, it is a word"))
            }
            Kind::And | Kind::Or | Kind::Not | Kind::Close => Err(self.error(OPERAND)),
        }
    }

    fn near(
        &mut self,
        field: Option<Field>,
        groups: impl FnOnce(Range) -> Result<Vec<Vec<Word>>, QueryError>,
        distance: u32,
        ordered: bool,
    ) -> Result<Query, QueryError> {
        if let Some(field) = field.filter(|field| !field.is_text()) {
            return Err(self.error(&format!("a word or a phrase: `{}:` has no proximities", field.name())));
        }
        let at = self.tokens.get(self.next).map_or(Range { start: 0, end: 0 }, |token| token.at);
        let groups = groups(at)?;
        self.leaf(Query::Near(Near { distance, ordered, groups, field, at }))
    }

    fn leaf(&mut self, leaf: Query) -> Result<Query, QueryError> {
        if let Query::Term(term) = &leaf
            && term.field.is_none_or(Field::is_text)
            && term.word().pattern().is_empty()
        {
            return Err(self.error("a word with letters or digits"));
        }
        if let Query::Term(Term { text, field: Some(field), exact, at, .. }) = &leaf
            && !field.is_text()
            && (*exact || text.contains(['*', '?']))
        {
            let expected = format!(
                "a whole value: `{}:` has no `=`, `*`, and `?`, and codes include those below",
                field.name()
            );
            let form = format!("{}:{}", field.name(), text.replace(['*', '?'], ""));
            return Err(QueryError {
                at: at.start,
                found: format!("`{text}`"),
                expected,
                instead: Some(form),
            });
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
        Kind::Word(word) => format!("`{}`", word.text.chars().take(20).collect::<String>()),
        Kind::Near { .. } | Kind::Slop { .. } => "a proximity".to_owned(),
        Kind::Beside { distance: 0, ordered: true } => "`ADJ`".to_owned(),
        Kind::Beside { ordered, .. } => if *ordered { "ADJ" } else { "NEAR" }.to_owned(),
    }
}
