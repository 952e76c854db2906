//! Plain text: paragraphs, and headings where the text shows them.

use crate::ReadError;
use crate::Result;
use crate::budget::Budget;
use crate::draft::{self, Draft};
use crate::encoding::{decode, is_text};
use crate::fields::{self, Role};
use crate::paper::{Kind, Paper};

/// Bytes by which a file is recognized as text.
const SAMPLE: usize = 64 << 10;
/// Longest heading, in characters.
const LONGEST_HEADING: usize = 80;
/// Longest title, in characters.
const LONGEST_TITLE: usize = 200;

pub(crate) fn read(bytes: &[u8], budget: &mut Budget) -> Result<Paper> {
    if !bytes.is_empty() && !is_text(&bytes[..bytes.len().min(SAMPLE)]) {
        return Err(ReadError::OtherFormat("it is not a text file: its bytes do not encode text".to_owned()));
    }
    let text = decode(bytes).replace("\r\n", "\n").replace('\r', "\n");
    let mut draft = Draft::new(budget);
    let blocks = blocks(&text);
    let count = blocks.len();
    for (nth, block) in blocks.into_iter().enumerate() {
        draft.page = block.page;
        let lines = &block.lines;
        if let [line] = lines.as_slice() {
            let title =
                nth == 0 && count > 2 && line.chars().count() <= LONGEST_TITLE && !ends_sentence(line);
            if title && fields::role(line).is_none() {
                draft.title(line);
                continue;
            }
        }
        match heading(lines) {
            Some((depth, text)) => {
                draft.heading(depth, text);
                let rest = &lines[1..];
                let rest = if rest.first().is_some_and(|line| underline(line)) { &rest[1..] } else { rest };
                paragraph(rest, &mut draft);
            }
            None => paragraph(lines, &mut draft),
        }
    }
    Ok(draft.finish())
}

/// Lines without an empty one between them.
struct Block<'t> {
    lines: Vec<&'t str>,
    /// Page, if form feeds separate pages.
    page: Option<u32>,
}

fn blocks(text: &str) -> Vec<Block<'_>> {
    let paged = text.contains('\u{C}');
    let lines: Vec<&str> = text.lines().collect();
    let filled = lines.iter().filter(|line| !line.trim().is_empty()).count();
    // Files whose every line is a paragraph have long lines, or no empty ones.
    let long = lines.iter().filter(|line| line.chars().count() > 160).count();
    let one_per_line = long * 5 >= filled.max(1);
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let mut open = false;
    let mut page = 1;
    for line in lines {
        let mut line = line;
        while let Some((before, after)) = line.split_once('\u{C}') {
            if before.trim().is_empty() {
                open = false;
            } else {
                add(&mut blocks, &mut open, before, paged.then_some(page));
                open = false;
            }
            page += 1;
            line = after;
        }
        if line.trim().is_empty() {
            open = false;
        } else {
            add(&mut blocks, &mut open, line, paged.then_some(page));
            open &= !one_per_line;
        }
    }
    blocks
}

fn add<'t>(blocks: &mut Vec<Block<'t>>, open: &mut bool, line: &'t str, page: Option<u32>) {
    match blocks.last_mut().filter(|_| *open) {
        Some(block) => block.lines.push(line),
        None => blocks.push(Block { lines: vec![line], page }),
    }
    *open = true;
}

/// Depth and text of the heading that a block begins with.
fn heading<'t>(lines: &[&'t str]) -> Option<(u8, &'t str)> {
    let first = lines.first()?.trim();
    if first.chars().count() > LONGEST_HEADING || first.is_empty() {
        return None;
    }
    if lines.len() > 1 && underline(lines[1]) && !underline(first) {
        return Some((if lines[1].trim_start().starts_with('-') { 2 } else { 1 }, first));
    }
    if fields::role(first).is_some_and(|role| lines.len() == 1 || role == Role::References) {
        return Some((1, first));
    }
    if lines.len() > 1 || ends_sentence(first) {
        return None;
    }
    let bare = fields::without_number(first);
    let number = first[..first.len() - bare.len()].trim().trim_end_matches('.');
    let begins = bare.chars().next().is_some_and(|c| c.is_uppercase() || !c.is_ascii());
    let words = bare.split_whitespace().count() <= 12;
    if !number.is_empty() && begins && words && number.chars().all(|c| c.is_ascii_alphanumeric() || c == '.')
    {
        return Some(((number.split('.').count()).min(6) as u8, first));
    }
    let letters = first.chars().filter(|c| c.is_alphabetic()).count();
    let capitals = letters >= 4
        && words
        && first.chars().all(|c| !c.is_lowercase() && (!c.is_alphabetic() || c.is_uppercase()));
    capitals.then_some((1, first))
}

/// A line of nothing but `===` or `---`.
fn underline(line: &str) -> bool {
    let line = line.trim();
    line.len() >= 3 && (line.chars().all(|c| c == '=') || line.chars().all(|c| c == '-'))
}

fn ends_sentence(line: &str) -> bool {
    line.trim_end().ends_with(['.', '!', '?', ',', ';', ':', '。', '、', '！', '？'])
}

/// A paragraph, or the items that its lines begin.
fn paragraph(lines: &[&str], draft: &mut Draft<'_>) {
    let listed = |line: &str| ["- ", "* ", "• ", "+ "].iter().any(|mark| line.trim_start().starts_with(mark));
    let numbered = |line: &str| {
        let line = line.trim_start();
        fields::unnumbered(line) != line
    };
    let items = if draft.in_references() {
        // Entries that are numbered, or that hang.
        let begins = |line: &str| numbered(line) || listed(line);
        let hanging = lines.len() > 1
            && lines[1..].iter().any(|line| line.starts_with(' '))
            && !lines[0].starts_with(' ');
        if lines.iter().any(|line| begins(line)) {
            split(lines, begins)
        } else if hanging {
            split(lines, |line| !line.starts_with(' '))
        } else {
            vec![lines.join("\n")]
        }
    } else if lines.first().is_some_and(|line| listed(line)) {
        for item in split(lines, listed) {
            let item = item.trim_start();
            draft.paragraph(Kind::ListItem, item.get(1..).unwrap_or(item).trim_start_matches('\u{2022}'));
        }
        return;
    } else {
        vec![lines.join("\n")]
    };
    for item in items {
        if draft::clean(&item).chars().any(char::is_alphanumeric) {
            draft.paragraph(Kind::Text, &item);
        }
    }
}

/// Lines joined from each that begins an item to the next.
fn split(lines: &[&str], begins: impl Fn(&str) -> bool) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    for line in lines {
        match items.last_mut().filter(|_| !begins(line)) {
            Some(item) => {
                item.push('\n');
                item.push_str(line);
            }
            None => items.push((*line).to_owned()),
        }
    }
    items
}
