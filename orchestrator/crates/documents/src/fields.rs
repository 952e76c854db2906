//! What headings, names, dates and identifiers mean.

use lyra_domain::{ArxivId, Doi, Identifier};

/// A part of a paper that is not running text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Abstract,
    Keywords,
    References,
}

const ABSTRACT: &[&str] = &[
    "abstract",
    "summary",
    "要旨",
    "概要",
    "要約",
    "抄録",
    "摘要",
    "zusammenfassung",
    "résumé",
    "resumen",
    "resumo",
    "riassunto",
    "초록",
    "аннотация",
];

const KEYWORDS: &[&str] = &[
    "keywords",
    "key words",
    "keyword",
    "index terms",
    "キーワード",
    "关键词",
    "关键字",
    "關鍵詞",
    "schlüsselwörter",
    "schlagwörter",
    "mots-clés",
    "mots clés",
    "palabras clave",
    "palavras-chave",
    "parole chiave",
    "키워드",
    "ключевые слова",
];

const REFERENCES: &[&str] = &[
    "references",
    "reference",
    "references and notes",
    "references cited",
    "reference list",
    "list of references",
    "bibliography",
    "works cited",
    "literature cited",
    "literature",
    "cited literature",
    "参考文献",
    "引用文献",
    "參考文獻",
    "文献",
    "文献リスト",
    "literatur",
    "literaturverzeichnis",
    "quellenverzeichnis",
    "références",
    "références bibliographiques",
    "bibliographie",
    "referencias",
    "referencias bibliográficas",
    "bibliografía",
    "referências",
    "referências bibliográficas",
    "bibliografia",
    "riferimenti bibliografici",
    "riferimenti",
    "literatuur",
    "litteratur",
    "참고문헌",
    "список литературы",
    "литература",
];

/// What a heading begins, if not a section.
pub(crate) fn role(heading: &str) -> Option<Role> {
    let heading = without_number(heading).trim_end_matches([':', '：', '.', '。']).trim().to_lowercase();
    // 「要　旨」 is spaced for its looks.
    let tight: String = heading.chars().filter(|c| !c.is_whitespace()).collect();
    let tight = if tight.is_ascii() { heading.as_str() } else { tight.as_str() };
    let is = |names: &[&str]| names.contains(&heading.as_str()) || names.contains(&tight);
    if is(REFERENCES) {
        Some(Role::References)
    } else if is(ABSTRACT) {
        Some(Role::Abstract)
    } else if is(KEYWORDS) {
        Some(Role::Keywords)
    } else {
        None
    }
}

/// The text after a run-in label such as "Abstract:" or "Keywords —".
pub(crate) fn after_label(text: &str, role: Role) -> Option<&str> {
    let labels = match role {
        Role::Abstract => ABSTRACT,
        Role::Keywords => KEYWORDS,
        Role::References => REFERENCES,
    };
    labels.iter().find_map(|label| {
        let mut rest = text;
        for wanted in label.chars() {
            let c = rest.chars().next()?;
            if !c.to_lowercase().eq(wanted.to_lowercase()) {
                return None;
            }
            rest = &rest[c.len_utf8()..];
        }
        let rest = rest.trim_start();
        let rest = rest.strip_prefix([':', '：', '—', '–', '-', '.', '】', ']']).map(str::trim_start)?;
        let rest = rest.trim_start_matches(['—', '–', ':', '-']).trim_start();
        (!rest.is_empty()).then_some(rest)
    })
}

/// A heading without its number: `7. `, `2.1 `, `IV. `, `A. `, `第3章`.
pub(crate) fn without_number(heading: &str) -> &str {
    let heading = heading.trim();
    let end = heading
        .find(|c: char| {
            !(c.is_ascii_digit() || matches!(c, '.' | ')' | '．' | '(' | '§') || c.is_whitespace())
        })
        .unwrap_or(heading.len());
    if end > 0 {
        return &heading[end..];
    }
    if let Some((front, rest)) = heading.split_once(['.', ' '])
        && front.len() <= 5
        && !front.is_empty()
        && front.chars().all(|c| matches!(c, 'I' | 'V' | 'X'))
    {
        return rest.trim_start_matches(['.', ' ']);
    }
    heading
}

