//! `lyra-text`'s tokens as the index's token streams.

use lyra_text::fulltext::{Term, terms, words_as_written};
use lyra_text::{Analysis, bigrams, tokens};
use tantivy::tokenizer::{TextAnalyzer, Token, TokenStream, Tokenizer, TokenizerManager};

/// Folded, stemmed words of any language.
pub(crate) const WORDS: &str = "lyra_words";
/// Pairs of Han, kana and Hangul characters.
pub(crate) const BIGRAMS: &str = "lyra_bigrams";
/// Words, CJK characters and their pairs in one field, by the positions of `lyra_text::fulltext`.
pub(crate) const MIXED: &str = "lyra_mixed";
/// Words as written, at the positions that they have in `lyra_mixed`.
pub(crate) const WRITTEN: &str = "lyra_written";

/// The analyzers; their names are part of the stored schema.
pub(crate) fn manager() -> TokenizerManager {
    let manager = TokenizerManager::default();
    manager.register(WORDS, TextAnalyzer::from(Analyzer { cut: |text| tokens(text, Analysis::default()) }));
    manager.register(BIGRAMS, TextAnalyzer::from(Analyzer { cut: bigrams }));
    manager.register(MIXED, TextAnalyzer::from(Analyzer { cut: terms }));
    manager.register(WRITTEN, TextAnalyzer::from(Analyzer { cut: words_as_written }));
    manager
}

/// What `lyra-text` cuts a text into.
trait Piece: Clone + 'static {
    /// Becomes the index's token, which still is the piece before.
    fn fill(self, token: &mut Token);
}

impl Piece for lyra_text::Token {
    fn fill(self, token: &mut Token) {
        // The first position is 0: a fresh token stands at `usize::MAX`.
        token.position = token.position.wrapping_add(1);
        token.text = self.text;
        token.offset_from = self.start;
        token.offset_to = self.end;
    }
}

impl Piece for Term {
    fn fill(self, token: &mut Token) {
        token.position = self.position as usize;
        token.text = self.text;
        token.offset_from = self.start;
        token.offset_to = self.end;
    }
}

#[derive(Clone)]
struct Analyzer<P> {
    cut: fn(&str) -> Vec<P>,
}

impl<P: Piece> Tokenizer for Analyzer<P> {
    type TokenStream<'a> = Stream<P>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Stream<P> {
        Stream { rest: (self.cut)(text).into_iter(), token: Token::default() }
    }
}

struct Stream<P> {
    rest: std::vec::IntoIter<P>,
    token: Token,
}

impl<P: Piece> TokenStream for Stream<P> {
    fn advance(&mut self) -> bool {
        let Some(next) = self.rest.next() else { return false };
        next.fill(&mut self.token);
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}
