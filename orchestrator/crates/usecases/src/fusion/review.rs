//! Peeking at a run within a budget of bytes.

use super::Fusion;
use super::documents::{Limits, fields_of};
use crate::AppError;
use lyra_corpus::backend::IdType;
use lyra_wire::fusion::{PeekView, Snippet};
use lyra_wire::json::size;
use std::collections::BTreeMap;

/// Least budget: the frame of an answer, and an id.
const MIN_BUDGET: usize = 512;
/// Largest budget, and the most that an answer's lists are let grow to.
pub(super) const MAX_BUDGET: usize = 55_000;
/// Most documents of one peek.
const MAX_LIMIT: usize = 100;
/// What an edge puts around: `"ok":true,`.
const AROUND: usize = 10;
/// Shown when no fields are named.
const FIELDS: [&str; 3] = ["title", "abst", "claim"];

/// A peek at a run.
#[derive(Debug, Clone, PartialEq)]
pub struct PeekRequest {
    /// Which run, of a lane or a fusion.
    pub run_id: String,
    /// Documents to skip.
    pub offset: usize,
    /// Most documents.
    pub limit: usize,
    /// Fields to show; title, abst and claim when empty.
    pub fields: Vec<String>,
    /// Most characters of a field.
    pub per_field_chars: BTreeMap<String, usize>,
    /// Most bytes of the whole answer as JSON.
    pub budget_bytes: usize,
}

impl Default for PeekRequest {
    fn default() -> Self {
        Self {
            run_id: String::new(),
            offset: 0,
            limit: 12,
            fields: Vec::new(),
            per_field_chars: BTreeMap::new(),
            budget_bytes: 12_288,
        }
    }
}

impl Fusion {
    /// Documents of a run from `offset` on, as many as the budget allows; of the first one, fields are shortened until it fits.
    ///
    /// # Errors
    /// No such run, an offset beyond it, an unknown field, a budget or limit out of range.
    pub async fn peek(&self, request: PeekRequest) -> Result<PeekView, AppError> {
        if !(MIN_BUDGET..=MAX_BUDGET).contains(&request.budget_bytes) {
            return Err(AppError::invalid(
                format!("`budget_bytes` is {}", request.budget_bytes),
                format!("it must be {MIN_BUDGET} to {MAX_BUDGET}"),
            ));
        }
        if !(1..=MAX_LIMIT).contains(&request.limit) {
            return Err(AppError::invalid(
                format!("`limit` is {}", request.limit),
                format!("it must be 1 to {MAX_LIMIT}"),
            ));
        }
        let limits = Limits::new(&request.fields, &FIELDS, &request.per_field_chars, &Limits::PEEK)?;
        let run = self.run(&request.run_id).await?;
        let total = run.docs.ids.len();
        if request.offset >= total && request.offset > 0 {
            return Err(AppError::invalid(
                format!("`offset` is {} and the run has {total} documents", request.offset),
                "start with 0, and continue with next_offset while there is one",
            ));
        }
        let end = (request.offset + request.limit).min(total);
        let ids = &run.docs.ids[request.offset..end];
        let publications = self.publications(&run.corpus, ids, IdType::DocId).await?;
        let mut view = PeekView {
            run_id: run.id.clone(),
            snippets: Vec::new(),
            used_bytes: MAX_BUDGET,
            total_docs: total,
            truncated: true,
            next_offset: Some(total),
            untrusted_fields: vec!["snippets[].fields"],
        };
        let room = request.budget_bytes.saturating_sub(size(&view) + AROUND);
        let mut used = 0;
        for (place, (id, publication)) in (request.offset..).zip(ids.iter().zip(&publications)) {
            let snippet = |limits: &Limits| Snippet {
                rank: place + 1,
                doc_id: id.clone(),
                fields: publication.as_ref().map(|p| fields_of(p, limits).0).unwrap_or_default(),
            };
            let mut next = snippet(&limits);
            if view.snippets.is_empty() && size(&next) > room {
                next = snippet(&limits.fitting(|limits| size(&snippet(limits)) <= room));
                let needed = request.budget_bytes - room + size(&next);
                if needed > request.budget_bytes {
                    // An error, because an empty answer without progress would make the caller loop.
                    return Err(AppError::invalid(
                        format!("the document at `offset` {place} needs {needed} bytes for its id alone"),
                        format!("set `budget_bytes` to {needed} or more, or skip it"),
                    ));
                }
            }
            // A comma comes before all but the first.
            used += size(&next) + usize::from(!view.snippets.is_empty());
            if used > room {
                break;
            }
            view.snippets.push(next);
        }
        let shown = request.offset + view.snippets.len();
        view.truncated = shown < end;
        view.next_offset = (shown < total).then_some(shown);
        view.used_bytes = (0..3).fold(size(&view) + AROUND, |bytes, _| {
            view.used_bytes = bytes;
            size(&view) + AROUND
        });
        Ok(view)
    }
}
