//! Evidence by year and side.

use super::frame::{Anchor, Ids, Sample, Size, bar, entry, figure, hatch, kept, line, linked_svg, svg, text};
use super::scale::{Px, Scale, round_step};
use super::{Side, glyph, label, table};
use maud::{Markup, html};
use std::collections::BTreeMap;

/// Years that the picture shows. What is earlier stands in the first of them, which then reads `≤ YEAR`.
pub const YEARS: i64 = 120;

const WIDTH: f64 = 680.0;
const LEFT: f64 = 48.0;
const RIGHT: f64 = 672.0;
/// Largest height of supports and refutes together, and of the neutral ones.
const SIDES: f64 = 150.0;
const NEUTRAL: f64 = 26.0;
/// Largest height of one work, so that a few works are drawn small.
const WORK: f64 = 22.0;
/// Height of the row of crosses.
const CROSSES: f64 = 18.0;
/// Bars are no wider than this.
const WIDEST: f64 = 16.0;

/// The works of one year.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Year {
    /// Year of publication.
    pub year: i32,
    /// Works that support the claim.
    pub supports: u64,
    /// Works that refute it.
    pub refutes: u64,
    /// Works that do neither.
    pub neutral: u64,
    /// Retracted ones among all of these.
    pub retracted: u64,
}

/// What the picture and its table say.
#[derive(Debug, Clone, Copy)]
pub struct Texts<'a> {
    /// Name of the picture; also the caption of the table.
    pub title: &'a str,
    /// What the picture shows, in a sentence.
    pub description: &'a str,
    /// Head of the table's column of years.
    pub year: &'a str,
    /// Supports.
    pub supports: &'a str,
    /// Refutes.
    pub refutes: &'a str,
    /// Neutral.
    pub neutral: &'a str,
    /// Retracted.
    pub retracted: &'a str,
}

/// The address of the works from one year to another; a first year of `None` means all before.
pub type Address<'a> = &'a dyn Fn(Option<i64>, i64) -> String;

/// Works of a slot of the picture.
#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    supports: f64,
    refutes: f64,
    neutral: f64,
    retracted: f64,
}

/// Bars by year: supports up, refutes down on the same scale, neutral ones below on a scale of their own, and a cross
/// above each year with a retracted work. Years without works leave a gap. Years may come in any order.
///
/// With `address`, each slot with a work that takes a side is a link to what that gives for its years: the first, `None`
/// for all before, and the last.
pub fn picture(id: &str, years: &[Year], address: Option<Address<'_>>, texts: &Texts<'_>) -> Markup {
    let ids = Ids::new(id);
    let newest = years.iter().map(|year| i64::from(year.year)).max().unwrap_or(0);
    let oldest = years.iter().map(|year| i64::from(year.year)).min().unwrap_or(0);
    let first = oldest.max(newest - YEARS + 1);
    let slots = slots(years, first);
    let largest = |of: fn(&Slot) -> f64| slots.values().map(of).fold(0.0, f64::max);
    let (up, down) = (largest(|slot| slot.supports), largest(|slot| slot.refutes));
    let (neutral, retracted) = (largest(|slot| slot.neutral), largest(|slot| slot.retracted));

    let top = 8.0 + if retracted > 0.0 { CROSSES } else { 0.0 };
    let both = (up + down).max(1.0);
    let length = Scale::new((0.0, both), (0.0, SIDES.min(both * WORK)));
    let pale = Scale::new((0.0, neutral), (0.0, NEUTRAL.min(neutral * WORK)));
    let base = top + length.at(up);
    let bottom = base + length.at(down);
    let neutral_base = if neutral > 0.0 { bottom + 20.0 + pale.at(neutral) } else { bottom };
    let height = neutral_base + 30.0;

    let slot_width = (RIGHT - LEFT) / (newest - first + 1) as f64;
    let bar_width = (slot_width * 0.72).min(WIDEST);
    let middle = |year: i64| LEFT + slot_width * ((year - first) as f64 + 0.5);
    let drawn = html! {
        (hatch(&ids))
        @for (value, y) in ticks(up, down, base, &length) {
            @if value > 0.0 { (line("grid", (LEFT, y), (RIGHT, y), 1.0)) }
            (text(LEFT - 8.0, y + 4.0, Anchor::End, &label::count(value)))
        }
        @if neutral > 0.0 {
            (line("grid", (LEFT, neutral_base), (RIGHT, neutral_base), 1.0))
            (text(LEFT - 8.0, neutral_base - pale.at(neutral) + 8.0, Anchor::End, &label::count(neutral)))
        }
        @for (year, slot) in &slots {
            @let left = middle(*year) - bar_width / 2.0;
            @let earlier = oldest < first && *year == first;
            @let words = full(*year, slot, earlier);
            @let drawn = html! {
                @if slot.supports > 0.0 {
                    @let tall = length.at(slot.supports);
                    (bar(&ids, Side::Supports, left, base - tall, bar_width, tall))
                }
                @if slot.refutes > 0.0 {
                    (bar(&ids, Side::Refutes, left, base, bar_width, length.at(slot.refutes)))
                }
                @if slot.neutral > 0.0 {
                    @let tall = pale.at(slot.neutral);
                    (bar(&ids, Side::Neutral, left, neutral_base - tall, bar_width, tall))
                }
                @if slot.retracted > 0.0 { (glyph::cross(middle(*year), 8.0 + glyph::REACH)) }
            };
            @match address.filter(|_| slot.supports + slot.refutes > 0.0) {
                Some(address) => a href=(address((!earlier).then_some(*year), *year)) aria-label=(words) {
                    title { (words) }
                    rect x=(Px(middle(*year) - slot_width / 2.0)) y="0" width=(Px(slot_width)) height=(Px(neutral_base))
                        fill="none" pointer-events="all" {}
                    (drawn)
                },
                None => g { title { (words) } (drawn) },
            }
        }
        (line("axis", (LEFT, base), (RIGHT, base), 1.0))
        @if !years.is_empty() {
            @for year in named_years(first, newest, slot_width) {
                @let written = if oldest < first && year == first { format!("≤ {year}") } else { year.to_string() };
                (line("axis", (middle(year), neutral_base + 4.0), (middle(year), neutral_base + 8.0), 1.0))
                (text(kept(middle(year), &written, 0.0, WIDTH), neutral_base + 22.0, Anchor::Middle, &written))
            }
        }
    };
    let legend = html! {
        (entry(Sample::Bar(&ids, Side::Supports), texts.supports))
        (entry(Sample::Bar(&ids, Side::Refutes), texts.refutes))
        @if neutral > 0.0 { (entry(Sample::Bar(&ids, Side::Neutral), texts.neutral)) }
        @if retracted > 0.0 { (entry(Sample::Cross, texts.retracted)) }
    };
    let frame = if address.is_some() { linked_svg } else { svg };
    figure(&frame(&ids, Size(WIDTH, height), texts.title, texts.description, &drawn), &legend)
}

