//! Words of a claim that name one thing and hardly have synonyms, and how a passage may write them.

mod tables;

use std::collections::{BTreeSet, HashSet};
use tables::{
    ENDINGS, GREEK, OF_A_PLACE, PLACES_AND_TIMES, PLAIN_WORDS, SPELLINGS, TUMORS, UNITS, WIDELY_KNOWN,
};

/// The words of a text in several forms.
#[derive(Debug, Clone)]
pub(super) struct Words {
    /// As they stand, compounds whole ("IL-6").
    pub(super) plain: Vec<String>,
    /// Lower case; compounds whole and in parts.
    pub(super) low: HashSet<String>,
    /// Without marks, in one spelling.
    bare: BTreeSet<String>,
    /// All of the text in that form, without spaces.
    joined: String,
    /// Where words and parts of compounds begin there, and its end.
    starts: BTreeSet<usize>,
    /// First five letters of the longer ones.
    beginnings: HashSet<String>,
}

impl Words {
    pub(super) fn of(text: &str) -> Self {
        let plain = split(text);
        let pieces = || plain.iter().flat_map(|word| std::iter::once(word.as_str()).chain(parts(word)));
        let low: HashSet<String> = pieces().map(lower).collect();
        let bare: BTreeSet<String> = pieces().map(bare).filter(|word| !word.is_empty()).collect();
        let beginnings = low.iter().filter_map(|word| beginning(word)).collect();
        let (mut joined, mut starts) = (String::with_capacity(text.len()), BTreeSet::new());
        for part in plain.iter().flat_map(|word| parts_or_whole(word)) {
            starts.insert(joined.len());
            joined.push_str(&self::bare(part));
        }
        starts.insert(joined.len());
        Self { plain, low, bare, joined, starts, beginnings }
    }

    /// Whether a lower-case word is there, or one with the same first five letters.
    pub(super) fn has_stem(&self, word: &str) -> bool {
        self.low.contains(word)
            || self.low.contains(word.trim_end_matches('s'))
            || beginning(word).is_some_and(|beginning| self.beginnings.contains(&beginning))
    }

    /// Whether some lower-case word matches one of the patterns: `cancer`, `cancer*`, `*oma`; or some word is one of
    /// those that begin with a capital: `AIDS`.
    pub(super) fn matches(&self, patterns: &str) -> bool {
        patterns.split_whitespace().any(|pattern| {
            if let Some(end) = pattern.strip_prefix('*') {
                self.low.iter().any(|word| word.ends_with(end))
            } else if let Some(start) = pattern.strip_suffix('*') {
                self.low.iter().any(|word| word.starts_with(start))
            } else if pattern.starts_with(char::is_uppercase) {
                self.plain.iter().flat_map(|word| parts_or_whole(word)).any(|part| part == pattern)
            } else {
                self.low.contains(pattern)
            }
        })
    }

    /// Whether some word in the one spelling begins so.
    fn begins(&self, start: &str) -> bool {
        self.bare.range(start.to_owned()..).next().is_some_and(|word| word.starts_with(start))
    }

    /// Whether a term is there in some way of writing it.
    pub(super) fn have(&self, term: &Term<'_>) -> bool {
        let word = bare(term.text);
        let singular = word.strip_suffix('s').unwrap_or(&word);
        self.low.contains(&lower(term.text))
            || self.bare.contains(&word)
            || self.bare.contains(singular)
            || self.bare.contains(&format!("{word}s"))
            || (singular.chars().count() >= 4 && self.runs(singular))
            || self.have_part(term)
            || self.have_species(term)
            || (word.ends_with("oma") || word.ends_with("omas") || word.ends_with("leukemia"))
                && self.matches(TUMORS)
            || match term.kind {
                Kind::Symbol => self.have_letters(&word) || self.spell(term.text),
                Kind::Name => self.have_name(term) || self.have_like(&word) || self.abbreviate(term),
                Kind::Technical => self.have_like(&word) || self.abbreviate(term),
            }
    }

    /// Whether some words that follow each other make up the word ("Fibro nectin"), or one contains it.
    fn runs(&self, word: &str) -> bool {
        self.joined.match_indices(word).any(|(start, _)| {
            let end = start + word.len();
            let ends = self.starts.contains(&end)
                || self.joined[end..].starts_with('s') && self.starts.contains(&(end + 1));
            let in_one = self.starts.range(start + 1..end).next().is_none();
            in_one || (ends && self.starts.contains(&start))
        })
    }

    /// A part of a compound ("ERBB2" of "ERBB2-positive"), or one member of a pair ("OCT4" of "OCT3/4").
    fn have_part(&self, term: &Term<'_>) -> bool {
        let family = family(&bare(term.text));
        let named = |part: &str| match part {
            figure if is_figure(figure) => Some(format!("{family}{figure}")),
            word => (word.chars().count() > 1).then(|| bare(word)),
        };
        parts(term.text).filter_map(named).any(|part| {
            self.bare.contains(&part) || beginning(&part).is_some_and(|beginning| self.begins(&beginning))
        })
    }

