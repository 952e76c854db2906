//! The browser's processes and their leftovers, with the real browser if installed.

use super::*;
use crate::browser::Choice;
use std::io::{BufRead, BufReader};

/// Set in the process that owns a browser and waits to be killed.
const OWNER: &str = "LYRA_TEST_BROWSER_OWNER";

/// The installed browser, or `None` with a word on why the test is skipped.
fn installed() -> Option<PathBuf> {
    Choice::Auto.find().inspect_err(|error| println!("skipped: {error}")).ok()
}

/// Living processes whose command line names this profile.
fn processes(profile: &Path) -> Vec<u32> {
    let ours = |id: &u32| {
        let read = |file: &str| std::fs::read(format!("/proc/{id}/{file}")).unwrap_or_default();
        let line = read("cmdline");
        let name = profile.as_os_str().as_encoded_bytes();
        let stat = String::from_utf8_lossy(&read("stat")).into_owned();
        let dead = stat.rsplit(')').next().is_none_or(|rest| rest.trim_start().starts_with('Z'));
        line.windows(name.len()).any(|part| part == name) && !dead
    };
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    all.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(ours).collect()
}

async fn all_gone(profile: &Path) {
    for _ in 0..500 {
        if processes(profile).is_empty() && !profile.exists() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("left: {:?}, profile: {}", processes(profile), profile.exists());
}

#[tokio::test]
async fn nothing_is_left_of_one_that_was_dropped_ended_or_killed() {
    let Some(executable) = installed() else { return };
    let running = Running::start(&executable, Face::Headless).await.unwrap();
    assert!(running.agent.contains("Chrome/") && !running.agent.contains("Headless"), "{}", running.agent);
    let profile = running.profile.clone();
    assert!(processes(&profile).len() > 2 && profile.join("Local State").parent().unwrap().exists());
    drop(running);
    all_gone(&profile).await;

    let running = Running::start(&executable, Face::Headless).await.unwrap();
    let profile = running.profile.clone();
    running.end().await;
    assert!(!profile.exists());
    all_gone(&profile).await;

    let running = Running::start(&executable, Face::Headless).await.unwrap();
    let profile = running.profile.clone();
    for process in processes(&profile) {
        kill(process);
    }
    running.cdp.closed().await;
    assert!(running.cdp.call("Browser.getVersion", serde_json::json!({}), None).await.unwrap().is_none());
    drop(running);
    all_gone(&profile).await;
}

fn kill(process: u32) {
    let killed =
        std::process::Command::new("/bin/sh").args(["-c", &format!("kill -KILL {process}")]).status();
    assert!(killed.is_ok());
}

#[tokio::test]
async fn nothing_is_left_when_its_owner_is_killed() {
    if installed().is_none() {
        return;
    }
    let mut owner = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "browser::process::tests::an_owner_that_waits_to_be_killed", "--nocapture"])
        .env(OWNER, "1")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(owner.stdout.take().unwrap()).lines().map_while(Result::ok);
    let profile =
        lines.find_map(|line| line.split_once("profile=").map(|(_, path)| PathBuf::from(path))).unwrap();
    assert!(processes(&profile).len() > 2);
    // `kill` on Unix is SIGKILL.
    owner.kill().unwrap();
    owner.wait().unwrap();
    all_gone(&profile).await;
}

/// Only does something in the process that the test above starts.
#[tokio::test]
async fn an_owner_that_waits_to_be_killed() {
    if std::env::var_os(OWNER).is_none() {
        return;
    }
    let running = Running::start(&installed().unwrap(), Face::Headless).await.unwrap();
    println!("profile={}", running.profile.display());
    tokio::time::sleep(Duration::from_mins(2)).await;
    drop(running);
}

#[tokio::test]
async fn what_is_no_browser_is_said_at_once() {
    let error = Running::start(Path::new("/bin/true"), Face::Headless).await.err().unwrap().to_string();
    assert!(error.contains("/bin/true") && error.contains("ended at once without output"), "{error}");
    let error =
        Running::start(Path::new("/nowhere/chromium"), Face::Headless).await.err().unwrap().to_string();
    assert!(error.contains("ended at once") && error.contains("not found"), "{error}");
}
