//! Any bytes are read without a panic, and in bounded work.

use crate::{Format, read};
use proptest::prelude::*;

/// Text of which the formats are made, so that random input gets past their first checks.
fn pieces() -> impl Strategy<Value = String> {
    let pieces = [
        "@article{",
        "@string{",
        "@comment{",
        "k,",
        "title",
        " = ",
        "{",
        "}",
        "\"",
        "#",
        "\\'",
        "\\",
        "$",
        "%",
        ",",
        "\n",
        "crossref",
        "xdata",
        "author = {A and B, C}",
        "TY  - JOUR\n",
        "TI  - ",
        "ER  - \n",
        "AU  - A, B",
        "SP  - 1-2",
        "%0 Book\n",
        "%T ",
        "FN x\nVR 1.0\n",
        "PT J\n",
        "ER\n",
        "PMID- 1\n",
        "FAU - ",
        "      ",
        "DP  - 2020 ",
        "[",
        "{\"id\":",
        "\"items\":[",
        "\"issued\":{\"date-parts\":[[",
        "]",
        ":",
        "1",
        "<xml><records>",
        "<record>",
        "</record>",
        "<titles><title>",
        "<PubmedArticle>",
        "</PubmedArticle>",
        "<MedlineCitation>",
        "<mods>",
        "</mods>",
        "<titleInfo>",
        "<rdf:RDF>",
        "<bib:Article rdf:about=\"a\">",
        "</bib:Article>",
        "<z:itemType>book</z:itemType>",
        "<!--",
        "-->",
        "<![CDATA[",
        "]]>",
        "&amp;",
        "&",
        "é",
        "睡眠",
        "\u{FEFF}",
        "\u{0}",
        " ",
        "10.1000/x",
        "2020",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..60).prop_map(|pieces| pieces.concat())
}

fn exhaust(bytes: &[u8]) -> Result<(), TestCaseError> {
    let lines = bytes.iter().filter(|byte| matches!(byte, b'\n' | b'\r')).count() as u64 + 1;
    for format in Format::ALL {
        let mut last = 0;
        for (number, outcome) in read(bytes, *format).enumerate() {
            prop_assert!(number <= bytes.len(), "more records than bytes");
            let line = outcome.map_or_else(|rejected| rejected.line, |record| record.line);
            prop_assert!(line >= last && (1..=lines).contains(&line), "{format}: line {line} after {last}");
            last = line;
        }
    }
    let _ = Format::detect("refs.bib", bytes);
    Ok(())
}

proptest! {
    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        exhaust(&bytes)?;
    }

    #[test]
    fn any_text_of_pieces(text in pieces()) {
        exhaust(text.as_bytes())?;
    }

    #[test]
    fn a_file_that_is_cut_off(text in pieces(), at in 0_usize..400) {
        exhaust(&text.as_bytes()[..at.min(text.len())])?;
    }
}

/// How many characters all records of a file hold.
fn size(text: &str, format: Format) -> usize {
    read(text.as_bytes(), format)
        .flatten()
        .map(|record| serde_json::to_string(&record).map_or(0, |json| json.len()))
        .sum()
}

#[test]
fn abbreviations_and_cross_references_do_not_multiply_a_file() {
    let doubling = (1..60).map(|i| format!("@string{{a{i} = a{} # a{}}}\n", i - 1, i - 1));
    let doubling = doubling.collect::<Vec<_>>().concat();
    let bomb = format!(
        "@string{{a0 = {{{}}}}}\n{doubling}@misc{{k, title = a59, note = a59 # a59}}",
        "x".repeat(900)
    );
    assert!(size(&bomb, Format::BibTex) < bomb.len() * 8 + 10_000);

    let own = "@string{a = {x} # a}\n@misc{k, title = a # a}";
    assert!(size(own, Format::BibTex) < 1_000);

    let long = "x".repeat(999);
    let children = (0..2_000).map(|i| format!("@inbook{{c{i}, title={{t}}, crossref={{p}}}}\n"));
    let children = children.collect::<Vec<_>>().concat();
    let family = format!("{children}@book{{p, title={{{long}}}, publisher={{{long}}}}}");
    assert!(size(&family, Format::BibTex) < family.len() * 16);

    let circle = "@book{a, title={A}, crossref={b}} @book{b, title={B}, crossref={a}}";
    assert_eq!(super::records(circle, Format::BibTex).len(), 2);
}

