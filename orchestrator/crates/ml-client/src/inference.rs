//! The pipeline's port, on top of the client.

use async_trait::async_trait;
use lyra_domain::{NliJudgement, NliScores};
use lyra_proto::{EmbedPrompts, ModelInfo, ModelKind, VerifyItem};
use lyra_research::PortError;
use lyra_research::ports::{Inference, JudgeKind, Models, TextRole, Verified, Verify};

use crate::MlClient;

#[async_trait]
impl Inference for MlClient {
    async fn models(&self) -> Result<Models, PortError> {
        let info = self.info().await?;
        // No server runs without a model: it has just been started and is reading them.
        if info.models.is_empty() {
            let why = format!("{} has not loaded its models yet", self.shown());
            return Err(PortError::Unavailable { what: "ml-server".to_owned(), why });
        }
        let hosted = |kind, option: &str| {
            info.model(kind).ok_or_else(|| PortError::Refused {
                what: "ml-server".to_owned(),
                why: format!("{} hosts no such model; start it with {option}", self.shown()),
            })
        };
        let embedder = hosted(ModelKind::Embed, "--embed-model")?;
        let (classifier, judge) = match info.model(ModelKind::Verify) {
            Some(verifier) => (verifier, JudgeKind::Verifier),
            None => (hosted(ModelKind::Nli, "--verify-model or --nli-model")?, JudgeKind::Pairs),
        };
        Ok(Models {
            embedder: prompted(embedder),
            prompts_known: embedder.prompts.is_some(),
            dimension: embedder.dimension,
            classifier: versioned(classifier),
            languages: common(&embedder.languages, &classifier.languages),
            judge,
            threshold: classifier.threshold,
        })
    }

    async fn embed(&self, role: TextRole, texts: &[String]) -> Result<Vec<Vec<f32>>, PortError> {
        let prompts = self.prompts().await?;
        let prompt = match role {
            TextRole::Query => prompts.query,
            TextRole::Passage => prompts.passage,
        };
        Ok(Self::embed(self, texts, prompt.as_deref()).await?)
    }

    async fn judge(&self, pairs: &[(String, String)]) -> Result<Vec<Option<NliJudgement>>, PortError> {
        let results = self.nli(pairs).await?;
        Ok(results.into_iter().map(|result| result.map(|result| judgement(result.scores))).collect())
    }

    async fn verify(&self, items: &[Verify]) -> Result<Vec<Verified>, PortError> {
        let item = |item: &Verify| VerifyItem {
            claim: item.claim.clone(),
            title: item.title.clone(),
            sentences: item.sentences.clone(),
        };
        let items: Vec<_> = items.iter().map(item).collect();
        let verified = |result: lyra_proto::VerifyResult| Verified {
            judgement: judgement(result.scores),
            rationale: result.rationale.into_iter().map(f64::from).collect(),
        };
        Ok(Self::verify(self, &items).await?.into_iter().map(verified).collect())
    }
}

/// The pipeline's form of the server's scores.
fn judgement(scores: lyra_proto::NliScores) -> NliJudgement {
    let [supports, refutes, neutral] = [scores.supports, scores.refutes, scores.neutral].map(f64::from);
    NliScores { supports, refutes, neutral }.judgement()
}

/// `id` or `id@revision`.
fn versioned(model: &ModelInfo) -> String {
    model.revision.as_ref().map_or_else(|| model.id.clone(), |revision| format!("{}@{revision}", model.id))
}

/// The model id, marked if it has prompts, because they change its vectors.
fn prompted(embedder: &ModelInfo) -> String {
    let none = EmbedPrompts::default();
    let prompts = if *embedder.prompts.as_ref().unwrap_or(&none) == none { "" } else { "+prompts" };
    versioned(embedder) + prompts
}

/// Languages that both models support; a model without a list supports any.
fn common(a: &[String], b: &[String]) -> Vec<String> {
    match (a.is_empty(), b.is_empty()) {
        (true, _) => b.to_vec(),
        (_, true) => a.to_vec(),
        _ => a.iter().filter(|language| b.contains(language)).cloned().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_in_common() {
        let tags = |tags: &[&str]| tags.iter().map(|&tag| tag.to_owned()).collect::<Vec<_>>();
        assert_eq!(common(&tags(&["en", "ja"]), &tags(&["ja", "de"])), ["ja"]);
        assert_eq!(common(&[], &tags(&["en"])), ["en"]);
        assert_eq!(common(&tags(&["en"]), &[]), ["en"]);
    }
}
