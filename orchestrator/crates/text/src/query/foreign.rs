//! Forms of other systems: what stands for one here, and which Lyra form replaces the rest.
//!
//! A form is refused where it could be nothing else. Where it may be a word as well, it is searched as one, and a
//! [`Note`](super::Note) says so.

use super::{Field, QueryError};
use crate::is_cjk;

/// A part of a word, phrase, or group that another system would act on.
pub(super) struct Refusal {
    /// Characters from the start of what was looked at.
    pub(super) offset: usize,
    pub(super) found: String,
    pub(super) expected: &'static str,
    pub(super) instead: Option<String>,
}

impl Refusal {
    fn new(offset: usize, found: &str, expected: &'static str, instead: impl Into<Option<String>>) -> Self {
        Self { offset, found: found.to_owned(), expected, instead: instead.into() }
    }

    /// The error, for what began at this character of the query.
    pub(super) fn at(self, start: usize) -> QueryError {
        QueryError {
            at: start + self.offset,
            found: format!("`{}`", self.found),
            expected: self.expected.to_owned(),
            instead: self.instead,
        }
    }
}

/// An operator between two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Infix {
    /// A proximity, wherever it stands.
    Near { distance: Option<u32>, ordered: bool },
    /// Side by side in this order, between two operands; a word elsewhere.
    Adjacent,
    /// Has to be written otherwise between two operands; a word elsewhere.
    Refused { expected: &'static str, form: &'static str },
    /// A word that other systems take for an operator between two operands.
    Word { form: &'static str },
}

const DISTANCE: &str = "a distance, as in NEAR/5 (at most 5 words between)";
const SENTENCE: &str = "a distance: the index has no sentences and paragraphs";

/// What a bare word is between two operands, `None` for any other word. Its letters and digits are in ASCII.
pub(super) fn infix(word: &str) -> Option<Infix> {
    let upper = word.to_ascii_uppercase();
    let is_upper = word == upper;
    let cut = upper.find(|c: char| c.is_ascii_digit() || c == '/').unwrap_or(upper.len());
    let (name, number) = (&upper[..cut], upper[cut..].trim_start_matches('/'));
    let (slash, digits) = (upper[cut..].starts_with('/'), number.bytes().all(|b| b.is_ascii_digit()));
    // Too large a number is refused with its limit.
    let distance = number.parse().ok();
    if digits && !number.is_empty() {
        match name {
            "NEAR" | "WITHIN" => return Some(Infix::Near { distance, ordered: false }),
            "ADJ" | "ONEAR" | "PRE" => return Some(Infix::Near { distance, ordered: true }),
            "W" if slash => return Some(Infix::Near { distance, ordered: false }),
            "N" if slash && is_upper => return Some(Infix::Near { distance, ordered: false }),
            "W" | "N" | "WF" if is_upper => return Some(Infix::Word { form: "NEAR/5" }),
            "N" | "P" | "S" if slash => return Some(Infix::Word { form: "NEAR/5" }),
            _ => {}
        }
    }
    if let Some(number) = upper.strip_suffix(['N', 'W', 'A', 'D'])
        && is_upper
        && (1..=2).contains(&number.len())
        && number.bytes().all(|b| b.is_ascii_digit())
    {
        return Some(Infix::Word { form: "NEAR/5" });
    }
    match upper.as_str() {
        "ADJ" => Some(Infix::Adjacent),
        "NEAR" | "WITHIN" if is_upper => Some(Infix::Refused { expected: DISTANCE, form: "NEAR/5" }),
        "BEFORE" if is_upper => Some(Infix::Refused { expected: DISTANCE, form: "ADJ/5" }),
        "SAME" | "WITH" if is_upper => Some(Infix::Refused { expected: SENTENCE, form: "NEAR/20" }),
        "XOR" if is_upper => Some(Infix::Word { form: "(a OR b) NOT (a b)" }),
        "NEAR/" | "W/" | "ADJ/" | "WITHIN/" => Some(Infix::Refused { expected: DISTANCE, form: "NEAR/5" }),
        "ANDNOT" | "BUTNOT" | "AND-NOT" => {
            Some(Infix::Refused { expected: "NOT between what must and what must not be there", form: "NOT" })
        }
        "/S" | "/P" => Some(Infix::Refused { expected: SENTENCE, form: "NEAR/20" }),
        _ if is_vendor_near(&upper) => Some(Infix::Refused { expected: DISTANCE, form: "NEAR/5" }),
        _ => None,
    }
}

