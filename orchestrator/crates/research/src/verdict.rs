//! One passage against one claim: which sentence windows are asked, and what their answers amount to.
//!
//! A long passage is judged by windows of one and of two sentences. Only windows close to the claim are asked: the strongest
//! of many answers would turn any bias of the model into evidence. Of those that are asked, the strongest support and the
//! strongest refutation both count (see [`together`]).

use crate::ports::Inference;
use crate::{ResearchConfig, Result};
use lyra_domain::ranking::top_by;
use lyra_domain::{AppliedCalibration, NliJudgement, NliScores, Probability, Relation, vector};

/// Longest window, in characters: with a claim of 300 beside it, it mostly stays under the 256 tokens of a small model. A
/// window that does not is asked in parts.
const MAX_WINDOW_CHARS: usize = 800;
/// A part of a window that is shorter than this is not cut again: then it is the claim that is too long.
const MIN_PART_CHARS: usize = 40;

/// What a passage says about a claim.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The window that decided: one or two sentences of the passage, or a part of one.
    pub premise: String,
    /// Relation and scores. Below the least confidence it is neutral, with the scores as they are.
    pub judgement: NliJudgement,
    /// Every window that was asked, the closest one first.
    pub asked: Vec<String>,
}

/// One window's answer.
struct Answer {
    premise: String,
    judgement: NliJudgement,
}

/// Holds a claim against passages, each with its ISO 639-1 code; `None` for a passage without text, or beside which the
/// claim is longer than the model reads.
///
/// # Errors
/// What the models answered.
pub async fn hold_against(
    inference: &dyn Inference,
    config: &ResearchConfig,
    claim: &str,
    passages: &[(&str, Option<&str>)],
) -> Result<Vec<Option<Verdict>>> {
    let vectors = inference.embed(&[claim.to_owned()]).await?;
    let passages = Passage::cut(inference, passages).await?;
    let vector = vectors.first().map(Vec::as_slice).unwrap_or_default();
    verdicts(inference, config, (claim, vector), &passages.iter().collect::<Vec<_>>()).await
}

/// A passage cut into windows, with their vectors.
pub(crate) struct Passage {
    windows: Vec<String>,
    vectors: Vec<Vec<f32>>,
}

impl Passage {
    /// Cuts passages into windows and embeds these, in one call.
    pub(crate) async fn cut(
        inference: &dyn Inference,
        passages: &[(&str, Option<&str>)],
    ) -> Result<Vec<Self>> {
        let windows: Vec<Vec<String>> = passages
            .iter()
            .map(|(text, language)| {
                let sentences = lyra_text::sentences(text, *language);
                lyra_text::windows(&sentences, MAX_WINDOW_CHARS).into_iter().map(|w| w.text).collect()
            })
            .collect();
        let texts: Vec<String> = windows.iter().flatten().cloned().collect();
        let mut vectors =
            if texts.is_empty() { Vec::new() } else { inference.embed(&texts).await? }.into_iter();
        Ok(windows
            .into_iter()
            .map(|windows| Self { vectors: vectors.by_ref().take(windows.len()).collect(), windows })
            .collect())
    }

    /// The windows to show to the model: the closest ones above the limit, the very closest in any case.
    fn premises(&self, claim: &[f32], config: &ResearchConfig) -> Vec<String> {
        let cosine: Vec<f64> = self.vectors.iter().map(|v| f64::from(vector::dot(claim, v))).collect();
        top_by(&cosine, config.windows_per_passage)
            .into_iter()
            .enumerate()
            .filter(|&(place, i)| place == 0 || cosine[i] >= f64::from(config.window_similarity))
            .map(|(_, i)| self.windows[i].clone())
            .collect()
    }
}

/// What each passage says about a claim, given with its vector.
pub(crate) async fn verdicts(
    inference: &dyn Inference,
    config: &ResearchConfig,
    (claim, vector): (&str, &[f32]),
    passages: &[&Passage],
) -> Result<Vec<Option<Verdict>>> {
    let premises = passages.iter().enumerate().flat_map(|(passage, p)| {
        p.premises(vector, config).into_iter().map(move |premise| (passage, premise))
    });
    let mut answers: Vec<Vec<Answer>> = passages.iter().map(|_| Vec::new()).collect();
    let mut asked: Vec<(usize, String)> = premises.collect();
    while !asked.is_empty() {
        let pairs: Vec<(String, String)> =
            asked.iter().map(|(_, premise)| (premise.clone(), claim.to_owned())).collect();
        let mut too_long = Vec::new();
        for ((passage, premise), judgement) in asked.into_iter().zip(inference.judge(&pairs).await?) {
            match judgement {
                Some(judgement) => answers[passage].push(Answer { premise, judgement }),
                None => too_long.extend(parts(&premise).into_iter().map(|part| (passage, part))),
            }
        }
        asked = too_long;
    }
    Ok(answers.iter().map(|answers| verdict(answers, config.min_nli_confidence)).collect())
}

/// A window in two parts or more, at a sentence's end or between words; nothing when it is short.
fn parts(window: &str) -> Vec<String> {
    let chars = window.chars().count();
    if chars <= MIN_PART_CHARS {
        return Vec::new();
    }
    let sentences = lyra_text::sentences(window, None);
    let halves = lyra_text::windows(&sentences, chars.div_ceil(2));
    halves.into_iter().filter(|w| w.sentences == 1).map(|w| w.text).collect()
}

