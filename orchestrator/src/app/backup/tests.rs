use super::*;
use crate::app::NewTask;
use crate::config::Config;

/// An application in a folder of its own, with a task and a corpus that nobody could search.
async fn filled(folder: &Path) -> App {
    let app = open(folder).await;
    app.store()
        .create_task(
            lyra_store::NewTask {
                query: "kept?".to_owned(),
                config: NewTask::default().config,
                claims: vec!["it is".to_owned()],
            },
            lyra_domain::Priority::Medium,
        )
        .await
        .unwrap();
    let corpus = folder.join("corpora/tiny");
    std::fs::create_dir_all(corpus.join("index")).unwrap();
    let manifest =
        r#"{"format":1,"name":"tiny","embedder":"m","dimension":1,"created":"2026-11-20T00:00:00Z"}"#;
    std::fs::write(corpus.join("corpus.json"), manifest).unwrap();
    std::fs::write(corpus.join("index/segment"), vec![7; 100_000]).unwrap();
    app
}

async fn open(folder: &Path) -> App {
    App::open(Config { data_dir: Some(folder.to_owned()), ..Config::default() }).await.unwrap()
}

async fn tasks(folder: &Path) -> Vec<String> {
    let app = open(folder).await;
    let found = app.list_tasks(10).await.unwrap().into_iter().map(|task| task.query).collect();
    app.close().await;
    found
}

#[tokio::test]
async fn every_kind_of_backup_comes_back() {
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join("data");
    let app = filled(&data).await;
    for name in ["folder", "file.tar", "file.tar.gz", "file.tgz"] {
        let target = home.path().join(name);
        let made = app.create_backup(&target, false).await.unwrap();
        assert_eq!((made.corpora.as_slice(), made.files), (&["tiny".to_owned()][..], 3), "{name}");
        let again = app.create_backup(&target, false).await.unwrap_err();
        assert!(again.message.contains(name) && again.hint.unwrap().contains("--force"), "{}", again.message);
        app.create_backup(&target, true).await.unwrap();
        let verified = App::verify_backup(&target).await.unwrap();
        assert_eq!((verified.files, verified.schema), (made.files, made.schema));

        let other = home.path().join(format!("{name}-restored"));
        let restored = App::restore_backup(&target, &other, false).await.unwrap();
        assert_eq!(restored.replaced, None);
        assert_eq!(tasks(&other).await, ["kept?"], "{name}");
        assert_eq!(std::fs::read(other.join("corpora/tiny/index/segment")).unwrap(), vec![7; 100_000]);
        assert!(!other.join(".restore").exists());
    }
    let left: Vec<String> = std::fs::read_dir(home.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with('.'))
        .collect();
    assert_eq!(left, [""; 0], "nothing half-done stays");
    #[cfg(unix)]
    for (name, mode) in [("folder", 0o700), ("folder/lyra.db", 0o600), ("file.tar", 0o600)] {
        use std::os::unix::fs::PermissionsExt;
        let found = std::fs::metadata(home.path().join(name)).unwrap().permissions().mode();
        assert_eq!(found & 0o777, mode, "{name}");
    }
}

#[tokio::test]
async fn data_that_is_there_is_replaced_only_by_force_and_kept() {
    let home = tempfile::tempdir().unwrap();
    let (data, backup) = (home.path().join("data"), home.path().join("backup.tar"));
    let app = filled(&data).await;
    app.create_backup(&backup, false).await.unwrap();
    let in_use = App::restore_backup(&backup, &data, true).await.unwrap_err();
    assert!(in_use.message.contains("in use"), "{}", in_use.message);
    app.close().await;
    drop(app);
    let refused = App::restore_backup(&backup, &data, false).await.unwrap_err();
    assert!(refused.message.contains("holds data already"), "{}", refused.message);
    let restored = App::restore_backup(&backup, &data, true).await.unwrap();
    assert_eq!(tasks(&data).await, ["kept?"]);
    let replaced = restored.replaced.unwrap();
    assert!(replaced.join("corpora/tiny/corpus.json").exists());
    assert!(tasks(&replaced).await.contains(&"kept?".to_owned()));
}

