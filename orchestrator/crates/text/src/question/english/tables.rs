//! Words that questions are read by, in lower case.

mod adjectives;
mod verbs;

pub(super) use adjectives::{ADJECTIVES, COMPARATIVES, PARTICIPLES};
pub(super) use verbs::{AUXILIARIES, LIKELY, RARE, SURE, forms, past, third};

/// Auxiliaries, as they stand at the head of a question.
pub(super) const FIRST: &[&str] = &[
    "is", "are", "was", "were", "do", "does", "did", "has", "have", "had", "can", "could", "will", "would",
    "may", "might", "must", "should",
];

/// An auxiliary without its negation: "isn't" asks what "is" asks.
pub(super) fn positive(word: &str) -> Option<&'static str> {
    let bare = match word {
        "can't" | "cant" => "can",
        "won't" => "will",
        _ => word.strip_suffix("n't").or_else(|| word.strip_suffix("nt")).unwrap_or(word),
    };
    FIRST.iter().copied().find(|auxiliary| *auxiliary == bare || *auxiliary == word)
}

/// Words that ask for more than yes or no.
pub(super) const ASKING: &[&str] =
    &["what", "which", "who", "whom", "whose", "when", "where", "why", "how", "if", "whether"];

/// Auxiliaries with which a second question begins ("and does tea lower it") rather than a second verb ("and have").
pub(super) const AGAIN: &[&str] = &["is", "are", "was", "were", "do", "does", "did", "has"];

/// Subjects that point outside the question.
pub(super) const POINTING: &[&str] = &[
    "it", "they", "them", "he", "she", "this", "these", "that", "those", "its", "their", "we", "you", "i",
    "one",
];

/// Words that no subject begins with.
pub(super) const NO_SUBJECT: &[&str] = &[
    "not", "anyone", "anybody", "someone", "somebody", "you", "we", "he", "she", "they", "i", "your", "to",
    "or", "and", "than", "of", "what", "which", "who", "when", "where", "why", "how", "if", "only",
    "anything", "one",
];

/// Prepositions that open what limits a question.
pub(super) const LIMITS: &[&str] = &["for", "in", "among", "during", "at", "with", "within", "under", "on"];

/// What stands before a question and says nothing.
pub(super) const LEADS: &[&str] = &[
    "so, ",
    "and ",
    "but ",
    "hi, ",
    "hello, ",
    "please, ",
    "please tell me ",
    "tell me ",
    "i wonder whether ",
    "i wonder if ",
    "question: ",
    "q: ",
    "well, ",
    "ok, ",
    "also, ",
];

pub(super) const STUDIES: &[&str] =
    &["studies", "research", "evidence", "trials", "data", "scientists", "experts", "science"];
pub(super) const SHOWING: &[&str] =
    &["show", "suggest", "indicate", "prove", "agree", "confirm", "demonstrate", "say", "support"];

/// Prepositions and other words that follow a predicate rather than a noun that it belongs to.
pub(super) const FOLLOWERS: &[&str] = &[
    "of",
    "in",
    "on",
    "to",
    "by",
    "for",
    "with",
    "from",
    "at",
    "into",
    "over",
    "under",
    "among",
    "between",
    "during",
    "after",
    "before",
    "against",
    "within",
    "without",
    "than",
    "that",
    "when",
    "while",
    "if",
    "because",
    "and",
    "but",
    "as",
    "enough",
    "even",
    "only",
    "again",
    "now",
    "yet",
    "today",
    "across",
    "through",
    "via",
    "per",
    "about",
    "above",
    "below",
    "until",
    "since",
    "towards",
    "toward",
    "compared",
    "regardless",
    "despite",
    "using",
    "due",
    "not",
    "either",
    "too",
    "up",
    "out",
    "off",
    "down",
    "once",
    "worldwide",
    "overall",
    "always",
    "there",
    "here",
];

/// After these a word belongs to a noun.
pub(super) const BEFORE_NOUNS: &[&str] = &[
    "a", "an", "the", "of", "in", "on", "to", "by", "for", "with", "from", "at", "and", "or", "this",
    "these", "its", "their", "between", "as", "during", "after", "before", "than", "into", "no", "more",
    "less", "most", "very", "against", "without", "about", "among", "over", "under", "that", "which", "who",
    "your", "how", "any", "some", "each", "every",
];

/// Words that only stress a question.
pub(super) const STRESS: &[&str] = &["really", "actually", "truly", "ever", "indeed", "just"];

/// Adverbs that go with the predicate behind them.
pub(super) const ADVERBS: &[&str] = &[
    "still",
    "always",
    "often",
    "also",
    "not",
    "never",
    "already",
    "equally",
    "too",
    "very",
    "even",
    "as",
    "more",
    "less",
    "no",
    "far",
    "much",
    "most",
    "generally",
    "sometimes",
    "only",
    "better",
    "worse",
    "soon",
    "both",
    "so",
];

/// Adverbs that may end a predicate.
pub(super) const LAST_ADVERBS: &[&str] = &["early", "late", "together", "alone", "twice"];
