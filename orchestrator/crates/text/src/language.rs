//! Which language a text is in.

use crate::normalise::{is_han, is_kana};
use whatlang::{Detector, Lang};

/// Fewest letters for which trigrams are reliable.
const MIN_LETTERS: usize = 12;
/// Share of the words that must be English function words before trigrams are not asked.
const FUNCTION_WORD_SHARE: f64 = 0.2;
/// Confidence below which a trigram guess is not an answer.
const MIN_CONFIDENCE: f64 = 0.5;

/// ISO 639-1 code of the text's main language, `None` for too little text.
///
/// Kana decides for Japanese and function words for English; trigrams decide the rest among languages that
/// scholarly text is written in. A short text without function words is `None` rather than a guess.
pub fn language(text: &str) -> Option<&'static str> {
    let head: String = text.chars().take(2_000).collect();
    let letters = head.chars().filter(|c| c.is_alphabetic()).count();
    let kana = head.chars().filter(|c| is_kana(*c)).count();
    let han = head.chars().filter(|c| is_han(*c)).count();
    if (kana + han) * 5 > letters {
        // Katakana alone may be a loan word quoted in Chinese, but not one character in twenty.
        return if kana * 20 > kana + han || head.chars().any(|c| JAPANESE_HAN.contains(c)) {
            Some("ja")
        } else {
            (han >= MIN_LETTERS).then_some("zh")
        };
    }
    if function_words(&head) >= FUNCTION_WORD_SHARE {
        return Some("en");
    }
    if letters < MIN_LETTERS {
        return None;
    }
    let guess = Detector::with_allowlist(CODES.iter().map(|(lang, _)| *lang).collect()).detect(&head)?;
    // English is what most scholarly text is in, so that less evidence will do for it, if the letters agree.
    let ascii = head.chars().all(|c| c.is_ascii() || !c.is_alphabetic() || is_greek(c));
    let sure = match guess.lang() {
        Lang::Eng => ascii || guess.confidence() >= MIN_CONFIDENCE,
        // Names of genes and drugs look French or Italian to trigrams.
        lang if ascii => own_words(&head, lang),
        _ => guess.confidence() >= MIN_CONFIDENCE,
    };
    CODES.iter().find(|(lang, _)| sure && *lang == guess.lang()).map(|(_, code)| *code)
}

/// Share of the words that are English function words and belong to no other language of the table.
fn function_words(text: &str) -> f64 {
    let words = text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    let (mut known, mut all) = (0_usize, 0_usize);
    for word in words {
        all += 1;
        known += usize::from(ENGLISH.contains(&word.to_ascii_lowercase().as_str()));
    }
    // One function word may be a name or a borrowed word.
    if known < 2 { 0.0 } else { known as f64 / all as f64 }
}

/// At least two function words of the language, different ones.
fn own_words(text: &str, lang: Lang) -> bool {
    let Some((_, table)) = FUNCTION_WORDS.iter().find(|(of, _)| *of == lang) else { return false };
    let text = text.to_lowercase();
    let words: Vec<&str> = text.split(|c: char| !c.is_alphabetic()).collect();
    table.iter().filter(|word| words.contains(word)).count() >= 2
}

/// Greek letters stand in formulas and names of genes in every language.
fn is_greek(c: char) -> bool {
    matches!(c, '\u{370}'..='\u{3FF}')
}

/// Characters that Japanese simplified in its own way or made itself.
const JAPANESE_HAN: &str = "働込畑枠峠匂気価変験実経済図転総県対戦単読売続権労栄営厳帰関脳薬検増児歳様観";

const ENGLISH: &[&str] = &[
    "the", "of", "and", "to", "is", "are", "was", "were", "with", "by", "that", "this", "these", "from",
    "have", "has", "been", "be", "not", "which", "their", "its", "than", "does", "did", "can", "may",
    "between", "both", "it", "we", "they", "our", "who", "when", "after", "or", "for", "at", "such",
];

