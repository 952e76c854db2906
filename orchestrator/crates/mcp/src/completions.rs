//! Completions: ids and names that exist, for the arguments of resource templates and prompts.

use super::{prompts, resources};
use lyra_domain::TaskId;
use lyra_usecases::{App, AppError, Completed};
use rmcp::ErrorData;
use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, Reference};

/// Values that begin with what was typed, newest first.
///
/// # Errors
/// An unknown template or prompt.
pub(super) async fn complete(app: &App, request: CompleteRequestParams) -> Result<CompleteResult, ErrorData> {
    match &request.r#ref {
        Reference::Resource(resource)
            if resources::templates().iter().all(|known| known.uri_template != resource.uri) =>
        {
            let known: Vec<String> =
                resources::templates().into_iter().map(|known| known.uri_template.clone()).collect();
            let message =
                format!("unknown template `{}`; the templates are {}", resource.uri, known.join(", "));
            return Err(ErrorData::invalid_params(message, None));
        }
        Reference::Prompt(prompt)
            if prompts::list(app.config().server.toolset).iter().all(|known| known.name != prompt.name) =>
        {
            let message = format!("unknown prompt `{}`", prompt.name);
            return Err(ErrorData::invalid_params(message, None));
        }
        _ => {}
    }
    let typed = request.argument.value.trim();
    let found = match request.argument.name.as_str() {
        "task_id" => app.complete_tasks(typed, CompletionInfo::MAX_VALUES).await,
        "run_id" => app.complete_runs(typed, CompletionInfo::MAX_VALUES).await,
        "corpus" => app.complete_corpora(typed, CompletionInfo::MAX_VALUES).await,
        "tool" => {
            let names = super::tools::all().map(|entry| entry.tool.name.to_string());
            let values: Vec<String> = names.filter(|name| name.starts_with(typed)).collect();
            Ok(Completed { total: values.len() as u64, values })
        }
        "language" => {
            let values = prompts::LANGUAGES.iter().filter(|known| known.starts_with(typed));
            let values: Vec<String> = values.map(|known| (*known).to_owned()).collect();
            Ok(Completed { total: values.len() as u64, values })
        }
        "claim_id" => {
            let arguments = request.context.and_then(|context| context.arguments).unwrap_or_default();
            match arguments.get("task_id").map(|id| id.parse::<TaskId>()) {
                // The possible claims depend on the task.
                None | Some(Err(_)) => Ok(Completed::default()),
                Some(Ok(task)) => app.complete_claims(&task, typed, CompletionInfo::MAX_VALUES).await,
            }
        }
        _ => Ok(Completed::default()),
    };
    let Completed { values, total } = found.map_err(|error: AppError| {
        tracing::error!(%error, "ids cannot be completed");
        ErrorData::internal_error(error.to_string(), None)
    })?;
    let more = total > values.len() as u64;
    let total = u32::try_from(total).ok();
    let info = CompletionInfo::with_pagination(values, total, more);
    Ok(CompleteResult::new(info.map_err(|error| ErrorData::internal_error(error, None))?))
}
