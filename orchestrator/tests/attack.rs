//! Statements that a generator makes, through real worker processes: whatever is sent, no planted secret is in an answer, every
//! answer comes in time, and nothing in the databases changes. `LYRA_ATTACK_STATEMENTS=N` sends N of them, from the seed
//! `LYRA_ATTACK_SEED`.
#![expect(clippy::unwrap_used, reason = "a test")]

use fastrand::Rng;
use futures::StreamExt;
use lyra_store::GuardOptions;
use lyra_usecases::Details;
use lyra_usecases::config::Config;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

/// Part of every secret, and of no statement.
const SECRET: &str = "s3cret";
const OPTIONS: GuardOptions =
    GuardOptions { limit: 50, timeout_ms: 50, max_vm_steps: 500_000, include_schema: false };
/// Far more than limit and grace, for a busy machine.
const IN_TIME: Duration = Duration::from_secs(30);
const IN_FLIGHT: usize = 8;
/// Statements between two looks at the memory that this process holds.
const WATCHED: u64 = 100_000;
/// What it may grow by after the first of these looks.
const GROWTH_MB: u64 = 32;

const TABLES: &[(&str, &[&str])] = &[
    ("auth_queue", &["session", "id", "task_id", "url", "domain", "status"]),
    ("sessions", &["session", "domain", "auth_id"]),
    ("access_tokens", &["token_hash", "name", "scope", "id"]),
    ("audit_log", &["arguments", "actor", "action", "detail"]),
    ("quarantined_texts", &["text_content", "heading_context", "id"]),
    ("quarantined_fragments", &["text_content", "id", "rule_id", "page_id"]),
    ("rate_state", &["state", "provider", "updated_at"]),
    ("fusion_runs", &["docs", "recipe", "meta", "identity", "id"]),
    ("fusion_texts", &["publication", "backend", "corpus", "id"]),
    ("sqlite_schema", &["sql", "name", "tbl_name"]),
    ("sqlite_master", &["sql", "name", "type"]),
    ("pragma_database_list", &["file", "name", "seq"]),
    ("claims", &["id", "task_id", "claim_text", "seq"]),
    ("fragments", &["id", "page_id", "text_content", "seq"]),
    ("edges", &["id", "source_id", "target_id", "relation"]),
    ("v_hub_pages", &["task_id", "page_id"]),
];

fn pick<'a, T>(rng: &mut Rng, from: &'a [T]) -> &'a T {
    &from[rng.usize(..from.len())]
}

/// The statement of this number, with the name of its family.
fn statement(rng: &mut Rng, number: u64) -> (&'static str, String) {
    // The bombs cost most of the time. In a long run there are fewer of them, and of those that use up all of their time, each.
    let family = match (number < 10_000, rng.u16(..1_000)) {
        (true, 0..600) | (false, 0..780) => "usingjoin",
        (true, 600..785) | (false, 780..980) => "mixed",
        (true, 785..985) | (false, 980..999) => "prepare bomb",
        (true, 985..995) => "folded bomb",
        (false, _) if rng.bool() => "folded bomb",
        _ => "straight line",
    };
    let sql = match family {
        "usingjoin" => using_join(rng),
        "mixed" => mixed(rng),
        "prepare bomb" => {
            let way = rng.u8(..4);
            bomb(rng, way)
        }
        "folded bomb" => bomb(rng, 4),
        _ => straight_line(rng),
    };
    (family, sql)
}

fn using_join(rng: &mut Rng) -> String {
    let (table, columns) = *pick(rng, TABLES);
    let joined: Vec<&str> = (0..rng.usize(1..=2)).map(|_| *pick(rng, columns)).collect();
    let schema = *pick(rng, &["", "", "main.", "private.", "temp."]);
    let alias = *pick(rng, &["", " AS t", " t"]);
    let made: Vec<String> = joined.iter().map(|column| format!("'x' AS {column}")).collect();
    let (made, names) = (made.join(", "), joined.join(", "));
    let join = *pick(rng, &["FULL JOIN", "FULL OUTER JOIN", "LEFT JOIN", "JOIN", "INNER JOIN", "RIGHT JOIN"]);
    let from = if rng.u8(..4) == 0 {
        format!("(SELECT {made}) NATURAL {join} {schema}{table}{alias}")
    } else {
        format!("(SELECT {made}) {join} {schema}{table}{alias} USING ({names})")
    };
    let shown = match rng.u8(..6) {
        0 => "*".to_owned(),
        1 => format!("max({})", joined[0]),
        2 => format!("group_concat({})", joined[0]),
        3 => format!("hex({})", joined[0]),
        _ => names,
    };
    let end = *pick(rng, &["", " LIMIT 3", " ORDER BY 1 DESC", " GROUP BY 1", " WHERE 1"]);
    match rng.u8(..4) {
        0 => format!("WITH w AS (SELECT {shown} FROM {from}{end}) SELECT * FROM w"),
        1 => format!("SELECT * FROM (SELECT {shown} FROM {from}{end})"),
        2 => format!("SELECT {shown} FROM {from}{end} UNION ALL SELECT {shown} FROM {from}"),
        _ => format!("SELECT {shown} FROM {from}{end}"),
    }
}

