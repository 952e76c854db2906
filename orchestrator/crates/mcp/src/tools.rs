//! The tools in one list: name, arguments, results and effect of each.

pub(super) mod answer;
pub(super) mod auth;
mod calibration;
mod feedback;
mod fusion;
mod graph;
pub(super) mod library;
mod search;
pub(super) mod status;
mod tasks;

use super::reply::{self, Failure};
use super::{arguments, links, schema};
use futures::FutureExt;
use futures::future::BoxFuture;
use lyra_domain::TaskId;
use lyra_usecases::App;
use lyra_usecases::config::Toolset;
use rmcp::RoleServer;
use rmcp::model::{CallToolResult, JsonObject, ProgressNotificationParam, ProgressToken, ToolAnnotations};
use rmcp::service::{Peer, RequestContext};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::sync::LazyLock;
use std::time::Duration;
use tokio::time::{Instant, MissedTickBehavior};

/// Longest call; clients give up soon after.
const CALL_LIMIT: Duration = Duration::from_secs(45);
/// How often a long call reports that it is still running.
const PROGRESS_EVERY: Duration = Duration::from_secs(5);

static TOOLS: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    let mut tools = vec![
        entry::<answer::Answer>(),
        entry::<tasks::CreateTask>(),
        entry::<search::QueueSearches>(),
        entry::<status::GetStatus>(),
        entry::<tasks::StopTask>(),
        entry::<graph::QueryGraph>(),
        entry::<graph::VectorSearch>(),
        entry::<library::Search>(),
        entry::<library::Fetch>(),
        entry::<feedback::Feedback>(),
        entry::<calibration::CalibrationMetrics>(),
        entry::<calibration::CalibrationRollback>(),
        entry::<auth::GetAuthQueue>(),
        entry::<auth::ResolveAuth>(),
        entry_of::<fusion::SearchFulltext>(Toolset::Fusion),
        entry_of::<fusion::SearchSemantic>(Toolset::Fusion),
        entry_of::<fusion::SearchFulltextRaw>(Toolset::Fusion),
        entry_of::<fusion::SearchSemanticRaw>(Toolset::Fusion),
        entry_of::<fusion::MultilaneSearch>(Toolset::Fusion),
        entry_of::<fusion::BlendFrontier>(Toolset::Fusion),
        entry_of::<fusion::MutateRun>(Toolset::Fusion),
        entry_of::<fusion::PeekSnippets>(Toolset::Fusion),
        entry_of::<fusion::GetSnippets>(Toolset::Fusion),
        entry_of::<fusion::GetPublication>(Toolset::Fusion),
        entry_of::<fusion::GetProvenance>(Toolset::Fusion),
        entry_of::<fusion::RegisterRepresentatives>(Toolset::Fusion),
    ];
    for set in [Toolset::Evidence, Toolset::Fusion] {
        let mut listing = schema::Listing::default();
        for entry in tools.iter_mut().filter(|entry| entry.set == set) {
            entry.tool.input_schema = listing.input(&entry.arguments).into();
        }
    }
    tools
});

/// Every tool, in the order of the workflow.
pub(super) fn all() -> impl Iterator<Item = &'static Entry> {
    TOOLS.iter()
}

/// The tools of a set, in the order of the workflow.
pub(super) fn of(set: Toolset) -> impl Iterator<Item = &'static Entry> {
    all().filter(move |entry| set == Toolset::All || entry.set == set)
}

/// The tool of that name.
pub(super) fn find(name: &str) -> Option<&'static Entry> {
    all().find(|entry| entry.tool.name == name)
}

/// One tool: its types, its texts, and the use case it calls.
trait Tool {
    const NAME: &'static str;
    const TITLE: &'static str;
    const DESCRIPTION: &'static str;
    const EFFECT: Effect;
    type Input: DeserializeOwned + JsonSchema + Send;
    type Output: Serialize + JsonSchema + Send;

    /// Rewrites alternative spellings of the arguments into the form of the schema.
    fn tidy(_arguments: &mut JsonObject) {}

    fn call(call: &Call, input: Self::Input) -> impl Future<Output = Result<Self::Output, Failure>> + Send;
}

