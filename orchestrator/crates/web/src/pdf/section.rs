//! Headings of sections of papers, recognized by their words: many journals set them in the size of the text.

/// Longest heading in characters.
const MAX_CHARS: usize = 90;

/// Names of sections, in lower case.
const NAMES: [&str; 44] = [
    "abstract",
    "summary",
    "keywords",
    "introduction",
    "background",
    "related work",
    "related works",
    "literature review",
    "theory",
    "preliminaries",
    "method",
    "methods",
    "methodology",
    "materials",
    "materials and methods",
    "material and methods",
    "methods and materials",
    "patients and methods",
    "subjects and methods",
    "participants",
    "procedure",
    "study design",
    "data",
    "data collection",
    "statistical analysis",
    "statistical analyses",
    "experiments",
    "experimental",
    "experimental setup",
    "experimental section",
    "evaluation",
    "results",
    "findings",
    "results and discussion",
    "discussion",
    "general discussion",
    "discussion and conclusion",
    "discussion and conclusions",
    "limitations",
    "strengths and limitations",
    "conclusion",
    "conclusions",
    "concluding remarks",
    "future work",
];

/// Names of sections behind the text, in lower case.
const BACK_MATTER: [&str; 19] = [
    "acknowledgment",
    "acknowledgments",
    "acknowledgement",
    "acknowledgements",
    "funding",
    "conflict of interest",
    "conflicts of interest",
    "competing interests",
    "author contributions",
    "data availability",
    "ethics statement",
    "supplementary material",
    "appendix",
    "references",
    "bibliography",
    "literature cited",
    "works cited",
    "謝辞",
    "参考文献",
];

const JAPANESE: [&str; 13] = [
    "要旨",
    "抄録",
    "概要",
    "はじめに",
    "序論",
    "緒言",
    "背景",
    "方法",
    "対象と方法",
    "結果",
    "考察",
    "結論",
    "おわりに",
];

/// Words of affiliations, which are numbered as headings are.
const AFFILIATIONS: [&str; 8] =
    ["university", "department", "institute", "school", "faculty", "college", "hospital", "laboratory"];

/// Whether a line is the heading of a section: a usual name, or a numbered line that reads as a title.
pub(super) fn is_heading(line: &str) -> bool {
    let line = line.trim();
    if line.is_empty() || line.chars().count() > MAX_CHARS {
        return false;
    }
    is_usual(line) || matches!(split_number(line), (Some(number), name) if is_title(name, number))
}

/// Whether a line is the usual name of a section, also numbered: `Methods`, `2.1 Methods`, `IV. RESULTS`.
pub fn is_usual(line: &str) -> bool {
    let name = name_of(line);
    JAPANESE.contains(&name)
        || is_back_matter(line)
        || (NAMES.contains(&lower(name).as_str()) && name.chars().next().is_some_and(char::is_uppercase))
}

/// Whether a line is the usual name of a section behind the text: `References`, `6. Funding`.
pub fn is_back_matter(line: &str) -> bool {
    let name = name_of(line);
    let is_small = name.chars().next().is_some_and(char::is_lowercase);
    !is_small && BACK_MATTER.contains(&lower(name).as_str())
}

/// A heading without its number and the marks behind it.
fn name_of(heading: &str) -> &str {
    let (_, name) = split_number(heading.trim());
    name.trim().trim_end_matches([':', '.']).trim_end()
}

/// Whether a section holds the works that the text cites.
pub fn is_references(heading: &str) -> bool {
    matches!(
        lower(name_of(heading)).as_str(),
        "references" | "bibliography" | "literature cited" | "works cited" | "参考文献" | "文献"
    )
}

/// Whether a heading is that of an appendix: `Appendix`, `A Further results`, `B.2 Prompts`.
pub fn is_appendix(heading: &str) -> bool {
    let heading = heading.trim();
    let Some((first, name)) = heading.split_once(' ') else {
        return heading.eq_ignore_ascii_case("appendix");
    };
    let mut parts = first.trim_end_matches('.').split('.');
    let letter = parts
        .next()
        .is_some_and(|letter| letter.len() == 1 && letter.bytes().all(|byte| byte.is_ascii_uppercase()));
    let numbers = parts.all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    first.eq_ignore_ascii_case("appendix") || (letter && numbers && is_title(name, first))
}

