//! Where the predicate of a question begins: behind its subject, which no mark shows.

use super::{Word, tables};

/// Where a predicate begins, and how many words further its verb stands.
pub(super) struct Predicate {
    pub(super) at: usize,
    pub(super) verb: usize,
}

/// The verb of "does X …", "can X …". The surest of its candidates; `None` when two are equally likely.
pub(super) fn after_do(words: &[Word], auxiliary: &str) -> Option<Predicate> {
    let rank = |i: usize| {
        let (word, before) = (&words[i], &words[i - 1]);
        if before.is_any(tables::BEFORE_NOUNS)
            || before.key == "or"
            || tables::positive(&before.key).is_some()
        {
            return None;
        }
        if word.raw.starts_with(['(', '[']) {
            return None;
        }
        let followed = |keys: &[&str]| words.get(i + 1).is_some_and(|next| next.is_any(keys));
        let last = i + 1 == words.len();
        match word.key.as_str() {
            "lead" | "contribute" => followed(&["to"]).then_some(3),
            "associate" => followed(&["with"]).then_some(3),
            "lower" | "slow" | "narrow" => (!last && !followed(tables::FOLLOWERS)).then_some(2),
            "be" => (auxiliary != "does" && auxiliary != "did").then_some(3),
            // "The use of …", "a change in …".
            "use" | "yield" | "release" | "sleep" | "delay" | "drive" => {
                (!last && !followed(tables::FOLLOWERS)).then_some(2)
            }
            key if tables::SURE.contains(&key) => Some(3),
            key if tables::LIKELY.contains(&key) => {
                let noun = followed(&["of", "in", "and", "on", "for", "or"]) && key != "help";
                Some(if noun { 1 } else { 2 })
            }
            key if tables::RARE.contains(&key) => Some(1),
            _ => None,
        }
    };
    // What a clause inside the question says is not its predicate.
    let open = (0..words.len()).find(|&i| {
        let gerund = words.get(i + 1).is_some_and(|next| next.key.ends_with("ing"));
        words[i].is_any(CLAUSES) && !(gerund && words[i].is_any(&["while", "when"]))
    });
    let found: Vec<(usize, u8)> =
        (1..open.unwrap_or(words.len()).max(1)).filter_map(|i| Some((i, rank(i)?))).collect();
    let best = found.iter().map(|(_, rank)| *rank).max()?;
    let follows = |place: usize| found.get(place + 1).filter(|(next, _)| *next == found[place].0 + 1);
    let helps = |place: usize| words[found[place].0].key == "help";
    let mut chosen = found.iter().position(|(_, rank)| *rank == best)?;
    // "Help reduce", "help patients reduce": the first of the two rules. "Help with homework" is a noun.
    let is_noun = |place: usize| words[found[place].0 + 1].is_any(tables::FOLLOWERS);
    chosen = (0..chosen).find(|&place| helps(place) && !is_noun(place)).unwrap_or(chosen);
    // "Wage increase causes …": the last of a run of equals.
    while !helps(chosen) && follows(chosen).is_some_and(|(_, rank)| *rank == best) {
        chosen += 1;
    }
    let at = found[chosen].0;
    if best == 1 && found.len() > 1 && words.len() > at + 1 {
        return None;
    }
    // A comma inside the subject opens a list or an aside.
    if words[..at].iter().any(|word| word.raw.ends_with([',', ':', ';'])) {
        return None;
    }
    let start = before_adverbs(words, at);
    Some(Predicate { at: start, verb: at - start })
}

