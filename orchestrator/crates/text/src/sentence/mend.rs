//! Corrections of sentence boundaries that general rules get wrong in scientific text.
//!
//! Found by comparing with SciFact's own boundaries: "<2% … >" taken for a bracket that hides every full stop, lists
//! "(1) …, (2) …" cut at their numbers, "histone H2A.Z" and "(ref. 7)" cut inside, closing quotes left for the next.

/// Takes byte offsets of boundaries and returns those that stand, in order, without the text's ends.
pub(super) fn mend(text: &str, cuts: &[usize]) -> Vec<usize> {
    let mut kept: Vec<usize> = cuts
        .iter()
        .copied()
        .filter(|cut| *cut > 0 && text.is_char_boundary(*cut) && stands(text, *cut))
        .map(|cut| past_closing_quote(text, cut))
        .collect();
    kept.sort_unstable();
    kept.dedup();
    let mut all = missed(text, &kept);
    all.extend(&kept);
    all.sort_unstable();
    all.dedup();
    all.retain(|cut| *cut < text.len());
    all
}

/// Whether a boundary that the general rules found is one.
fn stands(text: &str, cut: usize) -> bool {
    let (before, after) = text.split_at(cut);
    let gap_before = &before[before.trim_end().len()..];
    let gap_after = &after[..after.len() - after.trim_start().len()];
    let (before, after) = (before.trim_end(), after.trim_start());
    if gap_before.contains('\n') || gap_after.contains('\n') {
        return true;
    }
    let Some(next) = after.chars().next() else { return true };
    let core = before.trim_end_matches(is_closing);
    if !core.ends_with(is_terminal) {
        return false;
    }
    if core.len() < before.len() && before.ends_with(['」', '』']) {
        return !CONTINUATIONS_JA.iter().any(|word| after.starts_with(word));
    }
    if !core.ends_with(['.', '?', '!']) {
        return true;
    }
    let word = last_word(&core[..core.len() - 1]);
    if core.ends_with('.') && ABBREVIATIONS.contains(&word.to_lowercase().as_str()) {
        return false;
    }
    // Without a space only "…of 54%.With a median" is a boundary; "H2A.Z" and "9.Δ" are names.
    let spaced = !gap_before.is_empty() || !gap_after.is_empty();
    spaced || next.is_uppercase() && after.chars().nth(1).is_some_and(char::is_lowercase)
}

/// Boundaries that the general rules missed: a full stop after a whole word, outside round brackets, before a
/// capitalized word.
fn missed(text: &str, cuts: &[usize]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut depth = 0_usize;
    let mut next_cut = cuts.iter().peekable();
    for (at, c) in text.char_indices() {
        while next_cut.next_if(|cut| **cut <= at).is_some() {
            depth = 0;
        }
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            '.' | '?' | '!' if depth == 0 => {
                let after = &text[at + 1..];
                let bare = after.trim_start();
                let mut letters = bare.chars();
                let capitalised = letters.next().is_some_and(char::is_uppercase)
                    && letters.next().is_some_and(|c| c.is_alphabetic() || c == ' ');
                if bare.len() < after.len() && capitalised && ends_word(&text[..at]) {
                    found.push(at + 1);
                }
            }
            _ => {}
        }
    }
    found
}

/// Whether a text before a full stop ends in a whole word: no abbreviation, no initial, no "St" or "Mr".
fn ends_word(text: &str) -> bool {
    let word = last_word(text);
    let value = word.trim_start_matches(|c: char| !c.is_ascii_digit());
    if word.is_empty() || value.parse::<f64>().is_ok() {
        return text.ends_with([')', ']', '%']) || !value.is_empty();
    }
    let mut letters = word.chars();
    let (first, second, third) = (letters.next(), letters.next(), letters.next());
    let initial = second.is_none() && !text[..text.len() - word.len()].ends_with('/');
    let title =
        third.is_none() && first.is_some_and(char::is_uppercase) && second.is_some_and(char::is_lowercase);
    !initial && !title && !word.contains('.') && !ABBREVIATIONS.contains(&word.to_lowercase().as_str())
}

/// A quotation mark that closes what the sentence opened belongs to the sentence.
fn past_closing_quote(text: &str, cut: usize) -> usize {
    let after = &text[cut..];
    let bare = after.trim_start();
    let Some(mark) = bare.chars().next() else { return cut };
    let end = cut + (after.len() - bare.len()) + mark.len_utf8();
    let rest = &text[end..];
    let alone = rest.is_empty() || rest.starts_with(char::is_whitespace);
    let closes = match mark {
        '”' | '»' => true,
        '"' => text[..cut].matches('"').count() % 2 == 1,
        _ => false,
    };
    if alone && closes { end } else { cut }
}

/// The run of characters before the end of `text` that no space or opening bracket interrupts.
fn last_word(text: &str) -> &str {
    text.rsplit(|c: char| c.is_whitespace() || matches!(c, '(' | '[' | ')' | ']' | '/'))
        .next()
        .unwrap_or_default()
}

fn is_terminal(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '…' | '。' | '！' | '？' | '．' | '｡' | '‼' | '⁇' | '⁈' | '⁉')
        || !c.is_ascii() && !c.is_alphanumeric() && !is_closing(c)
}

fn is_closing(c: char) -> bool {
    matches!(c, ')' | ']' | '}' | '"' | '\'' | '’' | '”' | '»' | '」' | '』' | '）' | '】' | '］')
}

/// After a closing quotation mark these go on with the sentence.
const CONTINUATIONS_JA: &[&str] = &[
    "と", "って", "は", "が", "を", "に", "の", "で", "も", "な", "だ", "、", "へ", "や", "から", "まで",
    "より",
];

/// Lower case, without the last full stop.
const ABBREVIATIONS: &[&str] = &[
    "approx", "ref", "refs", "fig", "figs", "eq", "eqs", "vs", "cf", "ca", "al", "e.g", "i.e", "eg", "ie",
    "viz", "sp", "spp", "subsp", "var", "no", "nos", "vol", "pp", "resp", "dr", "prof", "mr", "mrs", "st",
    "i.v", "i.p", "s.c", "i.m", "p.o", "incl", "max", "min", "ser", "suppl", "tab", "sect", "sec", "chap",
    "ed", "eds", "inc", "ltd", "co", "corp", "dept", "univ", "u.s", "u.k",
];
