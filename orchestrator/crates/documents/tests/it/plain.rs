//! Markdown and plain text.

use crate::{outline, paper, try_paper};
use lyra_documents::{Format, Limits, ReadError};

#[test]
fn markdown_with_front_matter() {
    let text = "---\ntitle: Naps\nsubtitle: a trial\nauthor:\n  - name: {given: Ada, family: Lovelace}\n  - Babbage, Charles\ndate: 2024-05-31\n\
                doi: 10.1000/md\nkeywords: [sleep, \"memory, long\"]\nabstract: |\n  One.\n\n  Two.\n\
                 journal: Sleep\n---\n\n\
                # Introduction {#sec:intro}\n\n\
                 A [link](http://a.b) and `code`[^1] with $p \\leq 0.05$<!-- hidden -->.\nSecond line.\n\n\
                [^1]: A *note*.\n\n\
                - one\n- two\n\n  more of two\n\n| a | b |\n|---|---|\n| 1 |   |\n\n: Counts {#tbl:a}\n\n\
                 ![A picture](x.png)\n\n```r\nx <- 1\n```\n\n\
                <div>kept</div>\n\n## References\n\n1. Smith (2020). Sleep.\n2. Doe. Dreams, 2019.\n";
    let paper = paper(text.as_bytes(), Format::Markdown);
    assert_eq!(paper.title.as_deref(), Some("Naps: a trial"));
    assert_eq!(paper.authors, ["Ada Lovelace", "Charles Babbage"]);
    assert_eq!(paper.date.as_deref(), Some("2024-05-31"));
    assert_eq!(paper.keywords, ["sleep", "memory, long"]);
    assert_eq!(paper.abstract_text.as_deref(), Some("One.\nTwo."));
    assert_eq!(paper.venue.as_deref(), Some("Sleep"));
    assert_eq!(
        outline(&paper),
        [
            "# Introduction",
            "text: A link and code with p ≤ 0.05 . Second line.",
            "item: one",
            "item: two",
            "item: more of two",
            "table: a | b\n1 |",
            "caption: Counts",
            "caption: A picture",
            "code: x <- 1",
            "text: kept",
            "note: A note.",
        ]
    );
    let cited: Vec<_> = paper.references.iter().map(|cited| (cited.text.as_str(), cited.year)).collect();
    assert_eq!(cited, [("Smith (2020). Sleep.", Some(2020)), ("Doe. Dreams, 2019.", Some(2019))]);
}

#[test]
fn the_only_top_heading_of_markdown_is_its_title() {
    let paper = paper(b"# Naps\n\nText.\n\n## More\n\nText.", Format::Markdown);
    assert_eq!(paper.title.as_deref(), Some("Naps"));
    assert_eq!(outline(&paper), ["text: Text.", "## More", "text: Text."]);
}

#[test]
fn front_matter_that_is_not_yaml_is_reported() {
    let paper = paper(b"---\na: [\n---\n\nText.", Format::Markdown);
    assert_eq!(paper.left_out, ["front matter that is not YAML"]);
    assert_eq!(outline(&paper), ["text: Text."]);
}

#[test]
fn plain_text_has_headings_where_it_shows_them() {
    let text = "Naps and memory\n\nAbstract\n\nNaps\nhelp.\n\n1. Introduction\n\nThis is a paragraph\n\
     of two lines.\n\n1.1 Detail\n\n\
                - one\n- two\n  more\n\nMETHODS\n\nWe slept.\n\nResults\n=======\n\nFine.\n\nREFERENCES\n\n\
                 [1] Smith J. Sleep.\n    Nature 2020.\n[2] Doe J. Dreams 2019.\n";
    let paper = paper(text.as_bytes(), Format::Text);
    assert_eq!(paper.title.as_deref(), Some("Naps and memory"));
    assert_eq!(paper.abstract_text.as_deref(), Some("Naps help."));
    assert_eq!(
        outline(&paper),
        [
            "# 1. Introduction",
            "text: This is a paragraph of two lines.",
            "## 1.1 Detail",
            "item: one",
            "item: two more",
            "# METHODS",
            "text: We slept.",
            "# Results",
            "text: Fine.",
        ]
    );
    let cited: Vec<_> = paper.references.iter().map(|cited| cited.text.as_str()).collect();
    assert_eq!(cited, ["Smith J. Sleep. Nature 2020.", "Doe J. Dreams 2019."]);
}

#[test]
fn japanese_text_in_old_encodings_is_joined_without_spaces() {
    let text = "昼寝の研究\n\n昼寝は記憶を改善した。\n短い睡眠の効果を調べた研究である。\n\n参考文献\n\n1. 佐藤（2020）睡眠.\n";
    let (bytes, _, _) = encoding_rs::SHIFT_JIS.encode(text);
    let paper = paper(&bytes, Format::Text);
    assert_eq!(paper.title.as_deref(), Some("昼寝の研究"));
    assert_eq!(outline(&paper), ["text: 昼寝は記憶を改善した。短い睡眠の効果を調べた研究である。"]);
    assert_eq!(paper.references[0].text, "佐藤（2020）睡眠.");
}

#[test]
fn lines_that_are_paragraphs_stay_apart_and_form_feeds_count_pages() {
    let long = "word ".repeat(50);
    let paper = paper(format!("{long}.\n{long}.\u{C}{long}.").as_bytes(), Format::Text);
    let pages: Vec<_> = paper.sections[0].paragraphs.iter().map(|p| p.page).collect();
    assert_eq!(pages, [Some(1), Some(1), Some(2)]);
}

#[test]
fn bytes_that_are_no_text_say_so() {
    let bytes: Vec<u8> = (0..=255).cycle().take(4000).collect();
    assert!(matches!(try_paper(&bytes, Format::Text, &Limits::default()), Err(ReadError::OtherFormat(_))));
    assert_eq!(try_paper(b"", Format::Text, &Limits::default()), Err(ReadError::NoText));
}
