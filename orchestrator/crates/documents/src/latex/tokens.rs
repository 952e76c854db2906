//! LaTeX source as tokens; comments, listings and drawings are dealt with here.

use std::collections::HashSet;
use std::rc::Rc;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    /// A command without its backslash.
    Command(Rc<str>),
    Char(char),
    Open,
    Close,
    Space,
    /// An empty line.
    Par,
    /// `$`.
    Shift,
    /// A parameter of a macro, from 1.
    Parameter(u8),
    /// Text as written, in a line.
    Verbatim(Rc<str>),
    /// A listing.
    Listing(Rc<str>),
}

/// Longest address of the web, or listing inside a line, in bytes.
const LONGEST_ADDRESS: usize = 2_000;
/// Environments whose content is text as written.
const LISTINGS: [&str; 8] =
    ["verbatim", "verbatim*", "Verbatim", "lstlisting", "minted", "alltt", "BVerbatim", "code"];
/// Environments without text.
const DROPPED: [&str; 10] = [
    "comment",
    "tikzpicture",
    "filecontents",
    "filecontents*",
    "CCSXML",
    "picture",
    "pgfpicture",
    "forest",
    "axis",
    "pspicture",
];

pub(super) fn tokens(source: &str) -> Vec<Token> {
    let mut lexer = Lexer { source, at: 0, tokens: Vec::new(), at_is_letter: false, unended: HashSet::new() };
    lexer.run();
    lexer.tokens
}

struct Lexer<'s> {
    source: &'s str,
    at: usize,
    tokens: Vec<Token>,
    at_is_letter: bool,
    /// Environments that do not end in the rest of the source.
    unended: HashSet<&'static str>,
}

