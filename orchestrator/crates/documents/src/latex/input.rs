//! Tokens as they are read, with macros expanded within limits.

use super::tokens::{self, Token};
use std::collections::HashMap;
use std::rc::Rc;

/// Tokens that may be read for each one of the source, and beyond that.
const EXPANSION: (usize, usize) = (10, 1_000_000);
/// Expansions inside expansions.
const DEEPEST: usize = 200;
/// Macros that are kept.
const MOST_MACROS: usize = 20_000;

pub(super) struct Input {
    /// Token lists that are being read, the innermost last.
    frames: Vec<(Rc<[Token]>, usize)>,
    macros: HashMap<Rc<str>, Macro>,
    fuel: usize,
}

#[derive(Clone)]
struct Macro {
    parameters: u8,
    /// The first argument's default, if it is optional.
    default: Option<Vec<Token>>,
    body: Rc<[Token]>,
    /// It measures or decides, which cannot be followed: only its arguments are known.
    opaque: bool,
}

impl Input {
    pub(super) fn new(tokens: Vec<Token>) -> Self {
        let fuel = tokens.len().saturating_mul(EXPANSION.0).saturating_add(EXPANSION.1);
        Self { frames: vec![(tokens.into(), 0)], macros: HashMap::new(), fuel }
    }

    /// Whether reading stopped because of too many expansions.
    pub(super) fn is_exhausted(&self) -> bool {
        self.fuel == 0
    }

    /// The next token, as it is.
    pub(super) fn next(&mut self) -> Option<Token> {
        self.fuel = self.fuel.checked_sub(1)?;
        while let Some((tokens, at)) = self.frames.last_mut() {
            if let Some(token) = tokens.get(*at) {
                *at += 1;
                return Some(token.clone());
            }
            self.frames.pop();
        }
        None
    }

    fn peek(&mut self) -> Option<&Token> {
        while self.frames.last().is_some_and(|(tokens, at)| *at >= tokens.len()) {
            self.frames.pop();
        }
        self.frames.last().and_then(|(tokens, at)| tokens.get(*at))
    }

    /// Puts a token back.
    pub(super) fn put_back(&mut self, token: Token) {
        match self.frames.last_mut() {
            Some((tokens, at)) if *at > 0 && tokens[*at - 1] == token => *at -= 1,
            _ => self.frames.push((Rc::from([token]), 0)),
        }
    }

    /// Reads these tokens next.
    pub(super) fn expand(&mut self, tokens: Vec<Token>) {
        // A list that is read to its end makes room, so that a loop runs out of fuel, not of memory.
        self.peek();
        if self.frames.len() < DEEPEST {
            self.frames.push((tokens.into(), 0));
        }
    }

    /// Takes the next token if it is this one.
    pub(super) fn next_is(&mut self, wanted: &Token) -> bool {
        let is = self.peek() == Some(wanted);
        if is {
            self.next();
        }
        is
    }

    pub(super) fn skip_spaces(&mut self) {
        while self.next_is(&Token::Space) {}
    }

    pub(super) fn star(&mut self) {
        self.next_is(&Token::Char('*'));
    }

    /// An argument in braces, or one token.
    pub(super) fn argument(&mut self) -> Vec<Token> {
        self.skip_spaces();
        match self.peek() {
            Some(Token::Open) => {
                self.next();
                self.group()
            }
            Some(Token::Close | Token::Par) | None => Vec::new(),
            Some(_) => self.next().into_iter().collect(),
        }
    }

    /// The rest of a group that was opened.
    fn group(&mut self) -> Vec<Token> {
        let mut depth = 0_usize;
        let mut inside = Vec::new();
        while let Some(token) = self.next() {
            match token {
                Token::Open => depth += 1,
                Token::Close if depth == 0 => break,
                Token::Close => depth -= 1,
                _ => {}
            }
            inside.push(token);
        }
        inside
    }

    /// An argument in brackets.
    pub(super) fn optional(&mut self) -> Option<Vec<Token>> {
        if self.peek() == Some(&Token::Space) {
            self.next();
            if self.peek() != Some(&Token::Char('[')) {
                self.frames.push((Rc::from([Token::Space]), 0));
                return None;
            }
        }
        if !self.next_is(&Token::Char('[')) {
            return None;
        }
        let (mut depth, mut inside) = (0_usize, Vec::new());
        while let Some(token) = self.next() {
            match token {
                Token::Char(']') if depth == 0 => break,
                Token::Open => depth += 1,
                // The bracket was none of an argument.
                Token::Par => {
                    self.put_back(token);
                    break;
                }
                Token::Close if depth == 0 => {
                    self.put_back(token);
                    break;
                }
                Token::Close => depth -= 1,
                _ => {}
            }
            inside.push(token);
        }
        Some(inside)
    }

    /// Settings in brackets right after an unknown command.
    pub(super) fn setting(&mut self) {
        if self.peek() == Some(&Token::Char('[')) {
            self.optional();
        }
    }

    /// Skips a length: `-0.5em`, `1pt plus 2pt`.
    pub(super) fn dimension(&mut self) {
        self.skip_spaces();
        while matches!(self.peek(), Some(Token::Char(c)) if c.is_ascii_digit() || matches!(c, '.' | '-' | '+'))
        {
            self.next();
        }
        for _ in 0..2 {
            if matches!(self.peek(), Some(Token::Char(c)) if c.is_ascii_lowercase()) {
                self.next();
            }
        }
    }

