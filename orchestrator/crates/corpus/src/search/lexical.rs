//! BM25 (k1 1.2, b 0.75, Lucene's idf) over the index.

use super::Within;
use crate::index::Snapshot;
use crate::{CorpusError, Result};
use lyra_text::{bigrams, content_words, query::Field as Part};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, BoostQuery, ConstScoreQuery, EnableScoring, Occur, Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocAddress, TERMINATED, Term};

/// Weights of the fields; `text` holds the title too.
///
/// nDCG@10 of BM25 on SciFact's training queries: 0.703 with the title at 0.3, 0.697 without, 0.669 at 1. The hybrid
/// does not care (0.728, recall@10 0.850; 0.731, 0.847 without). Without stems BM25 loses 0.029, with the query's stop
/// words 0.001.
pub(crate) const TITLE_WEIGHT: f32 = 0.3;
const TEXT_WEIGHT: f32 = 1.0;
/// Pairs of characters overlap, so that a word of n characters counts n − 1 times.
const CJK_WEIGHT: f32 = 0.3;
/// What a word counts that occurs behind the abstract of a paper, or in the description of a patent. These texts are long, and
/// mostly about other things than the document is about: a document is found by them, behind those that name the word in their
/// abstract.
pub(crate) const BODY_SCORE: f32 = 0.1;

/// Any text as a disjunction of its words; never parsed. `None` when there is no word in it.
pub(super) fn query(snapshot: &Snapshot, text: &str, within: Within) -> Option<Box<dyn Query>> {
    let pairs: Vec<String> = bigrams(text).into_iter().map(|token| token.text).collect();
    let fields = snapshot.fields;
    let words = content_words(text);
    let mut clauses: Vec<(Occur, Box<dyn Query>)> = Vec::new();
    if let (Within::Paper, Some(lane)) = (within, fields.lane(Part::Desc)) {
        let tokens: BTreeSet<&String> =
            words.iter().filter(|word| bigrams(word).is_empty()).chain(&pairs).collect();
        clauses.extend(tokens.into_iter().map(|token| in_body(lane.terms, token)));
    }
    let parts = match within {
        Within::Paper => vec![
            (fields.title, words.clone(), TITLE_WEIGHT),
            (fields.text, words, TEXT_WEIGHT),
            (fields.cjk, pairs, CJK_WEIGHT),
        ],
        Within::Notes => vec![(fields.notes, words, TEXT_WEIGHT), (fields.notes_cjk, pairs, CJK_WEIGHT)],
    };
    for (field, tokens, weight) in parts {
        clauses.extend(terms(field, tokens, weight));
    }
    (!clauses.is_empty()).then(|| Box::new(BooleanQuery::new(clauses)) as Box<dyn Query>)
}

fn in_body(field: Field, token: &str) -> (Occur, Box<dyn Query>) {
    let term = TermQuery::new(Term::from_field_text(field, token), IndexRecordOption::Basic);
    (Occur::Should, Box::new(ConstScoreQuery::new(Box::new(term), BODY_SCORE)))
}

/// One clause per distinct token, as heavy as it is frequent in the query.
fn terms(field: Field, tokens: Vec<String>, weight: f32) -> impl Iterator<Item = (Occur, Box<dyn Query>)> {
    let mut counts: BTreeMap<String, f32> = BTreeMap::new();
    for token in tokens {
        *counts.entry(token).or_default() += weight;
    }
    counts.into_iter().filter(|(_, boost)| *boost > 0.0).map(move |(token, boost)| {
        let term = TermQuery::new(Term::from_field_text(field, &token), IndexRecordOption::WithFreqs);
        let clause: Box<dyn Query> =
            if boost == 1.0 { Box::new(term) } else { Box::new(BoostQuery::new(Box::new(term), boost)) };
        (Occur::Should, clause)
    })
}

/// The best documents, more than `k` when several tie for the last place.
pub(super) fn top(snapshot: &Snapshot, query: &dyn Query, k: usize) -> Result<Vec<(DocAddress, f64)>> {
    let total = usize::try_from(snapshot.count()).unwrap_or(usize::MAX);
    if k == 0 || total == 0 {
        return Ok(Vec::new());
    }
    let mut limit = k.saturating_add(16).min(total);
    loop {
        let collector = TopDocs::with_limit(limit).order_by_score();
        let found =
            snapshot.searcher.search(query, &collector).map_err(CorpusError::index(&snapshot.name))?;
        let found: Vec<(DocAddress, f64)> =
            found.into_iter().map(|(score, address)| (address, rounded(score))).collect();
        let tied = found.len() == limit && found[limit - 1].1 == found[k.min(limit) - 1].1;
        if !tied || limit == total {
            return Ok(found);
        }
        limit = limit.saturating_mul(4).min(total);
    }
}

/// Scores of chosen documents, without those that match no word of the query.
pub(super) fn scores(
    snapshot: &Snapshot,
    query: &dyn Query,
    mut addresses: Vec<DocAddress>,
) -> Result<HashMap<DocAddress, f64>> {
    addresses.sort_unstable();
    let failed = CorpusError::index(&snapshot.name);
    let weight = query.weight(EnableScoring::enabled_from_searcher(&snapshot.searcher)).map_err(&failed)?;
    let mut scores = HashMap::new();
    for of_segment in addresses.chunk_by(|a, b| a.segment_ord == b.segment_ord) {
        let Some(first) = of_segment.first() else { continue };
        let reader = snapshot.searcher.segment_reader(first.segment_ord);
        let mut scorer = weight.scorer(reader, 1.0).map_err(&failed)?;
        for address in of_segment {
            if scorer.doc() < address.doc_id {
                scorer.seek(address.doc_id);
            }
            if scorer.doc() == TERMINATED {
                break;
            }
            if scorer.doc() == address.doc_id {
                scores.insert(*address, rounded(scorer.score()));
            }
        }
    }
    Ok(scores)
}

/// Scores to four decimals: the order in which a sum of f32 is taken depends on the index's layout, and equal
/// documents must tie.
pub(super) fn rounded(score: f32) -> f64 {
    (f64::from(score) * 1e4).round() / 1e4
}
