//! `files.jsonl`: which files a corpus was imported from, and what each of them gave.
//!
//! A line per file, appended once the file's documents are committed; of several lines for one path, the last counts.
//! A line that was lost costs no more than reading its file again.

use crate::hash::Fnv;
use crate::import::{Format, LISTED};
use crate::{Annotation, CorpusError, Result};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The file's name in the corpus folder.
const FILE: &str = "files.jsonl";
/// A file that changed this recently may change again without its time showing it.
const RECENT: Duration = Duration::from_secs(2);
/// Lines beyond those that count, before the file is written again without them.
const SPARE: usize = 1_000;
/// Who reads files: what another version could not read, this one may.
const READER: &str = env!("CARGO_PKG_VERSION");

/// A file as the disk shows it, together with the journals of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct State {
    pub(crate) bytes: u64,
    /// Nanoseconds since 1970 of its last change; 0 when that is unknown or too recent to tell a later change.
    pub(crate) modified: i64,
    /// The same time, however recent.
    #[serde(skip)]
    pub(crate) exact: i64,
}

impl State {
    /// The state of a regular file now, read in this format.
    pub(crate) fn of(path: &Path, format: Option<&str>) -> std::io::Result<Self> {
        let mut state = Self::of_one(path)?;
        for journal in journals(path, format) {
            // Usually it does not exist.
            let Ok(of) = Self::of_one(&journal) else { continue };
            state.bytes = state.bytes.saturating_add(of.bytes);
            let settled = state.modified != 0 && of.modified != 0;
            state.modified = if settled { state.modified.max(of.modified) } else { 0 };
            state.exact = state.exact.max(of.exact);
        }
        Ok(state)
    }

    fn of_one(path: &Path) -> std::io::Result<Self> {
        let about = std::fs::metadata(path)?;
        let time = about.modified().ok();
        #[expect(
            clippy::disallowed_methods,
            reason = "compared with the times of files, which follow this clock"
        )]
        let now = SystemTime::now();
        let settled = time.is_some_and(|time| now.duration_since(time).is_ok_and(|age| age >= RECENT));
        let nanos = time.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
        let exact = nanos.and_then(|nanos| i64::try_from(nanos.as_nanos()).ok()).unwrap_or(0);
        Ok(Self { bytes: about.len(), modified: if settled { exact } else { 0 }, exact })
    }
}

/// What SQLite writes beside a database: as long as its program runs, a part of the content may be only there.
fn journals(path: &Path, format: Option<&str>) -> Vec<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if !name.ends_with(".sqlite") && format != Some(Format::Zotero.name()) {
        return Vec::new();
    }
    let beside = |end: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        PathBuf::from(name)
    };
    ["-journal", "-wal"].map(beside).into()
}

/// The checksum of a file's content, which is read in this format.
pub(crate) fn checksum(path: &Path, format: Option<&str>) -> std::io::Result<u64> {
    let (mut sum, mut buffer) = (Fnv::default(), vec![0; 1 << 18]);
    let journals = journals(path, format).into_iter().filter_map(|journal| File::open(journal).ok());
    for mut file in [File::open(path)?].into_iter().chain(journals) {
        loop {
            match file.read(&mut buffer)? {
                0 => break,
                read => sum.add(&buffer[..read]),
            }
        }
    }
    Ok(sum.finish())
}

/// What a file of an import holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// Documents, one or many.
    #[default]
    Documents,
    /// Descriptions of works, which may be in other files.
    References,
    /// Nothing that Lyra reads.
    Nothing,
}

/// What of a file was not imported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Refused {
    /// The member of the archive that the file is, behind the archives that it is in; empty for the file itself.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub(crate) member: PathBuf,
    pub(crate) line: u64,
    pub(crate) reason: String,
}

fn is_empty(path: &Path) -> bool {
    path.as_os_str().is_empty()
}

/// What an import learned about a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    /// Its absolute path.
    pub(crate) path: PathBuf,
    pub(crate) state: State,
    /// Checksum of its content.
    pub(crate) sum: u64,
    /// Version of Lyra that read it.
    pub(crate) reader: String,
    /// The format that was asked for, `None` when it was detected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) format: Option<String>,
    pub(crate) kind: Kind,
    /// Ids of the documents that it contributes to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) documents: Vec<String>,
    /// Ids of documents that it contributed to before it changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) left: Vec<String>,
    /// By what a reference finds the paper in it, and the paper's year and first author.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) keys: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) year: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) author: Option<String>,
    /// Keywords and marks that stand in the paper itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) tags: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) annotations: Vec<Annotation>,
    /// Files that its references name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) named: Vec<PathBuf>,
    /// Ids of documents that lack metadata, about which no source was asked since the file was read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) incomplete: Vec<String>,
    /// What of it was not imported.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) rejected: Vec<Refused>,
    /// How many records that is, also where not all are listed.
    #[serde(default)]
    pub(crate) rejected_count: u64,
    /// It is no longer on the disk.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) gone: bool,
}

