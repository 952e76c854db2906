//! Text out of the HTML or JATS that some APIs put into abstracts and titles.

/// The text without tags and with the common character references read; in one line. A `<` that opens no tag stays:
/// `p < 0.05`.
pub(crate) fn unmarked(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        plain.push_str(&rest[..at]);
        let tag = rest[at + 1..].starts_with(|c: char| c.is_ascii_alphabetic() || c == '/');
        if let Some(end) = rest[at..].find('>').filter(|_| tag) {
            let name = rest[at + 1..at + end].trim_start_matches('/');
            plain.push_str(if sets_off(name) { " " } else { "" });
            rest = &rest[at + end + 1..];
        } else {
            plain.push('<');
            rest = &rest[at + 1..];
        }
    }
    plain.push_str(rest);
    let references =
        [("&nbsp;", " "), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    let read = references.iter().fold(plain, |text, (name, character)| text.replace(name, character));
    read.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a tag stands between words: a paragraph does, italics inside a word do not.
fn sets_off(tag: &str) -> bool {
    let name = tag.split(|c: char| c.is_whitespace() || c == '/').next().unwrap_or_default();
    let name = name.rsplit(':').next().unwrap_or_default().to_ascii_lowercase();
    !matches!(
        name.as_str(),
        "i" | "b" | "em" | "strong" | "sub" | "sup" | "italic" | "bold" | "sc" | "span" | "a"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_go_and_words_stay_apart() {
        assert_eq!(unmarked("<p>One.</p><p>Two &amp; three.</p>"), "One. Two & three.");
        assert_eq!(unmarked("H<sub>2</sub>O and <i>p</i> < 0.05, x<y"), "H2O and p < 0.05, x<y");
        assert_eq!(unmarked("<jats:title>Aim</jats:title><jats:p>Naps.</jats:p>"), "Aim Naps.");
        assert_eq!(unmarked("plain &amp;lt; text"), "plain &lt; text");
        assert_eq!(unmarked("cut <off"), "cut <off");
    }
}
