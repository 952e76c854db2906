use super::*;
use crate::testing::{Bench, Graph};
use crate::{StoreConfig, check_file};
use sqlx::Connection;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[tokio::test]
async fn a_copy_made_while_others_write_is_whole() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    let (store, stop) = (bench.store.clone(), Arc::new(AtomicBool::new(false)));
    let writer = tokio::spawn({
        let (stop, task) = (Arc::clone(&stop), graph.task.id.clone());
        async move {
            let mut written = 0;
            while !stop.load(Ordering::Relaxed) && written < 2_000 {
                store.write_warning(&task, &format!("warning {written}")).await.unwrap();
                written += 1;
            }
            written
        }
    });
    let folder = tempfile::tempdir().unwrap();
    for n in 0..5 {
        let copy = folder.path().join(format!("{n}.db"));
        bench.store.copy_to(&copy).await.unwrap();
        assert_eq!(check_file(&copy, true).await.unwrap().problems, []);
        // Warnings are numbered: a copy of one moment has no gap.
        let mut connection =
            sqlx::SqliteConnection::connect(&format!("sqlite://{}?mode=ro", copy.display())).await.unwrap();
        let gaps: i64 =
            sqlx::query_scalar("SELECT coalesce(max(seq) - min(seq) + 1 - count(*), 0) FROM task_warnings")
                .fetch_one(&mut connection)
                .await
                .unwrap();
        assert_eq!(gaps, 0);
    }
    stop.store(true, Ordering::Relaxed);
    assert!(writer.await.unwrap() > 0);

    let last = folder.path().join("4.db");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&last).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let error = bench.store.copy_to(&last).await.unwrap_err().to_string();
    assert!(error.contains("4.db") && error.contains("exists"), "{error}");
    let opened = Store::open(&last, StoreConfig::default()).await.unwrap();
    assert_eq!(opened.list_tasks(10, None).await.unwrap().tasks.len(), 1);
}

#[tokio::test]
async fn a_folder_in_use_is_not_unused() {
    let bench = Bench::new().await;
    let folder = bench.path().parent().unwrap().to_owned();
    let error = Unused::of(&folder).await.err().unwrap().to_string();
    assert!(error.contains("in use by 1 running lyra process; stop it first"), "{error}");
    bench.store.close().await;
    let empty = tempfile::tempdir().unwrap();
    let unused = Unused::of(empty.path()).await.unwrap();
    // A process that opens it now waits.
    let opening = tokio::spawn({
        let path = empty.path().join("lyra.db");
        async move { Store::open(&path, StoreConfig::default()).await.map(drop) }
    });
    tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    assert!(!opening.is_finished() && !empty.path().join("lyra.db").exists());
    drop(unused);
    opening.await.unwrap().unwrap();
}
