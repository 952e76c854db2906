//! From the written forms to the normal form.

use super::{Code, Level, System};
use unicode_normalization::UnicodeNormalization;

/// Characters examined: no written form is longer.
const MAX: usize = 128;

pub(super) fn parse(system: System, text: &str) -> Option<Code> {
    let folded: Vec<char> = text.nfkc().take(MAX).flat_map(char::to_uppercase).collect();
    let mut rest = Rest { chars: &folded };
    rest.skip_prefix(system);
    match system {
        System::Ft => f_term(rest),
        _ => symbol(system, rest),
    }
}

/// A text being read from its start.
#[derive(Clone, Copy)]
struct Rest<'a> {
    chars: &'a [char],
}

impl<'a> Rest<'a> {
    fn peek(&self) -> Option<char> {
        self.chars.first().copied()
    }

    fn take_if(&mut self, accept: impl Fn(char) -> bool) -> Option<char> {
        let first = self.peek().filter(|c| accept(*c))?;
        self.chars = &self.chars[1..];
        Some(first)
    }

    fn take_while(&mut self, accept: impl Fn(char) -> bool) -> &'a [char] {
        let count = self.chars.iter().take_while(|c| accept(**c)).count();
        let (taken, rest) = self.chars.split_at(count);
        self.chars = rest;
        taken
    }

    fn blanks(&mut self) -> usize {
        self.take_while(char::is_whitespace).len()
    }

    /// Empty, or an addition: editions, versions, positions, offices.
    fn ends_here(&self) -> bool {
        self.peek().is_none_or(|c| c.is_whitespace() || matches!(c, '(' | '[' | ';' | ',' | '.'))
    }

    /// `IPC:`, `F-TERM:`, and blanks.
    fn skip_prefix(&mut self, system: System) {
        self.blanks();
        let mut after = *self;
        let name: String = after.take_while(|c| c.is_ascii_alphabetic() || c == '-').iter().collect();
        after.blanks();
        if name.parse() == Ok(system) && after.take_if(|c| c == ':').is_some() {
            *self = after;
            self.blanks();
        }
    }
}

/// Builds a code level by level.
struct Builder {
    text: String,
    ends: Vec<(Level, usize)>,
}

impl Builder {
    fn push(&mut self, level: Level, part: impl IntoIterator<Item = char>) {
        self.text.extend(part);
        self.ends.push((level, self.text.len()));
    }

    fn done(self, system: System) -> Code {
        Code { system, text: self.text, ends: self.ends }
    }
}

fn digit(c: char) -> bool {
    c.is_ascii_digit()
}

fn letter(c: char) -> bool {
    c.is_ascii_uppercase()
}

/// IPC, CPC and FI: they share section to subgroup.
fn symbol(system: System, mut rest: Rest<'_>) -> Option<Code> {
    // Old files name the edition before the symbol: "7B 22D 29/00 A".
    if rest.peek().is_some_and(digit) {
        rest = Rest { chars: &rest.chars[1..] };
    }
    let mut code = Builder { text: String::new(), ends: Vec::new() };
    let last = if system == System::Cpc { 'Y' } else { 'H' };
    let section = rest.take_if(|c| ('A'..='H').contains(&c) || (c == 'Y' && last == 'Y'))?;
    code.push(Level::Section, [section]);
    rest.blanks();
    let class = match rest.take_while(digit) {
        [] if rest.peek().is_none() => return Some(code.done(system)),
        [a, b] => [*a, *b],
        _ => return None,
    };
    code.push(Level::Class, class);
    rest.blanks();
    let Some(subclass) = rest.take_if(letter) else {
        return rest.peek().is_none().then(|| code.done(system));
    };
    code.push(Level::Subclass, [subclass]);
    rest.take_if(|c| c == '-');
    let gap = rest.blanks();
    if rest.peek().is_none() {
        return Some(code.done(system));
    }
    let digits = rest.take_while(digit);
    let (group, subgroup): (&[char], &[char]) = if rest.peek() == Some('/') {
        rest.take_if(|c| c == '/');
        (digits, rest.take_while(digit))
    } else {
        split(system, digits, gap)?
    };
    let group: &[char] = {
        let zeros = group.iter().take_while(|c| **c == '0').count();
        &group[zeros..]
    };
    if !(1..=4).contains(&group.len()) {
        return None;
    }
    code.push(Level::MainGroup, group.iter().copied());
    if subgroup.is_empty() {
        return rest.ends_here().then(|| code.done(system));
    }
    if !(2..=6).contains(&subgroup.len()) {
        return None;
    }
    code.push(Level::Subgroup, std::iter::once('/').chain(subgroup.iter().copied()));
    if system == System::Fi {
        return subdivisions(code, rest);
    }
    rest.ends_here().then(|| code.done(system))
}

