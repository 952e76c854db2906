//! Zotero's data folder: its database is copied with its journals, and the copy is read, because Zotero may be running
//! and keeps the file locked. Nothing is written to the folder.

use super::spool::{Slice, Spool};
use lyra_bibliography::Parts;
use std::fs::{File, Metadata};
use std::io::{Error, ErrorKind, Read, Result};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The database in Zotero's data folder.
const DATABASE: &str = "zotero.sqlite";
/// How often the database is copied again when Zotero writes to it meanwhile, and how long to wait in between.
const TRIES: u32 = 5;
const PAUSE: Duration = Duration::from_millis(200);
/// Longest file of settings that is read.
const MOST_SETTINGS: u64 = 4 << 20;
const PIECE: usize = 1 << 20;

/// The database of a folder, if it is Zotero's data folder.
pub(super) fn database_in(folder: &Path) -> Option<PathBuf> {
    let database = folder.join(DATABASE);
    database.is_file().then_some(database)
}

/// Whether a file is named like Zotero's database or a copy of it.
pub(super) fn is_database(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with("zotero") && name.ends_with(".sqlite")
}

/// Whether a file is what SQLite writes beside Zotero's database, which is read with it.
pub(super) fn is_journal(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let database = ["-journal", "-wal", "-shm"].iter().find_map(|end| name.strip_suffix(end));
    database.is_some_and(|database| is_database(Path::new(database)))
}

/// Copies a database with its journals as they are at one moment. Blocks for as long as that takes.
pub(super) fn copy(database: &Path, spool: &mut Spool) -> Result<(Slice, Parts)> {
    let beside = |end: &str| {
        let mut name = database.as_os_str().to_owned();
        name.push(end);
        PathBuf::from(name)
    };
    let files = [database.to_owned(), beside("-journal"), beside("-wal")];
    let mark = spool.mark();
    for nth in 0..TRIES {
        if nth > 0 {
            std::thread::sleep(PAUSE);
        }
        spool.cut(mark);
        let before = files.each_ref().map(|file| state(file));
        let mut lengths = [0; 3];
        for (nth, (length, file)) in lengths.iter_mut().zip(&files).enumerate() {
            *length = append(file, nth > 0, spool)?;
        }
        if before == files.each_ref().map(|file| state(file)) {
            let [database, journal, log] = lengths;
            let slice = spool.since(mark).ok_or_else(|| Error::other("nothing was copied"))?;
            return Ok((slice, Parts { database, journal, log }));
        }
    }
    let why = "Zotero is writing to its database: repeat the import in a moment, or close Zotero";
    Err(Error::new(ErrorKind::ResourceBusy, why))
}

/// What changes when a file is written; nothing for one that is not there.
fn state(file: &Path) -> Option<(u64, Option<std::time::SystemTime>)> {
    let about = file.metadata().ok().filter(Metadata::is_file)?;
    Some((about.len(), about.modified().ok()))
}

/// Appends a file; how many bytes it has. A journal may be absent, and has none then.
fn append(path: &Path, is_journal: bool, spool: &mut Spool) -> Result<u64> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound && is_journal => return Ok(0),
        Err(error) => return Err(error),
    };
    if !file.metadata()?.is_file() {
        return Ok(0);
    }
    let (mut piece, mut bytes) = (vec![0; PIECE], 0);
    loop {
        let read = file.read(&mut piece)?;
        if read == 0 {
            return Ok(bytes);
        }
        spool.add(&piece[..read])?;
        bytes += read as u64;
    }
}

/// The base folder of linked files, as the settings of the Zotero name it that uses this data folder.
pub(super) fn base_folder(folder: &Path) -> Option<PathBuf> {
    let home = std::env::home_dir();
    let profiles = [
        ".zotero/zotero",
        "Library/Application Support/Zotero/Profiles",
        "AppData/Roaming/Zotero/Zotero/Profiles",
    ];
    let profiles = home.iter().flat_map(|home| profiles.map(|at| home.join(at)));
    let of_profiles = profiles
        .filter_map(|at| std::fs::read_dir(at).ok())
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()));
    let of_profiles = of_profiles.filter_map(|profile| {
        let settings = Settings::read(&profile.join("prefs.js"))?;
        let own = settings.text("extensions.zotero.dataDir").map(PathBuf::from);
        let own = own.or_else(|| Some(home.as_ref()?.join("Zotero")))?;
        (own == folder).then_some(settings)
    });
    // An old profile has its data folder inside.
    let beside = [folder, folder.parent().unwrap_or(folder)].map(|at| at.join("prefs.js"));
    let mut settings = beside.iter().filter_map(|file| Settings::read(file)).chain(of_profiles);
    settings.find_map(|settings| settings.text("extensions.zotero.baseAttachmentPath").map(PathBuf::from))
}

/// Settings of Zotero: lines such as `user_pref("name", "text");`.
struct Settings(String);

impl Settings {
    fn read(file: &Path) -> Option<Self> {
        let mut text = String::new();
        File::open(file).ok()?.take(MOST_SETTINGS).read_to_string(&mut text).ok()?;
        Some(Self(text))
    }

    fn text(&self, name: &str) -> Option<String> {
        let start = format!("user_pref(\"{name}\",");
        let value = self.0.lines().find_map(|line| line.trim().strip_prefix(&start))?;
        serde_json::from_str(value.trim().trim_end_matches(';').trim_end_matches(')').trim()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linked_files_have_a_base_folder() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("zotero");
        std::fs::create_dir(&data).unwrap();
        assert_eq!(base_folder(&data), None);
        let settings = "// Mozilla\nuser_pref(\"a\", 1);\n\
            user_pref(\"extensions.zotero.baseAttachmentPath\", \"/home/lee/my \\\"papers\\\"\");\n";
        std::fs::write(folder.path().join("prefs.js"), settings).unwrap();
        assert_eq!(base_folder(&data), Some(PathBuf::from("/home/lee/my \"papers\"")));
    }

    #[test]
    fn a_copy_has_the_journals_behind_it() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join(DATABASE);
        std::fs::write(&database, "database").unwrap();
        std::fs::write(folder.path().join("zotero.sqlite-wal"), "log").unwrap();
        let mut spool = Spool::default();
        spool.add(b"before").unwrap();
        let (slice, parts) = copy(&database, &mut spool).unwrap();
        assert_eq!(parts, Parts { database: 8, journal: 0, log: 3 });
        assert_eq!(slice.hand(0, 99).unwrap(), b"databaselog");
        assert!(copy(&folder.path().join("zotero-2.sqlite"), &mut spool).is_err());
    }
}
