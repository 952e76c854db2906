//! Zotero's data folder, as its versions 5 to 7 write it.

use crate::papers::{PAGE, article};
use crate::support::{Bench, Hashing};
use lyra_corpus::{Annotation, Document, ImportOptions, ImportReport, Method, Narrow, Within};
use lyra_domain::Doi;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteLockingMode};
use sqlx::{Connection, Executor, SqliteConnection};
use std::path::{Path, PathBuf};
use tokio_util::sync::CancellationToken;

/// The columns that Lyra reads, in tables of their own making: those of Zotero have more.
const TABLES: &str = "
    CREATE TABLE itemTypes (itemTypeID INTEGER PRIMARY KEY, typeName TEXT, templateItemTypeID INT,
        display INT DEFAULT 1);
    CREATE TABLE fields (fieldID INTEGER PRIMARY KEY, fieldName TEXT, fieldFormatID INT);
    CREATE TABLE creatorTypes (creatorTypeID INTEGER PRIMARY KEY, creatorType TEXT);
    CREATE TABLE libraries (libraryID INTEGER PRIMARY KEY, type TEXT NOT NULL, editable INT NOT NULL);
    CREATE TABLE groups (groupID INTEGER PRIMARY KEY, libraryID INT NOT NULL UNIQUE, name TEXT NOT NULL);
    CREATE TABLE feeds (libraryID INTEGER PRIMARY KEY, name TEXT NOT NULL);
    CREATE TABLE items (
        itemID INTEGER PRIMARY KEY, -- one for everything
        itemTypeID INT NOT NULL,
        dateAdded TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
        libraryID INT NOT NULL,
        key TEXT NOT NULL,
        UNIQUE (libraryID, key)
    );
    CREATE TABLE itemDataValues (valueID INTEGER PRIMARY KEY, value UNIQUE);
    CREATE TABLE itemData (itemID INT, fieldID INT, valueID, PRIMARY KEY (itemID, fieldID));
    CREATE TABLE creators (creatorID INTEGER PRIMARY KEY, firstName TEXT, lastName TEXT, fieldMode INT);
    CREATE TABLE itemCreators (itemID INT NOT NULL, creatorID INT NOT NULL, creatorTypeID INT NOT NULL DEFAULT 1,
        orderIndex INT NOT NULL DEFAULT 0, PRIMARY KEY (itemID, creatorID, creatorTypeID, orderIndex));
    CREATE TABLE tags (tagID INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
    CREATE TABLE itemTags (itemID INT NOT NULL, tagID INT NOT NULL, type INT NOT NULL, PRIMARY KEY (itemID, tagID));
    CREATE TABLE collections (collectionID INTEGER PRIMARY KEY, collectionName TEXT NOT NULL,
        parentCollectionID INT DEFAULT NULL,
        libraryID INT NOT NULL, key TEXT NOT NULL);
    CREATE TABLE collectionItems (collectionID INT NOT NULL, itemID INT NOT NULL, orderIndex INT DEFAULT 0);
    CREATE TABLE itemAttachments (itemID INTEGER PRIMARY KEY, parentItemID INT, linkMode INT, contentType TEXT,
        charsetID INT, path TEXT);
    CREATE TABLE itemNotes (itemID INTEGER PRIMARY KEY, parentItemID INT, note TEXT, title TEXT);
    CREATE TABLE deletedItems (itemID INTEGER PRIMARY KEY, dateDeleted DEFAULT CURRENT_TIMESTAMP NOT NULL);
    INSERT INTO itemTypes (itemTypeID, typeName) VALUES (1, 'annotation'), (2, 'book'), (3, 'attachment'), (22,
        'journalArticle'), (28, 'note');
    INSERT INTO fields (fieldID, fieldName) VALUES (1, 'title'), (2, 'abstractNote'), (6, 'date'), (7, 'language'),
        (13, 'url'), (22, 'extra'), (38, 'publicationTitle'), (59, 'DOI'), (11, 'ISBN'), (23, 'publisher');
    INSERT INTO creatorTypes VALUES (8, 'author'), (10, 'editor');
    INSERT INTO libraries VALUES (1, 'user', 1), (4, 'group', 1), (5, 'feed', 0);
    INSERT INTO groups VALUES (4711, 4, 'Sleep lab');
    INSERT INTO feeds VALUES (5, 'News');";

/// What later versions have too.
const SINCE_5_1: &str = "
    CREATE TABLE retractedItems (itemID INTEGER PRIMARY KEY, data TEXT, flag INT DEFAULT 0);
    INSERT INTO retractedItems VALUES (4, '{}', 0);";
const SINCE_6: &str = "
    CREATE TABLE itemAnnotations (itemID INTEGER PRIMARY KEY, parentItemID INT NOT NULL, type INTEGER NOT NULL,
        authorName TEXT,
        text TEXT, comment TEXT, color TEXT, pageLabel TEXT, sortIndex TEXT NOT NULL, position TEXT NOT NULL,
            isExternal INT NOT NULL);
    INSERT INTO items (itemID, itemTypeID, libraryID, key) VALUES (60, 1, 1, 'ANNO0002'), (61, 1, 1, 'ANNO0001'),
        (62, 1, 1, 'ANNO0003');
    INSERT INTO itemAnnotations VALUES
        (60, 11, 2, NULL, NULL, 'Compare with Poe.', '#ff6666', '2', '00001|000100|00200', '{}', 0),
        (61, 11, 1, 'Ann', 'Adults who napped  for twenty minutes', '', '#ffd400', 'ii', '00000|000900|00100',
            '{}', 0),
        (62, 11, 1, NULL, 'in the trash', '', '#ffd400', '1', '00000|000000|00000', '{}', 0);
    INSERT INTO deletedItems (itemID) VALUES (62);";
const SINCE_7: &str = "
    CREATE TABLE deletedCollections (collectionID INTEGER PRIMARY KEY,
        dateDeleted DEFAULT CURRENT_TIMESTAMP NOT NULL);
    INSERT INTO collections VALUES (9, 'Thrown away', NULL, 1, 'COLL0009');
    INSERT INTO deletedCollections (collectionID) VALUES (9);
    INSERT INTO collectionItems (collectionID, itemID) VALUES (9, 1);";

const ROWS: &str = "
    INSERT INTO items (itemID, itemTypeID, libraryID, key) VALUES
        (1, 22, 1, 'NAPS2345'), (2, 2, 4, 'BOOK2345'), (3, 22, 1, 'TRASH234'), (4, 22, 1, 'RETR2345'), (5, 22, 5,
            'FEED2345'),
        (6, 22, 1, 'LINK2345'), (11, 3, 1, 'PDFS2345'), (12, 3, 1, 'ALON2345'), (13, 3, 1, 'HTML2345'), (14, 3, 1,
            'EVIL2345'),
        (21, 28, 1, 'NOTE2345'), (22, 28, 1, 'NOTE9999');
    INSERT INTO itemDataValues VALUES (1, 'Short naps, and what adults remember'), (2, '2019-05-00 May 2019'), (3,
        'Sleep'),
        (4, '10.1000/NAPS.7'), (5, 'PMID: 1234567' || char(10) || 'Ask Bo.'), (6, 'Sleep: a handbook'), (7,
            '978-3-16-148410-0'),
        (8, 'Thrown away'), (9, 'A claim that was taken back by its authors'), (10, 'From a feed'), (11,
            'Why we sleep at noon'),
        (12, 2019), (13, 'en-US'), (14, 'Night Press');
    INSERT INTO itemData VALUES (1, 1, 1), (1, 6, 2), (1, 38, 3), (1, 59, 4), (1, 22, 5), (1, 7, 13), (2, 1, 6),
        (2, 11, 7), (2, 23, 14),
        (3, 1, 8), (4, 1, 9), (5, 1, 10), (6, 1, 11), (6, 6, 12);
    INSERT INTO creators VALUES (1, 'Bo', 'Ek', 0), (2, 'Ann', 'Lee', 0), (3, '', 'World Sleep Society', 1), (4,
        'Eve', 'Ed', 0);
    INSERT INTO itemCreators VALUES (1, 1, 8, 1), (1, 2, 8, 0), (1, 4, 10, 2), (2, 3, 8, 0), (6, 2, 8, 0);
    INSERT INTO tags VALUES (1, 'naps'), (2, 'Memory/physiology'), (3, 'unread');
    INSERT INTO itemTags VALUES (1, 1, 0), (1, 2, 1), (12, 3, 0);
    INSERT INTO collections VALUES (1, 'Sleep', NULL, 1, 'COLL0001'), (2, 'Naps', 1, 1, 'COLL0002'), (3, 'Books',
        NULL, 4, 'COLL0003');
    INSERT INTO collectionItems (collectionID, itemID) VALUES (2, 1), (1, 12), (3, 2);
    INSERT INTO itemAttachments VALUES (11, 1, 0, 'application/pdf', NULL, 'storage:Lee  2019.pdf'),
        (12, NULL, 0, 'application/pdf', NULL, 'storage:scan.pdf'), (13, 6, 2, 'text/html', NULL,
            'attachments:sub/noon.html'),
        (14, 4, 0, 'application/pdf', NULL, 'storage:../../../secret.pdf');
    INSERT INTO itemNotes VALUES (21, 1, '<div><p>Naps <b>help</b>.</p><p>Who paid?</p></div>', 'Naps'), (22, 3,
        '<p>gone</p>', 'gone');
    INSERT INTO deletedItems (itemID) VALUES (3);";

/// A profile folder: its data folder, with files in its storage, and a base folder of linked files.
async fn profile(bench: &Bench, version: u32) -> PathBuf {
    let root = bench.folder.path().join(format!("profile {version}"));
    let data = root.join("zotero");
    let write = |at: &Path, content: &[u8]| {
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        std::fs::write(at, content).unwrap();
    };
    write(&data.join("storage/PDFS2345/Lee  2019.pdf"), &article());
    let text = String::from_utf8(article()).unwrap();
    let other = text.replace("10.1000/naps.7", "10.1000/noon.2").replace("Short naps and", "Long nights &");
    write(&data.join("storage/ALON2345/scan.pdf"), other.as_bytes());
    write(&data.join("storage/GONE2345/not an item.pdf"), &article());
    write(&root.join("secret.pdf"), &article());
    write(&root.join("linked/sub/noon.html"), PAGE.as_bytes());
    let base = serde_json::to_string(root.join("linked").to_str().unwrap()).unwrap();
    let settings = format!("user_pref(\"extensions.zotero.baseAttachmentPath\", {base});\n");
    write(&root.join("prefs.js"), settings.as_bytes());
    // Small pages, so that rows go beyond them and tables have several levels.
    let options = SqliteConnectOptions::new()
        .filename(data.join("zotero.sqlite"))
        .create_if_missing(true)
        .page_size(if version == 6 { 4_096 } else { 512 })
        .pragma("encoding", if version == 7 { "'UTF-16le'" } else { "'UTF-8'" });
    let mut zotero = SqliteConnection::connect_with(&options).await.unwrap();
    zotero.execute(TABLES).await.unwrap();
    zotero.execute(ROWS).await.unwrap();
    for (since, tables) in [(5, SINCE_5_1), (6, SINCE_6), (7, SINCE_7)] {
        if version >= since {
            zotero.execute(tables).await.unwrap();
        }
    }
    let summary = "We slept. ".repeat(400);
    sqlx::query("INSERT INTO itemDataValues VALUES (99, ?)")
        .bind(&summary)
        .execute(&mut zotero)
        .await
        .unwrap();
    zotero.execute("INSERT INTO itemData VALUES (2, 2, 99)").await.unwrap();
    for nth in 0..300 {
        let name = format!("a tag of nothing {nth}");
        sqlx::query("INSERT INTO tags (name) VALUES (?)").bind(name).execute(&mut zotero).await.unwrap();
    }
    zotero.close().await.unwrap();
    data
}

async fn get(bench: &Bench, id: &str) -> Document {
    bench.corpora.document("c", id).await.unwrap().unwrap_or_else(|| panic!("no {id}"))
}

fn counts(report: &ImportReport) -> (u64, u64, u64, u64) {
    (report.added, report.updated, report.unchanged, report.rejected_count)
}

#[tokio::test]
async fn profiles_of_all_versions() {
    for version in [5, 6, 7] {
        let (bench, embedder) = (Bench::new(), Hashing::default());
        let data = profile(&bench, version).await;
        let report = bench.import(&data, &embedder).await.unwrap();
        assert_eq!(counts(&report), (5, 0, 0, 0), "{version}: {report:?}");

        let naps = get(&bench, "doi:10.1000/naps.7").await;
        assert_eq!(naps.title, "Short naps, and what adults remember");
        assert_eq!(
            (&naps.authors[..], naps.year),
            (&["Ann Lee", "Bo Ek"].map(str::to_owned)[..], Some(2019))
        );
        assert_eq!((naps.venue.as_deref(), naps.language.as_deref()), (Some("Sleep"), Some("en")));
        assert_eq!(naps.identifiers[0].to_string(), "pmid:1234567");
        assert_eq!(naps.collections, ["Sleep/Naps"]);
        assert_eq!(naps.tags, ["naps", "Memory/physiology"]);
        assert_eq!(naps.notes, ["Naps help.\nWho paid?", "Ask Bo."]);
        assert_eq!(naps.files, ["Lee  2019.pdf"]);
        assert_eq!(naps.zotero.as_deref(), Some("zotero://select/library/items/NAPS2345"));
        assert!(naps.desc.contains("napped for twenty minutes"), "{}", naps.desc);
        let marked = Annotation {
            text: "Adults who napped for twenty minutes".to_owned(),
            page: Some("ii".to_owned()),
            color: Some("#ffd400".to_owned()),
            ..Annotation::default()
        };
        let note = Annotation {
            comment: "Compare with Poe.".to_owned(),
            page: Some("2".to_owned()),
            color: Some("#ff6666".to_owned()),
            ..Annotation::default()
        };
        assert_eq!(naps.annotations, if version == 5 { vec![] } else { vec![marked, note] });

        let book = get(&bench, "zotero:BOOK2345").await;
        assert_eq!(
            (book.title.as_str(), &book.authors[..]),
            ("Sleep: a handbook", &["World Sleep Society".to_owned()][..])
        );
        assert_eq!((&book.collections[..], book.text.len()), (&["Sleep lab/Books".to_owned()][..], 3_999));
        assert_eq!(book.zotero.as_deref(), Some("zotero://select/groups/4711/items/BOOK2345"));

        let alone = get(&bench, "doi:10.1000/noon.2").await;
        assert_eq!(
            (alone.title.as_str(), &alone.tags[..]),
            ("Long nights & the memory of adults", &["unread".to_owned()][..])
        );
        assert_eq!(alone.collections, ["Sleep"]);

        let retracted = get(&bench, "zotero:RETR2345").await;
        assert!(retracted.is_retracted && retracted.files.is_empty(), "{retracted:?}");
        assert_eq!(retracted.work("c").is_retracted, Some(true));

        let linked = get(&bench, "zotero:LINK2345").await;
        assert_eq!(linked.files, ["noon.html"]);
        assert!(linked.desc.contains("warm countries"));

        let again = bench.import(&data, &embedder).await.unwrap();
        assert_eq!(counts(&again), (0, 0, 5, 0), "{version}: {again:?}");
        let before = std::fs::read_dir(&data).unwrap().count();
        assert_eq!(before, 2, "nothing is written beside the database and its storage");
    }
}

#[tokio::test]
async fn a_changed_item_changes_only_itself() {
    let (bench, embedder) = (Bench::new(), Hashing::default());
    let data = profile(&bench, 6).await;
    bench.import(&data, &embedder).await.unwrap();
    let options = SqliteConnectOptions::new().filename(data.join("zotero.sqlite"));
    let mut zotero = SqliteConnection::connect_with(&options).await.unwrap();
    let changes = "UPDATE itemAnnotations SET comment = 'Really?' WHERE itemID = 61;
        DELETE FROM itemTags WHERE tagID = 1;
        UPDATE itemDataValues SET value = 'Sleep: another handbook' WHERE valueID = 6;";
    zotero.execute(changes).await.unwrap();
    let report = bench.import(&data, &embedder).await.unwrap();
    assert_eq!(counts(&report), (0, 2, 3, 0), "{report:?}");
    let naps = get(&bench, "doi:10.1000/naps.7").await;
    assert_eq!((naps.annotations.len(), naps.annotations[0].comment.as_str()), (2, "Really?"));
    assert_eq!(naps.tags, ["Memory/physiology"]);
    assert_eq!(get(&bench, "zotero:BOOK2345").await.title, "Sleep: another handbook");
    // With a DOI, the item keeps the id that it has.
    let doi =
        "INSERT INTO itemDataValues VALUES (98, '10.1000/book'); INSERT INTO itemData VALUES (2, 59, 98);";
    zotero.execute(doi).await.unwrap();
    let report = bench.import(&data, &embedder).await.unwrap();
    assert_eq!(counts(&report), (0, 1, 4, 0), "{report:?}");
    assert_eq!(get(&bench, "zotero:BOOK2345").await.doi, Doi::parse("10.1000/book"));
    zotero.close().await.unwrap();
}

#[tokio::test]
async fn zotero_may_be_running() {
    for mode in [
        SqliteJournalMode::Delete,
        SqliteJournalMode::Truncate,
        SqliteJournalMode::Persist,
        SqliteJournalMode::Wal,
    ] {
        let (bench, embedder) = (Bench::new(), Hashing::default());
        let data = profile(&bench, 7).await;
        let options = SqliteConnectOptions::new()
            .filename(data.join("zotero.sqlite"))
            .journal_mode(mode)
            .locking_mode(SqliteLockingMode::Exclusive)
            .pragma("cache_size", "10")
            .pragma("wal_autocheckpoint", "0");
        let mut zotero = SqliteConnection::connect_with(&options).await.unwrap();
        // Committed, but in a log it is not in the database yet.
        zotero
            .execute("UPDATE itemDataValues SET value = 'Sleep: a new handbook' WHERE valueID = 6")
            .await
            .unwrap();
        // Under way, and too long for its memory: the database has half of it.
        let length = || std::fs::metadata(data.join("zotero.sqlite")).unwrap().len();
        let before = length();
        let mut change = zotero.begin().await.unwrap();
        change.execute("UPDATE itemDataValues SET value = 'Not said yet' WHERE valueID = 1").await.unwrap();
        for nth in 0..200 {
            let more = format!("{nth} {}", "more ".repeat(100));
            sqlx::query("INSERT INTO itemDataValues (value) VALUES (?)")
                .bind(more)
                .execute(&mut *change)
                .await
                .unwrap();
        }
        let beside =
            if mode == SqliteJournalMode::Wal { "zotero.sqlite-wal" } else { "zotero.sqlite-journal" };
        assert!(std::fs::metadata(data.join(beside)).unwrap().len() > 0, "{mode:?}");
        assert!(
            mode == SqliteJournalMode::Wal || length() > before,
            "{mode:?}: the database was not written to"
        );
        let report = bench.import(&data, &embedder).await.unwrap();
        assert_eq!(counts(&report), (5, 0, 0, 0), "{mode:?}: {report:?}");
        assert_eq!(get(&bench, "zotero:BOOK2345").await.title, "Sleep: a new handbook", "{mode:?}");
        assert_eq!(get(&bench, "doi:10.1000/naps.7").await.title, "Short naps, and what adults remember");
        change.commit().await.unwrap();
        let report = bench.import(&data, &embedder).await.unwrap();
        assert_eq!(counts(&report), (0, 1, 4, 0), "{mode:?}: {report:?}");
        zotero.close().await.unwrap();
    }
}

async fn prune(bench: &Bench, data: &Path) -> ImportReport {
    let (options, stop) =
        (ImportOptions { prune: true, ..ImportOptions::default() }, CancellationToken::new());
    let embedder = Hashing::default();
    bench.corpora.import_with("c", &[data.to_owned()], &options, &embedder, &|_| {}, &stop).await.unwrap()
}

/// New, changed, unchanged, and gone files.
fn files(report: &ImportReport) -> (u64, u64, u64, u64) {
    let files = &report.files;
    (files.new, files.changed, files.unchanged, files.gone)
}

#[tokio::test]
async fn only_what_changed_is_read_again() {
    let (bench, embedder) = (Bench::new(), Hashing::default());
    let data = profile(&bench, 7).await;
    // What the paper says of itself stays when the item is read again and its file is not.
    let jats = "<?xml version=\"1.0\"?><article article-type=\"research-article\"><front><article-meta>\
        <title-group><article-title>Why we sleep at noon</article-title></title-group><kwd-group><kwd>heat</kwd>\
        </kwd-group></article-meta></front><body><sec><title>Results</title><p>People in warm countries sleep at noon.\
        </p></sec></body></article>";
    std::fs::write(data.parent().unwrap().join("linked/sub/noon.xml"), jats).unwrap();
    let options = SqliteConnectOptions::new()
        .filename(data.join("zotero.sqlite"))
        .journal_mode(SqliteJournalMode::Wal)
        .pragma("wal_autocheckpoint", "0");
    let mut zotero = SqliteConnection::connect_with(&options).await.unwrap();
    let linked = "UPDATE itemAttachments SET path = 'attachments:sub/noon.xml' WHERE itemID = 13";
    zotero.execute(linked).await.unwrap();
    let report = bench.import(&data, &embedder).await.unwrap();
    // The database, two papers of its storage, and a linked one.
    assert_eq!((counts(&report), files(&report)), ((5, 0, 0, 0), (4, 0, 0, 0)), "{report:?}");
    assert_eq!(get(&bench, "zotero:LINK2345").await.tags, ["heat"]);
    let report = bench.import(&data, &embedder).await.unwrap();
    assert_eq!((counts(&report), files(&report)), ((0, 0, 5, 0), (0, 0, 4, 0)), "{report:?}");
    let plain = ImportOptions::default();
    let survey = || bench.corpora.survey("c", std::slice::from_ref(&data), &plain);
    let database = std::fs::canonicalize(data.join("zotero.sqlite")).unwrap();
    assert_eq!(survey().await.unwrap().changed, []);

    // Only the log has the change.
    let before = std::fs::read(&database).unwrap();
    let change = "UPDATE itemDataValues SET value = 'Sleep: a new handbook' WHERE valueID = 6;
        UPDATE tags SET name = 'sleep' WHERE tagID = 1; UPDATE items SET dateAdded = '2024-01-01' WHERE itemID = 6;";
    zotero.execute(change).await.unwrap();
    assert_eq!(std::fs::read(&database).unwrap(), before);
    let changed: Vec<PathBuf> = survey().await.unwrap().changed.into_iter().map(|stamp| stamp.file).collect();
    assert_eq!(changed, [database]);
    let report = bench.import(&data, &embedder).await.unwrap();
    assert_eq!((counts(&report), files(&report)), ((0, 2, 3, 0), (0, 1, 3, 0)), "{report:?}");
    assert_eq!(get(&bench, "zotero:LINK2345").await.tags, ["heat"]);
    assert_eq!(get(&bench, "doi:10.1000/naps.7").await.tags, ["sleep", "Memory/physiology"]);
    zotero.close().await.unwrap();
}

#[tokio::test]
async fn items_whose_files_are_elsewhere_stay() {
    let (bench, embedder) = (Bench::new(), Hashing::default());
    let data = profile(&bench, 7).await;
    // Its DOI stands in its paper only.
    let mut zotero =
        SqliteConnection::connect_with(&SqliteConnectOptions::new().filename(data.join("zotero.sqlite")))
            .await
            .unwrap();
    zotero.execute("DELETE FROM itemData WHERE itemID = 1 AND fieldID = 59").await.unwrap();
    let first = bench.import(&data, &embedder).await.unwrap();
    assert_eq!((counts(&first), files(&first)), ((5, 0, 0, 0), (4, 0, 0, 0)), "{first:?}");
    let naps = get(&bench, "doi:10.1000/naps.7").await;
    std::fs::remove_dir_all(data.join("storage/PDFS2345")).unwrap();
    std::fs::remove_dir_all(data.join("storage/ALON2345")).unwrap();
    let report = prune(&bench, &data).await;
    assert_eq!((files(&report), report.files.orphaned), ((0, 0, 2, 2), 0), "{report:?}");
    assert_eq!((report.files.pruned, report.documents), (0, 5));
    // Also when the database is read again.
    zotero.execute("UPDATE itemDataValues SET value = 'Sleep: more' WHERE valueID = 6").await.unwrap();
    let report = prune(&bench, &data).await;
    assert_eq!((counts(&report), report.files.orphaned), ((0, 1, 4, 0), 0), "{report:?}");
    assert_eq!((report.files.pruned, report.documents), (0, 5));
    assert_eq!(get(&bench, "doi:10.1000/naps.7").await, naps);
    assert!(get(&bench, "doi:10.1000/noon.2").await.desc.contains("napped"));
    // What was deleted in Zotero goes.
    zotero.execute("INSERT INTO deletedItems (itemID) VALUES (1), (11), (2)").await.unwrap();
    let report = prune(&bench, &data).await;
    assert_eq!((report.files.pruned, report.documents), (2, 3), "{report:?}");
    zotero.close().await.unwrap();
}

#[tokio::test]
async fn marks_are_found_in_notes() {
    let (bench, embedder) = (Bench::new(), Hashing::default());
    let data = profile(&bench, 7).await;
    bench.import(&data, &embedder).await.unwrap();
    let notes = Narrow { within: Within::Notes, ..Narrow::default() };
    for query in ["compare with poe", "napped for twenty minutes", "who paid"] {
        let found = bench.corpora.search_narrowed("c", query, Method::Bm25, 5, None, &notes).await.unwrap();
        let ids: Vec<&str> = found.hits.iter().map(|hit| hit.document.doc_id.as_str()).collect();
        assert_eq!(ids, ["doi:10.1000/naps.7"], "{query}");
    }
}

#[tokio::test]
async fn a_damaged_database_is_refused_and_stops_nothing_else() {
    let (bench, embedder) = (Bench::new(), Hashing::default());
    let data = profile(&bench, 7).await;
    let sound = std::fs::read(data.join("zotero.sqlite")).unwrap();
    std::fs::write(data.parent().unwrap().join("note.md"), "# Naps\n\nNaps help adults to remember words.")
        .unwrap();
    let mut random = fastrand::Rng::with_seed(7);
    for nth in 0..40 {
        let mut damaged = sound.clone();
        for _ in 0..30 {
            let at = random.usize(..damaged.len());
            damaged[at] = random.u8(..);
        }
        if nth % 4 == 0 {
            damaged.truncate(random.usize(..damaged.len()));
        }
        std::fs::write(data.join("zotero.sqlite"), &damaged).unwrap();
        let report = bench.import(data.parent().unwrap(), &embedder).await.unwrap();
        assert!(report.added + report.updated + report.unchanged > 0, "{report:?}");
    }
    std::fs::write(data.join("zotero.sqlite"), "SQLite format 3\0 and nothing more").unwrap();
    let refused = bench.import(&data, &embedder).await.unwrap_err().to_string();
    assert!(refused.contains("not a database of Zotero"), "{refused}");
}
