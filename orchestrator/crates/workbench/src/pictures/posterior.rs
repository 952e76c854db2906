//! The posterior of a claim: Beta(α, β) as a curve, with its mean and its 90 % credible interval.

use super::beta::Beta;
use super::frame::{Anchor, Ids, Sample, Size, area, curve, dashes, entry, figure, kept, line, svg, text};
use super::scale::{Scale, points};
use super::{glyph, label, table};
use maud::{Markup, html};

const SIZE: Size = Size(520.0, 214.0);
const LEFT: f64 = 16.0;
const RIGHT: f64 = 504.0;
const TOP: f64 = 26.0;
const BASE: f64 = 164.0;
/// Points of the curve over all of [0, 1], and as many again where the density is concentrated.
const POINTS: u32 = 160;

/// What the picture and its table say.
#[derive(Debug, Clone, Copy)]
pub struct Texts<'a> {
    /// Name of the picture; also the caption of the table.
    pub title: &'a str,
    /// What the picture shows, in a sentence.
    pub description: &'a str,
    /// The horizontal axis: the probability that the claim is true.
    pub probability: &'a str,
    /// The curve: density of the posterior.
    pub density: &'a str,
    /// The posterior mean.
    pub mean: &'a str,
    /// The 90 % credible interval.
    pub interval: &'a str,
    /// The flat prior.
    pub prior: &'a str,
    /// The posterior standard deviation.
    pub deviation: &'a str,
    /// The parameter α.
    pub alpha: &'a str,
    /// The parameter β.
    pub beta: &'a str,
    /// Head of the table's column of names.
    pub quantity: &'a str,
    /// Head of the table's column of numbers.
    pub value: &'a str,
}

/// The density on [0, 1], scaled to its peak, with the mean, the equal-tailed 90 % interval, and the flat prior.
///
/// `id` begins the ids of the picture and is unique in the page. `alpha` and `beta` are ≥ 1; above 10⁶ both shrink in
/// proportion.
pub fn picture(id: &str, alpha: f64, beta: f64, texts: &Texts<'_>) -> Markup {
    let ids = Ids::new(id);
    let shape = Beta::new(alpha, beta);
    let (low, high) = shape.interval();
    let mean = shape.mean();
    let peak = shape.ln_density(shape.mode());
    let (x, y) = (Scale::unit((LEFT, RIGHT)), Scale::unit((BASE, TOP)));
    let height = |at: f64| (shape.ln_density(at) - peak).exp();
    let place = |at: &f64| (x.at(*at), y.at(height(*at)));
    let places = sampled(&shape, low, high);
    let inside = places.iter().filter(|at| (low..=high).contains(*at));
    let shaded = std::iter::once((x.at(low), BASE)).chain(inside.map(place)).chain([(x.at(high), BASE)]);
    let prior = y.at((-peak).exp());
    let decimals = decimals(low, high);
    let written = label::share(mean, decimals);
    let drawn = html! {
        (area(&points(shaded)))
        (dashes("axis", (LEFT, prior), (RIGHT, prior)))
        (axis(&x, BASE, texts.probability))
        (curve("curve", &points(places.iter().map(place)), 1.5))
        (line("mark", (x.at(mean), TOP - 5.0), (x.at(mean), BASE), 1.0))
        (line("curve", (x.at(low), BASE), (x.at(high), BASE), 3.0))
        (glyph::dot(x.at(mean), BASE))
        (text(kept(x.at(mean), &written, LEFT, RIGHT), TOP - 10.0, Anchor::Middle, &written))
    };
    let legend = html! {
        (entry(Sample::Curve, texts.density))
        (entry(Sample::Dot, &format!("{} {written}", texts.mean)))
        (entry(Sample::Interval, &format!("{} {}", texts.interval, label::range(low, high, decimals))))
        (entry(Sample::Dashes, texts.prior))
    };
    figure(&svg(&ids, SIZE, texts.title, texts.description, &drawn), &legend)
}

/// Parameters, mean, standard deviation, and interval.
pub fn table(alpha: f64, beta: f64, texts: &Texts<'_>) -> Markup {
    let shape = Beta::new(alpha, beta);
    let (low, high) = shape.interval();
    let rows = [
        (texts.alpha, label::weight(alpha.max(1.0))),
        (texts.beta, label::weight(beta.max(1.0))),
        (texts.mean, label::share(shape.mean(), 4)),
        (texts.deviation, label::share(shape.deviation(), 4)),
        (texts.interval, label::range(low, high, 4)),
    ];
    table::table(
        texts.title,
        [texts.quantity, texts.value],
        rows.map(|(name, value)| [name.to_owned(), value]),
    )
}

/// Decimals that tell the ends of the interval apart: two for most claims, four at most.
fn decimals(low: f64, high: f64) -> usize {
    [(0.05, 2), (0.005, 3)]
        .into_iter()
        .find(|(width, _)| high - low >= *width)
        .map_or(4, |(_, decimals)| decimals)
}

/// Where the curve is computed, ascending: everywhere, and closely around the mean, the ends of the interval, and the
/// peak.
fn sampled(shape: &Beta, low: f64, high: f64) -> Vec<f64> {
    let evenly = (0..=POINTS).map(|i| f64::from(i) / f64::from(POINTS));
    let (mean, reach) = (shape.mean(), 5.0 * shape.deviation());
    let near = evenly.clone().map(|share| (mean + (2.0 * share - 1.0) * reach).clamp(0.0, 1.0));
    let mut places: Vec<f64> = evenly.chain(near).chain([low, high, shape.mode()]).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    places
}

/// The axis of a probability: a line at `base`, ticks in quarters, and its name below.
fn axis(x: &Scale, base: f64, name: &str) -> Markup {
    let (left, right) = (x.at(0.0), x.at(1.0));
    html! {
        (line("axis", (left, base), (right, base), 1.0))
        @for tick in [0.0, 0.25, 0.5, 0.75, 1.0] {
            @let written = format!("{tick}");
            (line("axis", (x.at(tick), base), (x.at(tick), base + 5.0), 1.0))
            (text(kept(x.at(tick), &written, left - 10.0, right + 10.0), base + 20.0, Anchor::Middle, &written))
        }
        (super::frame::fitted(f64::midpoint(left, right), base + 42.0, Anchor::Middle, name, right - left))
    }
}
