//! A database that another process holds, and a disk without room.

use super::{begin, connect, content, finish, tell, undisturbed};
use lyra_tests::TestApp;
use lyra_tests::mcp_client::StdioClient;
use serde_json::json;
use sqlx::Connection;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Longer than the store waits for another writer.
const HELD: Duration = Duration::from_secs(20);

#[tokio::test]
#[ignore = "takes minutes: cargo make chaos"]
async fn another_process_holds_the_database() -> anyhow::Result<()> {
    let (expected, app) = (undisturbed(&[]).await?, TestApp::new());
    let mut lyra = StdioClient::start(&app).await?;
    let task = begin(&mut lyra).await?;
    let mut other = connect(&app.data_dir().join("lyra.db")).await?;
    for _ in 0..2 {
        tokio::time::sleep(Duration::from_millis(300)).await;
        let transaction = other.begin_with("BEGIN IMMEDIATE").await?;
        tokio::time::sleep(HELD).await;
        transaction.rollback().await?;
    }
    other.close().await?;
    finish(&mut lyra, &task).await?;
    lyra.close().await?;
    assert_eq!(content(&app, &task).await?, expected);
    tell(&format!("database held twice for {} s: as undisturbed", HELD.as_secs()));
    Ok(())
}

/// A file system of its own, unmounted with the value.
struct SmallDisk(PathBuf);

impl SmallDisk {
    /// `None`, with the reason said, where this user may not mount.
    fn mount(at: &Path, megabytes: u32) -> Option<Self> {
        let size = format!("size={megabytes}m");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(at).output();
        match mounted {
            Ok(output) if output.status.success() => Some(Self(at.to_owned())),
            Ok(output) => {
                tell(&format!("skipped: no small disk: {}", String::from_utf8_lossy(&output.stderr).trim()));
                None
            }
            Err(error) => {
                tell(&format!("skipped: no small disk: {error}"));
                None
            }
        }
    }

    /// Writes until nothing more fits.
    fn fill(&self) -> std::io::Result<PathBuf> {
        let path = self.0.join("filler");
        let mut file = File::create(&path)?;
        for size in [1 << 20, 1 << 12, 1] {
            let block = vec![0_u8; size];
            while file.write_all(&block).is_ok() {}
        }
        Ok(path)
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily, because a process of the test may still be ending.
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[tokio::test]
#[ignore = "takes minutes: cargo make chaos"]
async fn the_disk_is_full() -> anyhow::Result<()> {
    let (expected, app) = (undisturbed(&[]).await?, TestApp::new());
    let Some(disk) = SmallDisk::mount(app.data_dir(), 64) else { return Ok(()) };
    // The example corpus is there before: what an import does without room is its own matter.
    app.json(&["research", "Do naps improve memory?", "--quiet", "--json"]);
    let mut lyra = StdioClient::start(&app).await?;
    let task = begin(&mut lyra).await?;
    tokio::time::sleep(Duration::from_millis(150)).await;
    let filler = disk.fill()?;
    let full = lyra.call("create_task", json!({"query": "Is there room?"})).await?;
    assert_eq!(full["ok"], false, "{full}");
    let why = full["error"].as_str().unwrap_or_default();
    assert!(["full", "No space left"].iter().any(|words| why.contains(words)), "{full}");
    tokio::time::sleep(HELD).await;
    let status = lyra.call("get_status", json!({"task_id": task})).await?;
    assert_eq!(status["ok"], true, "a full disk can be read: {status}");
    std::fs::remove_file(filler)?;
    finish(&mut lyra, &task).await?;
    lyra.close().await?;
    assert_eq!(content(&app, &task).await?, expected);
    tell(&format!("disk full for {} s: as undisturbed", HELD.as_secs()));
    Ok(())
}
