//! A verifier reads sentences with their title, and says of each whether it decides. It overlooks in a whole abstract what it
//! sees in four sentences of it (label F1 0.49 and 0.64 on claims as researchers cite, `docs/quality.md`), so that the surest
//! window decides.
//!
//! A claim that a user gives is therefore held against the windows at once. For an extracted claim each passage is read whole
//! first, and by windows where it may have something to say. Where the claim names what the passage does not, no side can be
//! taken, and one reading is enough.

use super::{Answer, Claimed, Judge, Passage, Verdict, neutral, verdict};
use crate::Result;
use crate::ports::{Verified, Verify};
use lyra_domain::quote::GAP;
use lyra_domain::{Discrepancies, NliJudgement, Relation, ranking::top_by};
use lyra_text::{Sentence, guard};
use std::collections::BTreeMap;

/// Parts in which a passage is read at most; what comes after them is not read.
const MAX_PARTS: usize = 4;
/// Most characters of a part: more than a model of 2,000 tokens reads.
const MAX_PART_CHARS: usize = 8_000;
/// Sentences of a window.
const WINDOW: usize = 4;
/// Sentences from one window to the next, so that each is read beside what stands before it and after it.
const STRIDE: usize = 2;
/// Windows of a passage at most.
const MAX_WINDOWS: usize = 24;
/// For an extracted claim, a passage that is neutral with more than this probability is not read by windows. They cost twice as
/// much again, and a claim that a user gives is worth it.
const SILENT: f64 = 0.9;
/// From this probability of support on, in any window, a refutation of a claim that Lyra worded does not count. Passages that a search
/// finds for such a claim rarely refute it (`docs/quality.md`).
const MAX_SUPPORT: f64 = 0.2;
/// From this probability on a sentence is part of what decides.
const DECIDES: f64 = 0.5;
/// The same for sentences of all windows that take the side, which are shown together.
const ALSO_DECIDES: f64 = 0.4;
/// Most sentences that are shown as what decided.
const MAX_RATIONALE: usize = 3;

/// What a passage was found to say.
#[derive(Debug, Clone)]
pub(super) struct Finding {
    /// With the sentences that decided, which rules look at.
    pub(super) verdict: Verdict,
    /// Those of every window that takes the same side; `None` where the passage was not read by windows, or takes none.
    pub(super) shown: Option<String>,
}

impl From<Verdict> for Finding {
    fn from(verdict: Verdict) -> Self {
        Self { verdict, shown: None }
    }
}

/// What each passage says about a claim.
pub(super) async fn verdicts(
    judge: &Judge<'_>,
    claimed: &Claimed<'_>,
    passages: &[&Passage],
) -> Result<Vec<Option<Finding>>> {
    let (claim, given, worded) = (claimed.text, claimed.origin.is_given(), claimed.origin.is_worded());
    let in_windows: Vec<bool> = passages
        .iter()
        .map(|passage| passage.sentences.len() > WINDOW && guard::missing(claim, &passage.words).is_empty())
        .collect();
    let at_once: Vec<usize> = (0..passages.len()).filter(|&i| given && in_windows[i]).collect();
    let first: Vec<usize> = (0..passages.len()).filter(|&i| !(given && in_windows[i])).collect();
    let mut said: Vec<Option<Finding>> = passages.iter().map(|_| None).collect();
    for (&i, whole) in first.iter().zip(whole(judge, claim, &pick(passages, &first)).await?) {
        said[i] =
            whole.map(|verdict| Finding::from(if worded { without_doubtful(verdict) } else { verdict }));
    }
    let speaks = |found: &Finding| found.verdict.judgement.scores.neutral <= SILENT;
    let then = first.into_iter().filter(|&i| in_windows[i] && said[i].as_ref().is_some_and(speaks));
    let closer: Vec<usize> = at_once.into_iter().chain(then).collect();
    let threshold = judge.threshold();
    for (&i, windows) in closer.iter().zip(by_windows(judge, claim, &pick(passages, &closer)).await?) {
        let whole = said[i].take().map(|found| found.verdict);
        let verdict = strongest(whole, &windows, threshold, worded);
        said[i] = verdict.map(|verdict| Finding {
            shown: shown(&windows, &verdict, threshold).map(|places| quote(&passages[i].sentences, &places)),
            verdict,
        });
    }
    Ok(said)
}

fn pick<'p>(passages: &[&'p Passage], places: &[usize]) -> Vec<&'p Passage> {
    places.iter().map(|&i| passages[i]).collect()
}

