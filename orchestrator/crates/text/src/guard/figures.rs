//! Figures: a value with a unit that the claim states and the passage states otherwise.
//!
//! Only said where the passage has figures of that unit and none of them, nor what can be computed from two of them, is the
//! claim's. On training claims with their rationales (`tests/guards.rs`) 12 of 13 such figures stand beside a refutation, so
//! that they rule support out.

use super::Side;
use crate::number::plain;

/// Values that differ by less, relative to the larger one, are one value ("about 30 %").
const CLOSE: f64 = 0.05;
/// Percentages that differ by less are one.
const CLOSE_POINTS: f64 = 0.5;
/// Lengths of time in different units that differ by less are one: "3 months" and "12 weeks".
const CLOSE_TIMES: f64 = 0.1;
/// Most figures of a passage that are looked at.
const MAX_FIGURES: usize = 64;

/// The first figure of the claim that the sentences state otherwise.
pub(super) fn difference(claim: &str, deciding: &str) -> Option<(String, Option<Side>)> {
    let said = figures(deciding);
    let values: Vec<f64> = said.iter().map(|figure| figure.value).take(MAX_FIGURES).collect();
    figures(claim).into_iter().filter(|figure| !figure.unit.is_empty()).find_map(|figure| {
        let same_unit: Vec<&Figure> =
            said.iter().filter(|other| other.unit == figure.unit && !other.is_interval).collect();
        let same_time = said.iter().any(|other| figure.lasts_as_long_as(other));
        if same_unit.is_empty() || same_time || follows(figure.value, figure.unit, &values) {
            return None;
        }
        let shown: Vec<String> = same_unit.iter().take(3).map(|other| other.shown()).collect();
        let text = format!("number: {} in the claim, {} in the passage", figure.shown(), shown.join(" and "));
        Some((text, Some(Side::Supports)))
    })
}

/// Whether a value is one of these, or follows from one or two of them: a complement, a ratio, a difference, a sum.
fn follows(value: f64, unit: &str, values: &[f64]) -> bool {
    let close = |other: f64| {
        let apart = (value - other).abs();
        apart <= CLOSE * value.abs().max(other.abs()) || (unit == "%" && apart <= CLOSE_POINTS)
    };
    let alone = |x: f64| {
        close(x)
            || close(100.0 - x)
            || close((1.0 - x) * 100.0)
            || close((x - 1.0) * 100.0)
            || close(x * 100.0)
    };
    let pair = |x: f64, y: f64| {
        let ratio = if y == 0.0 { f64::INFINITY } else { x / y };
        close((x - y).abs())
            || close(x + y)
            || close(ratio)
            || close(ratio * 100.0)
            || close((ratio - 1.0).abs() * 100.0)
            || (x.min(y) < value && value < x.max(y))
    };
    values.iter().any(|&x| alone(x)) || values.iter().any(|&x| values.iter().any(|&y| pair(x, y)))
}

/// A number with its unit, empty where it has none that is known.
struct Figure {
    value: f64,
    unit: &'static str,
    /// The level of a confidence interval.
    is_interval: bool,
}

impl Figure {
    fn shown(&self) -> String {
        format!("{} {}", self.value, self.unit)
    }

    fn days(&self) -> Option<f64> {
        DAYS.iter().find(|(unit, _)| *unit == self.unit).map(|(_, days)| self.value * days)
    }

    /// Whether both are about the same length of time, in different units.
    fn lasts_as_long_as(&self, other: &Self) -> bool {
        let close = |(one, two): (f64, f64)| (one - two).abs() <= CLOSE_TIMES * one.max(two);
        self.unit != other.unit && self.days().zip(other.days()).is_some_and(close)
    }
}

fn figures(text: &str) -> Vec<Figure> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let joined =
            rest[..start].chars().next_back().is_some_and(|c| c.is_alphanumeric() || c == '-' || c == '_');
        let number = &rest[start..];
        let length =
            number.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ','))).unwrap_or(number.len());
        let written = number[..length].trim_end_matches(['.', ',']);
        let after = &number[written.len().max(1)..];
        rest = after;
        if joined {
            continue;
        }
        let Ok(value) = plain(written).parse::<f64>() else { continue };
        let behind = after.trim_start_matches(GAPS);
        let unit = unit(behind);
        let tail = behind.trim_start_matches('%').trim_start().to_lowercase();
        let is_interval = tail.starts_with("ci") || tail.starts_with("conf") || tail.starts_with("cred");
        found.push(Figure { value, unit, is_interval });
    }
    found
}