/// What calling a tool changes. It becomes the tool's annotations, so it must be accurate.
#[derive(Debug, Clone, Copy)]
enum Effect {
    /// Nothing.
    Reads,
    /// Adds to the store, and searches sources, which may be external.
    Adds,
    /// Ends waiting work, or searches external sources again.
    Settles,
    /// Ends running or waiting work; calling it again has no further effect.
    Ends,
    /// Replaces stored data or the active version; a history keeps the old state.
    Corrects,
    /// Adds a measurement to the store and changes nothing else.
    Records,
    /// Searches a corpus, which may be external, and keeps the results for a while, for other tools to use.
    Searches,
    /// Creates a run from stored ones, and keeps it for a while.
    Fuses,
}

impl Effect {
    fn annotations(self) -> ToolAnnotations {
        let (read_only, destructive, idempotent, open_world) = match self {
            Self::Reads => (true, false, true, false),
            Self::Adds => (false, false, false, true),
            // A run that expires is not a change that a user has to approve.
            Self::Searches => (true, false, false, true),
            Self::Settles => (false, true, false, true),
            Self::Ends => (false, true, true, false),
            Self::Corrects => (false, true, false, false),
            Self::Fuses => (true, false, false, false),
            Self::Records => (false, false, false, false),
        };
        ToolAnnotations::new()
            .read_only(read_only)
            .destructive(destructive)
            .idempotent(idempotent)
            .open_world(open_world)
    }
}

/// A tool as it is listed, with the function that runs it.
pub(super) struct Entry {
    pub(super) tool: rmcp::model::Tool,
    /// What its arguments are checked against.
    pub(super) arguments: JsonObject,
    /// Its results with every field described.
    results: JsonObject,
    set: Toolset,
    effect: Effect,
    run: fn(JsonObject, Call) -> BoxFuture<'static, CallToolResult>,
}

impl Entry {
    /// Whether calling it changes nothing.
    pub(super) fn is_read_only(&self) -> bool {
        matches!(self.effect, Effect::Reads)
    }

    /// Everything about it, for the resource that describes it.
    pub(super) fn described(&self) -> Value {
        json!({
            "name": self.tool.name, "title": self.tool.title, "description": self.tool.description,
            "input_schema": self.arguments, "output_schema": self.results,
        })
    }

    /// Whether a call leaves nothing behind but a run that expires: read-only tokens may call such tools.
    pub(super) fn is_search(&self) -> bool {
        matches!(self.effect, Effect::Searches | Effect::Fuses)
    }

    /// Checks the arguments, runs the tool and returns its result or its error.
    pub(super) async fn run(&self, arguments: JsonObject, call: Call) -> CallToolResult {
        (self.run)(arguments, call).await
    }
}

fn entry<T: Tool + 'static>() -> Entry {
    entry_of::<T>(Toolset::Evidence)
}

fn entry_of<T: Tool + 'static>(set: Toolset) -> Entry {
    let (arguments, results) = (schema::input::<T::Input>(), schema::output::<T::Output>());
    let tool = rmcp::model::Tool::new(T::NAME, T::DESCRIPTION, JsonObject::new())
        .with_title(T::TITLE)
        .with_raw_output_schema(schema::listed_output(&results).into())
        .with_annotations(T::EFFECT.annotations());
    let run = |arguments, call| run::<T>(arguments, call).boxed();
    Entry { tool, arguments, results, set, effect: T::EFFECT, run }
}

async fn run<T: Tool>(mut arguments: JsonObject, call: Call) -> CallToolResult {
    let answer = async {
        let entry = find(T::NAME).ok_or_else(|| Failure::argument("unknown tool"))?;
        T::tidy(&mut arguments);
        let input = arguments::read(&entry.arguments, arguments)?;
        let limited = tokio::time::timeout(CALL_LIMIT, T::call(&call, input));
        call.with_progress(limited).await.unwrap_or_else(|_| Err(Failure::timed_out(CALL_LIMIT)))
    };
    match answer.await {
        Ok(output) => {
            let mut result = reply::success(T::NAME, &output);
            // A tool that only reads names what its caller has named.
            if !matches!(T::EFFECT, Effect::Reads) {
                links::add(&mut result);
            }
            links::add_pages(&mut result, call.app.data_dir()).await;
            result
        }
        Err(failure) => reply::error(T::NAME, failure),
    }
}