    /// A species with its genus cut to a letter: "E. coli" for "Escherichia coli".
    fn have_species(&self, term: &Term<'_>) -> bool {
        let species = term.around.get(term.place + 1).filter(|word| word.starts_with(char::is_lowercase));
        let genus = term.text.chars().next().filter(|letter| letter.is_uppercase());
        let (Some(species), Some(genus)) = (species, genus) else { return false };
        let mut pairs = self.plain.iter().zip(self.plain.iter().skip(1));
        pairs.any(|(one, other)| one.chars().eq([genus]) && other == species)
    }

    /// The family that a symbol is of: "TRPV" of "TRPV1", and no other member of it.
    fn have_letters(&self, word: &str) -> bool {
        let letters = family(word);
        let whole =
            |word: &String| word.strip_prefix(&letters).is_some_and(|rest| !rest.contains(char::is_numeric));
        letters.chars().count() >= 3
            && self.bare.range(letters.clone()..).take_while(|w| w.starts_with(&letters)).any(whole)
    }

    /// Another word of a name of several ("Donald Trump").
    fn have_name(&self, term: &Term<'_>) -> bool {
        term.run.iter().any(|word| self.bare.contains(&bare(word)))
    }

    /// An inflection, a derivation or another spelling: a shared beginning, or most groups of three letters.
    fn have_like(&self, word: &str) -> bool {
        let length = word.chars().count();
        let start: String = word.chars().take(length.saturating_sub(4).max(5)).collect();
        (length >= 5 && self.begins(&start))
            || self.bare.iter().any(|other| {
                other.len().abs_diff(word.len()) <= word.len()
                    && other.len() >= 4
                    && alike(word, other) >= ALIKE
            })
    }

    /// Whether words of the text spell an acronym: "tumor necrosis factor" for "TNF".
    fn spell(&self, acronym: &str) -> bool {
        let letters: Vec<char> = acronym
            .trim_end_matches('s')
            .chars()
            .filter(|c| c.is_alphabetic())
            .flat_map(char::to_lowercase)
            .collect();
        let words: Vec<String> = self
            .plain
            .iter()
            .flat_map(|word| parts_or_whole(word))
            // Another symbol spells nothing.
            .map(|word| if is_symbol(word) { "#".to_owned() } else { lower(word) })
            .filter(|word| !word.is_empty())
            .collect();
        letters.len() >= 2
            && (0..words.len()).any(|start| {
                words[start].starts_with(letters[0])
                    && spells(&letters, &words[start..words.len().min(start + letters.len() + 3)], false)
            })
    }

    /// Whether the text has the acronym of the claim's words around the term: "MS" for "multiple sclerosis".
    fn abbreviate(&self, term: &Term<'_>) -> bool {
        let initials: Vec<char> = term.around.iter().filter_map(|word| word.chars().next()).collect();
        (2..=5).any(|length| {
            (0..initials.len()).any(|start| {
                let Some(letters) = initials.get(start..start + length) else { return false };
                let holds = (start..start + length).contains(&term.place);
                let acronym: String = letters.iter().flat_map(|c| c.to_uppercase()).collect();
                holds
                    && self.plain.iter().any(|word| {
                        word.strip_prefix(acronym.as_str())
                            .is_some_and(|rest| rest.is_empty() || rest == "s" || is_figure(rest))
                    })
            })
        })
    }
}

/// From this share of common groups of three letters on two words are taken for one.
const ALIKE: f64 = 0.6;

/// What makes a word of a claim one that has to occur.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Capitals or digits: "TNF", "IL-6", "p53".
    Symbol,
    /// A capital inside the sentence.
    Name,
    /// Built as technical words are: "sclerosis", "pravastatin".
    Technical,
}

/// A word that has to occur.
#[derive(Debug, Clone)]
pub(super) struct Term<'c> {
    pub(super) text: &'c str,
    kind: Kind,
    /// The capitalized words that it stands among, itself included.
    run: &'c [String],
    /// The words of the claim, compounds in parts, around it.
    around: Vec<&'c str>,
    /// Its place among them.
    place: usize,
}