impl Entry {
    /// A file that was read just now, with nothing known of its content.
    pub(crate) fn new(path: PathBuf, state: State, format: Option<&str>, kind: Kind) -> Self {
        Self {
            path,
            state,
            sum: 0,
            reader: READER.to_owned(),
            format: format.map(str::to_owned),
            kind,
            documents: Vec::new(),
            left: Vec::new(),
            keys: Vec::new(),
            year: None,
            author: None,
            tags: Vec::new(),
            annotations: Vec::new(),
            named: Vec::new(),
            incomplete: Vec::new(),
            rejected: Vec::new(),
            rejected_count: 0,
            gone: false,
        }
    }

    /// Notes what of it was not imported.
    pub(crate) fn refuse(&mut self, member: PathBuf, line: u64, reason: &str) {
        self.rejected_count += 1;
        if self.rejected.len() < LISTED {
            self.rejected.push(Refused { member, line, reason: reason.to_owned() });
        }
    }

    /// Whether the file still is as it was read, in this format and by this version. Reads its content only where size
    /// and time do not tell.
    pub(crate) fn is_current(&self, state: State, format: Option<&str>) -> bool {
        if self.gone
            || self.reader != READER
            || self.format.as_deref() != format
            || self.state.bytes != state.bytes
        {
            return false;
        }
        let same_time = self.state.modified != 0 && self.state.modified == state.modified;
        same_time || checksum(&self.path, format).is_ok_and(|sum| sum == self.sum)
    }
}

/// The line of a file that is no longer known.
#[derive(Serialize, Deserialize)]
struct Dropped {
    dropped: PathBuf,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Line {
    Entry(Box<Entry>),
    Dropped(Dropped),
}

/// All files of a corpus, by their absolute paths.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    path: PathBuf,
    entries: BTreeMap<PathBuf, Entry>,
}

