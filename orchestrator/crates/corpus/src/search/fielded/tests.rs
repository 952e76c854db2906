use super::*;
use crate::analyzer::{MIXED, WRITTEN, manager};
use lyra_text::fulltext::Pattern;
use proptest::prelude::*;
use std::collections::BTreeMap;
use tantivy::collector::TopDocs;
use tantivy::merge_policy::NoMergePolicy;
use tantivy::query::{PhraseQuery, TermQuery};
use tantivy::schema::{FAST, Field, Schema, TextFieldIndexing, TextOptions};
use tantivy::{Index, Searcher, TantivyDocument, Term};

const WORDS: [&str; 5] = ["cell", "solar", "panel", "fan", "valve"];

/// Title, abstract and description.
type Texts = [Vec<&'static str>; 3];

fn texts() -> impl Strategy<Value = Texts> {
    let words = |most| prop::collection::vec(prop::sample::select(&WORDS[..]), 0..most);
    (words(4), words(12), words(30)).prop_map(|(title, abst, desc)| [title, abst, desc])
}

fn weights() -> impl Strategy<Value = [f32; 3]> {
    prop::array::uniform3(0.5_f32..100.0)
}

/// An index in two segments.
fn index(documents: &[Texts]) -> (Searcher, [LaneField; 3]) {
    let mut schema = Schema::builder();
    let options = |tokenizer| {
        let indexing = TextFieldIndexing::default()
            .set_tokenizer(tokenizer)
            .set_index_option(IndexRecordOption::WithFreqsAndPositions);
        TextOptions::default().set_indexing_options(indexing)
    };
    let mut field = |name: String, tokenizer| -> Field { schema.add_text_field(&name, options(tokenizer)) };
    let fields = ["title", "abst", "desc"].map(|name| LaneField {
        terms: field(name.to_owned(), MIXED),
        written: field(format!("written_{name}"), WRITTEN),
    });
    let place = schema.add_u64_field("place", FAST);
    let mut index = Index::create_in_ram(schema.build());
    index.set_tokenizers(manager());
    let mut writer = index.writer_with_num_threads(1, 15_000_000).expect("a writer");
    writer.set_merge_policy(Box::new(NoMergePolicy));
    for (nth, texts) in documents.iter().enumerate() {
        let mut entry = TantivyDocument::new();
        entry.add_u64(place, nth as u64);
        for (field, words) in fields.into_iter().zip(texts) {
            entry.add_text(field.terms, words.join(" "));
            entry.add_text(field.written, words.join(" "));
        }
        writer.add_document(entry).expect("added");
        if nth == documents.len() / 2 {
            writer.commit().expect("committed");
        }
    }
    writer.commit().expect("committed");
    (index.reader().expect("a reader").searcher(), fields)
}

/// Scores by the document's place among those added.
fn scores(searcher: &Searcher, query: &dyn Query) -> BTreeMap<u64, f64> {
    let found = searcher.search(query, &TopDocs::with_limit(1000).order_by_score()).expect("found");
    let place = |segment: u32, doc| {
        let column = searcher.segment_reader(segment).fast_fields().u64("place").expect("a column");
        column.first(doc).expect("a place")
    };
    found.into_iter().map(|(score, at)| (place(at.segment_ord, at.doc_id), f64::from(score))).collect()
}

fn equal(found: &BTreeMap<u64, f64>, expected: &BTreeMap<u64, f64>) -> Result<(), TestCaseError> {
    prop_assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    for (place, score) in found {
        let wanted = expected[place];
        prop_assert!((score - wanted).abs() <= 1e-4 * wanted.max(1.0), "{place}: {score}, not {wanted}");
    }
    Ok(())
}

/// The formula of the module, over the texts themselves.
fn brute(documents: &[Texts], phrase: &[&str], weights: [f32; 3]) -> BTreeMap<u64, f64> {
    let n = documents.len() as f64;
    let average = |field: usize| documents.iter().map(|texts| texts[field].len()).sum::<usize>() as f64 / n;
    let averages = [0, 1, 2].map(average);
    let weighed: f64 =
        averages.iter().zip(weights).map(|(average, weight)| average * f64::from(weight)).sum();
    let scale = averages.iter().sum::<f64>() / weighed;
    let idf = |word: &str| {
        let holding = |field: usize| documents.iter().filter(|texts| texts[field].contains(&word)).count();
        let most = [0, 1, 2].map(holding).into_iter().max().unwrap_or(0) as f64;
        (1.0 + (n - most + 0.5) / (most + 0.5)).ln()
    };
    let idf: f64 = phrase.iter().map(|word| idf(word)).sum();
    let mut scores = BTreeMap::new();
    for (place, texts) in (0_u64..).zip(documents) {
        let mut frequency = 0.0;
        for field in 0..3 {
            let count = texts[field].windows(phrase.len()).filter(|window| *window == phrase).count();
            if count > 0 {
                let length = texts[field].len() as f64 / averages[field];
                frequency += scale * f64::from(weights[field]) * count as f64 / (1.0 - B + B * length);
            }
        }
        if frequency > 0.0 {
            scores.insert(place, idf * (K1 + 1.0) * frequency / (K1 + frequency));
        }
    }
    scores
}

fn fielded(fields: &[LaneField], weights: &[f32], phrase: &[&str]) -> FieldedQuery {
    near_query(fields, weights, vec![vec![Pattern::of(&phrase.join(" "))]], 0, true)
}

fn near_query(
    fields: &[LaneField],
    weights: &[f32],
    groups: Vec<Vec<Pattern>>,
    distance: u32,
    ordered: bool,
) -> FieldedQuery {
    let near = Near::new(groups, distance, ordered, |_| Err("no word is truncated")).expect("words");
    FieldedQuery::new(fields.iter().copied().zip(weights.iter().copied()).collect(), near)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn scores_follow_the_formula(
        documents in prop::collection::vec(texts(), 2..30),
        phrase in prop::collection::vec(prop::sample::select(&WORDS[..]), 1..4),
        weights in weights(),
    ) {
        let (searcher, fields) = index(&documents);
        let found = scores(&searcher, &fielded(&fields, &weights, &phrase));
        equal(&found, &brute(&documents, &phrase, weights))?;
    }

    #[test]
    fn one_field_alone_is_bm25(
        documents in prop::collection::vec(texts(), 2..30),
        phrase in prop::collection::vec(prop::sample::select(&WORDS[..]), 1..4),
        weight in 0.5_f32..100.0,
    ) {
        let (searcher, [_, abst, _]) = index(&documents);
        let term = |word: &str| {
            let near = Near::new(vec![vec![Pattern::of(word)]], 0, true, |_| Err("not truncated")).expect("a word");
            match near.word() {
                Some(Terms::Term(stem)) => Term::from_field_text(abst.terms, stem),
                other => panic!("{other:?} for {word}"),
            }
        };
        let plain: Box<dyn Query> = match phrase.as_slice() {
            [word] => Box::new(TermQuery::new(term(word), IndexRecordOption::WithFreqs)),
            words => Box::new(PhraseQuery::new(words.iter().map(|word| term(word)).collect())),
        };
        equal(&scores(&searcher, &fielded(&[abst], &[weight], &phrase)), &scores(&searcher, &*plain))?;
    }

    /// Only what weighs more against what counts.
    #[test]
    fn a_common_factor_of_the_weights_changes_nothing(
        documents in prop::collection::vec(texts(), 2..30),
        word in prop::sample::select(&WORDS[..]),
        weights in weights(),
        factor in 0.1_f32..10.0,
    ) {
        let (searcher, fields) = index(&documents);
        let scaled = weights.map(|weight| weight * factor);
        equal(
            &scores(&searcher, &fielded(&fields, &scaled, &[word])),
            &scores(&searcher, &fielded(&fields, &weights, &[word])),
        )?;
    }
}
