//! The figures of a set as text.

use crate::cli::report::counted;
use lyra_domain::figures::{Estimate, Figures, Label, Risk, Scored, Share};
use lyra_usecases::eval::{EndToEnd, Measured};
use std::fmt::Write;

/// All tables of one set with `items` passages to judge.
pub(super) fn of(path: &str, items: usize, measured: &Measured) -> String {
    let figures = &measured.figures;
    let mut out = format!("{path}\njudged by {}\n\n", measured.classifier);
    if measured.is_partial && figures.n < items {
        let _ = writeln!(out, "  interrupted after {} of {items} passages\n", figures.n);
    }
    let not_judged = match figures.not_judged {
        0 => String::new(),
        n => format!("; {n} not judged (language, or too long), counted as NEI"),
    };
    let (passages, claims) = (counted(figures.n as u64, "passage"), counted(figures.claims as u64, "claim"));
    let _ = writeln!(out, "  {passages} of {claims}{not_judged}");
    let _ = writeln!(out, "  in brackets: 95 % intervals\n");
    share(&mut out, "accuracy", figures.accuracy);
    share(&mut out, &format!("  always {}", figures.majority.label.name()), figures.majority.accuracy);
    if let Some(groups) = figures.groups {
        share(&mut out, "claims with every passage right", groups);
    }
    estimate(&mut out, "macro-F1", figures.macro_f1);
    if measured.strangers.of > 0 {
        share(&mut out, "side taken on another document", measured.strangers);
    }
    scores(&mut out, figures);
    confusion(&mut out, &figures.confusion);
    kinds(&mut out, figures);
    calibration(&mut out, figures);
    if let Some(found) = &measured.end_to_end {
        end_to_end(&mut out, found);
    }
    let seconds = measured.seconds;
    let _ = writeln!(
        out,
        "\nseconds per passage: {:.3} on average, {:.3} median, {:.3} at most\n",
        seconds.mean, seconds.median, seconds.max
    );
    out
}

fn share(out: &mut String, name: &str, share: Share) {
    let _ = writeln!(out, "  {name:<34} {}   ({} of {})", ranged(share), share.count, share.of);
}

fn estimate(out: &mut String, name: &str, of: Estimate) {
    let _ = writeln!(out, "  {name:<34} {:.3} [{:.3}, {:.3}]", of.value, of.low, of.high);
}

/// `0.750 [0.505, 0.898]`; a dash if there was nothing to count.
fn ranged(share: Share) -> String {
    if share.of == 0 {
        return format!("{:<20}", "–");
    }
    format!("{:.3} [{:.3}, {:.3}]", share.value, share.low, share.high)
}

const SCORED: &str = "precision             recall                F1";

fn scores(out: &mut String, figures: &Figures) {
    let _ = writeln!(out, "\n{:<36} {SCORED}", "given the passage");
    scored(out, "both sides", &figures.sides);
    for label in Label::ALL {
        if let Some(of) = figures.labels.get(label.name()) {
            scored(out, &format!("  {}", label.name()), of);
        }
    }
    if let Some(rationale) = &figures.rationale {
        scored(out, "rationale sentences", &rationale.sentences);
        scored(out, "  with the right label", &rationale.with_label);
    }
}

fn scored(out: &mut String, name: &str, of: &Scored) {
    let Estimate { value, low, high } = of.f1;
    let (precision, recall) = (ranged(of.precision), ranged(of.recall));
    let _ = writeln!(out, "  {name:<34} {precision}  {recall}  {value:.3} [{low:.3}, {high:.3}]");
}

fn confusion(out: &mut String, confusion: &[[usize; 3]; 3]) {
    let _ = writeln!(out, "\n{:<36} {:>9}{:>9}{:>9}", "label, and judgment", "SUPPORT", "REFUTE", "NEI");
    for (label, row) in Label::ALL.iter().zip(confusion) {
        let _ = writeln!(out, "  {:<34} {:>9}{:>9}{:>9}", label.name(), row[0], row[1], row[2]);
    }
}

fn kinds(out: &mut String, figures: &Figures) {
    if figures.kinds.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{:<36} accuracy                    n   F1 of sides", "by kind");
    for (name, kind) in &figures.kinds {
        let f1 = kind.f1.map_or("–".to_owned(), |f1| format!("{f1:.3}"));
        let _ = writeln!(out, "  {name:<34} {} {:>8}   {f1}", ranged(kind.accuracy), kind.accuracy.of);
    }
}

fn calibration(out: &mut String, figures: &Figures) {
    let of = &figures.calibration;
    let _ = writeln!(
        out,
        "\ncalibration of the likeliest label: ECE {:.3} ({} bins), Brier {:.3} (0 to 2)",
        of.ece,
        of.bins.len(),
        of.brier
    );
    let _ = writeln!(
        out,
        "\n  confidence   answers kept           wrong of them          sides kept             wrong of them"
    );
    for Risk { threshold, coverage, risk, sides, sides_risk } in &figures.risk {
        let _ = writeln!(
            out,
            "  from {threshold:.2}    {}   {}   {}   {}",
            ranged(*coverage),
            ranged(*risk),
            ranged(*sides),
            ranged(*sides_risk)
        );
    }
}

fn end_to_end(out: &mut String, found: &EndToEnd) {
    let _ = writeln!(
        out,
        "\n{:<36} {SCORED}",
        format!("searched in the corpus, {}", counted(found.claims as u64, "claim"))
    );
    scored(out, "abstract labels", &found.labels);
    scored(out, "  with a whole rationale", &found.labels_with_rationale);
    scored(out, "rationale sentences", &found.sentences);
    scored(out, "  with the right label", &found.sentences_with_label);
    share(out, "labeled abstracts found", found.found);
    share(out, "confidence on the label's side", found.confidence_agrees);
    let _ = writeln!(out, "  {:<34} {:.3}", "seconds per claim", found.seconds_per_claim);
}