/// Main group and subgroup of digits without a slash.
///
/// Ten digits are ST.8's: four for the group, six for the subgroup, padded with zeros. IPC in grants before 2005 has
/// three columns for the group, then the subgroup; blanks between may have been collapsed, and that a subgroup has two
/// digits at least settles most of those cases. Anything else is a group.
fn split(system: System, digits: &[char], gap: usize) -> Option<(&[char], &[char])> {
    match digits.len() {
        10 => {
            let (group, subgroup) = digits.split_at(4);
            let padding = subgroup[2..].iter().rev().take_while(|c| **c == '0').count();
            Some((group, &subgroup[..6 - padding]))
        }
        5..=9 if system == System::Ipc && gap == 0 => Some(digits.split_at(3)),
        3..=8 if system == System::Ipc && gap > 0 => {
            let columns = 3_usize.saturating_sub(gap).max(1);
            Some(digits.split_at(columns.min(digits.len() - 2)))
        }
        1..=4 => Some((digits, &[])),
        _ => None,
    }
}

/// FI's expansion (three digits) and discrimination letter, after comma, `@`, `&` or blanks.
fn subdivisions(mut code: Builder, mut rest: Rest<'_>) -> Option<Code> {
    let separator = |c: char| c.is_whitespace() || matches!(c, ',' | '&' | '@' | '.');
    let separated = !rest.take_while(separator).is_empty();
    let mut ahead = rest;
    let digits = ahead.take_while(digit);
    if separated && digits.len() == 3 {
        code.push(Level::Subdivision, std::iter::once(',').chain(digits.iter().copied()));
        rest = ahead;
        rest.take_while(separator);
    } else if digits.len() == 8 {
        // A version date: an IPC symbol stands where an FI is expected.
        return Some(code.done(System::Fi));
    }
    let mut ahead = rest;
    if let Some(mark) = ahead.take_if(letter)
        && ahead.ends_here()
    {
        code.push(Level::Discrimination, ['@', mark]);
        rest = ahead;
    }
    rest.ends_here().then(|| code.done(System::Fi))
}

fn f_term(mut rest: Rest<'_>) -> Option<Code> {
    let mut code = Builder { text: String::new(), ends: Vec::new() };
    let first = rest.take_if(digit)?;
    rest.blanks();
    let second = rest.take_if(letter)?;
    rest.blanks();
    let [a, b, c] = rest.take_while(digit) else { return None };
    code.push(Level::Subclass, [first, second, *a, *b, *c]);
    let separator = |c: char| c.is_whitespace() || matches!(c, '/' | '-' | ',');
    rest.take_while(separator);
    if rest.peek().is_none() {
        return Some(code.done(System::Ft));
    }
    let [a, b] = rest.take_while(letter) else { return None };
    code.push(Level::MainGroup, [*a, *b]);
    rest.take_while(char::is_whitespace);
    if rest.peek().is_none() {
        return Some(code.done(System::Ft));
    }
    let [a, b] = rest.take_while(digit) else { return None };
    code.push(Level::Subgroup, [*a, *b]);
    rest.take_while(|c| c.is_whitespace() || c == '.');
    if let Some(mark) = rest.take_if(|c| letter(c) || digit(c)) {
        code.push(Level::Subdivision, ['.', mark]);
    }
    rest.ends_here().then(|| code.done(System::Ft))
}
