//! What the first page of an article says of it: title, authors, identifiers, abstract.

use super::layout::Piece;
use super::lines::Line;
use super::section::{self, is_abstract};
use crate::extract::{BlockKind, PublishedDate, names};
use lyra_domain::{ArxivId, Doi, Identifier};

/// Pieces of the first page among which title and authors are looked for.
const LOOKED_AT: usize = 25;
/// Characters of a title.
const MIN_TITLE: usize = 8;
const MAX_TITLE: usize = 300;
/// A title is at least so much larger than the text, when something else is larger still.
const TITLE_SIZE: f64 = 1.2;
/// Pieces after the title that may hold names.
const BYLINES: usize = 6;
/// Characters of an abstract.
const MIN_ABSTRACT: usize = 80;
const MAX_ABSTRACT: usize = 6_000;

/// Words of a line that names no people.
const NO_NAMES: [&str; 26] = [
    "university",
    "department",
    "institute",
    "school",
    "faculty",
    "college",
    "hospital",
    "laboratory",
    "center",
    "research",
    "corporation",
    "gmbh",
    "journal",
    "received",
    "accepted",
    "published",
    "volume",
    "copyright",
    "abstract",
    "keywords",
    "conference",
    "proceedings",
    "www",
    "http",
    "e-mail",
    "article",
];

/// What is known; fields that the page does not tell are empty.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Front {
    pub(super) title: String,
    pub(super) authors: Vec<String>,
    pub(super) doi: Option<Doi>,
    pub(super) arxiv: Option<ArxivId>,
    pub(super) published: Option<PublishedDate>,
    pub(super) abstract_text: Option<String>,
}

/// Reads the first page; `vertical` is what stands in its margin.
pub(super) fn read(pieces: &[Piece], vertical: &str) -> Front {
    let first: Vec<&Piece> = pieces.iter().take_while(|piece| piece.page == 1).collect();
    let (title, after) = title(&first);
    let doi = doi(&first, vertical);
    Front {
        authors: after.map(|after| authors(&first[after..])).unwrap_or_default(),
        published: year(&first, vertical, doi.as_ref()).map(|year| PublishedDate {
            year,
            month: None,
            day: None,
        }),
        doi,
        arxiv: arxiv(&first, vertical),
        abstract_text: abstract_text(pieces),
        title,
    }
}

/// The piece in the largest font before the text begins, with those in the same font that follow it; and where the
/// next piece is.
fn title(first: &[&Piece]) -> (String, Option<usize>) {
    let before =
        first.iter().take(LOOKED_AT).position(|piece| is_abstract(&piece.text) || opens_abstract(piece));
    let before = before.filter(|at| *at > 0).unwrap_or(LOOKED_AT).min(first.len());
    let fits = |piece: &Piece| {
        let chars = piece.text.chars().count();
        let letters = piece.text.chars().filter(|c| c.is_alphabetic()).count();
        let wide = piece.text.chars().any(|c| c > '\u{3000}');
        (if wide { 5 } else { MIN_TITLE }..=MAX_TITLE).contains(&chars)
            && (wide || piece.text.split_whitespace().count() >= 2)
            && letters * 2 > chars
            && !section::is_usual(&piece.text)
            && piece.kind != BlockKind::Caption
            && !piece.text.contains("://")
    };
    let candidates = || (0..before).filter(|at| fits(first[*at]));
    let largest = candidates().map(|at| first[at].size).fold(0.0, f64::max);
    // A name of a few words may be set larger: a logo, a journal.
    let long =
        |at: &usize| first[*at].text.split_whitespace().count() >= 4 && first[*at].size > largest * 0.75;
    let start = candidates()
        .filter(long)
        .max_by(|a, b| first[*a].size.total_cmp(&first[*b].size).then(b.cmp(a)))
        .or_else(|| candidates().find(|at| first[*at].size > largest * 0.97));
    let Some(start) = start else { return (String::new(), None) };
    // A few words in a larger font, with no names under them, stand in a figure, when names stand under a title.
    let is_short = first[start].text.split_whitespace().count() < 4;
    let is_named = |at: usize| !authors(&first[(at + 1).min(before)..before]).is_empty();
    let body = body_size(first);
    let above = |at: &usize| {
        *at < start
            && first[*at].size > body * TITLE_SIZE
            && first[*at].text.split_whitespace().count() >= 4
            && is_named(*at)
    };
    let start = if is_short && !is_named(start) { candidates().find(above).unwrap_or(start) } else { start };
    let same = |piece: &&&Piece| (piece.size - first[start].size).abs() < first[start].size * 0.03;
    let more = first[start + 1..before].iter().take_while(same).count();
    let parts: Vec<&str> = first[start..=start + more].iter().map(|piece| piece.text.trim()).collect();
    let joined = parts.join(" ");
    // In a font that the text has too, only the first piece is the title.
    let whole = if joined.chars().count() <= MAX_TITLE { joined } else { first[start].text.clone() };
    let kept = if whole.len() > first[start].text.len() { more } else { 0 };
    (whole.trim_end_matches(['*', '†', '‡', '∗']).trim_end().to_owned(), Some(start + kept + 1))
}

