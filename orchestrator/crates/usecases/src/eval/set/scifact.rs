//! SciFact's layout: claims with the abstracts that they cite, and `corpus.jsonl` beside them.

use super::lines::{Name, each, first};
use super::{
    Abstracts, AnnotatedClaim, LabelledItem, LabelledPassage, LabelledSet, MAX_ITEMS, label, too_many, wrong,
};
use crate::AppError;
use lyra_domain::figures::Label;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

#[derive(Debug, Deserialize)]
struct Claim {
    id: Option<Name>,
    #[serde(rename = "claim")]
    text: String,
    evidence: Option<BTreeMap<String, Vec<Evidence>>>,
    #[serde(default)]
    cited_doc_ids: Vec<Name>,
}

#[derive(Debug, Deserialize)]
struct Evidence {
    sentences: Vec<usize>,
    label: String,
}

#[derive(Debug, Deserialize)]
struct Document {
    doc_id: Name,
    title: Option<String>,
    #[serde(rename = "abstract")]
    sentences: Vec<String>,
}

/// Whether the file's first line is a claim of SciFact's.
pub(super) fn is_layout(path: &Path) -> Result<bool, AppError> {
    Ok(first(path)?.is_some_and(|row| row.contains_key("evidence") || row.contains_key("cited_doc_ids")))
}

/// Whether the file's first line has labels; SciFact's authors withhold those of the test claims.
pub(super) fn is_labelled(path: &Path) -> Result<bool, AppError> {
    Ok(first(path)?.is_some_and(|row| row.contains_key("evidence")))
}

pub(super) fn read(path: &Path) -> Result<LabelledSet, AppError> {
    let corpus = path.with_file_name("corpus.jsonl");
    if !corpus.is_file() {
        return Err(AppError::invalid(
            format!("{} cites documents, and {} does not exist", path.display(), corpus.display()),
            "put SciFact's corpus.jsonl beside the claims",
        ));
    }
    let mut documents: HashMap<String, Arc<LabelledPassage>> = HashMap::new();
    each(&corpus, |_, row: Document| {
        let document = row.doc_id.text();
        let passage =
            LabelledPassage { document: document.clone(), title: row.title, sentences: row.sentences };
        documents.insert(document, Arc::new(passage));
        Ok(())
    })?;
    let (mut items, mut claims) = (Vec::new(), Vec::new());
    each(path, |line, row: Claim| {
        let (claim, mut of) = annotated(path, line, row, claims.len(), &documents)?;
        if items.len() + of.len() > MAX_ITEMS {
            return Err(too_many(path));
        }
        items.append(&mut of);
        claims.push(claim);
        Ok(())
    })?;
    Ok(LabelledSet { path: path.to_owned(), items, abstracts: Some(Abstracts { documents, claims }) })
}

fn annotated(
    path: &Path,
    line: usize,
    row: Claim,
    group: usize,
    documents: &HashMap<String, Arc<LabelledPassage>>,
) -> Result<(AnnotatedClaim, Vec<LabelledItem>), AppError> {
    let wrong = |what: &str, right: &str| wrong(path, line, what, right);
    let given = row.evidence.ok_or_else(|| {
        wrong(
            "it has no `evidence`",
            "give the labels as \"evidence\": {DOC: [{\"sentences\": [0], \"label\": \"SUPPORT\"}]}",
        )
    })?;
    let mut evidence = BTreeMap::new();
    for (document, sets) in given {
        let Some(first) = sets.first() else { continue };
        let side = label(&first.label).filter(|label| label.is_side()).ok_or_else(|| {
            wrong(&format!("`{}` is not a label of evidence", first.label), "use SUPPORT or CONTRADICT")
        })?;
        if sets.iter().any(|set| label(&set.label) != Some(side)) {
            return Err(wrong(
                &format!("document {document} has evidence with both labels"),
                "give one label per document",
            ));
        }
        let rationales: Vec<Vec<usize>> = sets.into_iter().map(|set| set.sentences).collect();
        evidence.insert(document, (side, rationales));
    }
    let id = row.id.map_or_else(|| line.to_string(), Name::text);
    let cited = row.cited_doc_ids.into_iter().map(Name::text);
    let cited: BTreeSet<String> = cited.chain(evidence.keys().cloned()).collect();
    let mut items = Vec::new();
    for document in cited {
        let passage = documents.get(&document).ok_or_else(|| {
            wrong(
                &format!("document {document} is not in corpus.jsonl"),
                "add it, or remove it from the claim",
            )
        })?;
        let (label, rationales) = evidence.get(&document).cloned().unwrap_or((Label::Neutral, Vec::new()));
        let count = passage.sentences.len();
        if let Some(outside) = rationales.iter().flatten().find(|&&sentence| sentence >= count) {
            return Err(wrong(
                &format!("the evidence names sentence {outside} of document {document}"),
                &format!("its {count} sentences are numbered from 0"),
            ));
        }
        items.push(LabelledItem {
            id: format!("{id}:{document}"),
            claim: row.text.clone(),
            group,
            passage: passage.clone(),
            label,
            rationales: Some(rationales),
            kind: None,
        });
    }
    Ok((AnnotatedClaim { group, text: row.text, evidence }, items))
}
