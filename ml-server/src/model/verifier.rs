//! Verifiers: the tokenization of a claim with a passage, and the model's outputs for the claim and every sentence.
//!
//! A verifier is a classifier of claims with one more layer, which reads the separator after each sentence. It sees
//!
//! ```text
//! MPNet  <s> claim </s> </s> title </s> s1 </s> s2 </s> … sn </s>
//! BERT   [CLS] claim [SEP] title [SEP] s1 [SEP] … sn [SEP]      segment 0 up to the claim's separator, then 1
//! ```
//!
//! and without a title the first sentence follows the claim's separators. `training/encoding.py` is the same in Python.

use lyra_proto::{TruncationDirection, VerifyResult};

use super::encoder::Hidden;
use super::labels::NliLabels;
use super::tokenizer::{TextTokenizer, TokenizeError, Tokens, Truncation};
use super::weights::{WeightSource, Weights};
use crate::error::Error;

/// Tokens of the claim that are read.
pub const CLAIM_TOKENS: usize = 128;
/// Tokens of the title that are read.
pub const TITLE_TOKENS: usize = 48;
/// Smallest token limit of a verifier: room for the longest claim and title, the tokens around them, and some text.
pub const LEAST_MAX_TOKENS: usize = 192;

/// Why a tokenizer is unsuitable for a verifier, if it is.
///
/// # Errors
/// Says what.
pub fn check(tokenizer: &TextTokenizer) -> Result<(), String> {
    let limit = tokenizer.max_tokens();
    if limit < LEAST_MAX_TOKENS {
        return Err(format!("a verifier needs at least {LEAST_MAX_TOKENS} tokens, the limit is {limit}"));
    }
    Frame::of(tokenizer).map(|_| ()).map_err(|error| error.to_string())
}

/// Tokenizes a claim with a passage: its title, if any, and its sentences.
///
/// Sentences are added in order while the whole stays within the limit, and [`Tokens::marks`] has the position after
/// each. Only the first one is truncated if it does not fit; any other that does not fit ends the passage.
///
/// # Errors
/// [`TokenizeError::Failed`].
pub fn encode(
    tokenizer: &TextTokenizer,
    claim: &str,
    title: Option<&str>,
    sentences: &[String],
) -> Result<Tokens, TokenizeError> {
    let frame = Frame::of(tokenizer)?;
    let words = |text: &str| frame.words(tokenizer, text, Truncation::Cut(TruncationDirection::Right));
    let title = title.map_or_else(|| Ok(Vec::new()), words)?;
    let mut reading = Reading::begin(tokenizer, &frame, &words(claim)?, &title);
    for sentence in sentences {
        let words = words(sentence)?;
        if words.len() > reading.room() && !reading.tokens.marks.is_empty() {
            break;
        }
        reading.add(&words);
    }
    Ok(reading.tokens)
}

/// Tokenizes a pair as a claim (the hypothesis) with a passage of one sentence (the premise). Either is truncated at
/// its end.
///
/// # Errors
/// [`TokenizeError`].
pub fn encode_pair(
    tokenizer: &TextTokenizer,
    premise: &str,
    hypothesis: &str,
    truncation: Truncation,
) -> Result<Tokens, TokenizeError> {
    let frame = Frame::of(tokenizer)?;
    let claim = frame.words(tokenizer, hypothesis, truncation)?;
    let sentence = frame.words(tokenizer, premise, truncation)?;
    let mut reading = Reading::begin(tokenizer, &frame, &claim, &[]);
    if truncation == Truncation::Refuse {
        if claim.len() > CLAIM_TOKENS {
            return Err(TokenizeError::LongClaim { length: claim.len(), limit: CLAIM_TOKENS });
        }
        let length = reading.tokens.len() + sentence.len() + 1;
        if length > tokenizer.max_tokens() {
            return Err(TokenizeError::TooLong { length, limit: tokenizer.max_tokens() });
        }
    }
    reading.add(&sentence);
    Ok(reading.tokens)
}

/// The special tokens of a verifier.
struct Frame {
    first: u32,
    separator: u32,
    /// Whether two separators follow the claim, as in RoBERTa's pairs.
    doubled: bool,
}

