//! Dates of publication as pages write them.

use serde::{Deserialize, Serialize};
use std::fmt;
use url::Url;

/// A day, a month or a year.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PublishedDate {
    /// Year.
    pub year: i32,
    /// Month from 1.
    pub month: Option<u8>,
    /// Day of the month from 1, when there is a month.
    pub day: Option<u8>,
}

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

impl PublishedDate {
    /// Reads the forms that metadata and by-lines use: `2015-03-25T12:00Z`, `2015/3/25`, `2015-03`, `20150325`,
    /// `March 25, 2015`, `25 March 2015`, `2015年3月25日`, `2015`. `None` for anything else, and for years that no page
    /// about published work has.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let mut words = Vec::new();
        for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).take(8) {
            words.extend(pieces(word));
        }
        let number = |i: usize| words.get(i).and_then(|word| word.parse::<u32>().ok());
        let month = |i: usize| words.get(i).and_then(|word| month_named(word));
        let long = |i: usize| number(i).is_some() && words.get(i).is_some_and(|word| word.len() == 4);
        if long(0) {
            let year = number(0)?;
            return Self::new(year, month(1).or_else(|| number(1).filter(|m| *m <= 12)), number(2))
                .or_else(|| Self::new(year, None, None));
        }
        if words.len() == 1 && text.len() == 8 {
            let digits = text.parse::<u32>().ok()?;
            return Self::new(digits / 10_000, Some(digits / 100 % 100), Some(digits % 100));
        }
        // A weekday may come first.
        for i in 0..words.len() {
            if let Some(m) = month(i) {
                if long(i + 1) {
                    let day = i.checked_sub(1).and_then(number);
                    return Self::new(number(i + 1)?, Some(m), day);
                }
                if long(i + 2) && number(i + 1).is_some() {
                    return Self::new(number(i + 2)?, Some(m), Some(number(i + 1)?));
                }
            }
        }
        None
    }

    /// A day or month in the path of an address: `/2015/03/25/`, `/2015-03-25-`, `/2015/03/`.
    pub fn in_address(url: &Url) -> Option<Self> {
        let numbers: Vec<&str> = url.path().split(['/', '-', '_']).collect();
        numbers.windows(2).enumerate().find_map(|(i, pair)| {
            if pair[0].len() != 4 || pair[1].len() != 2 {
                return None;
            }
            let day = numbers.get(i + 2).filter(|day| day.len() == 2).and_then(|day| day.parse().ok());
            let (year, month) = (pair[0].parse().ok()?, pair[1].parse().ok()?);
            Self::new(year, Some(month), day).or_else(|| Self::new(year, Some(month), None))
        })
    }

    fn new(year: u32, month: Option<u32>, day: Option<u32>) -> Option<Self> {
        // Printing with movable type, and some room after today for issues dated ahead.
        let year = i16::try_from(year).ok().filter(|year| (1450..2200).contains(year))?;
        let (month, day) = match (month, day) {
            (Some(month), Some(day)) => {
                let date =
                    jiff::civil::Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()?;
                (Some(date.month() as u8), Some(date.day() as u8))
            }
            (Some(month), None) => {
                (Some(u8::try_from(month).ok().filter(|month| (1..=12).contains(month))?), None)
            }
            (None, _) => (None, None),
        };
        Some(Self { year: i32::from(year), month, day })
    }
}

/// Digits and letters apart: `2015年3月25日` is five pieces, `25th` is two.
fn pieces(word: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for c in word.chars() {
        match found
            .last_mut()
            .filter(|piece| piece.ends_with(|last: char| last.is_ascii_digit()) == c.is_ascii_digit())
        {
            Some(piece) => piece.push(c),
            None => found.push(c.to_string()),
        }
    }
    found.retain(|piece| !matches!(piece.as_str(), "年" | "月" | "日" | "st" | "nd" | "rd" | "th"));
    found
}

fn month_named(word: &str) -> Option<u32> {
    let word = word.to_lowercase();
    let index = MONTHS.iter().position(|month| word.starts_with(month))?;
    // "sept" and "march", and not "marchers".
    (word.len() <= 9).then_some(index as u32 + 1)
}

impl fmt::Display for PublishedDate {
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

impl Serialize for PublishedDate {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for PublishedDate {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom(format!("`{text}` is not a date")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, expect: Option<&str>) {
        assert_eq!(PublishedDate::parse(text).map(|date| date.to_string()).as_deref(), expect, "{text}");
    }

    #[test]
    fn written_forms() {
        check("2015-03-25T12:34:56+09:00", Some("2015-03-25"));
        check("2015/3/5", Some("2015-03-05"));
        check("2015-03", Some("2015-03"));
        check("2015", Some("2015"));
        check("20150325", Some("2015-03-25"));
        check("March 25, 2015", Some("2015-03-25"));
        check("Wednesday, 25th Mar 2015 10:00", Some("2015-03-25"));
        check("Sept. 2015", Some("2015-09"));
        check("2015 Mar 25", Some("2015-03-25"));
        check("2015年3月25日", Some("2015-03-25"));
        check("2015-13-40", Some("2015"));
        check("0000-00-00", None);
        check("yesterday", None);
        check("", None);
    }

    #[test]
    fn in_addresses() {
        let date = |url| PublishedDate::in_address(&Url::parse(url).unwrap()).map(|date| date.to_string());
        assert_eq!(date("https://a.example/2015/03/25/title").as_deref(), Some("2015-03-25"));
        assert_eq!(date("https://a.example/blog/2015/03/title").as_deref(), Some("2015-03"));
        assert_eq!(date("https://a.example/item/1234/56"), None);
    }

    proptest! {
        #[test]
        fn any_text(text in any::<String>()) {
            let _ = PublishedDate::parse(&text);
        }

        #[test]
        fn what_is_written_is_read(year in 1450_i32..2200, month in 1_u8..=12, day in 1_u8..=28) {
            let date = PublishedDate { year, month: Some(month), day: Some(day) };
            prop_assert_eq!(PublishedDate::parse(&date.to_string()), Some(date));
        }
    }
}
