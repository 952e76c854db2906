use super::*;
use crate::testing::{Bench, Graph};
use serde_json::{Value, json};

/// Rows of a view for the graph's task, as arrays in column order, from the template and from the real view alike.
#[track_caller]
fn compare(name: &str, rows: &ViewRows, expect: &[Value]) {
    let round = |value: &Value| match value.as_f64() {
        Some(number) if value.is_f64() => json!((number * 1000.0).round() / 1000.0),
        _ => value.clone(),
    };
    let got: Vec<Value> =
        rows.rows.iter().map(|row| rows.columns.iter().map(|column| round(&row[column])).collect()).collect();
    assert_eq!(got, expect, "{name} has the columns {:?}", rows.columns);
}

async fn check(bench: &Bench, graph: &Graph, name: &str, expect: &[Value]) {
    let rows = bench.store.query_view(name, Some(&graph.task.id), None, 50).await.unwrap();
    compare(name, &rows, expect);
    let sql = format!("SELECT * FROM {name} WHERE task_id = '{}'", graph.task.id);
    let real = bench.store.query_graph(&sql, crate::GuardOptions::default()).await.unwrap();
    compare(name, &ViewRows { columns: real.columns, rows: real.rows, truncated: false }, expect);
    let other = TaskId::new(uuid::Uuid::nil());
    assert!(
        bench.store.query_view(name, Some(&other), None, 50).await.unwrap().rows.is_empty(),
        "{name} has rows of no task"
    );
}

