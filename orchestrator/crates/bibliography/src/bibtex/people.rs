//! Lists of names in BibTeX.

use super::latex;
use crate::MAX_FIELD;
use crate::names::{ordered, person};

/// The names in a list, "Given Family". Names are separated by `and`; one in braces is a group. `and others` is left
/// out.
pub(super) fn read(list: &str) -> Vec<String> {
    if list.len() > MAX_FIELD {
        return vec![list.to_owned()];
    }
    let names = split(list, Between::And).into_iter().map(name);
    names.filter(|name| !name.is_empty() && name != "others").collect()
}

fn name(source: &str) -> String {
    let source = source.trim();
    if is_group(source) {
        return latex::text(source);
    }
    if source.contains('=')
        && let Some(name) = extended(source)
    {
        return name;
    }
    let parts: Vec<String> =
        split(source, Between::Commas).into_iter().map(|part| latex::text(part.trim())).collect();
    match &parts[..] {
        [family, given] if split(source, Between::Commas).iter().any(|part| is_group(part.trim())) => {
            person(family, given, "")
        }
        _ => ordered(&parts.join(", ")),
    }
}

/// BibLaTeX's `family=Berg, given=Jan, prefix=van der`.
fn extended(source: &str) -> Option<String> {
    let (mut family, mut given, mut prefix, mut suffix) = (None, String::new(), String::new(), String::new());
    for part in split(source, Between::Commas) {
        let (key, value) = part.split_once('=')?;
        let value = latex::text(value.trim().trim_matches('"'));
        match key.trim().to_lowercase().as_str() {
            "family" => family = Some(value),
            "given" => given = value,
            "prefix" => prefix = value,
            "suffix" => suffix = value,
            _ => {}
        }
    }
    Some(person(&format!("{prefix} {}", family?), &given, &suffix))
}

/// Whether one pair of braces holds everything.
pub(super) fn is_group(source: &str) -> bool {
    let Some(inner) = source.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) else { return false };
    // `{\"O}zg{\"u}r` begins and ends with braces, too.
    let mut depth = 0_i64;
    let mut escaped = false;
    for byte in inner.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth < 0 {
            return false;
        }
    }
    depth == 0 && !escaped
}

/// What separates the parts of a list.
#[derive(Clone, Copy)]
pub(super) enum Between {
    And,
    Commas,
    /// Commas, semicolons, and line breaks.
    Items,
}

/// The parts between separators outside of braces.
pub(super) fn split(text: &str, between: Between) -> Vec<&str> {
    let bytes = text.as_bytes();
    let (mut parts, mut start, mut depth, mut at) = (Vec::new(), 0, 0_usize, 0);
    while at < bytes.len() {
        let length = match (bytes[at], between) {
            (b'\\', _) => {
                at += 1;
                0
            }
            (b'{', _) => {
                depth += 1;
                0
            }
            (b'}', _) => {
                depth = depth.saturating_sub(1);
                0
            }
            (b',', Between::Commas) | (b',' | b';' | b'\n', Between::Items) if depth == 0 => 1,
            (byte, Between::And) if depth == 0 && byte.is_ascii_whitespace() => {
                let word = bytes.get(at + 1..at + 4).is_some_and(|word| word.eq_ignore_ascii_case(b"and"));
                if word && bytes.get(at + 4).is_none_or(u8::is_ascii_whitespace) { 4 } else { 0 }
            }
            _ => 0,
        };
        if length > 0 {
            parts.push(&text[start..at]);
            start = at + length;
            at = start;
        } else {
            at += 1;
        }
    }
    parts.push(&text[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_every_order() {
        for (list, expect) in [
            ("Lee, Ann and Marie Curie", vec!["Ann Lee", "Marie Curie"]),
            ("{World Health Organization} and Lee, A.", vec!["World Health Organization", "A. Lee"]),
            ("{Barnes and Noble, Inc.}", vec!["Barnes and Noble, Inc."]),
            ("{\\\"O}zt{\\\"u}rk, Ay{\\c s}e and others", vec!["Ayşe Öztürk"]),
            ("{\\\"O}zg{\\\"u}", vec!["Özgü"]),
            ("van Beethoven, Ludwig", vec!["Ludwig van Beethoven"]),
            ("King, Jr, Martin Luther", vec!["Martin Luther King Jr"]),
            ("family=Berg, given=Jan, prefix=van der, useprefix=true", vec!["Jan van der Berg"]),
            ("{de la Cruz}, Ana\n  AND  Bo Ek", vec!["Ana de la Cruz", "Bo Ek"]),
            ("Alexander Sander and Andrea Land", vec!["Alexander Sander", "Andrea Land"]),
            ("", vec![]),
        ] {
            assert_eq!(read(list), expect, "{list}");
        }
    }
}
