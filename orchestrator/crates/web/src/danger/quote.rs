//! Quotation marks around a match.

/// Whether a quotation is open at the end of `before` and ends in `after`.
pub(super) fn is_quoted(before: &str, after: &str) -> bool {
    let opened = before.chars().rev().find_map(|c| match c {
        '“' | '„' | '«' | '‹' | '「' | '『' | '‘' | '‚' => Some(true),
        '”' | '»' | '›' | '」' | '』' => Some(false),
        // The same mark opens and closes: an odd number of them leaves one open.
        '"' | '`' => Some(before.matches(c).count() % 2 == 1),
        _ => None,
    });
    opened == Some(true) && after.contains(['”', '“', '»', '«', '›', '」', '』', '’', '"', '`'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_before_and_closed_after() {
        for (before, after) in
            [("the phrase “", "” was"), ("so \"", "\"."), ("der satz „", "“ steht"), ("「", "」という文")]
        {
            assert!(is_quoted(before, after), "{before}");
        }
        for (before, after) in
            [("", ""), ("he said “no” and ", " “yes”"), ("a \"b\" ", " \"c\""), ("the “", " and no end")]
        {
            assert!(!is_quoted(before, after), "{before}");
        }
    }
}
