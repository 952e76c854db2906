//! The MCP edge: tools and resources over stdio and streamable HTTP.
//!
//! Knows wire formats and nothing else: every tool checks its arguments against its own schema, calls one function of
//! [`crate::app`] and writes down the answer. Protocol revisions, sessions and framing are rmcp's.

mod arguments;
mod instructions;
mod prompts;
mod reply;
mod resources;
mod schema;
mod tools;

use crate::app::{App, Caller, Mutation};
use crate::config::Toolset;
use anyhow::Context;
use axum::http::request::Parts;
use lyra_research::trace::{self, TraceId};
use lyra_store::{AuditVia, Scope};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, GetPromptRequestParams, GetPromptResponse, Implementation,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
    ServerConfig, Tool,
};
use rmcp::service::{RequestContext, serve_server_with_ct};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService, stdio_pipes};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use std::sync::Arc;
use std::time::Instant;
use tokio_util::sync::CancellationToken;

/// Serves one client on stdin and stdout until it closes stdin or `cancel` is cancelled.
///
/// # Errors
/// The client did not open the session as MCP says, or the serving task died.
pub async fn serve_stdio(app: App, cancel: CancellationToken) -> anyhow::Result<()> {
    use rmcp::service::ServerInitializeError::{Cancelled, ConnectionClosed};
    let caller = Caller { via: AuditVia::McpStdio, ..Caller::user() };
    let server = McpServer { app, caller: Some(caller) };
    let session = match serve_server_with_ct(server, stdio_pipes(), cancel).await {
        Ok(session) => session,
        // A client that leaves before it has said anything is no failure.
        Err(Cancelled | ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(error).context("the MCP client did not open the session"),
    };
    session.waiting().await.context("the MCP session ended badly")?;
    Ok(())
}

/// The streamable HTTP transport as a tower service. `Host` and `Origin` are the router's to check.
pub(crate) fn http_service(
    app: App,
    max_body_bytes: usize,
    cancel: CancellationToken,
) -> StreamableHttpService<McpServer, LocalSessionManager> {
    let config = StreamableHttpServerConfig::default()
        .with_cancellation_token(cancel)
        .with_max_request_body_bytes(max_body_bytes)
        .disable_allowed_hosts()
        .disable_allowed_origins();
    StreamableHttpService::new(
        move || Ok(McpServer { app: app.clone(), caller: None }),
        Arc::new(LocalSessionManager::default()),
        config,
    )
}

/// One MCP session's handler. Holds no state of its own.
#[derive(Clone)]
pub(crate) struct McpServer {
    app: App,
    /// Who is at the other end; over HTTP every request says so itself.
    caller: Option<Caller>,
}

impl McpServer {
    /// Who sent this request. Over HTTP, the router has found out.
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

    /// Runs a tool for a caller who may, and notes what changes something.
    async fn run_tool(
        &self,
        entry: &tools::Entry,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let (cancelled, started) = (context.ct.clone(), Instant::now());
        let caller = self.caller(&context)?;
        let arguments = request.arguments.unwrap_or_default();
        let allowed = caller.scope == Scope::Full || entry.is_read_only();
        let noted = (!entry.is_read_only()).then(|| {
            Mutation::begin(caller, request.name.clone(), serde_json::Value::Object(arguments.clone()))
        });
        let call = tools::Call::new(self.app.clone(), context);
        let work = async {
            if allowed { entry.run(arguments, call).await } else { reply::forbidden(&request.name) }
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
            self.app.audit(call, outcome, detail).await;
        }
        result.map(CallToolResponse::from)
    }
}

/// The trace that the caller names: in the request's `_meta` (SEP-414), or in the header of its HTTP request.
fn caller_trace(context: &RequestContext<RoleServer>) -> Option<TraceId> {
    if let Some(text) = context.meta.get_traceparent() {
        return TraceId::of_traceparent(text);
    }
    let parts = context.extensions.get::<Parts>()?;
    TraceId::of_traceparent(parts.headers.get("traceparent")?.to_str().ok()?)
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(
            ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts().build(),
        )
        .with_server_info(
            Implementation::new("lyra", env!("CARGO_PKG_VERSION"))
                .with_title("Lyra")
                .with_description(env!("CARGO_PKG_DESCRIPTION")),
        )
        .with_instructions(instructions::of(self.toolset()))
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        // Who may only read is not shown what would be refused.
        let all = self.caller(&context)?.scope == Scope::Full;
        let tools = tools::of(self.toolset()).filter(|entry| all || entry.is_read_only());
        Ok(ListToolsResult::with_all_items(tools.map(|entry| entry.tool.clone()).collect()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::find(name).map(|entry| entry.tool.clone())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(entry) = tools::of(self.toolset()).find(|entry| entry.tool.name == request.name) else {
            let known: Vec<&str> = tools::of(self.toolset()).map(|entry| entry.tool.name.as_ref()).collect();
            return Err(ErrorData::invalid_params(
                format!("unknown tool `{}`; the tools are {}", request.name, known.join(", ")),
                None,
            ));
        };
        let trace = caller_trace(&context).unwrap_or_default();
        let name = request.name.clone();
        let span = |trace: TraceId| tracing::error_span!("tool_call", tool = %name, trace_id = %trace);
        trace::within(trace, span, self.run_tool(entry, request, context)).await
    }

    async fn list_resources(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(resources::list()))
    }

    async fn list_resource_templates(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        resources::read(&self.app, &request.uri).await.map(ReadResourceResponse::from)
    }

    async fn list_prompts(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
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
