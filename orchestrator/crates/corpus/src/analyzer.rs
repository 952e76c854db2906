//! `lyra-text`'s tokens as the index's token streams.

use lyra_text::fulltext::terms;
use lyra_text::{Analysis, bigrams, tokens};
use tantivy::tokenizer::{TextAnalyzer, Token, TokenStream, Tokenizer, TokenizerManager};

/// Folded, stemmed words of any language.
pub(crate) const WORDS: &str = "lyra_words";
/// Pairs of Han, kana and Hangul characters.
pub(crate) const BIGRAMS: &str = "lyra_bigrams";

/// Words, CJK characters and their pairs in one field, by the positions of `lyra_text::fulltext`.
pub(crate) const MIXED: &str = "lyra_mixed";

/// The analyzers; their names are part of the stored schema.
pub(crate) fn manager() -> TokenizerManager {
    let manager = TokenizerManager::default();
    manager.register(WORDS, TextAnalyzer::from(Analyzer { cut: |text| tokens(text, Analysis::default()) }));
    manager.register(BIGRAMS, TextAnalyzer::from(Analyzer { cut: bigrams }));
    manager.register(MIXED, TextAnalyzer::from(Mixed));
    manager
}

#[derive(Clone)]
struct Mixed;

impl Tokenizer for Mixed {
    type TokenStream<'a> = MixedStream;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> MixedStream {
        MixedStream { rest: terms(text).into_iter(), token: Token::default() }
    }
}

struct MixedStream {
    rest: std::vec::IntoIter<lyra_text::fulltext::Term>,
    token: Token,
}

impl TokenStream for MixedStream {
    fn advance(&mut self) -> bool {
        let Some(next) = self.rest.next() else { return false };
        self.token.position = next.position as usize;
        self.token.text = next.text;
        self.token.offset_from = next.start;
        self.token.offset_to = next.end;
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}

#[derive(Clone)]
struct Analyzer {
    cut: fn(&str) -> Vec<lyra_text::Token>,
}

impl Tokenizer for Analyzer {
    type TokenStream<'a> = Stream;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Stream {
        Stream { rest: (self.cut)(text).into_iter(), token: Token::default() }
    }
}

struct Stream {
    rest: std::vec::IntoIter<lyra_text::Token>,
    token: Token,
}

impl TokenStream for Stream {
    fn advance(&mut self) -> bool {
        let Some(next) = self.rest.next() else { return false };
        // The first position is 0: a fresh token stands at `usize::MAX`.
        self.token.position = self.token.position.wrapping_add(1);
        self.token.text = next.text;
        self.token.offset_from = next.start;
        self.token.offset_to = next.end;
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}
