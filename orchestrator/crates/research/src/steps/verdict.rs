//! One passage against one claim: how it is read, and what the answers amount to.
//!
//! A verifier reads the passage with its title, whole or by windows ([`verifier`]); a pair classifier is asked by windows of one and
//! of two sentences ([`pairs`]). What rules find between claim and passage can take a side away, and never gives one
//! ([`guarded`]); nor does a second wording of the claim ([`wordings`]).

mod guarded;
mod pairs;
mod verifier;
mod wordings;

use crate::ports::{Inference, JudgeKind, Models, TextRole};
use crate::{ResearchConfig, Result};
use lyra_domain::ranking::top_by;
use lyra_domain::{AppliedCalibration, Discrepancies, NliJudgement, NliScores, Probability, Relation};
use lyra_text::{Role, Sentence, guard};
use pairs::Windows;
use verifier::Finding;

/// Least probability of a side when neither the configuration nor the model states one.
const THRESHOLD: f64 = 0.5;

/// What a passage says about a claim.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The sentences that decided, as they stand in the passage; " … " stands for what is left out between them. For a side that windows
    /// take, up to three of those that decide in any of them.
    pub premise: String,
    /// Relation and scores. Below the threshold, or where a rule took the side away, it is neutral, with the scores as they
    /// are and the probability of neutral as its confidence.
    pub judgement: NliJudgement,
    /// Where claim and passage differ, by rules.
    pub discrepancies: Discrepancies,
    /// Every text that was asked about, the closest one first.
    pub asked: Vec<String>,
}

/// A passage to hold a claim against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Against<'a> {
    /// Its text.
    pub text: &'a str,
    /// ISO 639-1 code of the text.
    pub language: Option<&'a str>,
    /// Title of the work, empty when unknown.
    pub title: &'a str,
}

impl<'a> From<(&'a str, Option<&'a str>)> for Against<'a> {
    /// A text without a title.
    fn from((text, language): (&'a str, Option<&'a str>)) -> Self {
        Self { text, language, title: "" }
    }
}

/// Holds a claim against passages as one that a user gives; `None` for a passage without text, or beside which the claim is
/// longer than the model reads.
///
/// # Errors
/// What the models answered.
pub async fn hold_against<'a, P>(
    inference: &dyn Inference,
    config: &ResearchConfig,
    claim: &str,
    passages: &[P],
) -> Result<Vec<Option<Verdict>>>
where
    P: Copy + Into<Against<'a>>,
{
    let models = inference.models().await?;
    let judge = Judge { inference, config, models: &models };
    let vector = match models.judge {
        JudgeKind::Pairs => {
            inference.embed(TextRole::Query, &[claim.to_owned()]).await?.pop().unwrap_or_default()
        }
        JudgeKind::Verifier => Vec::new(),
    };
    let against: Vec<Against<'a>> = passages.iter().map(|passage| (*passage).into()).collect();
    let passages = judge.read(&against).await?;
    let claimed =
        Claimed { text: claim, language: lyra_text::language(claim), vector: &vector, origin: Origin::User };
    judge.verdicts(&claimed, &passages.iter().collect::<Vec<_>>()).await
}

/// A claim to be judged.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Claimed<'c> {
    pub(crate) text: &'c str,
    pub(crate) language: Option<&'c str>,
    /// Of the embedder; only windows are chosen by it.
    pub(crate) vector: &'c [f32],
    pub(crate) origin: Origin,
}

/// Where a claim is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The user wrote it.
    User,
    /// The question asks for it.
    Question,
    /// It stands in a passage.
    Passage,
}

impl Origin {
    /// Its claim is what the user wants to know. Passages are read by windows at once.
    fn is_given(self) -> bool {
        matches!(self, Self::User | Self::Question)
    }

    /// Lyra worded its claim. Sides have to be surer.
    fn is_worded(self) -> bool {
        matches!(self, Self::Question | Self::Passage)
    }
}

/// A passage as it is judged.
pub(crate) struct Passage {
    title: String,
    sentences: Vec<Sentence>,
    /// Whether each sentence can be evidence: what was to be found out, and how, says nothing of what was found.
    tells: Vec<bool>,
    /// What rules look at.
    words: guard::Passage,
    /// None for a verifier.
    windows: Windows,
}

impl Passage {
    /// A passage without windows.
    fn of(passage: Against<'_>) -> Self {
        let sentences = lyra_text::sentences(passage.text, passage.language);
        let roles = lyra_text::roles(&sentences, passage.language);
        Self {
            title: lyra_text::normalise(passage.title),
            tells: roles.iter().map(|role| !matches!(role, Role::Aim | Role::Method)).collect(),
            sentences,
            words: guard::Passage::of(passage.title, passage.text),
            windows: Windows::default(),
        }
    }

