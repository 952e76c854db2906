//! Pictures with their words, each with the table that it shows.

use crate::pictures::{Side, bar, forest, history, posterior, timeline};
use crate::words::Words;
use lyra_domain::{BetaConfidence, Change, ClaimReport, Evidence, Moment, Occurrence, Relation};
use lyra_store::EvidenceYear;
use maud::{Markup, html};

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
    let works = works_with_a_side(report);
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

/// Works by year of publication and side, whose years lead to what `address` gives. Works of unknown year are not drawn.
pub(crate) fn years(
    words: Words,
    id: &str,
    years: &[EvidenceYear],
    address: timeline::Address<'_>,
) -> Markup {
    let texts = timeline::Texts {
        title: words.t("timeline.years"),
        description: words.t("timeline.years_description"),
        year: words.t("figures.year"),
        supports: words.t("common.supports"),
        refutes: words.t("common.refutes"),
        neutral: words.t("common.neutral"),
        retracted: words.t("common.retracted"),
    };
    let dated = years.iter().filter_map(|of| {
        Some(timeline::Year {
            year: of.year?,
            supports: of.supporting,
            refutes: of.refuting,
            neutral: of.neutral,
            retracted: of.retracted,
        })
    });
    let dated: Vec<timeline::Year> = dated.collect();
    figure(words, id, &timeline::picture(id, &dated, Some(address), &texts), &timeline::table(&dated, &texts))
}

/// How the confidence of a claim moved.
pub(crate) fn moved(words: Words, id: &str, moments: &[Moment]) -> Markup {
    let texts = history::Texts {
        title: words.t("timeline.moved"),
        description: words.t("timeline.moved_description"),
        time: words.t("timeline.time"),
        event: words.t("timeline.event"),
        confidence: words.t("common.confidence"),
        uncertainty: words.t("common.uncertainty"),
        supports: words.t("common.supports"),
        refutes: words.t("common.refutes"),
        neutral: words.t("common.neutral"),
        person: words.t("timeline.person"),
        retracted: words.t("common.retracted"),
    };
    let times: Vec<String> =
        moments.iter().map(|moment| moment.at.get(..16).unwrap_or(&moment.at).replace('T', " ")).collect();
    let points: Vec<history::Point<'_>> = moments
        .iter()
        .zip(&times)
        .map(|(moment, time)| history::Point {
            time,
            confidence: moment.posterior.confidence(),
            uncertainty: moment.posterior.uncertainty(),
            event: event(&moment.what),
        })
        .collect();
    figure(words, id, &history::picture(id, &points, &texts), &history::table(&points, &texts))
}

fn event(what: &Occurrence) -> history::Event {
    match what {
        Occurrence::Judged(_, Relation::Supports) => history::Event::Judged(Side::Supports),
        Occurrence::Judged(_, Relation::Refutes) => history::Event::Judged(Side::Refutes),
        Occurrence::Judged(..) => history::Event::Judged(Side::Neutral),
        Occurrence::Changed(Change::Retracted(_)) => history::Event::Retracted,
        Occurrence::Changed(_) => history::Event::Person,
    }
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

/// The passages that count of the works that take a side, the oldest work first.
fn works_with_a_side(report: &ClaimReport) -> Vec<&Evidence> {
    let counting = report.by_work().into_values();
    let mut works: Vec<&Evidence> =
        counting.filter(|evidence| evidence.relation != Relation::Neutral).collect();
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
