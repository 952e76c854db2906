use super::*;
use proptest::prelude::*;

fn answer(claim: usize, gold: Label, said: Label, confidence: f64) -> LabeledAnswer {
    let rest = (1.0 - confidence) / 2.0;
    let p = |label: Label| if label == said { confidence } else { rest };
    let scores =
        NliScores { supports: p(Label::Support), refutes: p(Label::Refute), neutral: p(Label::Neutral) };
    LabeledAnswer {
        gold,
        said,
        scores: Some(scores),
        confidence,
        claim,
        kind: None,
        chosen: Vec::new(),
        rationales: None,
    }
}

fn near(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-4, "{a} is not {b}");
}

/// Six answers on four claims: SUPPORT right twice and once called NEI, REFUTE called SUPPORT, NEI right and called REFUTE.
fn six() -> Vec<LabeledAnswer> {
    use Label::{Neutral, Refute, Support};
    vec![
        answer(0, Support, Support, 0.9),
        answer(0, Neutral, Neutral, 0.7),
        answer(1, Support, Support, 0.8),
        answer(1, Support, Neutral, 0.6),
        answer(2, Refute, Support, 0.95),
        answer(3, Neutral, Refute, 0.5),
    ]
}

#[test]
fn figures_by_hand() {
    let figures = Figures::of(&six(), 1);
    assert_eq!((figures.n, figures.claims, figures.not_judged), (6, 4, 0));
    assert_eq!(figures.confusion, [[2, 0, 1], [1, 0, 0], [0, 1, 1]]);
    near(figures.accuracy.value, 0.5);
    // Wilson's interval of 3 of 6.
    near(figures.accuracy.low, 0.1876);
    near(figures.accuracy.high, 0.8124);
    assert_eq!((figures.majority.label, figures.majority.accuracy.count), (Label::Support, 3));
    assert_eq!(figures.sides.counts, Counts { right: 2, predicted: 4, gold: 4 });
    near(figures.sides.f1.value, 0.5);
    let f1 = |label: Label| figures.labels[label.name()].f1.value;
    near(f1(Label::Support), 2.0 / 3.0);
    near(f1(Label::Refute), 0.0);
    near(f1(Label::Neutral), 0.5);
    near(figures.macro_f1.value, (2.0 / 3.0 + 0.5) / 3.0);
    // Two claims have two passages; all of one are right.
    let groups = figures.groups.expect("groups");
    assert_eq!((groups.count, groups.of), (1, 2));
    assert!(figures.rationale.is_none());
    assert!(figures.kinds.is_empty());
    // |right − confidence| in six bins of one answer each: 0.1, 0.3, 0.2, 0.6, 0.95, 0.5; 0.9 and 0.95 lie in two bins.
    near(figures.calibration.ece, (0.1 + 0.3 + 0.2 + 0.6 + 0.95 + 0.5) / 6.0);
    let at = figures.risk.iter().find(|risk| (risk.threshold - 0.8).abs() < 1e-9).expect("0.8");
    assert_eq!((at.coverage.count, at.risk.count, at.sides.count, at.sides_risk.count), (3, 1, 3, 1));
}

#[test]
fn what_was_not_judged_is_neutral_and_covers_nothing() {
    let mut answers = six();
    answers[0] = LabeledAnswer { said: Label::Neutral, scores: None, confidence: 0.0, ..answers[0].clone() };
    let figures = Figures::of(&answers, 1);
    assert_eq!((figures.not_judged, figures.calibration.samples), (1, 5));
    assert_eq!((figures.accuracy.count, figures.risk[0].coverage.count), (2, 5));
}

#[test]
fn sentences_count_by_whole_rationales() {
    let check = |chosen: &[usize], rationales: &[Vec<usize>], expect: (usize, usize, usize)| {
        let counts = Counts::of_sentences(chosen, rationales);
        assert_eq!((counts.right, counts.predicted, counts.gold), expect);
    };
    check(&[1, 2], &[vec![1]], (1, 2, 1));
    check(&[1], &[vec![1, 2]], (0, 1, 2));
    check(&[1, 2], &[vec![1, 2], vec![5]], (2, 2, 3));
    check(&[], &[vec![3]], (0, 0, 1));
}

#[test]
fn a_rationale_with_the_wrong_label_counts_as_found_only() {
    let with = |said: Label, chosen: &[usize]| LabeledAnswer {
        chosen: chosen.to_vec(),
        rationales: Some(vec![vec![1]]),
        ..answer(0, Label::Support, said, 0.9)
    };
    let tally = Tally::of(&with(Label::Refute, &[1]));
    assert_eq!((tally.sentences.right, tally.sentences_with_label.right), (1, 0));
    assert_eq!(tally.sides_with_rationale, Counts { right: 0, predicted: 1, gold: 1 });
    // The fourth sentence comes too late.
    let tally = Tally::of(&with(Label::Support, &[5, 6, 7, 1]));
    assert_eq!((tally.sentences.right, tally.sides_with_rationale.right), (1, 0));
    assert_eq!(Tally::of(&with(Label::Support, &[5, 1])).sides_with_rationale.right, 1);
}

#[test]
fn without_answers_nothing_is_claimed() {
    let figures = Figures::of(&[], 1);
    assert_eq!((figures.n, figures.accuracy.low, figures.accuracy.high), (0, 0.0, 1.0));
}

#[test]
fn wilson_by_hand() {
    let share = wilson(9, 10);
    near(share.low, 0.5958);
    near(share.high, 0.9821);
    assert_eq!((wilson(0, 20).low, wilson(20, 20).high), (0.0, 1.0));
}

fn label() -> impl Strategy<Value = Label> {
    prop_oneof![Just(Label::Support), Just(Label::Refute), Just(Label::Neutral)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn intervals_hold_their_value(right in 0_usize..500, wrong in 0_usize..500) {
        let share = wilson(right, right + wrong);
        prop_assert!(share.low <= share.value || right + wrong == 0);
        prop_assert!(share.value <= share.high && (0.0..=1.0).contains(&share.low) && share.high <= 1.0);
    }

    #[test]
    fn figures_agree_with_each_other(
        given in prop::collection::vec((0_usize..8, label(), label(), 0.34_f64..1.0), 1..40),
        seed: u64,
    ) {
        let answers: Vec<LabeledAnswer> =
            given.iter().map(|&(claim, gold, said, confidence)| answer(claim, gold, said, confidence)).collect();
        let figures = Figures::of(&answers, seed);
        let diagonal: usize = (0..3).map(|i| figures.confusion[i][i]).sum();
        prop_assert_eq!(figures.accuracy.count, diagonal);
        prop_assert_eq!(figures.confusion.iter().flatten().sum::<usize>(), figures.n);
        prop_assert!(figures.majority.accuracy.value >= 1.0 / 3.0 - 1e-9);
        prop_assert!((0.0..=1.0).contains(&figures.calibration.ece));
        prop_assert!(figures.risk.windows(2).all(|pair| pair[0].coverage.count >= pair[1].coverage.count));
        prop_assert_eq!(figures.clone(), Figures::of(&answers, seed));
        let (low, high) = (figures.sides.f1.low, figures.sides.f1.high);
        prop_assert!(0.0 <= low && low <= high && high <= 1.0);
    }
}
