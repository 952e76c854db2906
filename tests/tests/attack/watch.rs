//! How much memory processes take, and whether they end in time.

use crate::IN_TIME;
use std::collections::HashMap;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Looks at a process and all that it has started, ten times a second, and keeps the most resident memory that it saw.
pub(crate) struct Watch {
    peak: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    pub(crate) fn start(pid: u32) -> Self {
        let (peak, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let (seen, ended) = (Arc::clone(&peak), Arc::clone(&stop));
        let thread = std::thread::spawn(move || {
            while !ended.load(Ordering::Relaxed) {
                seen.fetch_max(resident(pid), Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(100));
            }
        });
        Self { peak, stop, thread: Some(thread) }
    }

    /// Most bytes so far; 0 where the system has no `/proc`.
    pub(crate) fn peak(&self) -> u64 {
        self.peak.load(Ordering::Relaxed)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Resident bytes of a process and of all that it has started.
fn resident(root: u32) -> u64 {
    let mut processes: HashMap<u32, (u32, u64)> = HashMap::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let status = std::fs::read_to_string(entry.path().join("status")).unwrap_or_default();
        let number = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.split_whitespace().next()?.parse::<u64>().ok()
        };
        if let Some(parent) = number("PPid:") {
            processes.insert(pid, (parent as u32, number("VmRSS:").unwrap_or(0) * 1024));
        }
    }
    let below = |mut pid: u32| {
        // Nothing is deeper than the number of processes.
        for _ in 0..processes.len() {
            if pid == root {
                return true;
            }
            match processes.get(&pid) {
                Some((parent, _)) if *parent != 0 => pid = *parent,
                _ => return false,
            }
        }
        false
    };
    processes.iter().filter(|(pid, _)| below(**pid)).map(|(_, (_, bytes))| bytes).sum()
}

/// The outcome of a command, and its peak memory in bytes.
pub(crate) struct Ended {
    pub(crate) output: Output,
    pub(crate) peak: u64,
}

impl Ended {
    /// Its output.
    pub(crate) fn said(&self) -> String {
        let (out, err) = (&self.output.stdout, &self.output.stderr);
        format!("{}{}", String::from_utf8_lossy(out), String::from_utf8_lossy(err))
    }

    /// Checks that it ended by itself, with success or with an error in words, and within this many bytes.
    #[track_caller]
    pub(crate) fn check(&self, what: &str, most: u64) {
        let said = self.said();
        assert!(matches!(self.output.status.code(), Some(0 | 1)), "{what}: {} {said}", self.output.status);
        assert!(self.output.status.success() || said.contains("error"), "{what}: no reason: {said}");
        assert!(!said.contains("panicked"), "{what}: {said}");
        assert!(self.peak <= most, "{what}: {} MB", self.peak >> 20);
    }
}

/// Runs a command to its end, which has to come in time.
#[track_caller]
pub(crate) fn ended(what: &str, mut command: Command) -> Ended {
    let started = Instant::now();
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let watch = Watch::start(child.id());
    // Its pipes are read all the time: full ones would stop it.
    let (out, err) = (reader(child.stdout.take()), reader(child.stderr.take()));
    let status = loop {
        match child.try_wait().expect("its state") {
            Some(status) => break status,
            None if started.elapsed() > IN_TIME => {
                end(&mut child);
                panic!("{what}: it did not end within {IN_TIME:?}");
            }
            None => std::thread::sleep(Duration::from_millis(10)),
        }
    };
    let read = |thread: JoinHandle<Vec<u8>>| thread.join().expect("its output");
    Ended { output: Output { status, stdout: read(out), stderr: read(err) }, peak: watch.peak() }
}

fn reader(pipe: Option<impl std::io::Read + Send + 'static>) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.read_to_end(&mut bytes);
        }
        bytes
    })
}

fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}
