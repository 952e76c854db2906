//! Identifiers and serial numbers in the texts of fields.

use lyra_domain::{ArxivId, Doi, Identifier};

/// Bytes of a text that are searched for identifiers.
const MAX: usize = 2_048;

/// The beginning of a text in which identifiers are looked for.
fn head(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX)]
}

/// Every identifier in a text, by its name.
pub(crate) fn in_text(text: &str) -> Vec<Identifier> {
    Identifier::in_text(head(text))
}

/// Every identifier in an address.
pub(crate) fn in_url(url: &str) -> Vec<Identifier> {
    if url.len() > MAX { Vec::new() } else { Identifier::in_url(url) }
}

/// The DOI that a field holds, perhaps with other text.
pub(crate) fn doi(text: &str) -> Option<Doi> {
    let text = head(text.trim());
    Doi::parse(text).or_else(|| {
        in_text(text).into_iter().find_map(|id| match id {
            Identifier::Doi(doi) => Some(doi),
            _ => None,
        })
    })
}

/// The arXiv identifier that a field holds: `arXiv:2101.00001v2 [cs.CL]`, an address, or the identifier.
pub(crate) fn arxiv(text: &str) -> Option<ArxivId> {
    let text = head(text.trim());
    let first = text.split_whitespace().next().unwrap_or_default();
    ArxivId::parse(text).or_else(|| ArxivId::parse(first)).or_else(|| {
        in_text(text).into_iter().chain(in_url(first)).find_map(|id| match id {
            Identifier::Arxiv(id) => Some(id),
            _ => None,
        })
    })
}

/// The PubMed id that a field holds.
pub(crate) fn pmid(text: &str) -> Option<String> {
    let text = text.trim();
    let bare = text.strip_prefix("PMID").unwrap_or(text).trim_start_matches([':', ' ']);
    match Identifier::pmid(bare)? {
        Identifier::Pmid(id) => Some(id),
        _ => None,
    }
}

/// The PubMed Central id that a field holds.
pub(crate) fn pmcid(text: &str) -> Option<String> {
    let text = text.trim();
    let bare = text.strip_prefix("PMCID").unwrap_or(text).trim_start_matches([':', ' ']);
    match Identifier::pmcid(bare.split([' ', ';']).next()?)? {
        Identifier::Pmcid(id) => Some(id),
        _ => None,
    }
}

/// The ISBNs and ISSNs that a field holds.
pub(crate) fn serials(text: &str) -> (Vec<String>, Vec<String>) {
    let (mut isbn, mut issn) = (Vec::new(), Vec::new());
    let mut add = |digits: &str| {
        let body = digits.strip_suffix('X').unwrap_or(digits);
        if body.is_empty() || !body.bytes().all(|byte| byte.is_ascii_digit()) {
            return;
        }
        let (list, id) = match digits.len() {
            8 => (&mut issn, format!("{}-{}", &digits[..4], &digits[4..])),
            10 => (&mut isbn, digits.to_owned()),
            13 if body.len() == 13 => (&mut isbn, digits.to_owned()),
            _ => return,
        };
        if !list.contains(&id) {
            list.push(id);
        }
    };
    let text = head(text).to_uppercase();
    let bare = |text: &str| -> String { text.chars().filter(|c| c.is_ascii_digit() || *c == 'X').collect() };
    for word in text.split([' ', ',', ';', '(', ')', '\n', '/']) {
        add(&bare(word));
    }
    // One number may be written with blanks.
    for part in text.split([',', ';', '(', ')', '\n', '/']) {
        add(&bare(part));
    }
    (isbn, issn)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_hold_identifiers_with_other_text() {
        assert_eq!(doi("doi: 10.1000/X (print)").unwrap().as_str(), "10.1000/x");
        assert_eq!(arxiv("arXiv:2101.00001v2 [cs.CL]").unwrap().to_string(), "2101.00001");
        assert_eq!(arxiv("2101.00001 [cs]").unwrap().to_string(), "2101.00001");
        assert_eq!(arxiv("https://arxiv.org/abs/2101.00001").unwrap().to_string(), "2101.00001");
        assert_eq!(arxiv("hello"), None);
        assert_eq!(pmid("PMID: 123").as_deref(), Some("123"));
        assert_eq!(pmcid("PMCID: PMC123; other").as_deref(), Some("PMC123"));
        let numbers = serials("978-3-16-148410-0 (print); 1234-567x, 0-306-40615-2; 978 1 86197 271 2");
        assert_eq!(numbers.0, ["9783161484100", "0306406152", "9781861972712"]);
        assert_eq!(numbers.1, ["1234-567X"]);
        assert_eq!(serials("X"), (vec![], vec![]));
    }
}
