//! Numbers in one form, so that figures can be compared.

use crate::word::{Analysis, tokens};
use std::collections::BTreeSet;

/// The numbers of a text and the names that hold digits ("p53"), each in one form and once.
///
/// `1,200` and `1200` are the same, `1,2` and `1.2` too; what is a unit or a sign stands beside it and is not read.
pub fn numbers(text: &str) -> BTreeSet<String> {
    tokens(text, Analysis { stem: false, stop: false })
        .into_iter()
        .filter(|token| is_number(&token.text))
        .map(|token| plain(&token.text))
        .collect()
}

/// Whether a token has a digit.
pub(crate) fn is_number(token: &str) -> bool {
    token.contains(|c: char| c.is_numeric())
}

/// A number in one form: `1,200` and `1200` are the same, `1,2` and `1.2` too.
pub(crate) fn plain(number: &str) -> String {
    let mut parts = number.split(',');
    let first = parts.next().unwrap_or_default();
    let rest: Vec<&str> = parts.collect();
    let thousands = rest.iter().all(|part| part.split('.').next().is_some_and(|digits| digits.len() == 3));
    let joined = rest.join(if thousands { "" } else { "." });
    match (rest.is_empty(), thousands) {
        (true, _) => first.to_owned(),
        (false, true) => format!("{first}{joined}"),
        (false, false) => format!("{first}.{joined}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_in_one_form() {
        for (number, expect) in [
            ("1,200", "1200"),
            ("1200", "1200"),
            ("1,234,567", "1234567"),
            ("0,5", "0.5"),
            ("1,200.5", "1200.5"),
            ("p53", "p53"),
        ] {
            assert_eq!(plain(number), expect);
        }
    }

    #[test]
    fn of_a_sentence() {
        let check = |text, expect: &[&str]| {
            assert_eq!(numbers(text).iter().map(String::as_str).collect::<Vec<_>>(), expect, "{text}");
        };
        check("Recall rose by 12% in 1,200 adults (P < 0.05).", &["0.05", "12", "1200"]);
        check("Recall rose.", &[]);
        check("処理件数が８％少なかった。", &["8"]);
    }

    proptest! {
        #[test]
        fn any_text_has_some_or_none(text in any::<String>()) {
            prop_assert!(numbers(&text).iter().all(|number| is_number(number)));
        }
    }
}
