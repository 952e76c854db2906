//! All pictures with all kinds of numbers and texts.

mod inspect;
mod samples;

use super::{
    Side, bar, flow, forest, gauge, history, posterior, reliability, risk_coverage, screening, timeline,
};
use inspect::{check, texts_of};
use proptest::collection::vec;
use proptest::prelude::*;

/// Any number except NaN, often one of the corners.
fn number() -> impl Strategy<Value = f64> {
    let corners =
        [0.0, -0.0, 1.0, 0.5, -1.0, 1e-300, 1e300, f64::MAX, f64::MIN, f64::INFINITY, f64::NEG_INFINITY];
    prop_oneof![
        0.0_f64..=1.0,
        prop::sample::select(corners.to_vec()),
        prop::num::f64::ANY.prop_filter("NaN", |v| !v.is_nan())
    ]
}

fn parameter() -> impl Strategy<Value = f64> {
    prop_oneof![1.0_f64..20.0, 1.0_f64..1e4, number()]
}

fn count() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), 0_u64..20, any::<u64>()]
}

/// Ordinary and hostile labels.
fn words() -> impl Strategy<Value = String> {
    let hostile = [
        "<script>alert(1)</script>",
        "\"'><img src=x onerror=alert(1)>&amp;]]>",
        "\u{202e}dekcattA\u{2066}",
        "</title></svg>",
        "",
    ];
    prop_oneof![
        prop::sample::select(hostile.to_vec()).prop_map(str::to_owned),
        "\\PC{0,60}",
        "[a-zA-Zあ-ん一-龠 ]{0,120}",
        Just("W".repeat(10_000)),
    ]
}

fn side() -> impl Strategy<Value = Side> {
    prop::sample::select(&[Side::Supports, Side::Refutes, Side::Neutral][..])
}

