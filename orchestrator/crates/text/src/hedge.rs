//! Words that qualify a statement: hedges, and the organisms that it is about.

use crate::word::{Analysis, tokens};
use crate::{language, normalise};
use std::collections::BTreeSet;

/// The hedges of a text ("may", "suggests", "possibly"), each once, as stems; Japanese ones as written.
pub fn hedges(text: &str) -> BTreeSet<String> {
    found(text, HEDGES, HEDGES_JA)
}

/// The study population of a text, as far as it names organisms or cell cultures: stems of "mice", "humans", "vitro"
/// and the like.
pub fn populations(text: &str) -> BTreeSet<String> {
    found(text, POPULATIONS, POPULATIONS_JA)
}

/// Whether a lower-case word names a kind of being or a dish.
pub(crate) fn is_population(word: &str) -> bool {
    POPULATIONS.contains(&crate::word::stem(word).as_str())
}

fn found(text: &str, stems: &[&str], phrases: &[&str]) -> BTreeSet<String> {
    if language(text) == Some("ja") {
        let text = normalise(text);
        return phrases.iter().filter(|p| text.contains(**p)).map(|p| (*p).to_owned()).collect();
    }
    let words = tokens(text, Analysis { stem: true, stop: false });
    words.into_iter().map(|token| token.text).filter(|word| stems.contains(&word.as_str())).collect()
}

const HEDGES: &[&str] = &[
    "may",
    "might",
    "could",
    "possibl",
    "perhap",
    "probabl",
    "like",
    "unlik",
    "presum",
    "appar",
    "potenti",
    "suggest",
    "impli",
    "appear",
    "seem",
    "tend",
    "hypothes",
    "hypothesi",
    "specul",
    "putat",
    "partial",
    "approxim",
];

const HEDGES_JA: &[&str] = &[
    "かもしれない",
    "可能性",
    "示唆",
    "考えられ",
    "思われ",
    "だろう",
    "であろう",
    "推測",
    "推定",
    "おそらく",
    "傾向",
    "らしい",
];

const POPULATIONS: &[&str] = &[
    "mice",
    "mous",
    "murin",
    "rat",
    "human",
    "patient",
    "adult",
    "children",
    "child",
    "infant",
    "newborn",
    "adolesc",
    "women",
    "woman",
    "men",
    "man",
    "monkey",
    "primat",
    "pig",
    "rabbit",
    "dog",
    "cat",
    "sheep",
    "zebrafish",
    "fish",
    "drosophila",
    "fli",
    "yeast",
    "bacteria",
    "plant",
    "cell",
    "animal",
    "volunt",
    "particip",
    "subject",
    "student",
    "worker",
    "vitro",
    "vivo",
    "silico",
    "elegan",
    "coli",
    "pupil",
    "farmer",
    "smoker",
    "boy",
    "girl",
    "organoid",
    "rodent",
];

const POPULATIONS_JA: &[&str] = &[
    "マウス",
    "ラット",
    "サル",
    "ヒト",
    "患者",
    "成人",
    "高齢者",
    "小児",
    "子ども",
    "乳児",
    "女性",
    "男性",
    "細胞",
    "学生",
    "生徒",
    "in vitro",
    "in vivo",
];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, hedged: &[&str], of: &[&str]) {
        assert_eq!(hedges(text).iter().map(String::as_str).collect::<Vec<_>>(), hedged, "{text}");
        assert_eq!(populations(text).iter().map(String::as_str).collect::<Vec<_>>(), of, "{text}");
    }

    #[test]
    fn what_limits_a_statement() {
        check("Naps may improve memory in mice.", &["may"], &["mice"]);
        check("These results suggest that naps help patients.", &["suggest"], &["patient"]);
        check("Naps improve memory.", &[], &[]);
        check("昼寝は高齢者の記憶を改善する可能性がある。", &["可能性"], &["高齢者"]);
    }

    proptest! {
        #[test]
        fn any_text_will_do(text in any::<String>()) {
            let _ = (hedges(&text), populations(&text));
        }
    }
}
