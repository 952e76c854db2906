//! Forms of verbs that clauses are recognized by: a closed list, because the same stem also makes nouns ("improvement").

/// The form of a verb, as far as English shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// "improve": plural present, or after "may".
    Base,
    /// "improves"
    Third,
    /// "improved": past, participle, or adjective.
    Past,
}

/// A form of a listed verb.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Verb {
    /// The base form.
    pub(super) base: &'static str,
    pub(super) form: Form,
    /// It says how something changes something, or changes: two of them in a row are two findings.
    pub(super) change: bool,
    /// Its past tense is the same as a participle that may stand after a noun ("cells produced by …").
    pub(super) regular: bool,
}

/// The verb that a lower-case word is a form of.
pub(super) fn verb(word: &str) -> Option<Verb> {
    let irregular = IRREGULAR.iter().find_map(|&(base, third, past, change)| {
        let form = [(base, Form::Base), (third, Form::Third), (past, Form::Past)];
        let form = form.into_iter().find(|(known, _)| *known == word)?.1;
        Some(Verb { base, form, change, regular: false })
    });
    irregular.or_else(|| of(CHANGE, word, true)).or_else(|| of(OTHER, word, false))
}

fn of(bases: &'static [&'static str], word: &str, change: bool) -> Option<Verb> {
    bases.iter().find_map(|base| Some(Verb { base, form: form_of(base, word)?, change, regular: true }))
}

fn form_of(base: &str, word: &str) -> Option<Form> {
    let (stem, third, past) = if let Some(stem) = base.strip_suffix('e') {
        (stem, "es", "ed")
    } else if let Some(stem) = base.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'o'])) {
        (stem, "ies", "ied")
    } else if base.ends_with(['s', 'x']) || base.ends_with("ch") || base.ends_with("sh") {
        (base, "es", "ed")
    } else {
        (base, "s", "ed")
    };
    let ending = word.strip_prefix(stem)?;
    if word == base {
        Some(Form::Base)
    } else if ending == third {
        Some(Form::Third)
    } else if ending == past {
        Some(Form::Past)
    } else {
        None
    }
}

/// A verb before which no object of its own is needed to make a clause: "rose in mice" is finite, "reduced in mice" is not.
pub(super) fn stands_alone(verb: Verb) -> bool {
    !verb.regular || ALONE.contains(&verb.base)
}

/// Whether what follows with "and" may be its object as well ("prevented weight loss and reduced appetite").
pub(super) fn undoes(verb: Verb) -> bool {
    UNDOING.contains(&verb.base)
}

/// Whether the base form is a noun or an adjective as well ("a recall", "lower").
pub(super) fn is_noun_too(verb: Verb) -> bool {
    NOUNS.contains(&verb.base)
}

/// The verb turned round, in the same form.
pub(super) fn opposite(word: &str) -> Option<String> {
    let verb = verb(word)?;
    let base = OPPOSITES.iter().find_map(|&(a, b)| match verb.base {
        base if base == a => Some(b),
        base if base == b => Some(a),
        _ => None,
    })?;
    Some(formed(base, verb.form))
}

/// A form of a verb: a listed one as the list says, any other as if it were regular.
pub(crate) fn formed(base: &str, form: Form) -> String {
    if let Some(&(base, third, past, _)) = IRREGULAR.iter().find(|(known, ..)| *known == base) {
        return match form {
            Form::Base => base,
            Form::Third => third,
            Form::Past => past,
        }
        .to_owned();
    }
    let endings: &[&str] = match form {
        Form::Base => return base.to_owned(),
        Form::Third => &["s", "es", "ies"],
        Form::Past => &["d", "ed", "ied"],
    };
    let stems = [base, base.strip_suffix('y').unwrap_or(base)];
    let made = stems.iter().flat_map(|stem| endings.iter().map(move |ending| format!("{stem}{ending}")));
    made.into_iter().find(|word| form_of(base, word) == Some(form)).unwrap_or_else(|| base.to_owned())
}

/// Base, third person, past, and whether it says how something changes.
const IRREGULAR: &[(&str, &str, &str, bool)] = &[
    ("rise", "rises", "rose", true),
    ("fall", "falls", "fell", true),
    ("grow", "grows", "grew", true),
    ("drop", "drops", "dropped", true),
    ("lose", "loses", "lost", true),
    ("lead", "leads", "led", false),
    ("become", "becomes", "became", false),
    ("occur", "occurs", "occurred", false),
    ("bind", "binds", "bound", false),
    ("give", "gives", "gave", false),
    ("make", "makes", "made", false),
    ("bring", "brings", "brought", false),
    ("take", "takes", "took", false),
    ("drive", "drives", "drove", false),
    ("show", "shows", "showed", false),
    ("have", "has", "had", false),
];

