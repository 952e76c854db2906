//! Pages whose drawing order differs from their reading order: columns, what runs across them, what stands in their margins.

use super::{content, pdf, text};
use crate::extract::BlockKind;
use crate::pdf::glyphs::page_glyphs;
use crate::pdf::{lines, order};
use hayro_interpret::InterpreterCache;
use hayro_interpret::hayro_syntax::Pdf;
use std::collections::HashMap;
use std::path::PathBuf;

type Drawn = (u32, u32, u32, String);

/// Lines of a column from `y` down, each with its number: `left 3`.
fn column(name: &str, size: u32, x: u32, y: u32, count: u32) -> Vec<Drawn> {
    let said = "adults who had slept knew more words";
    (0..count).map(|nth| (size, x, y - nth * (size + 2), format!("{name} {nth} {said}"))).collect()
}

fn draw(lines: &[Drawn]) -> String {
    content(&lines.iter().map(|(size, x, y, words)| (*size, *x, *y, words.as_str())).collect::<Vec<_>>())
}

/// Row by row, as converters draw that sort by place.
fn by_rows(mut lines: Vec<Drawn>) -> String {
    lines.sort_by_key(|(_, x, y, _)| (std::cmp::Reverse(*y), *x));
    draw(&lines)
}

fn markers(name: &str, count: u32) -> Vec<String> {
    (0..count).map(|nth| format!("{name} {nth} ")).collect()
}

#[track_caller]
fn in_this_order(text: &str, markers: impl IntoIterator<Item = String>) {
    let mut last = 0;
    for marker in markers {
        let at = text.find(&marker).unwrap_or_else(|| panic!("{marker} is missing: {text}"));
        assert!(at >= last, "{marker} is too early: {text}");
        last = at;
    }
}

#[test]
fn two_columns_that_are_drawn_across() {
    let head = [
        (20, 150, 760, "Naps and the memory of adults".to_owned()),
        (10, 270, 735, "Abstract".to_owned()),
        (
            10,
            50,
            715,
            "We asked whether a short nap in the afternoon improves the memory of adults who had learned"
                .to_owned(),
        ),
        (
            10,
            50,
            703,
            "pairs of words, and found across four hundred of them that it does, in summer and in winter."
                .to_owned(),
        ),
    ];
    // The gutter is wide in the first page, and narrow in the second, where both columns look like one line.
    for right in [330, 270] {
        let all: Vec<Drawn> = head
            .iter()
            .cloned()
            .chain(column("left", 10, 50, 670, 20))
            .chain(column("right", 10, right, 670, 20))
            .collect();
        let found = text(&pdf(&[by_rows(all)], ""));
        let order = markers("left", 20).into_iter().chain(markers("right", 20));
        in_this_order(&found.text, ["Naps and".to_owned(), "We asked".to_owned()].into_iter().chain(order));
        assert_eq!(found.title, "Naps and the memory of adults");
        let abstract_text = found.abstract_text.unwrap();
        assert!(
            abstract_text.starts_with("We asked") && abstract_text.contains("in winter"),
            "{abstract_text}"
        );
    }
}

#[test]
fn three_columns_with_a_heading_across_and_a_figure_between() {
    let column = |name: &str, x: u32, y: u32, count: u32| {
        let said = "adults who slept knew more";
        (0..count)
            .map(move |nth| (8, x, y - nth * 10, format!("{name} {nth} {said}")))
            .collect::<Vec<Drawn>>()
    };
    let [above, below] = [(680_u32, 12), (360, 12)].map(|(y, count)| {
        move |part: &str| {
            let named = |at: &str| format!("{at}-{part}");
            [(40, "one"), (225, "two"), (410, "three")]
                .into_iter()
                .flat_map(|(x, at)| column(&named(at), x, y, count))
                .collect::<Vec<Drawn>>()
        }
    });
    let (above, below) = (above("above"), below("below"));
    let across = vec![
        (18, 120, 740, "Naps in three columns of one page".to_owned()),
        (8, 60, 400, "Figure 1: Words that adults knew after naps of ten, of twenty, and of sixty minutes, in summer and in winter, in all the groups".to_owned()),
    ];
    // By rows, and with the last column first.
    let rows = by_rows([above.clone(), below.clone(), across.clone()].concat());
    let back: Vec<Drawn> =
        [above, below].concat().chunks(12).rev().flatten().cloned().chain(across).collect();
    for drawing in [rows, draw(&back)] {
        let found = text(&pdf(&[drawing], ""));
        let of = |part: &'static str| {
            ["one", "two", "three"].into_iter().flat_map(move |at| markers(&format!("{at}-{part}"), 12))
        };
        // The text goes on behind the caption.
        let order = of("above").chain(of("below"));
        in_this_order(&found.text, ["Naps in three".to_owned()].into_iter().chain(order));
        let captions: Vec<String> = (found.blocks.iter())
            .filter(|block| block.kind == BlockKind::Caption)
            .map(|block| found.text_of(block))
            .collect();
        assert_eq!(captions.len(), 1, "{captions:?}");
        assert!(captions[0].starts_with("Figure 1: Words") && captions[0].ends_with("all the groups"));
    }
}

