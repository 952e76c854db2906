use super::*;
use crate::schema::upgrades::at_version;
use crate::testing::Bench;
use crate::{AuditFilter, Scope, Store, StoreConfig, sqlite};
use lyra_research::ports::SessionStore;

/// One for every place in which an older schema kept secrets, including deleted ones.
const SECRETS: [&str; 5] = [
    "planted-cookie-of-a-login",
    "planted-cookie-that-was-forgotten",
    "planted-hash-of-a-token",
    "planted-argument-of-a-call",
    "planted-words-in-quarantine",
];

/// A database of the last schema that kept secrets itself, with one in every place.
async fn old(path: &Path) {
    let mut connection = at_version(path, APART_SINCE - 1).await;
    sqlx::raw_sql(
        "UPDATE auth_queue SET session = 'planted-cookie-that-was-forgotten';
         UPDATE auth_queue SET session = 'planted-cookie-of-a-login', domain = 'login.example';
         UPDATE access_tokens SET token_hash = 'planted-hash-of-a-token';
         INSERT INTO audit_log (at, actor, via, action, arguments, cause_id, outcome)
         VALUES ('2026-01-01T00:00:00.000Z', 'local', 'cli', 'x', '\"planted-argument-of-a-call\"', 'call_2', 'ok');
         UPDATE quarantined_fragments SET text_content = 'planted-words-in-quarantine';
         -- Pages that nothing uses any more keep what was on them.
         CREATE TABLE filler (text TEXT); INSERT INTO filler VALUES (hex(randomblob(50000))); DROP TABLE filler;",
    )
    .execute(&mut connection)
    .await
    .unwrap();
    connection.close().await.unwrap();
    let there = holds(path, &SECRETS);
    assert!(there.len() >= 4, "{there:?}");
}

/// Which of these texts occur anywhere in a file or in SQLite's files beside it.
fn holds<'a>(path: &Path, texts: &[&'a str]) -> Vec<&'a str> {
    let mut bytes = Vec::new();
    for suffix in ["", "-wal", "-shm"] {
        let file = format!("{}{suffix}", path.display());
        bytes.extend(std::fs::read(file).unwrap_or_default());
    }
    let found = |text: &&&str| bytes.windows(text.len()).any(|part| part == text.as_bytes());
    texts.iter().filter(found).copied().collect()
}

async fn is_upgraded(path: &Path) {
    let store = Store::open(path, StoreConfig::default()).await.unwrap();
    assert_eq!(holds(path, &SECRETS), [""; 0], "in the open database");
    assert_eq!(store.session("login.example").await.unwrap().as_deref(), Some(SECRETS[0]));
    let calls = store.audit_log(&AuditFilter::default(), 10).await.unwrap();
    assert_eq!(calls.len(), 2, "each call once");
    assert_eq!(store.tokens().await.unwrap().len(), 1);
    let count = |sql: &'static str| sqlx::query_scalar::<_, i64>(sql).fetch_one(store.reader());
    assert_eq!(count("SELECT count(*) FROM private.quarantined_texts").await.unwrap(), 1);
    assert_eq!(
        count("SELECT count(*) FROM private.access_tokens WHERE token_hash = 'planted-hash-of-a-token'")
            .await
            .unwrap(),
        1
    );
    assert_eq!(store.check().await.unwrap().problems, []);
    store.close().await;
    assert_eq!(holds(path, &SECRETS), [""; 0], "in the closed database");
    let kept = holds(&super::path(path), &SECRETS);
    assert_eq!(kept, [SECRETS[0], SECRETS[2], SECRETS[3], SECRETS[4]]);
}

#[tokio::test]
async fn secrets_of_an_older_database_are_moved_and_leave_no_trace() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lyra.db");
    old(&path).await;
    is_upgraded(&path).await;
}

/// A crash after each step of the move: the next start finishes it.
#[tokio::test]
async fn a_move_that_was_interrupted_is_finished() {
    for steps in 1..=3 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lyra.db");
        old(&path).await;
        open(&path).await.unwrap();
        let database = path.clone();
        let writer = sqlx::sqlite::SqlitePoolOptions::new()
            .max_connections(1)
            .after_connect(move |connection, _| {
                let database = database.clone();
                Box::pin(async move {
                    sqlite::add_functions(connection).await?;
                    attach(connection, &database).await
                })
            })
            .connect_with(SqliteConnectOptions::new().filename(&path).journal_mode(SqliteJournalMode::Wal))
            .await
            .unwrap();
        if steps > 1 {
            take_over(&writer).await.unwrap();
        }
        if steps > 2 {
            schema::migrate_with(&schema::MIGRATIONS, &path, &writer).await.unwrap();
        }
        writer.close().await;
        is_upgraded(&path).await;
    }
}

#[tokio::test]
async fn what_is_deleted_is_overwritten() {
    let bench = Bench::new().await;
    bench
        .execute("INSERT INTO private.sessions VALUES ('a.example', 'auth_1', 'planted-cookie-of-a-login')")
        .await;
    assert!(bench.store.forget_session("a.example").await.unwrap());
    bench.store.close().await;
    assert_eq!(holds(&path(&bench.path()), &SECRETS), [""; 0]);
}

#[tokio::test]
async fn revocations_are_read_from_data_of_any_version() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lyra.db");
    let mut connection = at_version(&path, APART_SINCE - 1).await;
    sqlx::raw_sql("UPDATE access_tokens SET revoked_at = 'then'").execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    assert_eq!(load_revoked(&path).await.unwrap(), [("abc".to_owned(), "then".to_owned())]);
    assert_eq!(load_revoked(&folder.path().join("nothing.db")).await.unwrap(), []);

    let bench = Bench::new().await;
    let made = bench.store.create_token("agent", Scope::Read, None).await.unwrap();
    bench.store.revoke_token("agent").await.unwrap();
    let found = load_revoked(&bench.path()).await.unwrap();
    assert_eq!(found.iter().map(|(id, _)| id).collect::<Vec<_>>(), [&made.token.id]);
}

#[cfg(unix)]
#[tokio::test]
async fn folder_and_files_become_their_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("data");
    let path = folder.join("lyra.db");
    Store::open(&path, StoreConfig::default()).await.unwrap().close().await;
    for file in [&path, &super::path(&path)] {
        assert_eq!(mode(file), 0o600);
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o644)).unwrap();
    }
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).unwrap();
    let store = Store::open(&path, StoreConfig::default()).await.unwrap();
    store.create_token("agent", Scope::Read, None).await.unwrap();
    assert_eq!(mode(&folder), 0o700);
    for entry in std::fs::read_dir(&folder).unwrap() {
        let entry = entry.unwrap().path();
        assert!(entry.is_dir() || mode(&entry) == 0o600, "{} {:o}", entry.display(), mode(&entry));
    }
}
