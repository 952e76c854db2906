//! A pair classifier reads one or two sentences at a time, so that it has to be chosen which.
//!
//! Only windows close to the claim are asked, and what concludes: the strongest of many answers would turn any bias of the
//! model into evidence. Aims, methods and what was known before are closest to a claim by nature and say nothing of it. What
//! a sentence says is the mean over the windows that hold it, so that one odd answer does not decide.

use super::{Answer, Claimed, Judge, Passage, Verdict, mean, verdict};
use crate::ports::{Inference, TextRole};
use crate::{ResearchConfig, Result};
use lyra_domain::{NliJudgement, Relation, ranking::top_by, vector};
use lyra_text::{Role, Sentence, Window, roles};

/// Longest window, in characters: with a claim of 300 beside it, it mostly stays under the 256 tokens of a small model. A
/// window that does not is asked in parts.
const MAX_WINDOW_CHARS: usize = 800;
/// A part of a window that is shorter than this is not cut again: then it is the claim that is too long.
const MIN_PART_CHARS: usize = 40;

/// The windows of a passage that may be asked, with their vectors.
#[derive(Default)]
pub(super) struct Windows {
    all: Vec<Window>,
    vectors: Vec<Vec<f32>>,
    /// The window that concludes, always asked.
    conclusion: Option<usize>,
}

/// Cuts passages into windows and embeds these, in one call.
pub(super) async fn cut(
    inference: &dyn Inference,
    passages: &[(&[Sentence], Option<&str>)],
) -> Result<Vec<Windows>> {
    let mut cut: Vec<Windows> =
        passages.iter().map(|(sentences, language)| Windows::of(sentences, *language)).collect();
    let texts: Vec<String> =
        cut.iter().flat_map(|passage| &passage.all).map(|window| window.text.clone()).collect();
    let mut vectors =
        if texts.is_empty() { Vec::new() } else { inference.embed(TextRole::Passage, &texts).await? }
            .into_iter();
    for passage in &mut cut {
        passage.vectors = vectors.by_ref().take(passage.all.len()).collect();
    }
    Ok(cut)
}

impl Windows {
    /// Windows without a sentence that cannot be evidence, unless there are no others.
    fn of(sentences: &[Sentence], language: Option<&str>) -> Self {
        let roles = roles(sentences, language);
        let tells = |sentence: usize| roles.get(sentence).is_none_or(|role| role.tells());
        let all = lyra_text::windows(sentences, MAX_WINDOW_CHARS);
        let telling = |window: &Window| (window.sentence..window.sentence + window.sentences).all(tells);
        let windows: Vec<Window> = all.iter().filter(|window| telling(window)).cloned().collect();
        let windows = if windows.is_empty() { all } else { windows };
        let last = |wanted: Role| roles.iter().rposition(|role| *role == wanted);
        let conclusion = last(Role::Conclusion)
            .or_else(|| last(Role::Finding))
            .and_then(|sentence| windows.iter().position(|w| w.sentence == sentence && w.sentences == 1));
        Self { all: windows, vectors: Vec::new(), conclusion }
    }

    /// The windows to show to the model: the closest ones above the limit, the very closest and the conclusion in any case.
    fn asked(&self, claim: &[f32], config: &ResearchConfig) -> Vec<usize> {
        let cosine: Vec<f64> = self.vectors.iter().map(|v| f64::from(vector::dot(claim, v))).collect();
        let mut asked: Vec<usize> = top_by(&cosine, config.windows_per_passage)
            .into_iter()
            .enumerate()
            .filter(|&(place, i)| place == 0 || cosine[i] >= f64::from(config.window_similarity))
            .map(|(_, i)| i)
            .collect();
        if let Some(conclusion) = self.conclusion.filter(|conclusion| !asked.contains(conclusion)) {
            asked.truncate(config.windows_per_passage.saturating_sub(1).max(1));
            asked.push(conclusion);
        }
        asked
    }
}

/// A text to ask about: a window, or a part of one.
struct Premise {
    passage: usize,
    text: String,
    /// Sentences of the passage that it holds; a part of a window has numbers of its own.
    sentences: std::ops::Range<usize>,
}

/// A premise with what the model said.
struct Said {
    premise: Premise,
    judgement: NliJudgement,
}

/// What each passage says about a claim.
pub(super) async fn verdicts(
    judge: &Judge<'_>,
    claim: &Claimed<'_>,
    passages: &[&Passage],
) -> Result<Vec<Option<Verdict>>> {
    let mut said: Vec<Vec<Said>> = passages.iter().map(|_| Vec::new()).collect();
    let mut parts = passages.iter().map(|passage| passage.sentences.len()).max().unwrap_or(0);
    let mut open: Vec<Premise> = Vec::new();
    for (at, passage) in passages.iter().enumerate() {
        for window in passage.windows.asked(claim.vector, judge.config) {
            let window = &passage.windows.all[window];
            let sentences = window.sentence..window.sentence + window.sentences;
            open.push(Premise { passage: at, text: window.text.clone(), sentences });
        }
    }
    while !open.is_empty() {
        let pairs: Vec<(String, String)> =
            open.iter().map(|premise| (premise.text.clone(), claim.text.to_owned())).collect();
        let mut too_long = Vec::new();
        for (premise, judgement) in open.into_iter().zip(judge.inference.judge(&pairs).await?) {
            if let Some(judgement) = judgement {
                said[premise.passage].push(Said { premise, judgement });
                continue;
            }
            for text in halves(&premise.text) {
                too_long.push(Premise { passage: premise.passage, text, sentences: parts..parts + 1 });
                parts += 1;
            }
        }
        open = too_long;
    }
    let threshold = judge.threshold();
    Ok(said.iter().map(|said| verdict(&by_sentence(said), threshold)).collect())
}

