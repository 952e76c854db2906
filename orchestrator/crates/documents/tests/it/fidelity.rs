//! What is read from files that pandoc wrote, against what pandoc reads from them.

use crate::{outline, paper};
use lyra_documents::Format;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Pandoc on the path, or the one that comes with the Python package `pypandoc_binary`.
fn pandoc() -> Option<PathBuf> {
    let works =
        |path: &Path| Command::new(path).arg("--version").output().is_ok_and(|out| out.status.success());
    let python =
        Command::new("python3").args(["-c", "import pypandoc; print(pypandoc.get_pandoc_path())"]).output();
    let packaged = python.ok().map(|out| PathBuf::from(String::from_utf8_lossy(&out.stdout).trim()));
    [Some(PathBuf::from("pandoc")), packaged].into_iter().flatten().find(|path| works(path))
}

fn words(text: &str) -> HashMap<String, usize> {
    let mut words = HashMap::new();
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        *words.entry(word.to_lowercase()).or_default() += 1;
    }
    words
}

/// Harmonic mean of how much of each text's words the other has.
fn f1(ours: &str, theirs: &str) -> f64 {
    let (ours, theirs) = (words(ours), words(theirs));
    let both: usize = ours.iter().map(|(word, n)| (*n).min(theirs.get(word).copied().unwrap_or(0))).sum();
    2.0 * both as f64 / (ours.values().sum::<usize>() + theirs.values().sum::<usize>()) as f64
}

#[test]
fn texts_are_those_that_pandoc_reads() {
    let Some(pandoc) = pandoc() else {
        eprintln!("skipped: there is no pandoc, neither on the path nor with Python's pypandoc");
        return;
    };
    let folder = tempdir();
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs");
    for source in ["design/evidence", "quality", "operations"].map(|name| format!("{docs}/{name}.md")) {
        assert!(Path::new(&source).exists(), "{source} is absent: name another page of the documentation");
        for (to, from, format) in [
            ("docx", "docx", Format::Docx),
            ("odt", "odt", Format::Odt),
            ("epub", "epub", Format::Epub),
            ("latex", "latex", Format::Latex),
            ("jats_archiving", "jats", Format::Jats),
            ("gfm", "gfm", Format::Markdown),
        ] {
            let file = folder.join(format!("file.{from}"));
            let run = |arguments: &[&str]| Command::new(&pandoc).args(arguments).output().unwrap();
            let name = file.to_str().unwrap();
            assert!(
                run(&["-s", "-f", "gfm", "-t", to, "--metadata", "title=Title", &source, "-o", name])
                    .status
                    .success()
            );
            let plain = run(&["-f", from, "-t", "plain", "--wrap=none", name]).stdout;
            let ours = outline(&paper(&std::fs::read(&file).unwrap(), format)).join("\n");
            // The names of kinds that the outline puts in front are ours.
            let ours = ["text: ", "item: ", "note: ", "code: ", "table: ", "caption: "].iter().fold(
                ours,
                |text, kind| {
                    text.lines()
                        .map(|line| line.strip_prefix(kind).unwrap_or(line))
                        .collect::<Vec<_>>()
                        .join("\n")
                },
            );
            let f1 = f1(&ours, &String::from_utf8_lossy(&plain));
            assert!(f1 > 0.95, "{source} as {to}: {f1:.3}");
        }
    }
    std::fs::remove_dir_all(folder).unwrap();
}

fn tempdir() -> PathBuf {
    let folder = std::env::temp_dir().join(format!("lyra-documents-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}
