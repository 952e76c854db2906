use super::{Site, contains};
use axum::http::StatusCode;
use lyra_domain::TaskConfig;
use lyra_store::Scope;
use lyra_usecases::NewTask;

#[tokio::test]
async fn a_task_without_documents_says_so_and_has_a_flow_of_zeros() {
    let mut site = Site::new().await;
    let config = TaskConfig { sources: vec!["openalex".to_owned()], ..TaskConfig::default() };
    let new = NewTask {
        query: "Do <b>naps</b> help?".to_owned(),
        config,
        claims: vec!["Naps help.".to_owned()],
        judge_question: None,
    };
    let task = site.app.create_task(new).await.expect("a task").id;
    let at = format!("/tasks/{task}/screening");
    let page = site.page(&format!("{at}?skip=nonsense&verdict=odd&page=page_none")).await;
    contains(
        &page,
        &["There are no documents to screen", "&lt;b&gt;naps", "Wrong population", "0 of 0 documents"],
    );
    contains(&site.get_in("ja", &at).await.1, &["<h1>スクリーニング</h1>", "対象集団が異なる"]);
    let flow = site.page(&format!("/tasks/{task}/prisma")).await;
    contains(&flow, &["<h1>PRISMA 2020 flow</h1>", "Records screened", "not recorded"]);
    let (status, svg) = site.get(&format!("/tasks/{task}/prisma.svg")).await;
    assert!(
        status == StatusCode::OK && svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""),
        "{svg}"
    );
    let (status, csv) = site.get(&format!("{at}/decisions.csv")).await;
    assert!(status == StatusCode::OK && csv.starts_with("page_id,verdict,reason"), "{csv}");
    assert_eq!(site.get(&format!("{at}/decisions.exe")).await.0, StatusCode::NOT_FOUND);
    assert_eq!(site.get("/tasks/task_none/screening").await.0, StatusCode::NOT_FOUND);
    site.scope = Scope::Read;
    assert!(page.contains("id=\"why\"") && !site.page(&at).await.contains("id=\"why\""));
}
