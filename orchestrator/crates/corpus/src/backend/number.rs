//! Numbers of patent documents as people write them: `US 8,926,509 B2`, `JP2010000001A` and `特開2010-1` for what an office's
//! file calls `US-08926509-B2` and `JP-2010000001-A`.

use lyra_text::normalise;

/// Digits of the numbers of grants in files of the USPTO.
const US_DIGITS: usize = 8;
/// Digits of the running number of Japanese publications and applications.
const JP_DIGITS: usize = 6;

/// A number in its parts.
struct Number {
    country: String,
    /// `H` or `S` for the years of Japanese eras, then digits; applications of the EPO have a check digit after a dot.
    digits: String,
    /// `A1`, `B2`; empty in numbers of applications.
    kind: String,
}

/// The other forms in which a corpus may have a number, none when it is not one of a patent.
pub(crate) fn other_forms(number: &str) -> Vec<String> {
    let text = normalise(number).to_uppercase();
    let Some(Number { country, digits, kind }) = japanese(&text).or_else(|| by_country(&text)) else {
        return Vec::new();
    };
    let dashed = |digits: &str| {
        let end = if kind.is_empty() { String::new() } else { format!("-{kind}") };
        format!("{country}-{digits}{end}")
    };
    let mut forms = vec![dashed(&digits), format!("{country}{digits}{kind}")];
    if country == "US" {
        let short = digits.trim_start_matches('0');
        forms.extend([dashed(short), dashed(&format!("{short:0>US_DIGITS$}")), format!("US{short}{kind}")]);
    }
    if country == "JP"
        && let Some((year, serial)) = digits.split_at_checked(digits.len().saturating_sub(JP_DIGITS))
        && !year.is_empty()
    {
        forms.extend([format!("JP{year}-{serial}{kind}"), format!("JP-{year}-{serial}-{kind}")]);
    }
    let mut seen = std::collections::HashSet::from([number.to_owned()]);
    forms.retain(|form| seen.insert(form.clone()));
    forms
}

/// `特開2010-1`, `特開平10-123456`, `特願2008-152953`: laid open, or applied for.
fn japanese(text: &str) -> Option<Number> {
    let (rest, kind) = [("特開", "A"), ("特表", "A"), ("特願", "")]
        .into_iter()
        .find_map(|(prefix, kind)| Some((text.strip_prefix(prefix)?, kind)))?;
    let (era, rest) = [("平成", "H"), ("平", "H"), ("昭和", "S"), ("昭", "S")]
        .into_iter()
        .find_map(|(name, letter)| Some((letter, rest.strip_prefix(name)?)))
        .unwrap_or(("", rest));
    let (year, serial) = rest.trim().trim_end_matches('号').split_once('-')?;
    let all_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (all_digits(year) && all_digits(serial)).then(|| Number {
        country: "JP".to_owned(),
        digits: format!("{era}{year:0>2}{serial:0>JP_DIGITS$}"),
        kind: kind.to_owned(),
    })
}

/// Two letters of a country, a number, and the kind of document.
fn by_country(text: &str) -> Option<Number> {
    let plain: String = text.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '.').collect();
    let (country, rest) = plain.split_at_checked(2)?;
    let era = usize::from(country == "JP" && rest.starts_with(['H', 'S']));
    let end = rest.get(era..)?.find(|c: char| c.is_ascii_alphabetic()).map_or(rest.len(), |at| at + era);
    let (digits, kind) = rest.split_at_checked(end)?;
    let is_kind = kind.is_empty() || (kind.len() <= 2 && kind.bytes().skip(1).all(|b| b.is_ascii_digit()));
    let is_number = digits.len() > era + 2 && digits.get(era..)?.bytes().next()?.is_ascii_digit();
    (country.bytes().all(|byte| byte.is_ascii_alphabetic()) && is_number && is_kind).then(|| Number {
        country: country.to_owned(),
        digits: digits.to_owned(),
        kind: kind.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn as_people_write_them() {
        for (written, stored) in [
            ("US 8,926,509 B2", "US-08926509-B2"),
            ("us8926509b2", "US-08926509-B2"),
            ("US08926509B2", "US-8926509-B2"),
            ("US 2009/0054737 A1", "US-20090054737-A1"),
            ("US 12/134,151", "US-12134151"),
            ("EP1326188A2", "EP-1326188-A2"),
            ("EP02019404.9", "EP-02019404.9"),
            ("ＪＰ２０１０－０００００１Ａ", "JP-2010000001-A"),
            ("特開2010-1", "JP-2010000001-A"),
            ("特開2010-000001号", "JP-2010000001-A"),
            ("特開平10-123456", "JP-H10123456-A"),
            ("JPH10123456A", "JP-H10123456-A"),
            ("特願2008-152953", "JP-2008152953"),
            ("JP2020123456A", "JP2020-123456A"),
            ("WO2019/123456 A1", "WO-2019123456-A1"),
        ] {
            let forms = other_forms(written);
            assert!(forms.iter().any(|form| form == stored), "{written}: {forms:?}");
        }
        for other in ["", "doc-0001", "10.1000/nap", "abstract", "特許第6543210号", "JP", "昼寝", "US"]
        {
            assert_eq!(other_forms(other), Vec::<String>::new(), "{other}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_taken(text in "\\PC{0,30}") {
            prop_assert!(!other_forms(&text).contains(&text));
        }
    }
}
