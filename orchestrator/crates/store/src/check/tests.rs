use super::*;
use crate::testing::{Bench, Graph};

async fn problems(bench: &Bench) -> Vec<(&'static str, String)> {
    let check = bench.store.check().await.unwrap();
    check.problems.into_iter().map(|problem| (problem.check, problem.found)).collect()
}

#[tokio::test]
async fn a_sound_database_has_no_problem() {
    let bench = Bench::new().await;
    Graph::new(&bench).await;
    let check = bench.store.check().await.unwrap();
    assert_eq!(check.problems, []);
    assert_eq!(check.leftovers, []);
    assert_eq!(check.schema, schema::latest());
}

#[tokio::test]
async fn every_kind_of_damage_is_named() {
    let bench = Bench::new().await;
    Graph::new(&bench).await;
    // Edges have no foreign key: as an earlier defect could have left it.
    bench.execute("DELETE FROM edges WHERE relation = 'origin'; UPDATE edges SET target_id = 'claim_gone' WHERE seq = (SELECT min(seq) FROM edges)").await;
    bench
        .execute(
            "INSERT INTO embeddings (id, target_type, target_id, model_id, dimension, embedding_blob)
             VALUES ('emb_1', 'fragment', 'frag_gone', 'm', 2, x'00000000')",
        )
        .await;
    // The words of a fragment change behind the back of its index.
    bench.execute("DROP TRIGGER fragments_fts_update; UPDATE fragments SET text_content = 'other words' WHERE seq = 1").await;
    let found = problems(&bench).await;
    let has =
        |check: &str, part: &str| found.iter().any(|(name, text)| *name == check && text.contains(part));
    assert!(has("edge_ends", "its claim claim_gone is not there"), "{found:?}");
    assert!(has("embeddings", "4 bytes for 2 numbers"), "{found:?}");
    assert!(has("full_text", "fragments_fts does not fit its text"), "{found:?}");
    assert_eq!(bench.store.check().await.unwrap().leftovers, [("embeddings", 1)]);

    bench.store.rebuild_full_text().await.unwrap();
    assert!(!problems(&bench).await.iter().any(|(check, _)| *check == "full_text"));
}

#[tokio::test]
async fn a_row_that_refers_to_nothing_is_named_in_a_file() {
    let bench = Bench::new().await;
    Graph::new(&bench).await;
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.db");
    bench.store.copy_to(&copy).await.unwrap();
    assert_eq!(check_file(&copy, true).await.unwrap().problems, []);
    let mut connection =
        SqliteConnectOptions::new().filename(&copy).foreign_keys(false).connect().await.unwrap();
    sqlx::raw_sql("DELETE FROM pages WHERE seq = 1").execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    let found = check_file(&copy, true).await.unwrap().problems;
    assert!(
        found.iter().any(|problem| problem.check == "foreign_keys" && problem.found.contains("pages")),
        "{found:?}"
    );

    // Bytes of a page overwritten, as a failing disk does.
    let mut bytes = std::fs::read(&copy).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 4096].fill(0x5a);
    std::fs::write(&copy, bytes).unwrap();
    let damaged = match check_file(&copy, true).await {
        Ok(check) => !check.problems.is_empty(),
        Err(error) => error.to_string().contains("damaged") || error.to_string().contains("malformed"),
    };
    assert!(damaged);
}
