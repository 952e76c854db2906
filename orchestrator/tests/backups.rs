//! Backups of unknown origin, read by real worker processes.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test")]

use flate2::Compression;
use flate2::write::GzEncoder;
use lyra_usecases::App;
use lyra_usecases::config::Config;
use lyra_usecases::worker::BackupReaders;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

const LYRA: &str = env!("CARGO_BIN_EXE_lyra");

/// Held by each test: one of them kills whatever worker it finds.
static ALONE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

fn workers_of(program: &str) -> BackupReaders {
    BackupReaders::new(Some(program.into()))
}

/// A backup as one file and as a folder, with a corpus of some megabytes that do not pack well.
async fn backups(home: &Path, megabytes: usize) -> [PathBuf; 2] {
    let data = home.join("data");
    let app =
        lyra::compose::open(Config { data_dir: Some(data.clone()), ..Config::default() }).await.unwrap();
    let corpus = data.join("corpora/c/index");
    std::fs::create_dir_all(&corpus).unwrap();
    let manifest = r#"{"format":1,"name":"c","embedder":"m","dimension":1,"created":"2026-11-20T00:00:00Z"}"#;
    std::fs::write(data.join("corpora/c/corpus.json"), manifest).unwrap();
    let mut rng = fastrand::Rng::with_seed(3);
    let mut noise = vec![0; megabytes << 20];
    rng.fill(&mut noise);
    std::fs::write(corpus.join("segment"), noise).unwrap();
    let targets = [home.join("backup.tar.gz"), home.join("backup")];
    for target in &targets {
        app.create_backup(target, false).await.unwrap();
    }
    app.close().await;
    targets
}

/// Names that begin with a dot: what a reader leaves.
fn left(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with('.')).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn workers_find_what_this_process_finds() {
    let _alone = ALONE.lock().await;
    let home = tempfile::tempdir().unwrap();
    let [file, folder] = backups(home.path(), 3).await;
    for source in [&file, &folder] {
        let here = App::verify_backup(source, &BackupReaders::new(None)).await.unwrap();
        for program in [LYRA, "/nowhere/lyra"] {
            assert_eq!(App::verify_backup(source, &workers_of(program)).await.unwrap(), here);
        }
    }
    let other = home.path().join("other");
    App::restore_backup(&file, &other, false, &workers_of(LYRA)).await.unwrap();
    let segment = "corpora/c/index/segment";
    assert!(std::fs::read(other.join(segment)).unwrap() == std::fs::read(folder.join(segment)).unwrap());

    // What is wrong is said in the same words.
    let changed = home.path().join("changed.tar.gz");
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&changed, &bytes).unwrap();
    let cut = home.path().join("cut.tar.gz");
    std::fs::write(&cut, &bytes[..middle]).unwrap();
    std::fs::write(folder.join(segment), "x").unwrap();
    for source in [&changed, &cut, &folder] {
        let there = App::verify_backup(source, &workers_of(LYRA)).await.unwrap_err();
        assert_eq!(there, App::verify_backup(source, &BackupReaders::new(None)).await.unwrap_err());
        assert!(there.message.starts_with("the backup is damaged"), "{}", there.message);
        let target = home.path().join("third");
        App::restore_backup(source, &target, false, &workers_of(LYRA)).await.unwrap_err();
        assert!(!target.join("lyra.db").exists() && !target.join(".restore").exists());
    }
    assert_eq!(left(home.path()), Vec::<String>::new());
}

/// Gzip of an archive whose first name is as long as nothing can hold.
fn long_name() -> Vec<u8> {
    const LENGTH: usize = 1 << 30;
    let mut header = [0_u8; 512];
    header[..13].copy_from_slice(b"././@LongLink");
    header[100..107].copy_from_slice(b"0000644");
    header[124..135].copy_from_slice(format!("{LENGTH:011o}").as_bytes());
    header[136..147].copy_from_slice(b"00000000000");
    header[156] = b'L';
    header[257..265].copy_from_slice(b"ustar  \0");
    header[148..156].fill(b' ');
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(&header).unwrap();
    let block = vec![b'a'; 1 << 20];
    for _ in 0..LENGTH >> 20 {
        encoder.write_all(&block).unwrap();
    }
    encoder.finish().unwrap()
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn an_archive_that_takes_all_memory_ends_its_worker_and_not_this_process() {
    let _alone = ALONE.lock().await;
    let home = tempfile::tempdir().unwrap();
    let bomb = home.path().join("bomb.tar.gz");
    std::fs::write(&bomb, long_name()).unwrap();
    let refused = App::verify_backup(&bomb, &workers_of(LYRA)).await.unwrap_err();
    assert!(refused.message.contains("more memory than its reader has"), "{}", refused.message);
    let data = home.path().join("data");
    let refused = App::restore_backup(&bomb, &data, false, &workers_of(LYRA)).await.unwrap_err();
    assert!(refused.message.contains("more memory than its reader has"), "{}", refused.message);
    assert_eq!(left(home.path()), Vec::<String>::new());
    assert!(!data.join(".restore").exists());
}

/// Where the kernel has Landlock, the checker of a folder reads no file outside it, although a link in it leads there.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn the_checker_of_a_folder_reads_nothing_else() {
    let _alone = ALONE.lock().await;
    let home = tempfile::tempdir().unwrap();
    let [_, folder] = backups(home.path(), 1).await;
    let outside = home.path().join("outside.db");
    std::fs::rename(folder.join("lyra.db"), &outside).unwrap();
    std::os::unix::fs::symlink(&outside, folder.join("lyra.db")).unwrap();
    assert!(App::verify_backup(&folder, &BackupReaders::new(None)).await.is_ok());
    let outcome = App::verify_backup(&folder, &workers_of(LYRA)).await;
    let data = home.path().join("checked");
    let config = Config { data_dir: Some(data), worker_program: Some(LYRA.into()), ..Config::default() };
    let isolation =
        lyra::compose::examine(config).await.into_iter().find(|finding| finding.part == "isolation").unwrap();
    if isolation.seen.contains("Landlock") {
        println!("skipped: {}", isolation.seen);
        return;
    }
    let refused = outcome.unwrap_err();
    assert!(refused.message.contains("ermission denied"), "{}", refused.message);
}

