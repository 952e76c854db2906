use super::*;
use crate::NewTask;
use crate::config::Config;

/// An application in a folder of its own, with a task and a corpus that cannot be searched.
async fn filled(folder: &Path) -> App {
    let app = open(folder).await;
    app.store()
        .create_task(
            lyra_store::NewTask {
                query: "kept?".to_owned(),
                config: NewTask::default().config,
                claims: vec!["it is".to_owned()],
                question_claim: None,
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

/// Without processes: the test program cannot run as a worker.
fn here() -> BackupReaders {
    BackupReaders::new(None)
}

async fn open(folder: &Path) -> App {
    crate::testing::open(Config { data_dir: Some(folder.to_owned()), ..Config::default() }).await
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
        assert_eq!((made.corpora.as_slice(), made.files), (&["tiny".to_owned()][..], 4), "{name}");
        let again = app.create_backup(&target, false).await.unwrap_err();
        assert!(
            again.message.contains(name) && again.remedy == Some(Remedy::ReplaceBackup),
            "{}",
            again.message
        );
        app.create_backup(&target, true).await.unwrap();
        let verified = App::verify_backup(&target, &here()).await.unwrap();
        assert_eq!((verified.files, verified.schema), (made.files, made.schema));

        let other = home.path().join(format!("{name}-restored"));
        let restored = App::restore_backup(&target, &other, false, &here()).await.unwrap();
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
    for (name, mode) in
        [("folder", 0o700), ("folder/lyra.db", 0o600), ("folder/private.db", 0o600), ("file.tar", 0o600)]
    {
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
    let in_use = App::restore_backup(&backup, &data, true, &here()).await.unwrap_err();
    assert!(in_use.message.contains("in use"), "{}", in_use.message);
    app.close().await;
    drop(app);
    let refused = App::restore_backup(&backup, &data, false, &here()).await.unwrap_err();
    assert!(refused.message.contains("holds data already"), "{}", refused.message);
    let restored = App::restore_backup(&backup, &data, true, &here()).await.unwrap();
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
    let verified = App::verify_backup_from(File::open(&file).unwrap(), &data, &here()).await.unwrap();
    assert_eq!((verified.path.as_path(), verified.files), (Path::new("standard input"), made.files));
    App::restore_backup_from(File::open(&file).unwrap(), &other, false, &here()).await.unwrap();
    assert_eq!(tasks(&other).await, ["kept?"]);

    change(&file, |bytes| bytes.truncate(bytes.len() / 2));
    for refused in [
        App::verify_backup_from(File::open(&file).unwrap(), &other, &here()).await.unwrap_err(),
        App::restore_backup_from(File::open(&file).unwrap(), &other, true, &here()).await.unwrap_err(),
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
        for file in
            ["backup.json", "lyra.db", "private.db", "corpora/tiny/corpus.json", "corpora/tiny/index/segment"]
        {
            std::fs::copy(backup.join(file), copy.join(file)).unwrap();
        }
    } else {
        std::fs::copy(backup, &copy).unwrap();
    }
    how(&copy);
    let data = home.path().join("data");
    std::fs::create_dir(&data).unwrap();
    let refused = App::restore_backup(&copy, &data, false, &here()).await.unwrap_err();
    let left: Vec<_> = std::fs::read_dir(&data).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| name == "workers"), "{left:?}");
    let verified = App::verify_backup(&copy, &here()).await.unwrap_err();
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
        (&folder, Box::new(|at| std::fs::remove_file(at.join("backup.json")).unwrap()), "is not a backup"),
        (
            &folder,
            Box::new(|at| {
                change(&at.join("backup.json"), |b| {
                    *b = String::from_utf8(b.clone())
                        .unwrap()
                        .replacen("\"format\": 2", "\"format\": 3", 1)
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

async fn change_database(file: &Path, sql: &'static str) {
    use sqlx::{ConnectOptions, Connection};
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(file);
    let mut connection = options.connect().await.unwrap();
    sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

/// Writes the manifest of a backup in a folder again, so that its sizes and hashes are right, and packs it.
fn repacked(folder: &Path, file: &Path) {
    let created_at = Manifest::read(folder).unwrap().created_at;
    std::fs::remove_file(folder.join(manifest::FILE)).unwrap();
    Manifest::of(folder, created_at).unwrap().write(folder).unwrap();
    pack(folder, file).unwrap();
}

#[tokio::test]
async fn a_database_that_others_changed_is_refused_although_every_hash_is_right() {
    let home = tempfile::tempdir().unwrap();
    let app = filled(&home.path().join("data")).await;
    for (name, file, sql) in [
        ("trigger", DATABASE, "CREATE TRIGGER x AFTER INSERT ON tasks BEGIN DELETE FROM claims; END"),
        ("view", DATABASE, "CREATE VIEW extra AS SELECT * FROM tasks"),
        ("replaced", DATABASE, "DROP VIEW v_hub_pages; CREATE VIEW v_hub_pages AS SELECT * FROM tasks"),
        ("missing", DATABASE, "DROP TRIGGER claims_fts_insert"),
        ("private", PRIVATE, "CREATE TRIGGER x AFTER INSERT ON audit_log BEGIN DELETE FROM sessions; END"),
    ] {
        let (folder, packed) = (home.path().join(name), home.path().join(format!("{name}.tar")));
        app.create_backup(&folder, false).await.unwrap();
        change_database(&folder.join(file), sql).await;
        repacked(&folder, &packed);
        for source in [&folder, &packed] {
            let error = App::verify_backup(source, &here()).await.unwrap_err();
            assert!(error.message.contains("has been tampered with"), "{name}: {}", error.message);
            let target = home.path().join("other");
            let error = App::restore_backup(source, &target, false, &here()).await.unwrap_err();
            assert!(error.message.contains("has been tampered with"), "{name}: {}", error.message);
            assert!(!target.join(DATABASE).exists());
        }
    }
}

#[tokio::test]
async fn corpora_that_cannot_be_read_are_refused_although_every_hash_is_right() {
    let home = tempfile::tempdir().unwrap();
    let app = filled(&home.path().join("data")).await;
    for (case, text, expect) in [
        ("newer", r#"{"format":999999,"name":"tiny"}"#, "has format 999999"),
        ("damaged", r#"{"format":2,"#, "corpus.json"),
        (
            "other",
            r#"{"format":1,"name":"x","embedder":"m","dimension":1,"created":"2026-11-20T00:00:00Z"}"#,
            "corpus `x`",
        ),
    ] {
        let (folder, packed) = (home.path().join(case), home.path().join(format!("{case}.tar")));
        app.create_backup(&folder, false).await.unwrap();
        std::fs::write(folder.join("corpora/tiny/corpus.json"), text).unwrap();
        repacked(&folder, &packed);
        for source in [&folder, &packed] {
            let error = App::verify_backup(source, &here()).await.unwrap_err();
            assert!(error.message.contains(expect), "{case}: {}", error.message);
            let target = home.path().join("elsewhere");
            let error = App::restore_backup(source, &target, false, &here()).await.unwrap_err();
            assert!(error.message.contains(expect), "{case}: {}", error.message);
            assert!(!target.join("corpora").exists());
        }
    }
}

#[tokio::test]
async fn no_more_is_unpacked_than_the_manifest_says() {
    let home = tempfile::tempdir().unwrap();
    let app = filled(&home.path().join("data")).await;
    let (folder, packed) = (home.path().join("folder"), home.path().join("large.tar.gz.new-"));
    app.create_backup(&folder, false).await.unwrap();
    let size = std::fs::metadata(folder.join("corpora/tiny/index/segment")).unwrap().len();
    std::fs::write(folder.join("corpora/tiny/index/segment"), vec![0; 64 << 20]).unwrap();
    pack(&folder, &packed).unwrap();
    let unpacked = home.path().join("unpacked");
    let error = archive::unpack(&packed, &unpacked, here().archives()).await.unwrap_err();
    assert!(
        error.message.contains("No such file"),
        "a folder that was removed is not made again: {}",
        error.message
    );
    std::fs::create_dir(&unpacked).unwrap();
    let error = archive::unpack(&packed, &unpacked, here().archives()).await.unwrap_err();
    assert!(error.message.contains("bytes and had"), "{}", error.message);
    assert_eq!(std::fs::metadata(unpacked.join("corpora/tiny/index/segment")).unwrap().len(), size + 1);

    // A file that is not in the list is not written at all.
    std::fs::write(folder.join("extra"), "x").unwrap();
    let mut tar = tar::Builder::new(File::create(home.path().join("extra.tar")).unwrap());
    tar.append_path_with_name(folder.join(manifest::FILE), manifest::FILE).unwrap();
    tar.append_path_with_name(folder.join("extra"), "extra").unwrap();
    tar.finish().unwrap();
    let other = home.path().join("unlisted");
    std::fs::create_dir(&other).unwrap();
    let error = archive::unpack(&home.path().join("extra.tar"), &other, here().archives()).await.unwrap_err();
    assert!(error.message.contains("`extra` is not in its list"), "{}", error.message);
    assert!(!other.join("extra").exists());
}

#[tokio::test]
async fn what_was_revoked_stays_revoked_after_a_restore() {
    let home = tempfile::tempdir().unwrap();
    let (data, backup) = (home.path().join("data"), home.path().join("backup.tar"));
    let app = open(&data).await;
    let made = app.create_token("revoked", lyra_store::Scope::Full, None).await.unwrap();
    let kept = app.create_token("kept", lyra_store::Scope::Full, None).await.unwrap();
    app.create_backup(&backup, false).await.unwrap();
    app.revoke_token("revoked").await.unwrap();
    app.close().await;
    drop(app);
    let restored = App::restore_backup(&backup, &data, true, &here()).await.unwrap();
    assert_eq!((restored.tokens_revoked, restored.tokens_in_force.as_slice()), (1, &["kept".to_owned()][..]));
    let app = open(&data).await;
    let refused = app.store().authenticate(&made.text).await.unwrap();
    assert_eq!(refused, Err(lyra_store::TokenRefusal::Revoked));
    assert!(app.store().authenticate(&kept.text).await.unwrap().is_ok());
    app.close().await;

    // A new data folder knows no revocations, so the report names all active tokens.
    let elsewhere = App::restore_backup(&backup, &home.path().join("other"), false, &here()).await.unwrap();
    assert_eq!(elsewhere.tokens_in_force.len(), 2);
}