/// `Abstract—We …`, in one paragraph.
fn opens_abstract(piece: &Piece) -> bool {
    inline_abstract(&piece.text).is_some()
}

fn inline_abstract(text: &str) -> Option<&str> {
    let lower: String = text.chars().take(8).collect::<String>().to_lowercase();
    let rest = if lower == "abstract" { text.get(8..)? } else { return None };
    let rest = rest.trim_start();
    let body = rest.trim_start_matches(['.', ':', '—', '–', '-', '―']).trim_start();
    (body.len() < rest.len() || body.chars().next().is_some_and(char::is_uppercase))
        .then_some(body)
        .filter(|body| body.chars().count() >= MIN_ABSTRACT)
}

/// The names under the title: the first pieces that hold nothing but names. Lines in one font are read together,
/// because a name may be divided between them. In columns, each begins with its names.
fn authors(after: &[&Piece]) -> Vec<String> {
    let ends =
        |piece: &&Piece| is_abstract(&piece.text) || opens_abstract(piece) || section::is_usual(&piece.text);
    let end = after.iter().position(ends).unwrap_or(after.len());
    let near = &after[..end.min(BYLINES)];
    let mut found: Vec<String> = Vec::new();
    let mut add = |people: Vec<String>| {
        for name in people {
            if !found.contains(&name) {
                found.push(name);
            }
        }
    };
    let mut by_line: Option<&Line> = None;
    for pieces in near.chunk_by(|a, b| (a.size - b.size).abs() < a.size * 0.03) {
        let lines: Vec<&Line> = pieces.iter().flat_map(|piece| &piece.lines).collect();
        let names = people(&by_lines(&lines));
        if !names.is_empty() {
            by_line = by_line.or(lines.first().copied());
            add(names);
            continue;
        }
        let mut is_over = false;
        for piece in pieces {
            let lines: Vec<&Line> = piece.lines.iter().collect();
            let names = people(&by_lines(&lines));
            is_over = names.is_empty() && by_line.is_some();
            if !names.is_empty() {
                by_line = by_line.or(lines.first().copied());
                add(names);
            } else if by_line.is_none() {
                // Up to the first line with other words: cities and companies read as names do.
                let named = lines.iter().map(|line| (*line, people_of(line)));
                let named = named.skip_while(|(_, names)| names.is_empty());
                for (line, names) in named.take_while(|(_, names)| !names.is_empty()) {
                    by_line = by_line.or(Some(line));
                    add(names);
                }
                is_over = by_line.is_some();
            }
        }
        if is_over {
            break;
        }
    }
    // Columns that were drawn after the first one begin at the same height.
    if let Some(by_line) = by_line {
        let level = |line: &&Line| {
            (line.y - by_line.y).abs() < line.size * 0.5
                && (line.size - by_line.size).abs() < line.size * 0.03
                && line.x > by_line.end
        };
        let beside = after[..end].iter().flat_map(|piece| &piece.lines).filter(level);
        for line in beside {
            add(people_of(line));
        }
    }
    found
}

/// Lines as one, with commas for wide gaps, which separate names as commas do.
fn by_lines(lines: &[&Line]) -> String {
    let mut text = String::new();
    let mut last: Option<Line> = None;
    for part in lines.iter().flat_map(|line| line.parts()) {
        let is_level = last.as_ref().is_some_and(|last| (last.y - part.y).abs() < part.size * 0.5);
        text.push_str(if is_level { ", " } else { " " });
        text.push_str(&part.without_raised());
        last = Some(part);
    }
    text
}

/// The people of one line, with wide gaps between their names or within.
fn people_of(line: &Line) -> Vec<String> {
    let apart = people(&by_lines(&[line]));
    if apart.is_empty() { people(&line.without_raised()) } else { apart }
}

/// The size that most of the text has.
fn body_size(pieces: &[&Piece]) -> f64 {
    let longest = pieces.iter().max_by_key(|piece| piece.text.chars().count());
    longest.map_or(0.0, |piece| piece.size)
}

/// The people of a by-line; none when it holds other words as well.
fn people(line: &str) -> Vec<String> {
    let lower = line.to_lowercase();
    if line.chars().count() > 1_500 || NO_NAMES.iter().any(|word| lower.contains(word)) {
        return Vec::new();
    }
    // Marks of affiliations, raised and drawn in the line.
    let plain: String = line
        .chars()
        .map(|c| {
            if c.is_ascii_digit() || "*†‡§¶#∗⋆⁎¹²³⁴⁵⁶⁷⁸⁹⁰".contains(c) {
                ','
            } else {
                c
            }
        })
        .collect();
    let names = names(Some(&plain));
    // Letters that mark affiliations, and degrees.
    let marks =
        |name: &String| name.chars().count() > 3 && !matches!(name.as_str(), "PhD" | "Ph.D." | "M.D.");
    let names: Vec<String> = names.into_iter().filter(marks).collect();
    let is_name = |name: &String| {
        let words: Vec<&str> = name.split([' ', '\u{A0}']).filter(|word| !word.is_empty()).collect();
        let wide = name.chars().all(|c| c > '\u{3000}' || c.is_whitespace());
        let small = [
            "de", "da", "di", "del", "der", "den", "la", "le", "van", "von", "zu", "al", "el", "bin", "dos",
            "y",
        ];
        let capital =
            |word: &&str| word.chars().next().is_some_and(char::is_uppercase) || small.contains(word);
        wide || ((2..=5).contains(&words.len()) && words.iter().all(capital))
    };
    if names.iter().all(is_name) { names } else { Vec::new() }
}

