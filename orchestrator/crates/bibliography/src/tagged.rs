//! Lines that begin with a tag, as RIS and MEDLINE have them.

use crate::{MAX_FIELD, MAX_RECORD};

/// A tag with its value; lines that continue it are joined by line breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) tag: String,
    pub(crate) value: String,
}

/// The fields of one record.
#[derive(Debug, Default)]
pub(crate) struct Group {
    /// Number of the line on which it begins.
    pub(crate) line: u64,
    pub(crate) fields: Vec<Field>,
    bytes: usize,
}

impl Group {
    pub(crate) fn at(line: u64) -> Self {
        Self { line, ..Self::default() }
    }

    pub(crate) fn add(&mut self, tag: &str, value: &str) {
        self.bytes += value.len();
        if !self.is_too_long() {
            self.fields.push(Field { tag: tag.to_owned(), value: value.to_owned() });
        }
    }

    /// Adds a line to the last field. One that is too long already stays so, and is left out later.
    pub(crate) fn extend(&mut self, value: &str) {
        self.bytes += value.len();
        if let Some(last) = self.fields.last_mut()
            && last.value.len() <= MAX_FIELD
        {
            last.value.push('\n');
            last.value.push_str(value);
        }
    }

    pub(crate) fn is_too_long(&self) -> bool {
        self.bytes > MAX_RECORD
    }

    /// The first value of a tag that is not blank.
    pub(crate) fn first(&self, tag: &str) -> Option<&str> {
        let mut fields = self.fields.iter().filter(|field| field.tag == tag);
        fields.find(|field| !field.value.trim().is_empty()).map(|field| field.value.as_str())
    }

    /// The values of a tag that are not blank.
    pub(crate) fn all<'a>(&'a self, tag: &'a str) -> impl Iterator<Item = &'a str> {
        self.fields
            .iter()
            .filter(move |field| field.tag == tag && !field.value.trim().is_empty())
            .map(|field| field.value.as_str())
    }
}

/// Lines of a text, with their numbers.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    at: usize,
    number: u64,
}

impl Lines {
    /// The next line without white space at its end, and its number.
    pub(crate) fn next<'t>(&mut self, text: &'t str) -> Option<(u64, &'t str)> {
        let rest = text.get(self.at..).filter(|rest| !rest.is_empty())?;
        let line = rest.split('\n').next().unwrap_or_default();
        self.at += line.len() + 1;
        self.number += 1;
        Some((self.number, line.trim_start_matches('\u{FEFF}').trim_end()))
    }
}