#[tokio::test]
async fn sixteen_views_on_a_small_graph() {
    let bench = Bench::new().await;
    bench.execute("INSERT INTO view_clock VALUES (1, '2026-11-20T12:00:00Z')").await;
    let graph = Graph::new(&bench).await;
    // Another task with the same pages must not leak into this one.
    Graph::new(&bench).await;

    let task = graph.task.id.as_str();
    let page = |i: usize| graph.pages[i].page.id.as_str();
    let fragment = |i: usize| graph.pages[i].fragments[0].id.as_str();
    let disputed = (graph.disputed.id.as_str(), graph.disputed.claim_text.as_str());
    let growing = (graph.growing.id.as_str(), graph.growing.claim_text.as_str());
    let alone = (graph.alone.id.as_str(), graph.alone.claim_text.as_str());
    let by_page_id = |mut rows: Vec<(usize, Value)>| {
        rows.sort_by_key(|(i, _)| page(*i).to_owned());
        rows.into_iter().map(|(_, row)| row).collect::<Vec<_>>()
    };

    // Weights: disputed +0.9 −0.9; growing +0.6 +0.9 +0.8.
    let summary = [
        json!([task, growing.0, growing.1, 3, 0, 0, 0, 3.3, 1.0, 0.767, 0.184, 0.0, 0]),
        json!([task, disputed.0, disputed.1, 1, 1, 1, 0, 1.9, 1.9, 0.5, 0.228, 0.5, 1]),
        json!([task, alone.0, alone.1, 0, 0, 0, 0, 1.0, 1.0, 0.5, 0.289, 0.0, 0]),
    ];
    check(&bench, &graph, "v_claim_evidence_summary", &summary).await;
    let both = json!([
        task,
        disputed.0,
        disputed.1,
        format!("[\"{}\"]", fragment(1)),
        format!("[\"{}\"]", fragment(2)),
        1,
        1,
        0.5
    ]);
    check(&bench, &graph, "v_contradictions", &[both]).await;
    check(&bench, &graph, "v_unsupported_claims", &[json!([task, alone.0, alone.1, 0, 0.289])]).await;

    // Fragment a supports growing, whose source b supports disputed, and the other way round.
    let chains = {
        let mut rows = vec![
            (0.81, json!([task, fragment(2), growing.0, disputed.0, 0.81])),
            (0.72, json!([task, fragment(3), growing.0, disputed.0, 0.72])),
        ];
        let mut last = [
            (fragment(0), json!([task, fragment(0), growing.0, disputed.0, 0.54])),
            (fragment(1), json!([task, fragment(1), disputed.0, growing.0, 0.54])),
        ];
        last.sort_by_key(|(id, _)| *id);
        rows.extend(last.map(|(_, row)| (0.54, row)));
        rows.into_iter().map(|(_, row)| row).collect::<Vec<_>>()
    };
    check(&bench, &graph, "v_evidence_chain", &chains).await;

    // Only c could support two claims, and it refutes one of them.
    check(&bench, &graph, "v_hub_pages", &[]).await;
    let mut flow = [(1, 0), (0, 1), (2, 0), (2, 1)].map(|(from, to)| (page(from), page(to)));
    flow.sort_unstable();
    let flow = flow.map(|(from, to)| json!([task, from, to, "openalex", 1]));
    check(&bench, &graph, "v_citation_flow", &flow).await;
    let mut pair = [page(0), page(1)];
    pair.sort_unstable();
    let cluster = json!([task, pair[0], format!("[\"{}\",\"{}\"]", pair[0], pair[1]), 2, 2]);
    check(&bench, &graph, "v_citation_clusters", &[cluster]).await;
    let orphans = by_page_id(vec![
        (2, json!([task, page(2), "Title c", "c.example.org", 1])),
        (3, json!([task, page(3), "Title d", "d.example.org", 1])),
    ]);
    check(&bench, &graph, "v_orphan_sources", &orphans).await;

    let timeline = [
        json!([task, null, 1, 1, 0.8]),
        json!([task, 2008, 1, 1, 0.6]),
        json!([task, 2015, 1, 1, 0.9]),
        json!([task, 2024, 1, 2, 0.9]),
    ];
    check(&bench, &graph, "v_evidence_timeline", &timeline).await;
    let temporal = [
        json!([task, growing.0, growing.1, 2008, 2024, 16, 1.0]),
        json!([task, disputed.0, disputed.1, 2015, 2015, 0, 0.5]),
    ];
    check(&bench, &graph, "v_claim_temporal_support", &temporal).await;
    // From 0.6 in 2008 to 0.9 in 2024.
    check(&bench, &graph, "v_emerging_consensus", &[json!([task, growing.0, growing.1, 0.019, 2])]).await;
    let mut outdated = [disputed, growing];
    outdated.sort_unstable();
    let outdated = outdated.map(|claim| json!([task, claim.0, claim.1, 2024, 2]));
    check(&bench, &graph, "v_outdated_evidence", &outdated).await;

    // Eight reported citations of each; a and b are cited by two pages here, ages 18, 11, 2, unknown.
    let authority = [
        json!([task, page(2), "Title c", 2.5, 8, 0, 2024]),
        json!([task, page(1), "Title b", 2.474, 8, 2, 2015]),
        json!([task, page(0), "Title a", 1.856, 8, 2, 2008]),
        json!([task, page(3), "Title d", 1.5, 8, 0, null]),
    ];
    check(&bench, &graph, "v_source_authority", &authority).await;
    // In the 2020s disputed leans to the other side than in the 2010s.
    let eras = [json!([task, 2000, 0, 1, 0]), json!([task, 2010, 0, 1, 0]), json!([task, 2020, 0, 2, 1])];
    check(&bench, &graph, "v_controversy_by_era", &eras).await;
    let gaps = [
        json!([task, 2024, 2008, 16, 1]),
        json!([task, 2024, 2015, 9, 1]),
        json!([task, 2015, 2008, 7, 1]),
        json!([task, 2008, 2015, -7, 1]),
    ];
    check(&bench, &graph, "v_citation_age_gap", &gaps).await;
    let freshness =
        [json!([task, disputed.0, disputed.1, 6.5, 0, 1]), json!([task, growing.0, growing.1, 10.0, 1, 0])];
    check(&bench, &graph, "v_evidence_freshness", &freshness).await;
}