/// A window as the model read it.
struct Window {
    /// The highest probability that one of its sentences decides.
    closeness: f64,
    /// Whether that sentence can be evidence.
    tells: bool,
    /// Its sentences by their place in the passage, each with the probability that it decides.
    sentences: Vec<(usize, f64)>,
    answer: Answer,
}

/// The side of the window that is surest of one, when it is sure enough; else neutral, as the whole passage says it, or the
/// closest window where that was not read. A window in which an aim or a method decides takes no side. One of the other side that
/// is less sure takes nothing away: it did in trials, and more right sides were lost than wrong ones.
///
/// With `doubting`, a refutation does not count if some window supports the claim ([`MAX_SUPPORT`]).
fn strongest(whole: Option<Verdict>, windows: &[Window], threshold: f64, doubting: bool) -> Option<Verdict> {
    let best = |score: &dyn Fn(&Window) -> f64| {
        let scores: Vec<f64> =
            windows.iter().map(|window| if window.tells { score(window) } else { -1.0 }).collect();
        top_by(&scores, 1).first().map(|&i| (scores[i], &windows[i].answer))
    };
    let (Some((support, supports)), Some((refutation, refutes)), Some((_, closest))) = (
        best(&|window| window.answer.judgement.scores.supports),
        best(&|window| window.answer.judgement.scores.refutes),
        best(&|window| window.closeness),
    ) else {
        return whole;
    };
    let (score, relation, window) = if support >= refutation {
        (support, Relation::Supports, supports)
    } else {
        (refutation, Relation::Refutes, refutes)
    };
    let doubted = doubting && relation == Relation::Refutes && support >= MAX_SUPPORT;
    let (premise, judgement) = if score >= threshold && !doubted {
        let judgement = NliJudgement { relation, confidence: score.into(), ..window.judgement };
        (&window.premise, judgement)
    } else if let Some(whole) = &whole {
        (&whole.premise, neutral(whole.judgement))
    } else {
        (&closest.premise, neutral(closest.judgement))
    };
    let read_whole = whole.iter().flat_map(|whole| whole.asked.iter().cloned());
    Some(Verdict {
        premise: premise.clone(),
        judgement,
        discrepancies: Discrepancies::default(),
        asked: read_whole.chain(windows.iter().map(|window| window.answer.asked.clone())).collect(),
    })
}

/// The verdict, neutral in place of a refutation by a passage that may also support the claim.
fn without_doubtful(verdict: Verdict) -> Verdict {
    let NliJudgement { relation, scores, .. } = verdict.judgement;
    if relation == Relation::Refutes && scores.supports >= MAX_SUPPORT {
        return Verdict { judgement: neutral(verdict.judgement), ..verdict };
    }
    verdict
}

/// The places of the sentences that decide in any window which takes the side of the verdict: at most [`MAX_RATIONALE`], and the one
/// that decides in the surest window among them. A text often says the same twice, and its surest window holds only one of both.
fn shown(windows: &[Window], verdict: &Verdict, threshold: f64) -> Option<Vec<usize>> {
    let score = |window: &Window| match verdict.judgement.relation {
        Relation::Supports => window.answer.judgement.scores.supports,
        Relation::Refutes => window.answer.judgement.scores.refutes,
        _ => 0.0,
    };
    let taking: Vec<&Window> = windows
        .iter()
        .filter(|window| window.tells && score(window) >= threshold.max(f64::EPSILON))
        .collect();
    let scores: Vec<f64> = taking.iter().map(|window| score(window)).collect();
    let surest = taking[*top_by(&scores, 1).first()?];
    let decides = |window: &Window| -> Option<usize> {
        let chances: Vec<f64> = window.sentences.iter().map(|&(_, chance)| chance).collect();
        top_by(&chances, 1).first().map(|&i| window.sentences[i].0)
    };
    let first = decides(surest)?;
    let mut chances: BTreeMap<usize, f64> = BTreeMap::new();
    for &(place, chance) in taking.iter().flat_map(|window| &window.sentences) {
        let most = chances.entry(place).or_default();
        *most = most.max(chance);
    }
    chances.remove(&first);
    let (others, chances): (Vec<usize>, Vec<f64>) =
        chances.into_iter().filter(|&(_, chance)| chance >= ALSO_DECIDES).unzip();
    let also = top_by(&chances, MAX_RATIONALE - 1).into_iter().map(|i| others[i]);
    let mut places: Vec<usize> = std::iter::once(first).chain(also).collect();
    places.sort_unstable();
    Some(places)
}