/// The predicate of "is X …".
pub(super) fn after_be(words: &[Word]) -> Option<Predicate> {
    let ends = |i: usize| {
        words[i].ends()
            || words.get(i + 1).is_none_or(|next| next.is_any(tables::FOLLOWERS) || is_manner(next))
            || i + 2 == words.len() && words[i + 1].is_any(tables::LAST_ADVERBS)
    };
    let candidate = |i: usize| {
        let (word, before) = (&words[i], &words[i - 1]);
        if before.is_any(tables::BEFORE_NOUNS)
            && !before.is_any(&["more", "less", "most", "very", "no", "as"])
        {
            return false;
        }
        if word.raw.starts_with(['(', '[']) {
            return false;
        }
        let next = words.get(i + 1);
        let compared = next.is_some_and(|next| next.key == "than");
        match word.key.as_str() {
            "a" | "an" => true,
            "more" | "less" => words[i..].iter().any(|word| word.key == "than"),
            "as" => words[i + 1..].iter().take(4).any(|word| word.key == "as"),
            "too" | "worth" => next.is_some(),
            "considered" => next.is_some_and(|next| next.is_any(tables::ADJECTIVES)),
            key if tables::COMPARATIVES.contains(&key) => ends(i),
            key if tables::ADJECTIVES.contains(&key) || key.ends_with("able") && key.len() > 6 => ends(i),
            key if tables::PARTICIPLES.contains(&key) => ends(i),
            key if key.ends_with("ed") && key.len() > 4 => ends(i) && next.is_some(),
            key if key.ends_with("er") && compared => true,
            _ => false,
        }
    };
    let at = (1..words.len()).find(|&i| candidate(i))?;
    if words[..at].iter().any(|word| word.ends() || word.is_any(&["that", "which", "who"])) {
        return None;
    }
    // "The meat eaten daily is linked": a second predicate without a conjunction between them.
    let strong = |i: usize| {
        words[i].is_any(&[
            "linked",
            "associated",
            "effective",
            "better",
            "worse",
            "harmful",
            "safe",
            "related",
        ])
    };
    let doubtful = (at + 1..words.len()).any(|i| {
        strong(i)
            && candidate(i)
            && words[at].is_any(tables::PARTICIPLES)
            && !strong(at)
            && !words[at..i].iter().any(|word| word.is_any(&["and", "but", "to", "as", "be"]))
    });
    let start = before_adverbs(words, at);
    (!doubtful).then_some(Predicate { at: start, verb: at - start })
}

/// The participle of "has X …", or a comparison of what X has.
pub(super) fn after_have(words: &[Word]) -> Option<Predicate> {
    let participle = |i: usize| {
        let (key, before) = (words[i].key.as_str(), &words[i - 1]);
        let form =
            tables::PARTICIPLES.contains(&key) || key.ends_with("ed") && key.len() > 4 && i + 1 < words.len();
        form && !before.is_any(tables::BEFORE_NOUNS)
    };
    let compared = words.iter().any(|word| word.key == "than");
    let at = (1..words.len())
        .find(|&i| participle(i))
        .or_else(|| (1..words.len()).find(|&i| compared && words[i].is_any(tables::COMPARATIVES)))?;
    if words[..at].iter().any(|word| word.ends() || word.is_any(&["that", "which", "who"])) {
        return None;
    }
    let start = before_adverbs(words, at);
    Some(Predicate { at: start, verb: at - start })
}

/// Where the adverbs before a predicate begin; a subject of one word at least is left.
fn before_adverbs(words: &[Word], at: usize) -> usize {
    let run = words[1..at]
        .iter()
        .rev()
        .take_while(|word| (word.is_any(tables::ADVERBS) || is_manner(word)) && !word.ends())
        .count();
    at - run
}

/// "Slowly", but not "family".
pub(super) fn is_manner(word: &Word) -> bool {
    const OTHERS: &[&str] =
        &["family", "supply", "early", "daily", "elderly", "assembly", "anomaly", "monopoly", "only"];
    word.key.ends_with("ly") && word.key.len() > 4 && !word.is_any(OTHERS)
}

/// Words that open a clause inside a question.
const CLAUSES: &[&str] = &[
    "that", "which", "who", "whose", "when", "if", "because", "while", "than", "whether", "where", "unless",
    "although",
];
