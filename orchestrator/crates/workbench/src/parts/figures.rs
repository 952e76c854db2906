//! Pictures with their words, each with the table that it shows.

use crate::pictures::{Side, bar, forest, posterior};
use crate::words::Words;
use lyra_domain::{BetaConfidence, ClaimReport, Evidence, Relation};
use maud::{Markup, html};
use std::collections::BTreeMap;

/// How passages are spread over the sides.
pub(crate) fn spread(words: Words, id: &str, counts: bar::Counts) -> Markup {
    let number = |n| words.number(n);
    let title = words.with(
        "figures.spread",
        &[
            ("supports", &number(counts.supports)),
            ("neutral", &number(counts.neutral)),
            ("refutes", &number(counts.refutes)),
            ("unjudged", &number(counts.unjudged)),
        ],
    );
    let texts = bar::Texts {
        title: &title,
        description: words.t("figures.spread_description"),
        relation: words.t("figures.relation"),
        passages: words.t("figures.passages"),
        supports: words.t("common.supports"),
        neutral: words.t("common.neutral"),
        refutes: words.t("common.refutes"),
        unjudged: words.t("common.not_judged"),
    };
    bar::picture(id, counts, &texts)
}

/// The posterior of a claim as a curve.
pub(crate) fn curve(words: Words, id: &str, BetaConfidence { alpha, beta }: BetaConfidence) -> Markup {
    let texts = posterior::Texts {
        title: words.t("figures.posterior"),
        description: words.t("figures.posterior_description"),
        probability: words.t("figures.probability"),
        density: words.t("figures.density"),
        mean: words.t("figures.mean"),
        interval: words.t("figures.interval"),
        prior: words.t("figures.prior"),
        deviation: words.t("figures.deviation"),
        alpha: "α",
        beta: "β",
        quantity: words.t("figures.quantity"),
        value: words.t("figures.value"),
    };
    figure(words, id, &posterior::picture(id, alpha, beta, &texts), &posterior::table(alpha, beta, &texts))
}

/// What each work adds to the confidence, the oldest first. Nothing where no work takes a side.
pub(crate) fn sources(words: Words, id: &str, report: &ClaimReport) -> Option<Markup> {
    let works = works(report);
    let rows: Vec<forest::Row<'_>> = works.iter().map(|evidence| row(words, evidence)).collect();
    let texts = forest::Texts {
        title: words.t("figures.sources"),
        description: words.t("figures.sources_description"),
        source: words.t("figures.source"),
        year: words.t("figures.year"),
        side: words.t("figures.relation"),
        weight: words.t("figures.weight"),
        supports: words.t("common.supports"),
        refutes: words.t("common.refutes"),
        neutral: words.t("common.neutral"),
        confidence: words.t("common.confidence"),
        interval: words.t("figures.interval"),
        posterior: words.t("figures.all_sources"),
        rest: words.t("figures.rest"),
    };
    let rest = forest::Rest::default();
    (!rows.is_empty()).then(|| {
        figure(words, id, &forest::picture(id, &rows, rest, &texts), &forest::table(&rows, rest, &texts))
    })
}

/// A picture with the table that it shows, to open.
pub(crate) fn figure(words: Words, id: &str, picture: &Markup, table: &Markup) -> Markup {
    html! {
        figure.figure {
            div.drawing { (picture) }
            details id=(format!("{id}-table")) {
                summary.small { (words.t("figures.as_table")) }
                div.table tabindex="0" role="group" aria-label=(words.t("figures.as_table")) { (table) }
            }
        }
    }
}

/// The passage that counts of each work that takes a side, as in [`BetaConfidence::of_works`]: the surest, and the
/// refuting one when both sides are equally sure.
fn works(report: &ClaimReport) -> Vec<&Evidence> {
    let mut surest: BTreeMap<&str, &Evidence> = BTreeMap::new();
    let sided = |evidence: &&Evidence| matches!(evidence.relation, Relation::Supports | Relation::Refutes);
    for evidence in report.evidence.iter().filter(sided) {
        let known = surest.entry(evidence.work_key()).or_insert(evidence);
        let (new, old) = (evidence.nli_confidence, known.nli_confidence);
        if new > old || (new == old && evidence.relation == Relation::Refutes) {
            *known = evidence;
        }
    }
    let mut works: Vec<&Evidence> = surest.into_values().collect();
    works.sort_by_key(|evidence| (evidence.year.unwrap_or(i32::MAX), &evidence.title, &evidence.edge_id));
    works
}

fn row(words: Words, evidence: &Evidence) -> forest::Row<'_> {
    forest::Row {
        label: if evidence.title.is_empty() { words.t("common.untitled") } else { &evidence.title },
        year: evidence.year,
        side: if evidence.relation == Relation::Supports { Side::Supports } else { Side::Refutes },
        weight: evidence.nli_confidence.get(),
    }
}