fn bomb(rng: &mut Rng, way: u8) -> String {
    let first = match rng.u8(..3) {
        0 => "SELECT 1 AS x".to_owned(),
        1 => format!("SELECT '{}' AS x", "a".repeat(rng.usize(1..8_000))),
        _ => "SELECT seq AS x FROM claims".to_owned(),
    };
    let tables: Vec<String> = (1..rng.usize(2..60))
        .map(|i| {
            let c = i - 1;
            let body = match way {
                0 => format!("SELECT (SELECT x FROM c{c})+(SELECT x FROM c{c}) AS x"),
                1 => format!("SELECT p.x FROM c{c} p, c{c} q"),
                2 => format!("SELECT x FROM c{c} UNION ALL SELECT x FROM c{c}"),
                3 => format!("SELECT x FROM c{c} WHERE x IN c{c}"),
                // Each is used once; SQLite doubles the expression when it folds one into the next.
                _ => format!("SELECT x+x AS x FROM c{c}"),
            };
            format!(", c{i} AS ({body})")
        })
        .collect();
    let (last, tables) = (tables.len(), tables.concat());
    let recursive = *pick(rng, &["", "RECURSIVE "]);
    format!("WITH {recursive}c0 AS ({first}){tables} SELECT x FROM c{last}")
}

fn straight_line(rng: &mut Rng) -> String {
    let sum = vec!["instr(a,b)"; rng.usize(5..95)].join("+");
    let columns = vec![sum; rng.usize(1..15)].join(", ");
    format!(
        "WITH t(a,b) AS MATERIALIZED (SELECT printf('%.{}c','a'), printf('%.{}c','a')||'b') SELECT {columns} FROM t",
        rng.usize(1_000..240_000),
        rng.usize(1_000..120_000),
    )
}

/// Words of SQL in an order that means little.
fn mixed(rng: &mut Rng) -> String {
    const WORDS: &[&str] = &[
        "SELECT",
        "FROM",
        "WHERE",
        "JOIN",
        "USING",
        "(",
        ")",
        "*",
        ",",
        "AS",
        "UNION",
        "count(*)",
        "1",
        "'x'",
        "=",
        "IN",
        "private.sessions",
        "main.rate_state",
        "NATURAL",
        "FULL",
        "EXPLAIN",
        "WITH",
        "ATTACH",
        "PRAGMA",
        "--",
        "/*",
        "*/",
        ";",
        "VALUES",
        "EXISTS",
        "CASE",
        "WHEN",
        "END",
        "load_extension('x')",
        "readfile('private.db')",
        "\"",
        "[",
        "]",
    ];
    let (table, columns) = *pick(rng, TABLES);
    let mut words = vec!["SELECT", *pick(rng, columns), "FROM", table];
    for _ in 0..rng.usize(..12) {
        words.insert(rng.usize(..=words.len()), *pick(rng, WORDS));
    }
    words.join(" ")
}

