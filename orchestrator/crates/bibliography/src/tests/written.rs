//! What is written is read back.

use super::records;
use crate::draft::{Draft, Slot};
use crate::text::{line, plain};
use crate::{Attachment, Format, Kind, Output, Record, Writer};
use proptest::prelude::*;
use std::collections::HashSet;

fn file(records: &[Record], output: Output) -> String {
    let mut writer = Writer::new(output);
    let mut text: String = records.iter().map(|record| writer.record(record)).collect();
    text.push_str(writer.end());
    text
}

fn format(output: Output) -> Format {
    match output {
        Output::BibTex => Format::BibTex,
        Output::Ris => Format::Ris,
        Output::CslJson => Format::CslJson,
    }
}

/// What a format can hold of a record, as the table of `write.rs` says.
fn held(record: &Record, output: Output) -> Record {
    let mut held = record.clone();
    match output {
        Output::BibTex if record.notes.len() > 1 => held.notes = vec![record.notes.join("\n")],
        Output::Ris => {
            held.collections.clear();
            // Markup in a tag is read as such, and a tag that is nothing else is gone.
            let tags = record.tags.iter().map(|tag| line(&plain(&tag.replace(';', ","))));
            let mut known = HashSet::new();
            held.tags = tags.filter(|tag| !tag.is_empty() && known.insert(tag.clone())).collect();
            for file in &mut held.files {
                *file = Attachment { path: file.path.clone(), ..Attachment::default() };
            }
            if record.kind == Kind::Proceedings {
                held.kind = Kind::ConferencePaper;
            }
            if record.kind == Kind::Article {
                held.edition = None;
            }
        }
        Output::CslJson if record.kind == Kind::Proceedings => held.kind = Kind::Book,
        Output::BibTex | Output::CslJson => {}
    }
    held
}

/// The fields that differ, as they were expected and as they were found.
fn differences(expect: &Record, found: &Record) -> String {
    let [expect, found] = [expect, found].map(|record| serde_json::to_value(record).unwrap());
    let fields = expect.as_object().unwrap().iter().filter(|(name, value)| found[name.as_str()] != **value);
    let lines = fields.map(|(name, value)| format!("{name}: {value} became {}", found[name.as_str()]));
    lines.collect::<Vec<_>>().join("\n")
}

fn read_back(written: &[Record], output: Output) -> Result<(), TestCaseError> {
    let text = file(written, output);
    let found = records(&text, format(output));
    prop_assert_eq!(found.len(), written.len(), "{}", text);
    let keys: HashSet<String> = found.iter().map(|record| record.key.to_lowercase()).collect();
    prop_assert_eq!(keys.len(), written.len(), "keys repeat");
    for (record, found) in written.iter().zip(found) {
        let expect = Record { line: found.line, key: found.key.clone(), ..held(record, output) };
        if found != expect {
            let mut alone = Writer::new(output);
            return Err(TestCaseError::fail(format!(
                "{output}: {}\n{}",
                differences(&expect, &found),
                alone.record(record)
            )));
        }
    }
    if !written.is_empty() {
        prop_assert_eq!(Format::detect("export", text.as_bytes()), Some(format(output)));
    }
    Ok(())
}

/// Words of titles, notes, and tags, among them all that means something to one of the formats.
fn word() -> impl Strategy<Value = String> {
    let special = [
        "DNA",
        "mRNA",
        "McDonald",
        "IL-6",
        "--",
        "---",
        "''",
        "``",
        "'",
        "`",
        "\"",
        "{",
        "}",
        "{}",
        "\\",
        "\\emph{x}",
        "$",
        "$x^2$",
        "%",
        "#",
        "&",
        "AT&T",
        "&amp;lt;",
        "&lt;i&gt;",
        "&lt;/i&gt;",
        "<b",
        "a<b>c",
        "~",
        "^",
        "_",
        "a_b",
        "@",
        "@article{x,",
        "@misc(y,",
        "TY",
        "-",
        "ER  -",
        "–",
        "—",
        "“so”",
        "睡眠",
        "é",
        "ß",
        "ﬁ",
        "p=0.05",
        "(n=3)",
        "[1]",
        "H₂O",
        ":",
        "!",
        "?",
        "and",
        "others",
        "/",
        "|",
        "*",
        "50\\%",
        "\\\"{o}",
    ];
    prop_oneof![
        3 => "[a-z]{1,9}",
        2 => "[A-Z][a-z]{1,9}",
        3 => prop::sample::select(special.to_vec()).prop_map(str::to_owned),
        1 => "[!-~]{1,6}".prop_filter("names a field", |word| !word.contains(':')),
    ]
}

fn text(words: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    prop::collection::vec(word(), words).prop_map(|words| words.join(" "))
}

fn person() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[A-Z][a-zé]{1,8} ([A-Z]\\. )?(van der |de )?[A-Z][a-zöß]{1,8}(-[A-Z][a-z]{1,4})?",
        1 => prop::sample::select(vec![
            "World Health Organization", "Barnes & Noble Group", "山田 太郎", "김 철수", "Plato", "van Gogh",
            "Martin Luther King Jr", "Robert Califf III", "King Jr.", "Society of A and B",
            "D'Arcy O'Neil", "J. {Braces} Lee", "A_B C", "Ann =Lee",
        ])
        .prop_map(str::to_owned),
    ]
}

