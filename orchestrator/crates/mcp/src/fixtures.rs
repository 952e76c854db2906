//! Tools, resources and prompts that the MCP conformance suite calls by name. Only with the feature `conformance`; a
//! production build has none of them.

use lyra_wire::json::fields;
use rmcp::model::{
    CallToolResult, ClientCapabilities, ContentBlock, GetPromptResult, JsonObject, ProgressNotificationParam,
    Prompt, PromptArgument, PromptMessage, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
    Role, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};
use std::time::Duration;

/// A PNG of one red pixel.
const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";
/// A WAV file without samples.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";
/// The resource that the suite subscribes to.
pub(super) const WATCHED: &str = "test://watched-resource";
const STEP: Duration = Duration::from_millis(50);

/// The suite's tools.
pub(super) fn tools() -> Vec<Tool> {
    let plain = |name: &'static str| {
        Tool::new(name, "Fixture of the conformance suite.", fields(json!({"type": "object"})))
    };
    let mut tools: Vec<Tool> = [
        "test_simple_text",
        "test_image_content",
        "test_audio_content",
        "test_embedded_resource",
        "test_multiple_content_types",
        "test_error_handling",
        "test_tool_with_progress",
        "test_missing_capability",
        "test_logging_tool",
    ]
    .map(plain)
    .into();
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}}
            }
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"}
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false
    });
    tools.push(Tool::new("json_schema_2020_12_tool", "Fixture of the conformance suite.", fields(schema)));
    tools
}

/// The answer of one of these tools; `None` for any other name.
pub(super) async fn call(
    name: &str,
    context: &RequestContext<RoleServer>,
) -> Option<Result<CallToolResult, ErrorData>> {
    let content = match name {
        "test_simple_text" => vec![ContentBlock::text("This is a simple text response for testing.")],
        "test_image_content" => vec![ContentBlock::image(PNG, "image/png")],
        "test_audio_content" => vec![ContentBlock::audio(WAV, "audio/wav")],
        "test_embedded_resource" => {
            vec![ContentBlock::embedded_text(
                "test://embedded-resource",
                "This is an embedded resource content.",
            )]
        }
        "test_multiple_content_types" => vec![
            ContentBlock::text("Multiple content types test:"),
            ContentBlock::image(PNG, "image/png"),
            ContentBlock::resource(
                ResourceContents::text(r#"{"test":"data","value":123}"#, "test://mixed-content-resource")
                    .with_mime_type("application/json"),
            ),
        ],
        "test_error_handling" => {
            let text = "This tool intentionally returns an error for testing";
            return Some(Ok(CallToolResult::error(vec![ContentBlock::text(text)])));
        }
        "test_tool_with_progress" => {
            if let Some(token) = context.meta.get_progress_token() {
                for done in [0.0, 50.0, 100.0] {
                    let progress = ProgressNotificationParam::new(token.clone(), done).with_total(100.0);
                    // The client may be gone.
                    let _ = context.peer.notify_progress(progress).await;
                    tokio::time::sleep(STEP).await;
                }
            }
            vec![ContentBlock::text("done")]
        }
        // Needs what only some clients can do.
        "test_missing_capability" if !can_sample(context) => {
            let needed: ClientCapabilities = serde_json::from_value(json!({"sampling": {}})).ok()?;
            return Some(Err(ErrorData::missing_required_client_capability(needed)));
        }
        // The server sends no log messages, whatever a tool does.
        "json_schema_2020_12_tool" | "test_missing_capability" | "test_logging_tool" => {
            vec![ContentBlock::text("taken")]
        }
        _ => return None,
    };
    Some(Ok(CallToolResult::success(content)))
}

fn can_sample(context: &RequestContext<RoleServer>) -> bool {
    let declared = context.client_capabilities().and_then(|client| serde_json::to_value(client).ok());
    declared.is_some_and(|declared| declared.get("sampling").is_some())
}

/// The suite's resources.
pub(super) fn resources() -> Vec<Resource> {
    vec![
        Resource::new("test://static-text", "static-text").with_mime_type("text/plain"),
        Resource::new("test://static-binary", "static-binary").with_mime_type("image/png"),
    ]
}

/// The suite's template.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    vec![ResourceTemplate::new("test://template/{id}/data", "template").with_mime_type("application/json")]
}

/// One of them; `None` for any other address.
pub(super) fn read(uri: &str) -> Option<ReadResourceResult> {
    let contents = match uri {
        "test://static-text" => {
            ResourceContents::text("This is the content of the static text resource.", uri)
                .with_mime_type("text/plain")
        }
        "test://static-binary" => ResourceContents::blob(PNG, uri).with_mime_type("image/png"),
        _ => {
            let id = uri.strip_prefix("test://template/")?.strip_suffix("/data")?;
            let data = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
            ResourceContents::text(data.to_string(), uri).with_mime_type("application/json")
        }
    };
    Some(ReadResourceResult::new(vec![contents]))
}

/// The suite's prompts.
pub(super) fn prompts() -> Vec<Prompt> {
    let prompt = |name: &str, arguments: &[&str]| {
        let arguments = arguments.iter().map(|name| PromptArgument::new(*name).with_required(true)).collect();
        Prompt::new(name, Some("Fixture of the conformance suite."), Some(arguments))
    };
    vec![
        prompt("test_simple_prompt", &[]),
        prompt("test_prompt_with_arguments", &["arg1", "arg2"]),
        prompt("test_prompt_with_embedded_resource", &["resourceUri"]),
        prompt("test_prompt_with_image", &[]),
    ]
}

/// One of them, filled in; `None` for any other name.
pub(super) fn prompt(name: &str, arguments: &JsonObject) -> Option<GetPromptResult> {
    let argument = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
    let message = |content| PromptMessage::new(Role::User, content);
    let messages = match name {
        "test_simple_prompt" => vec![ContentBlock::text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments" => vec![ContentBlock::text(format!(
            "Prompt with arguments: arg1='{}', arg2='{}'",
            argument("arg1"),
            argument("arg2")
        ))],
        "test_prompt_with_embedded_resource" => vec![
            ContentBlock::embedded_text(argument("resourceUri"), "Embedded resource content for testing."),
            ContentBlock::text("Please process the embedded resource above."),
        ],
        "test_prompt_with_image" => {
            vec![ContentBlock::image(PNG, "image/png"), ContentBlock::text("Please analyze the image above.")]
        }
        _ => return None,
    };
    Some(GetPromptResult::new(messages.into_iter().map(message).collect()))
}
