//! What the tests share: models, a web without pages, and a worker.

use async_trait::async_trait;
use lyra_domain::{NliJudgement, NliScores};
use lyra_research::ports::{Inference, Models, PageFetcher, SourcePage};
use lyra_research::{Pipeline, PortError, Result, Stops, Worker, WorkerConfig};
use lyra_store::Store;
use std::sync::Arc;
use std::time::Duration;

/// Bags of words as vectors; a premise with `not` refutes a hypothesis without, and the other way round.
pub(crate) struct Words;

#[async_trait]
impl Inference for Words {
    async fn models(&self) -> Result<Models> {
        let languages = vec!["en".to_owned()];
        Ok(Models { embedder: "words".to_owned(), dimension: 64, classifier: "not".to_owned(), languages })
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>> {
        let bag = |text: &String| {
            let mut vector = vec![0.01_f32; 64];
            for word in lyra_text::content_words(text) {
                let place =
                    word.bytes().fold(7_usize, |hash, byte| hash.wrapping_mul(31) ^ usize::from(byte));
                vector[place % 64] += 1.0;
            }
            let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
            vector.iter().map(|x| x / norm).collect()
        };
        Ok(texts.iter().map(bag).collect())
    }

    async fn judge(&self, pairs: &[(String, String)]) -> Result<Vec<Option<NliJudgement>>> {
        let negated = |text: &str| text.split_whitespace().any(|word| word == "not");
        let judge = |(premise, hypothesis): &(String, String)| {
            let agree = negated(premise) == negated(hypothesis);
            let (supports, refutes) = if agree { (0.9, 0.05) } else { (0.05, 0.9) };
            Some(NliScores { supports, refutes, neutral: 0.05 }.judgement())
        };
        Ok(pairs.iter().map(judge).collect())
    }
}

/// No page can be fetched.
pub(crate) struct NoPages;

#[async_trait]
impl PageFetcher for NoPages {
    async fn fetch(&self, url: &str) -> Result<SourcePage> {
        Err(PortError::Refused { what: "its server".to_owned(), why: format!("{url} is not there") })
    }
}

/// A worker on the store's jobs, which tries again at once.
pub(crate) fn worker(pipeline: Pipeline, store: &Store) -> Worker {
    Worker {
        pipeline,
        queue: Arc::new(store.clone()),
        wake: Arc::default(),
        stops: Stops::default(),
        config: WorkerConfig { retry: Duration::from_millis(1), ..WorkerConfig::default() },
    }
}
