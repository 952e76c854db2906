//! Patent documents in every format: small samples written for these tests, and real ones where they are.

use crate::support::{Bench, Hashing};
use lyra_corpus::backend::{IdType, Publication, SearchBackend};
use lyra_corpus::{EmbeddedBackend, Format, ImportOptions, ImportReport};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

async fn import(bench: &Bench, files: &[PathBuf], format: Option<Format>) -> ImportReport {
    let options = ImportOptions { format, scopes: Some(Vec::new()), ..ImportOptions::default() };
    let stop = CancellationToken::new();
    bench.corpora.import_with("c", files, &options, &Hashing::default(), &|_| {}, &stop).await.unwrap()
}

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples").join(name)
}

async fn get(bench: &Bench, id: &str) -> Publication {
    let backend = EmbeddedBackend::new(bench.corpora.clone(), Arc::new(Hashing::default()));
    let found = backend.fetch("c", &[id.to_owned()], IdType::DocId, &CancellationToken::new()).await.unwrap();
    found.into_iter().next().flatten().unwrap_or_else(|| panic!("{id} is not there"))
}

fn date(text: &str) -> Option<jiff::civil::Date> {
    text.parse().ok()
}

fn reasons(report: &ImportReport) -> Vec<(u64, &str)> {
    report.rejected.iter().map(|rejected| (rejected.line, rejected.reason.as_str())).collect()
}

#[tokio::test]
async fn uspto_grants_and_applications_in_one_file() {
    let bench = Bench::new();
    let report = import(&bench, &[sample("us-grant.xml")], None).await;
    assert_eq!((report.added, report.rejected_count), (2, 2), "{report:?}");
    let rejected = reasons(&report);
    assert!(
        rejected[0].0 == 39 && rejected[0].1.starts_with("`sequence-cwu` is not a patent document"),
        "{rejected:?}"
    );
    assert_eq!(rejected[1], (41, "the file ends inside `us-bibliographic-data-grant`"));
    assert_eq!(report.odd_codes[0].reason, "no such code: ipc not a code");

    let grant = get(&bench, "US-10000001-B2").await;
    assert_eq!(grant.title, "Brewing device with a paper cone");
    assert_eq!(grant.abst, "A device brews coffee at 90° C. with a cone & a lid.");
    assert_eq!(
        grant.claim,
        "1. A device comprising: a cone; and a lid.\n2. The device of claim 1 , made of paper."
            .replace(" ,", ",")
    );
    assert_eq!(grant.desc, "BACKGROUND\nKnown devices leak.\nThe table:\ncone\nlid");
    assert_eq!(grant.codes.ipc, ["A47J31/00"]);
    assert_eq!(grant.codes.cpc, ["A47J31/002", "Y02W90/10"]);
    assert_eq!((grant.app_date, grant.pub_date), (date("2017-02-03"), date("2020-01-07")));
    assert_eq!(grant.exam_id.as_deref(), Some("US-10000001-B2"));
    assert_eq!(grant.pub_id.as_deref(), Some("US-20180000001-A1"));
    assert_eq!(grant.app_id.as_deref(), Some("US-15000001"));
    assert_eq!(grant.applicants, ["Example Brewers, Inc."]);
    assert_eq!(
        (grant.country.as_deref(), grant.lang.as_deref(), grant.year),
        (Some("US"), Some("en"), Some(2020))
    );

    let application = get(&bench, "US-20050000001-A1").await;
    assert_eq!(application.codes.ipc, ["A61B5/00"]);
    assert_eq!(application.applicants, ["Max Muster"]);
    assert_eq!((application.pub_id.as_deref(), application.exam_id), (Some("US-20050000001-A1"), None));

    let again = import(&bench, &[sample("us-grant.xml")], Some(Format::Xml)).await;
    assert_eq!((again.added, again.unchanged), (0, 2));
}

