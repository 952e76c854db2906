use super::*;
use proptest::prelude::*;
use std::fs;

fn read(text: &str) -> Result<LabelledSet, AppError> {
    let folder = tempfile::tempdir().expect("temporary folder");
    let file = folder.path().join("set.jsonl");
    fs::write(&file, text).expect("written");
    Ok(LabelledSet::read(&file)?.remove(0))
}

#[track_caller]
fn refused(text: &str, line: usize, what: &str, right: &str) {
    let error = read(text).expect_err("it was read");
    assert!(error.message.contains(&format!("set.jsonl, line {line}: ")), "{}", error.message);
    assert!(error.message.contains(what), "{}", error.message);
    let advice = error.remedy.as_ref().and_then(Remedy::advice);
    assert!(advice.unwrap_or_default().contains(right), "{:?}", error.remedy);
}

#[test]
fn every_usual_form_is_read() {
    let set = read(
        r#"{"claim": "A", "label": "SUPPORT", "sentences": ["One.", "Two."], "rationale": [1], "kind": "k", "id": 7}
{"premise": "One. Two.", "hypothesis": "B", "label": "contradiction", "src": "x"}

{"claim": "A", "label": "not_enough_info", "passage": "Three."}
{"claim": "C", "label": "Supports", "sentences": ["One.", "Two."], "rationale": [[0, 1]], "group": "A"}
"#,
    )
    .expect("read");
    let of = |i: usize| (set.items[i].claim.as_str(), set.items[i].label, set.items[i].group);
    // Passages of one claim, or of one group, belong together.
    assert_eq!(of(0), ("A", Label::Support, 0));
    assert_eq!(of(1), ("A", Label::Neutral, 0));
    assert_eq!(of(2), ("C", Label::Support, 0));
    assert_eq!(of(3), ("B", Label::Refute, 1));
    assert_eq!((set.items[0].id.as_str(), set.items[3].id.as_str()), ("7", "2"));
    assert_eq!(set.items[0].rationales, Some(vec![vec![1]]));
    assert_eq!(set.items[1].rationales, Some(vec![]));
    assert_eq!(set.items[2].rationales, Some(vec![vec![0, 1]]));
    assert_eq!(set.items[3].rationales, None);
    assert_eq!(set.items[3].passage.sentences, ["One.", "Two."]);
}

#[test]
fn a_wrong_line_is_named_with_what_would_be_right() {
    let good = "{\"claim\": \"A\", \"label\": \"NEI\", \"passage\": \"One.\"}\n";
    let after = |line: &str| format!("{good}\n{line}\n");
    refused(&after("{\"claim\": \"A\""), 3, "it cannot be read", "one JSON object per line");
    refused(&after("{\"claim\": 3}"), 3, "expected a string", "one JSON object per line");
    refused(&after(r#"{"label": "NEI", "passage": "x"}"#), 3, "no `claim`", "\"claim\"");
    refused(&after(r#"{"claim": "A", "passage": "x"}"#), 3, "no `label`", "SUPPORT");
    refused(
        &after(r#"{"claim": "A", "label": "maybe", "passage": "x"}"#),
        3,
        "`maybe` is not a label",
        "SUPPORT, REFUTE or NEI",
    );
    refused(&after(r#"{"claim": "A", "label": "NEI"}"#), 3, "no text", "\"sentences\"");
    refused(
        &after(r#"{"claim": "A", "label": "NEI", "passage": "x", "sentences": ["x"]}"#),
        3,
        "and `passage`",
        "one",
    );
    refused(&after(r#"{"claim": "A", "label": "NEI", "sentences": [" "]}"#), 3, "passage is empty", "text");
    refused(
        &after(r#"{"claim": "A", "label": "SUPPORT", "sentences": ["x", "y"], "rationale": [2]}"#),
        3,
        "names sentence 2",
        "0 to 1",
    );
}

#[test]
fn an_empty_file_and_a_missing_one_are_refused() {
    assert!(read("\n\n").expect_err("empty").message.contains("no labeled passages"));
    let error = LabelledSet::read(Path::new("/does/not/exist.jsonl")).expect_err("missing");
    assert!(error.message.contains("exist.jsonl cannot be read"), "{}", error.message);
}

fn scifact(claim: &str) -> Result<LabelledSet, AppError> {
    let folder = tempfile::tempdir().expect("temporary folder");
    let corpus = "{\"doc_id\": 1, \"title\": \"T\", \"abstract\": [\"One.\", \"Two.\"]}\n{\"doc_id\": 2, \"title\": \
        \"U\", \"abstract\": [\"Three.\"]}\n";
    fs::write(folder.path().join("corpus.jsonl"), corpus).expect("written");
    fs::write(folder.path().join("claims_dev.jsonl"), claim).expect("written");
    Ok(LabelledSet::read(folder.path())?.remove(0))
}

#[test]
fn a_cited_abstract_without_evidence_is_neutral() {
    let set = scifact(
        r#"{"id": 5, "claim": "A", "evidence": {"1": [{"sentences": [0], "label": "CONTRADICT"}, {"sentences": [0, 1], "label": "CONTRADICT"}]}, "cited_doc_ids": [1, 2]}"#,
    )
    .expect("read");
    let labels: Vec<(&str, Label)> = set.items.iter().map(|item| (item.id.as_str(), item.label)).collect();
    assert_eq!(labels, [("5:1", Label::Refute), ("5:2", Label::Neutral)]);
    assert_eq!(set.items[0].rationales, Some(vec![vec![0], vec![0, 1]]));
    assert_eq!(set.abstracts.expect("abstracts").claims.len(), 1);
}

#[test]
fn claims_that_do_not_fit_their_corpus_are_refused() {
    let check = |claim: &str, what: &str| {
        let error = scifact(claim).expect_err("it was read");
        assert!(error.message.contains("line 1") && error.message.contains(what), "{}", error.message);
    };
    check(r#"{"claim": "A", "evidence": {}, "cited_doc_ids": [9]}"#, "document 9 is not in corpus.jsonl");
    check(
        r#"{"claim": "A", "evidence": {"1": [{"sentences": [2], "label": "SUPPORT"}]}}"#,
        "names sentence 2 of document 1",
    );
    check(
        r#"{"claim": "A", "evidence": {"1": [{"sentences": [0], "label": "NEI"}]}}"#,
        "`NEI` is not a label",
    );
}

proptest! {
    #[test]
    fn a_limit_keeps_whole_claims_and_strangers_are_strange(
        claims in prop::collection::vec((0_u8..6, 0_u8..4), 1..30),
        limit in 1_usize..8,
    ) {
        let lines = claims.iter().map(|(claim, document)| {
            format!("{{\"claim\": \"c{claim}\", \"label\": \"NEI\", \"passage\": \"Text {document}.\"}}\n")
        });
        let text = lines.collect::<Vec<_>>().concat();
        let whole = read(&text).expect("read");
        let mut set = whole.clone();
        set.limit(limit);
        let groups: std::collections::BTreeSet<usize> = set.items.iter().map(|item| item.group).collect();
        let all: std::collections::BTreeSet<usize> = whole.items.iter().map(|item| item.group).collect();
        prop_assert_eq!(groups.len(), limit.min(all.len()));
        let kept = whole.items.iter().filter(|item| groups.contains(&item.group)).count();
        prop_assert_eq!(kept, set.items.len());
        for (item, stranger) in whole.items.iter().zip(whole.strangers()) {
            if let Some(stranger) = stranger {
                prop_assert!(stranger.document != item.passage.document);
            }
        }
    }
}
