//! Two rankings on the same judgments.

mod prior;

use lyra_fusion::RankedDocs;
use lyra_fusion::estimate::{Interval, paired};
use prior::PRIOR;

fn ranked(docs: impl Iterator<Item = usize>) -> RankedDocs {
    RankedDocs::new(docs.map(|doc| (format!("d{doc}"), 1.0, Vec::new())))
}

#[test]
fn the_better_ranking_is_better_and_equal_ones_are_equal() {
    // Even documents are relevant; the first ranking has them on top.
    let (good, bad) = (ranked((0..40).map(|n| n * 2)), ranked((0..40).map(|n| n * 2 + 1)));
    let first = |count: usize| {
        move |id: &str| {
            let doc: usize = id[1..].parse().unwrap();
            (doc < count).then_some(1.0 - (doc % 2) as f64)
        }
    };
    let compared = paired(&PRIOR, [&good, &bad], 20, first(20)).unwrap();
    assert!(compared.judged == 20 && compared.precision.difference.low > 0.0, "{compared:?}");
    let turned = paired(&PRIOR, [&bad, &good], 20, first(20)).unwrap();
    assert!(turned.precision.difference.high < 0.0 && turned.recall.difference.high < 0.0, "{turned:?}");
    let same = paired(&PRIOR, [&good, &good], 20, first(20)).unwrap();
    assert_eq!(same.precision.difference, Interval::default());
    assert_eq!(paired(&PRIOR, [&good, &bad], 20, first(9)), None);
}