fn some(strategy: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    prop_oneof![1 => Just(String::new()), 2 => strategy]
}

/// A record as the readers make them.
fn record() -> impl Strategy<Value = Record> {
    let names = (prop::collection::vec(person(), 0..4), prop::collection::vec(person(), 0..2));
    let place = (
        some(text(1..5)),
        some("[1-9][0-9]{0,2}".prop_map(|volume| volume)),
        some("(S)?[1-9]".prop_map(|issue| issue)),
        some(
            prop::sample::select(vec!["12-19", "7", "e1234", "12-12", "1-4, 7-9", "S1-S9"])
                .prop_map(str::to_owned),
        ),
        some(text(1..4)),
        some(text(1..3)),
        some(text(1..3)),
    );
    let dates = prop_oneof![
        Just(String::new()),
        "(19|20)[0-9]{2}",
        "(19|20)[0-9]{2}-(0[1-9]|1[0-2])",
        "(19|20)[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9])"
    ];
    let ids = (
        some("10\\.[1-9][0-9]{3}/[a-z0-9][a-z0-9().:;<>_/-]{0,12}[a-z0-9]"),
        some("[1-9][0-9]{6}"),
        some("PMC[1-9][0-9]{5}"),
        some("2[0-4]0[1-9]\\.[0-9]{5}"),
        prop::collection::vec("97[89][0-9]{10}|[0-9]{4}-[0-9]{3}[0-9X]", 0..3),
        some("https://example\\.org/[a-z_~%&=?#-]{1,12}[a-z]"),
        some("20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9])"),
    );
    let own = (
        prop::collection::vec(text(1..3), 0..4),
        prop::collection::vec("[A-Z][a-z]{1,6}( & [a-z]{2})?(, [a-z]{3})?(/[A-Z][a-z_]{1,6})?", 0..3),
        prop::collection::vec(prop::collection::vec(text(1..9), 1..3), 0..3),
        prop::collection::vec(
            (
                "[A-Z][a-z]{1,6} [0-9]{4}( \\(1\\))?\\.pdf|C:\\\\[A-Z][a-z]{2}\\\\[a-z_]{1,4}\\.pdf",
                any::<bool>(),
            ),
            0..3,
        ),
        prop::collection::vec(text(1..12), 0..4),
    );
    let kind = prop::sample::select(Kind::ALL.to_vec());
    let rest = (
        prop::sample::select(vec!["", "en", "de", "ja"]),
        prop::bool::weighted(0.1),
        some("[a-z]{2}:[a-z]{2}"),
    );
    (kind, text(1..9), names, place, dates, ids, own, rest).prop_filter_map(
        "not a record",
        |(kind, title, names, place, date, ids, own, (language, is_retracted, key))| {
            let mut draft = Draft::new(1);
            draft.kind(kind);
            draft.key(&key);
            draft.title(&title);
            names.0.iter().for_each(|name| draft.author(name));
            names.1.iter().for_each(|name| draft.editor(name));
            for (slot, value) in [
                (Slot::Venue, &place.0),
                (Slot::Volume, &place.1),
                (Slot::Issue, &place.2),
                (Slot::Pages, &place.3),
                (Slot::Publisher, &place.4),
                (Slot::Place, &place.5),
                (Slot::Edition, &place.6),
            ] {
                draft.put(slot, value);
            }
            draft.date(crate::date::Date::parse(&date));
            draft.doi(&ids.0);
            draft.pmid(&ids.1);
            draft.pmcid(&ids.2);
            draft.arxiv(&ids.3);
            ids.4.iter().for_each(|serial| draft.serials(serial));
            draft.url(&ids.5);
            draft.accessed(crate::date::Date::parse(&ids.6));
            own.0.iter().for_each(|tag| draft.tag(tag));
            own.1.iter().for_each(|name| draft.collection(name));
            own.2.iter().for_each(|note| draft.note(&note.join("\n")));
            for (path, is_named) in own.3 {
                let [title, media_type] =
                    ["Full Text", "application/pdf"].map(|text| is_named.then(|| text.to_owned()));
                draft.file(Attachment { path, title, media_type });
            }
            draft.summary(&own.4.join("\n"));
            draft.language(language);
            if is_retracted {
                draft.retracted();
            }
            draft.finish().ok()
        },
    )
}

proptest! {
    // 3,000 records in files of 50.
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn every_format_holds_what_it_can(written in prop::collection::vec(record(), 50)) {
        for output in Output::ALL {
            read_back(&written, *output)?;
        }
    }
}

