//! Passages as a verifier judges them.

use crate::support::Verifier;
use lyra_domain::Relation;
use lyra_research::{Against, ResearchConfig, Verdict, hold_against};

const CLAIM: &str = "Green tea reduces the attention span of students.";
const PASSAGE: &str =
    "Tea is old. Sixty students took part. Green tea lowered their attention span. All were paid.";

async fn held(verifier: &Verifier, config: &ResearchConfig, claim: &str, text: &str) -> Option<Verdict> {
    let against = Against { text, language: Some("en"), title: "Green tea and attention" };
    hold_against(verifier, config, claim, &[against]).await.unwrap().remove(0)
}

#[tokio::test]
async fn a_long_passage_is_read_in_parts_and_the_deciding_sentence_is_shown() {
    for reads in [1, 2, 3, 9] {
        let verifier = Verifier::reading(reads);
        let verdict = held(&verifier, &ResearchConfig::default(), CLAIM, PASSAGE).await.unwrap();
        assert_eq!(verdict.judgement.relation, Relation::Supports, "{reads}: {verdict:?}");
        assert_eq!(verdict.premise, "Green tea lowered their attention span.");
        assert_eq!(verdict.asked.len(), 4_usize.div_ceil(reads));
        // Two wordings, each with the title; the second part begins where the first one ended.
        let asked = verifier.asked.lock().unwrap();
        assert_eq!(asked.len(), 2 * 4_usize.div_ceil(reads));
        assert!(asked.iter().all(|item| item.title.as_deref() == Some("Green tea and attention")));
        assert_eq!(asked[0].sentences.len(), 4);
        assert!(asked.iter().any(|item| item.claim == "Green tea lowers the attention span of students."));
    }
}

#[tokio::test]
async fn so_many_parts_are_read_and_no_more() {
    let verifier = Verifier::reading(1);
    let text = "Nothing is said here. ".repeat(50);
    let config = ResearchConfig { two_wordings: false, ..ResearchConfig::default() };
    let verdict = held(&verifier, &config, CLAIM, &text).await.unwrap();
    assert_eq!((verdict.judgement.relation, verdict.asked.len()), (Relation::Neutral, 24), "windows");
    assert_eq!(verdict.judgement.confidence.get(), verdict.judgement.scores.neutral);
    // A passage that does not name the subject is read once, in parts.
    let claim = "Vitamin D deficiency is associated with multiple sclerosis.";
    let verdict = held(&verifier, &config, claim, &text).await.unwrap();
    assert_eq!((verdict.judgement.relation, verdict.asked.len()), (Relation::Neutral, 4), "parts");
    assert!(held(&Verifier::reading(0), &config, CLAIM, PASSAGE).await.is_none());
    assert!(held(&Verifier::reading(9), &config, CLAIM, " ").await.is_none());
}

#[tokio::test]
async fn a_side_needs_both_wordings() {
    // Only the claim's own word is in this passage.
    let text = "Green taxes are paid. This reduces debts.";
    let claim = "Green debts reduces nothing.";
    let one = ResearchConfig { two_wordings: false, ..ResearchConfig::default() };
    let verdict = held(&Verifier::reading(9), &one, claim, text).await.unwrap();
    assert_eq!(verdict.judgement.relation, Relation::Supports, "{verdict:?}");
    let verdict = held(&Verifier::reading(9), &ResearchConfig::default(), claim, text).await.unwrap();
    assert_eq!(verdict.judgement.relation, Relation::Neutral, "{verdict:?}");
    assert!(verdict.discrepancies.differs[0].starts_with("wording: "), "{verdict:?}");
}

#[tokio::test]
async fn the_threshold_of_the_configuration_wins_over_that_of_the_model() {
    let text = "Green tea lowered their attention span.";
    let relation = async |stated: Option<f64>, configured: Option<f64>| {
        let verifier = Verifier { threshold: stated, ..Verifier::reading(9) };
        let config = ResearchConfig { min_nli_confidence: configured, ..ResearchConfig::default() };
        held(&verifier, &config, CLAIM, text).await.unwrap().judgement.relation
    };
    assert_eq!(relation(None, None).await, Relation::Supports);
    assert_eq!(relation(Some(0.8), None).await, Relation::Neutral);
    assert_eq!(relation(Some(0.8), Some(0.6)).await, Relation::Supports);
    assert_eq!(relation(Some(0.4), Some(0.9)).await, Relation::Neutral);
}

#[tokio::test]
async fn no_side_is_taken_without_the_subject() {
    let claim = "Vitamin D deficiency is associated with multiple sclerosis.";
    let text = "Vitamin D deficiency was associated with mortality.";
    let verifier = Verifier::reading(9);
    let verdict = held(&verifier, &ResearchConfig::default(), claim, text).await.unwrap();
    // The second wording ("is linked to") is not read for a side that a rule takes away.
    assert_eq!(verifier.asked.lock().unwrap().len(), 1);
    assert_eq!(verdict.judgement.relation, Relation::Neutral);
    assert_eq!(verdict.discrepancies.missing, ["sclerosis"]);
    // The scores are still the model's.
    assert!(verdict.judgement.scores.supports > 0.6);
    assert_eq!(verdict.judgement.confidence.get(), verdict.judgement.scores.neutral);
}