/// The unit that a text begins with, empty where it has none that is known.
fn unit(text: &str) -> &'static str {
    if text.starts_with('%') {
        return "%";
    }
    let (word, rest) = first_word(text);
    let (next, _) = first_word(rest);
    match (word.as_str(), next.as_str()) {
        ("per", "cent") => "%",
        // How often, not how much.
        ("times", next) if OFTEN.contains(&next) || rest.starts_with('/') => "",
        (word, _) => UNITS.iter().find(|(forms, _)| forms.contains(&word)).map_or("", |(_, unit)| *unit),
    }
}

/// The first word, in lower case, and what follows it.
fn first_word(text: &str) -> (String, &str) {
    let text = text.trim_start_matches(GAPS);
    let end = text.find(|c: char| !c.is_alphabetic()).unwrap_or(text.len());
    (text[..end].to_lowercase(), &text[end..])
}

/// What may stand between a number and its unit.
const GAPS: [char; 5] = [' ', '-', '\u{a0}', '\u{2009}', '\u{202f}'];

/// Words after "times" that make a frequency of it: "2 times per week".
const OFTEN: &[&str] =
    &["per", "a", "an", "each", "every", "daily", "weekly", "monthly", "yearly", "annually"];

/// Forms of a unit, and the one that is shown.
const UNITS: &[(&[&str], &str)] = &[
    (&["percent"], "%"),
    (&["fold", "times"], "times"),
    (&["mg"], "mg"),
    (&["kg"], "kg"),
    (&["ml"], "ml"),
    (&["year", "years", "yr", "yrs"], "years"),
    (&["month", "months"], "months"),
    (&["week", "weeks"], "weeks"),
    (&["day", "days"], "days"),
    (&["hour", "hours", "h"], "hours"),
    (&["minute", "minutes", "min"], "minutes"),
    (&["km"], "km"),
    (&["cm"], "cm"),
    (&["mm"], "mm"),
];

/// Days in a unit of time.
const DAYS: &[(&str, f64)] = &[
    ("years", 365.25),
    ("months", 30.44),
    ("weeks", 7.0),
    ("days", 1.0),
    ("hours", 1.0 / 24.0),
    ("minutes", 1.0 / 1440.0),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(claim: &str, passage: &str, expect: Option<&str>) {
        let found = difference(claim, passage).map(|(text, _)| text);
        assert_eq!(found.as_deref(), expect, "{claim} | {passage}");
    }

    #[test]
    fn another_value() {
        check(
            "Output fell by 45%.",
            "Telework reduced the output by 8%.",
            Some("number: 45 % in the claim, 8 % in the passage"),
        );
        check(
            "The trial lasted 12 weeks.",
            "It lasted for 4 weeks.",
            Some("number: 12 weeks in the claim, 4 weeks in the passage"),
        );
    }

    #[test]
    fn the_same_value_in_other_words() {
        check("Output fell by 8 percent.", "Telework reduced the output by 8%.", None);
        check("The risk was 29% lower.", "The risk was lower (RR 0.71, 95% CI 0.55-0.92).", None);
        check("It misses 85% of the volume.", "It shows 15% of the volume.", None);
        check("Onset was 18 years later.", "Onset was at 9 years and at 27 years.", None);
        check("In 2019, 12 of 40 mice had p53.", "Some mice died after 3 weeks.", None);
        check("About 1,200 mg were given.", "They had 1200 mg.", None);
        check(
            "The trial lasted 2 years.",
            "It lasted for 24 months, and people were seen for 5 years.",
            None,
        );
        check("The trial lasted 3 months.", "After 12 weeks and 12 months the score was better.", None);
    }

    #[test]
    fn rates_and_frequencies_are_no_shares_and_no_ratios() {
        check("About 12 per 1000 people have epilepsy.", "Epilepsy was found in 1.2% of the people.", None);
        check("About 1.2% of people have epilepsy.", "It was found in 12 per 1000 (90% were adults).", None);
        check("Running 2 times per week helps.", "Those who ran were 4 times more likely to be fit.", None);
        check("Running 2 times a week helps.", "Those who ran were 4 times more likely to be fit.", None);
        check(
            "Output fell by 45 per cent.",
            "Telework reduced the output by 8 per cent.",
            Some("number: 45 % in the claim, 8 % in the passage"),
        );
        check(
            "Runners are 2 times as likely to be fit.",
            "Runners were 4 times as likely to be fit.",
            Some("number: 2 times in the claim, 4 times in the passage"),
        );
    }
}
