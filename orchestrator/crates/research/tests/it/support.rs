//! What the tests share: models, a web without pages, and a worker.

use async_trait::async_trait;
use lyra_domain::{NliJudgement, NliScores};
use lyra_research::ports::{
    Inference, JudgeKind, Models, PageFetcher, SourcePage, TextRole, Verified, Verify,
};
use lyra_research::{Context, PortError, Result, Stops, Worker, WorkerConfig};
use lyra_store::Store;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Bags of words as vectors; a premise with `not` refutes a hypothesis without, and the other way round.
pub(crate) struct Words;

#[async_trait]
impl Inference for Words {
    async fn models(&self) -> Result<Models> {
        let languages = vec!["en".to_owned()];
        Ok(Models {
            embedder: "words".to_owned(),
            dimension: 64,
            classifier: "not".to_owned(),
            languages,
            judge: JudgeKind::Pairs,
            prompts_known: true,
            threshold: None,
        })
    }

    async fn embed(&self, _: TextRole, texts: &[String]) -> Result<Vec<Vec<f32>>> {
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

/// A verifier over bags of words that reads so many sentences at once: a sentence with two content words of the claim decides,
/// with `not` against it. Keeps what it was asked.
pub(crate) struct Verifier {
    pub(crate) reads: usize,
    pub(crate) threshold: Option<f64>,
    pub(crate) asked: Mutex<Vec<Verify>>,
}

impl Verifier {
    pub(crate) fn reading(reads: usize) -> Self {
        Self { reads, threshold: None, asked: Mutex::default() }
    }
}

#[async_trait]
impl Inference for Verifier {
    async fn models(&self) -> Result<Models> {
        let models = Words.models().await?;
        let classifier = "verifier".to_owned();
        Ok(Models { judge: JudgeKind::Verifier, threshold: self.threshold, classifier, ..models })
    }

    async fn embed(&self, role: TextRole, texts: &[String]) -> Result<Vec<Vec<f32>>> {
        Words.embed(role, texts).await
    }

    async fn judge(&self, _: &[(String, String)]) -> Result<Vec<Option<NliJudgement>>> {
        Err(PortError::Refused { what: "verifier".to_owned(), why: "it reads no pairs".to_owned() })
    }

    async fn verify(&self, items: &[Verify]) -> Result<Vec<Verified>> {
        self.asked.lock().unwrap().extend(items.iter().cloned());
        let verify = |item: &Verify| {
            let claimed = lyra_text::content_words(&item.claim);
            let decides = |sentence: &String| {
                let words = lyra_text::content_words(sentence);
                claimed.iter().filter(|word| words.contains(word)).count() >= 2
            };
            let negated = |text: &str| text.split_whitespace().any(|word| word == "not");
            let read = &item.sentences[..item.sentences.len().min(self.reads)];
            let deciding = read.iter().find(|sentence| decides(sentence));
            let (supports, refutes) = match deciding {
                Some(sentence) if negated(sentence) == negated(&item.claim) => (0.75, 0.1),
                Some(_) => (0.1, 0.75),
                None => (0.1, 0.1),
            };
            let judgement = NliScores { supports, refutes, neutral: 1.0 - supports - refutes }.judgement();
            let rationale = read.iter().map(|sentence| if decides(sentence) { 0.9 } else { 0.1 }).collect();
            Verified { judgement, rationale }
        };
        Ok(items.iter().map(verify).collect())
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
pub(crate) fn worker(context: Context, store: &Store) -> Worker {
    Worker {
        context,
        queue: Arc::new(store.clone()),
        wake: Arc::default(),
        stops: Stops::default(),
        config: WorkerConfig { retry: Duration::from_millis(1), ..WorkerConfig::default() },
    }
}