/// What the windows of one passage say together, the closest one first: the support or refutation that is sure enough
/// with what the other side has to say, else neutral as the closest window says it.
fn verdict(answers: &[Answer], min_confidence: f64) -> Option<Verdict> {
    let closest = answers.first()?;
    let strongest = |score: fn(&NliScores) -> f64| {
        let scores: Vec<f64> = answers.iter().map(|answer| score(&answer.judgement.scores)).collect();
        top_by(&scores, 1).first().map_or(closest, |&best| &answers[best])
    };
    let support = strongest(|scores| scores.supports);
    let refutation = strongest(|scores| scores.refutes);
    let judgement = together(&support.judgement, &refutation.judgement);
    let side = if judgement.scores.supports >= judgement.scores.refutes { support } else { refutation };
    let sure = |of: f64| of >= min_confidence;
    let said = |premise: &str, judgement| {
        let asked = answers.iter().map(|answer| answer.premise.clone()).collect();
        Verdict { premise: premise.to_owned(), judgement, asked }
    };
    if judgement.relation != Relation::Neutral && sure(judgement.confidence.get()) {
        return Some(said(&side.premise, judgement));
    }
    let torn = sure(support.judgement.scores.supports) && sure(refutation.judgement.scores.refutes);
    let (premise, judgement) =
        if torn { (&side.premise, judgement) } else { (&closest.premise, closest.judgement) };
    let confidence = Probability::clamped(judgement.scores.neutral);
    let judgement = NliJudgement { relation: Relation::Neutral, confidence, ..judgement };
    Some(said(premise, judgement))
}

/// The strongest support and the strongest refutation as one judgement.
///
/// Of one window these are its scores. Of two, with support `s` in one and refutation `r` in the other, taken as
/// independent, and given that a passage does not do both: support `s(1−r)`, refutation `r(1−s)`, neither `(1−s)(1−r)`,
/// divided by their sum. A side is never surer than its window was; two sure sides leave doubt.
fn together(support: &NliJudgement, refutation: &NliJudgement) -> NliJudgement {
    if support == refutation {
        return *support;
    }
    let judgement = joint(&support.scores, &refutation.scores).judgement();
    let calibration = support.calibration.zip(refutation.calibration).map(|(ours, theirs)| {
        AppliedCalibration { version: ours.version, raw: joint(&ours.raw, &theirs.raw) }
    });
    NliJudgement { calibration, ..judgement }
}

fn joint(support: &NliScores, refutation: &NliScores) -> NliScores {
    let (s, r) = (support.supports, refutation.refutes);
    let weights = [s * (1.0 - r), r * (1.0 - s), (1.0 - s) * (1.0 - r)];
    let sum: f64 = weights.iter().sum();
    if sum <= 0.0 {
        return NliScores { supports: 0.5, refutes: 0.5, neutral: 0.0 };
    }
    let [supports, refutes, neutral] = weights.map(|weight| weight / sum);
    NliScores { supports, refutes, neutral }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn scores(supports: f64, refutes: f64) -> NliScores {
        NliScores { supports, refutes, neutral: 1.0 - supports - refutes }
    }

    #[track_caller]
    fn check(answers: &[(f64, f64)], expect: Option<(usize, Relation)>) {
        let names = ["first", "second", "third"];
        let answers: Vec<Answer> = answers
            .iter()
            .zip(names)
            .map(|(&(s, r), name)| Answer { premise: name.to_owned(), judgement: scores(s, r).judgement() })
            .collect();
        let got = verdict(&answers, 0.6).map(|verdict| (verdict.premise, verdict.judgement.relation));
        assert_eq!(got, expect.map(|(i, relation)| (names[i].to_owned(), relation)));
    }

    #[test]
    fn both_sides_count_and_doubt_is_neutral() {
        check(&[], None);
        check(&[(0.1, 0.1)], Some((0, Relation::Neutral)));
        check(&[(0.1, 0.1), (0.8, 0.1)], Some((1, Relation::Supports)));
        check(&[(0.55, 0.3), (0.4, 0.2)], Some((0, Relation::Neutral)));
        // One side is all but certain, the other only likely.
        check(&[(0.7, 0.1), (0.1, 0.1), (0.02, 0.97)], Some((2, Relation::Refutes)));
        // Both are sure: neither wins.
        check(&[(0.1, 0.1), (0.85, 0.1), (0.1, 0.8)], Some((1, Relation::Neutral)));
        check(&[(1.0, 0.0), (0.0, 1.0)], Some((0, Relation::Neutral)));
    }

    #[test]
    fn a_window_in_parts() {
        assert!(parts("Too short to cut.").is_empty());
        let window = "Naps improved recall in the first trial. In the second trial they did not.";
        assert_eq!(
            parts(window),
            ["Naps improved recall in the first", "trial.", "In the second trial they did not."]
        );
        let long = "word ".repeat(50);
        assert!(parts(&long).iter().all(|part| part.len() < long.len()));
    }

    proptest! {
        #[test]
        fn a_side_is_never_surer_than_its_window(s in 0.0..=1.0_f64, r in 0.0..=1.0_f64) {
            let joint = joint(&scores(s, 0.0), &scores(0.0, r));
            let sum = joint.supports + joint.refutes + joint.neutral;
            prop_assert!((sum - 1.0).abs() < 1e-9);
            prop_assert!(s >= 1.0 && r >= 1.0 || joint.supports <= s + 1e-9 && joint.refutes <= r + 1e-9);
            prop_assert!((joint.supports > joint.refutes) == (s > r) || (s - r).abs() < 1e-9);
        }

        #[test]
        fn parts_lose_no_word(window in "[a-z .,。あ漢0-9]{0,200}") {
            let found = parts(&window);
            let bare = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            prop_assert!(found.is_empty() || bare(&found.concat()) == bare(&window));
            prop_assert!(found.iter().all(|part| part.chars().count() < window.chars().count()));
        }
    }
}
