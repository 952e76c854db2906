//! A record of the registry as text: what was registered, then what was reported. Every passage says that it is the
//! registry's, because each may be quoted alone.

use super::wire::{Analysis, Measure, Measurement, Outcome, Protocol, Study};
use crate::paper::filled;

/// Most outcomes of each kind (registered, reported) that are written.
const OUTCOMES: usize = 12;
/// Most values of one reported outcome, and most of its analyses.
const VALUES: usize = 12;
const ANALYSES: usize = 4;
/// Most characters of what sponsors write at length.
const SUMMARY: usize = 2_000;

/// The text of a record with this number, in paragraphs.
pub(super) fn of(study: &Study, number: &str) -> String {
    let protocol = &study.protocol_section;
    let mut paragraphs = vec![about(study, number)];
    if let Some(summary) = filled(protocol.description.brief_summary.clone()) {
        paragraphs.push(format!("Summary in the registry: {}", sentence(&shortened(&one_line(&summary)))));
    }
    let registered = |outcomes: &[Outcome], kind: &str| -> Vec<String> {
        let outcome = |outcome: &Outcome| planned(outcome, kind, number);
        outcomes.iter().filter_map(outcome).collect()
    };
    let reported = reported(study, number);
    let mut planned = registered(&protocol.outcomes.primary_outcomes, "primary");
    // What was reported names its outcome again.
    if reported.is_empty() {
        planned.extend(registered(&protocol.outcomes.secondary_outcomes, "secondary"));
    }
    planned.truncate(OUTCOMES);
    paragraphs.extend(planned);
    if reported.is_empty() && !study.has_results {
        paragraphs.push(format!("The registry has no results of {number}."));
    }
    paragraphs.extend(reported);
    paragraphs.join("\n\n")
}

/// What it is, how far it came, and whom it studies.
fn about(study: &Study, number: &str) -> String {
    let Protocol { status, design, .. } = &study.protocol_section;
    let mut facts = vec![format!(
        "This is the record of the registered trial {number} in the registry ClinicalTrials.gov, not a \
         publication."
    )];
    let why = filled(status.why_stopped.clone()).map(|why| format!(" ({})", one_line(&why)));
    let state = status.overall.as_deref().map(in_words);
    facts.extend(state.map(|state| format!("Status: {state}{}.", why.unwrap_or_default())));
    let phases = design.phases.iter().filter(|phase| *phase != "NA").map(|phase| match phase.as_str() {
        "EARLY_PHASE1" => "early phase 1".to_owned(),
        other => other.replace("PHASE", "phase "),
    });
    let enrolled = design.enrollment_info.count.map(|count| {
        let planned = design.enrollment_info.kind.as_deref() == Some("ESTIMATED");
        format!("{count} participants{}", if planned { " planned" } else { "" })
    });
    let kinds = [design.study_type.as_deref(), design.info.allocation.as_deref()];
    let kinds = kinds.into_iter().flatten().filter(|kind| *kind != "NA").map(in_words);
    let design: Vec<String> = kinds.chain(phases).chain(enrolled).collect();
    let listed = |name: &str, entries: Vec<String>| {
        (!entries.is_empty()).then(|| format!("{name}: {}.", entries.join("; ")))
    };
    facts.extend(listed("Design", design));
    facts.extend(listed("Conditions", study.protocol_section.conditions.conditions.clone()));
    let interventions = &study.protocol_section.interventions.interventions;
    let names = interventions.iter().filter_map(|intervention| filled(intervention.name.clone()));
    facts.extend(listed("Interventions", names.collect()));
    facts.extend(study.sponsor().map(|sponsor| format!("Sponsor: {sponsor}.")));
    facts.join(" ")
}

/// An outcome as it was registered.
fn planned(outcome: &Outcome, kind: &str, number: &str) -> Option<String> {
    let measure = one_line(outcome.measure.as_deref()?);
    let frame = filled(outcome.time_frame.clone()).map(|frame| format!(" ({})", one_line(&frame)));
    Some(sentence(&format!("Registered {kind} outcome of {number}: {measure}{}", frame.unwrap_or_default())))
}

/// The reported outcomes, the primary ones first.
fn reported(study: &Study, number: &str) -> Vec<String> {
    let measures = study.results_section.as_ref().map(|results| &results.outcome_measures_module);
    let mut measures: Vec<&Measure> =
        measures.into_iter().flat_map(|measures| &measures.outcome_measures).collect();
    measures.sort_by_key(|measure| match measure.kind.as_deref() {
        Some("PRIMARY") => 0,
        Some("SECONDARY") => 1,
        _ => 2,
    });
    let told: Vec<String> = measures.iter().filter_map(|measure| result(measure, number)).collect();
    let left = told.len().saturating_sub(OUTCOMES);
    let more = (left > 0).then(|| format!("The registry has results of {left} more outcomes of {number}."));
    told.into_iter().take(OUTCOMES).chain(more).collect()
}