/// What windows of each passage say about a claim.
async fn by_windows(judge: &Judge<'_>, claim: &str, passages: &[&Passage]) -> Result<Vec<Vec<Window>>> {
    let windows: Vec<(usize, usize, &[Sentence])> = passages
        .iter()
        .enumerate()
        .flat_map(|(i, passage)| windows(&passage.sentences).map(move |(from, window)| (i, from, window)))
        .collect();
    let items: Vec<Verify> = windows.iter().map(|&(i, _, window)| item(claim, passages[i], window)).collect();
    let mut answers: Vec<Vec<Window>> = passages.iter().map(|_| Vec::new()).collect();
    for ((i, from, window), verified) in windows.into_iter().zip(judge.inference.verify_all(&items).await?) {
        let read = &window[..verified.rationale.len().min(window.len())];
        if let Some(&best) = top_by(&verified.rationale[..read.len()], 1).first() {
            let (closeness, answer) = answer(read, &verified);
            let sentences = (from..).zip(verified.rationale[..read.len()].iter().copied()).collect();
            answers[i].push(Window { closeness, tells: passages[i].tells[from + best], sentences, answer });
        }
    }
    Ok(answers)
}

/// Overlapping runs of sentences with where they begin; the last one ends with the passage.
fn windows(sentences: &[Sentence]) -> impl Iterator<Item = (usize, &[Sentence])> {
    let last = sentences.len().saturating_sub(STRIDE).max(1);
    (0..last)
        .step_by(STRIDE)
        .map(|from| (from, &sentences[from..sentences.len().min(from + WINDOW)]))
        .take(MAX_WINDOWS)
}

fn item(claim: &str, passage: &Passage, sentences: &[Sentence]) -> Verify {
    Verify::new(claim, &passage.title, sentences.iter().map(|sentence| sentence.text.clone()))
}

/// What each passage says about a claim, read as far as the model reads at a time.
async fn whole(judge: &Judge<'_>, claim: &str, passages: &[&Passage]) -> Result<Vec<Option<Verdict>>> {
    let mut answers: Vec<Vec<(f64, Answer)>> = passages.iter().map(|_| Vec::new()).collect();
    // The passage, and its first sentence that is not read.
    let mut open: Vec<(usize, usize)> = (0..passages.len()).map(|passage| (passage, 0)).collect();
    while !open.is_empty() {
        open.retain(|&(passage, from)| {
            from < passages[passage].sentences.len() && answers[passage].len() < MAX_PARTS
        });
        let parts: Vec<(usize, usize, &[Sentence])> = open
            .iter()
            .map(|&(passage, from)| (passage, from, part(&passages[passage].sentences[from..])))
            .collect();
        let items: Vec<Verify> =
            parts.iter().map(|&(passage, _, sentences)| item(claim, passages[passage], sentences)).collect();
        open.clear();
        for ((passage, from, sentences), verified) in
            parts.into_iter().zip(judge.inference.verify_all(&items).await?)
        {
            let read = &sentences[..verified.rationale.len().min(sentences.len())];
            if !read.is_empty() {
                answers[passage].push(answer(read, &verified));
                open.push((passage, from + read.len()));
            }
        }
    }
    let threshold = judge.threshold();
    Ok(answers
        .into_iter()
        .map(|mut answers| {
            answers.sort_by(|(a, _), (b, _)| b.total_cmp(a));
            let answers: Vec<Answer> = answers.into_iter().map(|(_, answer)| answer).collect();
            verdict(&answers, threshold)
        })
        .collect())
}

/// The first sentences that are sent together; at least one.
fn part(sentences: &[Sentence]) -> &[Sentence] {
    let mut chars = 0;
    let fits = sentences.iter().take_while(|sentence| {
        chars += sentence.end - sentence.start;
        chars <= MAX_PART_CHARS
    });
    &sentences[..fits.count().max(1).min(sentences.len())]
}

/// The answer to sentences that were read, with the highest probability that one of them decides.
fn answer(read: &[Sentence], verified: &Verified) -> (f64, Answer) {
    let best = top_by(&verified.rationale[..read.len()], MAX_RATIONALE);
    let closeness = best.first().map_or(0.0, |&i| verified.rationale[i]);
    let mut deciding: Vec<usize> = best
        .into_iter()
        .enumerate()
        .filter(|&(place, i)| place == 0 || verified.rationale[i] >= DECIDES)
        .map(|(_, i)| i)
        .collect();
    deciding.sort_unstable();
    let all: Vec<usize> = (0..read.len()).collect();
    let answer =
        Answer { premise: quote(read, &deciding), asked: quote(read, &all), judgement: verified.judgement };
    (closeness, answer)
}