/// An entry of a reference list without `[12]`, `12.` or `•` in front.
pub(crate) fn unnumbered(entry: &str) -> &str {
    let entry = entry.trim_start_matches(['•', '·', '–', '*', ' ']);
    let bracketed = entry.strip_prefix(['[', '(']).and_then(|rest| {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        (1..=4).contains(&digits).then(|| rest[digits..].strip_prefix([']', ')'])).flatten()
    });
    let digits = entry.bytes().take_while(u8::is_ascii_digit).count();
    let pointed = || (1..=3).contains(&digits).then(|| entry[digits..].strip_prefix(['.', ')'])).flatten();
    match bracketed.or_else(pointed) {
        Some(rest) if rest.starts_with(char::is_whitespace) || bracketed.is_some() => rest.trim_start(),
        _ => entry,
    }
}

/// Keywords or names of a list: separated by semicolons, else by what comes closest.
pub(crate) fn list(text: &str) -> Vec<String> {
    let marks: &[char] = if text.contains([';', '；']) {
        &[';', '；']
    } else if text.contains([',', '，', '、']) {
        &[',', '，', '、']
    } else {
        &['·', '•', '|', '\n']
    };
    let tidy = |word: &str| word.trim().trim_end_matches('.').trim().to_owned();
    text.split(marks).map(tidy).filter(|word| !word.is_empty()).collect()
}

/// The names in a field that may hold several: "A; B", "A and B", "Ada Lovelace, Charles Babbage".
pub(crate) fn names(field: &str) -> Vec<String> {
    let field = crate::draft::clean(field);
    let split = |mark: &str| -> Vec<String> {
        field
            .split(mark)
            .map(|name| name.trim().trim_end_matches(',').to_owned())
            .filter(|n| !n.is_empty())
            .collect()
    };
    if field.contains(';') {
        return split(";");
    }
    if field.contains(" and ") || field.contains(" & ") {
        let field = field.replace(" & ", " and ");
        let parts = field.split(" and ").map(str::trim).filter(|part| !part.is_empty());
        return parts.flat_map(names).collect();
    }
    let parts = split(",");
    // "Lovelace, Ada" is one name, "Ada Lovelace, Charles Babbage" are two.
    let several = parts.len() > 2 || parts.iter().all(|part| part.contains(' '));
    if parts.len() > 1 && several { parts } else { split("\n") }
}

/// Names that programs write into files whose author they do not know.
pub(crate) fn is_program(name: &str) -> bool {
    const PROGRAMS: [&str; 9] = [
        "python-docx",
        "microsoft office user",
        "microsoft",
        "openpyxl",
        "unknown",
        "author",
        "user",
        "admin",
        "administrator",
    ];
    PROGRAMS.contains(&name.trim().to_lowercase().as_str())
}

/// The day in a date: `2024-05-31`, with or without time, or `31 May 2024`, `May 31, 2024`.
pub(crate) fn day(text: &str) -> Option<String> {
    let text = text.trim();
    if let Some(date) = text.get(..10).and_then(|front| front.parse::<jiff::civil::Date>().ok()) {
        return Some(date.to_string());
    }
    let tidy = text.replace(',', " ");
    let words: Vec<&str> = tidy.split_whitespace().collect();
    let tidy = words.join(" ");
    ["%d %B %Y", "%B %d %Y", "%d %b %Y", "%b %d %Y", "%Y/%m/%d", "%d.%m.%Y", "%Y年%m月%d日", "%Y%m%d"]
        .iter()
        .find_map(|format| jiff::civil::Date::strptime(format, &tidy).ok())
        .filter(|date| (1000..=2999).contains(&date.year()))
        .map(|date| date.to_string())
}

/// A day from its parts, as far as they are numbers.
pub(crate) fn day_of(year: &str, month: &str, day: &str) -> Option<String> {
    let month = month.trim();
    let names = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let short = month.get(..3).map(str::to_lowercase);
    let named = names.iter().position(|name| Some(*name) == short.as_deref()).map(|at| at as i8 + 1);
    let month = month.parse().ok().or(named)?;
    let date = jiff::civil::Date::new(year.trim().parse().ok()?, month, day.trim().parse().ok()?).ok()?;
    Some(date.to_string())
}

