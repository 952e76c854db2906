//! A deterministic embedder, and corpora in temporary folders.

use async_trait::async_trait;
use lyra_corpus::{Corpora, ImportReport, Method, Result};
use lyra_domain::NliJudgement;
use lyra_research::PortError;
use lyra_research::ports::{Inference, JudgeKind, Models, TextRole};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// Numbers per vector.
pub(crate) const DIMENSION: usize = 64;

/// Embeds a text as its hashed words, L2-normalised.
pub(crate) struct Hashing {
    pub(crate) name: String,
    pub(crate) languages: Vec<String>,
    pub(crate) embedded: AtomicUsize,
    /// Fails once this many texts were embedded.
    pub(crate) limit: usize,
}

impl Default for Hashing {
    fn default() -> Self {
        Self {
            name: "hashing@1".to_owned(),
            languages: Vec::new(),
            embedded: AtomicUsize::new(0),
            limit: usize::MAX,
        }
    }
}

impl Hashing {
    pub(crate) fn named(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }
}

pub(crate) fn vector(text: &str) -> Vec<f32> {
    let mut vector = vec![0.01_f32; DIMENSION];
    for word in lyra_text::content_words(text) {
        let hash = word.bytes().fold(7_usize, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte as usize));
        vector[hash % DIMENSION] += 1.0;
    }
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    vector.iter().map(|x| x / length).collect()
}

#[async_trait]
impl Inference for Hashing {
    async fn models(&self) -> lyra_research::Result<Models> {
        Ok(Models {
            embedder: self.name.clone(),
            dimension: DIMENSION,
            classifier: "none".to_owned(),
            languages: self.languages.clone(),
            judge: JudgeKind::Pairs,
            prompts_known: true,
            threshold: None,
        })
    }

    async fn embed(&self, _: TextRole, texts: &[String]) -> lyra_research::Result<Vec<Vec<f32>>> {
        let before = self.embedded.fetch_add(texts.len(), Ordering::SeqCst);
        if before + texts.len() > self.limit {
            return Err(PortError::Unavailable {
                what: "embedder".to_owned(),
                why: "switched off".to_owned(),
            });
        }
        Ok(texts.iter().map(|text| vector(text)).collect())
    }

    async fn judge(&self, _: &[(String, String)]) -> lyra_research::Result<Vec<Option<NliJudgement>>> {
        Ok(Vec::new())
    }
}

/// A data directory that goes away, and what is in it.
pub(crate) struct Bench {
    pub(crate) folder: TempDir,
    pub(crate) corpora: Corpora,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let corpora = Corpora::open(folder.path()).with_batches(4, 8);
        Self { folder, corpora }
    }

    /// Writes a file of lines.
    pub(crate) fn file(&self, name: &str, lines: &[String]) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, lines.join("\n")).unwrap();
        path
    }

    pub(crate) async fn import(&self, file: &Path, inference: &Hashing) -> Result<ImportReport> {
        let files = [file.to_owned()];
        self.corpora.import("c", &files, inference, &|_| {}, &CancellationToken::new()).await
    }

    /// Ids and scores of all three methods for a few queries: equal when two corpora search alike.
    pub(crate) async fn results(&self) -> Vec<(String, f64)> {
        let mut all = Vec::new();
        for query in ["short naps improve memory", "biochar and crop yield", "topic 3 study", "昼寝の効果"]
        {
            for method in [Method::Bm25, Method::Dense, Method::Hybrid] {
                let found = self.corpora.search("c", query, method, 20, Some(&vector(query))).await.unwrap();
                all.extend(
                    found.hits.into_iter().map(|hit| (hit.document.doc_id, (hit.score * 1e6).round())),
                );
            }
        }
        all
    }
}

/// Lines of `count` documents that differ.
pub(crate) fn documents(count: usize) -> Vec<String> {
    let topics = [
        "short naps improve memory",
        "biochar raises crop yield",
        "phones distract pupils",
        "昼寝は記憶を改善する",
    ];
    (0..count)
        .map(|i| {
            let topic = topics[i % topics.len()];
            serde_json::json!({
                "id": format!("doc-{i:04}"),
                "title": format!("Study {i} on topic {}", i % 7),
                "abstract": format!("{topic}. Number {i} of group {}.", i % 11),
                "year": 2000 + (i % 20),
            })
            .to_string()
        })
        .collect()
}
