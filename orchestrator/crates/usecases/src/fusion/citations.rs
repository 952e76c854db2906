//! Lanes over citations: what cites the documents of a run, and what they cite.

use super::search::parsed;
use super::views::Show;
use super::{Fusion, LaneSearch};
use crate::AppError;
use lyra_corpus::backend::RawFilter;
use lyra_store::RunKind;
use lyra_text::query::{Field, Query};
use lyra_wire::fusion::RunHandle;

/// Documents of a run whose citations are followed in a query.
const FIRST: usize = 50;
/// Most documents whose citations are followed in one search.
const MOST: usize = 200;

/// Citations to follow.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CitationSearch {
    /// Whether documents are sought that cite the given ones, else those that they cite.
    pub citing: bool,
    /// A run, or ids and numbers of documents.
    pub of: Vec<String>,
    /// Documents of a run that count, from its first.
    pub first: usize,
    /// Corpus; that of the run, else the only one, when `None`.
    pub corpus: Option<String>,
    /// What to call the lane; `citing` or `cited` when `None`.
    pub lane_name: Option<String>,
    /// Filters.
    pub filters: Vec<RawFilter>,
    /// Most documents.
    pub top_k: usize,
}

impl CitationSearch {
    fn field(&self) -> &'static str {
        if self.citing { Field::Cites.name() } else { Field::CitedBy.name() }
    }
}

impl Fusion {
    /// Searches the documents that cite others, or that these cite, and stores the run: a lane whose score is with how many
    /// of them a document is linked.
    ///
    /// # Errors
    /// No documents or too many, an unknown run or corpus, a filter that cannot be used.
    pub async fn citations(&self, search: CitationSearch, show: Show) -> Result<RunHandle, AppError> {
        if !(1..=MOST).contains(&search.first) {
            return Err(AppError::invalid(
                format!("citations of the first {} documents cannot be followed", search.first),
                format!("give 1 to {MOST}"),
            ));
        }
        let (mut ids, mut corpus) = (Vec::new(), search.corpus.clone());
        for named in &search.of {
            if is_run(named) {
                let run = self.run(named).await?;
                corpus.get_or_insert(run.corpus);
                ids.extend(run.docs.ids.into_iter().take(search.first));
            } else {
                ids.push(named.trim().to_owned());
            }
        }
        if ids.is_empty() || ids.len() > MOST {
            return Err(AppError::invalid(
                format!("there are {} documents to follow citations of", ids.len()),
                format!("name a run with documents, or 1 to {MOST} documents"),
            ));
        }
        let name = if search.citing { "citing" } else { "cited" };
        let lane = LaneSearch {
            corpus,
            // Citations use nothing of it, but of a wide lane an alarm would say that it found little.
            lane: self.lanes.narrow().map(str::to_owned),
            lane_name: Some(search.lane_name.clone().unwrap_or_else(|| name.to_owned())),
            text: format!("{}:{}", search.field(), any_of(&ids)?),
            filters: search.filters,
            top_k: search.top_k,
            ..LaneSearch::default()
        };
        self.search_lane(lane, show).await
    }

    /// A query in which `cites:RUN` and `cited_by:RUN` stand for the first 50 documents of the run; `None` if it names no run.
    pub(super) async fn with_documents_of_runs(&self, text: &str) -> Result<Option<String>, AppError> {
        let query = parsed(text)?;
        let mut runs = Vec::new();
        for (leaf, _) in query.leaves() {
            if let Query::Term(term) = leaf
                && matches!(term.field, Some(Field::Cites | Field::CitedBy))
                && is_run(&term.text)
            {
                runs.push((term.at, self.run(&term.text).await?));
            }
        }
        if runs.is_empty() {
            return Ok(None);
        }
        let chars: Vec<char> = text.chars().collect();
        let (mut whole, mut from) = (String::new(), 0);
        for (at, run) in runs {
            let ids: Vec<String> = run.docs.ids.into_iter().take(FIRST).collect();
            if ids.is_empty() {
                return Err(AppError::invalid(
                    format!("the run `{}` has no documents whose citations could be followed", run.id),
                    "name another run, or a document",
                ));
            }
            whole.extend(chars.get(from..at.start).into_iter().flatten());
            whole.push_str(&any_of(&ids)?);
            from = at.end;
        }
        whole.extend(chars.get(from..).into_iter().flatten());
        Ok(Some(whole))
    }
}

/// Whether a text is the id of a run: its kind, and 16 hexadecimal digits.
fn is_run(text: &str) -> bool {
    let after_kind = |kind: &RunKind| text.trim().strip_prefix(kind.as_str())?.strip_prefix('-');
    let is_hex = |digits: &str| digits.len() == 16 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    RunKind::ALL.iter().filter_map(after_kind).any(is_hex)
}

/// Alternatives in the query language.
fn any_of(ids: &[String]) -> Result<String, AppError> {
    if let Some(id) = ids.iter().find(|id| id.contains('"') || id.trim().is_empty()) {
        return Err(AppError::invalid(
            format!("`{id}` cannot stand in a query"),
            "name documents without quotation marks in their ids",
        ));
    }
    let quoted: Vec<String> = ids.iter().map(|id| format!("\"{id}\"")).collect();
    Ok(format!("({})", quoted.join(" OR ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_runs_and_of_documents() {
        assert!(is_run("fulltext-0123456789abcdef") && is_run(" fusion-0123456789abcdef "));
        for other in ["US-07272630-B2", "fulltext-2019", "fusion", "10.1000/x"] {
            assert!(!is_run(other), "{other}");
        }
        let ids = ["US-1-B2".to_owned(), "EP 2".to_owned()];
        assert_eq!(any_of(&ids).unwrap(), "(\"US-1-B2\" OR \"EP 2\")");
        assert!(any_of(&["a\"b".to_owned()]).is_err());
    }
}