/// Inputs on which a careless reader takes quadratic time: a file of each would take minutes.
#[test]
fn long_hostile_input_is_read() {
    let n = 200_000;
    let repeat = |piece: &str| piece.repeat(n / piece.len());
    for (text, format) in [
        (repeat("@article{a, title = {"), Format::BibTex),
        (repeat("@article{a, title = {\n"), Format::BibTex),
        (repeat("@a("), Format::BibTex),
        (format!("@article{{a, title = {{{}", repeat("{")), Format::BibTex),
        (format!("@article{{a, title = {{{}}}}}", repeat("\\'{").replace('{', "{}")), Format::BibTex),
        (format!("@article{{a, author = {{{}}}}}", repeat("a and ")), Format::BibTex),
        (format!("@article{{a, title = \"{}\"}}", repeat("\\c ")), Format::BibTex),
        (format!("@article{{a, title={{x}}, doi = {{10.1000/{}}}}}", repeat(")")), Format::BibTex),
        (
            format!("@article{{a, title={{x}}, url = {{https://x.org/{}}}}}", repeat("/10.1000/x")),
            Format::BibTex,
        ),
        (format!("@article{{a, title={{x}}, file = {{{}}}}}", repeat("a:b;")), Format::BibTex),
        (repeat("TY  - JOUR\n"), Format::Ris),
        (format!("TY  - JOUR\n{}", repeat("KW  - a;b\n")), Format::Ris),
        (format!("TY  - JOUR\nTI  - {}", repeat("a\n")), Format::Ris),
        (format!("TY  - JOUR\nTI  - {}", repeat("<i ")), Format::Ris),
        (repeat("%0 Book\n"), Format::Refer),
        (format!("%0 Book\n{}", repeat("%K a;b\nc\n")), Format::Refer),
        (repeat("PT J\nER\n"), Format::WebOfScience),
        (format!("PT J\n{}", repeat("AU A\n   B\n")), Format::WebOfScience),
        (repeat("PMID- 1\n"), Format::Nbib),
        (repeat("["), Format::CslJson),
        (repeat("[{"), Format::CslJson),
        (repeat("{\"items\":"), Format::CslJson),
        (repeat("{\"id\":1},"), Format::ZoteroJson),
        (repeat("<record>"), Format::EndNoteXml),
        (repeat("<record"), Format::EndNoteXml),
        (repeat("<record><titles></record>"), Format::EndNoteXml),
        (format!("<record {}>", repeat("a=\"1\" ")), Format::EndNoteXml),
        (repeat("<PubmedArticle><a>"), Format::PubMedXml),
        (repeat("<mods><!--"), Format::Mods),
        (repeat("<mods><!DOCTYPE ["), Format::Mods),
        (repeat("<mods><a '"), Format::Mods),
        (repeat("<Article><a></Article>"), Format::ZoteroRdf),
        (repeat("<Article>"), Format::ZoteroRdf),
    ] {
        assert!(read(text.as_bytes(), format).count() <= n);
    }
}

#[test]
fn values_that_are_too_long_are_left_out_by_name() {
    let long = "x".repeat(crate::MAX_FIELD + 1);
    let record =
        super::one(&format!("@book{{k, title={{T}}, abstract={{{long}}}, note={{{long}}}}}"), Format::BibTex);
    assert_eq!((record.title.as_str(), record.abstract_text), ("T", None));
    assert_eq!(record.omitted, ["abstract", "notes"]);
    let (_, rejected) = super::outcome(&format!("TY  - BOOK\nTI  - {long}\nER  - \n"), Format::Ris);
    assert_eq!(rejected, [(1, "longer than 1 MiB: title".to_owned())]);
}
