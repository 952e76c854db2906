//! The answer as an app inside the client (MCP Apps, the extension `io.modelcontextprotocol/ui`, 2026-01-26).
//!
//! Clients that render apps learn from the list of tools which page shows the result of `answer`. Its module reads the
//! rendered answer of a task as a further resource. Results are whole without it.

use super::tools::answer;
use lyra_domain::TaskId;
use lyra_usecases::{App, AppError};
use lyra_workbench::report::{app_answer, app_template};
use rmcp::RoleServer;
use rmcp::model::{ClientCapabilities, JsonObject, MetaObject, ResourceContents, Tool};
use rmcp::service::RequestContext;
use serde_json::json;

const EXTENSION: &str = "io.modelcontextprotocol/ui";
/// Resources of apps.
pub(super) const SCHEME: &str = "ui://";
/// The page that the client shows.
const TEMPLATE: &str = "ui://lyra/answer";
/// The answers of tasks, by id.
const ANSWERS: &str = "ui://lyra/answers/";
const MIME: &str = "text/html;profile=mcp-app";

/// Whether the client of this request renders apps.
pub(super) fn is_shown(context: &RequestContext<RoleServer>) -> bool {
    context.client_capabilities().is_some_and(|client| is_declared(&client))
}

fn is_declared(client: &ClientCapabilities) -> bool {
    let types = || client.extensions.as_ref()?.get(EXTENSION)?.get("mimeTypes")?.as_array();
    types().is_some_and(|types| types.iter().any(|kind| kind == MIME))
}

/// Of what a client can do, what matters here: whether it renders apps.
pub(super) fn kept(client: &ClientCapabilities) -> ClientCapabilities {
    let mut kept = ClientCapabilities::default();
    if is_declared(client) {
        let settings = JsonObject::from_iter([("mimeTypes".to_owned(), json!([MIME]))]);
        kept.extensions.get_or_insert_default().insert(EXTENSION.to_owned(), settings);
    }
    kept
}

/// The tool as it is listed for a client that renders apps.
pub(super) fn linked(mut tool: Tool) -> Tool {
    if tool.name == answer::NAME {
        tool.meta.get_or_insert_default().insert("ui".to_owned(), json!({ "resourceUri": TEMPLATE }));
    }
    tool
}

/// A resource of the app: `None` if there is none at this address.
///
/// # Errors
/// No such task.
pub(super) async fn read(app: &App, uri: &str) -> Result<Option<ResourceContents>, AppError> {
    let page = if uri == TEMPLATE {
        app_template()
    } else if let Some((task, language)) = named(uri) {
        app_answer(app.answer(&task).await?, language, app.now())
    } else {
        return Ok(None);
    };
    let mut meta = MetaObject::default();
    meta.insert("ui".to_owned(), json!({ "prefersBorder": true }));
    Ok(Some(ResourceContents::text(page, uri).with_mime_type(MIME).with_meta(meta)))
}

/// The task and the language of `ui://lyra/answers/TASK?language=TAG`.
fn named(uri: &str) -> Option<(TaskId, Option<String>)> {
    let path = uri.strip_prefix(ANSWERS)?;
    let (id, query) = path.split_once('?').unwrap_or((path, ""));
    let language = query.strip_prefix("language=").filter(|tag| !tag.is_empty()).map(str::to_owned);
    Some((id.parse().ok()?, language))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_a_task_and_a_language() {
        let (task, language) = named("ui://lyra/answers/task_1?language=ja-JP").expect("a task");
        assert_eq!((task.as_str(), language.as_deref()), ("task_1", Some("ja-JP")));
        assert_eq!(named("ui://lyra/answers/task_1?language=").expect("a task").1, None);
        assert!(named("ui://lyra/answers/claim_1").is_none() && named(TEMPLATE).is_none());
    }
}
