//! Japanese rules: the predicate stands at the end, the subject before は or が.

mod atoms;
mod counter;
mod tables;

pub(super) use atoms::atoms;
pub(super) use counter::counter;

use super::has_phrase;

/// Score of a statement, not yet clamped.
pub(super) fn score(text: &str) -> f64 {
    let body = text.trim_end_matches(['。', '．', '.', '」', '）', ' ']);
    if has_phrase(text, tables::BOILERPLATE) || body.ends_with('か') {
        return 0.0;
    }
    let predicate = tables::PREDICATES.iter().any(|ending| body.ends_with(ending));
    let subject = body.contains('は') || body.contains('が');
    if !predicate || !subject {
        return 0.1;
    }
    let mut score: f64 = 0.5;
    if has_phrase(text, tables::FINDINGS) {
        score += 0.25;
    }
    if has_phrase(text, tables::RESULT_CUES) || text.contains(['%', '％']) {
        score += 0.15;
    }
    if tables::ANAPHORS.iter().any(|word| text.starts_with(word)) {
        score -= 0.35;
    }
    if has_phrase(text, tables::AIMS) {
        score -= 0.5;
    }
    if tables::METHODS.iter().any(|ending| body.ends_with(ending)) {
        score -= 0.4;
    }
    score
}

/// Labels and connectives taken from the front.
pub(super) fn statement(sentence: &str) -> &str {
    let mut rest = sentence;
    loop {
        let shorter = tables::OPENINGS
            .iter()
            .find_map(|opening| rest.strip_prefix(opening))
            .map_or(rest, |bare| bare.trim_start_matches(['、', '，', '：', ':', '】', '］', ' ', '　']));
        if shorter.is_empty() || shorter.len() == rest.len() {
            return rest;
        }
        rest = shorter;
    }
}
