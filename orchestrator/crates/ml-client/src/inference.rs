//! The pipeline's port, on top of the client.

use async_trait::async_trait;
use lyra_domain::{NliJudgement, NliScores};
use lyra_proto::{ModelInfo, ModelKind};
use lyra_research::PortError;
use lyra_research::ports::{Inference, Models};

use crate::MlClient;

#[async_trait]
impl Inference for MlClient {
    async fn models(&self) -> Result<Models, PortError> {
        let info = self.info().await?;
        // No server runs without a model: it has just been started and is reading them.
        if info.models.is_empty() {
            let why = format!("{} has not loaded its models yet", self.url());
            return Err(PortError::Unavailable { what: "ml-server".to_owned(), why });
        }
        let hosted = |kind, option: &str| {
            info.model(kind).ok_or_else(|| PortError::Refused {
                what: "ml-server".to_owned(),
                why: format!("{} hosts no such model; start it with {option}", self.url()),
            })
        };
        let embedder = hosted(ModelKind::Embed, "--embed-model")?;
        let classifier = hosted(ModelKind::Nli, "--nli-model")?;
        Ok(Models {
            embedder: versioned(embedder),
            dimension: embedder.dimension,
            classifier: versioned(classifier),
            languages: common(&embedder.languages, &classifier.languages),
        })
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, PortError> {
        Ok(Self::embed(self, texts).await?)
    }

    async fn judge(&self, pairs: &[(String, String)]) -> Result<Vec<Option<NliJudgement>>, PortError> {
        let results = self.nli(pairs).await?;
        let judgement = |result: &lyra_proto::NliResult| {
            let scores = result.scores;
            let [supports, refutes, neutral] =
                [scores.supports, scores.refutes, scores.neutral].map(f64::from);
            NliScores { supports, refutes, neutral }.judgement()
        };
        Ok(results.iter().map(|result| result.as_ref().map(judgement)).collect())
    }
}

/// `id` or `id@revision`.
fn versioned(model: &ModelInfo) -> String {
    model.revision.as_ref().map_or_else(|| model.id.clone(), |revision| format!("{}@{revision}", model.id))
}

/// Languages that both models read; a model that states none reads any.
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
