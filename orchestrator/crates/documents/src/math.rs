//! Formulas as readable text: TeX, `MathML`, and Word's own markup.

mod symbols;

use crate::xml::{Child, Element};
pub(crate) use symbols::symbol;

/// Longest formula that is made readable; a longer one stays as written.
const LONGEST: usize = 20_000;
/// Commands of signs that stand between blanks.
const RELATIONS: [&str; 28] = [
    "leq",
    "le",
    "leqslant",
    "geq",
    "ge",
    "geqslant",
    "neq",
    "ne",
    "approx",
    "sim",
    "simeq",
    "cong",
    "equiv",
    "propto",
    "ll",
    "gg",
    "lesssim",
    "gtrsim",
    "in",
    "notin",
    "subset",
    "subseteq",
    "to",
    "rightarrow",
    "times",
    "pm",
    "mapsto",
    "cup",
];
/// Deepest groups.
const DEEPEST: usize = 40;

/// TeX without markup that only concerns looks: `p \leq 0.05` becomes `p ≤ 0.05`. Unknown commands stay.
pub(crate) fn tex(source: &str) -> String {
    let source = source.trim();
    let inner = [("$$", "$$"), ("$", "$"), ("\\[", "\\]"), ("\\(", "\\)")]
        .iter()
        .find_map(|(open, close)| source.strip_prefix(open)?.strip_suffix(close))
        .unwrap_or(source);
    if inner.len() > LONGEST {
        return inner.to_owned();
    }
    let mut reader = Tex { rest: inner, depth: 0 };
    let mut out = String::new();
    reader.sequence(&mut out, false);
    crate::draft::clean(&out)
}

/// The source that papers deposit: a whole document around a formula.
pub(crate) fn tex_document(source: &str) -> String {
    let body = source.split("\\begin{document}").nth(1).unwrap_or(source);
    tex(body.split("\\end{document}").next().unwrap_or_default())
}

struct Tex<'s> {
    rest: &'s str,
    depth: usize,
}

impl<'s> Tex<'s> {
    /// Reads to the end, or to the brace that closes a group.
    fn sequence(&mut self, out: &mut String, group: bool) {
        while let Some(c) = self.rest.chars().next() {
            self.rest = &self.rest[c.len_utf8()..];
            match c {
                '}' if group => return,
                '{' if self.depth < DEEPEST => {
                    self.depth += 1;
                    self.sequence(out, true);
                    self.depth -= 1;
                }
                '{' | '}' | '$' => {}
                '~' | '&' => out.push(' '),
                '^' | '_' => {
                    let argument = self.argument();
                    // A degree sign is written as a power.
                    if c == '^' && matches!(argument.as_str(), "∘" | "°") {
                        out.push('°');
                    } else if c == '^' && argument.chars().all(|c| c == '′') {
                        out.push_str(&argument);
                    } else if argument.chars().count() > 1 && !argument.chars().all(char::is_alphanumeric) {
                        out.extend([c, '(']);
                        out.push_str(&argument);
                        out.push(')');
                    } else {
                        out.push(c);
                        out.push_str(&argument);
                    }
                }
                '\'' => out.push('′'),
                '\\' => self.command(out),
                c => out.push(c),
            }
        }
    }

