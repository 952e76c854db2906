use super::*;
use crate::tools;

#[track_caller]
fn refused(tool: &str, arguments: Value, message: &str) {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    let schema = &tools::find(tool).expect("a tool").arguments;
    let failure = read::<Value>(schema, arguments).expect_err("it is refused");
    assert_eq!((failure.code, failure.message.as_str()), ("invalid_argument", message));
}

#[test]
fn refusals_name_the_argument_the_fault_and_the_remedy() {
    refused(
        "query_graph",
        json!({}),
        "argument `sql` is missing, it should be a string of 1 to 20000 characters",
    );
    refused("query_graph", json!({"slq": "x"}), "argument `slq` is unknown, did you mean `sql`?");
    refused(
        "query_graph",
        json!({"sql": " "}),
        "argument `sql` is blank, it should be a string of 1 to 20000 characters",
    );
    refused(
        "query_graph",
        json!({"sql": "select 1", "options": {"limit": 500}}),
        "argument `options.limit` is 500, it should be an integer, 1 to 200",
    );
    refused(
        "query_graph",
        json!({"sql": "select 1", "limit": 5}),
        "argument `limit` is unknown, did you mean `options.limit`?",
    );
    refused(
        "create_task",
        json!({"query": "q", "max_pages": 5}),
        "argument `max_pages` is unknown, did you mean `config.budget.max_pages`?",
    );
    refused(
        "query_graph",
        json!({"sql": "select 1", "options": {"timeout": 5}}),
        "argument `options.timeout` is unknown, did you mean `options.timeout_ms`?",
    );
    refused(
        "get_status",
        json!({"task_id": "task_1", "wait": "long"}),
        "argument `wait` is the string \"long\", it should be an integer, 0 to 45",
    );
    refused(
        "get_status",
        json!({"task_id": "task_1", "detail": "ful"}),
        "argument `detail` is \"ful\", it should be one of summary, full",
    );
    refused(
        "queue_searches",
        json!({"task_id": "task_1", "queries": []}),
        "argument `queries` has 0 items, it should be a list of 1 to 20 items",
    );
    refused(
        "queue_searches",
        json!({"task_id": "task_1", "queries": ["a", 2]}),
        "argument `queries[1]` is the number 2, it should be a string of 1 to 2000 characters",
    );
}

#[test]
fn null_means_left_out_and_whole_floats_are_integers() {
    let schema = &tools::find("query_graph").expect("a tool").arguments;
    let Value::Object(arguments) = json!({"sql": "select 1", "options": {"limit": 3.0, "timeout_ms": null}})
    else {
        unreachable!()
    };
    let read: Value = read(schema, arguments).expect("it is accepted");
    assert_eq!(read, json!({"sql": "select 1", "options": {"limit": 3}}));
}

#[test]
fn edits_are_counted() {
    assert_eq!(strsim::levenshtein("kitten", "sitting"), 3);
    let places = ["query", "hypothesis"].map(|name| (name.to_owned(), name.to_owned()));
    assert_eq!(closest("hypotesis", &places), Some("hypothesis"));
    assert_eq!(closest("zebra", &places), None);
}
