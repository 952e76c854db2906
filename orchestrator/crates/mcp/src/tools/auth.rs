//! Pages that require a person: `get_auth_queue`, `resolve_auth`.

use super::{Call, Effect, Failure, Tool, task_id};
use crate::reply::{CONTENT_NOTICE, cut_note, fit};
use lyra_domain::{AuthItem, Priority};
use lyra_store::{AuthResolved, AuthTarget};
use lyra_usecases::Resolution;
use lyra_wire::WaitingPage;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Bytes of one result that the items or groups may take.
const ITEM_BYTES: usize = 40_000;

/// Lists the auth queue.
pub(super) struct GetAuthQueue;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct GetAuthQueueInput {
    /// Only items of this task. Default: all tasks.
    #[schemars(length(min = 1, max = 100))]
    task_id: Option<String>,
    /// How to show it, default `none`.
    #[serde(default)]
    group_by: GroupBy,
    /// Only items of this priority, default `all`.
    #[serde(default)]
    priority_filter: PriorityFilter,
}

/// How to group the items.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum GroupBy {
    /// Item by item.
    #[default]
    None,
    /// One entry per domain; one visit of a person settles a domain.
    Domain,
    /// One entry per kind of challenge.
    Type,
}

/// Which priority.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum PriorityFilter {
    /// Any.
    #[default]
    All,
    /// Search engines, which block many results.
    High,
    /// Single pages.
    Medium,
    /// The rest.
    Low,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct GetAuthQueueOutput {
    /// The items, highest priority first. Only with `group_by` `none`.
    #[serde(skip_serializing_if = "Option::is_none")]
    items: Option<Vec<WaitingPage>>,
    /// Item counts by domain or kind, largest first. Only with another `group_by`.
    #[serde(skip_serializing_if = "Option::is_none")]
    groups: Option<Vec<Group>>,
    /// Number of items, shown or not.
    total_count: usize,
    /// A summary in one sentence.
    summary: String,
    /// What was omitted. Only when something was.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    /// Fields of this result that come from external sources.
    untrusted_fields: Vec<&'static str>,
    /// How to treat those fields.
    content_notice: &'static str,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Group {
    /// The domain or the kind.
    key: String,
    /// How many items.
    count: usize,
    /// How many of them have priority `high`.
    high_priority_count: usize,
}

impl Tool for GetAuthQueue {
    const NAME: &'static str = "get_auth_queue";
    const TITLE: &'static str = "List pages that require a person";
    const DESCRIPTION: &'static str = "Lists search engines and pages that require a person (CAPTCHA, consent, \
        login). Lyra never solves these; the rest of the task continues and completes without them. Tell the user \
        about them: `lyra auth open ID` opens a browser window for one. Cookies are never shown.";
    const EFFECT: Effect = Effect::Reads;
    type Input = GetAuthQueueInput;
    type Output = GetAuthQueueOutput;

    async fn call(call: &Call, input: GetAuthQueueInput) -> Result<GetAuthQueueOutput, Failure> {
        let task = input.task_id.as_deref().map(task_id).transpose()?;
        let mut waiting = call.app.auth_queue(task.as_ref()).await?;
        waiting.retain(|item| match input.priority_filter {
            PriorityFilter::All => true,
            PriorityFilter::High => item.priority == Priority::High,
            PriorityFilter::Medium => item.priority == Priority::Medium,
            PriorityFilter::Low => item.priority == Priority::Low,
        });
        let (total_count, summary) = (waiting.len(), summary(&waiting));
        let (mut items, mut groups) = (None, None);
        let note = match input.group_by {
            GroupBy::None => {
                let mut list: Vec<WaitingPage> = waiting.into_iter().map(WaitingPage::from).collect();
                let dropped = fit(&mut list, ITEM_BYTES);
                let note = cut_note("items", list.len(), dropped, "group them, or name a task");
                items = Some(list);
                note
            }
            by => {
                let mut list = grouped(&waiting, by);
                let dropped = fit(&mut list, ITEM_BYTES);
                let note = cut_note("groups", list.len(), dropped, "name a task");
                groups = Some(list);
                note
            }
        };
        Ok(GetAuthQueueOutput {
            items,
            groups,
            total_count,
            summary,
            notes: note.into_iter().collect(),
            untrusted_fields: vec!["items[].url", "items[].domain", "groups[].key"],
            content_notice: CONTENT_NOTICE,
        })
    }
}

