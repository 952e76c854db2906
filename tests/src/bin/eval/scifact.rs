//! SciFact's training claims and abstracts, and which abstracts no model of the repository was trained on.

use anyhow::{Context, Result};
use lyra_domain::Relation;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::Path;

/// A claim with the abstracts that it cites and what their annotators found in them.
#[derive(Debug, Deserialize)]
pub(crate) struct Claim {
    #[serde(rename = "claim")]
    pub(crate) text: String,
    /// By abstract; empty when the cited ones say neither.
    pub(crate) evidence: BTreeMap<String, Vec<Rationale>>,
    cited_doc_ids: Vec<u64>,
}

/// What a set of sentences says.
#[derive(Debug, Deserialize)]
pub(crate) struct Rationale {
    pub(crate) label: Label,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum Label {
    Support,
    Refute,
}

impl Label {
    pub(crate) const BOTH: [Self; 2] = [Self::Support, Self::Refute];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Support => "SUPPORT",
            Self::Refute => "REFUTE",
        }
    }

    /// What a relation says; nothing when it takes no side.
    pub(crate) fn of(relation: Relation) -> Option<Self> {
        match relation {
            Relation::Supports => Some(Self::Support),
            Relation::Refutes => Some(Self::Refute),
            _ => None,
        }
    }
}

impl Claim {
    /// What an abstract says about it; annotators never found both in one.
    pub(crate) fn label(&self, doc: &str) -> Option<Label> {
        Some(self.evidence.get(doc)?.first()?.label)
    }
}

#[derive(Debug, Deserialize)]
struct Document {
    doc_id: u64,
    title: String,
    #[serde(rename = "abstract")]
    sentences: Vec<String>,
}

/// An abstract.
#[derive(Debug)]
pub(crate) struct Abstract {
    pub(crate) title: String,
    pub(crate) sentences: Vec<String>,
}

impl Abstract {
    pub(crate) fn text(&self) -> String {
        self.sentences.iter().map(|sentence| sentence.trim()).collect::<Vec<_>>().join(" ")
    }
}

#[derive(Debug)]
pub(crate) struct SciFact {
    pub(crate) claims: Vec<Claim>,
    pub(crate) abstracts: HashMap<String, Abstract>,
    /// Abstracts of which no sentence was in any training of the lite NLI model: kept out of it, and not cited by a claim
    /// that was trained on.
    pub(crate) unseen: BTreeSet<String>,
}

impl SciFact {
    pub(crate) fn read(data: &Path) -> Result<Self> {
        let claims: Vec<Claim> = jsonl(&data.join("scifact/claims_train.jsonl"))?;
        let documents: Vec<Document> = jsonl(&data.join("scifact/corpus.jsonl"))?;
        let excluded = data.join("nli/excluded_doc_ids.json");
        let excluded: Vec<u64> = serde_json::from_str(
            &fs::read_to_string(&excluded)
                .with_context(|| format!("{} cannot be read", excluded.display()))?,
        )?;
        let cited: BTreeSet<u64> =
            claims.iter().flat_map(|claim| claim.cited_doc_ids.iter().copied()).collect();
        let unseen = excluded.into_iter().filter(|id| !cited.contains(id)).map(|id| id.to_string()).collect();
        let abstracts = documents
            .into_iter()
            .map(|d| (d.doc_id.to_string(), Abstract { title: d.title, sentences: d.sentences }))
            .collect();
        Ok(Self { claims, abstracts, unseen })
    }

    /// So many claims, spread evenly over the file, with and without evidence.
    pub(crate) fn sample(&self, claims: usize) -> Vec<&Claim> {
        let all = self.claims.len();
        let wanted = claims.min(all);
        (0..wanted).map(|i| &self.claims[i * all / wanted]).collect()
    }
}

pub(crate) fn jsonl<T: for<'de> Deserialize<'de>>(file: &Path) -> Result<Vec<T>> {
    let text = fs::read_to_string(file).with_context(|| format!("{} cannot be read", file.display()))?;
    text.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}
