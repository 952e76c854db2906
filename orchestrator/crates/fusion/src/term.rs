//! Terms of one or several words, and where a text has them after analysis.

use lyra_text::{Analysis, Token, is_cjk, normalise, tokens};

/// A term to look for.
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

/// A text made ready for looking for terms.
#[derive(Debug)]
pub struct Analysed {
    folded: String,
    tokens: Vec<Token>,
}

impl Analysed {
    /// Normalises and cuts a text into tokens.
    pub fn new(text: &str) -> Self {
        let folded = normalise(text).to_lowercase();
        let tokens = tokens(&folded, Analysis::default());
        Self { folded, tokens }
    }
}

impl Term {
    /// Reads a term; `None` when it holds no word.
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

    /// Where a text has the term, as bytes of the text as it is given, in order.
    pub fn spans(&self, text: &str) -> Vec<(usize, usize)> {
        match &self.form {
            Form::Words(words) => {
                let tokens = tokens(text, Analysis::default());
                tokens
                    .windows(words.len())
                    .filter(|window| window.iter().zip(words).all(|(token, word)| token.text == *word))
                    .filter_map(|window| Some((window.first()?.start, window.last()?.end)))
                    .collect()
            }
            Form::Characters(characters) => spans_of(text, characters),
        }
    }
}

/// Where the folded form of a text holds `wanted`, in bytes of the text as given.
fn spans_of(text: &str, wanted: &str) -> Vec<(usize, usize)> {
    let mut folded = String::with_capacity(text.len());
    // For every byte of the folded form, the character of the text that it comes from.
    let mut origin = Vec::with_capacity(text.len());
    for (start, c) in text.char_indices() {
        let end = start + c.len_utf8();
        let before = folded.len();
        folded.push_str(&normalise(&text[start..end]).to_lowercase());
        origin.extend(std::iter::repeat_n((start, end), folded.len() - before));
    }
    folded
        .match_indices(wanted)
        .filter_map(|(byte, found)| Some((origin.get(byte)?.0, origin.get(byte + found.len() - 1)?.1)))
        .collect()
}
