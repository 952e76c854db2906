//! Screening the documents of a task, and its PRISMA 2020 flow.

use super::call::{Call, Reply, optional_id, within};
use super::route::{Nothing, Route, delete, get, write};
use crate::problem::Failure;
use axum::http::Method;
use lyra_domain::{PageId, ScreeningId, TaskId, Verdict};
use lyra_store::{DecidedFilter, ScreeningDecision};
use lyra_usecases::shapes;
use lyra_wire::{DecidedDocuments, Prisma, Screening, ScreeningChanged};
use schemars::JsonSchema;
use serde::Deserialize;

/// Most documents that come next, and how many without a limit.
const MOST_NEXT: usize = 50;
const NEXT: usize = 5;
/// The same for decided documents.
const MOST_DECIDED: u32 = 200;
const DECIDED: u32 = 50;

pub(super) fn routes() -> Vec<Route> {
    vec![
        get(
            "/tasks/{task_id}/screening",
            "get_screening",
            "How far the screening of a task is, and the documents to decide next",
            screening,
        ),
        get(
            "/tasks/{task_id}/screening/decisions",
            "list_screening_decisions",
            "The decided documents of a task, filtered, the latest decision first",
            decided,
        ),
        write(
            Method::PUT,
            "/tasks/{task_id}/screening/{page_id}",
            "screen_document",
            "Include or exclude a document, or put the decision off",
            screen,
        ),
        delete(
            "/tasks/{task_id}/screening/{page_id}/{decision_id}",
            "undo_screening",
            "Take the decision about a document back; the one before counts again",
            undo,
        ),
        get("/tasks/{task_id}/prisma", "get_prisma", "The PRISMA 2020 flow of a task's documents", prisma),
    ]
}

/// How many documents come next.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NextOnes {
    /// Most documents, 0 to 50, default 5.
    limit: Option<usize>,
}

async fn screening(call: Call, query: NextOnes) -> Result<Reply<Screening>, Failure> {
    let limit = within("limit", query.limit.unwrap_or(NEXT), 0..=MOST_NEXT)?;
    let state = call.app().screening(&call.id("task_id")?, limit).await?;
    Ok(shapes::screening(&state).into())
}

/// What a person decides.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum VerdictName {
    /// The document belongs into the review.
    Include,
    /// It does not.
    Exclude,
    /// The decision is put off.
    Undecided,
}

impl From<VerdictName> for Verdict {
    fn from(name: VerdictName) -> Self {
        match name {
            VerdictName::Include => Self::Include,
            VerdictName::Exclude => Self::Exclude,
            VerdictName::Undecided => Self::Undecided,
        }
    }
}

/// A decision about a document.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Decide {
    /// The decision.
    verdict: VerdictName,
    /// Why it is excluded, at most 200 characters; `reasons` of the task's screening suggests some.
    reason: Option<String>,
    /// Id of the decision that this one replaces; none for a document without one. If another decision counts, nothing is
    /// stored, and the problem's `details` name that one.
    replaces: Option<String>,
}

async fn screen(call: Call, body: Decide) -> Result<Reply<ScreeningChanged>, Failure> {
    let (task, page): (TaskId, PageId) = (call.id("task_id")?, call.id("page_id")?);
    let replaces: Option<ScreeningId> = optional_id("replaces", body.replaces.as_deref())?;
    let (verdict, by) = (body.verdict.into(), &call.caller.actor);
    let made =
        call.app().screen(&task, &page, verdict, body.reason.as_deref(), replaces.as_ref(), by).await?;
    changed(&call, &task, &page, Some(&made)).await
}

async fn undo(call: Call, _: Nothing) -> Result<Reply<ScreeningChanged>, Failure> {
    let (task, page): (TaskId, PageId) = (call.id("task_id")?, call.id("page_id")?);
    let decision: ScreeningId = call.id("decision_id")?;
    let before = call.app().unscreen(&task, &page, &decision, &call.caller.actor).await?;
    changed(&call, &task, &page, before.as_ref()).await
}

async fn changed(
    call: &Call,
    task: &TaskId,
    page: &PageId,
    decision: Option<&ScreeningDecision>,
) -> Result<Reply<ScreeningChanged>, Failure> {
    let progress = call.app().screening_progress(task).await?;
    Ok(shapes::screening_changed(task, page, decision, &progress).into())
}

/// Which decided documents.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OfDecided {
    /// Only those with this verdict.
    verdict: Option<VerdictName>,
    /// Only those that were excluded for this reason.
    reason: Option<String>,
    /// Only those with this text in title or authors, at most 200 characters.
    text: Option<String>,
    /// Most documents, 1 to 200, default 50.
    limit: Option<u32>,
    /// Where the page begins: `next_cursor` of the page before.
    cursor: Option<String>,
}

async fn decided(call: Call, query: OfDecided) -> Result<Reply<DecidedDocuments>, Failure> {
    let limit = within("limit", query.limit.unwrap_or(DECIDED), 1..=MOST_DECIDED)?;
    let filter =
        DecidedFilter { verdict: query.verdict.map(Into::into), reason: query.reason, text: query.text };
    let page = call.app().decided_page(&call.id("task_id")?, &filter, limit, query.cursor.as_deref()).await?;
    Ok(shapes::decided_documents(&page).into())
}

async fn prisma(call: Call, _: Nothing) -> Result<Reply<Prisma>, Failure> {
    Ok(shapes::prisma(&call.app().prisma(&call.id("task_id")?).await?).into())
}