/// One reported outcome: `Result of NCT… in the registry, primary outcome "…" (…; mean in …): group (n = …) value; ….`
/// `None` when it has no value, because it is reported later.
fn result(measure: &Measure, number: &str) -> Option<String> {
    let title = one_line(measure.title.as_deref()?);
    let values = values(measure);
    if values.is_empty() {
        return None;
    }
    let kind = measure.kind.as_deref().map(in_words).unwrap_or_default();
    let unit = filled(measure.unit.clone());
    let measured = match (measure.param_type.as_deref().map(in_words), unit) {
        (Some(how), Some(unit)) => Some(format!("{how} in {unit}")),
        (how, unit) => how.or(unit),
    };
    let frame = filled(measure.time_frame.clone()).map(|frame| one_line(&frame));
    let about: Vec<String> = frame.into_iter().chain(measured).collect();
    let about = if about.is_empty() { String::new() } else { format!(" ({})", about.join("; ")) };
    let left = values.len().saturating_sub(VALUES);
    let more = (left > 0).then(|| format!("and {left} more values"));
    let values: Vec<String> = values.into_iter().take(VALUES).chain(more).collect();
    let mut told = vec![sentence(&format!(
        "Result of {number} in the registry, {kind} outcome \"{title}\"{about}: {}",
        values.join("; ")
    ))];
    let analyses = measure.analyses.iter().filter_map(|analysis| analyzed(analysis, measure));
    told.extend(analyses.take(ANALYSES).map(|analysis| sentence(&analysis)));
    Some(told.join(" "))
}

/// Every value with its group: `Placebo (n = 60) 4.2 (standard deviation 1.1)`.
fn values(measure: &Measure) -> Vec<String> {
    let several = measure.classes.len() > 1;
    let mut values = Vec::new();
    for class in &measure.classes {
        for category in &class.categories {
            let part = [class.title.clone().filter(|_| several), category.title.clone()];
            let part: Vec<String> = part.into_iter().filter_map(filled).collect();
            let part = if part.is_empty() { String::new() } else { format!("{}: ", part.join(", ")) };
            values.extend(category.measurements.iter().filter_map(|measurement| {
                let value = filled(measurement.value.clone()).filter(|value| value != "NA")?;
                let group = group(measure, measurement.group_id.as_deref()?)?;
                Some(format!("{part}{group} {value}{}", dispersion(measure, measurement)))
            }));
        }
    }
    values
}

/// A group with the number of those it counts.
fn group(measure: &Measure, id: &str) -> Option<String> {
    let group = measure.groups.iter().find(|group| group.id.as_deref() == Some(id))?;
    let mut counts = measure.denoms.iter().flat_map(|denominator| &denominator.counts);
    let count = counts.find(|count| count.group_id.as_deref() == Some(id));
    let count = count.and_then(|count| filled(count.value.clone()));
    let count = count.map(|count| format!(" (n = {count})")).unwrap_or_default();
    Some(format!("{}{count}", one_line(group.title.as_deref()?)))
}

fn dispersion(measure: &Measure, measurement: &Measurement) -> String {
    let kind = measure.dispersion_type.as_deref().map(in_words).unwrap_or_default();
    let given = |value: &Option<String>| filled(value.clone()).filter(|value| value != "NA");
    let limits = given(&measurement.lower_limit).zip(given(&measurement.upper_limit));
    let spread = given(&measurement.spread).or_else(|| limits.map(|(low, high)| format!("{low} to {high}")));
    spread.map_or_else(String::new, |spread| format!(" ({})", format!("{kind} {spread}").trim()))
}

/// `Analysis of A against B: mean difference -1.2 (95% CI -2 to -0.4), P = 0.003`.
fn analyzed(analysis: &Analysis, measure: &Measure) -> Option<String> {
    let estimate = filled(analysis.param_value.clone()).map(|value| {
        let name = analysis.param_type.as_deref().map(in_words).unwrap_or_default();
        let limits = filled(analysis.ci_lower_limit.clone()).zip(filled(analysis.ci_upper_limit.clone()));
        let level = analysis.ci_pct_value.as_deref().map(|level| format!("{level}% ")).unwrap_or_default();
        let interval = limits.map(|(low, high)| format!(" ({level}CI {low} to {high})"));
        format!("{name} {value}{}", interval.unwrap_or_default()).trim().to_owned()
    });
    // `0.003`, `<0.001`.
    let probability = filled(analysis.p_value.clone()).map(|value| {
        if value.starts_with(['<', '>', '=', '≤']) { format!("P {value}") } else { format!("P = {value}") }
    });
    let told: Vec<String> = estimate.into_iter().chain(probability).collect();
    if told.is_empty() {
        return None;
    }
    let title = |id: &String| {
        let group = measure.groups.iter().find(|group| group.id.as_ref() == Some(id))?;
        Some(one_line(group.title.as_deref()?))
    };
    let groups: Vec<String> = analysis.group_ids.iter().filter_map(title).collect();
    let of = if groups.is_empty() { String::new() } else { format!(" of {}", groups.join(" against ")) };
    Some(format!("Analysis{of} in the registry: {}", told.join(", ")))
}

/// `ACTIVE_NOT_RECRUITING` as `active not recruiting`; what is in words already stays.
fn in_words(text: &str) -> String {
    let coded = text.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    if coded { text.replace('_', " ").to_ascii_lowercase() } else { one_line(text) }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// At most [`SUMMARY`] characters, cut after a word.
fn shortened(text: &str) -> String {
    let Some((end, _)) = text.char_indices().nth(SUMMARY) else { return text.to_owned() };
    let cut = text[..end].rsplit_once(' ').map_or(&text[..end], |(kept, _)| kept);
    format!("{cut} …")
}

/// With a period at its end, unless it has one.
fn sentence(text: &str) -> String {
    let text = text.trim_end();
    if text.ends_with(['.', '!', '?', '…']) { text.to_owned() } else { format!("{text}.") }
}