    fn name(&mut self) -> &'s str {
        let letters = self.rest.bytes().take_while(u8::is_ascii_alphabetic).count();
        let length = if letters == 0 { self.rest.chars().next().map_or(0, char::len_utf8) } else { letters };
        let (name, rest) = self.rest.split_at(length);
        self.rest = rest;
        name
    }

    fn command(&mut self, out: &mut String) {
        let name = self.name();
        match name {
            "frac" | "dfrac" | "tfrac" | "cfrac" | "nicefrac" | "sfrac" => {
                let (above, below) = (self.argument(), self.argument());
                out.extend([grouped(&above).as_str(), "/", &grouped(&below)]);
            }
            "binom" | "dbinom" | "tbinom" => {
                let (above, below) = (self.argument(), self.argument());
                out.extend(["C(", &above, ", ", &below, ")"]);
            }
            "sqrt" => {
                let index = self.optional();
                let argument = self.argument();
                out.push_str(&index);
                out.extend(["√", &grouped(&argument)]);
            }
            "begin" | "end" => {
                let environment = self.argument();
                if environment == "array" && name == "begin" {
                    self.argument();
                }
                out.push(' ');
            }
            "label" | "tag" | "vspace" | "hspace" | "phantom" | "vphantom" | "hphantom" | "color" | "ref" => {
                self.argument();
            }
            "mathrm" | "mathit" | "mathbf" | "mathsf" | "mathtt" | "mathcal" | "mathbb" | "mathfrak"
            | "mathscr" | "boldsymbol" | "bm" | "text" | "textrm" | "textit" | "textbf" | "textsf"
            | "texttt" | "textnormal" | "mbox" | "hbox" | "operatorname" | "emph" | "ensuremath" | "rm"
            | "bf" | "it" | "displaystyle" | "textstyle" | "scriptstyle" | "limits" | "nolimits" | "left"
            | "right" | "big" | "Big" | "bigg" | "Bigg" | "bigl" | "bigr" | "Bigl" | "Bigr" | "biggl"
            | "biggr" | "Biggl" | "Biggr" | "middle" | "nonumber" | "notag" | "centering" | "boxed"
            | "mathop" | "mathord" | "mathrel" | "mathbin" => {
                let argument = self.rest.trim_start();
                if matches!(name, "left" | "right") && argument.starts_with('.') {
                    self.rest = &argument[1..];
                }
            }
            "," | ":" | ";" | " " | "quad" | "qquad" | "enspace" | "thinspace" | "\\" | "newline" | "\n" => {
                out.push(' ');
            }
            "!" | "/" | "-" | "" => {}
            _ => match symbol(name) {
                // The blank after a command only ends its name.
                Some(text) if RELATIONS.contains(&name) => {
                    out.extend([" ", text, " "]);
                    self.rest = self.rest.trim_start();
                }
                Some(text) => {
                    out.push_str(text);
                    // A function's argument stands apart from its name.
                    let function = text.len() > 1 && text.is_ascii();
                    if !function && text.chars().all(char::is_alphanumeric) {
                        self.rest = self.rest.trim_start();
                    }
                }
                None => {
                    out.push('\\');
                    out.push_str(name);
                }
            },
        }
    }

    fn argument(&mut self) -> String {
        self.rest = self.rest.trim_start();
        let mut out = String::new();
        match self.rest.chars().next() {
            Some('{') if self.depth < DEEPEST => {
                self.rest = &self.rest[1..];
                self.depth += 1;
                self.sequence(&mut out, true);
                self.depth -= 1;
            }
            Some('\\') if self.depth < DEEPEST => {
                self.rest = &self.rest[1..];
                self.depth += 1;
                self.command(&mut out);
                self.depth -= 1;
            }
            Some('}') | None => {}
            Some(c) => {
                self.rest = &self.rest[c.len_utf8()..];
                out.push(c);
            }
        }
        out.trim().to_owned()
    }

    fn optional(&mut self) -> String {
        let rest = self.rest.trim_start();
        let Some((inside, after)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) else {
            return String::new();
        };
        self.rest = after;
        inside.to_owned()
    }
}

/// In parentheses, if it is more than a number or a name.
fn grouped(text: &str) -> String {
    let simple = text.chars().all(|c| c.is_alphanumeric() || c == '.');
    if simple || text.chars().count() == 1 { text.to_owned() } else { format!("({text})") }
}

/// A formula in `MathML`, from its TeX if it carries that.
pub(crate) fn mathml(formula: Element<'_>) -> String {
    let source =
        formula.below("annotation").find(|a| a.attribute("encoding").is_some_and(|e| e.contains("tex")));
    if let Some(source) = source {
        return tex(&source.text());
    }
    let mut out = String::new();
    write_mathml(formula, &mut out);
    crate::draft::clean(&out)
}

fn write_mathml(element: Element<'_>, out: &mut String) {
    let parts = || element.elements().map(|part| inside(part, write_mathml)).collect::<Vec<_>>();
    match element.name() {
        "mfrac" => fraction(&parts(), out),
        "msup" | "mover" => script(&parts(), "^", "^", out),
        "msub" | "munder" => script(&parts(), "_", "_", out),
        "msubsup" | "munderover" => script(&parts(), "_", "^", out),
        "msqrt" => out.extend(["√", &grouped(&parts().concat())]),
        "mroot" => out.extend(["√", &grouped(&parts().first().cloned().unwrap_or_default())]),
        "mtd" | "mtr" | "mspace" => {
            write_children(element, out, write_mathml);
            out.push(' ');
        }
        "mo" => {
            let text = element.text();
            // Signs for function application and the like cannot be seen.
            let seen: String = text.chars().filter(|c| !matches!(c, '\u{2061}'..='\u{2064}')).collect();
            let apart = seen
                .chars()
                .all(|c| matches!(c, '=' | '<' | '>' | '≤' | '≥' | '±' | '×' | '+' | '−' | '≈' | '~' | '∼'));
            let spaced = apart && !seen.is_empty();
            let blank = if spaced { " " } else { "" };
            out.extend([blank, &seen, blank]);
        }
        "annotation" | "annotation-xml" => {}
        _ => write_children(element, out, write_mathml),
    }
}