/// The DOI on the page, or the one that arXiv gives its preprint. Where there are several, none is known to be the
/// article's own, unless the page repeats it or marks it before the text begins.
fn doi(first: &[&Piece], vertical: &str) -> Option<Doi> {
    let mut found: Vec<Doi> = Vec::new();
    let texts = first.iter().map(|piece| piece.text.as_str());
    for identifier in texts.flat_map(Identifier::in_text) {
        if let Identifier::Doi(doi) = identifier
            && !found.contains(&doi)
        {
            found.push(doi);
        }
    }
    if let [doi] = found.as_slice() {
        return Some(doi.clone());
    }
    let stamped = Identifier::in_text(vertical).into_iter().find_map(|identifier| match identifier {
        Identifier::Arxiv(id) => Doi::parse(&format!("10.48550/arxiv.{id}")),
        Identifier::Doi(doi) => Some(doi),
        _ => None,
    });
    stamped.filter(|_| found.is_empty())
}

/// The stamp of arXiv, in the margin or on a line of its own.
fn arxiv(first: &[&Piece], vertical: &str) -> Option<ArxivId> {
    let stamp =
        |piece: &&&Piece| piece.text.get(..6).is_some_and(|start| start.eq_ignore_ascii_case("arxiv:"));
    let lines = first.iter().filter(stamp).map(|piece| piece.text.as_str());
    let stamped = std::iter::once(vertical).chain(lines).flat_map(Identifier::in_text);
    stamped.into_iter().find_map(|identifier| match identifier {
        Identifier::Arxiv(id) => Some(id),
        _ => None,
    })
}

/// Words before the year in which an article appeared.
const APPEARED: [&str; 9] =
    ["published", "accepted", "received", "submitted", "available online", "©", "copyright", "dated", "(c)"];
/// Bytes after such a word within which the year stands.
const YEAR_WITHIN: usize = 80;

/// The year in which the article appeared, as its first page or its identifier says.
fn year(first: &[&Piece], vertical: &str, doi: Option<&Doi>) -> Option<i32> {
    let arxiv = doi.and_then(Doi::arxiv).map(|id| id.to_string());
    let stamped = arxiv.and_then(|id| {
        let digits = id.get(..4).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
        digits[..2].parse::<i32>().ok().map(|year| 2000 + year)
    });
    if stamped.is_some() {
        return stamped;
    }
    let texts = first.iter().map(|piece| piece.text.as_str()).chain([vertical]);
    let years = texts.flat_map(|text| {
        let lower = text.to_lowercase();
        let found: Vec<i32> = APPEARED
            .iter()
            .flat_map(|word| lower.match_indices(word))
            .filter_map(|(at, word)| {
                let from = at + word.len();
                let to = lower.floor_char_boundary((from + YEAR_WITHIN).min(lower.len()));
                years(&lower[from..to]).next()
            })
            .collect();
        found
    });
    years.max()
}

/// Numbers of four digits that are years of articles.
fn years(text: &str) -> impl Iterator<Item = i32> {
    let numbers = text.split(|c: char| !c.is_ascii_digit()).filter(|digits| digits.len() == 4);
    numbers.filter_map(|digits| digits.parse().ok()).filter(|year| (1900..2100).contains(year))
}

/// What stands under the heading of an abstract, or behind its word.
fn abstract_text(pieces: &[Piece]) -> Option<String> {
    let early = pieces.iter().take_while(|piece| piece.page <= 2);
    for (at, piece) in early.enumerate() {
        if let Some(body) = inline_abstract(&piece.text) {
            return Some(body.to_owned());
        }
        if !is_abstract(&piece.text) {
            continue;
        }
        let body = pieces[at + 1..].iter().take_while(|piece| {
            !matches!(piece.kind, BlockKind::Heading { .. })
                && !piece.text.to_lowercase().starts_with("keyword")
        });
        let body = body.filter(|piece| piece.kind != BlockKind::Caption);
        let text = body.map(|piece| piece.text.as_str()).collect::<Vec<_>>().join("\n");
        let text: String = text.chars().take(MAX_ABSTRACT).collect();
        return Some(text).filter(|text| text.chars().count() >= MIN_ABSTRACT);
    }
    None
}
