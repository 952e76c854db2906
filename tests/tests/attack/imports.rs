//! Files for `lyra corpus import` with disproportionate cost, and Ctrl-C during their import.

use crate::bombs::deflated;
use crate::watch::ended;
use crate::{IN_TIME, Run, pick};
use fastrand::Rng;
use lyra_tests::TestApp;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Most bytes that a process and its workers may hold: the default of containers.
const MEMORY: u64 = 1 << 30;

/// A ZIP with one file, packed already. Its checksum is not right, which shows at its end.
fn zip(name: &str, packed: &[u8], unpacked: u64) -> Vec<u8> {
    let sizes = |bytes: &mut Vec<u8>| {
        bytes.extend(0_u32.to_le_bytes());
        bytes.extend((packed.len() as u32).to_le_bytes());
        bytes.extend((unpacked as u32).to_le_bytes());
        bytes.extend((name.len() as u16).to_le_bytes());
        bytes.extend(0_u16.to_le_bytes());
    };
    // Version, flags, Deflate, time and date.
    let about = [20_u16, 0, 8, 0, 0x21].map(u16::to_le_bytes).concat();
    let mut file = b"PK\x03\x04".to_vec();
    file.extend(&about);
    sizes(&mut file);
    file.extend(name.bytes());
    file.extend(packed);
    let directory = file.len() as u32;
    file.extend(b"PK\x01\x02\x14\x00");
    file.extend(&about);
    sizes(&mut file);
    file.extend([0; 14]);
    file.extend(name.bytes());
    let length = file.len() as u32 - directory;
    file.extend(b"PK\x05\x06\0\0\0\0\x01\0\x01\0");
    file.extend(length.to_le_bytes());
    file.extend(directory.to_le_bytes());
    file.extend([0; 2]);
    file
}

const OPEN_CELL: &[u8] = b"id,title,abstract\n1,t,\"";

/// The files that the findings name, written into a folder.
fn quoted(folder: &Path) -> Vec<(&'static str, PathBuf)> {
    let write = |name: &str, bytes: Vec<u8>| {
        let path = folder.join(name);
        std::fs::write(&path, bytes).expect("room for a file");
        path
    };
    let open = |mebibytes: usize| [OPEN_CELL, &vec![b'a'; mebibytes << 20]].concat();
    let packed = deflated(OPEN_CELL, b'a', 1_500);
    let unpacked = OPEN_CELL.len() as u64 + (1_500 << 20);
    let document = |mebibytes: usize| {
        let text = "short daytime naps improve memory ".repeat((mebibytes << 20) / 34);
        format!("{{\"id\":\"1\",\"title\":\"t\",\"abstract\":\"{text}\"}}\n").into_bytes()
    };
    let mut files = vec![
        ("an open cell of 1,500 MB in a ZIP", write("open.zip", zip("open.csv", &packed, unpacked))),
        ("an open cell of 65 MB", write("open-65.csv", open(65))),
        ("an open cell of 16 MB", write("open-16.csv", open(16))),
        (
            "2,000,000 lines that look like types",
            write(
                "types.xml",
                format!("<us-patent-grant>\n{}", " <!DOCTYPE a>\n".repeat(2_000_000)).into_bytes(),
            ),
        ),
        ("a document of 15 MB", write("large.jsonl", document(15))),
        ("/dev/zero", "/dev/zero".into()),
    ];
    let pipe = folder.join("pipe.jsonl");
    if Command::new("mkfifo").arg(&pipe).status().is_ok_and(|made| made.success()) {
        files.push(("a pipe", pipe));
    }
    files
}

fn import(app: &TestApp, file: &Path) -> Command {
    app.command(&["corpus", "import", "c", &file.to_string_lossy(), "--quiet", "--scopes", "none"])
}

#[test]
fn quoted_files_are_imported_or_refused_in_time_and_within_memory() {
    let (app, files) = (TestApp::new(), tempfile::tempdir().expect("a folder"));
    for (what, file) in quoted(files.path()) {
        ended(what, import(&app, &file)).check(what, MEMORY);
        // In any case, the next import works.
        app.run(&["corpus", "remove", "c"]);
    }
    assert_eq!(app.json(&["corpus", "list", "--json"]), serde_json::json!([]));
}

