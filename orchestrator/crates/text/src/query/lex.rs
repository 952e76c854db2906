//! Tokens of the query language.

use super::foreign::{self, Infix};
use super::{Field, Note, QueryError, Range, Word};
use crate::fulltext::Pattern;
use crate::{Wildcard, is_cjk};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    Open,
    Close,
    And,
    Or,
    Not,
    Field(Field),
    Word(Word),
    /// `*N5"…"`
    Near {
        distance: u32,
        ordered: bool,
        body: String,
        body_at: usize,
    },
    /// `"a b"~5`
    Slop {
        distance: u32,
        words: String,
    },
    /// `NEAR/5` between two operands.
    Beside {
        distance: u32,
        ordered: bool,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) at: Range,
}

/// Largest distance of a proximity.
const MAX_DISTANCE: u32 = 1_000;
const TRUNCATION: &str = "at least 2 letters or digits in a word with `*` or `?`";

pub(super) fn lex(text: &str) -> Result<(Vec<Token>, Vec<Note>), QueryError> {
    let chars: Vec<char> = text.chars().map(ascii).collect();
    let mut lexer = Lexer { chars: &chars, at: 0, tokens: Vec::new(), notes: Vec::new() };
    while let Some(c) = lexer.peek() {
        let start = lexer.at;
        if c.is_whitespace() {
            lexer.at += 1;
            continue;
        }
        let kind = lexer.token(c)?;
        lexer.tokens.extend(kind.map(|kind| Token { kind, at: Range { start, end: lexer.at } }));
    }
    lexer.operators()?;
    Ok((lexer.tokens, lexer.notes))
}

/// The ASCII form of the marks that the language uses.
fn ascii(c: char) -> char {
    match c {
        '（' => '(',
        '）' => ')',
        '＂' | '“' | '”' | '„' | '〝' | '〞' | '〟' => '"',
        '＊' => '*',
        '：' => ':',
        other => other,
    }
}

/// Whether a character ends a bare word.
fn ends_word(c: char) -> bool {
    c.is_whitespace() || matches!(c, '(' | ')' | '"')
}

struct Lexer<'a> {
    chars: &'a [char],
    at: usize,
    tokens: Vec<Token>,
    notes: Vec<Note>,
}

