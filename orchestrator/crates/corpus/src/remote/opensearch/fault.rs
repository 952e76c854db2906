//! What a cluster's errors mean, and what a person can do about them.

use reqwest::StatusCode;
use serde_json::Value;

/// Why, and whether asking again may help.
pub(super) type Meaning = (String, bool);

/// The meaning of an answer that is no success, `None` if its own words say enough.
pub(super) fn explain(status: StatusCode, body: &Value) -> Option<Meaning> {
    let error = &body["error"];
    if status == StatusCode::UNAUTHORIZED {
        return Some((
            "the cluster refuses user and password (401): check both in the configuration".to_owned(),
            false,
        ));
    }
    if status == StatusCode::FORBIDDEN && error["type"] == "security_exception" {
        let why = format!("the user may not do that (403): {}", reason(error));
        return Some((why, false));
    }
    // No shard failed, because none was there to ask.
    let is_red = status == StatusCode::SERVICE_UNAVAILABLE
        && error["type"] == "search_phase_execution_exception"
        && error["failed_shards"].as_array().is_some_and(Vec::is_empty);
    if is_red {
        return Some((red("an index", &reason(error)), true));
    }
    meaning(error)
}

fn red(index: &str, said: &str) -> String {
    format!(
        "shards of {index} are missing (red): a node with them is away. GET /_cluster/allocation/explain tells why. {said}"
    )
}

/// The meaning of an error object of an answer or of one item of it.
pub(super) fn meaning(error: &Value) -> Option<Meaning> {
    // The error itself, its causes, and those of its shards.
    let causes = error["root_cause"].as_array().into_iter().flatten();
    let shards = error["failed_shards"].as_array().into_iter().flatten().map(|shard| &shard["reason"]);
    [error, &error["caused_by"]].into_iter().chain(causes).chain(shards).find_map(known)
}

fn known(error: &Value) -> Option<Meaning> {
    let kind = error["type"].as_str()?;
    let said = reason(error);
    let index =
        error["index"].as_str().map_or_else(|| "an index".to_owned(), |name| format!("index `{name}`"));
    Some(match kind {
        "index_closed_exception" => {
            (format!("{index} is closed: open it (POST /INDEX/_open) and repeat this"), false)
        }
        "cluster_block_exception" if said.contains("/12/") => (
            format!(
                "{index} is read-only, because a disk of the cluster is nearly full (flood-stage watermark): free space \
                 or add a node, and repeat this"
            ),
            false,
        ),
        "cluster_block_exception" if said.contains("/5/") || said.contains("/8/") || said.contains("/7/") => {
            (
                format!(
                    "{index} is blocked by one of its settings (index.blocks.*): remove the block, and repeat this. {said}"
                ),
                false,
            )
        }
        "cluster_block_exception"
        | "cluster_manager_not_discovered_exception"
        | "master_not_discovered_exception" => (format!("the cluster is not ready: {said}"), true),
        "no_shard_available_action_exception" | "unavailable_shards_exception" => (red(&index, &said), true),
        "query_shard_exception" | "illegal_argument_exception" if said.contains("invalid dimension") => (
            format!(
                "the vectors of {index} are of another dimension than those of the embedder: {said}. Use the embedder that \
                 made them, or import the corpus again"
            ),
            false,
        ),
        _ => return None,
    })
}

/// What an error says, in its own words.
pub(super) fn reason(error: &Value) -> String {
    let deepest = &error["caused_by"]["reason"];
    let words = [&error["reason"], deepest].map(|reason| reason.as_str().unwrap_or_default());
    let text = match words {
        ["", ""] => error["type"].as_str().unwrap_or("no explanation given").to_owned(),
        [own, ""] => own.to_owned(),
        [own, deeper] if own.contains(deeper) => own.to_owned(),
        [own, deeper] => format!("{own}: {deeper}"),
    };
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().filter(|c| !c.is_control()).take(300).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_full_disk_is_no_reason_to_ask_again() {
        let said = "index [x] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, index has \
                    read-only-allow-delete block];";
        let (why, passing) =
            meaning(&json!({"type": "cluster_block_exception", "reason": said, "index": "x"})).unwrap();
        assert!(why.starts_with("index `x` is read-only, because a disk"), "{why}");
        assert!(!passing);
        let (_, passing) =
            meaning(&json!({"type": "cluster_block_exception", "reason": "blocked by: [SERVICE_UNAVAILABLE/2/no manager]"}))
                .unwrap();
        assert!(passing);
    }

    #[test]
    fn causes_count_before_what_wraps_them() {
        let error = json!({
            "type": "search_phase_execution_exception", "reason": "all shards failed",
            "failed_shards": [{"reason": {"type": "query_shard_exception", "index": "x",
                "reason": "failed to create query: Query vector has invalid dimension: 3. Dimension should be: 4"}}],
        });
        let (why, _) = meaning(&error).unwrap();
        assert!(why.contains("of another dimension"), "{why}");
        assert_eq!(meaning(&json!({"type": "parsing_exception", "reason": "x"})), None);
        assert!(!explain(StatusCode::UNAUTHORIZED, &Value::Null).unwrap().1);
        let silent =
            json!({"error": {"type": "search_phase_execution_exception", "reason": "", "failed_shards": []}});
        let (why, passing) = explain(StatusCode::SERVICE_UNAVAILABLE, &silent).unwrap();
        assert!(why.contains("(red)") && passing, "{why}");
    }
}
