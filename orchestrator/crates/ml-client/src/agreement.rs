//! What the servers of a pool must have in common: the same models, and the same answers to the same texts.

use lyra_proto::{
    EmbedPrompts, ErrorBody, ErrorType, InfoResponse, ModelKind, NliPair, NliRequest, NliScores, VerifyItem,
    VerifyRequest,
};

use crate::error::Error;
use crate::server::Server;

/// Least cosine between vectors of one text: quantized and 16-bit models differ by less from one device to another.
const LEAST_COSINE: f32 = 0.998;
/// Most that a probability may differ, for the same reason.
const MOST_DIFFERENCE: f32 = 0.03;
/// Texts whose vectors are compared.
const TEXTS: [&str; 3] = [
    "Naps of twenty minutes improve the recall of words in adults.",
    "heat sink for a light-emitting diode",
    "7 of 12 patients recovered.",
];
/// Claims with a passage whose judgments are compared.
const JUDGED: [(&str, &str); 3] = [
    ("Naps improve recall.", "After a nap, participants recalled more words than after a walk."),
    ("Naps improve recall.", "Naps did not improve recall in any of the groups."),
    ("Naps improve recall.", "The diode was cooled by a heat sink made of copper."),
];

/// What a server hosts, and what it answers to texts that are always the same.
#[derive(Debug, Clone)]
pub(crate) struct Answers {
    models: Vec<Hosted>,
    vectors: Vec<Vec<f32>>,
    scores: Vec<NliScores>,
}

/// What makes two models the same. Types of numbers and devices may differ: the answers show whether it matters.
#[derive(Debug, Clone, PartialEq)]
struct Hosted {
    kind: ModelKind,
    id: String,
    revision: Option<String>,
    dimension: usize,
    pooling: Option<String>,
    prompts: Option<EmbedPrompts>,
    threshold: Option<f64>,
}

impl Answers {
    /// Asks a server.
    pub(crate) async fn of(server: &Server) -> Result<Self, Error> {
        let info = server.info().await?;
        if info.models.is_empty() {
            let error = format!("{} has not loaded its models yet", server.shown());
            let body = ErrorBody { error, error_type: ErrorType::Unavailable, error_id: "none".to_owned() };
            return Err(Error::Busy { status: 503, body, retry_after: None });
        }
        let models = hosted(&info);
        let vectors = if info.model(ModelKind::Embed).is_some() {
            server.embed(&TEXTS.map(str::to_owned), None).await?
        } else {
            Vec::new()
        };
        let scores = if info.model(ModelKind::Verify).is_some() {
            let item = |(claim, sentence): (&str, &str)| VerifyItem {
                claim: claim.to_owned(),
                title: None,
                sentences: vec![sentence.to_owned()],
            };
            let answers = server.verify(&VerifyRequest { items: JUDGED.map(item).to_vec() }).await?;
            answers.into_iter().map(|answer| answer.scores).collect()
        } else if info.model(ModelKind::Nli).is_some() {
            let pair = |(claim, sentence): (&str, &str)| NliPair {
                premise: sentence.to_owned(),
                hypothesis: claim.to_owned(),
            };
            let request = NliRequest { pairs: JUDGED.map(pair).to_vec(), truncate: true };
            server.nli(&request).await?.into_iter().map(|answer| answer.scores).collect()
        } else {
            Vec::new()
        };
        Ok(Self { models, vectors, scores })
    }

    /// Numbers in a vector.
    pub(crate) fn dimension(&self) -> Option<usize> {
        self.vectors.first().map(Vec::len)
    }

    /// Whether both host the same models.
    pub(crate) fn same_models(&self, other: &Self) -> bool {
        self.models == other.models
    }

    /// How these answers differ from those of the servers that agree with each other; `None` if they do not.
    pub(crate) fn difference(&self, others: &Self) -> Option<String> {
        if !self.same_models(others) {
            return Some(format!("it hosts {}, the others {}", self.names(), others.names()));
        }
        let vectors = self.vectors.iter().zip(&others.vectors);
        let cosine = vectors.map(|(mine, theirs)| cosine(mine, theirs)).fold(1.0, f32::min);
        if cosine < LEAST_COSINE {
            return Some(format!("its vector of the same text has a cosine of {cosine:.3} with theirs"));
        }
        let scores = self.scores.iter().zip(&others.scores);
        let apart = scores.map(|(mine, theirs)| apart(*mine, *theirs)).fold(0.0, f32::max);
        if apart > MOST_DIFFERENCE {
            return Some(format!("its probability for the same claim and passage differs by {apart:.2}"));
        }
        None
    }

