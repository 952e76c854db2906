//! Texts to token ids, with truncation that follows `transformers`.

use lyra_proto::{SimpleToken, TruncationDirection};
use tokenizers::utils::truncation::{
    TruncationDirection as Side, TruncationParams, TruncationStrategy, truncate_encodings,
};
use tokenizers::{Encoding, PostProcessor, Token, Tokenizer};

/// Most characters to read per token of the model's limit. Words are far shorter; only text that is mostly blanks or
/// unbroken symbols has more, and loses the rest.
const CHARACTERS_PER_TOKEN: usize = 64;

/// One tokenized input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tokens {
    /// Token ids, special tokens included.
    pub ids: Vec<u32>,
    /// Segment of each token: 0, or 1 for the second text of a pair if the model distinguishes them.
    pub type_ids: Vec<u32>,
    /// For a [verifier](super::verifier), the place after each sentence that was read; empty for other models.
    pub marks: Vec<usize>,
}

impl Tokens {
    /// Number of tokens.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are no tokens at all; models put special tokens around even an empty text.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }
}

/// What to do with an input that is longer than the model reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truncation {
    /// Truncate at this end; in a pair, the longer text.
    Cut(TruncationDirection),
    /// Refuse it.
    Refuse,
}

/// Why an input could not be tokenized.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenizeError {
    /// Longer than the model reads, and cutting was not allowed.
    #[error("{length} tokens, the limit is {limit}")]
    TooLong {
        /// Tokens of the input.
        length: usize,
        /// Most tokens that the model reads.
        limit: usize,
    },
    /// More characters than are tokenized for a model of this limit, and cutting was not allowed.
    #[error("{length} characters, the limit is {limit}")]
    TooManyCharacters {
        /// Characters of the text.
        length: usize,
        /// Most characters that are read.
        limit: usize,
    },
    /// A claim longer than a verifier reserves for it, and cutting was not allowed.
    #[error("the claim has {length} tokens, the limit is {limit}")]
    LongClaim {
        /// Tokens of the claim.
        length: usize,
        /// Its limit in tokens.
        limit: usize,
    },
    /// An id that the model does not have.
    #[error("token id {id} is unknown, the model has 0 to {last}")]
    UnknownId {
        /// The id.
        id: u32,
        /// The model's highest id.
        last: usize,
    },
    /// The tokenizer failed.
    #[error("{0}")]
    Failed(String),
}

/// A model's tokenizer with its length limit.
pub struct TextTokenizer {
    inner: Tokenizer,
    max_tokens: usize,
    segments: bool,
}

impl TextTokenizer {
    /// Reads a `tokenizer.json`. Its truncation and padding settings are ignored: the limit is the model's, and nothing
    /// is padded. Without `segments` the second text of a pair is in segment 0 like the first.
    ///
    /// # Errors
    /// When the JSON is not a tokenizer, or its special tokens leave no room in `max_tokens`.
    pub fn from_json(json: &[u8], max_tokens: usize, segments: bool) -> Result<Self, String> {
        let mut inner = Tokenizer::from_bytes(json).map_err(|error| format!("tokenizer: {error}"))?;
        inner.with_padding(None);
        inner.with_truncation(None).map_err(|error| format!("tokenizer: {error}"))?;
        let this = Self { inner, max_tokens, segments };
        if this.special(true) < max_tokens {
            Ok(this)
        } else {
            Err(format!("a limit of {max_tokens} tokens leaves no room for text"))
        }
    }

    /// Highest token id plus one.
    pub fn vocabulary(&self) -> usize {
        self.inner.get_vocab(true).into_values().max().map_or(0, |id| id as usize + 1)
    }

    /// Most tokens in one input, special tokens included.
    pub fn max_tokens(&self) -> usize {
        self.max_tokens
    }

    /// Tokenizes one text.
    ///
    /// # Errors
    /// [`TokenizeError`].
    pub fn text(&self, text: &str, truncation: Truncation) -> Result<Tokens, TokenizeError> {
        self.finish(self.encode(text, truncation)?, None, truncation)
    }

    /// Tokenizes a pair; too long ones lose tokens of the longer text first (`longest_first` of `transformers`).
    ///
    /// An empty second text counts as missing, with one separator less, as in `transformers`, with which models were
    /// trained and evaluated.
    ///
    /// # Errors
    /// [`TokenizeError`].
    pub fn pair(&self, first: &str, second: &str, truncation: Truncation) -> Result<Tokens, TokenizeError> {
        let second = if second.is_empty() { None } else { Some(self.encode(second, truncation)?) };
        self.finish(self.encode(first, truncation)?, second, truncation)
    }

    /// Takes ids that this tokenizer has given out. Those without the model's special tokens around them get them.
    ///
    /// # Errors
    /// [`TokenizeError`].
    pub fn ids(&self, ids: &[u32], truncation: Truncation) -> Result<Tokens, TokenizeError> {
        if let Some(&id) = ids.iter().find(|id| self.inner.id_to_token(**id).is_none()) {
            return Err(TokenizeError::UnknownId { id, last: self.vocabulary().saturating_sub(1) });
        }
        let (before, after) = self.frame()?;
        let inside = ids.strip_prefix(before.as_slice()).and_then(|rest| rest.strip_suffix(after.as_slice()));
        let inside = inside.unwrap_or(ids);
        // Text that would be truncated in the end would first take a hundred times its size.
        let kept = match truncation {
            _ if inside.len() <= self.max_tokens => inside,
            Truncation::Cut(TruncationDirection::Right) => &inside[..self.max_tokens],
            Truncation::Cut(TruncationDirection::Left) => &inside[inside.len() - self.max_tokens..],
            Truncation::Refuse => {
                let length = inside.len() + self.special(false);
                return Err(TokenizeError::TooLong { length, limit: self.max_tokens });
            }
        };
        self.finish(plain(kept), None, truncation)
    }