#[tokio::test]
async fn the_present_is_a_parameter() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    let later = "2034-01-01T00:00:00Z".parse().unwrap();
    let rows =
        bench.store.query_view("outdated_evidence", Some(&graph.task.id), Some(later), 9).await.unwrap();
    assert!(rows.rows.len() == 2 && rows.rows.iter().all(|row| row["years_since_update"] == 10), "{rows:?}");
    bench.execute("INSERT INTO view_clock VALUES (1, '2030-05-01T00:00:00Z')").await;
    let sql = "SELECT DISTINCT years_since_update AS years FROM v_outdated_evidence";
    let real = bench.store.query_graph(sql, crate::GuardOptions::default()).await.unwrap();
    assert_eq!(json!(real.rows), json!([{"years": 6}]));
}

#[tokio::test]
async fn a_page_that_supports_two_claims_is_a_hub() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    bench.execute("UPDATE edges SET relation = 'supports' WHERE relation = 'refutes'").await;
    let page = graph.pages[2].page.id.as_str();
    check(
        &bench,
        &graph,
        "v_hub_pages",
        &[json!([graph.task.id.as_str(), page, "Title c", "c.example.org", 2, 8])],
    )
    .await;
}

#[tokio::test]
async fn a_rejected_claim_is_in_no_view() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    bench.execute("UPDATE claims SET claim_adoption_status = 'not_adopted'").await;
    for view in bench.store.views() {
        let citations =
            ["v_citation_flow", "v_citation_clusters", "v_citation_age_gap", "v_source_authority"];
        if !citations.contains(&view.name) {
            assert!(
                bench
                    .store
                    .query_view(view.name, Some(&graph.task.id), None, 9)
                    .await
                    .unwrap()
                    .rows
                    .is_empty()
            );
        }
    }
}

#[tokio::test]
async fn a_rendered_view_is_a_cte_body_and_quotes_its_task() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    for view in bench.store.views() {
        let sql = bench.store.render_view(view.name, Some(&graph.task.id), None).unwrap();
        let cte = format!("WITH part AS ({sql}\n) SELECT count(*) AS n FROM part");
        bench.store.query_graph(&cte, crate::GuardOptions::default()).await.unwrap();
    }
    let odd: TaskId = "task_' OR 1 = 1 --".parse().unwrap();
    let sql = bench.store.render_view("contradictions", Some(&odd), None).unwrap();
    assert!(sql.contains("'task_'' OR 1 = 1 --'"), "{sql}");
    assert!(bench.store.query_view("contradictions", Some(&odd), None, 9).await.unwrap().rows.is_empty());
}

#[tokio::test]
async fn limits_and_names() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    let rows = bench.store.query_view("claim_evidence_summary", Some(&graph.task.id), None, 2).await.unwrap();
    assert_eq!((rows.rows.len(), rows.truncated), (2, true));
    let empty = bench.store.query_view("hub_pages", Some(&graph.task.id), None, 2).await.unwrap();
    assert_eq!(
        empty.columns,
        ["task_id", "page_id", "title", "domain", "claims_supported", "citation_count"]
    );
    for (name, says) in [
        ("v_contradiction", "unknown view `v_contradiction`, the nearest name is `v_contradictions`"),
        ("xyz", "unknown view `xyz`"),
    ] {
        assert_eq!(bench.store.render_view(name, None, None).unwrap_err().to_string(), says);
    }
}

#[tokio::test]
async fn a_changed_view_is_made_again_and_a_leftover_one_goes() {
    let bench = Bench::new().await;
    bench
        .execute(
            "DROP VIEW v_hub_pages; CREATE VIEW v_hub_pages AS SELECT 1 AS old;
             CREATE VIEW v_of_an_older_version AS SELECT 1 AS old",
        )
        .await;
    bench.again().await;
    let leftovers =
        bench.count("SELECT count(*) FROM sqlite_schema WHERE type = 'view' AND sql LIKE '%AS old%'").await;
    assert_eq!(leftovers, 0);
    assert_eq!(bench.count("SELECT count(*) FROM sqlite_schema WHERE type = 'view'").await, 16);
}

