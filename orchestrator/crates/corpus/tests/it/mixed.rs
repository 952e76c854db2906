//! A folder as researchers have it: two hundred files of many kinds, some of them damaged or hostile.

mod kinds;

use crate::papers::{PAGE, pdf};
use crate::support::{Bench, Hashing};
use lyra_corpus::ImportReport;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use zip::write::SimpleFileOptions;

const TOPICS: [&str; 5] = ["naps", "coffee", "light", "noise", "exercise"];

/// What a record says of a paper.
struct Work {
    doi: String,
    title: String,
    authors: [String; 2],
    year: i32,
}

fn work(nth: usize) -> Work {
    Work {
        doi: format!("10.1000/work.{nth}"),
        title: format!("Trial {nth} of {} and the sleep of adults", TOPICS[nth % TOPICS.len()]),
        authors: [format!("Ann A{nth}"), "Bo Ek".to_owned()],
        year: 1990 + i32::try_from(nth % 30).unwrap(),
    }
}

fn paper(work: &Work) -> Vec<u8> {
    let doi = format!("doi:{}", work.doi);
    pdf(&[&[
        (20, 50, 740, work.title.as_str()),
        (8, 50, 695, doi.as_str()),
        (10, 50, 660, "1. Results"),
        (10, 50, 640, "Adults who took part slept longer than those who did not, in each of the weeks."),
    ]])
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, content) in files {
        archive.start_file(*name, SimpleFileOptions::default()).unwrap();
        archive.write_all(content).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

fn tar(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for (name, content) in files {
        let mut header = tar::Header::new_gnu();
        // The library does not write names that lead out of the archive.
        header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        archive.append(&header, *content).unwrap();
    }
    archive.into_inner().unwrap()
}

fn note(name: &str) -> Vec<u8> {
    format!(
        "# What {name} says about sleep at work\n\nPeople who sleep at work are awake at home, says {name}.\n"
    )
    .into_bytes()
}

/// A file, and how many documents it adds.
type File = (String, Vec<u8>, u64);

fn sound() -> Vec<File> {
    let mut files: Vec<File> = Vec::new();
    let mut references = String::new();
    for nth in 0..60 {
        let work = work(nth);
        files.push((format!("papers/{nth}.pdf"), paper(&work), 1));
        let Work { doi, title, authors: [first, second], year } = work;
        writeln!(
            references,
            "@article{{w{nth}, title = {{{title}}}, author = {{{first} and {second}}}, year = {year}, \
             journal = {{Sleep}}, doi = {{{doi}}}, keywords = {{{}}}}}",
            TOPICS[nth % TOPICS.len()]
        )
        .unwrap();
    }
    files.push(("refs.bib".to_owned(), references.into_bytes(), 0));
    for nth in 0..30 {
        let page = PAGE.replace("Why we sleep at noon", &format!("Why we sleep at noon, part {nth}"));
        files.push((format!("pages/{nth}.html"), page.into_bytes(), 1));
        files.push((format!("notes/{nth}.md"), note(&format!("note {nth}")), 1));
    }
    for nth in 0..15 {
        let title = format!("Lecture {nth} on the physiology of sleep");
        let latex = format!(
            "\\documentclass{{article}}\\title{{{title}}}\\author{{Ann Lee}}\\begin{{document}}\\maketitle\n\
             \\section{{Results}}\nPeople slept for eight hours in lecture {nth}.\n\\end{{document}}\n"
        );
        files.push((format!("latex/{nth}.tex"), latex.into_bytes(), 1));
        let jats = format!(
            "<?xml version=\"1.0\"?><article article-type=\"research-article\"><front><article-meta>\
             <article-id pub-id-type=\"doi\">10.2000/jats.{nth}</article-id><title-group><article-title>Cohort {nth} \
             of shift workers</article-title></title-group></article-meta></front><body><sec><title>Results</title>\
             <p>They slept less.</p></sec></body></article>"
        );
        files.push((format!("jats/{nth}.xml"), jats.into_bytes(), 1));
    }
    for nth in 0..10 {
        let ris = format!(
            "TY  - JOUR\nTI  - Review {nth} of what is known about dreams\nAU  - Lee, Ann\nPY  - 2001\nER  - \n"
        );
        files.push((format!("{nth}.ris"), ris.into_bytes(), 1));
        let line = |of: usize| format!("{{\"id\": \"j{nth}-{of}\", \"title\": \"Line {nth}-{of}\"}}\n");
        files.push((format!("{nth}.jsonl"), (line(0) + &line(1)).into_bytes(), 2));
    }
    files.extend(kinds::files());
    let member = |name: &str| note(&format!("member {name}"));
    let (a, b, c) = (member("a"), member("b"), member("c"));
    files.push(("one.zip".to_owned(), zip(&[("a.md", &a), ("x/work.pdf", &paper(&work(70)))]), 2));
    files.push(("two.tar.gz".to_owned(), gzip(&tar(&[("b.md", &b), ("work.pdf", &paper(&work(71)))])), 2));
    let inner = tar(&[("c.md", &c)]);
    files.push(("three.tar".to_owned(), tar(&[("inner.zip", &zip(&[("c.tar.gz", &gzip(&inner))]))]), 1));
    // Names that lead out of the archive are only shown.
    files.push((
        "up.tar".to_owned(),
        tar(&[("../../../../tmp/up.md", &member("up")), ("/etc/abs.md", &member("abs"))]),
        2,
    ));
    files
}

/// Files of which nothing can be read.
fn hostile() -> Vec<(&'static str, Vec<u8>)> {
    let whole = paper(&work(80));
    let locked = String::from_utf8(whole.clone()).unwrap().replace(
        "trailer << ",
        "trailer << /ID [<00112233445566778899aabbccddeeff> <00112233445566778899aabbccddeeff>] /Encrypt << \
         /Filter /Standard /V 1 /R 2 /P -4 /O <0011223344556677889900112233445566778899001122334455667788990011> \
         /U <0011223344556677889900112233445566778899001122334455667788990011> >> ",
    );
    let mut sealed = zip(&[("sealed.md", &note("sealed"))]);
    // The bits that say that a member is encrypted, in its own head and in the directory.
    let directory = sealed.windows(4).position(|four| four == b"PK\x01\x02").unwrap();
    sealed[6] |= 1;
    sealed[directory + 8] |= 1;
    let zeros = vec![0; 96 << 20];
    let deep = (0..6).fold(zip(&[("deep.md", &note("deep"))]), |inner, _| zip(&[("inner.zip", &inner)]));
    let laughs: String = (1..9).fold("<!ENTITY l0 \"ha\">".to_owned(), |all, nth| {
        let ten = format!("&l{};", nth - 1).repeat(10);
        format!("{all}<!ENTITY l{nth} \"{ten}\">")
    });
    vec![
        ("cut.pdf", whole[..200].to_vec()),
        ("junk.pdf", [&b"%PDF-1.7\n"[..], &[0xFF; 4_000]].concat()),
        ("blank.pdf", pdf(&[&[]])),
        ("locked.pdf", locked.into_bytes()),
        ("bomb.tar.gz", gzip(&tar(&[("zeros.txt", &zeros)]))),
        ("bomb.zip", zip(&[("bomb.tar", &tar(&[("zeros.txt", &zeros)]))])),
        ("sealed.zip", sealed),
        ("cut.zip", zip(&[("cut.md", &note("cut"))])[..60].to_vec()),
        ("deep.zip", deep),
        ("cut.tar", tar(&[("cut.md", &note("cut").repeat(40))])[..1_000].to_vec()),
        ("cut.jsonl.gz", gzip(b"{\"id\": \"cut\", \"title\": \"Cut\"}\n")[..20].to_vec()),
        ("broken.docx", [&b"PK\x03\x04"[..], &[7; 300]].concat()),
        ("empty.epub", zip(&[("mimetype", b"application/epub+zip")])),
        (
            "laughs.xml",
            format!("<!DOCTYPE article [{laughs}]><article article-type=\"x\"><front>&l8;</front></article>")
                .into_bytes(),
        ),
        ("deep.xml", format!("<article article-type=\"x\"><front>{}", "<p>".repeat(100_000)).into_bytes()),
        ("empty.txt", Vec::new()),
        ("program", [&b"\x7FELF"[..], &[0; 900]].concat()),
        ("cover.png", b"\x89PNG\r\n\x1A\n".to_vec()),
        ("open.bib", b"@article{open, title = {Never closed, author = {Lee".to_vec()),
        ("zotero.sqlite", [&b"SQLite format 3\0"[..], &[0xFF; 5_000]].concat()),
    ]
}

fn write(at: &Path, content: &[u8]) {
    std::fs::create_dir_all(at.parent().unwrap()).unwrap();
    std::fs::write(at, content).unwrap();
}

/// Real papers, if they are there.
#[expect(clippy::print_stdout, reason = "says why a test has less to try")]
fn real() -> Vec<PathBuf> {
    let root = std::env::var_os("LYRA_SHARED").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../../shared")),
        PathBuf::from,
    );
    let papers = root.join("data/papers");
    let Ok(entries) = std::fs::read_dir(&papers) else {
        println!("skipped: {} is absent", papers.display());
        return Vec::new();
    };
    let files = entries.map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|extension| extension == "pdf")).collect()
}