    /// Whether the model distinguishes the two texts of a pair.
    pub fn segments(&self) -> bool {
        self.segments
    }

    /// The special tokens before and after a text.
    pub(super) fn frame(&self) -> Result<(Vec<u32>, Vec<u32>), TokenizeError> {
        let failed = |error: tokenizers::Error| TokenizeError::Failed(error.to_string());
        let framed = self.inner.post_process(plain(&[0]), None, true).map_err(failed)?;
        let place = framed.get_special_tokens_mask().iter().position(|&special| special == 0).unwrap_or(0);
        let ids = framed.get_ids();
        Ok((ids[..place].to_vec(), ids[(place + 1).min(ids.len())..].to_vec()))
    }

    /// The tokens of one text with their text spans. Nothing is truncated.
    ///
    /// # Errors
    /// [`TokenizeError::Failed`].
    pub fn spell(&self, text: &str, add_special_tokens: bool) -> Result<Vec<SimpleToken>, TokenizeError> {
        let encoding = self.inner.encode(text, add_special_tokens);
        let encoding = encoding.map_err(|error| TokenizeError::Failed(error.to_string()))?;
        let mut tokens = Vec::with_capacity(encoding.len());
        for (place, &id) in encoding.get_ids().iter().enumerate() {
            tokens.push(if encoding.get_special_tokens_mask()[place] == 1 {
                let text = encoding.get_tokens()[place].clone();
                SimpleToken { id, text, special: true, start: None, stop: None }
            } else {
                let (start, stop) = encoding.get_offsets()[place];
                // A token of bytes may end inside a character.
                let bytes = text.as_bytes().get(start..stop).unwrap_or_default();
                let text = String::from_utf8_lossy(bytes).into_owned();
                SimpleToken { id, text, special: false, start: Some(start), stop: Some(stop) }
            });
        }
        Ok(tokens)
    }

    /// One text without special tokens around it. The work is bounded by the model's limit, not by the text's length:
    /// of a very long text only the characters near the kept end are examined.
    pub(super) fn encode(&self, text: &str, truncation: Truncation) -> Result<Encoding, TokenizeError> {
        let limit = self.max_tokens.saturating_mul(CHARACTERS_PER_TOKEN);
        let text = match truncation {
            _ if text.len() <= limit => text,
            Truncation::Cut(TruncationDirection::Right) => {
                text.char_indices().nth(limit).map_or(text, |(end, _)| &text[..end])
            }
            Truncation::Cut(TruncationDirection::Left) => {
                text.char_indices().nth_back(limit - 1).map_or(text, |(start, _)| &text[start..])
            }
            Truncation::Refuse => match text.chars().count() {
                length if length > limit => {
                    return Err(TokenizeError::TooManyCharacters { length, limit });
                }
                _ => text,
            },
        };
        self.inner.encode_fast(text, false).map_err(|error| TokenizeError::Failed(error.to_string()))
    }

    /// Number of special tokens around a text or a pair.
    pub(super) fn special(&self, pair: bool) -> usize {
        self.inner.get_post_processor().map_or(0, |processor| processor.added_tokens(pair))
    }

    fn finish(
        &self,
        first: Encoding,
        second: Option<Encoding>,
        truncation: Truncation,
    ) -> Result<Tokens, TokenizeError> {
        let special = self.special(second.is_some());
        let length = first.len() + second.as_ref().map_or(0, Encoding::len) + special;
        let failed = |error: tokenizers::Error| TokenizeError::Failed(error.to_string());
        let (mut first, mut second) = (first, second);
        if length > self.max_tokens {
            let Truncation::Cut(direction) = truncation else {
                return Err(TokenizeError::TooLong { length, limit: self.max_tokens });
            };
            let params = TruncationParams {
                direction: match direction {
                    TruncationDirection::Left => Side::Left,
                    TruncationDirection::Right => Side::Right,
                },
                max_length: self.max_tokens - special,
                strategy: TruncationStrategy::LongestFirst,
                stride: 0,
            };
            (first, second) = truncate_encodings(first, second, &params).map_err(failed)?;
            // The truncated parts would be kept and post-processed needlessly.
            first.take_overflowing();
            if let Some(second) = &mut second {
                second.take_overflowing();
            }
        }
        let encoding = self.inner.post_process(first, second, true).map_err(failed)?;
        let type_ids = if self.segments { encoding.get_type_ids().to_vec() } else { vec![0; encoding.len()] };
        Ok(Tokens { ids: encoding.get_ids().to_vec(), type_ids, marks: Vec::new() })
    }
}

/// Ids as the tokenizer would hand them to its post-processor.
fn plain(ids: &[u32]) -> Encoding {
    let tokens = ids.iter().map(|&id| Token::new(id, String::new(), (0, 0)));
    Encoding::from_tokens(tokens.collect(), 0)
}
