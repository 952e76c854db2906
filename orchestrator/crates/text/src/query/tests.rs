use super::*;
use proptest::prelude::*;

#[track_caller]
fn check(text: &str, expect: &str) {
    match Query::parse(text) {
        Ok(query) => assert_eq!(query.to_string(), expect, "{text}"),
        Err(error) => panic!("{text}: {error}"),
    }
}

#[test]
fn structure() {
    check("solar", "solar");
    check("solar panel", "(solar AND panel)");
    check("solar and panel OR cell", "((solar AND panel) OR cell)");
    check("solar NOT panel", "(solar AND NOT panel)");
    check("not solar", "NOT solar");
    check("solar AND (panel or cell) \"thin film\"", "(solar AND (panel OR cell) AND \"thin film\")");
    check("(solar OR ソーラー) AND パネル", "((solar OR ソーラー) AND パネル)");
    check("（太陽 ＯＲ ソーラー）　“薄い膜”", "((太陽 OR ソーラー) AND \"薄い膜\")");
    check(
        "title:solar claim:(cell OR \"thin film\")",
        "(title:solar AND (claim:cell OR claim:\"thin film\"))",
    );
    check("abstract:x description:y fterm:5F044AA01", "(abst:x AND desc:y AND ft:5F044AA01)");
    check("fi:H01L33/00,100@A", "fi:H01L33/00,100@A");
    check("*N5\"太陽 電池\"", "*N5\"太陽 電池\"");
    check("*np3\"(太陽 ソーラー) (電池 パネル)\"", "*N3\"(太陽 ソーラー) (電池 パネル)\"");
    check("title:*ONP12\"a (b c) d\" x", "(title:*ONP12\"a (b c) d\" AND x)");
    check("＊Ｎ５“太陽 電池”", "*N5\"太陽 電池\"");
    check("((a))", "a");
    check("10:30", "10:30");
}

