//! What a work is, and who published it, in every format.

use crate::tests::one;
use crate::{Format, Kind, Output, Record, Writer};
use lyra_domain::Imprint;

fn book() -> Imprint {
    let some = |text: &str| Some(text.to_owned());
    Imprint {
        kind: Some(Kind::Book),
        publisher: some("North Press"),
        place: some("Bern"),
        edition: some("2"),
        editors: vec!["Jane Doe".to_owned()],
        isbn: vec!["9783161484100".to_owned()],
        issn: Vec::new(),
    }
}

#[test]
fn a_book_is_read_from_every_format() {
    for (format, text) in [
        (
            Format::Ris,
            "TY  - BOOK\nTI  - Naps\nA2  - Doe, Jane\nPB  - North Press\nCY  - Bern\nET  - 2\nSN  - 978-3-16-148410-0\nER  - \n",
        ),
        (
            Format::BibTex,
            "@book{a, title = {Naps}, editor = {Doe, Jane}, publisher = {North Press}, address = {Bern}, edition = 2,
             isbn = {978-3-16-148410-0}}",
        ),
        (
            Format::CslJson,
            r#"[{"type": "book", "title": "Naps", "editor": [{"family": "Doe", "given": "Jane"}], "publisher": "North Press",
             "publisher-place": "Bern", "edition": 2, "ISBN": "978-3-16-148410-0"}]"#,
        ),
        (
            Format::ZoteroJson,
            r#"{"items": [{"itemType": "book", "title": "Naps", "publisher": "North Press", "place": "Bern", "edition": "2",
             "creators": [{"creatorType": "editor", "firstName": "Jane", "lastName": "Doe"}], "ISBN": "978-3-16-148410-0"}]}"#,
        ),
        (
            Format::EndNoteXml,
            "<record><ref-type name=\"Book\">6</ref-type><contributors><secondary-authors><author>Doe, Jane</author>
             </secondary-authors></contributors><titles><title>Naps</title></titles><publisher>North Press</publisher>
             <pub-location>Bern</pub-location><edition>2</edition><isbn>978-3-16-148410-0</isbn></record>",
        ),
        (
            Format::Refer,
            "%0 Book\n%T Naps\n%E Doe, Jane\n%I North Press\n%C Bern\n%7 2\n%@ 978-3-16-148410-0\n",
        ),
        (
            Format::Nbib,
            "PMID- 1\nBTI - Naps\nFED - Doe, Jane\nPB  - North Press\nPL  - Bern\nEN  - 2\nISBN- 9783161484100\n",
        ),
        (
            Format::PubMedXml,
            "<PubmedBookArticle><BookDocument><PMID>1</PMID><Book><Publisher><PublisherName>North Press</PublisherName>
             <PublisherLocation>Bern</PublisherLocation></Publisher><BookTitle>Naps</BookTitle>
             <AuthorList Type=\"editors\"><Author><LastName>Doe</LastName><ForeName>Jane</ForeName></Author></AuthorList>
             <Edition>2</Edition><Isbn>9783161484100</Isbn></Book></BookDocument></PubmedBookArticle>",
        ),
        (
            Format::Mods,
            "<mods><titleInfo><title>Naps</title></titleInfo><genre>book</genre><name><namePart>Doe, Jane</namePart><role>
             <roleTerm>editor</roleTerm></role></name><originInfo><place><placeTerm type=\"code\">sz</placeTerm></place>
             <place><placeTerm type=\"text\">Bern</placeTerm></place><publisher>North Press</publisher><edition>2</edition>
             </originInfo><identifier type=\"isbn\">978-3-16-148410-0</identifier></mods>",
        ),
        (
            Format::ZoteroRdf,
            "<rdf:RDF xmlns:rdf=\"r\"><bib:Book rdf:about=\"#1\"><z:itemType>book</z:itemType><dc:title>Naps</dc:title>
             <bib:editors><rdf:Seq><rdf:li><foaf:Person><foaf:surname>Doe</foaf:surname><foaf:givenName>Jane</foaf:givenName>
             </foaf:Person></rdf:li></rdf:Seq></bib:editors><dc:publisher><foaf:Organization><vcard:adr><vcard:Address>
             <vcard:locality>Bern</vcard:locality></vcard:Address></vcard:adr><foaf:name>North Press</foaf:name>
             </foaf:Organization></dc:publisher><prism:edition>2</prism:edition>
             <dc:identifier>ISBN 978-3-16-148410-0</dc:identifier></bib:Book></rdf:RDF>",
        ),
    ] {
        assert_eq!(one(text, format).imprint(), book(), "{format}");
    }
    let text = "FN Clarivate Analytics Web of Science\nVR 1.0\nPT B\nBE Doe, Jane\nTI Naps\nPU North Press\nPI Bern\n\
                BN 978-3-16-148410-0\nER\n\nEF";
    assert_eq!(one(text, Format::WebOfScience).imprint(), Imprint { edition: None, ..book() });
}

