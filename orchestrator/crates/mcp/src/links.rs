//! Links from a tool's result to the resources of what it stored, so that a client can read, cache, and subscribe to
//! them without another call.

use super::resources::{FUSION, JSON, TASKS};
use lyra_domain::{ClaimId, PageId};
use lyra_usecases::served_at;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use rmcp::model::{CallToolResult, ContentBlock, Resource};
use serde_json::Value;
use std::path::Path;

/// Most links of one result.
const LINKS: usize = 12;

/// Adds the pages of the workbench for what the result names, when a server runs on the data folder. Errors name
/// nothing, and the server is looked for only when there is something to link.
pub(super) async fn add_pages(result: &mut CallToolResult, data_dir: &Path) {
    if result.is_error == Some(true) {
        return;
    }
    let pages: Vec<Page> = result.structured_content.iter().flat_map(pages).collect();
    if pages.is_empty() {
        return;
    }
    let Some(address) = served_at(data_dir).await else { return };
    result.content.extend(pages.into_iter().map(|page| ContentBlock::resource_link(page.at(&address))));
}

/// A page of the workbench: its path, the id of what it shows, and its title.
struct Page {
    path: String,
    id: String,
    title: &'static str,
}

impl Page {
    fn at(self, address: &str) -> Resource {
        let page = Resource::new(format!("{address}{}", self.path), self.id);
        page.with_title(self.title).with_mime_type("text/html")
    }
}

fn pages(result: &Value) -> Vec<Page> {
    let text = |pointer: &str| result.pointer(pointer).and_then(Value::as_str);
    let claim = text("/verdict/claim_id").or_else(|| text("/claim_id"));
    let named = [
        (claim, "claims", "Claim in the workbench"),
        (text("/task_id"), "tasks", "Task in the workbench"),
        (text("/page_id"), "pages", "Document in the workbench"),
    ];
    let named = named.into_iter().filter_map(|(id, folder, title)| Some((id?, folder, title)));
    let runs = runs(result).map(|run| (run, "fusion/runs", "Run in the workbench"));
    let page = |(id, folder, title): (&str, _, _)| Page {
        path: format!("/{folder}/{id}"),
        id: id.to_owned(),
        title,
    };
    named.chain(runs).map(page).take(LINKS).collect()
}

/// The page of a stored item, by the id that `search` and `fetch` have for it, on the server of the data folder; `None`
/// while none runs.
pub(super) async fn page_of_item(id: &str, data_dir: &Path) -> Option<String> {
    let path = item_path(id)?;
    Some(format!("{}{path}", served_at(data_dir).await?))
}

fn item_path(id: &str) -> Option<String> {
    if id.parse::<ClaimId>().is_ok() {
        return Some(format!("/claims/{id}"));
    }
    if id.parse::<PageId>().is_ok() {
        return Some(format!("/pages/{id}"));
    }
    // Document ids may have slashes; names of corpora have none.
    let (corpus, document) = id.strip_prefix("corpus:")?.split_once('/')?;
    let part = |text| utf8_percent_encode(text, NON_ALPHANUMERIC);
    Some(format!("/corpora/{}/documents/{}", part(corpus), part(document)))
}

/// Runs that the result names: its own, and those of its lanes.
fn runs(result: &Value) -> impl Iterator<Item = &str> {
    let lanes = result.get("lanes").and_then(Value::as_array).into_iter().flatten();
    let handles = std::iter::once(result).chain(lanes.filter_map(|lane| lane.get("handle")));
    handles.filter_map(|handle| handle.get("run_id")?.as_str())
}

/// Adds the links of what the result names: its task, the claim it judged, and its runs. Errors name nothing.
pub(super) fn add(result: &mut CallToolResult) {
    if result.is_error == Some(true) {
        return;
    }
    let links: Vec<Resource> = result.structured_content.iter().flat_map(of).take(LINKS).collect();
    result.content.extend(links.into_iter().map(ContentBlock::resource_link));
}

fn of(result: &Value) -> Vec<Resource> {
    let text = |pointer: &str| result.pointer(pointer).and_then(Value::as_str);
    let mut links = Vec::new();
    if let Some(task) = text("/task_id") {
        let uri = format!("{TASKS}{task}");
        if let Some(claim) = text("/verdict/claim_id") {
            links.push(link(format!("{uri}/claims/{claim}"), claim, "Claim"));
        }
        links.push(link(uri, task, "Task"));
    }
    links.extend(runs(result).map(|run| link(format!("{FUSION}{run}"), run, "Run")));
    links
}

fn link(uri: String, name: &str, title: &str) -> Resource {
    Resource::new(uri, name).with_title(title).with_mime_type(JSON)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn links(result: &Value) -> Vec<String> {
        of(result).into_iter().map(|link| link.uri).collect()
    }

    #[test]
    fn what_a_result_names_is_linked() {
        let answer = json!({ "task_id": "task_1", "verdict": { "claim_id": "claim_1" } });
        assert_eq!(links(&answer), ["lyra://tasks/task_1/claims/claim_1", "lyra://tasks/task_1"]);
        let handle = |run| json!({ "handle": { "run_id": run } });
        let lanes = json!({ "lanes": [handle("run_1"), { "error": "no" }, handle("run_2")] });
        assert_eq!(links(&lanes), ["lyra://fusion/run_1", "lyra://fusion/run_2"]);
        assert_eq!(links(&json!({ "run_id": "run_1" })), ["lyra://fusion/run_1"]);
        assert!(links(&json!({ "ok": true })).is_empty());
    }

    #[test]
    fn what_a_result_names_has_its_page() {
        let links = |result: &Value| -> Vec<String> {
            pages(result).into_iter().map(|page| page.at("http://127.0.0.1:8420").uri).collect()
        };
        let answer = json!({ "task_id": "task_1", "verdict": { "claim_id": "claim_1" } });
        assert_eq!(
            links(&answer),
            ["http://127.0.0.1:8420/claims/claim_1", "http://127.0.0.1:8420/tasks/task_1"]
        );
        let run = |run: &str| format!("http://127.0.0.1:8420/fusion/runs/{run}");
        assert_eq!(links(&json!({ "run_id": "run_1" })), [run("run_1")]);
        let lanes = json!({ "lanes": [{ "handle": { "run_id": "run_1" } }, { "error": "no" }] });
        assert_eq!(links(&lanes), [run("run_1")]);
        assert!(links(&json!({ "ok": true })).is_empty());
    }

    #[test]
    fn a_stored_item_has_its_page() {
        let claim = "claim_00000000000000000000000000000001";
        assert_eq!(item_path(claim).as_deref(), Some(&*format!("/claims/{claim}")));
        assert_eq!(item_path("page_1").as_deref(), Some("/pages/page_1"));
        assert_eq!(
            item_path("corpus:my-papers/10.1/a b").as_deref(),
            Some("/corpora/my%2Dpapers/documents/10%2E1%2Fa%20b")
        );
        assert_eq!(item_path("https://a.example/"), None);
    }

    #[test]
    fn text_stays_the_first_block_and_errors_have_no_links() {
        let mut result = CallToolResult::structured(json!({ "task_id": "task_1" }));
        let before = result.content.clone();
        add(&mut result);
        assert_eq!((&result.content[..1], result.content.len()), (&before[..], 2));
        let mut error = CallToolResult::structured_error(json!({ "task_id": "task_1" }));
        add(&mut error);
        assert_eq!(error.content.len(), 1);
    }
}
