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
    /// `H` or `S` for the years of Japanese eras, or `D`, `PP`, and the like for kinds of rights that are numbered on their
    /// own, then digits; applications of the EPO have a check digit after a dot.
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
        // Of designs, plants, and reissues, the letters take some of the eight places.
        let (series, serial) = digits.split_at(digits.find(|c: char| c.is_ascii_digit()).unwrap_or(0));
        if !series.is_empty() {
            let (short, places) = (serial.trim_start_matches('0'), US_DIGITS - series.len());
            forms
                .extend([dashed(&format!("{series}{short}")), dashed(&format!("{series}{short:0>places$}"))]);
        }
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

/// What begins the numbers of rights that an office numbers on their own: designs, plants, reissues, utility models.
const SERIES: [(&str, &[&str]); 3] =
    [("US", &["PP", "RE", "RX", "AI", "D", "H", "T", "X"]), ("JP", &["H", "S"]), ("TW", &["M", "I", "D"])];

/// Offices that publish patents (WIPO ST.3), also former ones.
const OFFICES: &str = "AP AR AT AU BA BE BG BO BR BY CA CH CL CN CO CR CS CU CY CZ DD DE DK DO DZ EA EC EE EG EM EP ES FI \
     FR GB GC GE GR GT HK HN HR HU ID IE IL IN IR IS IT JO JP KE KR KZ LI LT LU LV MA MC MD ME MK MN MT MW MX MY NI NL NO NZ \
     OA PA PE PH PL PT PY RO RS RU SA SE SG SI SK SM SU SV TH TJ TN TR TT TW UA US UY UZ VE VN WO YU ZA ZM ZW";

/// Whether two letters are an office's.
pub(crate) fn is_office(letters: &str) -> bool {
    letters.len() == 2 && OFFICES.split_whitespace().any(|office| office == letters)
}

/// The office of a publication's number, and whether the number names the kind of document.
pub(crate) fn office(number: &str) -> Option<(String, bool)> {
    let text = normalise(number).to_uppercase();
    let Number { country, kind, .. } = japanese(&text).or_else(|| by_country(&text))?;
    is_office(&country).then_some((country, !kind.is_empty()))
}

/// The form that all numbers of a publication share, whatever its kind and however it is written: `US8926509` for
/// `US-08926509-B2`, `US2005/4437` for `US 2005/0004437 A1`. `None` when it is not a patent's number.
pub(crate) fn key(number: &str) -> Option<String> {
    let text = normalise(number).to_uppercase();
    let Number { country, digits, .. } = japanese(&text).or_else(|| by_country(&text))?;
    if !is_office(&country) {
        return None;
    }
    let (series, digits) = digits.split_at(digits.find(|c: char| c.is_ascii_digit())?);
    let trimmed = |digits: &str| digits.trim_start_matches('0').to_owned();
    let yearly = |year: String, serial: &str| format!("{country}{year}/{}", trimmed(serial));
    Some(match (country.as_str(), digits.len()) {
        ("US", 10 | 11) if digits.starts_with("20") => yearly(digits[..4].to_owned(), &digits[4..]),
        ("WO", 10) => yearly(digits[..4].to_owned(), &digits[4..]),
        // Before 2004, of two digits of the year.
        ("WO", 7 | 8) => {
            let century = if digits.starts_with(['7', '8', '9']) { "19" } else { "20" };
            yearly(format!("{century}{}", &digits[..2]), &digits[2..])
        }
        _ => format!("{country}{series}{}", trimmed(digits)),
    })
}

/// A number as the corpus writes ids, `EP-1000000-A1`; as it is when it is not a patent's.
pub(crate) fn dashed(number: &str) -> String {
    let text = normalise(number).to_uppercase();
    match japanese(&text).or_else(|| by_country(&text)) {
        Some(Number { country, digits, kind }) if kind.is_empty() => format!("{country}-{digits}"),
        Some(Number { country, digits, kind }) => format!("{country}-{digits}-{kind}"),
        None => number.trim().to_owned(),
    }
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
    let series = SERIES.iter().find(|(office, _)| *office == country).map_or(&[][..], |(_, series)| *series);
    let era = series.iter().find(|letters| rest.starts_with(**letters)).map_or(0, |letters| letters.len());
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
            ("US D513,425 S1", "US-D0513425-S1"),
        ] {
            let forms = other_forms(written);
            assert!(forms.iter().any(|form| form == stored), "{written}: {forms:?}");
        }
        for other in ["", "doc-0001", "10.1000/nap", "abstract", "特許第6543210号", "JP", "昼寝", "US"]
        {
            assert_eq!(other_forms(other), Vec::<String>::new(), "{other}");
        }
    }

    #[test]
    fn numbers_of_one_publication_have_one_key() {
        for (key, forms) in [
            ("US8926509", &["US-08926509-B2", "US 8,926,509 B2", "US-08926509", "us8926509b2"][..]),
            ("US2005/4437", &["US-20050004437-A1", "US2005004437A1", "US 2005/0004437 A1"]),
            ("USD513425", &["US-D0513425-S1", "US D513,425 S", "USD513425S1"]),
            ("USPP3823", &["US-PP03823-P", "US PP3,823 P"]),
            ("USRE35312", &["US-RE035312-E", "USRE35312E1"]),
            ("EP680812", &["EP0680812", "EP-0680812-A1", "EP680812A1"]),
            ("WO1998/12345", &["WO9812345A1", "WO-1998012345-A1", "WO 98/12345"]),
            ("WO2002/98765", &["WO02098765A2", "WO2002098765A2"]),
            ("JP2010000001", &["JP-2010000001-A", "特開2010-1", "JP2010-000001A"]),
            ("NL9400663", &["NL9400663A", "NL-9400663-A"]),
        ] {
            for form in forms {
                assert_eq!(super::key(form).as_deref(), Some(key), "{form}");
            }
        }
        for other in ["", "doc-0001", "10.1000/nap", "pmid:123", "XX-1234567-A1", "lee2019short", "US"] {
            assert_eq!(super::key(other), None, "{other}");
        }
        assert_eq!(office("US-D0513425-S1"), Some(("US".to_owned(), true)));
        assert_eq!(office("IS-12345"), Some(("IS".to_owned(), false)));
        assert_eq!(
            (dashed("EP1000000A1"), dashed("lens 1")),
            ("EP-1000000-A1".to_owned(), "lens 1".to_owned())
        );
    }

    proptest! {
        #[test]
        fn any_text_is_taken(text in "\\PC{0,30}") {
            prop_assert!(!other_forms(&text).contains(&text));
            let _ = (super::key(&text), office(&text), dashed(&text));
        }
    }
}