/// Sentences by their place, as they stand in the text; an ellipsis where some are left out.
fn quote(sentences: &[Sentence], places: &[usize]) -> String {
    let mut quote = String::new();
    let mut last: Option<usize> = None;
    for &place in places {
        let Some(sentence) = sentences.get(place) else { continue };
        match last {
            Some(before) if before + 1 < place => quote.push_str(GAP),
            Some(before) if sentences[before].end < sentence.start => quote.push(' '),
            _ => {}
        }
        quote.push_str(&sentence.text);
        last = Some(place);
    }
    quote
}

#[cfg(test)]
mod tests {
    use super::*;
    use lyra_domain::NliScores;

    #[track_caller]
    fn check(rationale: &[f64], premise: &str) {
        let text = "Naps were short. They helped recall. We thank all. They helped speed. Costs rose.";
        let sentences = lyra_text::sentences(text, Some("en"));
        let judgement = NliScores { supports: 0.8, refutes: 0.1, neutral: 0.1 }.judgement();
        let verified = Verified { judgement, rationale: rationale.to_vec() };
        let read = &sentences[..rationale.len()];
        assert_eq!(answer(read, &verified).1.premise, premise);
    }

    #[test]
    fn the_sentences_that_decide_in_their_order() {
        check(&[0.1, 0.9, 0.1], "They helped recall.");
        check(&[0.1, 0.3, 0.2], "They helped recall.");
        check(&[0.6, 0.9, 0.1], "Naps were short. They helped recall.");
        check(&[0.6, 0.9, 0.1, 0.8], "Naps were short. They helped recall. … They helped speed.");
        check(&[0.6, 0.9, 0.1, 0.8, 0.7], "They helped recall. … They helped speed. Costs rose.");
        let japanese = lyra_text::sentences("昼寝は役立つ。記憶が良くなる。", Some("ja"));
        assert_eq!(quote(&japanese, &[0, 1]), "昼寝は役立つ。記憶が良くなる。");
    }

    fn read(premise: &str, supports: f64, refutes: f64) -> Answer {
        let judgement = NliScores { supports, refutes, neutral: 1.0 - supports - refutes }.judgement();
        Answer { premise: premise.to_owned(), asked: premise.to_owned(), judgement }
    }

    /// Windows by their support and refutation; the later, the closer. `aim` is the window that an aim decides.
    #[track_caller]
    fn check_windows(
        whole: bool,
        aim: Option<usize>,
        windows: &[(f64, f64)],
        expect: Option<(&str, Relation)>,
    ) {
        let names = ["first", "second", "third"];
        let windows: Vec<Window> = windows
            .iter()
            .enumerate()
            .map(|(i, &(s, r))| Window {
                closeness: i as f64,
                tells: aim != Some(i),
                sentences: Vec::new(),
                answer: read(names[i], s, r),
            })
            .collect();
        let whole = if whole { verdict(&[read("whole", 0.4, 0.2)], 0.5) } else { None };
        let said = strongest(whole.clone(), &windows, 0.5, false);
        assert_eq!(said.as_ref().map(|said| (said.premise.as_str(), said.judgement.relation)), expect);
        let asked = windows.len() + usize::from(whole.is_some());
        assert_eq!(said.map_or(0, |said| said.asked.len()), asked);
    }

    #[test]
    fn the_surest_window_decides() {
        for whole in [true, false] {
            check_windows(whole, None, &[(0.1, 0.1), (0.8, 0.1)], Some(("second", Relation::Supports)));
            check_windows(whole, None, &[(0.3, 0.6), (0.4, 0.1)], Some(("first", Relation::Refutes)));
            check_windows(whole, None, &[(0.6, 0.1), (0.1, 0.8)], Some(("second", Relation::Refutes)));
            check_windows(whole, Some(1), &[(0.6, 0.1), (0.1, 0.8)], Some(("first", Relation::Supports)));
        }
        check_windows(true, None, &[(0.45, 0.1), (0.1, 0.1)], Some(("whole", Relation::Neutral)));
        check_windows(false, None, &[(0.45, 0.1), (0.1, 0.1)], Some(("second", Relation::Neutral)));
        check_windows(false, Some(1), &[(0.45, 0.1), (0.1, 0.9)], Some(("first", Relation::Neutral)));
        check_windows(false, Some(0), &[(0.9, 0.1)], Some(("first", Relation::Neutral)));
        check_windows(true, None, &[], Some(("whole", Relation::Neutral)));
        check_windows(false, None, &[], None);
    }

