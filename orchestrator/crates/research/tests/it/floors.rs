//! The floors of the crate: each knows only those below it.

use std::fs;
use std::path::{Path, PathBuf};

/// From the top down.
const FLOORS: [&str; 5] = ["worker", "dispatch", "jobs", "steps", "context"];

fn files(path: &Path) -> Vec<PathBuf> {
    let Ok(folder) = fs::read_dir(path) else { return Vec::new() };
    let inside = folder.map(|entry| entry.unwrap().path());
    inside.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn no_floor_knows_one_above_it() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for (place, floor) in FLOORS.iter().enumerate() {
        let mut all = files(&source.join(floor));
        all.push(source.join(floor).with_extension("rs"));
        for file in all {
            let text = fs::read_to_string(&file).unwrap();
            for above in &FLOORS[..place] {
                assert!(!text.contains(&format!("crate::{above}")), "{} knows {above}", file.display());
            }
        }
    }
}

/// Jobs put steps together; none of them calls another.
#[test]
fn no_job_knows_another() {
    let jobs = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/jobs");
    let all = files(&jobs);
    assert!(all.len() > 3, "{all:?}");
    for file in all {
        let text = fs::read_to_string(&file).unwrap();
        for job in ["search", "resume", "judge"] {
            assert!(!text.contains(&format!("crate::jobs::{job}")), "{} knows {job}", file.display());
        }
    }
}
