//! Builds the stand-ins for CUDA's libraries with the system's C++ compiler, and runs tests over them.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

const LIBRARIES: [(&str, &str); 3] =
    [("driver.cpp", "libcuda.so"), ("compiler.cpp", "libnvrtc.so"), ("products.cpp", "libcublasLt.so")];

/// Runs the ignored test `name` of this file in a process that finds the stand-ins instead of CUDA, with more environment
/// variables. Without a C++ compiler it prints the reason and passes.
pub(crate) fn run(name: &str, environment: &[(&str, &str)]) {
    let Some(folder) = build() else { return };
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", name, "--nocapture"])
        .env("LD_LIBRARY_PATH", &folder)
        .env("LYRA_EMULATOR", sources())
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .envs(environment.iter().copied())
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    println!("{out}");
    assert!(output.status.success() && out.contains("1 passed"), "{name}: {}\n{out}\n{err}", output.status);
}

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cuda/emulator")
}

/// The folder with the libraries, made once for each state of their sources.
fn build() -> Option<PathBuf> {
    if !Command::new("c++").arg("--version").output().is_ok_and(|output| output.status.success()) {
        println!("skipped: there is no C++ compiler (`c++`)");
        return None;
    }
    let mut hash = DefaultHasher::new();
    for file in ["shim.h", "driver.cpp", "compiler.cpp", "products.cpp"] {
        std::fs::read(sources().join(file)).unwrap().hash(&mut hash);
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("emulator-{:016x}", hash.finish()));
    if folder.exists() {
        return Some(folder);
    }
    // Tests run side by side: each builds for itself, and the first to finish wins.
    let part = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for (source, library) in LIBRARIES {
        let built = Command::new("c++")
            .args(["-std=c++17", "-O2", "-fPIC", "-shared", "-Wall", "-o"])
            .arg(part.path().join(library))
            .arg(sources().join(source))
            .arg("-ldl")
            .status()
            .unwrap();
        assert!(built.success(), "{source}");
    }
    let _ = std::fs::rename(part.path(), &folder);
    Some(folder)
}
