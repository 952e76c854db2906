//! A long text in parts that a browser shows at once.

use lyra_corpus::Passage;

/// Passages of a text in parts of about `most` bytes, in order: together they are the whole text. A passage that is longer
/// is cut between its paragraphs, and a paragraph that is longer between two characters. There is one part at least.
pub(super) fn of<'a>(passages: &[Passage<'a>], most: usize) -> Vec<Vec<Passage<'a>>> {
    let mut parts = vec![Vec::new()];
    let mut used = 0;
    for piece in passages.iter().flat_map(|passage| cut(*passage, most)) {
        if used > 0 && used + piece.text.len() > most {
            parts.push(Vec::new());
            used = 0;
        }
        used += piece.text.len();
        if let Some(part) = parts.last_mut() {
            part.push(piece);
        }
    }
    parts
}

fn cut(passage: Passage<'_>, most: usize) -> Vec<Passage<'_>> {
    let mut pieces = Vec::new();
    let mut rest = passage.text;
    while rest.len() > most {
        let fits = rest.floor_char_boundary(most);
        // A limit below the length of one character still makes progress.
        let fits = if fits == 0 { rest.chars().next().map_or(rest.len(), char::len_utf8) } else { fits };
        let end = rest[..fits].rfind('\n').filter(|end| *end > 0).unwrap_or(fits);
        pieces.push(Passage { text: &rest[..end], ..passage });
        rest = rest[end..].trim_start_matches('\n');
    }
    if !rest.is_empty() {
        pieces.push(Passage { text: rest, ..passage });
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passage<'a>(heading: &'a str, text: &'a str) -> Passage<'a> {
        Passage { heading: Some(heading), page: None, text }
    }

    fn texts<'a>(passages: &[Passage<'a>], most: usize) -> Vec<Vec<&'a str>> {
        of(passages, most).iter().map(|part| part.iter().map(|piece| piece.text).collect()).collect()
    }

    #[test]
    fn passages_stay_together_where_they_fit() {
        let all = [passage("a", "1234"), passage("b", "5678"), passage("c", "9")];
        assert_eq!(texts(&all, 8), [vec!["1234", "5678"], vec!["9"]]);
        assert_eq!(texts(&all, 100).len(), 1);
        assert_eq!(texts(&[], 8), [Vec::<&str>::new()]);
    }

    #[test]
    fn long_ones_are_cut_between_paragraphs_then_characters() {
        assert_eq!(texts(&[passage("a", "one\ntwo\nthree")], 8), [vec!["one\ntwo"], vec!["three"]]);
        assert_eq!(texts(&[passage("a", "昼寝は")], 4), [["昼"], ["寝"], ["は"]]);
        assert_eq!(texts(&[passage("a", "昼寝")], 1), [["昼"], ["寝"]]);
    }
}
