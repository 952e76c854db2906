//! Written files read by rispy and bibtexparser, as far as `python3` has them.

use lyra_bibliography::{Output, Record, Writer};
use serde_json::json;
use std::path::Path;
use std::process::Command;

#[test]
fn other_programs_read_what_is_written() {
    let record = Record {
        title: "Effects of mRNA on 50% of cells".to_owned(),
        authors: vec!["Erwin Schrödinger".to_owned(), "Jane van der Berg".to_owned()],
        year: Some(1935),
        venue: Some("Food & Sleep".to_owned()),
        doi: lyra_domain::Doi::parse("10.1000/a_b"),
        ..Record::default()
    };
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("written");
    write("works.ris", &Writer::new(Output::Ris).record(&record));
    write("works.bib", &Writer::new(Output::BibTex).record(&record));
    let expected = json!({
        "title": record.title, "authors": ["Schrödinger, Erwin", "van der Berg, Jane"], "doi": "10.1000/a_b",
        "year": "1935",
    });
    write("expected.json", &expected.to_string());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/read_back.py");
    match Command::new("python3").arg(script).arg(folder.path()).output() {
        Err(error) => println!("skipped: python3 cannot be run: {error}"),
        Ok(output) => {
            println!("{}", String::from_utf8_lossy(&output.stdout));
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
    }
}
