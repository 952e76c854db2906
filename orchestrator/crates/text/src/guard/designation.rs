//! Things of one kind that a letter or a number tells apart: "vitamin E" and "vitamin D", "hepatitis C", "type 2 diabetes".
//!
//! A passage that names others of the kind and never this one is about something else. One that names none of them may have
//! another word for it, so that nothing is missed there.

use super::term::{Words, lower};

/// Kinds whose members have numbers. Other words before a number are mostly counts.
const NUMBERED: &[&str] =
    &["type", "stage", "grade", "phase", "class", "chromosome", "trisomy", "interleukin", "caspase", "omega"];
/// What letters tell apart within one text only.
const LOCAL: &[&str] = &[
    "group",
    "table",
    "figure",
    "appendix",
    "panel",
    "plan",
    "part",
    "section",
    "model",
    "method",
    "option",
    "site",
    "case",
    "study",
    "series",
    "cohort",
    "arms",
    "condition",
    "scenario",
    "question",
    "patient",
    "drug",
    "treatment",
    "regimen",
    "team",
    "school",
    "company",
    "country",
    "city",
];
/// Other words for a member of a kind, as patterns of [`Words::matches`].
const SYNONYMS: &[(&str, &str, &str)] = &[
    ("vitamin", "a", "retino* retinal retinyl*"),
    ("vitamin", "b", "thiamin* niacin* fol* cobalamin* pyridox*"),
    ("vitamin", "c", "ascorb*"),
    ("vitamin", "d", "*calciferol calcitriol* calcidiol* 25ohd oh"),
    ("vitamin", "e", "tocopher* tocotrienol*"),
    ("vitamin", "k", "phylloquinone* menaquinone*"),
    ("type", "2", "niddm* t2*"),
    ("type", "1", "iddm* t1*"),
    ("omega", "3", "n epa dha eicosa* docosa*"),
];
/// From one on.
const ROMAN: &[&str] = &["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X"];
/// Words after a kind that are looked at: "vitamins B6, B12, C and E".
const REACH: usize = 8;

/// What a claim names in this way and the passage does not, although it names others of the kind.
pub(super) fn missing(claim: &[String], passage: &Words) -> Vec<String> {
    let words = parts(claim);
    let sought: Vec<(&str, String, &str)> = words
        .iter()
        .enumerate()
        .flat_map(|(i, word)| after(&words[i + 1..]).map(move |name| (*word, kind(word), name)))
        .filter(|(_, kind, name)| {
            let is_general = kind.chars().count() >= 4 && !LOCAL.contains(&kind.as_str());
            is_general && is_told_apart(kind, name) && !crate::is_stop_word(kind)
        })
        .collect();
    // Most claims name nothing in this way, and the passage is not looked at.
    if sought.is_empty() {
        return Vec::new();
    }
    let there = parts(&passage.plain);
    let absent = |(_, kind, name): &(&str, String, &str)| {
        let (others, sought) = (named(&there, kind), value(name));
        let also = |(of, member, also): &(&str, &str, &str)| {
            of == kind && sought.starts_with(member) && passage.matches(also)
        };
        let is_there = others.iter().any(|other| is_of(&value(other), &sought))
            || abbreviated(&there, kind, name)
            || SYNONYMS.iter().any(also);
        // "A" may begin a sentence.
        !is_there && others.iter().any(|other| *other != "A" && is_told_apart(kind, other))
    };
    sought.iter().filter(|sought| absent(sought)).map(|(word, _, name)| format!("{word} {name}")).collect()
}

/// A kind in lower case, in the singular.
fn kind(word: &str) -> String {
    let low = lower(word);
    low.strip_suffix('s').map(str::to_owned).unwrap_or(low)
}

/// Words with the names that a hyphen or a slash joins to them apart: "type-2", "B/C", and not "5-phosphatase".
fn parts(words: &[String]) -> Vec<&str> {
    let cut = |word: &str| word.rsplit(['-', '/']).next().is_some_and(is_name);
    words
        .iter()
        .flat_map(|word| if cut(word) { word.split(['-', '/']).collect() } else { vec![word.as_str()] })
        .filter(|part| !part.is_empty())
        .collect()
}