impl Lexer<'_> {
    /// The token that begins here; `None` for a sign that says nothing.
    fn token(&mut self, c: char) -> Result<Option<Kind>, QueryError> {
        let (start, next) = (self.at, self.chars.get(self.at + 1).copied());
        let opens =
            |c: Option<char>| c.is_some_and(|c| c.is_alphabetic() || matches!(c, '(' | '"' | '=' | '*'));
        Ok(Some(match c {
            '(' if self.is_descriptor() => return self.word(false),
            '(' => {
                self.at += 1;
                Kind::Open
            }
            ')' => {
                self.at += 1;
                self.tail("(…)")?;
                Kind::Close
            }
            '"' => self.phrase(false)?,
            '*' if self.is_near() => self.near()?,
            '=' if self.is_free() && next == Some('"') => {
                self.at += 1;
                self.phrase(true)?
            }
            '=' if self.is_free() && next.is_some_and(|c| !ends_word(c) && c != '=') => {
                self.at += 1;
                return self.word(true);
            }
            '=' if self.is_free() => {
                let expected = "a word after `=`, as in =LED, or a field before `:`, as in title:lamp";
                return Err(self.error(start, expected));
            }
            '-' if self.is_free() && opens(next) => {
                self.at += 1;
                Kind::Not
            }
            '+' if self.is_free() && opens(next) => {
                // All words must be there without it.
                self.at += 1;
                return Ok(None);
            }
            '!' if self.is_free() && opens(next) => {
                let rest: String =
                    self.chars[start + 1..].iter().take_while(|c| !c.is_whitespace()).collect();
                return Err(self.error(start, "NOT").instead(format!("NOT {rest}")));
            }
            '-' | '+' | '*' if self.is_free() && next.is_none_or(|c| ends_word(c) && c != '"') => {
                let (operator, form) = match c {
                    '-' => ("NOT, or nothing", "NOT"),
                    '+' => ("OR, or nothing", "OR"),
                    _ => ("AND, or nothing", "AND"),
                };
                return Err(self.error(start, operator).instead(form));
            }
            // Behind a bracket or a quote, a sign is a hyphen.
            '-' | '+' | '=' | '!' if !self.is_free() && next.is_some_and(|c| !ends_word(c)) => {
                self.at += 1;
                return Ok(None);
            }
            _ => return self.word(false),
        }))
    }

    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    /// Whether nothing stands right before: a sign is an operator there, and part of a word elsewhere.
    fn is_free(&self) -> bool {
        let before = self.at.checked_sub(1).and_then(|at| self.chars.get(at));
        before.is_none_or(|c| c.is_whitespace() || *c == '(')
            || self.tokens.last().is_some_and(|last| last.at.end == self.at && !last.kind.ends_operand())
    }

    /// `(+)-`, `(−)-`: which way a substance turns light.
    fn is_descriptor(&self) -> bool {
        let rest = &self.chars[self.at + 1..];
        let signs = rest.iter().take_while(|c| matches!(c, '+' | '-' | '±' | '−' | '/')).count();
        signs > 0 && rest.get(signs) == Some(&')') && rest.get(signs + 1) == Some(&'-')
    }

    fn error(&self, at: usize, expected: impl Into<String>) -> QueryError {
        let rest = self.chars.get(at..).unwrap_or_default();
        let word: String = rest.iter().take_while(|c| !c.is_whitespace()).take(20).collect();
        let found = match (rest.is_empty(), word.is_empty()) {
            (true, _) => "the end".to_owned(),
            (false, true) => "a blank".to_owned(),
            (false, false) => format!("`{word}`"),
        };
        QueryError { at, found, expected: expected.into(), instead: None }
    }

    fn quoted(&mut self, what: &str) -> Result<String, QueryError> {
        let open = self.at;
        self.at += 1;
        let body: String = self.chars[self.at..].iter().take_while(|c| **c != '"').collect();
        self.at += body.chars().count();
        if self.peek().is_none() {
            return Err(self.error(self.at, format!("`\"` for the one at character {}", open + 1)));
        }
        self.at += 1;
        if body.trim().is_empty() {
            return Err(QueryError {
                at: open,
                found: "nothing in quotes".to_owned(),
                expected: what.to_owned(),
                instead: None,
            });
        }
        Ok(body)
    }

    /// A phrase in quotes, with what stands right behind it.
    fn phrase(&mut self, exact: bool) -> Result<Kind, QueryError> {
        let mut text = self.quoted("a phrase in quotes")?;
        if self.peek() == Some('~') {
            let digits = self.chars[self.at + 1..].iter().take_while(|c| c.is_ascii_digit()).count();
            if digits > 0 && !exact {
                let at = self.at + 1;
                self.at += 1 + digits;
                return Ok(Kind::Slop { distance: self.distance(at)?, words: text });
            }
        }
        self.tail(&format!("\"{text}\""))?;
        let next = self.peek();
        if next.is_some_and(|c| c.is_ascii_alphanumeric()) {
            return Err(self.error(self.at, "a blank or an operator after the phrase: quotes are not nested"));
        }
        if matches!(next, Some('*' | '?' | '$')) {
            let last = if next == Some('?') { '?' } else { '*' };
            let form = format!("\"{text}{last}\"");
            return Err(self.error(self.at, "the sign for open characters inside the quotes").instead(form));
        }
        // A question's mark is no open character.
        if text.ends_with('?') && text.split_whitespace().count() >= 3 {
            text.pop();
        }
        Ok(Kind::Word(Word { text, quoted: true, exact }))
    }

    /// Refuses what other systems write right behind a phrase or a group.
    fn tail(&self, operand: &str) -> Result<(), QueryError> {
        let rest = &self.chars[self.at..];
        let tail: String = rest.iter().take_while(|c| !ends_word(**c)).collect();
        match foreign::tail(&tail, operand) {
            Some(refusal) => Err(refusal.at(self.at)),
            None => Ok(()),
        }
    }

    /// The distance in these characters up to here.
    fn distance(&self, from: usize) -> Result<u32, QueryError> {
        let digits: String = self.chars[from..self.at].iter().map(|c| folded(*c)).collect();
        let distance = digits.parse().ok().filter(|distance| *distance <= MAX_DISTANCE);
        distance.ok_or_else(|| self.error(from, format!("a distance from 0 to {MAX_DISTANCE}")))
    }

    /// Whether a proximity begins here, and no word that is open at its begin.
    fn is_near(&self) -> bool {
        let rest = &self.chars[self.at + 1..];
        let letters = rest.iter().take_while(|c| folded(**c).is_ascii_alphabetic()).count();
        let name: String = rest[..letters].iter().map(|c| folded(*c).to_ascii_uppercase()).collect();
        let digits = rest[letters..].iter().take_while(|c| folded(**c).is_ascii_digit()).count();
        let quote = rest.get(letters + digits) == Some(&'"');
        quote || (matches!(name.as_str(), "N" | "NP" | "ONP") && digits > 0)
    }

    fn near(&mut self) -> Result<Kind, QueryError> {
        const FORM: &str = "a proximity such as *N5\"a b\", *NP5\"a b\" or *ONP5\"a b\"";
        let start = self.at;
        self.at += 1;
        let letters: String = self
            .take_while(|c| folded(c).is_ascii_alphabetic())
            .iter()
            .map(|c| folded(*c).to_ascii_uppercase())
            .collect();
        let ordered = match letters.as_str() {
            "N" | "NP" => false,
            "ONP" => true,
            _ => return Err(self.error(start, FORM)),
        };
        let digits_at = self.at;
        self.take_while(|c| folded(c).is_ascii_digit());
        let distance = self.distance(digits_at)?;
        if self.peek() != Some('"') {
            return Err(self.error(self.at, "`\"` and the words of the proximity"));
        }
        let body_at = self.at + 1;
        let body = self.quoted("two words or groups at least")?;
        Ok(Kind::Near { distance, ordered, body, body_at })
    }

    /// A bare word, an operator, or a field.
    fn word(&mut self, exact: bool) -> Result<Option<Kind>, QueryError> {
        let start = self.at;
        let name: String = self
            .take_while(|c| folded(c).is_ascii_alphabetic() || matches!(c, '-' | '_'))
            .iter()
            .map(|c| folded(*c))
            .collect();
        if !exact
            && !name.is_empty()
            && let Some(kind) = self.field(&name, start)?
        {
            return Ok(Some(kind));
        }
        self.at = start;
        if self.peek() == Some('(') {
            // A descriptor.
            self.take_while(|c| c != ')');
            self.at += 1;
        }
        self.take_while(|c| !ends_word(c));
        let word: String = self.chars[start..self.at].iter().collect();
        let plain: String = word.chars().map(folded).collect();
        if !exact {
            match plain.to_ascii_uppercase().as_str() {
                "AND" | "&" | "&&" => return Ok(Some(Kind::And)),
                "OR" | "|" | "||" => return Ok(Some(Kind::Or)),
                "NOT" => return Ok(Some(Kind::Not)),
                _ => {}
            }
            if let Some(Infix::Near { distance, ordered }) = foreign::infix(&plain) {
                let digits = start + plain.find(|c: char| c.is_ascii_digit()).unwrap_or(0);
                let distance = distance.filter(|distance| *distance <= MAX_DISTANCE);
                let too_far = || self.error(digits, format!("a distance from 0 to {MAX_DISTANCE}"));
                return Ok(Some(Kind::Beside { distance: distance.ok_or_else(too_far)?, ordered }));
            }
        }
        let (mut word, mut end) = (word, self.at);
        let is_heading = !name.is_empty() && plain.len() == name.len() + 1 && plain.ends_with(':');
        if is_heading || (word.ends_with('?') && self.is_question()) {
            word.pop();
            end -= 1;
        }
        let read = checked(&word, end - word.chars().count(), exact)?;
        if let Some(form) = foreign::truncated_elsewhere(&plain) {
            self.note(Range { start, end: self.at }, format!("for a truncated word write `{form}`"));
        }
        if plain.starts_with('-') && plain[1..].starts_with(|c: char| c.is_ascii_digit()) && !exact {
            let form = format!("to leave documents with it out, write `NOT {}`", &plain[1..]);
            self.note(Range { start, end: self.at }, form);
        }
        if is_heading {
            self.note(Range { start, end: self.at }, format!("for a field write one of {}", field_names()));
        }
        Ok(Some(Kind::Word(read)))
    }

    /// What a name before `:` or `=` is; `None` when it belongs to a word.
    fn field(&mut self, name: &str, start: usize) -> Result<Option<Kind>, QueryError> {
        let Some(mark @ (':' | '=')) = self.peek() else { return Ok(None) };
        let rest = &self.chars[self.at + 1..];
        let known = Field::named(name);
        if let (Some(field), ':') = (known, mark) {
            self.at += 1;
            return Ok(Some(Kind::Field(field)));
        }
        if let Some(refusal) = foreign::named(name, mark, rest) {
            return Err(refusal.at(start));
        }
        // A heading ends in a colon.
        if mark == '=' || rest.first().is_none_or(|c| c.is_whitespace()) && !self.tokens_are_structured() {
            return Ok(None);
        }
        let expected = format!("a field ({}), or the text in quotes", field_names());
        Err(QueryError { at: start, found: format!("`{name}:`"), expected, instead: None })
    }

    /// Whether the query so far has more than words.
    fn tokens_are_structured(&self) -> bool {
        !self.tokens.iter().all(|token| matches!(&token.kind, Kind::Word(word) if !word.quoted))
    }

    /// Whether the word that ends here ends a question: the query is a sentence, and nothing follows.
    fn is_question(&self) -> bool {
        let ends = self.chars[self.at..].iter().all(|c| c.is_whitespace());
        let plain = |token: &Token| match &token.kind {
            Kind::Word(word) => !word.quoted && !word.exact && !Wildcard::is_in(&word.text),
            Kind::And | Kind::Or | Kind::Not => self.chars[token.at.start].is_lowercase(),
            _ => false,
        };
        ends && self.tokens.len() >= 2 && self.tokens.iter().all(plain)
    }

    fn note(&mut self, at: Range, hint: String) {
        let word = self.chars[at.start..at.end].iter().collect();
        self.notes.push(Note { at, word, hint });
    }

    /// Words that are operators where they stand between two operands.
    fn operators(&mut self) -> Result<(), QueryError> {
        let capitals = self.is_in_capitals();
        for nth in 0..self.tokens.len() {
            let Kind::Word(Word { text, quoted: false, exact: false }) = &self.tokens[nth].kind else {
                continue;
            };
            let (plain, at): (String, Range) = (text.chars().map(folded).collect(), self.tokens[nth].at);
            let kind = |nth: Option<usize>| nth.and_then(|nth| self.tokens.get(nth)).map(|token| &token.kind);
            let (before, after) = (kind(nth.checked_sub(1)), kind(nth.checked_add(1)));
            let between = before.is_some_and(Kind::ends_operand) && after.is_some_and(Kind::begins_operand);
            let near = || "for a proximity write `a NEAR/5 b`".to_owned();
            match foreign::infix(&plain).filter(|_| between) {
                Some(Infix::Adjacent) => self.tokens[nth].kind = Kind::Beside { distance: 0, ordered: true },
                Some(Infix::Refused { form, .. }) if capitals => {
                    self.note(at, format!("for an operator write `{form}`"));
                }
                Some(Infix::Refused { expected, form }) => {
                    let around =
                        |token: Option<&Token>| token.map_or_else(String::new, |token| self.shown(token));
                    let (left, right) = (around(self.tokens.get(nth - 1)), around(self.tokens.get(nth + 1)));
                    return Err(self.error(at.start, expected).instead(format!("{left} {form} {right}")));
                }
                Some(Infix::Word { form }) => self.note(at, format!("for an operator write `{form}`")),
                Some(Infix::Near { .. }) | None => {
                    let brackets = [before == Some(&Kind::Close), after == Some(&Kind::Open)];
                    let alone = before == Some(&Kind::Open) && after == Some(&Kind::Close);
                    let operator = |kind: Option<&Kind>| {
                        matches!(kind, Some(Kind::And | Kind::Or | Kind::Not | Kind::Beside { .. }))
                    };
                    let is_relation = between && foreign::is_relation(&plain) && brackets.contains(&true);
                    if is_relation || alone && nth > 1 && foreign::is_bracketed(&plain) {
                        self.note(at, near());
                    } else if foreign::is_set(&plain) && (operator(before) || operator(after)) {
                        let expected =
                            "words: earlier searches have no numbers here, a blend merges their runs";
                        return Err(self.error(at.start, expected));
                    }
                }
            }
        }
        Ok(())
    }

    /// A heading in capitals, in which `WITH` is a word.
    fn is_in_capitals(&self) -> bool {
        let words = |token: &Token| matches!(&token.kind, Kind::Word(word) if !word.quoted);
        let operators = |token: &Token| matches!(token.kind, Kind::And | Kind::Or | Kind::Not);
        self.tokens.iter().filter(|token| words(token)).count() >= 4
            && self.tokens.iter().all(|token| words(token) || operators(token))
            && !self.chars.iter().any(|c| c.is_lowercase())
    }

    fn shown(&self, token: &Token) -> String {
        match token.kind {
            Kind::Open | Kind::Close => "(…)".to_owned(),
            _ => self.chars[token.at.start..token.at.end].iter().collect(),
        }
    }

    fn take_while(&mut self, accept: impl Fn(char) -> bool) -> &[char] {
        let start = self.at;
        self.at += self.chars[start..].iter().take_while(|c| accept(**c)).count();
        &self.chars[start..self.at]
    }
}