/// The year that a text names: one in parentheses, else the last one that stands alone.
pub(crate) fn year_in(text: &str) -> Option<i32> {
    let bytes = text.as_bytes();
    let mut found = None;
    let mut at = 0;
    while at < bytes.len() {
        let digits = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 {
            at += 1;
            continue;
        }
        let before = at.checked_sub(1).map(|before| bytes[before]);
        let after = bytes.get(at + digits).copied();
        // Not in `10.1000/2001` or `A2001`.
        let part = |byte: u8| matches!(byte, b'/' | b'.' | b':') || byte.is_ascii_alphanumeric();
        let joined = before.is_some_and(part) || after == Some(b'/');
        let year = text[at..at + digits].parse::<i32>().ok();
        if let Some(year) = year.filter(|year| digits == 4 && (1400..=2099).contains(year) && !joined) {
            if before == Some(b'(') {
                return Some(year);
            }
            // Pages may look like years: `1998-2010`.
            let ranged = [before, after].contains(&Some(b'-')) || text[at + digits..].starts_with('–');
            if found.is_none() || !ranged {
                found = Some(year);
            }
        }
        at += digits;
    }
    found
}

/// Adds an identifier; an existing one of the same kind stays.
pub(crate) fn add_id(ids: &mut Vec<Identifier>, id: Identifier) {
    if ids.iter().all(|other| std::mem::discriminant(other) != std::mem::discriminant(&id)) {
        ids.push(id);
    }
}

/// An identifier from a field that names its kind (`doi`, `pmid`, `PMC`, `arXiv` …).
pub(crate) fn typed_id(kind: &str, value: &str) -> Option<Identifier> {
    match kind.to_ascii_lowercase().as_str() {
        "doi" => Doi::parse(value).map(Identifier::Doi),
        "pmid" | "pubmed" => Identifier::pmid(value),
        "pmc" | "pmcid" | "pmcaid" if value.trim().len() > 3 => Identifier::pmcid(value),
        // GROBID keeps the subject: `arXiv:2101.00001v2 [cs.CL]`.
        "arxiv" => ArxivId::parse(value.split('[').next()?).map(Identifier::Arxiv),
        _ => None,
    }
}

/// An identifier from a field that may hold any kind: `doi:10.1000/x`, an address, `PMC123`.
pub(crate) fn any_id(value: &str) -> Option<Identifier> {
    Doi::parse(value)
        .map(Identifier::Doi)
        .or_else(|| Identifier::in_text(value).into_iter().next())
        .or_else(|| Identifier::in_url(value).into_iter().next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_known_with_numbers_and_spacing() {
        for heading in
            ["References", "7. REFERENCES", "VII. References", "参考文献", "文　献", "Works Cited:"]
        {
            assert_eq!(role(heading), Some(Role::References), "{heading}");
        }
        assert_eq!(role("Abstract."), Some(Role::Abstract));
        assert_eq!(role("References to Rome"), None);
        assert_eq!(after_label("Key words — sleep; nap", Role::Keywords), Some("sleep; nap"));
        assert_eq!(after_label("Abstraction is hard.", Role::Abstract), None);
    }

    #[test]
    fn names_are_split() {
        assert_eq!(names("Lovelace, Ada"), ["Lovelace, Ada"]);
        assert_eq!(names("Ada Lovelace, Charles Babbage"), ["Ada Lovelace", "Charles Babbage"]);
        assert_eq!(names("Ada Lovelace, Alan Turing, and Charles Babbage").len(), 3);
        assert_eq!(names("Lovelace, A.; Babbage, C."), ["Lovelace, A.", "Babbage, C."]);
    }

    #[test]
    fn dates_and_years() {
        assert_eq!(day("2024-05-31T10:00:00Z").as_deref(), Some("2024-05-31"));
        assert_eq!(day("May 31, 2024").as_deref(), Some("2024-05-31"));
        assert_eq!(day("2024-02-31"), None);
        assert_eq!(day_of("2021", "Mar", "7").as_deref(), Some("2021-03-07"));
        assert_eq!(year_in("Smith, J. (2019). Naps. Sleep 12, 1998-2010."), Some(2019));
        assert_eq!(year_in("Naps. Sleep 1998-2010. doi:10.1000/2001.2002"), Some(1998));
        assert_eq!(year_in("2024-05"), Some(2024));
        assert_eq!(year_in("no year 12345"), None);
    }

    #[test]
    fn entries_lose_their_numbers() {
        assert_eq!(unnumbered("[12] Smith"), "Smith");
        assert_eq!(unnumbered("12. Smith"), "Smith");
        assert_eq!(unnumbered("3.5 GHz is not a number of an entry"), "3.5 GHz is not a number of an entry");
        assert_eq!(unnumbered("2001: A Space Odyssey"), "2001: A Space Odyssey");
    }
}