#[tokio::test]
async fn two_hundred_files_of_which_twenty_are_hostile() {
    let (bench, embedder) = (Bench::new(), Hashing::default());
    let folder = bench.folder.path().join("everything");
    let (sound, hostile) = (sound(), hostile());
    assert!(sound.len() + hostile.len() >= 218 && hostile.len() == 20, "{}", sound.len());
    for (name, content, _) in &sound {
        write(&folder.join(name), content);
    }
    for (name, content) in &hostile {
        // A folder with Zotero's database is read as one: each stands in a folder of its own.
        write(&folder.join("hostile").join(name.replace('.', "-")).join(name), content);
    }
    let real = real();
    for file in &real {
        std::fs::create_dir_all(folder.join("real")).unwrap();
        std::fs::copy(file, folder.join("real").join(file.file_name().unwrap())).unwrap();
    }
    let report = bench.import(&folder, &embedder).await.unwrap();
    let from_real = |file: &Path| file.starts_with(folder.join("real"));
    let expected: u64 = sound.iter().map(|(_, _, documents)| documents).sum();
    let rejected: HashSet<&str> = report
        .rejected
        .iter()
        .filter(|odd| !from_real(&odd.file))
        .flat_map(|odd| odd.file.iter())
        .filter_map(|part| part.to_str())
        .collect();
    for (name, _) in &hostile {
        assert!(rejected.contains(name), "{name} was not rejected: {report:#?}");
    }
    for (name, ..) in &sound {
        let name = name.rsplit('/').next().unwrap();
        assert!(!rejected.contains(name), "{name} was rejected: {report:#?}");
    }
    assert!(report.rejected.iter().all(|odd| !odd.reason.is_empty()));
    let of_real = report.rejected.iter().filter(|odd| from_real(&odd.file)).count() as u64;
    assert_eq!(report.documents, expected + real.len() as u64 - of_real, "{report:#?}");
    if !real.is_empty() {
        println!("{} real papers, {of_real} of them rejected", real.len());
    }

    for nth in 0..60 {
        let work = work(nth);
        let found = bench.corpora.document("c", &format!("doi:{}", work.doi)).await.unwrap().unwrap();
        assert_eq!((&found.title, found.year), (&work.title, Some(work.year)));
        assert_eq!((&found.authors[..], found.venue.as_deref()), (&work.authors[..], Some("Sleep")));
        assert!(
            found.desc.contains("slept longer") && found.tags == [TOPICS[nth % TOPICS.len()]],
            "{found:?}"
        );
        assert_eq!(found.files, [format!("{nth}.pdf")]);
    }
    for (work, file) in kinds::works() {
        let found = bench.corpora.document("c", &format!("doi:{}", work.doi)).await.unwrap();
        let found = found.unwrap_or_else(|| panic!("{} is missing, of {file}", work.doi));
        assert_eq!((&found.title, found.year), (&work.title, Some(work.year)), "{file}");
        assert_eq!(
            (&found.authors[..], found.venue.as_deref()),
            (&work.authors[..], Some("Sleep")),
            "{file}"
        );
        assert!(found.desc.contains(kinds::SAID), "{file}: {found:?}");
        assert_eq!(found.files, [file]);
        assert_eq!(found.passages()[0].heading, Some("Results"), "{found:?}");
    }
    let again = bench.import(&folder, &embedder).await.unwrap();
    assert_eq!((again.added, again.updated, again.documents), (0, 0, report.documents), "{again:#?}");
    assert_eq!(again.rejected_count, report.rejected_count);
    // Each file on disk is one entry, whatever archives are in it, and what is in them is listed as before.
    let on_disk = (sound.len() + hostile.len() + real.len()) as u64;
    assert_eq!((report.files.new, report.files.changed, report.files.gone), (on_disk, 0, 0));
    let members = |of: &ImportReport| -> Vec<(PathBuf, String)> {
        let rejected = of.rejected.iter().filter_map(|odd| {
            let within = odd.file.iter().skip_while(|part| *part != "hostile").collect();
            Some((within, odd.reason.clone()))
                .filter(|(within, _): &(PathBuf, String)| within.iter().count() > 0)
        });
        let mut rejected: Vec<_> = rejected.collect();
        rejected.sort();
        rejected
    };
    assert!(members(&report).iter().any(|(path, _)| path.ends_with("bomb.zip/bomb.tar")), "{report:#?}");
    assert_eq!(members(&again), members(&report));
    assert!(!Path::new("/tmp/up.md").exists() && !Path::new("/etc/abs.md").exists());
}