/// `/5`, `$W5`, `$PRE5`, `$SEN`, `PROX/…`, `<NEAR/5>`.
fn is_vendor_near(upper: &str) -> bool {
    let number = |rest: &str| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit());
    upper.strip_prefix('/').is_some_and(number)
        || ["$W", "$PRE", "$WS"].iter().any(|name| upper.strip_prefix(name).is_some_and(number))
        || matches!(upper, "$SEN" | "$PARA")
        || upper.starts_with("PROX/")
        || (upper.starts_with('<') && upper.ends_with('>') && upper.len() > 3)
}

/// Words that other systems act on when brackets stand beside them.
pub(super) fn is_relation(word: &str) -> bool {
    matches!(word.to_ascii_lowercase().as_str(), "near" | "within" | "with" | "same" | "before")
}

/// `(3W)`, `(N)`: an operator in brackets of its own, which may be a unit or an element as well.
pub(super) fn is_bracketed(word: &str) -> bool {
    let letters = word.trim_start_matches(|c: char| c.is_ascii_digit());
    matches!(letters, "W" | "N" | "A" | "S" | "L" | "P") && word.len() - letters.len() <= 2
}

/// `#1`: the number of an earlier search.
pub(super) fn is_set(word: &str) -> bool {
    word.strip_prefix('#').is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
}

