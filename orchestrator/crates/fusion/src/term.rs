//! Terms of one or several words, and where a text has them after analysis.

use lyra_text::{Analysis, Token, is_cjk, normalise, tokens};

/// A search term.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    form: Form,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Form {
    /// Stems in a row.
    Words(Vec<String>),
    /// Characters in a row: Japanese and Chinese words have no certain borders.
    Characters(String),
}

/// A text prepared for matching terms.
#[derive(Debug)]
pub struct Analysed {
    folded: String,
    tokens: Vec<Token>,
}

impl Analysed {
    /// Normalizes and cuts a text into tokens.
    pub fn new(text: &str) -> Self {
        let folded = normalise(text).to_lowercase();
        let tokens = tokens(&folded, Analysis::default());
        Self { folded, tokens }
    }
}

impl Term {
    /// Parses a term; `None` without words.
    pub fn new(text: &str) -> Option<Self> {
        let folded = normalise(text).to_lowercase();
        let words: Vec<String> =
            tokens(&folded, Analysis::default()).into_iter().map(|token| token.text).collect();
        if words.is_empty() {
            return None;
        }
        let form = if folded.chars().any(is_cjk) { Form::Characters(folded) } else { Form::Words(words) };
        Some(Self { form })
    }

    /// Numbers of the tokens at which the text has the term, in order.
    pub fn places(&self, text: &Analysed) -> Vec<usize> {
        match &self.form {
            Form::Words(words) => text
                .tokens
                .windows(words.len())
                .enumerate()
                .filter(|(_, window)| window.iter().zip(words).all(|(token, word)| token.text == *word))
                .map(|(place, _)| place)
                .collect(),
            Form::Characters(characters) => text
                .folded
                .match_indices(characters.as_str())
                .map(|(byte, _)| text.tokens.partition_point(|token| token.start <= byte).saturating_sub(1))
                .collect(),
        }
    }
}
