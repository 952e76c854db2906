//! What sentences of an abstract are for: aims and methods are close to many claims and evidence of none.

use crate::{Sentence, is_stop_word, language};

/// The role of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// A question, an aim, a hypothesis.
    Aim,
    /// How it was done.
    Method,
    /// What is not known, or stands in a section on the background.
    Background,
    /// A result.
    Finding,
    /// Conclusions from the results.
    Conclusion,
    /// No rule applies.
    Other,
}

impl Role {
    /// Whether such a sentence can be evidence.
    pub fn tells(self) -> bool {
        !matches!(self, Self::Aim | Self::Method | Self::Background)
    }
}

/// The role of every sentence of one text, by section labels and by cues. `code` is the text's ISO 639-1 code, detected when
/// `None`; there are rules for English, in other languages every role is [`Role::Other`].
pub fn roles(sentences: &[Sentence], code: Option<&str>) -> Vec<Role> {
    let mut section = Role::Other;
    let labels: Vec<Option<Role>> = sentences.iter().map(|sentence| label(&sentence.text)).collect();
    // A single label opens no section: what follows it may be anything.
    let is_structured = labels.iter().flatten().count() > 1;
    let english = |text: &str| matches!(code.or_else(|| language(text)), None | Some("en"));
    sentences
        .iter()
        .zip(labels)
        .map(|(sentence, labeled)| {
            if !english(&sentence.text) {
                return Role::Other;
            }
            let is_other = !is_structured || opens_another(&sentence.text);
            section = labeled.unwrap_or(if is_other { Role::Other } else { section });
            match cue(&sentence.text) {
                Role::Other => section,
                // A section of results has no aims: "We tested whether … and found that …".
                Role::Aim | Role::Method if matches!(section, Role::Finding | Role::Conclusion) => section,
                cued => cued,
            }
        })
        .collect()
}

/// The section that a sentence opens: "METHODS We …", "METHODS AND RESULTS …", "Methods: …"; not "Methods for … were compared".
fn label(sentence: &str) -> Option<Role> {
    let marked = sentence.find(MARKS).and_then(|end| role_of(&sentence[..end]));
    marked.or_else(|| {
        let run = capitals(sentence);
        let ends = std::iter::once(run.len()).chain(run.rmatch_indices(' ').map(|(at, _)| at));
        ends.filter(|end| !next_is(&sentence[*end..], char::is_lowercase))
            .find_map(|end| role_of(&run[..end]))
    })
}

/// What a label opens, by the first word of the table that it has; none where it has a word or a figure that labels do not have.
fn role_of(label: &str) -> Option<Role> {
    if label.contains(char::is_numeric) {
        return None;
    }
    let mut rank = None;
    // "RESULT(S)" has a word of one letter.
    for word in label.split(|c: char| !c.is_alphabetic()).filter(|word| word.len() > 1) {
        let is = |known: &str| {
            word.get(..known.len()).is_some_and(|start| start.eq_ignore_ascii_case(known))
                && matches!(&word[known.len()..], "" | "s" | "S")
        };
        if let Some(found) = LABELS.iter().position(|(known, _)| is(known)) {
            rank = Some(rank.map_or(found, |before: usize| before.min(found)));
        } else if !BESIDE.iter().any(|known| is(known)) {
            return None;
        }
    }
    rank.and_then(|rank| LABELS.get(rank)).map(|(_, role)| *role)
}

/// Whether a sentence begins with a label of a section that is not known: "CASE SERIES We …", "Ethics approval: The …".
fn opens_another(sentence: &str) -> bool {
    let is_label = |head: &str, most: usize| {
        let words: Vec<&str> = head.split([' ', '/', '&', ',']).filter(|word| !word.is_empty()).collect();
        let is_word = |word: &&str| word.len() > 1 && word.chars().all(char::is_alphabetic);
        (1..=most).contains(&words.len())
            && words.iter().all(is_word)
            && words.iter().any(|word| word.len() >= MIN_LETTERS)
            && head.starts_with(char::is_uppercase)
    };
    if let Some((head, rest)) = sentence.split_once(':') {
        let is_capital = !head.contains(char::is_lowercase);
        if is_capital && is_label(head, MOST_CAPITAL) {
            return true;
        }
        // Neither "We compared: …" nor "Three groups: placebo, …" is a label.
        let is_plain = |word: &str| word == "and" || word == "of" || !is_stop_word(&word.to_lowercase());
        let opens = rest.starts_with(' ') && next_is(rest, |c| c.is_uppercase() || c.is_numeric());
        if opens && is_label(head, MOST_PLAIN) && head.split(' ').all(is_plain) {
            return true;
        }
    }
    let run = capitals(sentence);
    let is_long = run.contains(' ') || run.len() >= MIN_ALONE;
    is_long && is_label(run, MOST_CAPITAL) && next_is(&sentence[run.len()..], char::is_uppercase)
}