    /// Whether there is anything to judge.
    pub(crate) fn is_empty(&self) -> bool {
        self.sentences.is_empty()
    }
}

/// How claims are judged: by which models, with which settings.
#[derive(Clone, Copy)]
pub(crate) struct Judge<'m> {
    pub(crate) inference: &'m dyn Inference,
    pub(crate) config: &'m ResearchConfig,
    pub(crate) models: &'m Models,
}

impl Judge<'_> {
    /// Prepares passages for any number of claims.
    pub(crate) async fn read(&self, passages: &[Against<'_>]) -> Result<Vec<Passage>> {
        let mut read: Vec<Passage> = passages.iter().map(|passage| Passage::of(*passage)).collect();
        if self.models.judge == JudgeKind::Pairs {
            let texts: Vec<(&[Sentence], Option<&str>)> = read
                .iter()
                .zip(passages)
                .map(|(passage, against)| (passage.sentences.as_slice(), against.language))
                .collect();
            let windows = pairs::cut(self.inference, &texts).await?;
            for (passage, windows) in read.iter_mut().zip(windows) {
                passage.windows = windows;
            }
        }
        Ok(read)
    }

    /// What each passage says about a claim.
    pub(crate) async fn verdicts(
        &self,
        claim: &Claimed<'_>,
        passages: &[&Passage],
    ) -> Result<Vec<Option<Verdict>>> {
        let findings: Vec<Option<Finding>> = match self.models.judge {
            JudgeKind::Pairs => {
                let verdicts = pairs::verdicts(self, claim, passages).await?;
                verdicts.into_iter().map(|verdict| verdict.map(Finding::from)).collect()
            }
            JudgeKind::Verifier => verifier::verdicts(self, claim, passages).await?,
        };
        let mut verdicts: Vec<Option<Verdict>> = Vec::with_capacity(passages.len());
        for (finding, passage) in findings.into_iter().zip(passages) {
            verdicts.push(finding.map(|Finding { mut verdict, shown }| {
                guarded::guard(&mut verdict, claim.text, passage);
                // Rules look at what decided; a reader sees all that says so.
                if let Some(shown) = shown.filter(|_| takes_side(&verdict)) {
                    verdict.premise = shown;
                }
                verdict
            }));
        }
        // After the rules, so that only sides which they leave are read in a second wording.
        if self.models.judge == JudgeKind::Verifier {
            wordings::confirm(self, claim, passages, &mut verdicts).await?;
            if claim.origin.is_worded() {
                for verdict in verdicts.iter_mut().flatten() {
                    only_if_sure(verdict, self.config.worded_confidence);
                }
            }
        }
        Ok(verdicts)
    }

    /// Least probability of a side.
    fn threshold(&self) -> f64 {
        self.config.min_nli_confidence.or(self.models.threshold).unwrap_or(THRESHOLD)
    }
}

/// The model's answer to one part of a passage.
struct Answer {
    /// The sentences that decided.
    premise: String,
    /// What the model was shown.
    asked: String,
    judgement: NliJudgement,
}

/// What the parts of one passage say together, the closest one first: the support or refutation that is sure enough with
/// what the other side has to say, else neutral as the closest part says it.
fn verdict(answers: &[Answer], threshold: f64) -> Option<Verdict> {
    let closest = answers.first()?;
    let strongest = |score: fn(&NliScores) -> f64| {
        let scores: Vec<f64> = answers.iter().map(|answer| score(&answer.judgement.scores)).collect();
        top_by(&scores, 1).first().map_or(closest, |&best| &answers[best])
    };
    let support = strongest(|scores| scores.supports);
    let refutation = strongest(|scores| scores.refutes);
    let judgement = together(&support.judgement, &refutation.judgement);
    let side = if judgement.scores.supports >= judgement.scores.refutes { support } else { refutation };
    let sure = |of: f64| of >= threshold;
    let said = |premise: &str, judgement| Verdict {
        premise: premise.to_owned(),
        judgement,
        discrepancies: Discrepancies::default(),
        asked: answers.iter().map(|answer| answer.asked.clone()).collect(),
    };
    if judgement.relation != Relation::Neutral && sure(judgement.confidence.get()) {
        return Some(said(&side.premise, judgement));
    }
    let torn = sure(support.judgement.scores.supports) && sure(refutation.judgement.scores.refutes);
    let (premise, judgement) =
        if torn { (&side.premise, judgement) } else { (&closest.premise, closest.judgement) };
    Some(said(premise, neutral(judgement)))
}

fn takes_side(verdict: &Verdict) -> bool {
    verdict.judgement.relation != Relation::Neutral
}