impl<'s> Lexer<'s> {
    fn rest(&self) -> &'s str {
        &self.source[self.at..]
    }

    fn run(&mut self) {
        while let Some(c) = self.rest().chars().next() {
            self.at += c.len_utf8();
            match c {
                '\\' => self.command(),
                '{' => self.tokens.push(Token::Open),
                '}' => self.tokens.push(Token::Close),
                '$' => self.tokens.push(Token::Shift),
                '~' => self.tokens.push(Token::Space),
                '%' => {
                    let line = self.rest().find('\n').map_or(self.rest().len(), |at| at + 1);
                    self.at += line;
                    // The next line goes on where the comment began, unless it is empty.
                    let blanks = self.rest().len() - self.rest().trim_start_matches([' ', '\t']).len();
                    self.at += blanks;
                }
                '#' => match self.rest().bytes().next() {
                    Some(digit @ b'1'..=b'9') => {
                        self.at += 1;
                        self.tokens.push(Token::Parameter(digit - b'0'));
                    }
                    _ => self.tokens.push(Token::Char('#')),
                },
                c if c.is_whitespace() => {
                    let after = self.rest().trim_start();
                    let blank = &self.source[self.at - c.len_utf8()..self.source.len() - after.len()];
                    self.at = self.source.len() - after.len();
                    let empty_line = blank.matches('\n').nth(1).is_some()
                        // A comment took the line break before.
                        || blank.starts_with('\n') && self.source[..self.at - blank.len()].ends_with('\n');
                    self.tokens.push(if empty_line { Token::Par } else { Token::Space });
                }
                c => self.tokens.push(Token::Char(c)),
            }
        }
    }

    fn command(&mut self) {
        let letter = |c: char| c.is_ascii_alphabetic() || (c == '@' && self.at_is_letter);
        let rest = self.rest();
        let letters = rest.find(|c| !letter(c)).unwrap_or(rest.len());
        if letters == 0 {
            let Some(c) = rest.chars().next() else { return };
            self.at += c.len_utf8();
            let name = if c.is_whitespace() { " " } else { &rest[..c.len_utf8()] };
            self.tokens.push(Token::Command(name.into()));
            return;
        }
        let name = &rest[..letters];
        self.at += letters;
        match name {
            "makeatletter" => self.at_is_letter = true,
            "makeatother" => self.at_is_letter = false,
            "verb" | "lstinline" | "mintinline" => return self.inline_listing(name != "verb"),
            "url" | "path" | "nolinkurl" if self.rest().starts_with('{') => {
                let content = self.group();
                self.tokens.push(Token::Verbatim(content.into()));
                return;
            }
            "href" if self.rest().starts_with('{') => {
                self.group();
                return;
            }
            "begin" => {
                if let Some(environment) = LISTINGS.iter().chain(&DROPPED).find(|name| {
                    self.rest()
                        .strip_prefix('{')
                        .and_then(|rest| rest.strip_prefix(**name))
                        .is_some_and(|rest| rest.starts_with('}'))
                }) && self.environment(environment)
                {
                    return;
                }
            }
            _ => {}
        }
        // White space after a name only ends it, but an empty line stays one.
        let after = self.rest().trim_start_matches([' ', '\t']);
        let after = match after.strip_prefix('\n').or_else(|| after.strip_prefix("\r\n")) {
            Some(line) if !line.trim_start_matches([' ', '\t', '\r']).starts_with('\n') => {
                line.trim_start_matches([' ', '\t'])
            }
            _ => after,
        };
        self.at = self.source.len() - after.len();
        self.tokens.push(Token::Command(name.into()));
    }

    /// The content of the group that follows, as written.
    fn group(&mut self) -> &'s str {
        let rest = self.rest();
        let mut depth = 0_usize;
        for (at, byte) in rest.bytes().enumerate().take(LONGEST_ADDRESS) {
            match byte {
                b'{' => depth += 1,
                b'}' => depth = depth.saturating_sub(1),
                _ => continue,
            }
            if depth == 0 {
                self.at += at + 1;
                return &rest[1..at];
            }
        }
        self.at += 1;
        ""
    }

    fn inline_listing(&mut self, options: bool) {
        let mut rest = self.rest().trim_start_matches('*');
        // Options in brackets; `\verb` has none, and may use the bracket as its mark.
        let near = &rest[..rest.floor_char_boundary(LONGEST_ADDRESS)];
        let options = near.strip_prefix('[').filter(|_| options);
        if let Some(after) = options.and_then(|inside| rest.get(inside.lines().next()?.find(']')? + 2..)) {
            rest = after;
        }
        let Some(mark) = rest.chars().next() else { return };
        let close = if mark == '{' { '}' } else { mark };
        let inside = &rest[mark.len_utf8()..];
        let near = &inside[..inside.floor_char_boundary(LONGEST_ADDRESS)];
        let line = near.lines().next().unwrap_or_default();
        if let Some(end) = line.find(close) {
            self.tokens.push(Token::Verbatim(line[..end].into()));
            self.at = self.source.len() - (inside.len() - end - close.len_utf8());
        }
    }

    /// Reads a whole environment as written. `false` if it does not end.
    fn environment(&mut self, name: &'static str) -> bool {
        if self.unended.contains(name) {
            return false;
        }
        let begin = name.len() + 2;
        let end = format!("\\end{{{name}}}");
        let Some(length) = self.rest()[begin..].find(&end) else {
            self.unended.insert(name);
            return false;
        };
        let content = &self.rest()[begin..begin + length];
        self.at += begin + length + end.len();
        if LISTINGS.contains(&name) {
            // Options and the language stand on the first line.
            let mut lines = content.trim_start_matches([' ', '\t']);
            if lines.starts_with(['[', '{'])
                && let Some((_, after)) = lines.split_once('\n')
            {
                lines = after;
            }
            self.tokens.push(Token::Listing(lines.into()));
        } else {
            self.tokens.push(Token::Space);
        }
        true
    }
}

/// Tokens as source again.
pub(super) fn source(tokens: &[Token]) -> String {
    let mut out = String::new();
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Command(name) => {
                out.push('\\');
                out.push_str(name);
                let letters = name.chars().all(|c| c.is_ascii_alphabetic());
                if letters && matches!(tokens.get(at + 1), Some(Token::Char(c)) if c.is_ascii_alphabetic()) {
                    out.push(' ');
                }
            }
            Token::Char(c) => out.push(*c),
            Token::Open => out.push('{'),
            Token::Close => out.push('}'),
            Token::Space | Token::Par => out.push(' '),
            Token::Shift => out.push('$'),
            Token::Parameter(n) => {
                out.push('#');
                out.push((b'0' + n) as char);
            }
            Token::Verbatim(text) | Token::Listing(text) => out.push_str(text),
        }
    }
    out
}