#[test]
fn separators_in_tags_and_paths() {
    let record = Record {
        title: "Naps".to_owned(),
        tags: vec!["Brain; human".to_owned(), "sleep, REM".to_owned(), "plain".to_owned()],
        files: vec![Attachment { path: "a;b: {c}.pdf".to_owned(), ..Attachment::default() }],
        collections: vec!["Sleep, naps/2019; read".to_owned()],
        ..Record::default()
    };
    let one = Record { tags: vec!["sleep, REM".to_owned()], ..record.clone() };
    for written in [record, one] {
        for output in [Output::BibTex, Output::CslJson] {
            read_back(std::slice::from_ref(&written), output).unwrap();
        }
    }
    let list = super::one("@misc{a, title = {T}, keywords = {{naps, sleep}}}", Format::BibTex);
    assert_eq!(list.tags, ["naps", "sleep"]);
    let accents = super::one("@misc{a, title = {T}, keywords = {{\\\"U}ber; naps}}", Format::BibTex);
    assert_eq!(accents.tags, ["Über", "naps"]);
}

#[test]
fn suffixes_of_names() {
    let record = Record {
        title: "Naps".to_owned(),
        authors: vec!["John Smith Jr.".to_owned(), "Robert Califf III".to_owned(), "King Jr.".to_owned()],
        ..Record::default()
    };
    for (output, name) in [
        (Output::BibTex, "{Smith, Jr., John and Califf, III, Robert and {King Jr.}}"),
        (Output::Ris, "AU  - Smith, John, Jr.\r\nAU  - Califf, Robert, III\r\nAU  - King Jr.\r\n"),
        (Output::CslJson, "\"suffix\": \"Jr.\""),
    ] {
        let text = file(std::slice::from_ref(&record), output);
        assert!(text.contains(name), "{text}");
        read_back(std::slice::from_ref(&record), output).unwrap();
    }
}

#[test]
fn hostile_values_stay_in_their_field() {
    let record = Record {
        title: "A title\r\nTY  - JOUR".to_owned(),
        authors: vec!["Jane Doe".to_owned()],
        url: Some("https://example.org/\r\nER  - ".to_owned()),
        pmid: Some("1\r\nER  - ".to_owned()),
        isbn: vec!["1\r\nER  - ".to_owned()],
        accessed: Some("2026-11-20".to_owned()),
        kind: Kind::WebPage,
        ..Record::default()
    };
    assert_eq!(
        file(&[record], Output::Ris),
        "TY  - ELEC\r\nID  - doetitle\r\nTI  - A title TY - JOUR\r\nAU  - Doe, Jane\r\nSN  - 1 ER -\r\nAN  - 1 ER -\r\n\
         DB  - PubMed\r\nUR  - https://example.org/ ER -\r\nY2  - 2026/11/20/\r\nER  - \r\n"
    );
    let record = Record {
        url: Some("https://example.org/a b?x=%20&y={1}".to_owned()),
        isbn: vec!["1}, x = {".to_owned()],
        ..super::one("@misc{a, title = {Effects}}", Format::BibTex)
    };
    let text = file(&[record], Output::BibTex);
    assert!(text.contains("  url = {https://example.org/a%20b?x=%20&y=%7B1%7D},\n"), "{text}");
    assert!(text.contains("  isbn = {1\\textbraceright{}, x = \\textbraceleft{}},\n"), "{text}");
}

#[test]
fn the_biblatex_crate_reads_back_what_was_written() {
    use biblatex::{Bibliography, ChunksExt, PermissiveType};
    let doi = "10.1002/(sici)1097-0258(19980815)17:15/16<1661::aid-sim968>3.0.co;2-2";
    let work = |title: &str, year, authors: &[&str]| Record {
        title: title.to_owned(),
        authors: authors.iter().map(|name| (*name).to_owned()).collect(),
        year: Some(year),
        venue: Some("Acta".to_owned()),
        kind: Kind::Article,
        doi: lyra_domain::Doi::parse(doi),
        ..Record::default()
    };
    let names = ["Jane Doe", "Ludwig van Beethoven", "John Smith Jr.", "Society of A and B"];
    let works = [
        work("50% of mRNA & braces #1_a $5 ~ ^ \\ end — 睡眠 \"quoted\"", 1935, &["Erwin Schrödinger"]),
        work("Numbers in a title of a Study", 2001, &names),
    ];
    let parsed = Bibliography::parse(&file(&works, Output::BibTex)).unwrap();
    assert_eq!(parsed.len(), 2);
    for (entry, work) in parsed.iter().zip(&works) {
        assert_eq!(entry.title().unwrap().format_verbatim(), work.title);
        assert!(matches!(entry.date().unwrap(), PermissiveType::Typed(_)));
        assert_eq!(entry.journal().unwrap().format_verbatim(), "Acta");
        assert_eq!(entry.doi().unwrap(), doi);
    }
    let second = parsed.iter().nth(1).unwrap();
    let read: Vec<_> =
        second.author().unwrap().into_iter().map(|p| [p.given_name, p.prefix, p.name, p.suffix]).collect();
    assert_eq!(
        read,
        [
            ["Jane", "", "Doe", ""],
            ["Ludwig", "van", "Beethoven", ""],
            ["John", "", "Smith", "Jr."],
            ["", "", "Society of A and B", ""]
        ]
    );
}

#[test]
fn files_without_records() {
    for output in Output::ALL {
        let text = file(&[], *output);
        assert_eq!(text, if *output == Output::CslJson { "[]\n" } else { "" });
    }
}