async fn execute(file: &Path, sql: String) {
    let mut connection = SqliteConnectOptions::new().filename(file).connect().await.unwrap();
    sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

async fn plant(folder: &Path) {
    execute(
        &folder.join("private.db"),
        format!(
            "INSERT INTO sessions VALUES ('a.example', 'auth_1', '{SECRET}-1');
             INSERT INTO access_tokens (id, name, scope, token_hash, created_at)
             VALUES ('x', '{SECRET}-2', 'full', '{SECRET}-3', 'x');
             INSERT INTO audit_log (at, actor, via, action, arguments, cause_id, outcome)
             VALUES ('x', '{SECRET}-4', 'cli', 'x', '{SECRET}-5', 'x', 'ok');
             INSERT INTO quarantined_texts VALUES ('frag_q', '{SECRET}-6', '{SECRET}-7');"
        ),
    )
    .await;
    execute(
        &folder.join("lyra.db"),
        format!(
            "INSERT INTO rate_state VALUES ('{SECRET}-8', '{SECRET}-9', 'x');
             INSERT INTO fusion_texts VALUES ('x', 'x', 'doc_id', 'x', '{SECRET}-10', 'x');
             INSERT INTO fusion_runs (id, kind, identity, corpus, backend, recipe, docs, meta, created_at, expires_at)
             VALUES ('x', 'fulltext', '{SECRET}-11', 'c', 'b', '{SECRET}-12', '[]', '{{}}', 'x', 'x');
             INSERT INTO tasks (id, query, status, config, budget_pages, budget_seconds, created_at, updated_at)
             VALUES ('task_1', 'q', 'completed', '{{}}', 1, 1, 'x', 'x');
             INSERT INTO claims (id, task_id, claim_text, claim_type, created_at)
             VALUES ('claim_1', 'task_1', 'it works', 'given', 'x'), ('claim_2', 'task_1', 'it does not', 'given', 'x');"
        ),
    )
    .await;
}

/// Megabytes that this process holds.
fn resident_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) / 1024
}

#[tokio::test(flavor = "multi_thread")]
async fn no_generated_statement_reads_a_secret_or_outlives_its_time() {
    let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse::<u64>().ok());
    let (statements, seed) =
        (number("LYRA_ATTACK_STATEMENTS").unwrap_or(400), number("LYRA_ATTACK_SEED").unwrap_or(11));
    let folder = tempfile::tempdir().unwrap();
    let config = Config {
        data_dir: Some(folder.path().to_owned()),
        worker_program: Some(env!("CARGO_BIN_EXE_lyra").into()),
        ..Config::default()
    };
    let app = lyra::compose::open(config).await.unwrap();
    plant(folder.path()).await;
    let before = std::fs::read(folder.path().join("lyra.db")).unwrap();

    let mut rng = Rng::with_seed(seed);
    let sent = futures::stream::iter((0..statements).map(|n| (n, statement(&mut rng, n))));
    let began = Instant::now();
    let mut outcomes = sent
        .map(|(n, (family, sql))| {
            let app = app.clone();
            async move {
                let started = Instant::now();
                let answer = app.query_graph(&format!("caller {}", n % 4), &sql, OPTIONS).await;
                let took = started.elapsed();
                let (said, reason) = match &answer {
                    Ok(found) => (serde_json::to_string(&found.rows).unwrap(), "answered".to_owned()),
                    Err(error) => {
                        let reason = error.details.as_deref().and_then(Details::reason).map(str::to_owned);
                        (
                            format!("{error} {:?}", error.remedy),
                            reason.unwrap_or_else(|| error.code.to_string()),
                        )
                    }
                };
                assert!(
                    !said.contains(SECRET) && !said.contains("733363726574"),
                    "{sql} read a secret: {said}"
                );
                assert!(took < IN_TIME, "{sql} took {took:?}");
                assert_ne!(reason, "store", "{sql}: {said}");
                (family, reason, took)
            }
        })
        .buffer_unordered(IN_FLIGHT);

    let mut counted: BTreeMap<(&str, String), usize> = BTreeMap::new();
    let (mut answered, mut slowest, mut warm_mb) = (0_u64, Duration::ZERO, None);
    while let Some((family, reason, took)) = outcomes.next().await {
        *counted.entry((family, reason)).or_default() += 1;
        slowest = slowest.max(took);
        answered += 1;
        if answered.is_multiple_of(WATCHED) {
            let mb = resident_mb();
            println!("{answered} after {:.0?}: {mb} MB", began.elapsed());
            let warm = *warm_mb.get_or_insert(mb);
            assert!(mb < warm + GROWTH_MB, "{mb} MB after {answered} statements, {warm} MB after {WATCHED}");
        }
    }
    drop(outcomes);
    println!(
        "seed {seed}: {statements} statements in {:?} ({:.0} a second), slowest {slowest:?}, {} MB: {counted:#?}",
        began.elapsed(),
        statements as f64 / began.elapsed().as_secs_f64(),
        resident_mb()
    );
    assert!(resident_mb() < 600, "{} MB", resident_mb());
    let alive = app.query_graph("me", "SELECT count(*) AS n FROM claims", OPTIONS).await.unwrap();
    assert_eq!(alive.rows[0]["n"], 2);
    assert!(std::fs::read(folder.path().join("lyra.db")).unwrap() == before, "the database was written to");
    app.close().await;
}