#[test]
fn tables_stay_row_by_row() {
    let mut rows = column("before", 10, 50, 740, 8);
    for (nth, y) in (0..8).map(|nth| (nth, 600 - nth * 12)) {
        let cells =
            [(50, format!("Group {nth}")), (250, format!("{}.5", nth + 10)), (400, "0.04".to_owned())];
        rows.extend(cells.map(|(x, cell)| (10, x, y, cell)));
    }
    rows.extend(column("after", 10, 50, 460, 8));
    let found = text(&pdf(&[draw(&rows)], ""));
    in_this_order(&found.text, (0..8).map(|nth| format!("Group {nth} {}.5 0.04", nth + 10)));
}

#[test]
fn captions_are_kept_apart_and_the_text_goes_on_behind_them() {
    let full = "Adults who had napped for twenty minutes in a quiet room remembered more words than";
    let page = [
        (10, 50, 700, full.to_owned()),
        (
            10,
            50,
            688,
            "those who had read a book in the same room, and the difference was the largest in".to_owned(),
        ),
        (
            10,
            50,
            500,
            "Figure 2: Words that adults remembered after naps. Bars are standard errors of the".to_owned(),
        ),
        (10, 50, 488, "means of all groups".to_owned()),
        (10, 50, 450, "the group of those who had slept badly in the night before.".to_owned()),
        (
            10,
            50,
            438,
            "Figure 2 shows that the effect lasted, as it did in the earlier study, which is shown in"
                .to_owned(),
        ),
        (10, 50, 426, "Figure 3. The last group slept best of all of them in the end.".to_owned()),
        (10, 50, 390, "TABLE II".to_owned()),
        (8, 50, 380, "ADULTS IN ALL GROUPS".to_owned()),
    ];
    let found = text(&pdf(&[draw(&page)], ""));
    let blocks: Vec<(BlockKind, String)> = found.blocks.iter().map(|b| (b.kind, found.text_of(b))).collect();
    let of =
        |kind: BlockKind| blocks.iter().filter(move |(of, _)| *of == kind).map(|(_, text)| text.as_str());
    let captions: Vec<&str> = of(BlockKind::Caption).collect();
    let expect = [
        "Figure 2: Words that adults remembered after naps. Bars are standard errors of the means of all groups",
        "TABLE II ADULTS IN ALL GROUPS",
    ];
    assert_eq!(captions, expect);
    let running = of(BlockKind::Paragraph).collect::<Vec<_>>().join(" ");
    assert!(running.contains("the largest in the group of those who"), "{running}");
    assert!(running.contains("which is shown in Figure 3. The last group"), "{running}");
}

#[test]
fn line_numbers_go_from_margins_and_gutters() {
    let mut all = Vec::new();
    for page in 0..2 {
        let mut lines = column("left", 10, 60, 700, 30);
        lines.extend(column("right", 10, 340, 700, 30));
        for nth in 0..30 {
            let y = 700 - nth * 12;
            let number = 1 + page * 60 + nth;
            lines.push((6, if number < 10 { 40 } else { 37 }, y, number.to_string()));
            lines.push((6, 318, y, (number + 30).to_string()));
        }
        all.push(by_rows(lines));
    }
    let found = text(&pdf(&all, ""));
    let mut words = found.text.split_whitespace().filter(|word| word.parse::<u32>().is_ok());
    let left: Vec<String> = (0..30).map(|nth| nth.to_string()).collect();
    let expect: Vec<&str> = left.iter().cycle().take(120).map(String::as_str).collect();
    assert_eq!(words.by_ref().collect::<Vec<_>>(), expect, "{}", found.text);

    // Every fifth line has one in the other margin, drawn before the text.
    let numbers = (1..=6).map(|nth| (8, 560, 700 - (nth * 5 - 1) * 14, (nth * 5).to_string()));
    let lines: Vec<Drawn> = numbers
        .chain((0..30).map(|nth| (12, 60, 700 - nth * 14, "adults who slept knew more words".to_owned())))
        .collect();
    let found = text(&pdf(&[draw(&lines)], ""));
    assert!(!found.text.contains(|c: char| c.is_ascii_digit()), "{}", found.text);
}

#[test]
fn years_and_items_are_no_line_numbers() {
    let years = (0..30).flat_map(|nth| {
        let y = 700 - nth * 14;
        [(10, 60, y, (1990 + nth).to_string()), (10, 200, y, "adults who slept knew more words".to_owned())]
    });
    let around = [730, 716, 280, 266].map(|y| (10, 200, y, "adults who slept knew more words".to_owned()));
    let found = text(&pdf(&[draw(&years.chain(around).collect::<Vec<_>>())], ""));
    assert!(found.text.contains("1990") && found.text.contains("2019"), "{}", found.text);
    let items = (0..8).flat_map(|nth| {
        let y = 700 - nth * 40;
        let more = (1..3)
            .map(move |line| (10, 80, y - line * 12, "and who knew more words than others did".to_owned()));
        [(10, 60, y, (nth + 1).to_string()), (10, 80, y, "adults who slept in the afternoon".to_owned())]
            .into_iter()
            .chain(more)
    });
    let found =
        text(&pdf(&[draw(&column("before", 10, 50, 780, 4)) + &draw(&items.collect::<Vec<_>>())], ""));
    assert!(found.text.contains("8 adults"), "{}", found.text);
}

