//! The MCP edge: tools, resources, prompts, subscriptions, and tasks over stdio and streamable HTTP.
//!
//! Only knows wire formats: every tool checks its arguments against its own schema, calls one function of
//! [`lyra_usecases`] and serializes the result. rmcp handles protocol revisions, sessions and framing.

mod admission;
mod app;
mod arguments;
mod completions;
mod deferred;
#[cfg(feature = "conformance")]
mod fixtures;
mod icon;
mod instructions;
mod links;
mod prompts;
mod remedy;
mod reply;
mod resources;
mod schema;
mod subscriptions;
mod tools;

use anyhow::Context;
use axum::http::request::Parts;
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodRouter, any_service};
use lyra_research::trace::{self, Cause, TraceId};
use lyra_store::{AuditOutcome, AuditVia, Scope};
use lyra_usecases::config::Toolset;
use lyra_usecases::{App, Caller, Mutation, SearchRefusal};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams, CompleteRequestParams,
    CompleteResult, GetPromptRequestParams, GetPromptResponse, GetTaskParams, GetTaskResult, Implementation,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
    ServerConfig, SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
    UpdateTaskParams,
};
use rmcp::service::{RequestContext, SubscriptionContext, serve_server_with_ct};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService, stdio_pipes};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use std::sync::Arc;
use std::time::Instant;
use subscriptions::Subscriptions;
use tokio_util::sync::CancellationToken;