#[tokio::test]
async fn one_task_of_many_stays_within_the_default_limits() {
    let bench = Bench::new().await;
    bench
        .execute(
            "CREATE TEMP TABLE n AS WITH n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 4999) SELECT i FROM n;
             INSERT INTO tasks (id, query, status, config, budget_pages, budget_seconds, created_at, updated_at)
             SELECT 'task_' || i, 'q', 'completed', '{}', 1, 1, '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z'
             FROM n WHERE i < 50;
             INSERT INTO pages (id, url, domain, fetch_method, fetched_at, paper_metadata)
             SELECT 'page_' || i, 'https://example.org/' || i, 'example.org', 'corpus', '2026-01-01T00:00:00.000Z',
                    json_object('year', 1990 + i % 35) FROM n;
             INSERT INTO task_pages (task_id, page_id, reason) SELECT 'task_' || (i % 50), 'page_' || i, 'corpus' FROM n;
             INSERT INTO fragments (id, page_id, fragment_type, position, text_content, char_start, char_end, text_hash)
             SELECT 'frag_' || i, 'page_' || i, 'abstract', 0, 'text ' || i, 0, 9, i FROM n;
             INSERT INTO claims (id, task_id, claim_text, claim_type, source_fragment_id, created_at)
             SELECT 'claim_' || i, 'task_' || (i % 50), 'claim ' || i, 'extracted', 'frag_' || i,
                    '2026-01-01T00:00:00.000Z' FROM n;
             INSERT INTO edges (id, source_type, source_id, target_type, target_id, relation, nli_confidence, created_at)
             SELECT 'edge_' || n.i || '_' || k.i, 'fragment', 'frag_' || ((n.i + 50 + 50 * k.i) % 5000), 'claim',
                    'claim_' || n.i, iif(k.i % 3, 'supports', 'refutes'), 0.7, '2026-01-01T00:00:00.000Z'
             FROM n JOIN n AS k ON k.i < 8;
             INSERT INTO edges (id, source_type, source_id, target_type, target_id, relation, created_at)
             SELECT 'edge_c' || i, 'page', 'page_' || i, 'page', 'page_' || ((i * 7 + 1) % 5000), 'cites',
                    '2026-01-01T00:00:00.000Z' FROM n;",
        )
        .await;
    let mut slow = Vec::new();
    for view in bench.store.views() {
        let sql = format!("SELECT * FROM {} WHERE task_id = 'task_7'", view.name);
        let options = crate::GuardOptions { timeout_ms: 2_000, ..crate::GuardOptions::default() };
        if let Err(error) = bench.store.query_graph(&sql, options).await {
            slow.push(format!("{}: {error}", view.name));
        }
    }
    assert!(slow.is_empty(), "{slow:#?}");
}

#[test]
fn views_are_written_for_the_sqlite_of_debian_12() {
    // ORDER BY within an aggregate came with 3.44; where it stands in one view, older programs cannot open the database.
    for (name, sql) in texts().unwrap() {
        for (at, start) in sql.match_indices("_group_array(") {
            let mut open = 1;
            let end = sql[at + start.len()..].find(|c| {
                open += i32::from(c == '(') - i32::from(c == ')');
                open == 0
            });
            let arguments = &sql[at + start.len()..][..end.unwrap()];
            assert!(!arguments.contains("ORDER BY"), "{name}: {arguments}");
        }
    }
}

#[tokio::test]
async fn the_database_opens_in_pythons_sqlite() {
    let bench = Bench::new().await;
    Graph::new(&bench).await;
    let script = "import sqlite3, sys
print(sqlite3.sqlite_version)
database = sqlite3.connect(f'file:{sys.argv[1]}?mode=ro', uri=True)
print(database.execute('SELECT count(*) FROM claims').fetchone()[0])";
    let ran = std::process::Command::new("python3").args(["-c", script]).arg(bench.path()).output();
    // Most machines have Python; the previous test does not need it.
    let Ok(ran) = ran else { return };
    let (said, error) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    if error.contains("No module named") {
        return;
    }
    assert!(ran.status.success() && said.ends_with("\n3\n"), "{said}{error}");
}