#[test]
fn pages_without_text_are_counted() {
    let scanned = || "0 0 600 800 re f".to_owned();
    let said = draw(&column("said", 10, 50, 700, 5));
    let found = text(&pdf(&[said.clone(), scanned(), String::new(), scanned()], ""));
    let expect = "2 of 4 pages have no text; they are most likely scanned or a figure";
    assert_eq!(found.left_out.as_deref(), Some(expect));
    assert_eq!(text(&pdf(&[said], "")).left_out, None);
}

#[test]
fn titles_beside_larger_words_and_names_in_columns() {
    let page = [
        (14, 60, 760, "Searching Papers: An Agent That Reads What It Finds".to_owned()),
        (11, 80, 730, "Ann Lee".to_owned()),
        (9, 80, 718, "Sleep University".to_owned()),
        (11, 300, 730, "Bo van der Ek".to_owned()),
        (9, 300, 718, "Nap Institute".to_owned()),
        (20, 200, 600, "Paper Search".to_owned()),
        (12, 280, 560, "Abstract".to_owned()),
        (
            10,
            50,
            540,
            "We asked whether a short nap in the afternoon improves the memory of adults who had learned"
                .to_owned(),
        ),
        (10, 50, 528, "pairs of words, and found that it does.".to_owned()),
    ];
    let found = text(&pdf(&[draw(&page)], ""));
    assert_eq!(found.title, "Searching Papers: An Agent That Reads What It Finds");
    assert_eq!(found.authors, ["Ann Lee", "Bo van der Ek"]);
    // Row by row, the columns of the by-line are one line or two.
    for second in [300, 150] {
        let mut page = page.clone();
        (page[3].1, page[4].1) = (second, second);
        assert_eq!(
            text(&pdf(&[by_rows(page.to_vec())], "")).authors,
            ["Ann Lee", "Bo van der Ek"],
            "{second}"
        );
    }
}

/// Real articles, if they are there.
fn real(name: &str) -> Option<Vec<u8>> {
    let shared = std::env::var_os("LYRA_SHARED").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../../shared")),
        PathBuf::from,
    );
    let path = shared.join("data/papers").join(name);
    let file = std::fs::read(&path).ok();
    if file.is_none() {
        println!("skipped: {} is absent", path.display());
    }
    file
}

fn pairs(lines: &[lines::Line]) -> HashMap<(String, String), usize> {
    let words: Vec<&str> = lines.iter().flat_map(|line| line.text.split(' ')).collect();
    let mut pairs = HashMap::new();
    for pair in words.windows(2) {
        *pairs.entry((pair[0].to_owned(), pair[1].to_owned())).or_default() += 1;
    }
    pairs
}

#[test]
fn articles_in_two_columns_are_read_alike_in_whichever_order_they_are_drawn() {
    for name in ["pasa.pdf", "1001._0908.0054.pdf"] {
        let Some(file) = real(name) else { continue };
        let file = Pdf::new(file).unwrap();
        let cache = InterpreterCache::new();
        let (mut same, mut all) = (0, 0);
        for page in file.pages().iter() {
            let (drawn, _) = page_glyphs(page, &cache, file.xref(), usize::MAX, &|| false);
            let drawn = lines::lines(&drawn.glyphs);
            assert_eq!(
                order::in_order(drawn.clone()),
                drawn,
                "{name}: the order of drawing is the order of reading"
            );
            let mut rows = drawn.clone();
            rows.sort_by(|a, b| b.y.total_cmp(&a.y).then(a.x.total_cmp(&b.x)));
            let (drawn, read) = (pairs(&drawn), pairs(&order::in_order(rows)));
            same += drawn
                .iter()
                .map(|(pair, count)| (*count).min(read.get(pair).copied().unwrap_or(0)))
                .sum::<usize>();
            all += drawn.values().sum::<usize>();
        }
        let share = f64::from(u32::try_from(same).unwrap()) / f64::from(u32::try_from(all).unwrap());
        assert!(share > 0.9, "{name}: {share:.3} of the pairs of words");
    }
}

#[test]
fn the_title_and_the_authors_of_an_article_with_a_logo() {
    let Some(file) = real("pasa.pdf") else { return };
    let found = text(&file);
    assert_eq!(found.title, "PaSa: An LLM Agent for Comprehensive Academic Paper Search");
    let names = "Yichen He, Guanhua Huang, Peiyuan Feng, Yuan Lin, Yuchen Zhang, Hang Li, Weinan E";
    assert_eq!(found.authors.join(", "), names);
}