const CHANGE: &[&str] = &[
    "increase",
    "decrease",
    "reduce",
    "improve",
    "enhance",
    "raise",
    "lower",
    "impair",
    "worsen",
    "strengthen",
    "weaken",
    "accelerate",
    "slow",
    "boost",
    "diminish",
    "attenuate",
    "suppress",
    "inhibit",
    "promote",
    "stimulate",
    "activate",
    "induce",
    "prevent",
    "block",
    "reverse",
    "abolish",
    "shorten",
    "lengthen",
    "prolong",
    "double",
    "triple",
    "halve",
    "affect",
    "alter",
    "change",
    "modulate",
    "regulate",
    "upregulate",
    "downregulate",
    "decline",
    "gain",
    "cause",
    "trigger",
    "protect",
    "restore",
    "ameliorate",
    "alleviate",
    "mitigate",
    "facilitate",
    "elevate",
];

/// Other verbs that make a finding.
const OTHER: &[&str] = &[
    "remain",
    "differ",
    "correlate",
    "depend",
    "contribute",
    "play",
    "appear",
    "seem",
    "persist",
    "interact",
    "require",
    "contain",
    "include",
    "exist",
    "exhibit",
    "display",
    "produce",
    "provide",
    "confer",
    "respond",
    "benefit",
    "perform",
    "survive",
    "need",
    "help",
    "allow",
    "enable",
    "reach",
    "vary",
    "score",
    "remember",
    "recall",
    "predict",
    "outperform",
    "exceed",
    "mediate",
    "encode",
    "express",
    "support",
    "suggest",
    "indicate",
    "reveal",
    "demonstrate",
    "result",
    "act",
    "fail",
    "tend",
    "lack",
    "harm",
    "account",
    "form",
    "control",
];

/// Regular verbs whose past tense needs no object.
const ALONE: &[&str] = &[
    "increase",
    "decrease",
    "improve",
    "worsen",
    "decline",
    "double",
    "triple",
    "slow",
    "accelerate",
    "change",
    "remain",
    "differ",
    "correlate",
    "depend",
    "contribute",
    "appear",
    "seem",
    "persist",
    "interact",
    "respond",
    "benefit",
    "perform",
    "survive",
    "vary",
    "fail",
    "tend",
    "act",
    "result",
    "lack",
    "help",
    "need",
    "exist",
];

const UNDOING: &[&str] = &[
    "prevent",
    "block",
    "reverse",
    "abolish",
    "ameliorate",
    "alleviate",
    "mitigate",
    "delay",
    "restore",
    "cause",
];

const NOUNS: &[&str] = &[
    "rise", "fall", "drop", "drive", "show", "lead", "take", "increase", "decrease", "lower", "slow",
    "boost", "block", "reverse", "double", "triple", "change", "delay", "decline", "gain", "cause",
    "trigger", "limit", "play", "display", "benefit", "need", "help", "reach", "score", "recall", "support",
    "result", "act", "lack", "harm", "account", "form", "control", "exhibit", "bound", "affect",
];

/// Pairs that turn a statement round.
const OPPOSITES: &[(&str, &str)] = &[
    ("increase", "decrease"),
    ("raise", "lower"),
    ("improve", "impair"),
    ("enhance", "reduce"),
    ("rise", "fall"),
    ("grow", "decline"),
    ("gain", "lose"),
    ("strengthen", "weaken"),
    ("accelerate", "slow"),
    ("promote", "inhibit"),
    ("stimulate", "suppress"),
    ("activate", "block"),
    ("induce", "prevent"),
    ("upregulate", "downregulate"),
    ("prolong", "shorten"),
    ("lengthen", "shorten"),
    ("boost", "diminish"),
    ("cause", "prevent"),
    ("protect", "harm"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn forms() {
        let check = |word, expect: Option<(&str, Form)>| {
            assert_eq!(verb(word).map(|verb| (verb.base, verb.form)), expect, "{word}");
        };
        check("improves", Some(("improve", Form::Third)));
        check("improve", Some(("improve", Form::Base)));
        check("improved", Some(("improve", Form::Past)));
        check("varied", Some(("vary", Form::Past)));
        check("suppresses", Some(("suppress", Form::Third)));
        check("fell", Some(("fall", Form::Past)));
        check("improvement", None);
        check("activity", None);
        check("", None);
    }

    #[test]
    fn turned_round() {
        let check = |word, expect: Option<&str>| assert_eq!(opposite(word).as_deref(), expect, "{word}");
        check("improves", Some("impairs"));
        check("rose", Some("fell"));
        check("suppresses", Some("stimulates"));
        check("declined", Some("grew"));
        check("remembered", None);
    }

    #[test]
    fn every_form_is_recognised() {
        let bases = CHANGE.iter().chain(OTHER).chain(IRREGULAR.iter().map(|(base, ..)| base));
        for base in bases {
            for form in [Form::Base, Form::Third, Form::Past] {
                let word = formed(base, form);
                assert_eq!(verb(&word).map(|verb| (verb.base, verb.form)), Some((*base, form)), "{word}");
            }
        }
        for (a, b) in OPPOSITES {
            assert!(verb(a).is_some() && verb(b).is_some(), "{a} {b}");
        }
    }

    proptest! {
        #[test]
        fn any_word_will_do(word in any::<String>()) {
            let _ = (verb(&word), opposite(&word));
        }
    }
}