    #[test]
    fn a_refutation_of_our_own_wording_has_no_support() {
        let window = |supports: f64, refutes: f64| Window {
            closeness: 0.0,
            tells: true,
            sentences: Vec::new(),
            answer: read("", supports, refutes),
        };
        for (windows, doubting, expect) in [
            ([(0.1, 0.9), (0.1, 0.1)], true, Relation::Refutes),
            ([(0.1, 0.9), (0.3, 0.1)], true, Relation::Neutral),
            ([(0.1, 0.9), (0.3, 0.1)], false, Relation::Refutes),
            ([(0.45, 0.1), (0.1, 0.3)], true, Relation::Supports),
        ] {
            let windows = windows.map(|(supports, refutes)| window(supports, refutes));
            let said = strongest(None, &windows, 0.4, doubting).unwrap();
            assert_eq!(said.judgement.relation, expect, "{doubting}");
        }
        let whole = |s, r| verdict(&[read("whole", s, r)], 0.4).unwrap();
        assert_eq!(without_doubtful(whole(0.1, 0.8)).judgement.relation, Relation::Refutes);
        assert_eq!(without_doubtful(whole(0.25, 0.7)).judgement.relation, Relation::Neutral);
        assert_eq!(without_doubtful(whole(0.7, 0.25)).judgement.relation, Relation::Supports);
    }

    /// Windows from every second sentence on, by their support and what their sentences' probabilities are.
    #[track_caller]
    fn check_shown(windows: &[(f64, [f64; 4])], expect: Option<&[usize]>) {
        let windows: Vec<Window> = windows
            .iter()
            .enumerate()
            .map(|(i, (supports, chances))| Window {
                closeness: 0.0,
                tells: true,
                sentences: (2 * i..).zip(chances.iter().copied()).collect(),
                answer: read("", *supports, 0.0),
            })
            .collect();
        let verdict = strongest(None, &windows, 0.5, false).unwrap();
        assert_eq!(shown(&windows, &verdict, 0.5).as_deref(), expect);
    }

    #[test]
    fn what_other_windows_of_the_side_say_is_shown_too() {
        check_shown(&[(0.3, [0.9; 4]), (0.2, [0.9; 4])], None);
        check_shown(&[(0.8, [0.1, 0.3, 0.1, 0.1])], Some(&[1]));
        check_shown(&[(0.8, [0.1, 0.9, 0.1, 0.1]), (0.6, [0.1, 0.1, 0.1, 0.8])], Some(&[1, 5]));
        // A window that does not take the side adds nothing.
        check_shown(&[(0.8, [0.1, 0.9, 0.1, 0.1]), (0.4, [0.1, 0.1, 0.1, 0.8])], Some(&[1]));
        // The surest window's sentence is among the three, and each sentence counts as in the window that is surest of it.
        check_shown(&[(0.9, [0.1, 0.5, 0.6, 0.3]), (0.6, [0.1, 0.7, 0.8, 0.9])], Some(&[2, 4, 5]));
        check_shown(&[(0.6, [0.1, 0.5, 0.1, 0.45]), (0.9, [0.1, 0.1, 0.1, 0.2])], Some(&[1, 3, 5]));
    }

    #[test]
    fn windows_cover_every_sentence() {
        for count in 1..30_usize {
            let text = "Naps help recall. ".repeat(count);
            let sentences = lyra_text::sentences(&text, Some("en"));
            let all: Vec<(usize, &[Sentence])> = windows(&sentences).collect();
            assert!(all.iter().all(|(_, window)| !window.is_empty() && window.len() <= WINDOW));
            assert!(all.iter().all(|&(from, window)| window.first() == sentences.get(from)));
            assert_eq!(all.last().unwrap().1.last(), sentences.last(), "{count}");
        }
        let long = lyra_text::sentences(&"Naps help recall. ".repeat(500), Some("en"));
        assert_eq!(windows(&long).count(), MAX_WINDOWS);
    }

    #[test]
    fn what_is_sent_is_bounded() {
        let long = lyra_text::sentences(&"Naps help. ".repeat(2_000), Some("en"));
        let chars: usize = part(&long).iter().map(|sentence| sentence.end - sentence.start).sum();
        assert!(chars <= MAX_PART_CHARS && chars > MAX_PART_CHARS / 2);
        let huge = lyra_text::sentences(&"nap ".repeat(5_000), Some("en"));
        assert_eq!(part(&huge).len(), 1);
    }
}
