use super::names::Name;
use super::*;

#[track_caller]
fn check_name(text: &str, inverted: &str) {
    assert_eq!(Name::read(text).suffix_second(), inverted);
}

#[test]
fn names_are_taken_apart_as_bibtex_does() {
    check_name("Marie Curie", "Curie, Marie");
    check_name("Curie, Marie", "Curie, Marie");
    check_name("  Ludwig   van\tBeethoven ", "van Beethoven, Ludwig");
    check_name("J. R. R. Tolkien", "Tolkien, J. R. R.");
    check_name("de la Cruz", "de la Cruz");
    check_name("Plato", "Plato");
    check_name("山田 太郎", "山田, 太郎");
    check_name("World Health Organization", "World Health Organization");
    check_name("Institute of Food, Health and Sleep", "Institute of Food, Health and Sleep");
    for name in [
        "King, Jr., Martin Luther",
        "King, Martin Luther, Jr.",
        "Martin Luther King, Jr.",
        "Martin Luther King Jr.",
    ] {
        check_name(name, "King, Jr., Martin Luther");
        assert_eq!(Name::read(name).family(), "King");
    }
    check_name("Robert Califf III", "Califf, III, Robert");
    check_name("Jan van der Berg Sr", "van der Berg, Sr, Jan");
    check_name("Naoki Ii", "Ii, Naoki");
    check_name("Petrov, IV", "Petrov, IV");
    assert_eq!(Name::read("King Jr."), Name::Group("King Jr.".to_owned()));
    assert_eq!(Name::read("Lee, Ann, Ek"), Name::Group("Lee, Ann, Ek".to_owned()));
    check_name("", "");
}

fn reference(author: &str, year: i32, title: &str) -> Reference {
    Reference {
        page_id: "page_1f".to_owned(),
        is_work: true,
        title: title.to_owned(),
        authors: vec![author.to_owned()],
        year: Some(year),
        venue: Some("Acta".to_owned()),
        ..Reference::default()
    }
}

#[test]
fn keys_are_ascii_and_unique() {
    let works: Vec<Reference> = [
        ("Erwin Schrödinger", "Die gegenwärtige Situation"),
        ("Erwin SCHRODINGER", "The Gegenwärtige lage"),
        ("Erwin Schrodinger", "On die Sache"),
        ("山田 太郎", "睡眠と記憶"),
        ("山田 太郎", "睡眠と記憶"),
        ("John Smith Jr.", "Naps"),
    ]
    .map(|(author, title)| reference(author, 1935, title))
    .into();
    assert_eq!(
        keys::keys(&works),
        [
            "schrodinger1935die",
            "schrodinger1935gegenwartige",
            "schrodinger1935diea",
            "page1f1935",
            "page1f1935a",
            "smith1935naps"
        ]
    );
    let many = vec![reference("A", 1, "b"); 800];
    let keys = keys::keys(&many);
    assert_eq!((keys[1].as_str(), keys[26].as_str(), keys[27].as_str()), ("a1ba", "a1bz", "a1baa"));
    assert_eq!(keys.iter().collect::<std::collections::HashSet<_>>().len(), 800);
}

#[test]
fn bibtex_escapes_and_protects() {
    let work = Reference {
        doi: Some("10.1000/a_b{c}".to_owned()),
        url: Some("https://example.org/a b?x=%20&y={1}".to_owned()),
        is_retracted: true,
        ..reference("R&D_Team 100%", 2020, "Effects of mRNA & DNA on 50% of ~Cells^2 \\ {braces}\nin $#")
    };
    assert_eq!(
        bibtex(&[work]),
        "@article{1002020effects,\n  author = {100\\%, R\\&D\\_Team},\n  title = {Effects of {mRNA} \\& {DNA} on \
         50\\% of {\\textasciitilde{}Cells\\textasciicircum{}2} \\textbackslash{} \\{braces\\} in \\$\\#},\n  journal = \
         {Acta},\n  year = {2020},\n  doi = {10.1000/a_b%7Bc%7D},\n  url = \
         {https://example.org/a%20b?x=%20&y=%7B1%7D},\n  note = {Retracted},\n  keywords = {evidence, retracted},\n}\n"
    );
}

