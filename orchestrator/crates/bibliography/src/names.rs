//! Names of persons and groups as "Given Family".

use lyra_domain::{is_east_asian, is_name_suffix};

/// Words of groups' names that persons' names do not have; the small ones only in lower case.
const GROUP_WORDS: [&str; 22] = [
    "and",
    "of",
    "for",
    "the",
    "group",
    "consortium",
    "collaboration",
    "collaborators",
    "organization",
    "organisation", // prose: ok
    "committee",
    "institute",
    "university",
    "society",
    "association",
    "agency",
    "team",
    "network",
    "investigators",
    "ministry",
    "foundation",
    "department",
];

/// "Family, Given" as "Given Family"; also with a suffix, as "Family, Given, Jr." or as "Family, Jr., Given". What has
/// no comma, or is the name of a group, stays.
pub(crate) fn ordered(text: &str) -> String {
    let text = crate::text::line(text);
    let text = text.trim_end_matches([',', ';', ' ']);
    if is_group(text) {
        return text.to_owned();
    }
    let parts: Vec<&str> = text.split(',').map(str::trim).filter(|part| !part.is_empty()).collect();
    match parts[..] {
        [family, given] if is_name_suffix(given) => person(family, "", given),
        [family, given] => person(family, given, ""),
        [family, suffix, given] if is_name_suffix(suffix) => person(family, given, suffix),
        [family, given, suffix] if is_name_suffix(suffix) => person(family, given, suffix),
        _ => text.to_owned(),
    }
}

/// A name of its parts. In Chinese characters, kana, or Hangul, the family name comes first.
pub(crate) fn person(family: &str, given: &str, suffix: &str) -> String {
    let [family, given, suffix] = [family, given, suffix].map(crate::text::line);
    let east_asian = |text: &str| !text.is_empty() && text.chars().all(|c| c == ' ' || is_east_asian(c));
    let parts = if east_asian(&family) && east_asian(&given) {
        [family, given, suffix]
    } else {
        [given, family, suffix]
    };
    parts.iter().filter(|part| !part.is_empty()).map(String::as_str).collect::<Vec<_>>().join(" ")
}

/// "Smith JA", as MEDLINE writes names, as "JA Smith". The name of a group stays.
pub(crate) fn with_initials_last(text: &str) -> String {
    let text = crate::text::line(text);
    if is_group(&text) {
        return text;
    }
    let words: Vec<&str> = text.split(' ').collect();
    let is_initials = |word: &str| {
        let fits = word.chars().all(|c| c.is_uppercase() || c == '-');
        fits && word.starts_with(char::is_uppercase) && word.chars().count() <= 4
    };
    match words[..] {
        [ref family @ .., initials, suffix]
            if is_name_suffix(suffix) && is_initials(initials) && !family.is_empty() =>
        {
            person(&family.join(" "), initials, suffix)
        }
        [ref family @ .., initials] if is_initials(initials) && !family.is_empty() => {
            person(&family.join(" "), initials, "")
        }
        _ => text,
    }
}

pub(crate) fn is_group(text: &str) -> bool {
    text.split([' ', ',']).any(|word| {
        let small = ["and", "of", "for", "the"].contains(&word.to_lowercase().as_str());
        let word = if small { word.to_owned() } else { word.to_lowercase() };
        GROUP_WORDS.contains(&word.as_str())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn family_names_go_last() {
        for (text, expect) in [
            ("Curie, Marie", "Marie Curie"),
            ("van der  Berg, Jan", "Jan van der Berg"),
            ("King, Jr., Martin Luther", "Martin Luther King Jr."),
            ("King, Martin Luther, Jr.", "Martin Luther King Jr."),
            ("Califf, Robert, III", "Robert Califf III"),
            ("Ii, Naoki", "Naoki Ii"),
            ("Marie Curie", "Marie Curie"),
            ("World Health Organization,", "World Health Organization"),
            ("Institute of Food, Health and Sleep", "Institute of Food, Health and Sleep"),
            ("The, Lian", "Lian The"),
            ("山田, 太郎", "山田 太郎"),
            ("Plato", "Plato"),
            (", ", ""),
        ] {
            assert_eq!(ordered(text), expect);
        }
        for (text, expect) in [
            ("van Raaij MJ", "MJ van Raaij"),
            ("Smith JA Jr", "JA Smith Jr"),
            ("Smith J 3rd", "J Smith 3rd"),
            ("Kim J-H", "J-H Kim"),
            ("Petrov IV", "IV Petrov"),
            ("Aiko Sato", "Aiko Sato"),
            ("Sleep Study Group UK", "Sleep Study Group UK"),
            ("Plato", "Plato"),
            ("JA", "JA"),
        ] {
            assert_eq!(with_initials_last(text), expect);
        }
    }
}