impl Kind {
    /// Whether an operand may end with it.
    fn ends_operand(&self) -> bool {
        matches!(self, Self::Close | Self::Word(_) | Self::Near { .. } | Self::Slop { .. })
    }

    /// Whether an operand may begin with it.
    fn begins_operand(&self) -> bool {
        matches!(self, Self::Open | Self::Field(_) | Self::Word(_) | Self::Near { .. } | Self::Slop { .. })
    }
}

fn field_names() -> String {
    Field::ALL.map(Field::name).join(", ")
}

/// A bare word, at this character of the query, without the signs that say nothing beside CJK characters.
pub(super) fn checked(text: &str, at: usize, exact: bool) -> Result<Word, QueryError> {
    if let Some(refusal) = foreign::word(text) {
        return Err(refusal.at(at));
    }
    let mut word = text;
    // CJK characters are found wherever they stand.
    while let Some(rest) =
        word.strip_suffix(['*', '?']).filter(|rest| rest.trim_end_matches('*').ends_with(is_cjk))
    {
        word = rest;
    }
    while let Some(rest) =
        word.strip_prefix('*').filter(|rest| rest.trim_start_matches('*').starts_with(is_cjk))
    {
        word = rest;
    }
    if Wildcard::is_in(word) && Wildcard::idle(word) && !is_product(word) {
        let sign = text.chars().position(|c| matches!(c, '*' | '?')).unwrap_or(0);
        let instead = (!Pattern::of(text).is_empty()).then(|| format!("\"{text}\""));
        let rest: String = text.chars().skip(sign).take(20).collect();
        return Err(QueryError {
            at: at + sign,
            found: format!("`{rest}`"),
            expected: TRUNCATION.to_owned(),
            instead,
        });
    }
    Ok(Word { text: word.to_owned(), quoted: false, exact })
}

/// `2*3`
fn is_product(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_digit() || matches!(c, '*' | '.' | ','))
}

/// A full-width letter or digit as ASCII.
fn folded(c: char) -> char {
    match c {
        '\u{FF01}'..='\u{FF5E}' => char::from_u32(c as u32 - 0xFEE0).unwrap_or(c),
        other => other,
    }
}