    /// The models as a message names them.
    pub(crate) fn names(&self) -> String {
        let name = |model: &Hosted| {
            let revision = model.revision.as_ref().map(|revision| format!("@{revision}"));
            let (id, revision) = (&model.id, revision.unwrap_or_default());
            match model.kind {
                ModelKind::Embed => format!("{id}{revision} ({} dimensions)", model.dimension),
                ModelKind::Nli | ModelKind::Verify => format!("{id}{revision}"),
            }
        };
        self.models.iter().map(name).collect::<Vec<_>>().join(" and ")
    }
}

/// Which answers most servers gave: the place of one that over half of all agree with. `None` if there is none.
pub(crate) fn majority(answers: &[Answers]) -> Option<usize> {
    let agreeing =
        |at: usize| answers.iter().filter(|other| other.difference(&answers[at]).is_none()).count();
    let best = (0..answers.len()).max_by_key(|&at| (agreeing(at), std::cmp::Reverse(at)))?;
    (2 * agreeing(best) > answers.len()).then_some(best)
}

fn hosted(info: &InfoResponse) -> Vec<Hosted> {
    let kinds = [ModelKind::Embed, ModelKind::Nli, ModelKind::Verify];
    let models = kinds.iter().filter_map(|&kind| info.model(kind));
    models
        .map(|model| Hosted {
            kind: model.kind,
            id: model.id.clone(),
            revision: model.revision.clone(),
            dimension: model.dimension,
            pooling: model.pooling.clone(),
            prompts: model.prompts.clone(),
            threshold: model.threshold,
        })
        .collect()
}

/// Cosine of vectors of length 1; 0 if they cannot be compared.
fn cosine(a: &[f32], b: &[f32]) -> f32 {
    if a.len() == b.len() { a.iter().zip(b).map(|(a, b)| a * b).sum() } else { 0.0 }
}

/// Largest difference between two distributions.
fn apart(a: NliScores, b: NliScores) -> f32 {
    let parts = [a.supports - b.supports, a.refutes - b.refutes, a.neutral - b.neutral];
    parts.into_iter().map(f32::abs).fold(0.0, f32::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(id: &str, vector: [f32; 2], supports: f32) -> Answers {
        let model = Hosted {
            kind: ModelKind::Embed,
            id: id.to_owned(),
            revision: None,
            dimension: 2,
            pooling: None,
            prompts: None,
            threshold: None,
        };
        let scores = NliScores { supports, refutes: 0.0, neutral: 1.0 - supports };
        Answers { models: vec![model], vectors: vec![vector.to_vec()], scores: vec![scores] }
    }

    #[test]
    fn models_vectors_and_scores_are_compared() {
        let one = answers("a", [1.0, 0.0], 0.9);
        assert_eq!(one.difference(&answers("a", [0.9999, 0.0141], 0.88)), None);
        let said = |other: &Answers| other.difference(&one).unwrap_or_default();
        assert_eq!(
            said(&answers("b", [1.0, 0.0], 0.9)),
            "it hosts b (2 dimensions), the others a (2 dimensions)"
        );
        assert!(said(&answers("a", [0.0, 1.0], 0.9)).contains("cosine of 0.000"));
        assert!(said(&answers("a", [1.0, 0.0], 0.5)).contains("differs by 0.40"));
    }

    #[test]
    fn over_half_decide() {
        let [good, bad] = [answers("a", [1.0, 0.0], 0.9), answers("a", [0.0, 1.0], 0.9)];
        assert_eq!(majority(&[]), None);
        assert_eq!(majority(std::slice::from_ref(&good)), Some(0));
        assert_eq!(majority(&[good.clone(), bad.clone()]), None, "no one can tell which of two is right");
        assert_eq!(majority(&[bad.clone(), good.clone(), good.clone()]), Some(1));
        assert_eq!(majority(&[bad.clone(), good.clone(), good, bad]), None);
    }
}