/// Whether a heading is the abstract's.
pub fn is_abstract(heading: &str) -> bool {
    let name = heading.trim().trim_end_matches([':', '.', '—', '-']);
    matches!(lower(name).as_str(), "abstract" | "summary" | "要旨" | "抄録" | "概要")
}

/// A name in lower case, without the spaces between its letters.
fn lower(name: &str) -> String {
    let lower = name.to_lowercase();
    unspaced(&lower).unwrap_or(lower)
}

/// `a b s t r a c t`, as some publishers set it.
fn unspaced(text: &str) -> Option<String> {
    let spaced = text.split(' ').filter(|word| !word.is_empty()).all(|word| word.chars().count() == 1);
    (spaced && text.chars().count() > 6).then(|| text.replace(' ', ""))
}

/// The number before a heading, Arabic (`3.2`) or Roman (`IV`), and what follows.
fn split_number(line: &str) -> (Option<&str>, &str) {
    let Some((first, rest)) = line.split_once(' ') else { return (None, line) };
    let number = first.trim_end_matches(['.', ')']);
    let arabic = number.split('.').all(|part| {
        (1..=2).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit()) && part != "0"
    });
    let roman = (1..=5).contains(&number.len())
        && first.ends_with('.')
        && number.bytes().all(|byte| matches!(byte, b'I' | b'V' | b'X'));
    if number.is_empty() || !(arabic || roman) { (None, line) } else { (Some(number), rest) }
}

/// Words that a heading of its own could be: it begins with a capital letter, has letters for the most part and no end of a
/// sentence. A list's items (`1. Wash the dish.`) and lines of tables (`2 Control 14.3`) are not.
fn is_title(name: &str, number: &str) -> bool {
    let name = name.trim();
    let lower = name.to_lowercase();
    if AFFILIATIONS.iter().any(|word| lower.contains(word)) {
        return false;
    }
    let words: Vec<&str> = name.split_whitespace().collect();
    let capital = name.chars().next().is_some_and(char::is_uppercase);
    let letters = name.chars().filter(|c| c.is_alphabetic() || c.is_whitespace()).count();
    let long = words.iter().filter(|word| word.chars().count() > 3);
    let capitals = long.clone().filter(|word| word.chars().next().is_some_and(char::is_uppercase)).count();
    let titled = number.contains('.') || capitals * 2 >= long.count().max(1);
    capital
        && titled
        && (1..=10).contains(&words.len())
        && letters * 10 >= name.chars().count() * 9
        && name.chars().count() >= 4
        && !name.ends_with(['.', ',', ';', '?'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_by_their_words() {
        for line in [
            "Abstract",
            "RESULTS",
            "2. Materials and Methods",
            "3.1 Sleep stages",
            "IV. DISCUSSION",
            "a b s t r a c t".to_uppercase().as_str(),
            "5 Experimental Setup",
            "考察",
            "References",
        ] {
            assert!(is_heading(line), "{line}");
        }
        for line in [
            "results were mixed",
            "Results were mixed in the second group.",
            "1. Wash the dish in water.",
            "2 Control 14.3 (2.1) 0.04",
            "12 of the adults slept",
            "A nap",
            "1 Physics Department, University of South Florida",
            "I. e. the others",
            "2019 was a year",
        ] {
            assert!(!is_heading(line), "{line}");
        }
        for heading in ["7. REFERENCES", "Funding", "Acknowledgments:", "R E F E R E N C E S", "謝辞"] {
            assert!(is_back_matter(heading) && is_usual(heading), "{heading}");
        }
        assert!(!is_back_matter("Results") && !is_back_matter("funding"));
        assert!(is_references("7. REFERENCES") && !is_references("Preferences"));
        for heading in ["Appendix", "APPENDIX A", "A Implementation Details of the Crawler", "B.2 Prompts"] {
            assert!(is_appendix(heading), "{heading}");
        }
        for heading in ["A Smith, B Jones, and C Lee.", "A. 2019", "Results", "AB Testing", "A nap"] {
            assert!(!is_appendix(heading), "{heading}");
        }
        assert!(is_abstract("A B S T R A C T") && is_abstract("Abstract:"));
    }
}
