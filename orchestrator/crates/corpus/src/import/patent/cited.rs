//! What patents cite: other patents as search reports print them, and literature.

use super::number;
use crate::import::xml::Element;
use lyra_domain::Identifier;
use lyra_text::normalise;

/// Most characters of a citation that is kept as text.
const MOST_CHARS: usize = 1_000;

/// The patents (`B561`) and the literature (`B562`) of a search report of the EPO.
pub(super) fn of_report(report: &Element) -> impl Iterator<Item = String> + '_ {
    report.elements().filter_map(|cited| match cited.name.as_str() {
        "B561" => printed(&cited.text()).or_else(|| literature(&cited.text())),
        "B562" => literature(&cited.text()),
        _ => None,
    })
}

/// A patent by the `document-id` that stands for it.
pub(super) fn patent(of: &Element) -> Option<String> {
    let kind = of.text_at("kind");
    Some(number(&of.text_at("country")?, &of.text_at("doc-number")?, kind.as_deref()))
}

/// `EP-A1- 3 109 871` and `WO-A1-97/47834`: office, kind of document, and number.
fn printed(text: &str) -> Option<String> {
    let mut parts = text.splitn(3, '-').map(str::trim);
    let (office, kind, rest) = (parts.next()?, parts.next()?, parts.next()?);
    let is_office = office.len() == 2 && office.bytes().all(|byte| byte.is_ascii_uppercase());
    let is_kind = matches!(kind.as_bytes(), [b'A'..=b'Z'] | [b'A'..=b'Z', b'0'..=b'9']);
    let of_number = |c: &char| c.is_ascii_digit() || matches!(c, ' ' | '/' | '.' | ',');
    let digits: String = rest.chars().take_while(of_number).filter(char::is_ascii_digit).collect();
    (is_office && is_kind && digits.len() >= 3).then(|| number(office, &digits, Some(kind)))
}

/// The DOI that a citation of literature names, else its text.
pub(super) fn literature(text: &str) -> Option<String> {
    let text = normalise(text);
    let doi = Identifier::in_text(&text).into_iter().find_map(|found| match found {
        Identifier::Doi(doi) => Some(doi.to_string()),
        _ => None,
    });
    doi.or_else(|| (!text.is_empty()).then(|| text.chars().take(MOST_CHARS).collect()))
}

/// Literature in parts (authors, title, journal, date, volume, pages) as one line.
pub(super) fn parts(cited: &Element) -> Option<String> {
    let mut line = Vec::new();
    leaves(cited, &mut line);
    literature(&line.join(", "))
}

fn leaves(element: &Element, line: &mut Vec<String>) {
    if element.elements().next().is_some() {
        element.elements().for_each(|part| leaves(part, line));
        return;
    }
    let text = normalise(&element.text());
    // `19950000` is a year without a day.
    let is_date = text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_digit());
    let text = if is_date { text[..4].to_owned() } else { text };
    if !text.is_empty() {
        line.push(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::citation_key;

    #[test]
    fn numbers_in_search_reports() {
        for (text, expected, key) in [
            ("EP-A1- 3 109 871", "EP-3109871-A1", "EP3109871"),
            ("EP-A- 0 444 678", "EP-0444678-A", "EP444678"),
            ("WO-A1-97/47834", "WO-9747834-A1", "WO1997/47834"),
            ("WO-A1-2014/114885", "WO-2014114885-A1", "WO2014/114885"),
            ("US-A1- 2008 197 955", "US-2008197955-A1", "US2008/197955"),
            ("US-B1- 6 382 450 (SMITH)", "US-6382450-B1", "US6382450"),
            ("FR-E- 84 247", "FR-84247-E", "FR84247"),
        ] {
            let found = printed(text);
            assert_eq!(found.as_deref(), Some(expected), "{text}");
            assert_eq!(found.map(|number| citation_key(&number)).as_deref(), Some(key), "{text}");
        }
        for text in
            ["", "EP", "SUZUKI M ET AL: An optical-micron x-ray lithography", "EP-A-", "ep-a- 1 000 000"]
        {
            assert_eq!(printed(text), None, "{text}");
        }
    }

    #[test]
    fn literature_is_known_by_its_doi() {
        let cited = "SMITH J.: “Naps”, J. Sleep, vol. 3, 2012, doi:10.1000/Sleep.3.12, ISSN: 1234-5678";
        assert_eq!(literature(cited).as_deref(), Some("10.1000/sleep.3.12"));
        assert_eq!(
            literature(" Kang,  S. B.: Heterocycles 45 ").as_deref(),
            Some("Kang, S. B.: Heterocycles 45")
        );
        assert_eq!(literature("  "), None);
    }
}