impl Frame {
    fn of(tokenizer: &TextTokenizer) -> Result<Self, TokenizeError> {
        match tokenizer.frame()? {
            (before, after) if before.len() == 1 && after.len() == 1 => {
                let doubled = tokenizer.special(true) > 3;
                Ok(Self { first: before[0], separator: after[0], doubled })
            }
            (before, after) => {
                let (before, after) = (before.len(), after.len());
                let reason = format!(
                    "the tokenizer puts {before} special tokens before and {after} after a text; a verifier needs one each"
                );
                Err(TokenizeError::Failed(reason))
            }
        }
    }

    /// The tokens of one text. Special tokens in it are dropped, so that no passage can forge a boundary.
    fn words(
        &self,
        tokenizer: &TextTokenizer,
        text: &str,
        truncation: Truncation,
    ) -> Result<Vec<u32>, TokenizeError> {
        let mut ids = tokenizer.encode(text, truncation)?.get_ids().to_vec();
        ids.retain(|id| ![self.first, self.separator].contains(id));
        Ok(ids)
    }
}

/// An item in the making.
struct Reading {
    tokens: Tokens,
    separator: u32,
    segment: u32,
    limit: usize,
}

impl Reading {
    fn begin(tokenizer: &TextTokenizer, frame: &Frame, claim: &[u32], title: &[u32]) -> Self {
        let (claim, title) = (first(claim, CLAIM_TOKENS), first(title, TITLE_TOKENS));
        let mut reading = Self {
            tokens: Tokens { ids: vec![frame.first], type_ids: vec![0], marks: Vec::new() },
            separator: frame.separator,
            segment: 0,
            limit: tokenizer.max_tokens(),
        };
        reading.push(claim);
        reading.segment = u32::from(tokenizer.segments());
        if frame.doubled {
            reading.push(&[]);
        }
        if !title.is_empty() {
            reading.push(title);
        }
        reading
    }

    /// Tokens that are left for a sentence.
    fn room(&self) -> usize {
        self.limit.saturating_sub(self.tokens.len() + 1)
    }

    /// Appends as much of a sentence as fits.
    fn add(&mut self, sentence: &[u32]) {
        self.push(first(sentence, self.room()));
        self.tokens.marks.push(self.tokens.len() - 1);
    }

    /// Appends a text with the separator after it.
    fn push(&mut self, text: &[u32]) {
        self.tokens.ids.extend(text);
        self.tokens.ids.push(self.separator);
        self.tokens.type_ids.resize(self.tokens.ids.len(), self.segment);
    }
}

fn first(ids: &[u32], most: usize) -> &[u32] {
    &ids[..ids.len().min(most)]
}

/// The layer that scores sentences.
#[derive(Clone)]
pub struct Rationale {
    /// One per column of the encoder's vectors.
    weight: Vec<f32>,
    bias: f32,
}

impl Rationale {
    /// Reads `rationale.weight`, `[1, hidden]`, and `rationale.bias`, `[1]`.
    ///
    /// # Errors
    /// When one is missing or has another shape.
    pub fn read(source: &mut dyn WeightSource, hidden: usize) -> Result<Self, Error> {
        let mut weights = Weights::head(source);
        let weight = weights.get("rationale.weight", &[1, hidden])?.into_f32();
        Ok(Self { weight, bias: weights.vector("rationale.bias", 1)?[0] })
    }

    /// Appends to each row of `rows`, which has a sequence's label logits, one logit for each of its marks.
    pub fn score(&self, hidden: &Hidden, batch: &[&Tokens], rows: &mut [Vec<f32>]) {
        for ((row, states), tokens) in rows.iter_mut().zip(hidden.sequences()).zip(batch) {
            row.extend(
                tokens.marks.iter().map(|&mark| self.logit(&states[mark * hidden.width..][..hidden.width])),
            );
        }
    }

    /// The logit of the sentence that ends with a token of this vector.
    pub fn logit(&self, state: &[f32]) -> f32 {
        self.bias + state.iter().zip(&self.weight).map(|(a, b)| a * b).sum::<f32>()
    }
}

/// A verifier's output row: the logits of the labels, then one for each sentence.
pub fn verdict(labels: &NliLabels, row: &[f32]) -> VerifyResult {
    let (logits, sentences) = row.split_at(labels.count().min(row.len()));
    let judged = labels.judge(logits);
    VerifyResult {
        label: judged.label,
        confidence: judged.confidence,
        scores: judged.scores,
        rationale: sentences.iter().map(|logit| 1.0 / (1.0 + (-logit).exp())).collect(),
    }
}
