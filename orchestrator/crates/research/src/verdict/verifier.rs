//! A verifier reads the passage whole, and says of every sentence whether it decides. A passage that may have something to say is
//! then read again by windows of a few sentences, in which it sees what it overlooks in the whole: on claims as researchers cite,
//! label F1 rises from 0.49 to 0.64 (`docs/quality.md`).

use super::{Answer, Claimed, Judge, Passage, Verdict, mean, neutral, verdict};
use crate::Result;
use crate::ports::{Verified, Verify};
use lyra_domain::{NliJudgement, NliScores, Relation, ranking::top_by};
use lyra_text::Sentence;

/// Items of one request.
const BATCH: usize = 16;
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
/// From this probability on a sentence is part of what decides.
const DECIDES: f64 = 0.5;
/// Most sentences that are shown as what decided.
const MAX_RATIONALE: usize = 3;

/// What each passage says about a claim. A claim that a user gives is judged in a second wording as well where rules make
/// one: a side counts when both say it.
pub(super) async fn verdicts(
    judge: &Judge<'_>,
    claim: &Claimed<'_>,
    passages: &[&Passage],
) -> Result<Vec<Option<Verdict>>> {
    let mut said = in_words(judge, claim.text, claim.given, passages).await?;
    let reworded = (judge.config.two_wordings && claim.given)
        .then(|| lyra_text::reworded(claim.text, claim.language))
        .flatten();
    let Some(reworded) = reworded else { return Ok(said) };
    // Only a side has to be confirmed, so that most passages are read once.
    let sided: Vec<usize> = (0..said.len()).filter(|&i| said[i].as_ref().is_some_and(takes_side)).collect();
    let asked: Vec<&Passage> = sided.iter().map(|&i| passages[i]).collect();
    for (i, other) in sided.into_iter().zip(in_words(judge, &reworded, claim.given, &asked).await?) {
        said[i] = said[i].take().map(|one| agreed(one, other, &reworded));
    }
    Ok(said)
}

fn takes_side(verdict: &Verdict) -> bool {
    verdict.judgement.relation != Relation::Neutral
}

/// A side taken on a claim with the verdict on the same claim in other words.
fn agreed(mut verdict: Verdict, other: Option<Verdict>, reworded: &str) -> Verdict {
    let Some(other) = other else { return verdict };
    let said = verdict.judgement.relation;
    let both = mean(&[verdict.judgement, other.judgement]);
    verdict.judgement = if said == other.judgement.relation {
        let confidence = if said == Relation::Supports { both.scores.supports } else { both.scores.refutes };
        NliJudgement { relation: said, confidence: confidence.into(), ..both }
    } else {
        let found = format!("wording: \u{201c}{reworded}\u{201d} is judged {}", other.judgement.relation);
        verdict.discrepancies.differs.push(found);
        neutral(both)
    };
    verdict
}

/// What each passage says about a claim in these words.
async fn in_words(
    judge: &Judge<'_>,
    claim: &str,
    given: bool,
    passages: &[&Passage],
) -> Result<Vec<Option<Verdict>>> {
    let mut said = whole(judge, claim, passages).await?;
    let speaks = |verdict: &Verdict| given || verdict.judgement.scores.neutral <= SILENT;
    let closer: Vec<usize> = (0..passages.len())
        .filter(|&i| passages[i].sentences.len() > WINDOW && said[i].as_ref().is_some_and(speaks))
        .collect();
    let asked: Vec<&Passage> = closer.iter().map(|&i| passages[i]).collect();
    let threshold = judge.threshold();
    for (i, windows) in closer.into_iter().zip(by_windows(judge, claim, &asked).await?) {
        said[i] = said[i].take().map(|whole| strongest(whole, &windows, threshold));
    }
    Ok(said)
}

/// The side of the window that is surest of one, when it is sure enough; else neutral, as the whole passage says it. A window of the
/// other side that is less sure takes nothing away: it did in trials, and more right sides were lost than wrong ones.
fn strongest(whole: Verdict, windows: &[Answer], threshold: f64) -> Verdict {
    let best = |score: fn(&NliScores) -> f64| {
        let scores: Vec<f64> = windows.iter().map(|window| score(&window.judgement.scores)).collect();
        top_by(&scores, 1).first().map(|&i| (scores[i], &windows[i]))
    };
    let (Some((support, supports)), Some((refutation, refutes))) =
        (best(|scores| scores.supports), best(|scores| scores.refutes))
    else {
        return whole;
    };
    let (score, relation, window) = if support >= refutation {
        (support, Relation::Supports, supports)
    } else {
        (refutation, Relation::Refutes, refutes)
    };
    let asked =
        whole.asked.iter().cloned().chain(windows.iter().map(|window| window.asked.clone())).collect();
    if score < threshold {
        return Verdict { judgement: neutral(whole.judgement), asked, ..whole };
    }
    let judgement = NliJudgement { relation, confidence: score.into(), ..window.judgement };
    Verdict { premise: window.premise.clone(), judgement, asked, ..whole }
}