/// One answer per sentence, in the order in which they were first asked: the mean over the windows that hold it, with the
/// window that speaks loudest as what decided. A window over sentences that take opposite sides alone speaks for neither.
fn by_sentence(said: &[Said]) -> Vec<Answer> {
    let mut sentences: Vec<usize> = Vec::new();
    for sentence in said.iter().flat_map(|said| said.premise.sentences.clone()) {
        if !sentences.contains(&sentence) {
            sentences.push(sentence);
        }
    }
    let alone = |sentence: usize| {
        let own = said.iter().find(|said| said.premise.sentences == (sentence..sentence + 1))?;
        Some(own.judgement.relation)
    };
    let opposed = |one: usize, other: usize| {
        matches!(
            (alone(one), alone(other)),
            (Some(Relation::Supports), Some(Relation::Refutes))
                | (Some(Relation::Refutes), Some(Relation::Supports))
        )
    };
    let answer = |sentence: usize| {
        let holds = |said: &&Said| {
            let mut sentences = said.premise.sentences.clone();
            sentences.contains(&sentence) && !sentences.any(|other| opposed(sentence, other))
        };
        let holding: Vec<&Said> = said.iter().filter(holds).collect();
        let judgement = mean(&holding.iter().map(|said| said.judgement).collect::<Vec<_>>());
        let loudness: Vec<f64> = holding
            .iter()
            .map(|said| {
                if judgement.scores.supports >= judgement.scores.refutes {
                    said.judgement.scores.supports
                } else {
                    said.judgement.scores.refutes
                }
            })
            .collect();
        let loudest = top_by(&loudness, 1).first().copied().unwrap_or(0);
        let text = holding[loudest].premise.text.clone();
        Answer { asked: text.clone(), premise: text, judgement }
    };
    sentences.into_iter().map(answer).collect()
}

/// A window in two parts or more, at a sentence's end or between words; nothing when it is short.
fn halves(window: &str) -> Vec<String> {
    let chars = window.chars().count();
    if chars <= MIN_PART_CHARS {
        return Vec::new();
    }
    let sentences = lyra_text::sentences(window, None);
    let halves = lyra_text::windows(&sentences, chars.div_ceil(2));
    halves.into_iter().filter(|w| w.sentences == 1).map(|w| w.text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lyra_domain::NliScores;
    use proptest::prelude::*;

    fn said(sentences: std::ops::Range<usize>, supports: f64, refutes: f64) -> Said {
        let scores = NliScores { supports, refutes, neutral: 1.0 - supports - refutes };
        let text = format!("{sentences:?}");
        Said { premise: Premise { passage: 0, text, sentences }, judgement: scores.judgement() }
    }

    #[test]
    fn windows_that_share_a_sentence_are_averaged() {
        // One window of three is sure; the sentence that they share is not.
        let odd = [said(0..1, 0.1, 0.1), said(0..2, 0.9, 0.05), said(1..2, 0.1, 0.1)];
        let verdict_of = |said: &[Said]| verdict(&by_sentence(said), 0.6).unwrap();
        assert_eq!(verdict_of(&odd).judgement.relation, Relation::Neutral);
        let agreed = [said(0..1, 0.8, 0.1), said(0..2, 0.9, 0.05), said(3..4, 0.1, 0.1)];
        let verdict = verdict_of(&agreed);
        assert_eq!((verdict.judgement.relation, verdict.premise.as_str()), (Relation::Supports, "0..2"));
        assert!((verdict.judgement.confidence.get() - 0.85).abs() < 0.05, "{verdict:?}");
    }

    #[test]
    fn aims_are_not_asked_and_the_conclusion_is() {
        let text = "OBJECTIVE To determine whether naps improve recall. Forty adults slept at noon. Recall was measured \
            twice. Recall rose by 12%. In conclusion, naps improve recall. Funding came from a trust.";
        let sentences = lyra_text::sentences(text, Some("en"));
        let mut windows = Windows::of(&sentences, Some("en"));
        assert!(windows.all.iter().all(|window| !window.text.contains("To determine")));
        // The conclusion is far from the claim, and asked all the same.
        windows.vectors =
            windows.all.iter().map(|w| vec![if w.text.contains("Forty") { 1.0 } else { 0.0 }]).collect();
        let asked = windows.asked(&[1.0], &ResearchConfig::default());
        assert!(asked.iter().any(|&i| windows.all[i].text == "In conclusion, naps improve recall."));
        let aims = lyra_text::sentences("To determine whether naps help recall.", Some("en"));
        assert_eq!(Windows::of(&aims, Some("en")).all.len(), 1);
    }

    #[test]
    fn a_window_in_parts() {
        assert!(halves("Too short to cut.").is_empty());
        let window = "Naps improved recall in the first trial. In the second trial they did not.";
        assert_eq!(
            halves(window),
            ["Naps improved recall in the first", "trial.", "In the second trial they did not."]
        );
        let long = "word ".repeat(50);
        assert!(halves(&long).iter().all(|part| part.len() < long.len()));
    }

    proptest! {
        #[test]
        fn parts_lose_no_word(window in "[a-z .,。あ漢0-9]{0,200}") {
            let found = halves(&window);
            let bare = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            prop_assert!(found.is_empty() || bare(&found.concat()) == bare(&window));
            prop_assert!(found.iter().all(|part| part.chars().count() < window.chars().count()));
        }
    }
}
