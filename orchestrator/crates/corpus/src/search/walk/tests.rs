use super::*;
use proptest::prelude::*;
use tantivy::collector::{Count, TopDocs};
use tantivy::query::TermQuery;
use tantivy::schema::{IndexRecordOption, Schema, TEXT};
use tantivy::{Index, TantivyDocument, Term};

/// Documents with a word so many times, in two segments; every seventh is deleted again.
fn index(counts: &[usize]) -> (Searcher, TermQuery) {
    let mut schema = Schema::builder();
    let (text, place) = (schema.add_text_field("text", TEXT), schema.add_text_field("place", TEXT));
    let index = Index::create_in_ram(schema.build());
    let mut writer = index.writer_with_num_threads(1, 15_000_000).expect("a writer");
    for (nth, count) in counts.iter().enumerate() {
        let mut entry = TantivyDocument::new();
        entry.add_text(text, "cell ".repeat(*count));
        entry.add_text(place, format!("p{}", nth % 7));
        writer.add_document(entry).expect("added");
        if nth == counts.len() / 2 {
            writer.commit().expect("committed");
        }
    }
    writer.delete_term(Term::from_field_text(place, "p6"));
    writer.commit().expect("committed");
    let word = TermQuery::new(Term::from_field_text(text, "cell"), IndexRecordOption::WithFreqs);
    (index.reader().expect("a reader").searcher(), word)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn parts_have_each_document_once(sizes in prop::collection::vec(0_u32..50, 0..6), most in 1_u32..60) {
        let parts = parts(&sizes, most);
        let mut docs = Vec::new();
        for part in &parts {
            prop_assert!(!part.docs.is_empty() && part.docs.len() <= most as usize);
            docs.extend(part.docs.clone().map(|doc| (part.segment, doc)));
        }
        let all: Vec<_> = (0..).zip(&sizes).flat_map(|(nth, size)| (0..*size).map(move |doc| (nth, doc))).collect();
        prop_assert_eq!(docs, all);
    }

    #[test]
    fn walks_find_the_best_and_count_all(
        counts in prop::collection::vec(0_usize..4, 1..60),
        most in 1_u32..40,
        k in 1_usize..20,
    ) {
        let (searcher, word) = index(&counts);
        let weight = word.weight(EnableScoring::enabled_from_searcher(&searcher)).expect("a weight");
        let sizes: Vec<u32> = searcher.segment_readers().iter().map(SegmentReader::max_doc).collect();
        let mut best = Best::of(k);
        for part in &parts(&sizes, most) {
            best.join(walk(&*weight, &searcher, part, k).expect("walked"));
        }
        let (mut found, total) = best.end();
        let all = (TopDocs::with_limit(100).order_by_score(), Count);
        let (expected, count) = searcher.search(&word, &all).expect("found");
        prop_assert_eq!(total, count as u64);
        let mut expected: Vec<(DocAddress, f64)> =
            expected.into_iter().map(|(score, at)| (at, rounded(score))).collect();
        if let Some(last) = expected.get(k - 1).map(|(_, score)| *score) {
            expected.retain(|(_, score)| *score >= last);
        }
        found.sort_by_key(|(at, _)| *at);
        expected.sort_by_key(|(at, _)| *at);
        prop_assert_eq!(found, expected);
    }
}