#[tokio::test]
async fn uspto_before_2005() {
    let bench = Bench::new();
    let files = [sample("us-2001.xml"), sample("greenbook.txt"), sample("brs.txt")];
    let report = import(&bench, &files, None).await;
    assert_eq!(report.added, 5, "{report:?}");
    let rejected = reasons(&report);
    assert_eq!(rejected, [(43, "no patent number (WKU)")]);

    let application = get(&bench, "US-20010000001-A1").await;
    assert_eq!((application.title.as_str(), application.abst.as_str()), ("Vending kiosk", "A kiosk vends."));
    assert_eq!((application.claim.as_str(), application.desc.as_str()), ("1. A kiosk.", "Field\n1. Kiosks."));
    assert_eq!(
        (application.codes.ipc[0].as_str(), application.applicants[0].as_str()),
        ("G06F17/60", "Kiosk Works")
    );

    let grant = get(&bench, "US-06300001-B1").await;
    assert_eq!(grant.title, "Relay ‘node’ &thgr;");
    assert_eq!(grant.codes.ipc, ["G06F15/16", "G06F7/28"]);
    assert_eq!(grant.claim, "1. A relay comprising: a node.\n2. The relay of claim 1.");
    assert_eq!(grant.desc, "FIELD\nRelays, 10th of them.");
    assert_eq!((grant.applicants[0].as_str(), grant.app_date), ("Relay ASA", date("1999-10-05")));

    let green = get(&bench, "US-04300001-A").await;
    assert_eq!(green.title, "Weighing scale for restless animals");
    assert_eq!(green.codes.ipc, ["G01G19/04", "G06F7/28"]);
    assert_eq!(green.claim, "1. A scale comprising: a pan.\n2. The scale of claim 1.");
    assert_eq!(green.desc, "BACKGROUND\nAnimals move about.");
    assert_eq!(
        (green.app_id.as_deref(), green.applicants[0].as_str()),
        (Some("US-06190001"), "Example Scales")
    );
    let design = get(&bench, "US-D0250001-S").await;
    assert_eq!(
        (design.claim.as_str(), design.codes.locarno.as_slice()),
        ("The ornamental design for a chair.", &["06-01".to_owned()][..])
    );

    let brs = get(&bench, "US-9200001-B2").await;
    assert_eq!(
        (brs.title.as_str(), brs.claim.as_str()),
        ("Shield for chips", "1. A shield.\n2. The shield of claim 1.")
    );
    assert_eq!((brs.codes.ipc[0].as_str(), brs.codes.cpc[0].as_str()), ("H05K9/00", "H05K9/0066"));
    assert_eq!(
        (brs.pub_id.as_deref(), brs.applicants[0].as_str()),
        (Some("US-20130100001-A1"), "EXAMPLE CHIPS INC.")
    );
}

#[tokio::test]
async fn epo_and_jpo() {
    let bench = Bench::new();
    let report = import(&bench, &[sample("ep.xml"), sample("jp.xml")], None).await;
    assert_eq!((report.added, report.rejected_count, report.odd_codes_count), (2, 0, 0), "{report:?}");
    let european = get(&bench, "EP-3000001-B1").await;
    assert_eq!((european.title.as_str(), european.lang.as_deref()), ("BREMSE", Some("de")));
    assert_eq!(european.claim, "Bremse mit Backe.\nBremse nach Anspruch 1.");
    assert_eq!(european.applicants, ["Brems & Sohn GmbH"]);
    assert_eq!((european.codes.ipc[0].as_str(), european.codes.cpc[0].as_str()), ("B60L7/26", "B60L7/26"));
    assert_eq!((european.app_id.as_deref(), european.app_date), (Some("EP-20000001.5"), date("2018-02-20")));

    let japanese = get(&bench, "JP-2020000001-A").await;
    assert_eq!((japanese.title.as_str(), japanese.lang.as_deref()), ("昼寝用ランプ", Some("ja")));
    assert_eq!(japanese.codes.fi, ["A61M21/02@H", "F21V33/00,400"]);
    assert_eq!(japanese.codes.ft, ["3K014AA01"]);
    assert_eq!(japanese.codes.ipc, ["A61M21/02", "F21V33/00"]);
    assert_eq!(japanese.applicants, ["株式会社見本"]);
    assert_eq!(japanese.claim, "徐々に暗くなる光源を備える ランプ。\n請求項１記載のランプ。");
    assert!(japanese.desc.contains("【背景技術】\n従来のランプは眩しい。\n"), "{}", japanese.desc);
    assert!(japanese.desc.contains("【発明の効果】\nよく眠れる。"));
}