/// A random file of some kind.
fn any_file(rng: &mut Rng, folder: &Path) -> PathBuf {
    const STARTS: [(&str, &str); 7] = [
        ("a.csv", "id,title,abstract\n1,t,\""),
        ("a.tsv", "id\ttitle\tabstract\n1\tt\t\""),
        ("a.jsonl", "{\"id\":\"1\",\"title\":\"t\",\"abstract\":\""),
        ("b.jsonl", "{\"id\":\"1\",\"title\":\"t\",\"x\":"),
        ("a.xml", "<us-patent-grant>\n"),
        ("b.xml", "<?xml version=\"1.0\"?><!DOCTYPE a [<!ENTITY b \"cccccccc\">]><us-patent-grant>"),
        ("a.txt", "WKU  039301\n"),
    ];
    const PARTS: [&str; 14] = [
        "a",
        "\"",
        ",",
        "\n",
        "{\"a\":",
        "[",
        "</p>",
        "<p>",
        " <!DOCTYPE a>\n",
        "&b;",
        "<a b=\"c\">",
        "1,t,x\n",
        "\u{0}",
        "\"\"",
    ];
    let (name, start) = *pick(rng, &STARTS);
    let parts: String = (0..rng.usize(1..5)).map(|_| *pick(rng, &PARTS)).collect();
    let text = format!("{start}{}", parts.repeat(rng.usize(1..24 << 20) / parts.len()));
    let (name, bytes) = match rng.u8(..4) {
        0 => ("a.zip".to_owned(), {
            let mebibytes = rng.usize(1..1_000);
            let byte = parts.as_bytes()[0];
            let unpacked = (start.len() + (mebibytes << 20)) as u64;
            zip(name, &deflated(start.as_bytes(), byte, mebibytes), unpacked)
        }),
        _ => (name.to_owned(), text.into_bytes()),
    };
    let path = folder.join(name);
    std::fs::write(&path, bytes).expect("room for a file");
    path
}

#[test]
fn generated_files_are_imported_or_refused_in_time_and_within_memory() {
    let (app, files) = (TestApp::new(), tempfile::tempdir().expect("a folder"));
    let mut run = Run::new("imports");
    while run.next() {
        let file = any_file(&mut run.rng, files.path());
        let begins = std::fs::read(&file).unwrap_or_default();
        let begins = String::from_utf8_lossy(&begins[..begins.len().min(80)]).into_owned();
        let what = format!("attack {} of seed {}: {} {begins:?}", run.sent, run.seed, file.display());
        ended(&what, import(&app, &file)).check(&what, MEMORY);
        let _ = std::fs::remove_file(file);
        app.run(&["corpus", "remove", "c"]);
    }
}

/// A file with so much in it that its import does not end while somebody waits.
fn long(folder: &Path) -> PathBuf {
    let line = |n: usize| {
        let text = format!("trial {n} of short daytime naps and memory in adults ").repeat(200);
        format!("{{\"id\":\"{n}\",\"title\":\"Naps {n}\",\"abstract\":\"{text}\"}}\n")
    };
    let path = folder.join("long.jsonl");
    std::fs::write(&path, (0..20_000).map(line).collect::<String>()).expect("room for a file");
    path
}

/// Stops a process as Ctrl-C does.
fn interrupt(pid: u32) {
    let sent = Command::new("kill").args(["-INT", &pid.to_string()]).status().expect("kill");
    assert!(sent.success());
}

#[cfg(unix)]
#[test]
fn an_import_ends_at_the_first_ctrl_c() {
    let (app, files) = (TestApp::new(), tempfile::tempdir().expect("a folder"));
    let mut all = quoted(files.path());
    all.push(("20,000 documents", long(files.path())));
    for (what, file) in all {
        let mut child =
            import(&app, &file).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts");
        // Long enough to be in the middle of it, where it is not over before.
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(1_500) && child.try_wait().expect("its state").is_none()
        {
            std::thread::sleep(Duration::from_millis(20));
        }
        if child.try_wait().expect("its state").is_none() {
            interrupt(child.id());
        }
        let asked = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().expect("its state") {
                break status;
            }
            if asked.elapsed() > IN_TIME {
                let _ = child.kill();
                let _ = child.wait();
                panic!("{what}: it goes on after Ctrl-C");
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        // It ended by itself before, or because it was asked to.
        assert!(matches!(status.code(), Some(0 | 1 | 130)), "{what}: {status}");
        app.run(&["corpus", "remove", "c"]);
    }
}
