//! Words, literals and symbols of a statement, as SQLite tokenizes them. Comments and white space are skipped.

/// A piece of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'a> {
    /// As written in the statement, quotes included.
    pub(super) text: &'a str,
    /// Where it begins, in bytes.
    pub(super) at: usize,
    pub(super) kind: Kind,
}

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A keyword, a name or a number.
    Word,
    /// A literal or a name in quotes or brackets; SQLite accepts either as a name where it needs one.
    Quoted,
    /// One character of anything else.
    Mark,
}

impl Token<'_> {
    /// Whether it is this keyword.
    pub(super) fn is(&self, keyword: &str) -> bool {
        self.kind == Kind::Word && self.text.eq_ignore_ascii_case(keyword)
    }

    /// Whether it is this character.
    pub(super) fn is_mark(&self, mark: &str) -> bool {
        self.kind == Kind::Mark && self.text == mark
    }

    /// Its name if it is one: in lower case, without quotes.
    pub(super) fn name(&self) -> Option<String> {
        let name = match self.kind {
            Kind::Word => self.text.to_owned(),
            Kind::Quoted => {
                let quote = self.text.chars().next()?;
                let inner = &self.text[1..];
                if quote == '[' {
                    inner.trim_end_matches(']').to_owned()
                } else {
                    let doubled: String = [quote, quote].iter().collect();
                    inner.strip_suffix(quote).unwrap_or(inner).replace(&doubled, &quote.to_string())
                }
            }
            Kind::Mark => return None,
        };
        Some(name.to_ascii_lowercase())
    }
}

/// The pieces of a statement, in order.
pub(super) fn tokens(sql: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(next) = sql[at..].chars().next() {
        let rest = &sql[at..];
        let (length, kind) = match next {
            '\'' | '"' | '`' => (measure_quoted(rest, next), Some(Kind::Quoted)),
            '[' => (rest.find(']').map_or(rest.len(), |end| end + 1), Some(Kind::Quoted)),
            '-' if rest.starts_with("--") => (rest.find('\n').unwrap_or(rest.len()), None),
            '/' if rest.starts_with("/*") => (rest[2..].find("*/").map_or(rest.len(), |end| end + 4), None),
            _ if is_space(next) => (next.len_utf8(), None),
            _ if is_word(next) => (rest.find(|c| !is_word(c)).unwrap_or(rest.len()), Some(Kind::Word)),
            _ => (next.len_utf8(), Some(Kind::Mark)),
        };
        if let Some(kind) = kind {
            tokens.push(Token { text: &rest[..length], at, kind });
        }
        at += length;
    }
    tokens
}

/// Whether SQLite skips it where a token begins. A byte order mark within a word is part of the word.
fn is_space(c: char) -> bool {
    c.is_ascii_whitespace() || matches!(c, '\u{b}' | '\u{feff}')
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || !c.is_ascii()
}

/// Length of a quoted token; a doubled quote is part of it.
fn measure_quoted(text: &str, quote: char) -> usize {
    let mut at = 1;
    while let Some(end) = text[at..].find(quote) {
        at += end + 1;
        if !text[at..].starts_with(quote) {
            return at;
        }
        at += 1;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn literals_names_and_comments_are_told_apart() {
        let texts = |sql| tokens(sql).into_iter().map(|token| token.text).collect::<Vec<_>>();
        assert_eq!(
            texts("SELECT 'it''s; -- fine', [a b]/* ; */FROM \"x\"\"y\" -- end\n;"),
            ["SELECT", "'it''s; -- fine'", ",", "[a b]", "FROM", "\"x\"\"y\"", ";"]
        );
        let names = |sql| tokens(sql).iter().filter_map(Token::name).collect::<Vec<_>>();
        assert_eq!(names("Claims \"A\"\"b\" [C d] `e` 'F'"), ["claims", "a\"b", "c d", "e", "f"]);
        assert_eq!(texts("SELECT 'open"), ["SELECT", "'open"]);
        assert_eq!(texts("\u{feff}FROM \u{b}a,\u{feff}b\u{feff}c"), ["FROM", "a", ",", "b\u{feff}c"]);
    }

    proptest! {
        /// For any input: the tokens are in order, within the text, and not empty.
        #[test]
        fn every_text_has_pieces(sql in "[ -~\n]{0,200}|\\PC{0,60}") {
            let mut end = 0;
            for token in tokens(&sql) {
                prop_assert!(token.at >= end && !token.text.is_empty());
                end = token.at + token.text.len();
                prop_assert_eq!(&sql[token.at..end], token.text);
                let _ = token.name();
            }
        }
    }
}
