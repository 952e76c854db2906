use super::*;
use crate::testing::{Bench, Graph};
use serde_json::json;

async fn query(bench: &Bench, sql: &str) -> Result<GuardedRows, GuardError> {
    bench.store.query_graph(sql, GuardOptions::default()).await
}

#[tokio::test]
async fn what_reads_the_graph_is_allowed() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    for (sql, rows) in [
        ("SELECT id FROM claims WHERE claim_text LIKE '%update%'", 0),
        ("SELECT id FROM fragments WHERE text_content LIKE '%update%'", 1),
        ("SELECT replace(claim_text, 'works', 'delete from claims; --') AS x FROM claims", 3),
        ("SELECT 'a;b' AS x; ", 1),
        ("-- DROP TABLE claims;\nSELECT count(*) AS n FROM claims", 1),
        ("SELECT * FROM v_contradictions ORDER BY controversy DESC", 1),
        ("WITH t AS (SELECT 1 AS x) SELECT count(*) AS n FROM t", 1),
        ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10) SELECT i FROM n", 10),
        ("VALUES (1), (2)", 2),
        (
            "SELECT f.id FROM fragments_fts JOIN fragments AS f ON f.seq = fragments_fts.rowid \
          WHERE fragments_fts MATCH 'treatment NOT mice' ORDER BY rank",
            3,
        ),
        (
            "SELECT snippet(fragments_fts, 0, '[', ']', '…', 8) AS s, bm25(fragments_fts) AS b FROM fragments_fts \
          WHERE fragments_fts MATCH '\"does not work\"'",
            1,
        ),
        (
            "SELECT c.id FROM claims_fts JOIN claims AS c ON c.seq = claims_fts.rowid WHERE claims_fts MATCH \
             'protocol'",
            1,
        ),
        ("SELECT relation, count(*) AS n, avg(nli_confidence) AS mean FROM edges GROUP BY relation", 5),
        (
            "SELECT json_extract(paper_metadata, '$.venue') AS v, paper_metadata ->> '$.year' AS y FROM pages",
            4,
        ),
        ("SELECT value FROM json_each('[1, 2, 3]')", 3),
        ("SELECT id, row_number() OVER (ORDER BY seq) AS n, lag(id) OVER (ORDER BY seq) AS l FROM claims", 3),
        ("SELECT id FROM claims WHERE id IN (SELECT target_id FROM edges WHERE relation = 'refutes')", 1),
        ("SELECT id FROM claims UNION SELECT id FROM pages", 7),
        ("SELECT CASE WHEN round(sqrt(2), 3) = 1.414 THEN 'yes' END AS x", 1),
        ("SELECT upper(title) || printf('%5d', year) AS x FROM pages WHERE year IS NOT NULL", 3),
        ("SELECT id, url, domain, status FROM auth_queue", 0),
        ("SELECT count(*) AS n FROM auth_queue", 1),
        ("SELECT * FROM auth_queue", 0),
        ("SELECT c.id FROM claims AS c JOIN auth_queue USING (task_id)", 0),
        ("SELECT strftime('%Y', created_at) AS y FROM tasks", 1),
        ("EXPLAIN QUERY PLAN SELECT * FROM claims WHERE id = 'x'", 1),
        ("SELECT \"claim_text\", [id], `seq` FROM \"claims\"", 3),
    ] {
        match query(&bench, sql).await {
            Ok(found) => assert_eq!(found.row_count, rows, "{sql}: {:?}", found.rows),
            Err(error) => panic!("{sql}: {error} {:?}", error.hint()),
        }
    }
    for view in bench.store.views() {
        let sql = format!("SELECT * FROM {} WHERE task_id = '{}'", view.name, graph.task.id);
        query(&bench, &sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

#[tokio::test]
async fn what_is_not_a_read_is_refused() {
    let bench = Bench::new().await;
    Graph::new(&bench).await;
    for (sql, code) in [
        ("INSERT INTO claims (id) VALUES ('x')", "not_read_only"),
        ("UPDATE claims SET claim_text = 'x'", "not_read_only"),
        ("DELETE FROM claims", "not_read_only"),
        ("DROP TABLE claims", "not_read_only"),
        ("CREATE TABLE x (y)", "not_read_only"),
        ("CREATE TEMP TABLE x (y)", "not_read_only"),
        ("WITH x AS (SELECT 1) DELETE FROM claims", "not_read_only"),
        ("WITH x AS (SELECT 1) INSERT INTO claims (id) SELECT * FROM x", "not_read_only"),
        ("EXPLAIN DELETE FROM claims", "not_read_only"),
        ("ATTACH DATABASE '/tmp/x.db' AS x", "not_read_only"),
        ("PRAGMA journal_mode = DELETE", "not_read_only"),
        ("PRAGMA query_only = off", "not_read_only"),
        ("VACUUM INTO '/tmp/x.db'", "not_read_only"),
        ("BEGIN", "not_read_only"),
        ("REINDEX", "not_read_only"),
        ("SELECT 1; DELETE FROM claims", "several_statements"),
        ("SELECT 1; SELECT 2", "several_statements"),
        ("", "empty"),
        ("  -- nothing", "empty"),
        ("SELECT FROM WHERE", "syntax"),
        ("SELECT 'unfinished", "syntax"),
        ("hello", "syntax"),
        ("SELECT * FROM claims WHERE task_id = ?1", "syntax"),
        ("SELECT * FROM claims WHERE task_id = :task", "syntax"),
        ("SELECT load_extension('x')", "not_allowed"),
        ("SELECT writefile('/tmp/x', 'y')", "not_allowed"),
        ("SELECT readfile('/etc/passwd')", "not_allowed"),
        ("SELECT randomblob(1000000000)", "not_allowed"),
        ("SELECT zeroblob(1000000000)", "not_allowed"),
        ("SELECT fts5('x')", "not_allowed"),
        ("SELECT * FROM sqlite_schema", "not_allowed"),
        ("SELECT count(*) FROM sqlite_master", "not_allowed"),
        ("SELECT * FROM rate_state", "not_allowed"),
        ("SELECT count(*) FROM rate_state", "not_allowed"),
        ("SELECT count(*) FROM access_tokens", "unknown_name"),
        ("SELECT count(*) FROM private.access_tokens", "unknown_name"),
        // Columns for which SQLite does not call the authorizer.
        ("SELECT 1 FROM rate_state x JOIN rate_state y USING (provider)", "not_allowed"),
        ("SELECT state FROM (SELECT 'x' AS state) FULL JOIN rate_state USING (state)", "not_allowed"),
        ("SELECT docs FROM (SELECT 'x' AS docs) NATURAL FULL JOIN fusion_runs", "not_allowed"),
        ("SELECT sql FROM (SELECT 'x' AS sql) FULL JOIN sqlite_schema USING (sql)", "not_allowed"),
        ("SELECT * FROM pragma_table_info('claims')", "not_allowed"),
        ("SELECT session FROM auth_queue", "unknown_name"),
        ("SELECT 1 FROM auth_queue WHERE session LIKE 'a%'", "unknown_name"),
        ("SELECT group_concat(printf('%.400000c', 'x')) FROM pages", "too_large"),
        ("SELECT * FROM claim", "unknown_name"),
        ("SELECT confidence FROM claims", "unknown_name"),
    ] {
        match query(&bench, sql).await {
            Ok(found) => panic!("{sql} was allowed: {:?}", found.rows),
            Err(error) => assert_eq!(error.code(), code, "{sql}: {error}"),
        }
    }
    assert_eq!(bench.count("SELECT count(*) FROM claims").await, 3);
}

#[tokio::test]
async fn runaway_statements_are_stopped_in_time() {
    let bench = Bench::new().await;
    Graph::new(&bench).await;
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)";
    let digits = "WITH d(x) AS (VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9)) SELECT count(*) FROM d a, d b, d c, \
        d e, \
                  d f, d g, d h, d i, d j";
    let texts = format!("{endless} SELECT i, printf('%.400000c', 'x') AS t FROM n ORDER BY t DESC");
    let unrelated = "SELECT count(*) FROM fragments a, fragments b, fragments c, fragments d, fragments e, fragments \
        f, \
                     fragments g, fragments h, fragments i, fragments j, fragments k, fragments l, fragments m";
    let slow = "WITH x(t) AS (SELECT printf('%.250000c', 'a')), n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) \
                SELECT count(instr(t, t || i || 'b')) FROM x, n";
    for sql in [&format!("{endless} SELECT sum(i) FROM n"), digits, &texts, unrelated, slow] {
        let quick = GuardOptions { timeout_ms: 200, max_vm_steps: 5_000_000, ..GuardOptions::default() };
        let started = Instant::now();
        let error = bench.store.query_graph(sql, quick).await.unwrap_err();
        assert!(["timeout", "too_many_steps", "too_much_memory"].contains(&error.code()), "{sql}: {error}");
        assert!(started.elapsed() < Duration::from_secs(3), "{sql} took {:?}", started.elapsed());
    }
    let few = GuardOptions { timeout_ms: 2_000, max_vm_steps: 20_000, ..GuardOptions::default() };
    let error = bench.store.query_graph(&format!("{endless} SELECT sum(i) FROM n"), few).await.unwrap_err();
    assert!(matches!(error, GuardError::TooManySteps { max_vm_steps: 20_000 }), "{error}");
    // An endless recursion that is read only as far as the limit is fine.
    let found = query(&bench, &format!("{endless} SELECT i FROM n")).await.unwrap();
    assert_eq!((found.row_count, found.truncated), (50, true));
}

#[tokio::test]
async fn results_are_cut_and_say_so() {
    let bench = Bench::new().await;
    Graph::new(&bench).await;
    let numbers = "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)";
    let with = |limit| GuardOptions { limit, ..GuardOptions::default() };
    let run = |sql: String, limit| async move { (sql, limit) };

    let (sql, limit) = run(format!("{numbers} SELECT i FROM n"), 20).await;
    let found = bench.store.query_graph(&sql, with(limit)).await.unwrap();
    assert_eq!((found.row_count, found.truncated), (20, true));
    assert!(found.hint.unwrap().contains("only the first 20 rows"));
    let found = bench.store.query_graph(&sql, with(10_000)).await.unwrap();
    assert_eq!((found.row_count, found.truncated), (200, true), "the limit is 200 at most");
    let found = bench.store.query_graph(&format!("{sql} LIMIT 5"), with(5)).await.unwrap();
    assert_eq!((found.row_count, found.truncated, found.hint), (5, false, None));

    let found =
        query(&bench, "SELECT printf('%.9000c', 'x') AS long, x'0102' AS raw, 9e999 AS big").await.unwrap();
    let long = found.rows[0]["long"].as_str().unwrap();
    assert!(long.len() < MAX_CELL_BYTES + 40 && long.ends_with("… (cut, 9000 bytes in all)"));
    assert_eq!(found.rows[0]["raw"], json!("(blob of 2 bytes)"));
    assert_eq!(found.rows[0]["big"], json!("inf"));

    let found =
        query(&bench, &format!("{numbers} SELECT printf('%.3000c', 'x') AS long FROM n")).await.unwrap();
    assert!(found.truncated && found.row_count < 20);
    assert!(serde_json::to_string(&found.rows).unwrap().len() <= MAX_RESULT_BYTES + 2);

    // SQLite gives null for a width that no value may have.
    let found = query(&bench, "SELECT printf('%.1000000000c', 'x') AS wide").await.unwrap();
    assert_eq!(found.rows[0]["wide"], json!(null));

    let found = query(&bench, "SELECT 1 AS id, 2 AS id, NULL AS none, 0.5 AS half").await.unwrap();
    assert_eq!(found.columns, ["id", "id_2", "none", "half"]);
    assert_eq!(json!(found.rows[0]), json!({"id": 1, "id_2": 2, "none": null, "half": 0.5}));
    let found = query(&bench, "SELECT id, claim_text FROM claims WHERE 0").await.unwrap();
    assert_eq!(found.columns, ["id", "claim_text"], "columns are known without rows");
}

#[tokio::test]
async fn wrong_names_get_the_right_ones() {
    let bench = Bench::new().await;
    for (sql, what, hint) in [
        ("SELECT * FROM claim", "there is no table `claim`", "did you mean `claims` or"),
        (
            "SELECT * FROM contradictions",
            "there is no table `contradictions`",
            "did you mean `v_contradictions`?",
        ),
        (
            "SELECT score FROM claims",
            "there is no column `score`",
            "did you mean `extraction_score`? claims has seq, id, task_id,",
        ),
        (
            "SELECT f.text FROM fragments AS f",
            "there is no column `f.text`",
            "did you mean `text_hash` or `text_content` or",
        ),
        ("SELECT medain(1)", "the function `medain` is not open to queries", "functions: avg, count,"),
        (
            "SELECT session FROM auth_queue",
            "there is no column `session`",
            "no column of its tables has a similar name. auth_queue has id, task_id,",
        ),
        (
            "SELECT * FROM rate_state",
            "the table `rate_state` is not open to queries",
            "tables and views: tasks,",
        ),
    ] {
        let error = query(&bench, sql).await.unwrap_err();
        assert_eq!(error.to_string(), what, "{sql}");
        assert!(error.hint().unwrap_or_default().starts_with(hint), "{sql}: {:?}", error.hint());
    }
}

#[tokio::test]
async fn the_schema_says_what_each_table_is_for() {
    let bench = Bench::new().await;
    let options = GuardOptions { include_schema: true, ..GuardOptions::default() };
    let schema = bench.store.query_graph("SELECT 1 AS x", options).await.unwrap().schema.unwrap();
    let table = |name: &str| schema.iter().find(|table| table.name == name);
    let columns = |name: &str| {
        table(name).unwrap().columns.iter().map(|column| column.name.clone()).collect::<Vec<_>>()
    };
    assert!(columns("pages").contains(&"year".to_owned()));
    assert!(!columns("auth_queue").contains(&"session".to_owned()));
    assert!(columns("v_contradictions").contains(&"controversy".to_owned()));
    assert_eq!(table("fragments_fts").unwrap().kind, "full text");
    assert!(table("rate_state").is_none());
    // Everything in it can be selected.
    for table in &schema {
        let names: Vec<_> = table.columns.iter().map(|column| format!("\"{}\"", column.name)).collect();
        let sql = format!("SELECT {} FROM {}", names.join(", "), table.name);
        query(&bench, &sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

#[tokio::test]
async fn a_writer_does_not_block_readers() {
    let bench = Bench::new().await;
    let tx = bench.store.write().await.unwrap();
    assert_eq!(query(&bench, "SELECT count(*) AS n FROM claims").await.unwrap().rows[0]["n"], 0);
    tx.rollback().await.unwrap();
}

/// The statements of `hostile.sql`, without the comments between them.
fn hostile() -> impl Iterator<Item = &'static str> {
    let statements = include_str!("hostile.sql").split("\n==\n");
    statements.map(|statement| {
        let lines = statement.split_inclusive('\n');
        let comments: usize = lines.take_while(|line| line.starts_with("-- ")).map(str::len).sum();
        statement[comments..].trim_end_matches('\n')
    })
}

#[tokio::test]
async fn hostile_statements_read_no_secret_change_nothing_and_stay_within_their_limits() {
    const SECRET: &str = "s3cret-cookie-of-a-person";
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    let mut tx = bench.store.write().await.unwrap();
    sqlx::query(
        "INSERT INTO auth_queue (id, task_id, url, domain, auth_type, priority, status, created_at)
         VALUES ('auth_1', ?, 'https://example.org', 'example.org', 'login', 1, 'completed', '2026-11-20')",
    )
    .bind(graph.task.id.as_str())
    .execute(&mut *tx)
    .await
    .unwrap();
    for sql in [
        "INSERT INTO private.sessions VALUES ('example.org', 'auth_1', ?)",
        "INSERT INTO private.access_tokens (id, name, scope, token_hash, created_at) VALUES ('x', 'x', 'full', ?, 'x')",
        "INSERT INTO private.quarantined_texts VALUES ('frag_x', ?, NULL)",
        "INSERT INTO private.audit_log (at, actor, via, action, arguments, cause_id, outcome)
         VALUES ('x', 'x', 'cli', 'x', ?, 'x', 'ok')",
        // Closed, and in the same file.
        "INSERT INTO rate_state VALUES ('x', ?, 'x')",
    ] {
        sqlx::query(sql).bind(SECRET).execute(&mut *tx).await.unwrap();
    }
    tx.commit().await.unwrap();
    let checksum = "SELECT sum(length(sql)) + (SELECT count(*) FROM claims) + (SELECT count(*) FROM edges)
         + (SELECT count(*) FROM fragments_fts WHERE fragments_fts MATCH 'treatment') FROM sqlite_schema";
    let before = bench.count(checksum).await;
    let memory = crate::sqlite::memory_used();

    let mut seen = 0;
    for sql in hostile().filter(|sql| !sql.is_empty()) {
        let options = GuardOptions { timeout_ms: 500, max_vm_steps: 2_000_000, ..GuardOptions::default() };
        let started = Instant::now();
        let answer = bench.store.query_graph(sql, options).await;
        // Far above limit and grace: nothing may hang.
        assert!(started.elapsed() < Duration::from_secs(30), "{sql} took {:?}", started.elapsed());
        let said = match &answer {
            Ok(found) => serde_json::to_string(&found.rows).unwrap(),
            Err(error) => format!("{error} {:?}", error.hint()),
        };
        assert!(!said.contains(SECRET), "{sql} read a secret: {said}");
        assert!(said.len() <= MAX_RESULT_BYTES + 4_000, "{sql} answered {} bytes", said.len());
        // In double quotes, an unknown column name is a string; some statements define a column of that name.
        let own = ["\"session\"", "AS session"].iter().any(|own| sql.contains(own));
        let named = sql.to_lowercase().contains("session") && !own;
        let names_a_secret = named && !sql.starts_with("CREATE");
        assert!(!names_a_secret || answer.is_err(), "{sql} was allowed");
        seen += 1;
    }
    assert!(seen >= 120, "{seen} statements");
    assert_eq!(bench.count(checksum).await, before);
    // A statement abandoned at its time limit ends by itself and frees its memory.
    let deadline = Instant::now() + Duration::from_secs(20);
    while crate::sqlite::memory_used() > memory + (32 << 20) {
        assert!(Instant::now() < deadline, "{} bytes are still held", crate::sqlite::memory_used() - memory);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