impl Ledger {
    /// Reads the ledger of a corpus folder; it is empty when the folder has no ledger. Lines that cannot be read, such
    /// as a last one that was cut, are left out.
    pub(crate) fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(FILE);
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(Self { path, entries: BTreeMap::new() });
            }
            Err(error) => return Err(CorpusError::io(&path)(error)),
        };
        let mut entries = BTreeMap::new();
        for line in BufReader::new(file).split(b'\n') {
            let line = line.map_err(CorpusError::io(&path))?;
            match serde_json::from_slice(&line) {
                Ok(Line::Entry(entry)) => {
                    entries.insert(entry.path.clone(), *entry);
                }
                Ok(Line::Dropped(Dropped { dropped })) => {
                    entries.remove(&dropped);
                }
                Err(_) => {}
            }
        }
        Ok(Self { path, entries })
    }

    pub(crate) fn get(&self, path: &Path) -> Option<&Entry> {
        self.entries.get(path)
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Writes what is known of these files. The caller holds the corpus' lock.
    pub(crate) fn append(&mut self, entries: Vec<Entry>) -> Result<()> {
        let entries: Vec<Entry> = entries.into_iter().filter(|entry| entry.path.to_str().is_some()).collect();
        self.write(entries.iter().map(|entry| Line::Entry(Box::new(entry.clone()))).collect())?;
        self.entries.extend(entries.into_iter().map(|entry| (entry.path.clone(), entry)));
        Ok(())
    }

    /// Forgets these files. The caller holds the corpus' lock.
    pub(crate) fn drop_files(&mut self, paths: &[PathBuf]) -> Result<()> {
        self.write(paths.iter().map(|path| Line::Dropped(Dropped { dropped: path.clone() })).collect())?;
        self.forget(paths);
        Ok(())
    }

    /// Leaves these files out here, not on the disk.
    pub(crate) fn forget(&mut self, paths: &[PathBuf]) {
        for path in paths {
            self.entries.remove(path);
        }
    }

    fn write(&self, lines: Vec<Line>) -> Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        // A line that was cut must not spoil the next one; empty lines are left out.
        let mut text = vec![b'\n'];
        for line in lines {
            let line =
                serde_json::to_vec(&line).map_err(|error| CorpusError::io(&self.path)(error.into()))?;
            text.extend(line);
            text.push(b'\n');
        }
        let append = || File::options().create(true).append(true).open(&self.path)?.write_all(&text);
        append().map_err(CorpusError::io(&self.path))
    }

    /// Writes the file again when most of its lines no longer count. The caller holds the corpus' lock.
    pub(crate) fn tidy(&self) -> Result<()> {
        let tidy = || -> std::io::Result<()> {
            let lines = match File::open(&self.path) {
                Ok(file) => BufReader::new(file).split(b'\n').count(),
                Err(_) => return Ok(()),
            };
            if lines <= 4 * self.entries.len() + SPARE {
                return Ok(());
            }
            let draft = self.path.with_extension("jsonl.new");
            let mut file = std::io::BufWriter::new(File::create(&draft)?);
            for entry in self.entries.values() {
                serde_json::to_writer(&mut file, entry)?;
                file.write_all(b"\n")?;
            }
            file.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()?;
            std::fs::rename(&draft, &self.path)
        };
        tidy().map_err(CorpusError::io(&self.path))
    }

    /// Ids of documents that files give.
    pub(crate) fn given<'a>(files: impl Iterator<Item = &'a Entry>) -> HashSet<&'a str> {
        files.flat_map(|entry| entry.documents.iter().map(String::as_str)).collect()
    }

    /// Ids of documents that these files gave before they changed or went, and that are not among those `held`.
    pub(crate) fn orphans(held: &HashSet<&str>, of: &[&Entry]) -> Vec<String> {
        let mut orphans: Vec<String> = of
            .iter()
            .flat_map(|entry| {
                let given = entry.gone.then_some(&entry.documents).into_iter().flatten();
                given.chain(&entry.left)
            })
            .filter(|id| !held.contains(id.as_str()))
            .cloned()
            .collect();
        orphans.sort();
        orphans.dedup();
        orphans
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(path: &str, documents: &[&str]) -> Entry {
        let state = State { bytes: 3, modified: 7, exact: 0 };
        let documents = documents.iter().map(|id| (*id).to_owned()).collect();
        Entry { documents, ..Entry::new(path.into(), state, None, Kind::Documents) }
    }

    #[test]
    fn the_last_line_of_a_file_counts_and_a_cut_one_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let mut ledger = Ledger::read(folder.path()).unwrap();
        assert!(ledger.is_empty());
        ledger.append(vec![entry("/a", &["1"]), entry("/b", &["2"])]).unwrap();
        let path = folder.path().join(FILE);
        let mut file = File::options().append(true).open(&path).unwrap();
        file.write_all(b"{\"path\": \"/c\", \"sta").unwrap();
        ledger.append(vec![entry("/a", &["3"])]).unwrap();
        ledger.drop_files(&["/b".into()]).unwrap();
        let again = Ledger::read(folder.path()).unwrap();
        assert_eq!(again.entries().collect::<Vec<_>>(), [&entry("/a", &["3"])]);
        for _ in 0..SPARE {
            ledger.append(vec![entry("/a", &["3"])]).unwrap();
        }
        ledger.tidy().unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 1);
        assert_eq!(Ledger::read(folder.path()).unwrap().entries, again.entries);
    }

    #[test]
    fn orphans_are_what_no_file_gives() {
        let folder = tempfile::tempdir().unwrap();
        let mut ledger = Ledger::read(folder.path()).unwrap();
        let gone = Entry { gone: true, ..entry("/a", &["1", "2"]) };
        let changed = Entry { left: vec!["4".to_owned(), "5".to_owned()], ..entry("/b", &["2"]) };
        ledger.append(vec![gone, changed, entry("/c", &["5"])]).unwrap();
        let all: Vec<&Entry> = ledger.entries().collect();
        let held = Ledger::given(ledger.entries().filter(|entry| !entry.gone));
        assert_eq!(Ledger::orphans(&held, &all), ["1", "4"]);
    }

    #[test]
    fn content_decides_where_times_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        std::fs::write(&path, "Naps help.").unwrap();
        let state = State::of(&path, None).unwrap();
        assert_eq!(state.modified, 0, "too recent");
        let known = Entry {
            sum: checksum(&path, None).unwrap(),
            ..Entry::new(path.clone(), state, None, Kind::Documents)
        };
        assert!(known.is_current(state, None) && !known.is_current(state, Some("text")));
        std::fs::write(&path, "Naps hurt.").unwrap();
        assert!(!known.is_current(State::of(&path, None).unwrap(), None));
        let timed = State { modified: 5, ..state };
        assert!(Entry { state: timed, ..known.clone() }.is_current(timed, None), "not read again");
        assert!(!Entry { gone: true, ..known }.is_current(timed, None));
    }
}
