//! Tokens of the query language.

use super::{Field, QueryError, Range};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    Open,
    Close,
    And,
    Or,
    Not,
    Field(Field),
    Word(String),
    Quoted(String),
    Near { distance: u32, ordered: bool, body: String, body_at: usize },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) at: Range,
}

/// Largest distance of a proximity.
const MAX_DISTANCE: u32 = 1_000;

pub(super) fn lex(text: &str) -> Result<Vec<Token>, QueryError> {
    let chars: Vec<char> = text.chars().map(ascii).collect();
    let mut lexer = Lexer { chars: &chars, at: 0 };
    let mut tokens = Vec::new();
    while let Some(c) = lexer.peek() {
        let start = lexer.at;
        if c.is_whitespace() {
            lexer.at += 1;
            continue;
        }
        let kind = match c {
            '(' | ')' => {
                lexer.at += 1;
                if c == '(' { Kind::Open } else { Kind::Close }
            }
            '"' => Kind::Quoted(lexer.quoted("a phrase in quotes")?),
            '*' => lexer.near()?,
            _ => lexer.word()?,
        };
        tokens.push(Token { kind, at: Range { start, end: lexer.at } });
    }
    Ok(tokens)
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
}

impl Lexer<'_> {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn error(&self, at: usize, expected: impl Into<String>) -> QueryError {
        let rest = self.chars.get(at..).unwrap_or_default();
        let word: String = rest.iter().take_while(|c| !c.is_whitespace()).take(20).collect();
        let found = match (rest.is_empty(), word.is_empty()) {
            (true, _) => "the end".to_owned(),
            (false, true) => "a blank".to_owned(),
            (false, false) => format!("`{word}`"),
        };
        QueryError { at, found, expected: expected.into() }
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
            });
        }
        Ok(body)
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
        let digits: String =
            self.take_while(|c| folded(c).is_ascii_digit()).iter().map(|c| folded(*c)).collect();
        let distance = digits.parse().ok().filter(|distance| *distance <= MAX_DISTANCE);
        let Some(distance) = distance else {
            return Err(self.error(digits_at, format!("a distance from 0 to {MAX_DISTANCE}")));
        };
        if self.peek() != Some('"') {
            return Err(self.error(self.at, "`\"` and the words of the proximity"));
        }
        let body_at = self.at + 1;
        let body = self.quoted("two words or groups at least")?;
        Ok(Kind::Near { distance, ordered, body, body_at })
    }

    fn word(&mut self) -> Result<Kind, QueryError> {
        let start = self.at;
        let name: String = self
            .take_while(|c| folded(c).is_ascii_alphabetic() || matches!(c, '-' | '_'))
            .iter()
            .map(|c| folded(*c))
            .collect();
        if !name.is_empty() && self.peek() == Some(':') {
            let Some(field) = Field::named(&name) else {
                let names: Vec<&str> = Field::ALL.iter().map(|field| field.name()).collect();
                let expected = format!("a field ({}), or the text in quotes", names.join(", "));
                return Err(QueryError { at: start, found: format!("`{name}:`"), expected });
            };
            self.at += 1;
            return Ok(Kind::Field(field));
        }
        self.take_while(|c| !ends_word(c));
        let word: String = self.chars[start..self.at].iter().collect();
        if let Some(star) = word.find('*') {
            let at = start + word[..star].chars().count();
            return Err(self.error(
                at,
                "a word without `*`: words are matched by their stems, and CJK ones in any place",
            ));
        }
        Ok(match word.chars().map(folded).collect::<String>().as_str() {
            "AND" | "and" => Kind::And,
            "OR" | "or" => Kind::Or,
            "NOT" | "not" => Kind::Not,
            _ => Kind::Word(word),
        })
    }

    fn take_while(&mut self, accept: impl Fn(char) -> bool) -> &[char] {
        let start = self.at;
        self.at += self.chars[start..].iter().take_while(|c| accept(**c)).count();
        &self.chars[start..self.at]
    }
}

/// A full-width letter or digit as ASCII.
fn folded(c: char) -> char {
    match c {
        '\u{FF01}'..='\u{FF5E}' => char::from_u32(c as u32 - 0xFEE0).unwrap_or(c),
        other => other,
    }
}
