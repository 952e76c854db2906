//! What sentences of an abstract are for: aims and methods are close to many claims and evidence of none.

use crate::{Sentence, language};

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
    // A single label opens no section: what follows it may be anything.
    let labels = sentences.iter().filter(|sentence| label(&sentence.text).is_some()).count();
    let english = |text: &str| matches!(code.or_else(|| language(text)), None | Some("en"));
    sentences
        .iter()
        .map(|sentence| {
            if !english(&sentence.text) {
                return Role::Other;
            }
            let labeled = label(&sentence.text);
            if labels > 1 {
                section = labeled.unwrap_or(section);
            } else {
                section = labeled.unwrap_or(Role::Other);
            }
            match cue(&sentence.text) {
                Role::Other => section,
                // A section of results has no aims: "We tested whether … and found that …".
                Role::Aim | Role::Method if matches!(section, Role::Finding | Role::Conclusion) => section,
                cued => cued,
            }
        })
        .collect()
}

/// The section that a sentence opens.
fn label(sentence: &str) -> Option<Role> {
    LABELS.iter().find_map(|(label, role)| {
        let head = sentence.get(..label.len()).filter(|head| head.eq_ignore_ascii_case(label))?;
        let rest = sentence[label.len()..].trim_start_matches(['S', 's']);
        // "METHODS We …", "METHODS AND RESULTS …", "Methods: …"; not "Methods for … were compared".
        let capitals = head.chars().all(|c| !c.is_lowercase());
        let marked = rest.starts_with([':', '.', '—', '–']);
        let spaced = rest.starts_with(' ') && !rest.trim_start().starts_with(char::is_lowercase);
        (marked || capitals && spaced).then_some(*role)
    })
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

const LABELS: &[(&str, Role)] = &[
    ("BACKGROUND", Role::Background),
    ("INTRODUCTION", Role::Background),
    ("CONTEXT", Role::Background),
    ("RATIONALE", Role::Background),
    ("IMPORTANCE", Role::Background),
    ("OBJECTIVE", Role::Aim),
    ("AIM", Role::Aim),
    ("PURPOSE", Role::Aim),
    ("HYPOTHESIS", Role::Aim),
    ("METHODS AND RESULT", Role::Finding),
    ("METHODS AND FINDING", Role::Finding),
    ("METHODOLOGY/PRINCIPAL FINDING", Role::Finding),
    ("METHOD", Role::Method),
    ("MATERIAL AND METHOD", Role::Method),
    ("MATERIALS AND METHOD", Role::Method),
    ("DESIGN", Role::Method),
    ("SETTING", Role::Method),
    ("PARTICIPANT", Role::Method),
    ("PATIENT", Role::Method),
    ("INTERVENTION", Role::Method),
    ("MAIN OUTCOME", Role::Method),
    ("DATA SOURCE", Role::Method),
    ("STUDY SELECTION", Role::Method),
    ("RESULT", Role::Finding),
    ("RECENT FINDING", Role::Finding),
    ("FINDING", Role::Finding),
    ("MAIN RESULT", Role::Finding),
    ("PRINCIPAL FINDING", Role::Finding),
    ("CONCLUSION", Role::Conclusion),
    ("INTERPRETATION", Role::Conclusion),
    ("DISCUSSION", Role::Conclusion),
    ("SIGNIFICANCE", Role::Conclusion),
    ("SUMMARY", Role::Conclusion),
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
        let japanese = sentences("本研究の目的は昼寝である。昼寝は役立つ。", Some("ja"));
        assert_eq!(roles(&japanese, Some("ja")), [Other, Other]);
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
