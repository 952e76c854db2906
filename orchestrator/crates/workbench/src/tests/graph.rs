//! The graph of a task.

use super::{Site, contains};
use lyra_domain::{Priority, TaskConfig};
use lyra_store::{NewTask, Store, StoreConfig};

#[tokio::test]
async fn a_task_s_graph_is_a_picture_and_tables() {
    let site = Site::new().await;
    let store =
        Store::open(&site.folder.path().join("lyra.db"), StoreConfig::default()).await.expect("a store");
    let new = NewTask {
        query: "Do naps improve memory?".to_owned(),
        config: TaskConfig::default(),
        claims: vec!["Naps <b>improve</b> memory.".to_owned(), "Naps harm memory.".to_owned()],
        question_claim: None,
    };
    let task = store.create_task(new, Priority::Medium).await.expect("a task").id;
    let address = format!("/tasks/{task}/graph");
    let page = site.page(&address).await;
    contains(
        &page,
        &[
            "2 nodes, 0 relations.",
            "Naps &lt;b&gt;improve&lt;/b&gt; memory.",
            "aria-current=\"page\"",
            "No side taken",
        ],
    );
    assert_eq!(page.matches("tabindex=\"-1\"><title>").count(), 2);
    contains(&page, &[&format!("data-source=\"/api/v1/tasks/{task}/graph\"")]);

    // What the address cannot mean is left out of it.
    let odd = site.page(&format!("{address}?kinds=star&limit=many&steps=9&from=500&edges=1&text=harm")).await;
    contains(&odd, &["1 contains the words.", "text=harm"]);
    let none = site.page(&format!("{address}?around=claim_unknown")).await;
    contains(&none, &["Nothing in the graph fits.", "Show the whole graph"]);
    let (_, japanese) = site.get_in("ja", &address).await;
    contains(&japanese, &["グラフ", "ノード 2 件"]);
    assert_eq!(site.get("/tasks/task_none/graph").await.0, 404);
}