/// One call: the application, the caller, and a channel for progress reports if the client asked for them.
pub(super) struct Call {
    app: App,
    /// The caller's name in the audit log.
    actor: String,
    peer: Peer<RoleServer>,
    token: Option<ProgressToken>,
}

impl Call {
    pub(super) fn new(app: App, actor: String, context: RequestContext<RoleServer>) -> Self {
        Self { app, actor, token: context.meta.get_progress_token(), peer: context.peer }
    }

    /// Runs `work`, telling the client every few seconds that it is still running.
    async fn with_progress<F: Future>(&self, work: F) -> F::Output {
        let Some(token) = &self.token else { return work.await };
        let started = Instant::now();
        let mut ticks = tokio::time::interval_at(started + PROGRESS_EVERY, PROGRESS_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut work = std::pin::pin!(work);
        loop {
            tokio::select! {
                output = &mut work => return output,
                _ = ticks.tick() => {
                    let seconds = started.elapsed().as_secs();
                    let progress = ProgressNotificationParam::new(token.clone(), seconds as f64)
                        .with_total(CALL_LIMIT.as_secs_f64())
                        .with_message(format!("no answer yet after {seconds} s"));
                    // The client may be gone; its request is cancelled elsewhere.
                    let _ = self.peer.notify_progress(progress).await;
                }
            }
        }
    }
}

/// Reads a task id; the error names the argument.
fn task_id(text: &str) -> Result<TaskId, Failure> {
    text.trim().parse().map_err(|error| {
        Failure::argument(format!("argument `task_id`: {error}"))
            .hint("give the task_id that create_task returned")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Walks a schema and gives every object in it, with where it is.
    fn walk(value: &Value, path: &str, visit: &mut impl FnMut(&str, &JsonObject)) {
        match value {
            Value::Object(fields) => {
                visit(path, fields);
                for (key, inner) in fields {
                    walk(inner, &format!("{path}/{key}"), visit);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| walk(item, &format!("{path}[]"), visit)),
            _ => {}
        }
    }

    #[test]
    fn every_schema_keeps_the_house_rules() {
        for entry in all() {
            let name = &entry.tool.name;
            let input = Value::Object(entry.arguments.clone());
            let output = Value::Object(entry.results.clone());
            for (side, schema) in [("input", &input), ("output", &output)] {
                assert_eq!(schema["type"], "object", "{name} {side}");
                walk(schema, &format!("{name} {side}"), &mut |path, fields| {
                    let is_map = path.ends_with("/properties");
                    for banned in ["$ref", "oneOf", "anyOf", "allOf", "$defs", "not"] {
                        assert!(is_map || !fields.contains_key(banned), "{path} has {banned}");
                    }
                    if is_map {
                        for (field, schema) in fields {
                            let about = schema["description"].as_str().unwrap_or_default();
                            assert!(about.len() > 8, "{path}/{field} is not described");
                            assert!(schema["type"].is_string(), "{path}/{field} has no single type");
                        }
                    } else if fields.contains_key("properties") {
                        assert_eq!(fields["additionalProperties"], false, "{path}");
                    }
                });
            }
            assert_eq!(output["required"], serde_json::json!(["ok"]), "{name}");
            assert!(output["properties"]["error_id"].is_object(), "{name}");
            let hints = entry.tool.annotations.as_ref().expect("annotations");
            assert!(hints.read_only_hint.is_some() && hints.open_world_hint.is_some(), "{name}");
        }
    }

    /// About four bytes of JSON are a token for current models.
    #[test]
    fn lists_stay_small_enough_for_every_session() {
        for (set, tokens) in [(Toolset::Evidence, 6_000), (Toolset::Fusion, 8_000)] {
            let tools: Vec<&rmcp::model::Tool> = of(set).map(|entry| &entry.tool).collect();
            let bytes = json!({ "tools": tools }).to_string().len();
            assert!(bytes <= 4 * tokens, "{set:?}: {bytes} bytes, {} are allowed", 4 * tokens);
        }
    }

    #[test]
    fn ids_of_another_kind_are_refused_by_name() {
        assert_eq!(task_id("task_1").expect("an id").as_str(), "task_1");
        let failure = task_id("claim_1").expect_err("no task id");
        assert!(failure.message.starts_with("argument `task_id`: `claim_1` is not an id of this kind"));
    }
}
