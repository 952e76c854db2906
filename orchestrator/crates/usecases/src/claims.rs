//! Claims: a page of a task's, and one without some of its passages.

use super::{App, AppError, Details, Remedy};
use lyra_domain::{ClaimId, EdgeId, TaskId, WhatIf};
use lyra_store::{ClaimFilter, ClaimPage, ClaimSort};

/// Most claims on a page.
const MAX_CLAIMS: u32 = 200;
/// Longest text to look for, in characters.
const MAX_TEXT: usize = 2_000;

impl App {
    /// A page of a task's adopted claims with their evidence, from the beginning or from where a cursor points. `limit`
    /// is taken as 1 to 200.
    ///
    /// # Errors
    /// No such task, a filter that nothing can meet, a cursor of another task, filter, or order.
    pub async fn claim_page(
        &self,
        task: &TaskId,
        filter: &ClaimFilter,
        sort: ClaimSort,
        limit: u32,
        cursor: Option<&str>,
    ) -> Result<ClaimPage, AppError> {
        let filter = checked(filter)?;
        Ok(self.store().claim_page(task, &filter, sort, limit.clamp(1, MAX_CLAIMS), cursor).await?)
    }

    /// The numbers of a claim without these passages. Nothing is stored.
    ///
    /// # Errors
    /// No such claim, or an edge that is no judgment of it.
    pub async fn claim_without(&self, claim: &ClaimId, edges: &[EdgeId]) -> Result<WhatIf, AppError> {
        let report = self.store().claim_report(claim).await?;
        report.without(edges).map_err(|edge| {
            AppError::invalid(format!("{edge} is no judgment of {claim}"), Remedy::FindClaims)
                .detailed(Details::Missing { missing: vec![edge.to_string()] })
        })
    }
}

/// The filter with single spaces in its text and without empty conditions, or why nothing can meet it.
fn checked(filter: &ClaimFilter) -> Result<ClaimFilter, AppError> {
    if let (Some(from), Some(to)) = filter.years
        && from > to
    {
        return Err(AppError::invalid(
            format!("`year_from` {from} is after `year_to` {to}"),
            "give the earlier year first",
        ));
    }
    let (from, to) = filter.confidence;
    if let Some(outside) = [from, to].into_iter().flatten().find(|bound| !(0.0..=1.0).contains(bound)) {
        return Err(AppError::invalid(format!("{outside} is not a confidence"), "use a number from 0 to 1"));
    }
    if let (Some(from), Some(to)) = (from, to)
        && from > to
    {
        return Err(AppError::invalid(
            format!("`confidence_from` {from} is above `confidence_to` {to}"),
            "give the lower number first",
        ));
    }
    let text = filter.text.as_deref().map(lyra_text::normalise).filter(|text| !text.is_empty());
    if let Some(length) = text.as_ref().map(|text| text.chars().count()).filter(|length| *length > MAX_TEXT) {
        return Err(AppError::invalid(
            format!("`text` has {length} characters"),
            format!("use at most {MAX_TEXT}"),
        ));
    }
    let source = filter.source.as_deref().map(str::trim).filter(|source| !source.is_empty());
    Ok(ClaimFilter { text, source: source.map(str::to_owned), ..filter.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorCode;
    use crate::config::Config;
    use lyra_domain::{Priority, TaskConfig};

    #[test]
    fn a_filter_that_nothing_can_meet_is_refused() {
        let all = ClaimFilter::default();
        for (wrong, message) in [
            (ClaimFilter { years: (Some(2020), Some(2010)), ..all.clone() }, "`year_from` 2020 is after"),
            (ClaimFilter { confidence: (Some(1.5), None), ..all.clone() }, "1.5 is not a confidence"),
            (ClaimFilter { confidence: (None, Some(f64::NAN)), ..all.clone() }, "NaN is not a confidence"),
            (ClaimFilter { confidence: (Some(0.9), Some(0.1)), ..all.clone() }, "`confidence_from` 0.9 is"),
            (ClaimFilter { text: Some("x".repeat(2_001)), ..all.clone() }, "`text` has 2001 characters"),
        ] {
            let refused = checked(&wrong).unwrap_err();
            assert!(refused.message.starts_with(message) && refused.remedy.is_some(), "{refused:?}");
        }
        let blank = ClaimFilter { text: Some(" ".to_owned()), source: Some(String::new()), ..all.clone() };
        assert_eq!(checked(&blank).unwrap(), all);
        let spaced = ClaimFilter { text: Some(" naps\n help ".to_owned()), ..all };
        assert_eq!(checked(&spaced).unwrap().text.as_deref(), Some("naps help"));
    }

    #[tokio::test]
    async fn wrong_cursors_and_edges_are_the_callers_errors() {
        let folder = tempfile::tempdir().unwrap();
        let config = Config { data_dir: Some(folder.path().to_owned()), ..Config::default() };
        let app = crate::testing::open(config).await;
        let new = lyra_store::NewTask {
            query: "Do naps help?".to_owned(),
            config: TaskConfig::default(),
            claims: vec!["Naps help.".to_owned(), "Naps harm.".to_owned()],
            question_claim: None,
        };
        let task = app.store().create_task(new, Priority::Medium).await.unwrap().id;
        let all = ClaimFilter::default();
        let page = app.claim_page(&task, &all, ClaimSort::Newest, 0, None).await.unwrap();
        assert_eq!((page.claims.len(), page.total), (1, 2));
        let cursor = page.next_cursor.unwrap();
        let next = app.claim_page(&task, &all, ClaimSort::Newest, 1, Some(&cursor)).await.unwrap();
        assert_eq!((next.claims[0].claim.claim_text.as_str(), next.next_cursor), ("Naps help.", None));
        let refused = app.claim_page(&task, &all, ClaimSort::Contested, 1, Some(&cursor)).await.unwrap_err();
        assert_eq!(refused.code, ErrorCode::InvalidArgument);
        assert!(refused.message.contains("is not a cursor of this list"), "{refused}");

        let claim = &next.claims[0].claim.id;
        let same = app.claim_without(claim, &[]).await.unwrap();
        assert_eq!(same.before, same.after);
        let edge: EdgeId = "edge_unknown".parse().unwrap();
        let refused = app.claim_without(claim, std::slice::from_ref(&edge)).await.unwrap_err();
        assert_eq!(refused.message, format!("edge_unknown is no judgment of {claim}"));
        let undone = app.undo_correction(&edge, None).await.unwrap_err();
        assert_eq!(undone.code, ErrorCode::NotFound);
        let page = app.read_page(&"page_x".parse().unwrap(), false).await.unwrap_err();
        assert_eq!((page.code, page.message.as_str()), (ErrorCode::NotFound, "page page_x does not exist"));

        let summaries = app.task_summaries(5, None).await.unwrap();
        assert_eq!((summaries.tasks.len(), summaries.tasks[0].open), (1, 2));
        assert_eq!(app.jobs(5).await.unwrap().len(), 2);
        app.close().await;
    }
}