#[test]
fn types_of_ris_bibtex_and_endnote() {
    for (name, kind) in [
        ("JOUR", Kind::Article),
        ("EDBOOK", Kind::Book),
        ("ECHAP", Kind::Chapter),
        ("CONF", Kind::ConferencePaper),
        ("THES", Kind::Thesis),
        ("GOVDOC", Kind::Report),
        ("MGZN", Kind::News),
        ("VIDEO", Kind::Other),
    ] {
        assert_eq!(one(&format!("TY  - {name}\nTI  - Naps\nER  - \n"), Format::Ris).kind, kind, "{name}");
    }
    for (name, kind) in [
        ("collection", Kind::Book),
        ("inbook", Kind::Chapter),
        ("conference", Kind::ConferencePaper),
        ("mastersthesis", Kind::Thesis),
        ("report", Kind::Report),
        ("electronic", Kind::WebPage),
        ("unpublished", Kind::Manuscript),
        ("artwork", Kind::Other),
    ] {
        assert_eq!(one(&format!("@{name}{{a, title = {{Naps}}}}"), Format::BibTex).kind, kind, "{name}");
    }
    for (number, kind) in [
        (17, Kind::Article),
        (6, Kind::Book),
        (5, Kind::Chapter),
        (10, Kind::ConferencePaper),
        (32, Kind::Thesis),
        (27, Kind::Report),
        (12, Kind::WebPage),
        (25, Kind::Patent),
        (59, Kind::Dataset),
        (13, Kind::Other),
    ] {
        let text =
            format!("<record><ref-type>{number}</ref-type><titles><title>Naps</title></titles></record>");
        assert_eq!(one(&text, Format::EndNoteXml).kind, kind, "{number}");
    }
}

#[test]
fn days_and_countries_of_articles_are_no_editions_and_cities() {
    let ris = one("TY  - JOUR\nTI  - Naps\nET  - 2020/01/02\nER  - \n", Format::Ris);
    let endnote =
        "<record><ref-type name=\"Journal Article\">17</ref-type><titles><title>Naps</title></titles>
                   <edition>2020/01/02</edition></record>";
    let nbib = "PMID- 1\nTI  - Naps\nPT  - Journal Article\nPL  - England\n";
    for record in [ris, one(endnote, Format::EndNoteXml), one(nbib, Format::Nbib)] {
        assert_eq!(record.imprint(), Imprint { kind: Some(Kind::Article), ..Imprint::default() });
    }
}

#[test]
fn a_venue_that_repeats_the_publisher_is_not_written() {
    let record =
        Record { title: "Naps".to_owned(), venue: Some("North Press".to_owned()), ..Record::default() };
    for (kind, format, expect) in [
        (
            Kind::Book,
            Output::Ris,
            "TY  - BOOK\r\nID  - naps\r\nTI  - Naps\r\nPB  - North Press\r\nER  - \r\n",
        ),
        (Kind::Thesis, Output::BibTex, "@phdthesis{naps,\n  title = {Naps},\n  school = {North Press},\n}\n"),
        (
            Kind::Report,
            Output::BibTex,
            "@techreport{naps,\n  title = {Naps},\n  institution = {North Press},\n}\n",
        ),
    ] {
        let publisher = Some("North Press".to_owned());
        let imprint = Imprint { kind: Some(kind), publisher, ..Imprint::default() };
        let written = Writer::new(format).record(&record.clone().with_imprint(&imprint));
        assert_eq!(written, expect);
    }
}