/// Serves one client on stdin and stdout until it closes stdin or `cancel` is cancelled.
///
/// # Errors
/// The client did not open the session according to MCP, or the serving task died.
pub async fn serve_stdio(app: App, cancel: CancellationToken) -> anyhow::Result<()> {
    use rmcp::service::ServerInitializeError::{Cancelled, ConnectionClosed};
    let caller = Caller { via: AuditVia::McpStdio, ..Caller::user() };
    let server = McpServer { app, caller: Some(caller), subscriptions: Subscriptions::default() };
    let session = match Box::pin(serve_server_with_ct(server, stdio_pipes(), cancel)).await {
        Ok(session) => session,
        // A client that disconnects before sending anything is not a failure.
        Err(Cancelled | ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(error).context("the MCP client did not open the session"),
    };
    session.waiting().await.context("the MCP session ended badly")?;
    Ok(())
}

/// The streamable HTTP transport as a route. Its router checks `Host`, `Origin` and the caller.
pub fn http_route(app: App, cancel: CancellationToken) -> MethodRouter {
    let max_body_bytes = app.config().server.max_body_kb.saturating_mul(1024);
    let config = StreamableHttpServerConfig::default()
        .with_cancellation_token(cancel)
        .with_max_request_body_bytes(max_body_bytes)
        .disable_allowed_hosts()
        .disable_allowed_origins();
    let sessions = Arc::<LocalSessionManager>::default();
    let admission = Arc::new(admission::Admission::new(max_body_bytes, Arc::clone(&sessions)));
    let service = StreamableHttpService::new(
        move || Ok(McpServer { app: app.clone(), caller: None, subscriptions: Subscriptions::default() }),
        sessions,
        config,
    );
    any_service(service).layer(from_fn_with_state(admission, admission::admit))
}

/// What clients show about the server.
const DESCRIPTION: &str = "Lyra: evidence with citations and confidence, for people and their agents";

/// One MCP session's handler. Its subscriptions are its only state.
#[derive(Clone)]
pub(crate) struct McpServer {
    app: App,
    /// The caller; over HTTP every request has its own.
    caller: Option<Caller>,
    /// The resources that the client has subscribed to.
    subscriptions: Subscriptions,
}

impl McpServer {
    /// The caller of this request. Over HTTP, the router has determined it.
    fn caller(&self, context: &RequestContext<RoleServer>) -> Result<Caller, ErrorData> {
        let sent = || context.extensions.get::<Parts>()?.extensions.get::<Caller>().cloned();
        self.caller
            .clone()
            .or_else(sent)
            .ok_or_else(|| ErrorData::internal_error("the caller is not known", None))
    }

    fn toolset(&self) -> Toolset {
        self.app.config().server.toolset
    }

    /// Whether a caller may call a tool at all.
    fn may(&self, caller: &Caller, entry: &tools::Entry) -> bool {
        let searches = || entry.is_search() && self.app.config().server.reader_searches_per_hour > 0;
        caller.scope == Scope::Full || entry.is_read_only() || searches()
    }

    /// Why a caller may not call a tool now.
    fn refused(&self, caller: &Caller, entry: &tools::Entry) -> Option<CallToolResult> {
        if !self.may(caller, entry) {
            return Some(reply::forbidden(&entry.tool.name));
        }
        if !entry.is_search() {
            return None;
        }
        Some(match self.app.admit_search(caller).err()? {
            SearchRefusal::Never => reply::forbidden(&entry.tool.name),
            later @ SearchRefusal::Later { .. } => reply::too_many_searches(&entry.tool.name, later),
        })
    }

    /// Runs a tool for an authorized caller, and audits calls that change or store something.
    async fn run_tool(
        &self,
        entry: &tools::Entry,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        let (cancelled, started) = (context.ct.clone(), Instant::now());
        let caller = self.caller(&context)?;
        let arguments = request.arguments.unwrap_or_default();
        let (refused, actor) = (self.refused(&caller, entry), caller.actor.clone());
        let was_refused = refused.is_some();
        let noted = (!entry.is_read_only()).then(|| {
            Mutation::begin(caller, request.name.clone(), serde_json::Value::Object(arguments.clone()))
        });
        let call = tools::Call::new(self.app.clone(), actor, context);
        let work = async {
            match refused {
                None => entry.run(arguments, call).await,
                Some(refusal) => refusal,
            }
        };
        let result = tokio::select! {
            result = work => {
                self.app.metrics().tool_call(&entry.tool.name, reply::code(&result), started.elapsed());
                Ok(result)
            }
            () = cancelled.cancelled() => Err(ErrorData::internal_error("the request was cancelled", None)),
        };
        if let Some(mut call) = noted {
            let (outcome, detail) = reply::outcome(&mut call, result.as_ref().ok());
            let outcome = if was_refused { AuditOutcome::Refused } else { outcome };
            self.app.audit(call, outcome, detail).await;
        }
        result
    }
}

/// The step of a trace that the caller names: in the request's `_meta` (SEP-414), or in the header of its HTTP request.
fn called_from(context: &RequestContext<RoleServer>) -> Option<Cause> {
    if let Some(text) = context.meta.get_traceparent() {
        return Cause::of_traceparent(text);
    }
    let parts = context.extensions.get::<Parts>()?;
    Cause::of_traceparent(parts.headers.get("traceparent")?.to_str().ok()?)
}

/// Refuses cursors of lists that have one page: no cursor of theirs was ever issued.
fn only_page(page: Option<PaginatedRequestParams>) -> Result<(), ErrorData> {
    match page.and_then(|page| page.cursor) {
        None => Ok(()),
        Some(cursor) => Err(ErrorData::invalid_params(
            format!("`{cursor}` is not a cursor of this list, which has one page; omit the cursor"),
            None,
        )),
    }
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(
            ServerCapabilities::builder()
                .enable_tools()
                .enable_resources()
                .enable_resources_subscribe()
                .enable_prompts()
                .enable_completions()
                .enable_tasks()
                .build(),
        )
        .with_server_info(
            Implementation::new("lyra", env!("CARGO_PKG_VERSION"))
                .with_title("Lyra")
                .with_description(DESCRIPTION)
                .with_icons(icon::of_server())
                .with_website_url(env!("CARGO_PKG_REPOSITORY")),
        )
        .with_instructions(instructions::of(self.toolset()))
    }

    async fn list_tools(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        only_page(page)?;
        // Read-only callers do not see tools that would be refused.
        let caller = self.caller(&context)?;
        let tools = tools::of(self.toolset()).filter(|entry| self.may(&caller, entry));
        let shows_apps = app::is_shown(&context);
        let tools = tools.map(|entry| entry.tool.clone());
        let tools = tools.map(|tool| if shows_apps { app::linked(tool) } else { tool });
        #[cfg(feature = "conformance")]
        let tools = tools.chain(fixtures::tools());
        Ok(ListToolsResult::with_all_items(tools.collect()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        #[cfg(feature = "conformance")]
        if let Some(tool) = fixtures::tools().into_iter().find(|tool| tool.name == name) {
            return Some(tool);
        }
        tools::find(name).map(|entry| entry.tool.clone())
    }

    async fn call_tool(
        &self,
        mut request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        #[cfg(feature = "conformance")]
        if let Some(result) = fixtures::call(&request.name, &context).await {
            return result.map(CallToolResponse::from);
        }
        let Some(entry) = tools::of(self.toolset()).find(|entry| entry.tool.name == request.name) else {
            let known: Vec<&str> = tools::of(self.toolset()).map(|entry| entry.tool.name.as_ref()).collect();
            return Err(ErrorData::invalid_params(
                format!("unknown tool `{}`; the tools are {}", request.name, known.join(", ")),
                None,
            ));
        };
        let cause = called_from(&context).unwrap_or_default();
        let name = request.name.clone();
        let span = |trace: TraceId| {
            let kind = lyra_telemetry::kind("server");
            tracing::error_span!("tool_call", tool = %name, trace_id = %trace, otel.kind = kind)
        };
        let may_defer = deferred::accept(&mut request, &context);
        let result = trace::within(cause, span, self.run_tool(entry, request, context)).await?;
        if may_defer { deferred::handle(&self.app, result).await } else { Ok(result.into()) }
    }

    async fn list_resources(
        &self,
        page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        resources::list(&self.app, page.and_then(|page| page.cursor).as_deref()).await
    }

    async fn list_resource_templates(
        &self,
        page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        only_page(page)?;
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        resources::read(&self.app, &request.uri).await.map(ReadResourceResponse::from)
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscriptions.add(&self.app, request.uri, context.peer).await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscriptions.remove(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(subscriptions::accepted(requested))
    }

    async fn listen(&self, stream: SubscriptionContext) -> Result<(), ErrorData> {
        subscriptions::listen(&self.app, stream).await;
        Ok(())
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        deferred::get(&self.app, &request.task_id).await
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        deferred::update(&self.app, &request.task_id).await
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let caller = self.caller(&context)?;
        deferred::cancel(self, caller, &request.task_id).await
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        completions::complete(&self.app, request).await
    }

    async fn list_prompts(
        &self,
        page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        only_page(page)?;
        Ok(ListPromptsResult::with_all_items(prompts::list(self.toolset())))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        prompts::get(&self.app.config().fusion, &request.name, &request.arguments.unwrap_or_default())
            .map(GetPromptResponse::from)
    }
}