/// The members of a kind that a text names.
fn named<'w>(words: &'w [&'w str], kind: &str) -> Vec<&'w str> {
    // Also cut short: "Pol II".
    let is_kind = |word: &str| {
        let word = lower(word);
        word.strip_suffix('s') == Some(kind) || (word.len() >= 3 && kind.starts_with(&word))
    };
    words
        .iter()
        .enumerate()
        .filter(|(_, word)| is_kind(word))
        .flat_map(|(i, _)| after(&words[i + 1..]))
        .collect()
}

/// The letters and numbers that directly follow a word.
fn after<'w>(words: &'w [&'w str]) -> impl Iterator<Item = &'w str> {
    let joins = |word: &str| matches!(word, "and" | "or" | "to" | "vs" | "versus");
    let near = words.iter().copied().take(REACH);
    near.take_while(move |word| joins(word) || is_name(word)).filter(|word| is_name(word))
}

/// A name in one form: lower case, Roman numbers as others.
fn value(name: &str) -> String {
    let number = ROMAN.iter().position(|roman| *roman == name).map(|at| (at + 1).to_string());
    number.unwrap_or_else(|| name.to_lowercase())
}

/// Whether a member is the one that is sought, or one of those that it stands for: "d3" of "d".
fn is_of(member: &str, sought: &str) -> bool {
    member == sought || (sought.starts_with(char::is_alphabetic) && member.starts_with(sought))
}

/// A capital or a small number, each with at most two further signs: "D", "B12", "2", "II".
fn is_name(word: &str) -> bool {
    let mut signs = word.chars();
    let first = signs.next();
    let rest: Vec<char> = signs.collect();
    let follows = |sign: &char| sign.is_ascii_digit() || (rest.len() == 1 && sign.is_ascii_lowercase());
    match first {
        Some('A'..='Z') => {
            (rest.len() <= 2 && rest.iter().all(char::is_ascii_digit)) || ROMAN.contains(&word)
        }
        Some('0'..='9') => rest.len() <= 1 && rest.iter().all(follows),
        _ => false,
    }
}

/// Whether such names tell members of the kind apart.
fn is_told_apart(kind: &str, name: &str) -> bool {
    NUMBERED.contains(&kind) || name.starts_with(char::is_alphabetic)
}

/// Whether an acronym begins with the kind and has the name in it: "HCV" for hepatitis C, "T2DM" for type 2, "PGE(2)" for
/// prostaglandin E2.
fn abbreviated(words: &[&str], kind: &str, name: &str) -> bool {
    let (Some(first), name) = (kind.chars().next(), name.to_uppercase()) else { return false };
    let is_acronym = |word: &str| {
        let rest = word.strip_prefix(first.to_ascii_uppercase());
        let capitals = word.chars().filter(char::is_ascii_uppercase).count();
        rest.is_some_and(|rest| rest.contains(&name)) && word.len() >= 3 && capitals * 2 >= word.len()
    };
    let pairs = words.windows(2).filter(|pair| pair[0].chars().all(|sign| sign.is_ascii_uppercase()));
    words.iter().flat_map(|word| word.split(['-', '/'])).any(is_acronym)
        || pairs.map(<[&str]>::concat).any(|pair| is_acronym(&pair))
}

#[cfg(test)]
mod tests {
    use super::super::term::split;
    use super::*;

    #[track_caller]
    fn check(claim: &str, passage: &str, expect: &[&str]) {
        assert_eq!(missing(&split(claim), &Words::of(passage)), expect, "{claim} | {passage}");
    }

    #[test]
    fn another_member_of_the_kind() {
        check("Vitamin E prevents cancer.", "Vitamin D lowered the incidence of cancer.", &["Vitamin E"]);
        check("Hepatitis C causes fatigue.", "Hepatitis B and hepatitis E cause fatigue.", &["Hepatitis C"]);
        check("Type 2 diabetes is rising.", "Type 1 diabetes is rising in children.", &["Type 2"]);
        check("Trisomy 1 is rare.", "Trisomy 18 is rare.", &["Trisomy 1"]);
        check("Factor V clots blood.", "Factor VIII clots blood.", &["Factor V"]);
        check("Loss of cyclin A halts cells.", "Loss of cyclins B1 and D halts cells.", &["cyclin A"]);
        check("Surgery helps in stage IV disease.", "Surgery helped in stages II and III.", &["stage IV"]);
    }

    #[test]
    fn the_same_member() {
        for (claim, passage) in [
            ("Vitamin E prevents cancer.", "Vitamins C and E lowered the incidence of cancer."),
            ("Vitamin D prevents falls.", "Vitamin K did not, and vitamin D3 did prevent falls."),
            ("Vitamin E prevents cancer.", "Vitamin C and alpha-tocopherol lowered the incidence."),
            ("Hepatitis C causes fatigue.", "Hepatitis B was excluded; HCV caused fatigue."),
            ("Type 2 diabetes is rising.", "T2DM is rising, type 1 diabetes is not."),
            ("Type 2 diabetes is rising.", "Type II diabetes is rising, type 1 diabetes is not."),
            ("Stage 1 disease is cured.", "Stage I, not stage II disease is cured."),
            ("Loss of polymerase II halts cells.", "Loss of Pol II does, and RNA polymerase III does not."),
            ("It lowers prostaglandin E2.", "It lowered PGE(2), not prostaglandin D."),
            ("Caspase-8 is needed.", "RIPK1-FADD-CASP8 is, and caspase-1 is not."),
            ("Interleukin-10 fell.", "IL-10 fell, interleukin-4 did not."),
            ("Vitamin E prevents cancer.", "Vitamins lowered the incidence. A trial of tablets."),
        ] {
            check(claim, passage, &[]);
        }
    }

    #[test]
    fn what_tells_nothing_apart() {
        check("In group A, pain fell.", "In group B, pain fell.", &[]);
        check("Patients aged 65 fell.", "Patients aged 70 fell.", &[]);
        check("About 12 patients fell.", "About 15 patients fell.", &[]);
        check("The type IV 5-phosphatase works.", "We name this 5-phosphatase type IV.", &[]);
    }
}
