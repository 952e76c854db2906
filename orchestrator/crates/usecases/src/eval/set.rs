//! Labeled files: JSON Lines, and SciFact's layout.

mod lines;
mod scifact;

use crate::{AppError, Remedy};
use lyra_domain::figures::Label;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Most labeled passages of one set.
const MAX_ITEMS: usize = 200_000;

/// A labeled file.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelledSet {
    /// Where it was read from.
    pub path: PathBuf,
    /// Its passages, those of one claim together.
    pub items: Vec<LabelledItem>,
    /// The parts of SciFact's layout beyond pairs; `None` for JSON Lines.
    pub abstracts: Option<Abstracts>,
}

/// A claim, a passage, and the relation between them.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelledItem {
    /// Its id in the file, else its line.
    pub id: String,
    /// The claim.
    pub claim: String,
    /// Passages with the same number are of one claim, or of one `group`.
    pub group: usize,
    /// The passage.
    pub passage: Arc<LabelledPassage>,
    /// The right label.
    pub label: Label,
    /// Sets of sentences, each of which suffices; `None` when the file has no sentences.
    pub rationales: Option<Vec<Vec<usize>>>,
    /// Kind of claim.
    pub kind: Option<String>,
}

/// A passage of a labeled file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelledPassage {
    /// The document that it is from, where the file names one; else its text.
    pub document: String,
    /// Title of the work.
    pub title: Option<String>,
    /// Its sentences, as the file has them.
    pub sentences: Vec<String>,
}

/// SciFact's abstracts, with the annotations of the claims.
#[derive(Debug, Clone, PartialEq)]
pub struct Abstracts {
    /// By the document's id.
    pub documents: HashMap<String, Arc<LabelledPassage>>,
    /// Every claim, including those without a cited abstract.
    pub claims: Vec<AnnotatedClaim>,
}

/// A claim of SciFact's layout.
#[derive(Debug, Clone, PartialEq)]
pub struct AnnotatedClaim {
    /// Number that its passages have as their `group`.
    pub group: usize,
    /// The claim.
    pub text: String,
    /// Label and rationales by document, without neutral documents.
    pub evidence: BTreeMap<String, (Label, Vec<Vec<usize>>)>,
}

impl LabelledSet {
    /// Reads a file or a folder. A folder in SciFact's layout gives one set for every `claims_*.jsonl` with labels.
    ///
    /// # Errors
    /// A file that cannot be read or is of neither form, and the first line that is wrong, with what would be right.
    pub fn read(path: &Path) -> Result<Vec<Self>, AppError> {
        if !path.is_dir() {
            return Ok(vec![Self::read_file(path)?]);
        }
        let entries = std::fs::read_dir(path).map_err(|error| unreadable(path, &error))?;
        let is_claims = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("claims") && (name.ends_with(".jsonl") || name.ends_with(".jsonl.gz"))
        };
        let mut files: Vec<PathBuf> =
            entries.filter_map(Result::ok).map(|entry| entry.path()).filter(is_claims).collect();
        files.sort();
        let mut sets = Vec::new();
        for file in files {
            if scifact::is_labelled(&file)? {
                sets.push(Self::read_file(&file)?);
            }
        }
        if sets.is_empty() {
            return Err(AppError::invalid(
                format!("{} has no labeled claims", path.display()),
                "a folder needs `claims_*.jsonl` with `evidence`, and `corpus.jsonl` beside it (SciFact's layout)",
            ));
        }
        Ok(sets)
    }

    fn read_file(path: &Path) -> Result<Self, AppError> {
        let set = if scifact::is_layout(path)? { scifact::read(path)? } else { lines::read(path)? };
        if set.items.is_empty() {
            return Err(AppError::invalid(
                format!("{} has no labeled passages", path.display()),
                "write one JSON object per line, such as {\"claim\": \"…\", \"label\": \"SUPPORT\", \"passage\": \
                 \"…\"}",
            ));
        }
        Ok(set)
    }

    /// Keeps this number of claims, spread evenly over the file, with all their passages.
    pub fn limit(&mut self, claims: usize) {
        let mut groups: Vec<usize> = match &self.abstracts {
            Some(abstracts) => abstracts.claims.iter().map(|claim| claim.group).collect(),
            None => self.items.iter().map(|item| item.group).collect(),
        };
        groups.sort_unstable();
        groups.dedup();
        let all = groups.len();
        let wanted = claims.min(all);
        let kept: std::collections::BTreeSet<usize> = (0..wanted).map(|i| groups[i * all / wanted]).collect();
        self.items.retain(|item| kept.contains(&item.group));
        if let Some(abstracts) = &mut self.abstracts {
            abstracts.claims.retain(|claim| kept.contains(&claim.group));
        }
    }

    /// For every item, the passage of another document that belongs to another claim: the same one every time. `None`
    /// if the set has no other.
    pub fn strangers(&self) -> Vec<Option<&LabelledPassage>> {
        let n = self.items.len();
        self.items
            .iter()
            .enumerate()
            .map(|(i, item)| {
                let others = (0..n).map(|step| &self.items[(i + n / 2 + step) % n]);
                let is_strange = |other: &&LabelledItem| {
                    other.group != item.group && other.passage.document != item.passage.document
                };
                others.take(STRANGERS_TRIED).find(is_strange).map(|other| &*other.passage)
            })
            .collect()
    }
}

/// Items to search for a passage of another document.
const STRANGERS_TRIED: usize = 1000;

/// A label by any of its usual names.
fn label(name: &str) -> Option<Label> {
    let name = name.trim().to_lowercase().replace(['_', '-'], " ");
    match name.as_str() {
        "support" | "supports" | "supported" | "entailment" | "entails" => Some(Label::Support),
        "refute" | "refutes" | "refuted" | "contradict" | "contradicts" | "contradiction" => {
            Some(Label::Refute)
        }
        "nei" | "neutral" | "not enough info" | "noinfo" => Some(Label::Neutral),
        _ => None,
    }
}

fn unreadable(path: &Path, error: &std::io::Error) -> AppError {
    AppError::invalid(format!("{} cannot be read: {error}", path.display()), Remedy::GiveLabeledClaims)
}

/// What is wrong with a line, and how to fix it.
fn wrong(path: &Path, line: usize, what: &str, right: impl Into<Remedy>) -> AppError {
    AppError::invalid(format!("{}, line {line}: {what}", path.display()), right)
}

fn too_many(path: &Path) -> AppError {
    AppError::invalid(
        format!("{} has more than {MAX_ITEMS} labeled passages", path.display()),
        "split the file",
    )
}

#[cfg(test)]
mod tests;
