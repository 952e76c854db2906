//! The words of an index that a truncated word stands for.

use lyra_text::{Progress, Wildcard};
use rayon::prelude::*;
use std::collections::{HashMap, HashSet};
use tantivy::index::SegmentId;
use tantivy::postings::TermInfo;
use tantivy::schema::Field;
use tantivy::{Searcher, SegmentReader};
use tantivy_fst::Automaton;

/// Most words that the truncated words of one query stand for together.
pub(crate) const MAX_WORDS: usize = 5_000;

/// What a truncated word stands for, in the fields and segments of an index.
#[derive(Debug, Default)]
pub(super) struct Expansion {
    /// Distinct words.
    pub(super) words: usize,
    places: HashMap<(Field, SegmentId), Vec<TermInfo>>,
    frequencies: HashMap<Field, u64>,
}

impl Expansion {
    /// Looks a truncated word up; `None` if it stands for more than `most` words.
    pub(super) fn of(
        wildcard: &Wildcard,
        fields: &[Field],
        searcher: &Searcher,
        most: usize,
    ) -> tantivy::Result<Option<Self>> {
        let readers = searcher.segment_readers();
        let dictionaries: Vec<(Field, &SegmentReader)> =
            fields.iter().flat_map(|field| readers.iter().map(|reader| (*field, reader))).collect();
        let found: Vec<Found> = dictionaries
            .par_iter()
            .map(|(field, reader)| found(wildcard, *field, reader, most))
            .collect::<tantivy::Result<_>>()?;
        let mut expansion = Self::default();
        let mut words: HashSet<&[u8]> = HashSet::new();
        for ((field, reader), found) in dictionaries.iter().zip(&found) {
            words.extend(found.iter().map(|(word, _)| word.as_slice()));
            if words.len() > most {
                return Ok(None);
            }
            let frequency: u64 = found.iter().map(|(_, info)| u64::from(info.doc_freq)).sum();
            *expansion.frequencies.entry(*field).or_default() += frequency;
            if !found.is_empty() {
                let places = found.iter().map(|(_, info)| info.clone()).collect();
                expansion.places.insert((*field, reader.segment_id()), places);
            }
        }
        expansion.words = words.len();
        Ok(Some(expansion))
    }

    /// The postings in a field of a segment.
    pub(super) fn places(&self, field: Field, segment: SegmentId) -> &[TermInfo] {
        self.places.get(&(field, segment)).map(Vec::as_slice).unwrap_or_default()
    }

    /// How many documents have one of the words in a field, each counted once per word.
    pub(super) fn frequency(&self, field: Field) -> u64 {
        self.frequencies.get(&field).copied().unwrap_or(0)
    }
}

/// Words with their postings.
type Found = Vec<(Vec<u8>, TermInfo)>;

/// The words of one dictionary that a truncated word stands for; of too many, one more than `most`.
fn found(wildcard: &Wildcard, field: Field, reader: &SegmentReader, most: usize) -> tantivy::Result<Found> {
    let inverted = reader.inverted_index(field)?;
    let mut stream = inverted.terms().search(Fitting(wildcard)).into_stream()?;
    let mut found = Vec::new();
    while found.len() <= most && stream.advance() {
        found.push((stream.key().to_vec(), stream.value().clone()));
    }
    Ok(found)
}

/// Goes through the dictionary, whose words are UTF-8, byte by byte.
struct Fitting<'a>(&'a Wildcard);

/// Progress up to the last whole character, and the bytes of the next.
#[derive(Debug, Clone, Copy)]
struct State {
    progress: Progress,
    bytes: [u8; 4],
    held: usize,
}

impl Automaton for Fitting<'_> {
    type State = State;

    fn start(&self) -> State {
        State { progress: self.0.start(), bytes: [0; 4], held: 0 }
    }

    fn is_match(&self, state: &State) -> bool {
        state.held == 0 && self.0.is_whole(state.progress)
    }

    fn can_match(&self, state: &State) -> bool {
        self.0.is_open(state.progress)
    }

    fn accept(&self, state: &State, byte: u8) -> State {
        let State { progress, mut bytes, held } = *state;
        if held == 0 && byte.is_ascii() {
            return State { progress: self.0.step(progress, char::from(byte)), bytes, held: 0 };
        }
        if let Some(free) = bytes.get_mut(held) {
            *free = byte;
        }
        let held = (held + 1).min(bytes.len());
        match std::str::from_utf8(&bytes[..held]).ok().and_then(|text| text.chars().next()) {
            Some(c) => State { progress: self.0.step(progress, c), bytes: [0; 4], held: 0 },
            None => State { progress, bytes, held },
        }
    }
}
