/// Whether a word is a suffix of a name: "Jr.", "III"; but not "Ii", which is a family name.
pub fn is_name_suffix(word: &str) -> bool {
    let bare = word.trim_end_matches('.');
    ["II", "III", "IV"].contains(&bare)
        || ["jr", "sr", "2nd", "3rd", "4th"].contains(&bare.to_lowercase().as_str())
}

/// Whether a character is of Chinese, Japanese, or Korean names, which begin with the family name.
pub fn is_east_asian(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}')
}

/// A name as it is spoken: `Lovelace, Ada` becomes `Ada Lovelace`; other names stay.
pub fn given_first(name: &str) -> String {
    let is_degree = |part: &str| ["phd", "md"].contains(&part.to_lowercase().as_str());
    let is_suffix = |part: &str| is_name_suffix(part) || is_degree(part);
    let parts: Vec<&str> = name.split(',').map(str::trim).collect();
    match *parts.as_slice() {
        [family, given] if !family.is_empty() && !given.is_empty() && !is_suffix(given) => {
            format!("{given} {family}")
        }
        [family, suffix, given] if is_suffix(suffix) && !given.is_empty() => {
            format!("{given} {family} {suffix}")
        }
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::given_first;

    #[test]
    fn names_are_turned() {
        for (written, spoken) in [
            ("Lovelace, Ada", "Ada Lovelace"),
            ("de Vries, Jan", "Jan de Vries"),
            ("King, Jr., Martin Luther", "Martin Luther King Jr."),
            ("Martin Luther King, Jr.", "Martin Luther King, Jr."),
            ("Smith, IV, John", "John Smith IV"),
            ("John Smith, MD", "John Smith, MD"),
            ("Ada Lovelace", "Ada Lovelace"),
            ("Lovelace,", "Lovelace,"),
            ("Lee, Ann, Ek", "Lee, Ann, Ek"),
        ] {
            assert_eq!(given_first(written), spoken);
        }
    }
}