/// What windows of each passage say about a claim.
async fn by_windows(judge: &Judge<'_>, claim: &str, passages: &[&Passage]) -> Result<Vec<Vec<Answer>>> {
    let windows: Vec<(usize, &[Sentence])> = passages
        .iter()
        .enumerate()
        .flat_map(|(i, passage)| windows(&passage.sentences).map(move |window| (i, window)))
        .collect();
    let mut answers: Vec<Vec<Answer>> = passages.iter().map(|_| Vec::new()).collect();
    for batch in windows.chunks(BATCH) {
        let items: Vec<Verify> = batch.iter().map(|&(i, window)| item(claim, passages[i], window)).collect();
        for (&(i, window), verified) in batch.iter().zip(judge.inference.verify(&items).await?) {
            let read = &window[..verified.rationale.len().min(window.len())];
            if !read.is_empty() {
                answers[i].push(answer(read, &verified).1);
            }
        }
    }
    Ok(answers)
}

/// Overlapping runs of sentences; the last one ends with the passage.
fn windows(sentences: &[Sentence]) -> impl Iterator<Item = &[Sentence]> {
    let last = sentences.len().saturating_sub(STRIDE).max(1);
    (0..last)
        .step_by(STRIDE)
        .map(|from| &sentences[from..sentences.len().min(from + WINDOW)])
        .take(MAX_WINDOWS)
}

fn item(claim: &str, passage: &Passage, sentences: &[Sentence]) -> Verify {
    Verify {
        claim: claim.to_owned(),
        title: (!passage.title.is_empty()).then(|| passage.title.clone()),
        sentences: sentences.iter().map(|sentence| sentence.text.clone()).collect(),
    }
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
        let mut next = Vec::new();
        for batch in open.chunks(BATCH) {
            let parts: Vec<&[Sentence]> =
                batch.iter().map(|&(passage, from)| part(&passages[passage].sentences[from..])).collect();
            let items: Vec<Verify> = batch
                .iter()
                .zip(&parts)
                .map(|(&(passage, _), sentences)| item(claim, passages[passage], sentences))
                .collect();
            let verified = judge.inference.verify(&items).await?;
            for ((&(passage, from), sentences), verified) in batch.iter().zip(parts).zip(verified) {
                let read = &sentences[..verified.rationale.len().min(sentences.len())];
                if read.is_empty() {
                    continue;
                }
                answers[passage].push(answer(read, &verified));
                next.push((passage, from + read.len()));
            }
        }
        open = next;
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
            Some(before) if before + 1 < place => quote.push_str(" … "),
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

    fn window(premise: &str, supports: f64, refutes: f64) -> Answer {
        let judgement = NliScores { supports, refutes, neutral: 1.0 - supports - refutes }.judgement();
        Answer { premise: premise.to_owned(), asked: premise.to_owned(), judgement }
    }

    #[track_caller]
    fn check_windows(windows: &[(f64, f64)], expect: (&str, Relation)) {
        let names = ["first", "second", "third"];
        let windows: Vec<Answer> =
            names.iter().zip(windows).map(|(name, &(s, r))| window(name, s, r)).collect();
        let whole = verdict(&[window("whole", 0.4, 0.2)], 0.5).unwrap();
        let said = strongest(whole, &windows, 0.5);
        assert_eq!((said.premise.as_str(), said.judgement.relation), expect);
        assert_eq!(said.asked[0], "whole");
    }

    #[test]
    fn the_surest_window_decides() {
        check_windows(&[(0.1, 0.1), (0.8, 0.1)], ("second", Relation::Supports));
        check_windows(&[(0.3, 0.6), (0.4, 0.1)], ("first", Relation::Refutes));
        check_windows(&[(0.45, 0.1), (0.1, 0.1)], ("whole", Relation::Neutral));
        check_windows(&[(0.6, 0.1), (0.1, 0.8)], ("second", Relation::Refutes));
        check_windows(&[], ("whole", Relation::Neutral));
    }

    #[test]
    fn windows_cover_every_sentence() {
        for count in 1..30_usize {
            let text = "Naps help recall. ".repeat(count);
            let sentences = lyra_text::sentences(&text, Some("en"));
            let all: Vec<&[Sentence]> = windows(&sentences).collect();
            assert!(all.iter().all(|window| !window.is_empty() && window.len() <= WINDOW));
            assert_eq!(all.last().unwrap().last(), sentences.last(), "{count}");
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