#[tokio::test]
async fn tables() {
    let bench = Bench::new();
    let report = import(&bench, &[sample("table.csv")], None).await;
    assert_eq!(report.added, 2);
    assert_eq!(reasons(&report), [(4, "missing id"), (5, "2 cells under 8 headings")]);
    let lamp = get(&bench, "A1").await;
    assert_eq!((lamp.title.as_str(), lamp.abst.as_str()), ("Lamp, small", "It \"dims\"."));
    assert_eq!(lamp.codes.ipc, ["A61B5/00", "H01L33/20"]);
    assert_eq!(lamp.codes.fi, ["H01L33/00,100"]);
    assert_eq!(lamp.applicants, ["One", "Two"]);
    assert_eq!(lamp.claim, "1. A lamp.\n2. A lamp of claim 1.");
}

#[tokio::test]
async fn damaged_files_give_reasons() {
    let bench = Bench::new();
    let write = |name: &str, bytes: &[u8]| {
        let path = bench.folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let whole = std::fs::read(sample("ep.xml")).unwrap();
    let files = [
        write("cut.xml", &whole[..whole.len() / 2]),
        write("crossed.xml", b"<us-patent-grant><a></b></us-patent-grant>"),
        write("latin.xml", b"<?xml version=\"1.0\"?><us-patent-grant>\xE9</us-patent-grant>"),
        write("empty.xml", b"<us-patent-grant/>"),
        write("part.xml", b"<pat:ClaimsDocument xmlns:pat=\"x\"/>"),
        write("deep.xml", "<a>".repeat(100_000).as_bytes()),
        write("blank.xml", b"<?xml version=\"1.0\"?>\n\n"),
    ];
    let report = import(&bench, &files, None).await;
    assert_eq!(report.added, 0);
    let reasons: Vec<&str> = report.rejected.iter().map(|rejected| rejected.reason.as_str()).collect();
    assert!(
        reasons[0].starts_with("the file ends inside") || reasons[0].starts_with("broken XML"),
        "{reasons:?}"
    );
    assert!(reasons[1].starts_with("broken XML at byte"), "{reasons:?}");
    let rest = [
        "not UTF-8",
        "missing id",
        "`ClaimsDocument` is a part of an application's file and no document",
        "elements nest deeper than 200 at byte 600",
        "no element",
    ];
    assert_eq!(reasons[2..], rest);

    // Declared encodings are read; packed files too; what is no archive is refused before anything is changed.
    let (text, ..) = encoding_rs::EUC_JP.encode("<?xml version=\"1.0\" encoding=\"EUC-JP\"?><jp-official-gazette><bibliographic-data><publication-reference><document-id><doc-number>1</doc-number></document-id></publication-reference><invention-title>電池</invention-title></bibliographic-data></jp-official-gazette>");
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packed, &text).unwrap();
    let report = import(&bench, &[write("euc.xml.gz", &packed.finish().unwrap())], None).await;
    assert_eq!(report.added, 1, "{report:?}");
    assert_eq!(get(&bench, "JP-1-A").await.title, "電池");
    let archive = write("a.zip", b"PK\x03\x04rest");
    let stop = CancellationToken::new();
    let refused =
        bench.corpora.import("d", &[archive], &Hashing::default(), &|_| {}, &stop).await.unwrap_err();
    assert!(refused.to_string().contains("a.zip: as a ZIP archive: "), "{refused}");
}

