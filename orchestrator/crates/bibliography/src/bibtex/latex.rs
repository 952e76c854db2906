//! LaTeX as the text that it shows.

use super::symbols::{accent, subscript, superscript, symbol};
use std::iter::Peekable;
use std::str::Chars;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Deepest nesting of arguments; below, commands and braces are dropped, and their text stays.
const MAX_DEPTH: u32 = 30;

/// Commands whose argument is not shown.
const HIDDEN: [&str; 8] =
    ["noopsort", "vphantom", "phantom", "hphantom", "label", "cite", "switchargs", "bibinfo"];

/// Commands that show their name.
const FUNCTIONS: [&str; 14] =
    ["log", "ln", "lg", "exp", "sin", "cos", "tan", "max", "min", "lim", "sup", "inf", "det", "arg"];

/// Commands in capitals that show nothing.
const SIZES: [&str; 4] = ["Large", "LARGE", "Huge", "Abstract"];

/// The text that LaTeX shows, without braces and commands, in NFC if there were any. Line breaks stay.
pub(super) fn text(source: &str) -> String {
    if !source.contains(['\\', '{', '}', '$', '~', '-', '`', '\'', '^', '_']) {
        return source.to_owned();
    }
    let mut out = String::with_capacity(source.len());
    Reader { chars: source.chars().peekable() }.run(&mut out, 0, false, false);
    if source.contains('\\') { out.nfc().collect() } else { out }
}

/// What a verbatim field holds (`url`, `doi`, `file`): only characters that LaTeX escapes are changed.
pub(super) fn verbatim(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut chars = source.trim().chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next_if(|c| "_%&#$~{}".contains(*c)) {
                Some(escaped) => out.push(escaped),
                None => out.push('\\'),
            },
            '{' | '}' => {}
            c => out.push(c),
        }
    }
    out
}

struct Reader<'s> {
    chars: Peekable<Chars<'s>>,
}