/// What a name before `:` or `=`, or a mark behind a word, stands for elsewhere.
enum Meaning {
    Fields(&'static [Field]),
    /// All texts, which is what a word without a field means.
    All,
    Filter(&'static str),
    /// A field of this name, if queries have one.
    Other(&'static str),
}

fn meaning(name: &str) -> Option<Meaning> {
    use Field::{Abst, Assignee, Claim, Country, Cpc, Desc, Fi, Ft, Ipc, Lang, Title};
    Some(match name.to_ascii_lowercase().as_str() {
        "ti" | "ttl" | "title" | "tit" => Meaning::Fields(&[Title]),
        "ab" | "abst" | "abstract" | "abs" => Meaning::Fields(&[Abst]),
        "ta" | "tiab" | "title/abstract" | "ti,ab" | "ab,ti" | "ti/ab" | "ts" => {
            Meaning::Fields(&[Title, Abst])
        }
        "tac" | "ti,ab,clm" | "ti/ab/clms" | "ctxt" | "title-abs-key" | "tak" => {
            Meaning::Fields(&[Title, Abst, Claim])
        }
        "cl" | "clm" | "clms" | "claim" | "claims" | "aclm" => Meaning::Fields(&[Claim]),
        "desc" | "description" | "spec" | "dsc" | "detd" | "bsum" => Meaning::Fields(&[Desc]),
        "tacd" | "txt" | "ftxt" | "nftxt" | "all" | "tx" | "bi" | "mp" | "af" | "tw" | "fulltext"
        | "full_text" | "text word" | "all fields" | "alltext" => Meaning::All,
        "pa" | "as" | "asn" | "asg" | "aanm" | "applicant" | "assignee" => Meaning::Fields(&[Assignee]),
        "cpc" | "cpci" | "cpca" | "cpcl" | "classification_cpc" => Meaning::Fields(&[Cpc]),
        "ipc" | "ic" | "icl" | "icm" | "ipcr" | "int_class" => Meaning::Fields(&[Ipc]),
        "fi" => Meaning::Fields(&[Fi]),
        "ft" | "fterm" => Meaning::Fields(&[Ft]),
        "cc" | "country" | "jurisdiction" | "pnctry" => Meaning::Fields(&[Country]),
        "la" | "lang" | "language" => Meaning::Fields(&[Lang]),
        "py" | "pubyear" | "year" | "dp" | "publication_year" => Meaning::Filter("pubyear=2010..2020"),
        "pd" | "isd" | "pub_date" | "date" | "before" | "after" | "publication_date" | "year_published" => {
            Meaning::Filter("pub_date=2010-01-01..2020-12-31")
        }
        "ad" | "apd" | "app_date" | "filing_date" => Meaning::Filter("app_date=2010-01-01..2020-12-31"),
        "au" | "in" | "inv" | "inventor" | "author" => Meaning::Other("inventor"),
        "ct" | "cites" => Meaning::Other("cites"),
        "ccl" | "uspc" => Meaning::Other("uspc"),
        "pn" | "pnum" | "ap" | "pr" | "prd" | "mh" | "mesh" | "majr" | "kw" | "su" | "so" | "doi"
        | "pmid" => Meaning::Other(""),
        _ => return None,
    })
}

/// The Lyra form of an operand with a mark of another system.
fn form(meaning: &Meaning, operand: &str) -> (&'static str, Option<String>) {
    match meaning {
        Meaning::Fields(fields) => {
            let parts: Vec<String> =
                fields.iter().map(|field| format!("{}:{operand}", field.name())).collect();
            let written = if parts.len() == 1 { parts.concat() } else { format!("({})", parts.join(" OR ")) };
            ("a field before its word", Some(written))
        }
        Meaning::All => ("the word alone, which is looked for in every text", Some(operand.to_owned())),
        Meaning::Filter(filter) => ("a filter beside the query", Some((*filter).to_owned())),
        Meaning::Other(name) => match Field::named(name) {
            Some(field) => ("a field before its word", Some(format!("{}:{operand}", field.name()))),
            None => ("words of the texts: a query has no such field", None),
        },
    }
}

/// `TAC:(…)`, `TI=…`: a name that is not a field here. `rest` is what follows the mark.
pub(super) fn named(name: &str, mark: char, rest: &[char]) -> Option<Refusal> {
    let meaning = meaning(name)?;
    // "Pr=0.7" and "Ti=300" are quantities.
    let is_code =
        name.chars().all(|c| !c.is_ascii_lowercase()) || name.chars().all(|c| !c.is_ascii_uppercase());
    let is_long = name.len() > 3;
    if mark == '=' && !(is_long || is_code && !rest.first().is_some_and(char::is_ascii_digit)) {
        return None;
    }
    let operand = match rest.first() {
        Some('(') => "(…)".to_owned(),
        Some('"') => {
            let body: String = rest[1..].iter().take_while(|c| **c != '"').collect();
            format!("\"{body}\"")
        }
        Some(c) if !c.is_whitespace() => {
            rest.iter().take_while(|c| !c.is_whitespace() && !matches!(c, '(' | ')' | '"')).collect()
        }
        _ => "…".to_owned(),
    };
    let (expected, instead) = form(&meaning, &operand);
    Some(Refusal::new(0, &format!("{name}{mark}"), expected, instead))
}

/// What another system reads behind a word, phrase, or group: `^2`, `~5`, `[tiab]`, `.ti,ab.`, `/ab`. `tail` begins
/// with the mark, `operand` is what stands before it.
pub(super) fn tail(tail: &str, operand: &str) -> Option<Refusal> {
    let mark = tail.chars().next()?;
    let rest = &tail[mark.len_utf8()..];
    let number = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || c == '.');
    match mark {
        '^' if number(rest) => {
            let expected = "no weight: repeat a word to weigh it more, or set the lane's weights of fields";
            let repeated = (!operand.contains('…')).then(|| format!("{operand} {operand}"));
            Some(Refusal::new(0, tail, expected, repeated))
        }
        '~' if rest.is_empty() || number(rest) => {
            let expected = "the spellings, or a truncated word: similar words are not guessed";
            let words: Vec<char> = operand.chars().collect();
            let shorter: String = words.iter().take(words.len().saturating_sub(1)).collect();
            let form = (words.len() > 4 && !operand.contains(['…', '"'])).then(|| format!("{shorter}*"));
            Some(Refusal::new(0, tail, expected, form))
        }
        '[' => {
            let name = rest.strip_suffix(']')?;
            // "[Au]" and "[In]" are elements.
            let name = name.split(':').next().unwrap_or(name);
            let is_code = name.len() > 2 || name.chars().all(|c| c.is_ascii_lowercase());
            let (expected, instead) = form(&meaning(name).filter(|_| is_code)?, operand);
            Some(Refusal::new(0, tail, expected, instead))
        }
        '.' => {
            let names = rest.strip_suffix('.')?;
            let (expected, instead) = form(&meanings(names, ',')?, operand);
            Some(Refusal::new(0, tail, expected, instead))
        }
        '/' => {
            let is_even = rest.chars().all(|c| !c.is_ascii_lowercase())
                || rest.chars().all(|c| !c.is_ascii_uppercase());
            // "Al/Ti" is an alloy, "Na/Cl" a ratio.
            let long = operand.chars().count() >= 3 || operand.chars().any(is_cjk);
            // "plug/in", "sci/fi", and "before/after" are words.
            let japanese =
                operand.chars().any(is_cjk) && matches!(rest, "CL" | "TX" | "FI" | "FT" | "IC" | "IP");
            let is_code = |code: &str| {
                matches!(
                    code.to_ascii_lowercase().as_str(),
                    "ti" | "ab" | "clm" | "clms" | "bi" | "ta" | "tac" | "tiab"
                )
            };
            let listed = japanese || rest.split([',', '/']).all(is_code);
            let known = meanings(rest, if rest.contains(',') { ',' } else { '/' });
            let (expected, instead) = form(&known.filter(|_| is_even && long && listed)?, operand);
            Some(Refusal::new(0, tail, expected, instead))
        }
        _ => None,
    }
}

/// `ti,ab`: one name or several.
fn meanings(names: &str, between: char) -> Option<Meaning> {
    if let Some(one) = meaning(names) {
        return Some(one);
    }
    let mut known = names.split(between).map(meaning).collect::<Option<Vec<_>>>()?;
    match known.len() {
        0 => None,
        1 => known.pop(),
        _ => Some(Meaning::Fields(&[Field::Title, Field::Abst])),
    }
}

/// A bare word that holds a sign of another system. `last` says that nothing follows it in the query.
pub(super) fn word(text: &str) -> Option<Refusal> {
    let chars: Vec<char> = text.chars().collect();
    let letters = |range: &[char]| range.iter().filter(|c| c.is_alphabetic()).count();
    if text == "?" || text == "*" {
        return None;
    }
    // `[太陽電池/TX]`, `太陽,5N,電池`, `太陽*電池`, `太陽+電池`
    if let Some(refusal) = japanese(text, &chars) {
        return Some(refusal);
    }
    for (at, c) in chars.iter().enumerate() {
        let (before, after) = (&chars[..at], &chars[at + 1..]);
        let operand: String = before.iter().collect();
        let tail: String = chars[at..].iter().collect();
        let refusal = match c {
            '^' | '~' if letters(before) >= 3 => self::tail(&tail, &operand),
            '[' | '/' if !before.is_empty() => self::tail(&tail, &operand),
            '.' if letters(before) >= 2 && tail.len() > 3 => self::tail(&tail, &operand),
            '[' if meaning(tail.trim_start_matches('[').trim_end_matches(']')).is_some()
                && tail.ends_with(']') =>
            {
                self::tail(&tail, "…")
            }
            '$' if is_stem(before) => Some(open(&chars, at, "*")),
            // "page#3" has a number.
            '#' if is_stem(before) && !after.first().is_some_and(char::is_ascii_digit) => {
                Some(open(&chars, at, "?"))
            }
            '!' if is_stem(before) && after.first().is_some_and(|c| c.is_alphabetic()) => {
                Some(open(&chars, at, "?"))
            }
            _ => None,
        };
        if let Some(refusal) = refusal {
            return Some(Refusal { offset: at + refusal.offset, ..refusal });
        }
    }
    let upper = ["ABST/", "ACLM/", "SPEC/", "TTL/"].iter().find(|name| text.starts_with(**name))?;
    let rest: String = text[upper.len()..].to_owned();
    // "TTL/CMOS" is a kind of circuit.
    let is_word = rest.is_empty() || rest.chars().any(|c| c.is_ascii_lowercase());
    let (expected, instead) = form(&meaning(upper.trim_end_matches('/')).filter(|_| is_word)?, &rest);
    Some(Refusal::new(0, text, expected, instead))
}

/// What a bare word may be besides: `measur+`, `measur!` are truncated elsewhere.
pub(super) fn truncated_elsewhere(text: &str) -> Option<String> {
    let word = text.strip_suffix(['+', '!'])?;
    let chars: Vec<char> = word.chars().collect();
    is_stem(&chars).then(|| format!("{word}*"))
}

/// Letters at the end that can be a truncated word's: no amount of money, no `C#`, no `CD4+`.
fn is_stem(chars: &[char]) -> bool {
    let length = chars.iter().rev().take_while(|c| c.is_ascii_alphabetic()).count();
    let word = &chars[chars.len() - length..];
    length >= 3 && (word[1..].iter().all(char::is_ascii_lowercase) || length > 4)
}

/// A sign for open characters that is written otherwise here.
fn open(chars: &[char], at: usize, sign: &str) -> Refusal {
    let before: String = chars[..at].iter().collect();
    // `$2` limits how many characters there are.
    let after: String = chars[at + 1..].iter().skip_while(|c| c.is_ascii_digit()).collect();
    let expected = "`*` for any characters of a word, or `?` for one";
    Refusal::new(0, &chars[at].to_string(), expected, format!("{before}{sign}{after}"))
}

/// Forms of Japanese databases.
fn japanese(text: &str, chars: &[char]) -> Option<Refusal> {
    if let Some(body) = text.strip_prefix('[')
        && let Some((operand, name)) = body.trim_end_matches(']').rsplit_once('/')
        && name.chars().all(|c| c.is_ascii_uppercase())
        && let Some(known) = meaning(name)
    {
        let (expected, instead) = form(&known, operand);
        return Some(Refusal::new(0, text, expected, instead));
    }
    let parts: Vec<&str> = text.split(',').collect();
    if let [first, middle, rest @ ..] = parts.as_slice()
        && let Some(distance) = middle.strip_suffix(['N', 'n', 'C', 'c'])
        && !distance.is_empty()
        && distance.bytes().all(|b| b.is_ascii_digit())
        && !first.is_empty()
        && !rest.is_empty()
        && text.chars().any(is_cjk)
    {
        let name = if middle.ends_with(['C', 'c']) { "ONP" } else { "N" };
        let form = format!("*{name}{distance}\"{first} {}\"", rest.join(","));
        let offset = first.chars().count();
        return Some(Refusal::new(offset, &format!(",{middle},"), "a proximity", form));
    }
    for (at, c) in chars.iter().enumerate().skip(1) {
        let operator = match c {
            '*' => "AND",
            '+' => "OR",
            _ => continue,
        };
        let (Some(before), Some(after)) = (chars.get(at - 1), chars.get(at + 1)) else { continue };
        let open = |c: char| is_cjk(c) || matches!(c, '[' | ']');
        // "Na+イオン" is an ion.
        let joins = if *c == '*' { open(*before) || open(*after) } else { open(*before) && open(*after) };
        if joins && (after.is_alphanumeric() || open(*after)) {
            let (left, right): (String, String) =
                (chars[..at].iter().collect(), chars[at + 1..].iter().collect());
            let expected = if *c == '*' {
                "AND, or a proximity: CJK words are found wherever they stand, without `*`"
            } else {
                "OR between alternatives"
            };
            return Some(Refusal::new(at, &c.to_string(), expected, format!("{left} {operator} {right}")));
        }
    }
    None
}