/// The words of a claim that have to occur.
pub(super) fn terms(words: &[String]) -> Vec<Term<'_>> {
    let whole: Vec<(usize, &str)> = words
        .iter()
        .enumerate()
        .flat_map(|(i, word)| parts_or_whole(word).map(move |part| (i, part)))
        .collect();
    words
        .iter()
        .enumerate()
        .filter_map(|(i, word)| {
            let kind = kind(word, i == 0)?;
            let capital = |word: &String| word.starts_with(char::is_uppercase);
            let start = words[..i].iter().rposition(|word| !capital(word)).map_or(0, |at| at + 1).min(i);
            let end =
                words[i..].iter().position(|word| !capital(word)).map_or(words.len(), |at| i + at).max(i + 1);
            let first = whole.iter().position(|(at, _)| *at == i)?;
            let from = first.saturating_sub(4);
            let around = whole[from..whole.len().min(first + 5)].iter().map(|(_, part)| *part).collect();
            Some(Term { text: word, kind, run: &words[start..end], around, place: first - from })
        })
        .collect()
}

fn kind(word: &str, first: bool) -> Option<Kind> {
    let low = lower(word);
    let count = |test: fn(char) -> bool| word.chars().filter(|c| test(*c)).count();
    let (capitals, digits) = (count(char::is_uppercase), count(char::is_numeric));
    let letters = count(char::is_alphabetic);
    if letters == 0 || WIDELY_KNOWN.contains(&low.as_str()) {
        return None;
    }
    // Decades and ages: "mid-1990s", "over-65s".
    if parts_or_whole(word).any(|part| part.strip_suffix('s').is_some_and(is_figure)) {
        return None;
    }
    let figure_first = word.starts_with(char::is_numeric);
    if digits > 0
        && (letters >= 2 || capitals > 0)
        && letters + digits >= 3
        && !(figure_first && capitals == 0)
    {
        let unit = low.trim_start_matches(|c: char| c.is_numeric() || matches!(c, '.' | '-'));
        return (!(figure_first && UNITS.iter().any(|known| unit.starts_with(known))))
            .then_some(Kind::Symbol);
    }
    if parts_or_whole(word).any(|part| part.chars().filter(|c| c.is_uppercase()).count() >= 2) {
        return Some(Kind::Symbol);
    }
    if word.contains('-') {
        return None;
    }
    let technical = low.chars().count() >= 6 && ENDINGS.iter().any(|ending| low.ends_with(ending));
    if technical && !PLAIN_WORDS.contains(&low.as_str()) {
        return Some(Kind::Technical);
    }
    let name = capitals == 1 && word.starts_with(char::is_uppercase) && !first && low.chars().count() >= 4;
    (name
        && !PLACES_AND_TIMES.contains(&low.as_str())
        && !OF_A_PLACE.iter().any(|ending| low.ends_with(ending)))
    .then_some(Kind::Name)
}

/// Whether words spell these letters, each by its first letter and perhaps further ones; small words may stand between.
fn spells(letters: &[char], words: &[String], inside: bool) -> bool {
    let Some((&letter, after)) = letters.split_first() else { return true };
    let Some((word, rest)) = words.split_first() else { return false };
    if !word.starts_with(letter) {
        return inside && word.len() <= 4 && spells(letters, rest, true);
    }
    let mut left = after;
    let mut within = word.chars().skip(1);
    loop {
        if spells(left, rest, true) {
            return true;
        }
        let Some((&next, after)) = left.split_first() else { return true };
        // "lipopolysaccharide" for "LPS", "knockout serum" for "KOS".
        if !within.any(|c| c == next) {
            return false;
        }
        left = after;
        if left.is_empty() {
            return letters.len() > 2;
        }
    }
}

/// Share of common groups of three letters (Dice), 0 to 1.
fn alike(a: &str, b: &str) -> f64 {
    let groups = |word: &str| -> HashSet<[char; 3]> {
        let chars: Vec<char> = std::iter::once(' ').chain(word.chars()).chain([' ']).collect();
        chars.windows(3).filter_map(|group| group.try_into().ok()).collect()
    };
    let (a, b) = (groups(a), groups(b));
    let all = a.len() + b.len();
    if all == 0 { 0.0 } else { 2.0 * a.intersection(&b).count() as f64 / all as f64 }
}