/// The words without small letters that a sentence begins with; a single letter ("A total of …") is not the last of them.
fn capitals(sentence: &str) -> &str {
    let small = sentence.find(char::is_lowercase).unwrap_or(sentence.len());
    let run = sentence[..small].rfind(' ').map_or("", |end| &sentence[..end]);
    run.strip_suffix(" A").unwrap_or(run)
}

/// Whether the first character that is no space is such a one.
fn next_is(text: &str, test: fn(char) -> bool) -> bool {
    text.trim_start().starts_with(test)
}

/// The role of a sentence by its words.
fn cue(sentence: &str) -> Role {
    let low = sentence.to_lowercase();
    let has = |cues: &[&str]| cues.iter().any(|cue| low.contains(cue));
    let begins = |cues: &[&str]| cues.iter().any(|cue| low.starts_with(cue));
    if has(CONCLUSIONS) {
        Role::Conclusion
    } else if low.trim_end().ends_with('?') || begins(AIM_BEGINNINGS) || has(AIMS) {
        Role::Aim
    } else if has(UNKNOWN) {
        Role::Background
    } else if has(FINDINGS) {
        Role::Finding
    } else if has(METHODS) {
        Role::Method
    } else {
        Role::Other
    }
}

/// What ends a label.
const MARKS: [char; 4] = [':', '.', '—', '–'];

/// Letters that some word of an unknown label has at least, so that it is no symbol.
const MIN_LETTERS: usize = 4;
/// Letters of an unknown label of one word in capitals that nothing sets off.
const MIN_ALONE: usize = 8;
/// Most words of an unknown label in capitals.
const MOST_CAPITAL: usize = 6;
/// Most words of another unknown label.
const MOST_PLAIN: usize = 3;

/// Words of labels, in the singular, and what such a section holds. The first in this order that a label has decides:
/// "METHODS AND RESULTS" has results, "MAIN OUTCOME MEASURES" has none, and "OUTCOMES" alone has.
const LABELS: &[(&str, Role)] = &[
    ("RESULT", Role::Finding),
    ("FINDING", Role::Finding),
    ("OBSERVATION", Role::Finding),
    ("CONCLUSION", Role::Conclusion),
    ("INTERPRETATION", Role::Conclusion),
    ("DISCUSSION", Role::Conclusion),
    ("COMMENT", Role::Conclusion),
    ("IMPLICATION", Role::Conclusion),
    ("RECOMMENDATION", Role::Conclusion),
    ("LIMITATION", Role::Conclusion),
    ("SIGNIFICANCE", Role::Conclusion),
    ("RELEVANCE", Role::Conclusion),
    ("EXTRACTION", Role::Method),
    ("ACQUISITION", Role::Method),
    ("COLLECTION", Role::Method),
    ("SYNTHESIS", Role::Finding),
    ("BACKGROUND", Role::Background),
    ("INTRODUCTION", Role::Background),
    ("CONTEXT", Role::Background),
    ("RATIONALE", Role::Background),
    ("IMPORTANCE", Role::Background),
    ("KNOWN", Role::Background),
    ("OBJECTIVE", Role::Aim),
    ("AIM", Role::Aim),
    ("PURPOSE", Role::Aim),
    ("GOAL", Role::Aim),
    ("HYPOTHESIS", Role::Aim),
    ("HYPOTHESES", Role::Aim),
    ("QUESTION", Role::Aim),
    ("SUMMARY", Role::Conclusion),
    ("METHOD", Role::Method),
    ("METHODOLOGY", Role::Method),
    ("MATERIAL", Role::Method),
    ("DESIGN", Role::Method),
    ("SETTING", Role::Method),
    ("PARTICIPANT", Role::Method),
    ("PATIENT", Role::Method),
    ("SUBJECT", Role::Method),
    ("SAMPLE", Role::Method),
    ("POPULATION", Role::Method),
    ("INTERVENTION", Role::Method),
    ("EXPOSURE", Role::Method),
    ("PROCEDURE", Role::Method),
    ("APPROACH", Role::Method),
    ("ANALYSIS", Role::Method),
    ("ANALYSES", Role::Method),
    ("STATISTICS", Role::Method),
    ("SOURCE", Role::Method),
    ("SELECTION", Role::Method),
    ("SEARCH", Role::Method),
    ("CRITERIA", Role::Method),
    ("MEASURE", Role::Method),
    ("MEASURED", Role::Method),
    ("MEASUREMENT", Role::Method),
    ("MAIN", Role::Method),
    ("PRIMARY", Role::Method),
    ("SECONDARY", Role::Method),
    ("OUTCOME", Role::Finding),
];