/// A query in which a form of another system stands, and what it is read as, or what the error says to write.
#[derive(Debug, Clone, Copy)]
enum Foreign {
    Is(&'static str),
    Write(&'static str),
    /// A word, with a note.
    Word(&'static str),
    Refused,
}

#[test]
fn forms_of_other_systems() {
    use Foreign::{Is, Refused, Word, Write};
    for (text, expect) in [
        // Boolean operators
        ("tractor Or putter", Is("(tractor OR putter)")),
        ("tractor And putter", Is("(tractor AND putter)")),
        ("tractor Not putter", Is("(tractor AND NOT putter)")),
        ("a && b || c", Is("((a AND b) OR c)")),
        ("a & b | c", Is("((a AND b) OR c)")),
        ("optical -fiber", Is("(optical AND NOT fiber)")),
        ("optical -\"glass fiber\" -(a b)", Is("(optical AND NOT \"glass fiber\" AND NOT (a AND b))")),
        ("optical -title:fiber", Is("(optical AND NOT title:fiber)")),
        ("+optical +\"glass fiber\"", Is("(optical AND \"glass fiber\")")),
        ("optical !fiber", Write("NOT fiber")),
        ("optical ANDNOT fiber", Write("optical NOT fiber")),
        ("optical + fiber", Write("OR")),
        ("optical * fiber", Write("AND")),
        ("optical - fiber", Write("NOT")),
        ("a XOR b", Word("XOR")),
        // Proximity
        ("optical NEAR/5 fiber", Is("*N5\"optical fiber\"")),
        ("a near/5 b NEAR/5 c", Is("*N5\"a b c\"")),
        ("a NEAR5 b", Is("*N5\"a b\"")),
        ("optical w/5 fiber", Is("*N5\"optical fiber\"")),
        ("a N/5 b", Is("*N5\"a b\"")),
        ("a WITHIN/5 b", Is("*N5\"a b\"")),
        ("(optical ADJ fiber)", Is("*ONP0\"optical fiber\"")),
        ("optical adj fiber", Is("*ONP0\"optical fiber\"")),
        ("a ADJ/3 b", Is("*ONP3\"a b\"")),
        ("a adj3 b", Is("*ONP3\"a b\"")),
        ("a PRE/3 b", Is("*ONP3\"a b\"")),
        ("a ONEAR/3 b", Is("*ONP3\"a b\"")),
        ("ａ ＮＥＡＲ／５ ｂ", Is("*N5\"ａ ｂ\"")),
        ("\"optical fiber\"~5", Is("*N5\"optical fiber\"")),
        ("title:\"optical fiber\"~5", Is("title:*N5\"optical fiber\"")),
        ("(a OR b) NEAR/5 (c OR \"d e\")", Is("((a OR b) NEAR/5 (c OR \"d e\"))")),
        ("title:(a ADJ/2 \"b c\")", Is("title:(a ADJ/2 \"b c\")")),
        ("(a ADJ b) NEAR/5 c", Is("(\"a b\" NEAR/5 c)")),
        ("title:a NEAR/5 title:b", Is("title:*N5\"a b\"")),
        ("NOT a NEAR/5 b", Is("NOT *N5\"a b\"")),
        ("optical NEAR fiber", Write("optical NEAR/5 fiber")),
        ("optical WITHIN 5 fiber", Write("optical NEAR/5 5")),
        ("optical SAME fiber", Write("optical NEAR/20 fiber")),
        ("(optical) WITH (fiber)", Write("(…) NEAR/20 (…)")),
        ("a BEFORE b", Write("a ADJ/5 b")),
        ("a /5 b", Write("a NEAR/5 b")),
        ("a /s b", Write("a NEAR/20 b")),
        ("a $W5 b", Write("a NEAR/5 b")),
        ("a <near/5> b", Write("a NEAR/5 b")),
        ("a prox/distance<3 b", Write("a NEAR/5 b")),
        ("太陽,5N,電池", Write("*N5\"太陽 電池\"")),
        ("太陽,5C,電池", Write("*ONP5\"太陽 電池\"")),
        ("lamp N5 driver", Word("N5")),
        ("lamp 5W driver", Word("5W")),
        ("lamp (3W) driver", Word("3W")),
        ("(lamp OR led) near (driver OR circuit)", Word("near")),
        // Truncation
        ("measur*", Is("measur*")),
        ("fi?er", Is("fi?er")),
        ("*phenyl*", Is("*phenyl*")),
        ("\"measur* film\"", Is("\"measur* film\"")),
        ("*N5\"measur* (film layer?)\"", Is("*N5\"measur* (film layer?)\"")),
        ("太陽*", Is("太陽")),
        ("*電池*", Is("電池")),
        ("title:measur*", Is("title:measur*")),
        ("measur$ lamp", Write("measur*")),
        ("measur$2 lamp", Write("measur*")),
        ("wom#n lamp", Write("wom?n")),
        ("fiber# lamp", Write("fiber?")),
        ("wom!n lamp", Write("wom?n")),
        ("measur! lamp", Word("measur!")),
        ("measur+ lamp", Word("measur+")),
        ("\"heat sink\"*", Write("\"heat sink*\"")),
        ("?", Refused),
        ("*", Write("AND")),
        ("太陽*電池", Write("太陽 AND 電池")),
        ("太陽＊電池", Write("太陽 AND 電池")),
        ("太陽+電池", Write("太陽 OR 電池")),
        // Capitals
        ("=LED", Is("=LED")),
        ("=\"Apple Watch\" title:=LED", Is("(=\"Apple Watch\" AND title:=LED)")),
        ("*N5\"=LED lamp\"", Is("*N5\"=LED lamp\"")),
        ("-=LED lamp", Is("(NOT =LED AND lamp)")),
        // Weights, similar words, earlier searches
        ("optical^2 fiber", Write("optical optical")),
        ("\"optical fiber\"^2", Write("\"optical fiber\" \"optical fiber\"")),
        ("(optical OR fiber)^2", Refused),
        ("optical~ fiber", Write("optica*")),
        ("optical~0.8", Write("optica*")),
        ("#1 AND #2", Refused),
        // Fields
        ("title=solar", Write("title:solar")),
        ("TI=solar", Write("title:solar")),
        ("TI=(solar cell)", Write("title:(…)")),
        ("ti=\"solar cell\"", Write("title:\"solar cell\"")),
        ("TAC:(solar)", Write("(title:(…) OR abst:(…) OR claim:(…))")),
        ("TS=(solar)", Write("(title:(…) OR abst:(…))")),
        ("txt=solar", Write("solar")),
        ("pubyear:2005", Write("pubyear=2010..2020")),
        ("solar/ti", Write("title:solar")),
        ("\"solar cell\"/ab", Write("abst:\"solar cell\"")),
        ("solar/ti,ab", Write("(title:solar OR abst:solar)")),
        ("solar[tiab]", Write("(title:solar OR abst:solar)")),
        ("\"solar cell\"[ti]", Write("title:\"solar cell\"")),
        ("solar [Title/Abstract]", Write("(title:… OR abst:…)")),
        ("solar.ti,ab.", Write("(title:solar OR abst:solar)")),
        ("(solar OR cell).ti.", Write("title:(…)")),
        ("ABST/solar", Write("abst:solar")),
        ("[太陽電池/CL]", Write("claim:太陽電池")),
        ("太陽電池/TX", Write("太陽電池")),
        ("pn=US123", Refused),
    ] {
        let read = Query::read(text);
        match expect {
            Is(expect) => {
                let read = read.unwrap_or_else(|error| panic!("{text}: {error}"));
                assert_eq!((read.query.to_string().as_str(), read.notes.len()), (expect, 0), "{text}");
            }
            Word(word) => {
                let read = read.unwrap_or_else(|error| panic!("{text}: {error}"));
                let words: Vec<&str> = read.notes.iter().map(|note| note.word.as_str()).collect();
                assert_eq!(words, [word], "{text}");
            }
            Write(form) => assert_eq!(read.unwrap_err().instead.as_deref(), Some(form), "{text}"),
            Refused => assert_eq!(read.unwrap_err().instead, None, "{text}"),
        }
    }
}

#[test]
fn words_stay_words() {
    for text in [
        "C++",
        "C#",
        "F# compiler",
        "in-plane switching",
        "10.1000/182",
        "10.1016/j.cell.2020.01.001",
        "1,2-bis(4-chlorophenyl)ethane",
        "(-)-menthol",
        "(+/-)-ibuprofen",
        "(R)-limonene",
        "poly(ethylene glycol)",
        "benzo[a]pyrene thieno[2,3-b]thiophene",
        "CD4+ T-cell Na+ Ca2+",
        "Na+イオン電池",
        "昼寝は記憶に良いですか？",
        "昼寝は記憶に良いですか?",
        "do naps help memory?",
        "\"what is a solar cell?\"",
        "a lamp near the chip with a fan",
        "same effect within days before treatment",
        "FAN WITH LED LAMP NEAR CHIP",
        "and/or before/after input/output sci/fi plug/in title/abstract",
        "TCP/IP I/O km/h w/w HIV/AIDS Al/Ti Na/Cl TTL/CMOS",
        "Pr=0.7 n=5 p=0.05 T=300",
        "US$100 $5 A$ HK$",
        "x^2 10^6 cm^2",
        "~5 mm",
        "page#3",
        "AT&T R&D",
        "e.g. i.e. U.S. example.com",
        "Solar cells: a review",
        "10*20 mm",
        "near",
        "NEAR field communication",
        "ADJ",
        "xor gate",
        "ＬＥＤ　ランプ",
        "5G N95 W3C S1 L1",
        "user's guide",
    ] {
        let read = Query::read(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let written = read.query.to_string();
        for mark in ["NOT", "*N", "*O"] {
            assert!(!written.contains(mark), "{text}: {written}");
        }
        let again = Query::parse(&written).unwrap_or_else(|error| panic!("{text}: {written}: {error}"));
        assert_eq!(again.to_string(), written, "{text}");
    }
    assert!(Query::read("a lamp near the chip with a fan").unwrap().notes.is_empty());
    assert_eq!(
        Query::parse("do naps help memory?").unwrap().to_string(),
        "(do AND naps AND help AND memory)"
    );
    let read = Query::read("from -40 to 85").unwrap();
    assert_eq!((read.query.to_string().as_str(), read.notes.len()), ("(from AND -40 AND to AND 85)", 1));
}

#[test]
fn errors_name_the_place_and_what_was_expected() {
    for (text, at, message) in [
        ("", 0, "found the end, expected a word, a phrase in quotes, a proximity, NOT or `(`"),
        ("solar AND", 9, "found the end, expected a word"),
        ("AND solar", 0, "found `AND`, expected a word"),
        ("solar OR OR x", 9, "found `OR`, expected a word"),
        ("(solar panel", 12, "found the end, expected `)` for the `(` at character 1"),
        ("solar)", 5, "found `)`, expected AND, OR, NOT, a word or the end"),
        ("()", 1, "found `)`, expected a word"),
        ("a \"thin film", 12, "found the end, expected `\"` for the one at character 3"),
        ("a \" \"", 2, "found nothing in quotes, expected a phrase"),
        ("topic:x", 0, "found `topic:`, expected a field (title, abst, claim"),
        ("title:", 6, "found the end, expected a word, a phrase or `(` after `title:`"),
        ("title:(claim:x)", 7, "found `claim:`, expected a word: one field"),
        ("*M5\"a b\"", 0, "found `*M5\"a`, expected a proximity such as *N5\"a b\""),
        ("*N\"a b\"", 2, "found `\"a`, expected a distance from 0 to 1000"),
        ("*N99999\"a b\"", 2, "found `99999\"a`, expected a distance"),
        ("*N5 x", 3, "found a blank, expected `\"`"),
        ("*N5\"a\"", 5, "found `\"`, expected two words or groups"),
        ("*N5\"(a (b)) c\"", 7, "found `(`, expected a word: groups of a proximity are not nested"),
        ("*N5\"(a b c\"", 10, "found `\"`, expected `)` for the `(` at character 5"),
        ("*N5\"a OR b\"", 6, "found `OR`, expected a word: a proximity has no operators"),
        ("*N5\"() b\"", 4, "found `()`, expected words in the group"),
        ("*N5\"a b c d e f g\"", 4, "found 7 groups, expected at most 6"),
        ("ipc:*N5\"a b\"", 4, "found a proximity, expected a word or a phrase: `ipc:` has no proximities"),
        (
            "a* cell",
            1,
            "found `*`, expected at least 2 letters or digits in a word with `*` or `?`; write `\"a*\"`",
        ),
        ("\"optical \"fiber\"\"", 10, "found `fiber\"\"`, expected a blank or an operator after the phrase"),
        ("lamp NEAR/5", 11, "found the end, expected a word"),
        (
            "NEAR/5 lamp",
            0,
            "found NEAR, expected a word, a phrase or `(` on both sides; in quotes, it is a word",
        ),
        ("lamp NEAR/1001 a", 10, "found `1001`, expected a distance from 0 to 1000"),
        ("a NEAR/5 b ADJ c", 11, "found `ADJ`, expected the same operator as before it"),
        ("a NEAR/5 (b AND c)", 9, "found another operator, expected a word, a phrase, or alternatives"),
        ("title:a NEAR/5 b", 15, "found another field, expected one field"),
        ("*N5\"a、b\"", 7, "found `\"`, expected two words or groups at least; write `a b`"),
        ("ipc:H01L*", 4, "found `H01L*`, expected a whole value"),
        ("太陽 — 電池", 3, "found `—`, expected a word with letters or digits"),
    ] {
        let error = Query::parse(text).unwrap_err();
        assert_eq!(error.at, at, "{text}: {error}");
        let expect = format!("the query cannot be read at character {}: {message}", at + 1);
        assert!(error.to_string().starts_with(&expect), "{text}: {error}");
    }
}

#[test]
fn deep_and_long_queries_are_refused() {
    let deep = format!("{}a{}", "(".repeat(10_000), ")".repeat(10_000));
    assert!(Query::parse(&deep).unwrap_err().expected.contains("levels"));
    assert!(Query::parse(&format!("{}a", "NOT ".repeat(10_000))).is_err());
    assert!(Query::parse(&"a ".repeat(1_001)).unwrap_err().expected.contains("at most 1000 words"));
}

#[test]
fn what_is_required() {
    let query = Query::parse("a AND (b OR c) AND NOT d *N1\"e f\"").unwrap();
    let required: Vec<(String, bool)> =
        query.leaves().into_iter().map(|(leaf, required)| (leaf.to_string(), required)).collect();
    let expect = [("a", true), ("b", false), ("c", false), ("d", false), ("*N1\"e f\"", true)];
    assert_eq!(required, expect.map(|(text, required)| (text.to_owned(), required)));
}

#[test]
fn texts_that_match() {
    let texts = Texts {
        title: "Solar cell",
        abst: "A panel of thin films on glass",
        claim: "太陽光を受ける電池",
        desc: "The cell is solar.",
    };
    for (query, expect) in [
        ("solar cells", true),
        ("solar glass", true),
        ("title:glass", false),
        ("\"solar cell\"", true),
        ("\"cell solar\"", false),
        ("\"thin film\" AND NOT copper", true),
        ("NOT panel", false),
        ("太陽", true),
        ("陽光", true),
        ("陽電", false),
        ("*N5\"太陽 電池\"", true),
        ("*N4\"太陽 電池\"", false),
        ("*N5\"電池 太陽\"", true),
        ("*ONP5\"電池 太陽\"", false),
        ("*ONP5\"太陽 電池\"", true),
        ("*N1\"cell solar\"", true),
        ("title:*ONP1\"cell solar\"", false),
        ("desc:*ONP1\"cell solar\"", true),
        ("*N0\"(sun solar) (battery cell)\"", true),
        ("*N1\"panel film\"", false),
        ("*N2\"panel film\"", true),
        ("ipc:H01L", false),
        ("pane*", true),
        ("title:pane*", false),
        ("*ane?", true),
        ("*ane", false),
        ("film", true),
        ("=film", false),
        ("=films", true),
        ("=Solar", true),
        ("=solar", true),
        ("=SOLAR", false),
        ("title:=solar", false),
        ("=\"thin films\"", true),
        ("=\"Thin films\"", false),
        ("\"th?n film*\"", true),
        ("*N2\"pan* =glass\"", false),
        ("*N4\"pan* =glass\"", true),
        ("*N4\"pan* =Glass\"", false),
        ("\"thin film\" NEAR/1 glass", true),
        ("glass ADJ/9 \"thin film\"", false),
        ("太陽* -turb*", true),
    ] {
        assert_eq!(matches(&Query::parse(query).unwrap(), &texts), expect, "{query}");
    }
    let query = Query::parse("太陽 *N5\"thin glass\" NOT panel").unwrap();
    let marked = |field, text: &str| -> Vec<String> {
        highlights(&query, field, text).into_iter().map(|range| text[range].to_owned()).collect()
    };
    assert_eq!(marked(Field::Claim, texts.claim), ["太陽"]);
    assert_eq!(marked(Field::Abst, texts.abst), ["thin films on glass"]);
}

fn without_places(query: &Query) -> Query {
    let nowhere = Range { start: 0, end: 0 };
    let all = |parts: &[Query]| parts.iter().map(without_places).collect();
    match query {
        Query::And(parts) => Query::And(all(parts)),
        Query::Or(parts) => Query::Or(all(parts)),
        Query::Not(part) => Query::Not(Box::new(without_places(part))),
        Query::Term(term) => Query::Term(Term { at: nowhere, ..term.clone() }),
        Query::Near(near) => Query::Near(Near { at: nowhere, ..near.clone() }),
    }
}

fn any_query() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "a",
        "bb",
        "太陽",
        "光",
        "title:c",
        "\"a bb\"",
        "*N2\"a 光\"",
        "claim:*ONP3\"(a c) bb\"",
        "bb*",
        "?bb",
        "title:=BB",
        "=\"A bb\"",
        "\"b?b* c\"",
        "(\"a bb\" NEAR/2 (c OR bb*))",
        "title:(a ADJ/1 \"bb 光\" ADJ/1 =c)",
        "-40",
        "W5",
    ]);
    let leaf = word.prop_map(str::to_owned);
    leaf.prop_recursive(4, 24, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(|parts| format!("({})", parts.join(" "))),
            prop::collection::vec(inner.clone(), 1..4).prop_map(|parts| format!("({})", parts.join(" OR "))),
            inner.prop_map(|part| format!("NOT {part}")),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(text in any_query()) {
        let query = Query::parse(&text).unwrap();
        let written = query.to_string();
        let again = Query::parse(&written).unwrap();
        prop_assert_eq!(again.to_string(), written);
        prop_assert_eq!(without_places(&again), without_places(&query));
        let texts = Texts { title: "a bb c 太陽光", abst: "bb a", claim: "c x bb", desc: "光 a" };
        prop_assert_eq!(matches(&query, &texts), matches(&again, &texts));
    }

    #[test]
    fn any_text_is_a_query_or_an_error_in_it(text in any::<String>(), near in "[a-c()*NOPER/0-9\"太陽:?=~+ -]{0,24}") {
        for text in [text, near] {
            match Query::parse(&text) {
                Ok(query) => {
                    let texts = Texts { title: &text, ..Texts::default() };
                    let _ = matches(&query, &texts);
                    let written = query.to_string();
                    let again = Query::parse(&written);
                    prop_assert_eq!(again.as_ref().map(without_places), Ok(without_places(&query)), "{}", written);
                    for range in highlights(&query, Field::Title, &text) {
                        prop_assert!(text.get(range).is_some());
                    }
                }
                Err(error) => prop_assert!(error.at <= text.chars().count()),
            }
        }
    }
}
