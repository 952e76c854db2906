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
        System::Uspc => uspc(rest),
        System::Locarno => locarno(rest),
        System::Ipc | System::Cpc | System::Fi => symbol(system, rest),
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
        // Columns of old files leave blanks there: "B28B   1/    29".
        let mut after = rest;
        after.blanks();
        if (2..=6).contains(&after.chars.iter().take_while(|c| digit(**c)).count()) {
            rest = after;
        }
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

/// Columns of a class, and of a subclass without its decimals, in the offices' files of USPC codes.
const USPC_COLUMNS: usize = 3;

/// USPC: class and subclass with `/` between them, or in the columns of the offices' files: three for the class, three
/// for the subclass, then its decimals (`379 8802` is 379/88.02). Leading blanks may be missing.
fn uspc(mut rest: Rest<'_>) -> Option<Code> {
    let mut code = Builder { text: String::new(), ends: Vec::new() };
    let letters = rest.take_while(letter);
    let gap = rest.blanks();
    let digits = match letters {
        // Plants have one class, which has no number.
        ['P', 'L', 'T'] => &[][..],
        [] | ['D'] => rest.take_while(digit),
        _ => return None,
    };
    let columns = letters.len() + gap + digits.len();
    let mut after = rest;
    let blanks = after.blanks();
    let is_divided = after.take_if(|c| c == '/').is_some();
    let (class, subclass, width) = if is_divided {
        after.blanks();
        rest = after;
        (digits, rest.take_while(digit), USPC_COLUMNS)
    } else if (blanks > 0 && after.peek().is_some_and(digit)) || letters.len() == USPC_COLUMNS {
        rest = after;
        // Blanks fill up the class, then what the subclass has less than three digits.
        let padding = (columns + blanks).saturating_sub(USPC_COLUMNS.max(columns));
        (digits, rest.take_while(digit), USPC_COLUMNS.saturating_sub(padding).max(1))
    } else {
        let class = match (letters, digits.len()) {
            (_, 0..=3) if letters.is_empty() => digits.len(),
            (['D'], 0..=2) => digits.len(),
            (['D'], _) if gap > 0 => 1,
            (['D'], len) => (len - USPC_COLUMNS).min(2),
            (_, len) => (len - USPC_COLUMNS).min(USPC_COLUMNS),
        };
        let (class, subclass) = digits.split_at(class);
        (class, subclass, USPC_COLUMNS)
    };
    let most = match letters {
        [] => 1..=3,
        ['D'] => 1..=2,
        _ => 0..=0,
    };
    if !most.contains(&class.len()) {
        return None;
    }
    code.push(Level::Class, letters.iter().copied().chain(without_zeros(class).iter().copied()));
    let (number, decimals) = subclass.split_at(width.min(subclass.len()));
    let mut decimals = decimals.to_vec();
    if decimals.is_empty() && rest.take_if(|c| c == '.').is_some() {
        decimals = rest.take_while(digit).to_vec();
    }
    while decimals.last() == Some(&'0') {
        decimals.pop();
    }
    rest.blanks();
    let mark = rest.take_while(letter);
    if number.is_empty() {
        let collection = match mark {
            [] => return (!is_divided && rest.peek().is_none()).then(|| code.done(System::Uspc)),
            ['D', 'I', 'G'] | ['E'] => mark,
            _ => return None,
        };
        return uspc_collection(code, collection, rest);
    }
    if decimals.len() > 3 || mark.len() > 3 {
        return None;
    }
    let point = (!decimals.is_empty()).then_some('.');
    let part = without_zeros(number).iter().copied().chain(point).chain(decimals).chain(mark.iter().copied());
    code.push(Level::Subclass, std::iter::once('/').chain(part));
    rest.ends_here().then(|| code.done(System::Uspc))
}

/// A digest (`261/DIG.70`), or a collection by the European classification (`257/E21.577`).
fn uspc_collection(mut code: Builder, letters: &[char], mut rest: Rest<'_>) -> Option<Code> {
    rest.take_while(|c| c.is_whitespace() || c == '.');
    let digits = rest.take_while(digit);
    let is_digest = letters.len() > 1;
    let (number, decimals) = match digits.len() {
        1..=3 if is_digest => (&[][..], digits),
        1..=2 if rest.take_if(|c| c == '.').is_some() => (digits, rest.take_while(digit)),
        4..=5 if !is_digest => digits.split_at(digits.len() - 3),
        _ => return None,
    };
    if decimals.is_empty() {
        return None;
    }
    let parts =
        letters.iter().chain(number).copied().chain(std::iter::once('.')).chain(decimals.iter().copied());
    code.push(Level::Subclass, std::iter::once('/').chain(parts));
    rest.ends_here().then(|| code.done(System::Uspc))
}

/// Digits without leading zeros, the last in any case.
fn without_zeros(digits: &[char]) -> &[char] {
    let zeros = digits.iter().take_while(|c| **c == '0').count();
    &digits[zeros.min(digits.len().saturating_sub(1))..]
}

/// Locarno: `14-03`, `14/03`, `1403`, `D14 03`, and with its edition `LOC (13) Cl. 14-03`.
fn locarno(mut rest: Rest<'_>) -> Option<Code> {
    let mut ahead = rest;
    let words: String = ahead.take_while(letter).iter().collect();
    if words == "LOC" {
        ahead.take_while(|c| !letter(c));
        let after: String = ahead.take_while(letter).iter().collect();
        if after == "CL" {
            ahead.take_while(|c| c == '.' || c.is_whitespace());
            rest = ahead;
        }
    }
    // Old grants write the letter of designs before it, and a blank in it.
    let is_old = rest.take_if(|c| c == 'D').is_some();
    rest.blanks();
    let mut code = Builder { text: String::new(), ends: Vec::new() };
    let digits = rest.take_while(digit);
    let (class, subclass) = match digits {
        [_] | [_, _] => {
            let parted = rest.take_if(|c| matches!(c, '-' | '/') || (is_old && c.is_whitespace())).is_some();
            (digits, if parted { rest.take_while(digit) } else { &[][..] })
        }
        [_, _, _] if is_old => digits.split_at(1),
        [_, _, _, _] => digits.split_at(2),
        _ => return None,
    };
    if is_old && subclass.is_empty() {
        return None;
    }
    let two = |digits: &[char]| match digits {
        [one] => Some(['0', *one]),
        [a, b] => Some([*a, *b]),
        _ => None,
    };
    code.push(Level::Class, two(class)?);
    if !subclass.is_empty() {
        code.push(Level::Subclass, std::iter::once('-').chain(two(subclass)?));
    }
    rest.ends_here().then(|| code.done(System::Locarno))
}