fn shared(folder: &str) -> Result<PathBuf, String> {
    let root = std::env::var_os("LYRA_SHARED").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../../shared")),
        PathBuf::from,
    );
    let folder = root.join("data/patents").join(folder);
    if folder.exists() { Ok(folder) } else { Err(format!("skipped: {} is absent", folder.display())) }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .collect();
    found.sort();
    found
}

#[tokio::test]
async fn real_uspto_documents_of_every_version() {
    let Ok(samples) = shared("patents_uspto_samples").inspect_err(|why| println!("{why}")) else { return };
    let folders = ["greenbook", "sgml", "pap", "xmlApp2004", "xml2004", "xml2006", "xml2014", "css_brs"];
    let all: Vec<PathBuf> = folders.iter().flat_map(|folder| files(&samples.join(folder))).collect();
    let bench = Bench::new();
    let report = import(&bench, &all, None).await;
    println!(
        "{} documents, {} rejected, {} odd codes",
        report.added, report.rejected_count, report.odd_codes_count
    );
    assert_eq!((report.added, report.rejected_count), (17 + 6, 0), "{report:#?}");
    assert!(report.odd_codes.is_empty(), "{:#?}", report.odd_codes);

    for (id, title, ipc, claims) in [
        ("US-03932709-A", "Electronic business telephone", None, 0),
        ("US-04347903-A", "Electronic reading balance", Some("G01G19/04"), 3),
        (
            "US-06336130-B1",
            "Arrangement for improving availability of services in a communication system",
            Some("G06F15/16"),
            22,
        ),
        (
            "US-20010000044-A1",
            "Systems and Methods For Transacting Business Over A Global Communications Network Such As The Internet",
            Some("G06F17/60"),
            21,
        ),
        (
            "US-20050004437-A1",
            "Simulation device for playful evaluation and display of blood sugar levels",
            Some("A61B5/00"),
            10,
        ),
        ("US-06859910-B2", "Methods and systems for transactional tunneling", Some("G06F15/00"), 0),
        (
            "US-07272630-B2",
            "Locating potentially identical objects across multiple computers based on stochastic partitioning of workload",
            Some("G06F15/13"),
            17,
        ),
        (
            "US-08930553-B2",
            "Managing mid-dialog session initiation protocol (SIP) messages",
            Some("G06F15/16"),
            8,
        ),
        (
            "US-9204581-B2",
            "Method for performing chip level electromagnetic interference reduction, and associated apparatus",
            Some("H05K9/00"),
            20,
        ),
    ] {
        let found = get(&bench, id).await;
        assert_eq!(found.title, title, "{id}");
        if let Some(ipc) = ipc {
            assert_eq!(found.codes.ipc.first().map(String::as_str), Some(ipc), "{id}");
        }
        if claims > 0 {
            assert_eq!(found.claim.lines().count(), claims, "{id}");
        }
        assert!(found.pub_date.is_some() && found.desc.len() > 1_000, "{id}");
    }
    assert_eq!(get(&bench, "US-08926509-B2").await.codes.cpc.len(), 19);

    // Classification schemes and archives are not documents, and the error says so.
    let others = [samples.join("cpcMaster/cpcMaster.xml"), samples.join("cpcScheme/cpc-scheme-A01L.xml")];
    let report = import(&bench, &others, None).await;
    assert_eq!((report.added, report.rejected_count), (0, 2));
    assert!(report.rejected.iter().all(|rejected| rejected.reason.contains("is not a patent document")));
}