#[test]
fn ris_keeps_every_value_on_its_line() {
    let page = Reference {
        is_work: false,
        venue: None,
        accessed: Some("2026-11-20".to_owned()),
        url: Some("https://example.org/\r\nER  - ".to_owned()),
        role: Role::Cited,
        ..reference("Jane Doe", 2021, "A title\r\nTY  - JOUR")
    };
    assert_eq!(
        ris(&[page]),
        "TY  - ELEC\r\nID  - page_1f\r\nTI  - A title TY - JOUR\r\nAU  - Doe, Jane\r\nPY  - 2021\r\n\
         UR  - https://example.org/ ER -\r\nY2  - 2026/11/20\r\nKW  - cited\r\nER  - \r\n"
    );
    assert!(ris(&[reference("John Smith Jr.", 2021, "Naps")]).contains("\r\nAU  - Smith, John, Jr.\r\n"));
}

#[test]
fn what_a_work_is_decides_its_entry() {
    let of = |kind, venue: &str| Reference {
        venue: Some(venue.to_owned()),
        imprint: Imprint {
            kind: Some(kind),
            publisher: Some("North Press".to_owned()),
            isbn: vec!["9783161484100".to_owned()],
            ..Imprint::default()
        },
        ..reference("Ann Lee", 2020, "Naps")
    };
    // The venue of a book repeats its publisher.
    let works = [of(WorkKind::Book, "North Press"), of(WorkKind::Chapter, "Sleep")];
    assert_eq!(
        ris(&works),
        "TY  - BOOK\r\nID  - page_1f\r\nTI  - Naps\r\nAU  - Lee, Ann\r\nPY  - 2020\r\nPB  - North Press\r\n\
         SN  - 9783161484100\r\nKW  - evidence\r\nER  - \r\n\r\n\
         TY  - CHAP\r\nID  - page_1f\r\nTI  - Naps\r\nAU  - Lee, Ann\r\nPY  - 2020\r\nT2  - Sleep\r\nPB  - North Press\r\n\
         SN  - 9783161484100\r\nKW  - evidence\r\nER  - \r\n"
    );
    assert_eq!(
        bibtex(&works[1..]),
        "@incollection{lee2020naps,\n  author = {Lee, Ann},\n  title = {Naps},\n  booktitle = {Sleep},\n  publisher = \
         {North Press},\n  year = {2020},\n  isbn = {9783161484100},\n  keywords = {evidence},\n}\n"
    );
    let thesis = bibtex(&[of(WorkKind::Thesis, "North Press")]);
    assert!(thesis.starts_with("@phdthesis{") && thesis.contains("  school = {North Press},\n"), "{thesis}");
}

#[test]
fn a_bibtex_parser_reads_back_what_was_written() {
    use biblatex::{Bibliography, ChunksExt, PermissiveType};
    let works = [
        Reference {
            doi: Some("10.1002/(SICI)1097-0258(19980815)17:15/16<1661::AID-SIM968>3.0.CO;2-2".to_owned()),
            ..reference(
                "Erwin Schrödinger",
                1935,
                "50% of mRNA & {braces} #1_a $5 ~ ^ \\ end — 睡眠 \"quoted\"",
            )
        },
        Reference {
            authors: vec![
                "Doe, Jane".to_owned(),
                "Ludwig van Beethoven".to_owned(),
                "John Smith Jr.".to_owned(),
                "Society of A and B".to_owned(),
            ],
            ..reference("", 2001, "Unbalanced } and { and } in a title of a Study")
        },
    ];
    let parsed = Bibliography::parse(&bibtex(&works)).unwrap();
    assert_eq!(parsed.len(), 2);
    for (entry, work) in parsed.iter().zip(&works) {
        assert_eq!(entry.title().unwrap().format_verbatim(), work.title);
        assert!(matches!(entry.date().unwrap(), PermissiveType::Typed(_)));
        assert_eq!(entry.journal().unwrap().format_verbatim(), "Acta");
    }
    let [first, second] = [0, 1].map(|i| parsed.iter().nth(i).unwrap());
    assert_eq!(first.doi().unwrap(), works[0].doi.clone().unwrap());
    let names: Vec<_> =
        second.author().unwrap().into_iter().map(|p| [p.given_name, p.prefix, p.name, p.suffix]).collect();
    assert_eq!(
        names,
        [
            ["Jane", "", "Doe", ""],
            ["Ludwig", "van", "Beethoven", ""],
            ["John", "", "Smith", "Jr."],
            ["", "", "Society of A and B", ""]
        ]
    );
}