fn summary(waiting: &[AuthItem]) -> String {
    if waiting.is_empty() {
        return "no page requires a person".to_owned();
    }
    let distinct = |of: fn(&AuthItem) -> &str| {
        let mut found: Vec<&str> = waiting.iter().map(of).collect();
        found.sort_unstable();
        found.dedup();
        found.len()
    };
    let (domains, tasks) = (distinct(|item| &item.domain), distinct(|item| item.task_id.as_str()));
    format!("{} waiting, on {domains} domains, in {tasks} tasks", waiting.len())
}

fn grouped(waiting: &[AuthItem], by: GroupBy) -> Vec<Group> {
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for item in waiting {
        let entry =
            counts.entry(if by == GroupBy::Type { &item.auth_type } else { &item.domain }).or_default();
        entry.0 += 1;
        entry.1 += usize::from(item.priority == Priority::High);
    }
    let group = |(key, (count, high)): (&str, (usize, usize))| Group {
        key: key.to_owned(),
        count,
        high_priority_count: high,
    };
    let mut groups: Vec<Group> = counts.into_iter().map(group).collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.count));
    groups
}

/// Reports what a person did.
pub(super) struct ResolveAuth;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ResolveAuthInput {
    /// What to resolve.
    target: Target,
    /// The item, as `get_auth_queue` lists it. With target `item`.
    #[schemars(length(min = 1, max = 100))]
    queue_id: Option<String>,
    /// The domain. With target `domain`.
    #[schemars(length(min = 1, max = 253))]
    domain: Option<String>,
    /// The task. With target `task`.
    #[schemars(length(min = 1, max = 100))]
    task_id: Option<String>,
    /// What was done.
    action: Action,
    /// With action `complete`: whether it worked, default true. If not, it is skipped as with `skip`.
    #[serde(default = "yes")]
    success: bool,
}

fn yes() -> bool {
    true
}

/// What to resolve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Target {
    /// One item: `queue_id`.
    Item,
    /// Everything that waits for a domain: `domain`.
    Domain,
    /// Everything that waits in a task: `task_id`.
    Task,
}

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Action {
    /// A person resolved the page: its searches run again, and their results are added to the task.
    Complete,
    /// It is skipped: its searches are cancelled.
    Skip,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ResolveAuthOutput {
    /// Items that no longer wait.
    resolved_count: u64,
    /// Searches that are queued again.
    requeued_count: u64,
    /// Tasks that they belong to; tasks with searches queued again resume.
    task_ids: Vec<String>,
}

impl From<AuthResolved> for ResolveAuthOutput {
    fn from(resolved: AuthResolved) -> Self {
        Self {
            resolved_count: resolved.items,
            requeued_count: resolved.requeued,
            task_ids: resolved.tasks.into_iter().map(Into::into).collect(),
        }
    }
}

impl Tool for ResolveAuth {
    const NAME: &'static str = "resolve_auth";
    const TITLE: &'static str = "Resolve pages that require a person";
    const DESCRIPTION: &'static str = "Reports that a person has resolved a page (`complete`: the searches run again \
        and the task continues), or that it should be skipped (`skip`). Only complete what the user says is done; \
        `lyra auth open` captures cookies, this tool does not.";
    const EFFECT: Effect = Effect::Settles;
    type Input = ResolveAuthInput;
    type Output = ResolveAuthOutput;

    async fn call(call: &Call, input: ResolveAuthInput) -> Result<ResolveAuthOutput, Failure> {
        let needed = |name: &str, given: Option<String>| {
            given.ok_or_else(|| {
                Failure::argument(format!("argument `{name}` is missing: the target needs it"))
                    .hint("target `item` takes queue_id, `domain` takes domain, `task` takes task_id")
            })
        };
        let target = match input.target {
            Target::Item => {
                let id = needed("queue_id", input.queue_id)?;
                AuthTarget::Item(id.trim().parse().map_err(|error| {
                    Failure::argument(format!("argument `queue_id`: {error}"))
                        .hint("get_auth_queue lists the ids")
                })?)
            }
            Target::Domain => AuthTarget::Domain(needed("domain", input.domain)?),
            Target::Task => AuthTarget::Task(task_id(&needed("task_id", input.task_id)?)?),
        };
        let resolution = match (input.action, input.success) {
            (Action::Complete, true) => Resolution::Completed(None),
            _ => Resolution::Skipped,
        };
        Ok(call.app.resolve_auth(target, resolution).await?.into())
    }
}
