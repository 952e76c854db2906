//! Dates as people and programs write them.

use std::fmt;

/// Characters that are read.
const MAX: usize = 100;

/// A year, perhaps with a month, perhaps with a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Date {
    pub(crate) year: i32,
    month: Option<u32>,
    day: Option<u32>,
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}", self.year)?;
        if let Some(month) = self.month {
            write!(f, "-{month:02}")?;
            if let Some(day) = self.day {
                write!(f, "-{day:02}")?;
            }
        }
        Ok(())
    }
}

/// Digits or letters that stand together.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Token {
    Year(i32),
    /// One or two digits.
    Small(u32),
    Month(u32),
    Other,
}

impl Date {
    /// A date of its parts; what is no month or day of it is left out. `None` for years that are not of four digits.
    pub(crate) fn new(year: i32, month: Option<u32>, day: Option<u32>) -> Option<Self> {
        let month = month.filter(|month| (1..=12).contains(month));
        let day = day.filter(|day| month.is_some_and(|month| (1..=days(year, month)).contains(day)));
        (1000..=2999).contains(&year).then_some(Self { year, month, day })
    }

    /// Reads `2024-05-31`, `2024/05/31/`, `31 May 2024`, `May 31, 2024`, `2024 May-Jun`, `20240531`, ranges (of which
    /// the beginning counts), and a year in other text. In `05/06/2024` only the year is certain.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if let Some(compact) = compact(text.trim()) {
            return Some(compact);
        }
        let tokens = tokens(text);
        let at = tokens.iter().position(|token| matches!(token, Token::Year(_)))?;
        let Token::Year(year) = tokens[at] else { return None };
        let small = |at: Option<usize>| match at.and_then(|at| tokens.get(at)) {
            Some(Token::Small(number)) => Some(*number),
            _ => None,
        };
        let named = tokens.iter().position(|token| matches!(token, Token::Month(_)));
        if let Some(named) = named
            && let Token::Month(month) = tokens[named]
        {
            let day = small(named.checked_add(1)).or_else(|| small(named.checked_sub(1)));
            return Self::new(year, Some(month), day);
        }
        if let Some(month) = small(Some(at + 1)) {
            return Self::new(year, Some(month), small(Some(at + 2)));
        }
        match (small(at.checked_sub(2)), small(at.checked_sub(1))) {
            (Some(day), Some(month)) if day > 12 || day == month => Self::new(year, Some(month), Some(day)),
            (Some(month), Some(day)) if day > 12 => Self::new(year, Some(month), Some(day)),
            (None, Some(month)) => Self::new(year, Some(month), None),
            _ => Self::new(year, None, None),
        }
    }

    /// The number of a month by its name or number, in full or abbreviated.
    pub(crate) fn month(text: &str) -> Option<u32> {
        tokens(text).iter().find_map(|token| match token {
            Token::Month(month) => Some(*month),
            Token::Small(month) if (1..=12).contains(month) => Some(*month),
            _ => None,
        })
    }

    /// The same year with the month and day that another text adds, such as `MAY 8`.
    pub(crate) fn completed(self, text: &str) -> Self {
        if self.month.is_some() {
            return self;
        }
        let tokens = tokens(text);
        let day = tokens.iter().find_map(|token| match token {
            Token::Small(day) => Some(*day),
            _ => None,
        });
        let month = tokens.iter().find_map(|token| match token {
            Token::Month(month) => Some(*month),
            _ => None,
        });
        Self::new(self.year, month, day).unwrap_or(self)
    }
}

/// `20240531`.
fn compact(text: &str) -> Option<Date> {
    if text.len() != 8 || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number = |from: usize, to: usize| text[from..to].parse::<u32>().ok();
    Date::new(text[..4].parse().ok()?, number(4, 6), number(6, 8))
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut chars = text.chars().take(MAX).peekable();
    while let Some(first) = chars.next() {
        if !first.is_alphanumeric() {
            continue;
        }
        let is_digit = first.is_ascii_digit();
        let mut word = first.to_string();
        while let Some(c) = chars.next_if(|c| c.is_alphanumeric() && c.is_ascii_digit() == is_digit) {
            word.push(c);
        }
        tokens.push(match (is_digit, word.len()) {
            (true, 4) => word.parse().map_or(Token::Other, Token::Year),
            (true, 1 | 2) => word.parse().map_or(Token::Other, Token::Small),
            (true, _) => Token::Other,
            (false, _) => match named(&word) {
                Some(month) => Token::Month(month),
                // `2024-05-31T12:00`, `2024年5月31日`, `2024a`: the letters only separate.
                None if word.chars().count() == 1 => continue,
                None => Token::Other,
            },
        });
    }
    tokens
}

