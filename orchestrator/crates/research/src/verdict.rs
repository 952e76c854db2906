//! One passage against one claim: which sentence windows are asked, and what their answers amount to.
//!
//! A long passage is judged by windows of one and of two sentences. Only windows close to the claim are asked:
//! the strongest of many answers would turn any bias of the model into evidence.

use crate::ports::TaskFragment;
use crate::{Pipeline, ResearchConfig, Result};
use lyra_domain::ranking::top_by;
use lyra_domain::{NliJudgement, Probability, Relation, vector};

/// Longest window, in characters: with a claim of 300 beside it, it stays under the 256 tokens of a small model.
const MAX_WINDOW_CHARS: usize = 800;

/// A passage cut into windows, with their vectors.
pub(crate) struct Passage {
    windows: Vec<String>,
    vectors: Vec<Vec<f32>>,
}

impl Passage {
    /// Cuts passages into windows and embeds these, in one call.
    pub(crate) async fn cut(pipeline: &Pipeline, fragments: &[&TaskFragment]) -> Result<Vec<Self>> {
        let windows: Vec<Vec<String>> = fragments
            .iter()
            .map(|f| {
                let sentences = lyra_text::sentences(&f.fragment.text_content, f.language.as_deref());
                lyra_text::windows(&sentences, MAX_WINDOW_CHARS).into_iter().map(|w| w.text).collect()
            })
            .collect();
        let texts: Vec<String> = windows.iter().flatten().cloned().collect();
        let mut vectors =
            if texts.is_empty() { Vec::new() } else { pipeline.inference.embed(&texts).await? }.into_iter();
        Ok(windows
            .into_iter()
            .map(|windows| Self { vectors: vectors.by_ref().take(windows.len()).collect(), windows })
            .collect())
    }

    /// The windows to show to the model: the closest ones above the limit, the very closest in any case.
    pub(crate) fn premises(&self, claim: &[f32], config: &ResearchConfig) -> Vec<&str> {
        let cosine: Vec<f64> = self.vectors.iter().map(|v| f64::from(vector::dot(claim, v))).collect();
        top_by(&cosine, config.windows_per_passage)
            .into_iter()
            .enumerate()
            .filter(|&(place, i)| place == 0 || cosine[i] >= f64::from(config.window_similarity))
            .map(|(_, i)| self.windows[i].as_str())
            .collect()
    }
}

/// What the windows of one passage say together: the surest support or refutation, if one is sure enough, else the
/// closest window's scores as neutral.
pub(crate) fn verdict<'a>(
    answers: &[(&'a str, NliJudgement)],
    min_confidence: f64,
) -> Option<(&'a str, NliJudgement)> {
    let telling = answers
        .iter()
        .filter(|(_, a)| a.relation != Relation::Neutral && a.confidence.get() >= min_confidence)
        .max_by(|(_, a), (_, b)| a.confidence.get().total_cmp(&b.confidence.get()));
    telling.copied().or_else(|| {
        let (premise, closest) = answers.first()?;
        let confidence = Probability::clamped(closest.scores.neutral);
        Some((*premise, NliJudgement { relation: Relation::Neutral, confidence, ..*closest }))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use lyra_domain::NliScores;

    fn answer(supports: f64, refutes: f64) -> NliJudgement {
        NliScores { supports, refutes, neutral: 1.0 - supports - refutes }.judgement()
    }

    #[track_caller]
    fn check(answers: &[(f64, f64)], expect: Option<(usize, Relation)>) {
        let names = ["first", "second", "third"];
        let answers: Vec<_> = answers.iter().zip(names).map(|(&(s, r), name)| (name, answer(s, r))).collect();
        let got = verdict(&answers, 0.5).map(|(premise, judgement)| (premise, judgement.relation));
        assert_eq!(got, expect.map(|(i, relation)| (names[i], relation)));
    }

    #[test]
    fn the_surest_side_wins_and_doubt_is_neutral() {
        check(&[], None);
        check(&[(0.1, 0.1)], Some((0, Relation::Neutral)));
        check(&[(0.1, 0.1), (0.8, 0.1)], Some((1, Relation::Supports)));
        check(&[(0.7, 0.1), (0.1, 0.1), (0.05, 0.9)], Some((2, Relation::Refutes)));
        check(&[(0.45, 0.3), (0.4, 0.2)], Some((0, Relation::Neutral)));
    }
}
