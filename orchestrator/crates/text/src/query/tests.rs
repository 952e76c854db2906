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
        ("solar* cell", 5, "found `*`, expected a word without `*`"),
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
        let texts = Texts { title: "a bb c 太陽光", abst: "bb a", claim: "c x bb", desc: "光 a" };
        prop_assert_eq!(matches(&query, &texts), matches(&again, &texts));
    }

    #[test]
    fn any_text_is_a_query_or_an_error_in_it(text in any::<String>(), near in "[a-c()*NOP0-9\"太陽: ]{0,24}") {
        for text in [text, near] {
            match Query::parse(&text) {
                Ok(query) => {
                    let texts = Texts { title: &text, ..Texts::default() };
                    let _ = matches(&query, &texts);
                    for range in highlights(&query, Field::Title, &text) {
                        prop_assert!(text.get(range).is_some());
                    }
                }
                Err(error) => prop_assert!(error.at <= text.chars().count()),
            }
        }
    }
}