fn event() -> impl Strategy<Value = history::Event> {
    prop_oneof![
        side().prop_map(history::Event::Judged),
        Just(history::Event::Person),
        Just(history::Event::Retracted)
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn posteriors_are_sound(alpha in parameter(), beta in parameter()) {
        let texts = samples::posterior();
        check("p", &posterior::picture("p", alpha, beta, &texts));
        check("t", &posterior::table(alpha, beta, &texts));
    }

    #[test]
    fn forests_are_sound(
        rows in vec((words(), any::<Option<i32>>(), side(), number()), 0..30),
        rest in (count(), number(), number()),
    ) {
        let row = |(label, year, side, weight): &(String, _, _, _)| (label.clone(), *year, *side, *weight);
        let rows: Vec<_> = rows.iter().map(row).collect();
        let rows: Vec<_> = rows.iter().map(|(label, year, side, weight)| {
            forest::Row { label, year: *year, side: *side, weight: *weight }
        }).collect();
        let rest = forest::Rest { sources: rest.0, supports: rest.1, refutes: rest.2 };
        check("f", &forest::picture("f", &rows, rest, &samples::forest()));
        check("t", &forest::table(&rows, rest, &samples::forest()));
    }

    #[test]
    fn bars_are_sound(supports in count(), neutral in count(), refutes in count(), unjudged in count()) {
        let counts = bar::Counts { supports, neutral, refutes, unjudged };
        check("b", &bar::picture("b", counts, &samples::bar()));
        check("t", &bar::table(counts, &samples::bar()));
    }

    #[test]
    fn gauges_are_sound(confidence in number(), uncertainty in number()) {
        check("g", &gauge::picture("g", confidence, uncertainty, &samples::gauge()));
    }

    #[test]
    fn reliability_diagrams_are_sound(
        bins in vec((number(), number(), count(), prop::option::of(number()), prop::option::of(number())), 0..20),
    ) {
        let bin = |(lower, upper, count, accuracy, confidence)| {
            reliability::Bin { lower, upper, count, accuracy, confidence }
        };
        let bins: Vec<_> = bins.into_iter().map(bin).collect();
        check("r", &reliability::picture("r", &bins, &samples::reliability()));
        check("t", &reliability::table(&bins, &samples::reliability()));
    }

    #[test]
    fn risk_coverage_curves_are_sound(points in vec((number(), number(), number()), 0..40)) {
        let point = |(threshold, coverage, risk)| risk_coverage::Point { threshold, coverage, risk };
        let points: Vec<_> = points.into_iter().map(point).collect();
        check("c", &risk_coverage::picture("c", &points, &samples::risk_coverage()));
        check("t", &risk_coverage::table(&points, &samples::risk_coverage()));
    }

    #[test]
    fn timelines_are_sound(
        years in vec((prop_oneof![1880..2030_i32, any::<i32>()], count(), count(), count(), count()), 0..60),
    ) {
        let year = |(year, supports, refutes, neutral, retracted)| {
            timeline::Year { year, supports, refutes, neutral, retracted }
        };
        let years: Vec<_> = years.into_iter().map(year).collect();
        check("y", &timeline::picture("y", &years, None, &samples::timeline()));
        check("t", &timeline::table(&years, &samples::timeline()));
    }

    #[test]
    fn histories_are_sound(points in vec((words(), number(), number(), event()), 0..120)) {
        let points: Vec<_> = points.iter().map(|(time, confidence, uncertainty, event)| {
            history::Point { time, confidence: *confidence, uncertainty: *uncertainty, event: *event }
        }).collect();
        check("h", &history::picture("h", &points, &samples::history()));
        check("t", &history::table(&points, &samples::history()));
    }

    #[test]
    fn curves_of_screening_are_sound(
        points in vec((count(), count()), 0..60), documents in count(), relevant in number(),
    ) {
        let points: Vec<_> =
            points.into_iter().map(|(screened, included)| screening::Point { screened, included }).collect();
        let expected = screening::Expected { documents, relevant };
        check("s", &screening::picture("s", &points, expected, &samples::screening()));
        check("t", &screening::table(&points, expected, &samples::screening()));
    }

    #[test]
    fn flows_are_sound(
        rows in vec((vec((words(), words()), 0..40), prop::option::of(vec((words(), words()), 0..9)), any::<bool>()), 0..25),
    ) {
        let block = |lines: Vec<(String, String)>| {
            flow::Block(lines.into_iter().map(|(text, count)| flow::Line { text, count }).collect())
        };
        let rows: Vec<_> = rows
            .into_iter()
            .map(|(left, right, joins)| flow::Row { left: block(left), right: right.map(block), joins })
            .collect();
        check("l", &flow::picture("l", &rows, &samples::flow()));
        check("t", &flow::table(&rows, &samples::flow()));
    }

    #[test]
    fn ids_begin_with_the_prefix(prefix in "\\PC{0,30}") {
        let written = posterior::picture(&prefix, 2.0, 3.0, &samples::posterior());
        inspect::check_with_plain_prefix(&written);
    }
}

#[test]
fn two_pictures_share_no_id() {
    let counts = bar::Counts { supports: 1, neutral: 2, refutes: 3, unjudged: 4 };
    let both = maud::html! {
        div {
            (bar::picture("a", counts, &samples::bar()))
            (bar::picture("b", counts, &samples::bar()))
            (forest::picture("c", &[], forest::Rest::default(), &samples::forest()))
            (timeline::picture("d", &[], None, &samples::timeline()))
        }
    };
    inspect::check_ids(&both);
}

#[test]
fn hostile_labels_are_escaped_and_shortened() {
    let long = "x".repeat(10_000);
    for label in ["<script>alert('1')</script>", "\"><svg onload=alert(1)>", "\u{202e}cod.exe\u{2069}", &long]
    {
        let row = forest::Row { label, year: None, side: Side::Supports, weight: 0.5 };
        let picture = forest::picture("f", &[row], forest::Rest::default(), &samples::forest());
        let table = forest::table(&[row], forest::Rest::default(), &samples::forest());
        check("f", &picture);
        check("t", &table);
        for markup in [picture.into_string(), table.into_string()] {
            assert!(!markup.contains("<script") && !markup.contains("<svg onload"), "{markup}");
            assert!(!markup.contains(['\u{202e}', '\u{2069}']), "{markup}");
            assert!(!markup.contains(&"x".repeat(400)), "{}", markup.len());
        }
    }
}

#[test]
fn the_last_row_of_a_forest_is_the_posterior_of_the_claim() {
    use lyra_domain::{BetaConfidence, Probability, Relation};
    let judged = [
        (Relation::Supports, 0.9),
        (Relation::Refutes, 0.6),
        (Relation::Neutral, 0.8),
        (Relation::Supports, 0.7),
    ];
    let side = |relation| match relation {
        Relation::Supports => Side::Supports,
        Relation::Refutes => Side::Refutes,
        _ => Side::Neutral,
    };
    let row = |(relation, weight)| forest::Row { label: "a", year: Some(2001), side: side(relation), weight };
    let rows = judged.map(row);
    let claim =
        BetaConfidence::from_edges(judged.map(|(relation, weight)| (relation, Probability::clamped(weight))));
    let shown = forest::picture("f", &rows, forest::Rest::default(), &samples::forest());
    let last = texts_of(&shown).into_iter().rfind(|text| text.contains('[')).unwrap_or_default();
    assert!(
        last.starts_with(&format!("{:.2} [", claim.confidence())),
        "{last} is not {}",
        claim.confidence()
    );

    // The same sources, one listed and three summed.
    let rest = forest::Rest { sources: 3, supports: 0.7, refutes: 0.6 };
    let summed = forest::picture("f", &rows[..1], rest, &samples::forest());
    assert_eq!(texts_of(&summed).into_iter().rfind(|text| text.contains('[')), Some(last));
}

#[test]
fn sources_beyond_the_rows_of_a_forest_are_summed() {
    let row = forest::Row { label: "a", year: None, side: Side::Refutes, weight: 0.5 };
    let rows = vec![row; forest::ROWS + 40];
    let rest = forest::Rest { sources: 2, supports: 0.0, refutes: 1.0 };
    let shown = forest::picture("f", &rows, rest, &samples::forest());
    check("f", &shown);
    let texts = texts_of(&shown);
    assert!(texts.contains(&"rest (42)".to_owned()) && texts.contains(&"21.00".to_owned()), "{texts:?}");
}

#[test]
fn a_single_refutation_among_thousands_is_visible() {
    let counts = bar::Counts { supports: 40_000, refutes: 1, ..bar::Counts::default() };
    let shown = bar::picture("b", counts, &samples::bar()).into_string();
    assert!(shown.contains("x=\"98.52%\" y=\"0\" width=\"1.48%\""), "{shown}");
}

#[test]
fn years_before_the_first_shown_are_summed_in_it() {
    let year = |year, supports| timeline::Year { year, supports, refutes: 0, neutral: 0, retracted: 0 };
    let years = [year(1700, 3), year(1850, 4), year(2020, 1)];
    let shown = timeline::picture("y", &years, None, &samples::timeline());
    assert!(shown.0.contains("<title>≤ 1901: ▲ 7</title>"), "{}", shown.0);
    assert!(texts_of(&shown).contains(&"≤ 1901".to_owned()));
}
