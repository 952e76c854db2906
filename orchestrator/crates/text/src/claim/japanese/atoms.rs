//! Japanese sentences into standalone claims: cut after 「が、」 and 「一方、」 between finished predicates.

use super::super::atom::Part;
use super::{score, statement, tables};
use crate::Sentence;
use std::ops::Range;

/// Claims of a text's sentences, in order, with their scores.
pub(in crate::claim) fn atoms(sentences: &[Sentence]) -> Vec<(Part, f64)> {
    let mut found = Vec::new();
    for sentence in sentences {
        let stated = statement(&sentence.text);
        let skipped = sentence.text[..sentence.text.len() - stated.len()].chars().count();
        let chars: Vec<char> = stated.chars().collect();
        for pieces in split(&chars) {
            let mut text: String = pieces.iter().flat_map(|piece| &chars[piece.clone()]).collect();
            if chars.last() == Some(&'。') && !text.ends_with('。') {
                text.push('。');
            }
            if !tables::ANAPHORS.iter().any(|word| text.starts_with(word)) {
                let at = sentence.start + skipped;
                let pieces = pieces.into_iter().map(|piece| piece.start + at..piece.end + at).collect();
                let worth = score(&text);
                found.push((Part { text, pieces }, worth));
            }
        }
    }
    found
}

/// The parts of a statement, each as its pieces. A statement is cut once: what has more contrasts stays whole.
fn split(chars: &[char]) -> Vec<Vec<Range<usize>>> {
    let whole = || vec![std::iter::once(0..chars.len()).collect()];
    let joints: Vec<(usize, usize)> =
        (1..chars.len()).filter_map(|at| Some((at, joint(&chars[at..])?))).collect();
    let [(at, length)] = joints[..] else { return whole() };
    let (left, right) = (0..at, at + length..chars.len());
    let text = |range: &Range<usize>| -> String { chars[range.clone()].iter().collect() };
    let (left_text, right_text) = (text(&left), text(&right));
    let finished = FINISHED.iter().any(|ending| left_text.ends_with(ending));
    let ended = tables::PREDICATES.iter().any(|end| right_text.trim_end_matches(['。', '．']).ends_with(end));
    let Some(topic) = topic(&chars[left.clone()]) else { return whole() };
    let points_back = tables::ANAPHORS.iter().any(|word| right_text.starts_with(word));
    if !finished || !ended || right.len() < 4 || points_back {
        return whole();
    }
    // 「Aは記憶を改善したが、反応時間は改善しなかった」 speaks of A throughout; 「Aは増えたが、Bは減った」 does not.
    let own = right_text.contains('は') || right_text.contains('が');
    let scope = ["では", "には", "において", "では、"].iter().any(|end| text(&(0..topic)).ends_with(end));
    let carried = scope || !own || left_text.contains('を') && !right_text.contains('を');
    // "…では作業量は減ったが": what limits both parts is taken along, and nothing else can be told from it.
    let mut second: Vec<Range<usize>> =
        if carried { std::iter::once(0..topic).collect() } else { Vec::new() };
    second.push(right);
    vec![std::iter::once(left).collect(), second]
}

/// How long the words between two clauses are that may begin here.
fn joint(rest: &[char]) -> Option<usize> {
    JOINTS
        .iter()
        .map(|joint| joint.chars())
        .find(|joint| rest.iter().copied().take(joint.clone().count()).eq(joint.clone()))
        .map(Iterator::count)
}

/// Where the topic 「…は」 at the beginning ends.
fn topic(chars: &[char]) -> Option<usize> {
    chars.iter().position(|c| *c == 'は').map(|at| at + 1).filter(|at| *at > 1)
}

const JOINTS: &[&str] = &["が、一方で", "が、一方", "が、", "一方で、", "一方、"];

/// Endings of predicates that are finished before 「が、」.
const FINISHED: &[&str] = &["た", "ない", "る", "い", "だ", "です", "ます"];