/// Words with the marks that hold them together: "IL-6", "Crohn's", "0.5".
pub(super) fn split(text: &str) -> Vec<String> {
    let chars: Vec<char> =
        text.chars().map(|c| if matches!(c, '\u{2010}'..='\u{2013}') { '-' } else { c }).collect();
    let at = |i: usize| chars.get(i).is_some_and(|c| c.is_alphanumeric());
    let mut words = Vec::new();
    let mut word = String::new();
    for (i, &c) in chars.iter().enumerate() {
        let joins = matches!(c, '-' | '\'' | '\u{2019}' | '.' | '/') && !word.is_empty() && at(i + 1);
        if c.is_alphanumeric() || joins {
            word.push(c);
        } else if !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// The parts of a compound; none of a simple word.
fn parts(word: &str) -> impl Iterator<Item = &str> {
    let compound = word.contains(['-', '/']);
    word.split(['-', '/']).filter(move |part| compound && !part.is_empty())
}

fn parts_or_whole(word: &str) -> impl Iterator<Item = &str> {
    word.split(['-', '/']).filter(|part| !part.is_empty())
}

/// Lower case, without the possessive.
pub(super) fn lower(word: &str) -> String {
    let low = word.to_lowercase();
    low.strip_suffix("'s").or_else(|| low.strip_suffix("\u{2019}s")).unwrap_or(&low).to_owned()
}

/// One spelling: letters and digits alone, Greek letters by name, American vowels, known families by their symbol.
fn bare(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in lower(text).chars().filter(|c| c.is_alphanumeric()) {
        match GREEK.iter().find(|(letter, _)| *letter == c) {
            Some((_, name)) => out.push_str(name),
            None => out.push(c),
        }
    }
    for (from, to) in SPELLINGS {
        if out.contains(from) {
            out = out.replace(from, to);
        }
    }
    out
}

/// The letters that a symbol begins with, without the number of the member: "TRPV" of "TRPV1".
fn family(symbol: &str) -> String {
    symbol.chars().take_while(|c| c.is_alphabetic()).collect()
}

/// The first five letters of a word that has as many.
fn beginning(word: &str) -> Option<String> {
    let start: String = word.chars().take(5).collect();
    (start.chars().count() == 5).then_some(start)
}

/// Whether a word has several capitals or a digit: "EGFR", "Klf2".
fn is_symbol(word: &str) -> bool {
    word.contains(char::is_numeric) || word.chars().filter(|c| c.is_uppercase()).count() > 1
}

fn is_figure(text: &str) -> bool {
    !text.is_empty() && text.chars().all(char::is_numeric)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(claim: &str, passage: &str, absent: &[&str]) {
        let words = split(claim);
        let passage = Words::of(passage);
        let found: Vec<&str> =
            terms(&words).iter().filter(|term| !passage.have(term)).map(|term| term.text).collect();
        assert_eq!(found, absent, "{claim} | {passage:?}");
    }

    #[test]
    fn names_that_are_not_there() {
        check("Vitamin D protects from multiple sclerosis.", "Vitamin D levels and bone.", &["sclerosis"]);
        check("FGF21 lowers glucose.", "A factor lowers glucose.", &["FGF21"]);
        check("The drug pravastatin helps.", "The drug rosiglitazone helps.", &["pravastatin"]);
        check("Loss of ERK slows growth.", "EGFR, KRAS and growth.", &["ERK"]);
        check("Loss of Klf4 slows growth.", "Klf2, Klf5 and growth.", &["Klf4"]);
        check("Fish recovered in the Andes.", "Fish recovered in lakes.", &["Andes"]);
        check("The form IRGMd kills cells.", "IRGM directly kills cells.", &["IRGMd"]);
        check("Pallidotomy helps.", "Deep brain stimulation of the pallidum helps.", &["Pallidotomy"]);
    }

    #[test]
    fn names_in_other_forms() {
        check("Vitamin D protects from multiple sclerosis.", "Vitamin D and MS: a cohort.", &[]);
        check("TNF-alpha rises.", "TNFα rises.", &[]);
        check("TNF rises.", "Tumor necrosis factor rises.", &[]);
        check("Caspase-11 rises.", "Caspase 11 rises, and caspases 11a.", &[]);
        check("The fibronectin matrix grows.", "The fibro nectins grow.", &[]);
        check("LPS activates cells.", "Lipopolysaccharide activates cells.", &[]);
        check("IL-6 rises.", "Interleukin 6 rises.", &[]);
        check("Interleukin-6 rises.", "IL-6 rises.", &[]);
        check("NF-kB is active.", "NF-κB is active.", &[]);
        check("Arterial stiffness in uraemia.", "Uremic patients.", &[]);
        check("ERBB2-positive tumors shrink.", "ERBB2 tumors shrink.", &[]);
        check("Loss of OCT3/4 stops growth.", "Oct4 and growth.", &[]);
        check("Loss of OCT3/4 stops growth.", "Oct6 and growth.", &["OCT3/4"]);
        check("Strains of Escherichia coli grow.", "Growth of E. coli.", &[]);
        check("Strains of Escherichia coli grow.", "Growth of B. coli.", &["Escherichia"]);
        check("He worked for Donald Trump.", "He worked for Mr Trump.", &[]);
        check("Of 65-year-olds 20% in the US died in 2019.", "Some died.", &[]);
    }

    proptest! {
        #[test]
        fn any_text_has_its_own_terms(text in any::<String>(), near in "[A-Za-z0-9α-ω' ./-]{0,60}") {
            for text in [text, near] {
                let words = split(&text);
                let passage = Words::of(&text);
                prop_assert!(terms(&words).iter().all(|term| passage.have(term)), "{text:?}");
            }
        }
    }
}