#[tokio::test]
async fn real_epo_documents_of_every_version() {
    let Ok(folder) = shared("patents_epo_eps/pkg/eps/test-data").inspect_err(|why| println!("{why}")) else {
        return;
    };
    let mut all = files(&folder.join("application"));
    all.extend(files(&folder.join("grant")));
    let bench = Bench::new();
    let report = import(&bench, &all, None).await;
    println!("{} documents, {} rejected", report.added, report.rejected_count);
    // One of them has a name in angle brackets in its text, and is no XML.
    assert_eq!((report.added, report.odd_codes_count), (32, 0), "{report:#?}");
    assert!(report.rejected[0].file.ends_with("application/v1-5-1-A1-2.xml"), "{report:#?}");
    assert!(report.rejected[0].reason.contains("expected `</Fourth>`"), "{report:#?}");
    let pin = get(&bench, "EP-2055205-A1").await;
    assert_eq!(
        (pin.title.as_str(), pin.applicants[0].as_str()),
        ("Bobby pin", "Tsorng TA Enterprise Co., Ltd.")
    );
    assert_eq!(pin.codes.ipc, ["A45D8/20", "A45D8/34"]);
    assert_eq!(get(&bench, "EP-1019261-B1").await.codes.ipc[0], "B60L7/26");
    // What the search report and the description cite is one list.
    let heater = get(&bench, "EP-3404678-B1").await;
    assert_eq!(heater.references, ["EP-3109871-A1", "FR-84247-E", "GB-693448-A", "US-2008197955-A1"],);
    let references = get(&bench, "EP-1451194-B2").await.references;
    for cited in [
        "US-5521310-A",
        "KANG, SOON BANG ET AL: \"An improved synthesis of levofloxacin\" HETEROCYCLES , 45(1), 137-145",
        "Effect of dehydration on the formation of Levofloxacine Pseudopolymorphs, Chem. Pharm. Bull., 1995, 43, 4, 649, 653",
    ] {
        assert!(references.iter().any(|known| known.starts_with(cited)), "{cited}: {references:#?}");
    }
    let german = get(&bench, "EP-2716170-B2").await;
    assert_eq!(german.lang.as_deref(), Some("de"));
    assert!(german.codes.cpc.iter().all(|code| code.contains('/')) && !german.codes.cpc.is_empty());
}

#[tokio::test]
async fn the_real_japanese_gazette() {
    let Ok(folder) = shared("patents_jp_gazette").inspect_err(|why| println!("{why}")) else { return };
    let bench = Bench::new();
    let report = import(&bench, &[folder.join("BigQuery/xml/text.txt")], None).await;
    assert_eq!((report.added, report.rejected_count, report.odd_codes_count), (1, 0, 0), "{report:#?}");
    let found = get(&bench, "JP-2010000001-A").await;
    assert_eq!(
        (found.title.as_str(), found.applicants[0].as_str()),
        ("バリカン式刈刃装置", "株式会社源平刃物工場")
    );
    assert_eq!(
        (found.codes.fi.as_slice(), found.codes.ft.len()),
        (&["A01D34/13".to_owned(), "A01D34/10".to_owned()][..], 10)
    );
    assert_eq!((found.claim.lines().count(), found.pub_date), (7, date("2010-01-07")));
    assert!(found.desc.contains("【発明が解決しようとする課題】\nところで、"), "{}", &found.desc[..900]);

    // A table without documents: every row says why.
    let report = import(&bench, &[folder.join("similar_patents_JP-S4926374-B1.csv")], None).await;
    assert!(report.added == 0 && report.rejected_count > 100);
    assert!(report.rejected.iter().all(|rejected| rejected.reason == "missing id"));
}

#[tokio::test]
async fn real_normalised_patents() {
    let Ok(file) = shared("patents.jsonl.gz").inspect_err(|why| println!("{why}")) else { return };
    let bench = Bench::new();
    let report = import(&bench, &[file], None).await;
    println!(
        "{} documents, {} rejected, {} odd codes",
        report.added, report.rejected_count, report.odd_codes_count
    );
    assert!(report.added >= 300, "{report:#?}");
    for rejected in report.rejected.iter().chain(&report.odd_codes).take(20) {
        println!("{}: {}", rejected.line, rejected.reason);
    }
}