impl Reader<'_> {
    /// Reads up to the end, or to the brace that closes an argument.
    fn run(&mut self, out: &mut String, depth: u32, is_argument: bool, mut is_math: bool) {
        let mut open = 0_usize;
        while let Some(c) = self.chars.next() {
            match c {
                '{' => open += 1,
                '}' if open == 0 && is_argument => return,
                '}' => open = open.saturating_sub(1),
                '$' => is_math = !is_math,
                '~' => out.push('\u{a0}'),
                '\\' => self.command(out, depth, is_math),
                '^' | '_' if is_math => self.script(out, depth, c == '^'),
                '-' if !is_math => self.hyphens(out),
                '`' => out.push(if self.chars.next_if_eq(&'`').is_some() { '“' } else { '‘' }),
                '\'' if !is_math && self.chars.next_if_eq(&'\'').is_some() => out.push('”'),
                c => out.push(c),
            }
        }
    }

    fn hyphens(&mut self, out: &mut String) {
        let mut count = 1;
        while count < 3 && self.chars.next_if_eq(&'-').is_some() {
            count += 1;
        }
        out.push(match count {
            1 => '-',
            2 => '–',
            _ => '—',
        });
    }

    /// What follows a backslash.
    fn command(&mut self, out: &mut String, depth: u32, is_math: bool) {
        let Some(first) = self.chars.next() else { return };
        if !first.is_ascii_alphabetic() {
            match first {
                '\\' | ' ' | '\n' | ',' | ';' | ':' | '!' => out.push(' '),
                '-' | '/' | '(' | ')' | '[' | ']' => {}
                c => match accent(c).filter(|_| !is_math || !matches!(c, '=' | '.')) {
                    Some(mark) => self.accented(out, depth, mark),
                    None => out.push(c),
                },
            }
            return;
        }
        let mut name = first.to_string();
        while let Some(c) = self.chars.next_if(|c| c.is_ascii_alphabetic() && name.len() < 40) {
            name.push(c);
        }
        if let Some(mark) = accent(first).filter(|_| name.len() == 1 && !is_math) {
            self.blanks();
            self.accented(out, depth, mark);
            return;
        }
        if let Some(shown) = symbol(&name) {
            out.push_str(shown);
            // `\ss{}` and `\ss ` only end the command.
            if self.chars.next_if_eq(&' ').is_none() && self.chars.peek() == Some(&'{') {
                self.empty_group(out, depth);
            }
            return;
        }
        match name.as_str() {
            "textsuperscript" => self.script(out, depth, true),
            "textsubscript" => self.script(out, depth, false),
            "enquote" | "mkbibquote" => {
                let inner = self.argument(depth, false);
                out.push('“');
                out.push_str(&inner);
                out.push('”');
            }
            "href" => {
                let address = self.argument(depth, false);
                let shown = self.argument(depth, false);
                out.push_str(if shown.is_empty() { &address } else { &shown });
            }
            "par" | "newline" => out.push('\n'),
            name if HIDDEN.contains(&name) => drop(self.argument(depth, false)),
            name if FUNCTIONS.contains(&name) => out.push_str(name),
            // A name of its own, such as `\BibTeX`. Authors mean the blank after it.
            name if first.is_ascii_uppercase()
                && !SIZES.contains(&name)
                && self.chars.peek() != Some(&'{') =>
            {
                out.push_str(name);
            }
            // Of an unknown command, the argument is shown: `\emph{x}`, `{\it x}`, `\mathrm{x}`.
            _ => self.blanks(),
        }
    }

    fn blanks(&mut self) {
        while self.chars.next_if(|c| c.is_whitespace()).is_some() {}
    }

    /// Takes `{}`; another group is read as it is.
    fn empty_group(&mut self, out: &mut String, depth: u32) {
        if depth < MAX_DEPTH {
            let inner = self.argument(depth, false);
            out.push_str(&inner);
        }
    }

    /// The argument that follows: a group, a command, or a character.
    fn argument(&mut self, depth: u32, is_math: bool) -> String {
        let mut out = String::new();
        if depth >= MAX_DEPTH {
            return out;
        }
        match self.chars.next_if(|c| !matches!(c, '}' | '$')) {
            Some('{') => self.run(&mut out, depth + 1, true, is_math),
            Some('\\') => self.command(&mut out, depth + 1, is_math),
            Some(c) => out.push(c),
            None => {}
        }
        out
    }

    /// An argument with a mark on its first character.
    fn accented(&mut self, out: &mut String, depth: u32, mark: char) {
        let argument = self.argument(depth, false);
        let mut chars = argument.chars().peekable();
        match chars.next() {
            // Dotless letters are written for an accent in place of the dot.
            Some('ı') => out.push('i'),
            Some('ȷ') => out.push('j'),
            Some(c) if c.is_whitespace() => return,
            Some(c) => out.push(c),
            None => return,
        }
        // Marks go on top of each other: `\'{\^e}` is an `ế`.
        while let Some(before) = chars.next_if(|c| is_combining_mark(*c)) {
            out.push(before);
        }
        out.push(mark);
        out.extend(chars);
    }

    /// A raised or lowered argument; in characters of their own where they exist.
    fn script(&mut self, out: &mut String, depth: u32, is_raised: bool) {
        let argument = self.argument(depth, true);
        let small: Option<String> =
            argument.chars().map(|c| if is_raised { superscript(c) } else { subscript(c) }).collect();
        match small {
            Some(small) => out.push_str(&small),
            None if is_raised && argument.chars().count() > 1 && !argument.contains(char::is_alphabetic) => {
                out.push('^');
                out.push_str(&argument);
            }
            None => out.push_str(&argument),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_become_what_they_show() {
        for (source, expect) in [
            ("plain", "plain"),
            ("M{\\\"u}nchen, \\\"{o}, \\\"o, {\\\"{a}}", "München, ö, ö, ä"),
            ("\\'{\\i}, \\'\\i, \\v{s}, {\\v s}, \\c{c}, \\c c, \\~n, \\k{a}", "í, í, š, š, ç, ç, ñ, ą"),
            ("\\'{\\^e} Vi\\d{\\^e}t", "ế Việt"),
            ("Stra\\ss{}e, Stra\\ss e, {\\ss}, \\O re, \\o{}re", "Straße, Straße, ß, Øre, øre"),
            ("50\\% \\& \\_ \\# \\$5 \\{x\\}", "50% & _ # $5 {x}"),
            ("{DNA} and {The {Big} One}", "DNA and The Big One"),
            ("\\emph{in vivo} {\\it in vitro} \\textbf{x}y", "in vivo in vitro xy"),
            ("1--2 --- a-b", "1–2 — a-b"),
            ("``quoted'' \\enquote{so}", "“quoted” “so”"),
            (
                "H$_2$O, 10$^{-3}$, \\textsuperscript{th}, $\\alpha$-syn, $x^{n+k!}$",
                "H₂O, 10⁻³, ᵗʰ, α-syn, xn+k!",
            ),
            ("\\textasciitilde{}x \\textasciicircum{} \\textbackslash{}n", "~x ^ \\n"),
            ("\\href{http://x.org}{here} \\url{http://x.org/a_b}", "here http://x.org/a_b"),
            ("{\\noopsort{2020}}Title", "Title"),
            ("a~b\\ c\\,d\\-e", "a\u{a0}b c de"),
            ("unknown \\foo bar \\foo{bar} \\BibTeX{}, \\Large x", "unknown bar bar BibTeX, x"),
            ("$O(n \\log n)$", "O(n log n)"),
            ("x^2 and a_b stay", "x^2 and a_b stay"),
            ("Smith's O'Neill", "Smith's O'Neill"),
            ("} unbalanced { \\", " unbalanced  "),
        ] {
            assert_eq!(text(source), expect, "{source}");
        }
        assert_eq!(verbatim("https://x.org/a\\_b\\%20c?d={e}"), "https://x.org/a_b%20c?d=e");
        assert_eq!(text(&"\\'{".repeat(100_000)), "");
        assert!(text(&format!("{}a", "\\'".repeat(100_000))).contains('á'));
    }
}