/// Words that may stand in a label beside those.
const BESIDE: &[&str] = &[
    "ALREADY",
    "AND",
    "ANSWER",
    "AUTHOR",
    "CHANCE",
    "CLINICAL",
    "DATA",
    "DURATION",
    "ELIGIBILITY",
    "EVIDENCE",
    "EXPERIMENTAL",
    "FOR",
    "INCLUSION",
    "IS",
    "KEY",
    "MAJOR",
    "OF",
    "OVERALL",
    "PRACTICAL",
    "PRACTICE",
    "PRINCIPAL",
    "RECENT",
    "RESEARCH",
    "REVIEW",
    "ROLE",
    "SIZE",
    "STATISTICAL",
    "STRATEGY",
    "STUDY",
    "THE",
    "TRIAL",
    "WHAT",
    "WIDER",
];

const CONCLUSIONS: &[&str] = &[
    "in conclusion",
    "we conclude",
    "to conclude",
    "in summary",
    "in sum,",
    "taken together",
    "these results suggest",
    "these results indicate",
    "these results show",
    "these results demonstrate",
    "these findings suggest",
    "these findings indicate",
    "these findings show",
    "these findings demonstrate",
    "these data suggest",
    "these data indicate",
    "these data show",
    "these data demonstrate",
    "our results suggest",
    "our results indicate",
    "our results show",
    "our results demonstrate",
    "our findings suggest",
    "our findings indicate",
    "our findings show",
    "our findings demonstrate",
    "our data suggest",
    "our data indicate",
    "our data show",
    "it is concluded",
];

const AIM_BEGINNINGS: &[&str] = &[
    "to determine whether ",
    "to test the hypothesis",
    "to investigate ",
    "to evaluate ",
    "to assess ",
    "to examine ",
    "objective to ",
    "we hypothes",
    "we sought ",
    "we aimed ",
    "here we investigate ",
    "here, we investigate ",
    "we asked whether ",
];

const AIMS: &[&str] = &[
    "the aim of this",
    "the aim of the present",
    "the aims of this",
    "the objective of this",
    "the purpose of this",
    "the goal of this",
    "this study aimed",
    "this study aims",
    "this study was designed to",
    "this study was undertaken to",
    "was to determine whether",
    "was to investigate",
    "was to evaluate",
    "was to assess",
    "was to examine",
    "our objective was",
    "our aim was",
    "our goal was",
];

const UNKNOWN: &[&str] = &[
    "remains unclear",
    "remain unclear",
    "is unclear",
    "are unclear",
    "is unknown",
    "are unknown",
    "remains unknown",
    "remain unknown",
    "is not known",
    "are not known",
    "poorly understood",
    "little is known",
    "remains elusive",
    "remain elusive",
    "remains to be determined",
    "remain to be determined",
    "has not been studied",
    "is controversial",
];

const FINDINGS: &[&str] = &[
    "we found",
    "we find",
    "we show",
    "we demonstrate",
    "we observed",
    "we report",
    "we identif",
    "significant",
    "p<",
    "p <",
    "p =",
    "p=",
    "95% c",
    "95 % c",
    "compared with",
    "compared to",
    "resulted in",
    "was associated with",
    "were associated with",
];