/// `LYRA_ATTACK_KILLS=200` kills so many workers.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn workers_killed_at_random_change_nothing() {
    let _alone = ALONE.lock().await;
    let kills: usize = std::env::var("LYRA_ATTACK_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(12);
    let home = tempfile::tempdir().unwrap();
    let sources = backups(home.path(), 24).await;
    let readers = std::sync::Arc::new(workers_of(LYRA));
    let (mut rng, mut killed, mut verified, mut failed) = (fastrand::Rng::with_seed(7), 0, 0, 0);
    while killed < kills {
        verified += 1;
        let (source, readers) = (sources[verified % 2].clone(), readers.clone());
        let expected = App::verify_backup(&source, &BackupReaders::new(None)).await.unwrap();
        let verifying = tokio::spawn(async move { App::verify_backup(&source, &readers).await });
        let pause = if verified % 3 == 0 { 10 } else { 100 };
        while !verifying.is_finished() {
            tokio::time::sleep(Duration::from_millis(rng.u64(..pause))).await;
            killed +=
                workers(std::process::id()).into_iter().filter(|worker| signal("KILL", *worker)).count();
        }
        match verifying.await.unwrap() {
            Ok(report) => assert_eq!(report, expected, "after {killed} kills"),
            Err(error) => {
                assert!(error.message.contains("failed inside a parser, twice"), "{}", error.message);
                failed += 1;
            }
        }
        assert_eq!(left(home.path()), Vec::<String>::new());
    }
    println!("{killed} workers killed in {verified} checks, {failed} of which failed");
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_ends_a_check_and_a_restore_and_leaves_nothing() {
    let _alone = ALONE.lock().await;
    let home = tempfile::tempdir().unwrap();
    let [file, _] = backups(home.path(), 96).await;
    let data = home.path().join("new");
    for command in ["verify", "restore"] {
        let mut lyra = Command::new(LYRA);
        lyra.args(["--data-dir", data.to_str().unwrap(), "backup", command, file.to_str().unwrap()]);
        lyra.env("XDG_CONFIG_HOME", home.path()).env_remove("LYRA_CONFIG").stdin(Stdio::null());
        let mut child = lyra.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let workers = loop {
            let workers = workers(child.id());
            if !workers.is_empty() {
                break workers;
            }
            assert!(child.try_wait().unwrap().is_none(), "{command} ended before its worker was seen");
            tokio::time::sleep(Duration::from_millis(1)).await;
        };
        assert!(signal("INT", child.id()));
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(130), "{command}: {said}");
        assert!(said.contains("interrupted; nothing has changed"), "{command}: {said}");
        while workers.iter().any(|worker| lives(*worker)) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(left(home.path()), Vec::<String>::new(), "{command}");
        assert!(!data.join(".restore").exists() && !data.join("lyra.db").exists(), "{command}");
    }
}

#[cfg(target_os = "linux")]
fn status(pid: u32, name: &str) -> Option<String> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.trim_start_matches(':').trim().to_owned())
}

#[cfg(target_os = "linux")]
fn lives(pid: u32) -> bool {
    status(pid, "State").is_some_and(|state| !state.starts_with('Z'))
}

/// Workers for backups that a process started.
#[cfg(target_os = "linux")]
fn workers(parent: u32) -> Vec<u32> {
    let of = |pid: u32| {
        let arguments = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let mut arguments = arguments.split(|byte| *byte == 0).skip(1);
        let worker =
            arguments.next()? == b"__worker" && [&b"archive"[..], b"backup"].contains(&arguments.next()?);
        (worker && status(pid, "PPid")? == parent.to_string()).then_some(pid)
    };
    let entries = std::fs::read_dir("/proc").unwrap();
    entries.filter_map(|entry| of(entry.ok()?.file_name().to_str()?.parse().ok()?)).collect()
}

#[cfg(target_os = "linux")]
fn signal(name: &str, pid: u32) -> bool {
    Command::new("kill")
        .args([&format!("-{name}"), &pid.to_string()])
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