fn named(word: &str) -> Option<u32> {
    let word = word.to_lowercase();
    let month = match word.chars().take(3).collect::<String>().as_str() {
        "jan" => ("january", 1),
        "feb" | "fév" | "fev" => ("february", 2),
        "mar" | "mär" | "mrz" => ("march", 3),
        "apr" | "avr" | "abr" => ("april", 4),
        "may" | "mai" => ("may", 5),
        "jun" => ("june", 6),
        "jul" => ("july", 7),
        "aug" | "ago" | "aoû" => ("august", 8),
        "sep" => ("september", 9),
        "oct" | "okt" | "out" => ("october", 10),
        "nov" => ("november", 11),
        "dec" | "dez" | "déc" | "dic" => ("december", 12),
        _ => match word.as_str() {
            "juin" => ("", 6),
            "juillet" => ("", 7),
            _ => return None,
        },
    };
    // "Marine", "Decision" and the like are no months; other languages' names are as long as these.
    (word.starts_with(month.0) || month.0.starts_with(&word) || OTHER_NAMES.contains(&word.as_str()))
        .then_some(month.1)
}

/// Names in German, French, Spanish, and Portuguese that differ from the English.
const OTHER_NAMES: [&str; 44] = [
    "januar",
    "februar",
    "märz",
    "mrz",
    "mär",
    "mai",
    "juni",
    "juli",
    "okt",
    "oktober",
    "dez",
    "dezember",
    "janvier",
    "février",
    "fév",
    "févr",
    "mars",
    "avr",
    "avril",
    "juin",
    "juillet",
    "août",
    "aoû",
    "septembre",
    "octobre",
    "novembre",
    "décembre",
    "déc",
    "enero",
    "febrero",
    "marzo",
    "abr",
    "abril",
    "mayo",
    "junio",
    "julio",
    "ago",
    "agosto",
    "sept",
    "septiembre",
    "octubre",
    "noviembre",
    "dic",
    "diciembre",
];

fn days(year: i32, month: u32) -> u32 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_forms() {
        for (text, expect) in [
            ("2024-05-31", "2024-05-31"),
            ("2024-05-31T12:00:00Z", "2024-05-31"),
            ("2024/05/31/", "2024-05-31"),
            ("2024/05//Spring", "2024-05"),
            ("2024///", "2024"),
            ("2024", "2024"),
            ("c2024", "2024"),
            ("[2024]", "2024"),
            ("2024a", "2024"),
            ("31 May 2024", "2024-05-31"),
            ("May 31, 2024", "2024-05-31"),
            ("2024 May 31", "2024-05-31"),
            ("2024 Jan-Feb", "2024-01"),
            ("1998 Dec-1999 Jan", "1998-12"),
            ("2024 Spring", "2024"),
            ("Sept. 2024", "2024-09"),
            ("3. März 2024", "2024-03-03"),
            ("2024年5月31日", "2024-05-31"),
            ("31/05/2024", "2024-05-31"),
            ("05/31/2024", "2024-05-31"),
            ("05/06/2024", "2024"),
            ("05/2024", "2024-05"),
            ("20240531", "2024-05-31"),
            ("2024-02-30", "2024-02"),
            ("2024-13", "2024"),
            ("2023/2024", "2023"),
            ("2024-05-31/2024-06-02", "2024-05-31"),
            ("published 2024 by Marine Press", "2024"),
        ] {
            assert_eq!(Date::parse(text).map(|date| date.to_string()).as_deref(), Some(expect), "{text}");
        }
        for text in ["", "n.d.", "in press", "12/05/98", "0000", "99999"] {
            assert_eq!(Date::parse(text), None, "{text}");
        }
        let date = Date::new(2020, None, None).unwrap();
        assert_eq!(date.completed("MAY 8").to_string(), "2020-05-08");
        assert_eq!(date.completed("").to_string(), "2020");
        assert_eq!((Date::month("may"), Date::month("05"), Date::month("x")), (Some(5), Some(5), None));
    }
}