const FUNCTION_WORDS: &[(Lang, &[&str])] = &[
    (
        Lang::Deu,
        &[
            "der", "die", "das", "und", "ist", "nicht", "ein", "eine", "von", "mit", "den", "im", "wird",
            "zu", "bei",
        ],
    ),
    (
        Lang::Fra,
        &[
            "le", "la", "les", "des", "et", "est", "une", "un", "du", "en", "dans", "pour", "chez", "que",
            "par",
        ],
    ),
    (
        Lang::Spa,
        &["el", "la", "los", "las", "de", "y", "es", "una", "un", "del", "en", "que", "por", "con", "se"],
    ),
    (
        Lang::Por,
        &["o", "os", "as", "de", "e", "uma", "um", "do", "da", "em", "que", "por", "com", "se", "dos"],
    ),
    (
        Lang::Ita,
        &[
            "il", "la", "gli", "di", "e", "una", "un", "del", "della", "che", "per", "con", "non", "nel",
            "sono",
        ],
    ),
    (
        Lang::Nld,
        &["de", "het", "een", "en", "van", "is", "niet", "met", "op", "voor", "zijn", "dat", "bij", "wordt"],
    ),
    (Lang::Swe, &["och", "att", "det", "som", "en", "av", "med", "inte", "den", "till", "ett"]),
    (Lang::Pol, &["i", "w", "na", "z", "jest", "nie", "do", "oraz", "od", "przez"]),
    (Lang::Tur, &["ve", "bir", "bu", "ile", "olarak", "daha", "olan"]),
    (Lang::Ind, &["dan", "yang", "di", "pada", "dengan", "untuk", "tidak", "dari", "ini"]),
];

const CODES: &[(Lang, &str)] = &[
    (Lang::Eng, "en"),
    (Lang::Deu, "de"),
    (Lang::Fra, "fr"),
    (Lang::Spa, "es"),
    (Lang::Por, "pt"),
    (Lang::Ita, "it"),
    (Lang::Nld, "nl"),
    (Lang::Pol, "pl"),
    (Lang::Swe, "sv"),
    (Lang::Tur, "tr"),
    (Lang::Ind, "id"),
    (Lang::Rus, "ru"),
    (Lang::Ukr, "uk"),
    (Lang::Ara, "ar"),
    (Lang::Pes, "fa"),
    (Lang::Heb, "he"),
    (Lang::Ell, "el"),
    (Lang::Hin, "hi"),
    (Lang::Kor, "ko"),
    (Lang::Tha, "th"),
    (Lang::Vie, "vi"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, expect: Option<&str>) {
        assert_eq!(language(text), expect, "{text}");
    }

    #[test]
    fn short_texts() {
        check("Napping improves memory in older adults.", Some("en"));
        check("Aspirin lowers the risk of stroke.", Some("en"));
        check("昼寝は記憶を改善する。", Some("ja"));
        check("在宅勤務者労働生産性変化", Some("ja"));
        check("ビタミンD", Some("ja"));
        check("睡眠对青少年记忆的影响研究综述", Some("zh"));
        check("낮잠은 기억력을 향상시킨다.", Some("ko"));
        check("Дневной сон улучшает память у взрослых.", Some("ru"));
        check("La siesta mejora la memoria de los adultos mayores en las pruebas.", Some("es"));
        check("Der Mittagsschlaf verbessert das Gedächtnis von älteren Erwachsenen nicht.", Some("de"));
        check("La sieste améliore la mémoire des personnes âgées dans plusieurs études.", Some("fr"));
    }

    #[test]
    fn nothing_to_tell_from() {
        check("", None);
        check("p < 0.05", None);
        check("IL-6", None);
        check("東京", None);
    }

    proptest! {
        #[test]
        fn any_text_has_an_answer(text in any::<String>()) {
            let _ = language(&text);
        }
    }
}