    /// The tokens of a formula up to the one that ends it, macros expanded. With `line`, an empty line ends it too.
    pub(super) fn formula(&mut self, ends: &dyn Fn(&Token, &mut Self) -> bool, line: bool) -> Vec<Token> {
        let mut formula = Vec::new();
        let mut depth = 0_usize;
        while let Some(token) = self.next() {
            if ends(&token, self) {
                break;
            }
            match &token {
                Token::Par if line => {
                    self.put_back(token);
                    break;
                }
                // The formula did not end inside its group or before the text does.
                Token::Close if depth == 0 && line => {
                    self.put_back(token);
                    break;
                }
                Token::Command(name) if &**name == "end" && self.ends("document") => {
                    self.expand(tokens::tokens("\\end{document}"));
                    break;
                }
                Token::Open => depth += 1,
                Token::Close => depth = depth.saturating_sub(1),
                Token::Command(name) => {
                    let name = Rc::clone(name);
                    if self.expand_macro(&name) {
                        continue;
                    }
                }
                _ => {}
            }
            formula.push(token);
        }
        formula
    }

    /// Takes `{name}` if it comes next.
    pub(super) fn ends(&mut self, name: &str) -> bool {
        let Some((tokens, at)) = self.frames.last() else { return false };
        let length = name.chars().count() + 2;
        let Some(next) = tokens.get(*at..*at + length) else { return false };
        let same = next[0] == Token::Open
            && next[length - 1] == Token::Close
            && next[1..length - 1].iter().zip(name.chars()).all(|(token, c)| *token == Token::Char(c));
        if same && let Some((_, at)) = self.frames.last_mut() {
            *at += length;
        }
        same
    }

    /// `\newcommand{\name}[2][default]{body}`.
    pub(super) fn define_command(&mut self) {
        self.star();
        let name = self.argument();
        let count = self.optional().map(|count| tokens::source(&count).trim().parse().unwrap_or(0));
        let default = if count.is_some() { self.optional() } else { None };
        let body = self.argument();
        self.keep(&name, count.unwrap_or(0), default, body);
    }

    /// `\DeclareMathOperator{\name}{text}`.
    pub(super) fn define_operator(&mut self) {
        self.star();
        let name = self.argument();
        let body = self.argument();
        self.keep(&name, 0, None, body);
    }

    /// `\def\name#1#2{body}`.
    pub(super) fn define(&mut self) {
        let name: Vec<Token> = self.next().into_iter().collect();
        let mut parameters = 0;
        loop {
            match self.next() {
                Some(Token::Parameter(n)) => parameters = n,
                Some(Token::Open) => break,
                Some(Token::Par) | None => return,
                Some(_) => {}
            }
        }
        let body = self.group();
        self.keep(&name, parameters, None, body);
    }

    fn keep(&mut self, name: &[Token], parameters: u8, default: Option<Vec<Token>>, body: Vec<Token>) {
        let named =
            name.iter().find_map(|token| if let Token::Command(name) = token { Some(name) } else { None });
        if let Some(name) = named.filter(|_| self.macros.len() < MOST_MACROS) {
            let parameters = parameters.min(9);
            let opaque = body.iter().any(|token| {
                let low = |name: &str| name.contains('@') || (name.starts_with("if") && name != "iff");
                matches!(token, Token::Command(name) if low(name) || matches!(&**name, "sbox" | "setbox" | "dimen"))
            });
            self.macros.insert(Rc::clone(name), Macro { parameters, default, body: body.into(), opaque });
        }
    }

    /// Replaces a macro by its body. `false` if it is not a macro.
    pub(super) fn expand_macro(&mut self, name: &str) -> bool {
        let Some(found) = self.macros.get(name).cloned() else { return false };
        let mut arguments: Vec<Vec<Token>> = Vec::new();
        if let Some(default) = &found.default {
            arguments.push(self.optional().unwrap_or_else(|| default.clone()));
        }
        while arguments.len() < usize::from(found.parameters) {
            arguments.push(self.argument());
        }
        if found.opaque {
            let skipped = usize::from(found.default.is_some());
            let known = arguments.into_iter().skip(skipped).flatten().collect();
            self.expand(known);
            return true;
        }
        let mut body = Vec::with_capacity(found.body.len());
        for token in found.body.iter() {
            match token {
                Token::Parameter(n) => {
                    let argument = arguments.get(usize::from(*n).saturating_sub(1)).map(Vec::as_slice);
                    let argument = argument.unwrap_or_default();
                    // Copying costs as much as reading.
                    self.fuel = self.fuel.saturating_sub(argument.len());
                    if self.fuel == 0 {
                        break;
                    }
                    body.extend_from_slice(argument);
                }
                token => body.push(token.clone()),
            }
        }
        self.fuel = self.fuel.saturating_sub(body.len());
        if self.fuel > 0 {
            self.expand(body);
        }
        true
    }

    /// Skips to the `\fi` of a condition that was opened.
    pub(super) fn skip_conditional(&mut self) {
        let mut depth = 0_usize;
        while let Some(token) = self.next() {
            if let Token::Command(name) = token {
                match &*name {
                    "fi" | "else" if depth == 0 => return,
                    "fi" => depth -= 1,
                    "iff" => {}
                    name if name.starts_with("if") => depth += 1,
                    _ => {}
                }
            }
        }
    }
}
