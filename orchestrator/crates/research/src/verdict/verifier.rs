//! A verifier reads the passage whole, and says of every sentence whether it decides.

use super::{Answer, Claimed, Judge, Passage, Verdict, mean, neutral, verdict};
use crate::Result;
use crate::ports::{Verified, Verify};
use lyra_domain::{NliJudgement, Relation, ranking::top_by};
use lyra_text::Sentence;

/// Items of one request.
const BATCH: usize = 16;
/// Parts in which a passage is read at most; what comes after them is not read.
const MAX_PARTS: usize = 4;
/// Most characters of a part: more than a model of 2,000 tokens reads.
const MAX_PART_CHARS: usize = 8_000;
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
    let mut said = in_words(judge, claim.text, passages).await?;
    let reworded = (judge.config.two_wordings && claim.given)
        .then(|| lyra_text::reworded(claim.text, claim.language))
        .flatten();
    let Some(reworded) = reworded else { return Ok(said) };
    // Only a side has to be confirmed, so that most passages are read once.
    let sided: Vec<usize> = (0..said.len()).filter(|&i| said[i].as_ref().is_some_and(takes_side)).collect();
    let asked: Vec<&Passage> = sided.iter().map(|&i| passages[i]).collect();
    for (i, other) in sided.into_iter().zip(in_words(judge, &reworded, &asked).await?) {
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
async fn in_words(judge: &Judge<'_>, claim: &str, passages: &[&Passage]) -> Result<Vec<Option<Verdict>>> {
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
                .map(|(&(passage, _), sentences)| {
                    let title = &passages[passage].title;
                    Verify {
                        claim: claim.to_owned(),
                        title: (!title.is_empty()).then(|| title.clone()),
                        sentences: sentences.iter().map(|sentence| sentence.text.clone()).collect(),
                    }
                })
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

    #[test]
    fn what_is_sent_is_bounded() {
        let long = lyra_text::sentences(&"Naps help. ".repeat(2_000), Some("en"));
        let chars: usize = part(&long).iter().map(|sentence| sentence.end - sentence.start).sum();
        assert!(chars <= MAX_PART_CHARS && chars > MAX_PART_CHARS / 2);
        let huge = lyra_text::sentences(&"nap ".repeat(5_000), Some("en"));
        assert_eq!(part(&huge).len(), 1);
    }
}