/// The years in the order given, all of them.
pub fn table(years: &[Year], texts: &Texts<'_>) -> Markup {
    let rows = years.iter().map(|year| {
        [
            year.year.to_string(),
            year.supports.to_string(),
            year.refutes.to_string(),
            year.neutral.to_string(),
            year.retracted.to_string(),
        ]
    });
    table::table(
        texts.title,
        [texts.year, texts.supports, texts.refutes, texts.neutral, texts.retracted],
        rows,
    )
}

/// The works by slot; those before the first year are in its slot.
fn slots(years: &[Year], first: i64) -> BTreeMap<i64, Slot> {
    let mut slots = BTreeMap::<i64, Slot>::new();
    for year in years {
        let slot = slots.entry(i64::from(year.year).max(first)).or_default();
        slot.supports += year.supports as f64;
        slot.refutes += year.refutes as f64;
        slot.neutral += year.neutral as f64;
        slot.retracted += year.retracted as f64;
    }
    slots
}

/// Round counts with their height, up and down from the base.
fn ticks(up: f64, down: f64, base: f64, length: &Scale) -> Vec<(f64, f64)> {
    let step = round_step((up + down) / 5.0, 1.0);
    let upward = (0..=5).map(|i| f64::from(i) * step).filter(|value| *value <= up);
    let downward = (1..=5).map(|i| f64::from(i) * step).filter(|value| *value <= down);
    let upward = upward.map(|value| (value, base - length.at(value)));
    upward.chain(downward.map(|value| (value, base + length.at(value)))).collect()
}

/// The years that are named: round ones, far enough from each other for their texts, the first, and the last.
fn named_years(first: i64, last: i64, slot_width: f64) -> Vec<i64> {
    let room = label::width("≤ 0000").max(label::width(&last.to_string())) + 8.0;
    let step =
        [1, 2, 5, 10, 20, 50].into_iter().find(|step| *step as f64 * slot_width >= room).unwrap_or(100);
    let far = |a: i64, b: i64| (a - b).abs() as f64 * slot_width >= room;
    let round =
        (first..=last).filter(|year| year.rem_euclid(step) == 0 && far(*year, first) && far(*year, last));
    let last = (last != first && far(last, first)).then_some(last);
    std::iter::once(first).chain(round).chain(last).collect()
}

/// A slot in full, for a pointer over it.
fn full(year: i64, slot: &Slot, earlier: bool) -> String {
    let marks = [("▲", slot.supports), ("▼", slot.refutes), ("○", slot.neutral), ("×", slot.retracted)];
    let counts = marks
        .into_iter()
        .filter(|(_, count)| *count > 0.0)
        .map(|(mark, count)| format!(" {mark} {count:.0}"));
    format!("{}{year}:{}", if earlier { "≤ " } else { "" }, counts.collect::<String>())
}