/// A formula in Word's markup (OMML).
pub(crate) fn omml(formula: Element<'_>) -> String {
    let mut out = String::new();
    write_omml(formula, &mut out);
    crate::draft::clean(&out)
}

fn write_omml(element: Element<'_>, out: &mut String) {
    let part = |name: &str| element.child(name).map(|part| inside(part, write_omml)).unwrap_or_default();
    match element.name() {
        "f" => fraction(&[part("num"), part("den")], out),
        "sSup" => script(&[part("e"), part("sup")], "^", "^", out),
        "sSub" => script(&[part("e"), part("sub")], "_", "_", out),
        "sSubSup" => script(&[part("e"), part("sub"), part("sup")], "_", "^", out),
        "nary" => {
            let sign = element.at("naryPr/chr").and_then(|chr| chr.attribute("val")).unwrap_or("∫");
            script(&[sign.to_owned(), part("sub"), part("sup")], "_", "^", out);
            out.extend([" ", &part("e")]);
        }
        "rad" => out.extend([part("deg").as_str(), "√", &grouped(&part("e"))]),
        "d" => {
            let sign = |name| element.at(name).and_then(|chr| chr.attribute("val"));
            let inner: Vec<String> = element.all("e").map(|part| inside(part, write_omml)).collect();
            let (open, close) = (sign("dPr/begChr").unwrap_or("("), sign("dPr/endChr").unwrap_or(")"));
            out.extend([open, &inner.join(", "), close]);
        }
        "t" => {
            for child in element.children() {
                if let Child::Text(text) = child {
                    out.push_str(text);
                }
            }
        }
        "mr" | "oMath" => {
            write_children(element, out, write_omml);
            out.push(' ');
        }
        "rPr" | "ctrlPr" => {}
        _ => {
            for child in element.elements() {
                write_omml(child, out);
            }
        }
    }
}

fn inside(element: Element<'_>, write: fn(Element<'_>, &mut String)) -> String {
    let mut out = String::new();
    write(element, &mut out);
    out.trim().to_owned()
}

fn write_children(element: Element<'_>, out: &mut String, write: fn(Element<'_>, &mut String)) {
    for child in element.children() {
        match child {
            Child::Element(child) => write(child, out),
            Child::Text(text) => out.push_str(text.trim_matches(['\n', '\t', '\r', ' '])),
        }
    }
}

fn fraction(parts: &[String], out: &mut String) {
    let part = |at: usize| parts.get(at).map(String::as_str).unwrap_or_default();
    out.extend([grouped(part(0)).as_str(), "/", &grouped(part(1))]);
}

/// A base with one or two scripts.
fn script(parts: &[String], first: &str, second: &str, out: &mut String) {
    out.push_str(parts.first().map(String::as_str).unwrap_or_default());
    for (part, mark) in parts.iter().skip(1).zip([first, second]) {
        if !part.is_empty() {
            out.push_str(mark);
            out.push_str(&grouped(part));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tex_is_readable() {
        for (source, text) in [
            ("$p < 0.05$", "p < 0.05"),
            (r"p\leq0.05", "p ≤ 0.05"),
            (r"\alpha_{1} = \frac{a+b}{2}", "α_1 = (a+b)/2"),
            (r"10\%", "10%"),
            (r"\mathrm{CO}_2", "CO_2"),
            (r"37\,^{\circ}\mathrm{C}", "37 °C"),
            (r"\unknown{x}", r"\unknownx"),
            (r"\left( x \right)", "( x )"),
            (r"\sqrt[3]{x+1}", "3√(x+1)"),
            ("{{{", ""),
        ] {
            assert_eq!(tex(source), text, "{source}");
        }
    }
}