/// Takes a side away that is less likely than `least`. For a claim that Lyra worded: of the passages that a search finds for such a
/// claim, few decide it, so that a side is less often right than on passages that were chosen for their claims.
fn only_if_sure(verdict: &mut Verdict, least: f64) {
    if takes_side(verdict) && verdict.judgement.confidence.get() < least {
        verdict.judgement = neutral(verdict.judgement);
    }
}

/// The judgment without its side: the scores stay, and the confidence is the probability of neutral.
fn neutral(judgement: NliJudgement) -> NliJudgement {
    let confidence = Probability::clamped(judgement.scores.neutral);
    NliJudgement { relation: Relation::Neutral, confidence, ..judgement }
}

/// The strongest support and the strongest refutation as one judgment.
///
/// For one part, these are its scores. For two, with support `s` in one and refutation `r` in the other, taken as
/// independent, and given that a passage does not do both: support `s(1−r)`, refutation `r(1−s)`, neither `(1−s)(1−r)`,
/// divided by their sum. No side gains confidence over its part; two confident sides cancel out.
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

/// The mean of judgments; neutral for an empty list.
fn mean(judgements: &[NliJudgement]) -> NliJudgement {
    let of = |scores: &dyn Fn(&NliJudgement) -> NliScores| {
        let (mut sum, mut count) = (NliScores { supports: 0.0, refutes: 0.0, neutral: 0.0 }, 0.0);
        for scores in judgements.iter().map(scores) {
            sum.supports += scores.supports;
            sum.refutes += scores.refutes;
            sum.neutral += scores.neutral;
            count += 1.0;
        }
        if count == 0.0 {
            return NliScores { supports: 0.0, refutes: 0.0, neutral: 1.0 };
        }
        NliScores {
            supports: sum.supports / count,
            refutes: sum.refutes / count,
            neutral: sum.neutral / count,
        }
    };
    let version =
        judgements.iter().find_map(|judgement| judgement.calibration).map(|applied| applied.version);
    let raw =
        |judgement: &NliJudgement| judgement.calibration.map_or(judgement.scores, |applied| applied.raw);
    let calibration = version.map(|version| AppliedCalibration { version, raw: of(&raw) });
    NliJudgement { calibration, ..of(&|judgement| judgement.scores).judgement() }
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
            .map(|(&(s, r), name)| Answer {
                premise: name.to_owned(),
                asked: name.to_owned(),
                judgement: scores(s, r).judgement(),
            })
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
    fn the_confidence_of_neutral_is_its_probability() {
        let judgement = neutral(scores(0.7, 0.2).judgement());
        assert_eq!(judgement.relation, Relation::Neutral);
        assert!(
            (judgement.confidence.get() - 0.1).abs() < 1e-9 && (judgement.scores.supports - 0.7).abs() < 1e-9
        );
    }

    #[test]
    fn a_side_on_a_claim_of_ours_has_to_be_sure() {
        for (scores, expect) in [
            (scores(0.8, 0.1), Relation::Supports),
            (scores(0.7, 0.1), Relation::Neutral),
            (scores(0.1, 0.8), Relation::Refutes),
            (scores(0.1, 0.7), Relation::Neutral),
            (scores(0.1, 0.1), Relation::Neutral),
        ] {
            let (premise, discrepancies) = (String::new(), Discrepancies::default());
            let mut verdict =
                Verdict { premise, judgement: scores.judgement(), discrepancies, asked: Vec::new() };
            only_if_sure(&mut verdict, 0.75);
            assert_eq!((verdict.judgement.relation, verdict.judgement.scores), (expect, scores));
        }
    }

    proptest! {
        #[test]
        fn a_side_is_never_surer_than_its_part(s in 0.0..=1.0_f64, r in 0.0..=1.0_f64) {
            let joint = joint(&scores(s, 0.0), &scores(0.0, r));
            let sum = joint.supports + joint.refutes + joint.neutral;
            prop_assert!((sum - 1.0).abs() < 1e-9);
            prop_assert!(s >= 1.0 && r >= 1.0 || joint.supports <= s + 1e-9 && joint.refutes <= r + 1e-9);
            prop_assert!((joint.supports > joint.refutes) == (s > r) || (s - r).abs() < 1e-9);
        }

        #[test]
        fn a_mean_lies_between(all in prop::collection::vec((0.0..=0.5_f64, 0.0..=0.5_f64), 1..6)) {
            let judgements: Vec<NliJudgement> = all.iter().map(|&(s, r)| scores(s, r).judgement()).collect();
            let mean = mean(&judgements).scores;
            prop_assert!((mean.supports + mean.refutes + mean.neutral - 1.0).abs() < 1e-9);
            let least = all.iter().map(|(s, _)| *s).fold(1.0, f64::min);
            let most = all.iter().map(|(s, _)| *s).fold(0.0, f64::max);
            prop_assert!(least - 1e-9 <= mean.supports && mean.supports <= most + 1e-9);
        }
    }
}