const METHODS: &[&str] = &[
    "were randomly assigned",
    "were randomized to",
    "were randomised to",
    "were recruited from",
    "we recruited",
    "we enrolled",
    "was measured using",
    "were measured using",
    "was assessed using",
    "were assessed using",
    "were analyzed using",
    "were analysed using",
    "were collected from",
    "we searched medline",
    "we searched pubmed",
    "the primary outcome was",
    "the primary endpoint was",
    "the primary end point was",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sentences;
    use proptest::prelude::*;

    #[test]
    fn the_parts_of_an_abstract() {
        use Role::{Aim, Background, Conclusion, Finding, Method, Other};
        let check = |text: &str, expect: &[Role]| {
            assert_eq!(roles(&sentences(text, Some("en")), Some("en")), expect, "{text}");
        };
        check(
            "OBJECTIVE To learn whether naps help. They are common. METHODS We tested forty adults. They slept. RESULTS \
             Recall rose by 12%. Mood did not change. CONCLUSIONS Naps help.",
            &[Aim, Aim, Method, Method, Finding, Finding, Conclusion],
        );
        check(
            "Naps are short. Whether they help remains unclear. The aim of this study was to test them. Forty adults were \
             recruited from clinics. Recall was significantly better. In conclusion, naps help. Do they?",
            &[Other, Background, Aim, Method, Finding, Conclusion, Aim],
        );
        check("Methods for sleeping vary. Results are mixed.", &[Other, Other]);
        check("Aim: To learn whether naps help. They do.", &[Aim, Other]);
        check(
            "Background: Naps are common. Patients and methods: We tested forty adults. They slept. Methods & results: \
             Recall rose. Mood did not change. Conclusion/significance: Naps help.",
            &[Background, Method, Method, Finding, Finding, Conclusion],
        );
        let japanese = sentences("本研究の目的は昼寝である。昼寝は役立つ。", Some("ja"));
        assert_eq!(roles(&japanese, Some("ja")), [Other, Other]);
    }

    #[test]
    fn labels_of_many_journals() {
        use Role::{Aim, Background, Conclusion, Finding, Method};
        for (role, labels) in [
            (
                Finding,
                "DATA SYNTHESIS|EVIDENCE SYNTHESIS|MEASUREMENTS AND MAIN RESULTS|KEY RESULTS|OUTCOMES|METHODS/RESULTS|\
                 METHODS AND RESULTS|METHODS & RESULTS|RESULT(S)|MAIN FINDINGS|METHODOLOGY/PRINCIPAL FINDINGS|\
                 MAIN RESULTS AND THE ROLE OF CHANCE|RECENT FINDINGS|OBSERVATIONS",
            ),
            (
                Conclusion,
                "CONCLUSION|CONCLUSIONS/SIGNIFICANCE|CONCLUSIONS AND RELEVANCE|AUTHORS' CONCLUSIONS|INTERPRETATION|\
                 IMPLICATIONS|SIGNIFICANCE|LIMITATIONS|DISCUSSION|PATIENT SUMMARY",
            ),
            (
                Method,
                "MAIN OUTCOME MEASURES|MAIN OUTCOMES AND MEASURES|PRIMARY OUTCOMES|DATA EXTRACTION|\
                 DATA EXTRACTION AND SYNTHESIS|STUDY SELECTION|SETTING|PARTICIPANTS|INTERVENTION(S)|DESIGN|\
                 DESIGN, SETTING, AND PARTICIPANTS|RESEARCH DESIGN AND METHODS|PATIENTS AND METHODS|SEARCH STRATEGY",
            ),
            (
                Background,
                "BACKGROUND AND PURPOSE|IMPORTANCE|SUMMARY OF BACKGROUND DATA|WHAT IS KNOWN ALREADY",
            ),
            (Aim, "OBJECTIVE|AIMS|PURPOSE OF REVIEW|STUDY QUESTION"),
        ] {
            for name in labels.split('|') {
                for sentence in [format!("{name} Naps help."), format!("{name}: naps help.")] {
                    assert_eq!(label(&sentence), Some(role), "{sentence}");
                }
                assert_eq!(label(&format!("{}: naps help.", name.to_lowercase())), Some(role), "{name}");
            }
        }
        for sentence in [
            "Methods for sleeping vary.",
            "Patients with pain: a review.",
            "DNA was extracted.",
            "RESULTS of",
            "Of the 33 patients, 2 (3.2%) died.",
        ] {
            assert_eq!(label(sentence), None, "{sentence}");
        }
    }

    #[test]
    fn an_unknown_label_ends_a_section() {
        use Role::{Aim, Method, Other};
        for name in ["CASE SERIES", "CASE SERIES:", "Case series:", "PERSPECTIVES"] {
            let text =
                format!("OBJECTIVE To learn it. METHODS We tested it. {name} Naps cured a man. He slept.");
            let found = roles(&sentences(&text, Some("en")), Some("en"));
            assert_eq!(found, [Aim, Method, Other, Other], "{name}");
        }
        for sentence in
            ["DNA was taken.", "TNF: it rose.", "We used two drugs: Aspirin was one.", "PCR Kits did."]
        {
            assert!(!opens_another(sentence), "{sentence}");
        }
    }

    proptest! {
        #[test]
        fn every_sentence_has_a_role(text in any::<String>(), near in "(METHODS|RESULTS|Aim|: |We |found |naps |\\. |\\? ){0,20}") {
            for text in [text, near] {
                let sentences = sentences(&text, None);
                prop_assert_eq!(roles(&sentences, None).len(), sentences.len());
            }
        }
    }
}