#[tokio::test]
async fn a_backup_goes_through_pipes() {
    let home = tempfile::tempdir().unwrap();
    let (data, other, file) =
        (home.path().join("data"), home.path().join("other"), home.path().join("piped"));
    let app = filled(&data).await;
    let made = app.write_backup_to(File::create(&file).unwrap()).await.unwrap();
    assert_eq!(
        (made.path.as_path(), made.corpora.as_slice()),
        (Path::new("standard output"), &["tiny".to_owned()][..])
    );
    let verified = App::verify_backup_from(File::open(&file).unwrap(), &data).await.unwrap();
    assert_eq!((verified.path.as_path(), verified.files), (Path::new("standard input"), made.files));
    App::restore_backup_from(File::open(&file).unwrap(), &other, false).await.unwrap();
    assert_eq!(tasks(&other).await, ["kept?"]);

    change(&file, |bytes| bytes.truncate(bytes.len() / 2));
    for refused in [
        App::verify_backup_from(File::open(&file).unwrap(), &other).await.unwrap_err(),
        App::restore_backup_from(File::open(&file).unwrap(), &other, true).await.unwrap_err(),
    ] {
        assert!(refused.message.contains("damaged: standard input"), "{}", refused.message);
    }
    assert_eq!(tasks(&other).await, ["kept?"]);
    for folder in [&data, &other] {
        let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        let left: Vec<_> = names.filter(|name| name.to_string_lossy().contains("piped")).collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

/// Something that happens to a backup.
type Damage = Box<dyn FnOnce(&Path)>;

/// Damages a copy of a backup and says what comes of it. Data that is there stays as it is.
async fn damaged(backup: &Path, how: impl FnOnce(&Path)) -> String {
    let home = tempfile::tempdir().unwrap();
    let copy = home.path().join(backup.file_name().unwrap());
    if backup.is_dir() {
        std::fs::create_dir_all(copy.join("corpora/tiny/index")).unwrap();
        for file in ["backup.json", "lyra.db", "corpora/tiny/corpus.json", "corpora/tiny/index/segment"] {
            std::fs::copy(backup.join(file), copy.join(file)).unwrap();
        }
    } else {
        std::fs::copy(backup, &copy).unwrap();
    }
    how(&copy);
    let data = home.path().join("data");
    std::fs::create_dir(&data).unwrap();
    let refused = App::restore_backup(&copy, &data, false).await.unwrap_err();
    let left: Vec<_> = std::fs::read_dir(&data).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| name == "workers"), "{left:?}");
    let verified = App::verify_backup(&copy).await.unwrap_err();
    assert_eq!(verified.code, refused.code, "{} / {}", verified.message, refused.message);
    refused.message
}

fn change(file: &Path, how: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = std::fs::read(file).unwrap();
    how(&mut bytes);
    std::fs::write(file, bytes).unwrap();
}

#[tokio::test]
async fn a_damaged_backup_is_refused_with_what_is_wrong() {
    let home = tempfile::tempdir().unwrap();
    let app = filled(&home.path().join("data")).await;
    let (folder, file) = (home.path().join("folder"), home.path().join("file.tar"));
    let packed = home.path().join("file.tar.gz");
    for target in [&folder, &file, &packed] {
        app.create_backup(target, false).await.unwrap();
    }
    let flip = |bytes: &mut Vec<u8>| {
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
    };
    let cases: Vec<(&Path, Damage, &str)> = vec![
        (&folder, Box::new(move |at| change(&at.join("lyra.db"), flip)), "lyra.db is not what was written"),
        (
            &folder,
            Box::new(move |at| change(&at.join("corpora/tiny/index/segment"), flip)),
            "segment is not what",
        ),
        (&folder, Box::new(|at| change(&at.join("lyra.db"), |b| b.truncate(4096))), "bytes and had"),
        (
            &folder,
            Box::new(|at| std::fs::remove_file(at.join("corpora/tiny/corpus.json")).unwrap()),
            "corpus.json is missing",
        ),
        (
            &folder,
            Box::new(|at| std::fs::write(at.join("corpora/extra"), "x").unwrap()),
            "extra is not in its list",
        ),
        (&folder, Box::new(|at| std::fs::remove_file(at.join("backup.json")).unwrap()), "is no backup"),
        (
            &folder,
            Box::new(|at| {
                change(&at.join("backup.json"), |b| {
                    *b = String::from_utf8(b.clone())
                        .unwrap()
                        .replacen("\"format\": 1", "\"format\": 2", 1)
                        .into_bytes();
                });
            }),
            "newer than this version",
        ),
        (
            &folder,
            Box::new(|at| {
                change(&at.join("backup.json"), |b| {
                    *b = String::from_utf8(b.clone())
                        .unwrap()
                        .replacen("corpora/tiny/corpus.json", "../../../etc/passwd", 1)
                        .into_bytes();
                });
            }),
            "leads out of the backup",
        ),
        (&file, Box::new(move |at| change(at, flip)), "is not what was written"),
        (&file, Box::new(|at| change(at, |b| b.truncate(b.len() / 2))), "damaged"),
        (&packed, Box::new(|at| change(at, |b| b.truncate(b.len() / 2))), "damaged"),
        (&file, Box::new(|at| std::fs::write(at, "no archive").unwrap()), "damaged"),
    ];
    for (target, how, expect) in cases {
        let message = damaged(target, how).await;
        assert!(message.contains(expect), "`{expect}` is not in: {message}");
    }
}

#[tokio::test]
async fn only_new_or_empty_places_are_written_to() {
    let home = tempfile::tempdir().unwrap();
    let app = open(&home.path().join("data")).await;
    let foreign = home.path().join("photos");
    std::fs::create_dir(&foreign).unwrap();
    app.create_backup(&foreign, false).await.unwrap();
    let other = home.path().join("documents");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("letter"), "dear").unwrap();
    for force in [false, true] {
        let error = app.create_backup(&other, force).await.unwrap_err();
        assert!(error.message.contains("documents"), "{}", error.message);
    }
    assert_eq!(std::fs::read_to_string(other.join("letter")).unwrap(), "dear");
}
