//! Filters of lanes: the flat list that tools take, checked.

use lyra_domain::classification::{Code, System};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One element of the list, as it is written in a tool call.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawFilter {
    /// `ipc fi cpc ft uspc locarno country lang pubyear pub_date app_date assignee inventor tag collection`
    pub field: String,
    /// Values of which one must be there: strings, or years as numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub include_values: Vec<Value>,
    /// Values that must not be there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclude_values: Vec<Value>,
    /// Codes of which one must be there, it or a finer one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub include_codes: Vec<String>,
    /// Codes that must not be there, nor finer ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclude_codes: Vec<String>,
    /// From and to, both included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_range: Option<RawRange>,
}

/// The ends of a range, `yyyy-mm-dd` or a year; one may be missing.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawRange {
    /// First day or year.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Value>,
    /// Last day or year.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Value>,
}

/// A validated filter. Serializes to one canonical form, so that it can be hashed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "RawFilter", try_from = "RawFilter")]
pub enum Filter {
    /// Classification codes by hierarchy.
    Codes {
        /// Of which system.
        system: System,
        /// One of these, or below; any when empty.
        include: Vec<Code>,
        /// None of these, nor below.
        exclude: Vec<Code>,
    },
    /// Values of a field.
    Values {
        /// Which field.
        field: ValueField,
        /// One of these; any when empty.
        include: Vec<String>,
        /// None of these.
        exclude: Vec<String>,
    },
    /// Days.
    Dates {
        /// Which date.
        field: DateField,
        /// In one of these ranges; any when empty.
        include: Vec<DateRange>,
        /// In none of these.
        exclude: Vec<DateRange>,
    },
}

/// Fields with values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ValueField {
    /// Two letters, upper case.
    Country,
    /// ISO 639-1, lower case.
    Lang,
    /// Applicants and assignees, matched by their words.
    Assignee,
    /// Inventors and authors, matched by their words.
    Inventor,
    /// Tags of the person's library, whole, without regard to case.
    Tag,
    /// Collections of the person's library, with those below them: `Sleep` has what is in `Sleep/Naps`.
    Collection,
}

impl ValueField {
    /// The name in filters.
    pub fn name(self) -> &'static str {
        match self {
            Self::Country => "country",
            Self::Lang => "lang",
            Self::Assignee => "assignee",
            Self::Inventor => "inventor",
            Self::Tag => "tag",
            Self::Collection => "collection",
        }
    }
}

/// Fields with dates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DateField {
    /// Year of publication; ranges are whole years.
    PubYear,
    /// Date of publication.
    PubDate,
    /// Date of filing.
    AppDate,
}

impl DateField {
    /// The name in filters.
    pub fn name(self) -> &'static str {
        match self {
            Self::PubYear => "pubyear",
            Self::PubDate => "pub_date",
            Self::AppDate => "app_date",
        }
    }
}

/// Days from and to, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DateRange {
    /// First day; from the beginning of time when `None`.
    pub from: Option<jiff::civil::Date>,
    /// Last day; without end when `None`.
    pub to: Option<jiff::civil::Date>,
}

/// What is wrong with a filter, and what would be right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("filter {}on `{field}`: {why}; {expected}", .nth.map(|n| format!("{n} ")).unwrap_or_default())]
pub struct FilterError {
    /// Place in the list, from 1.
    pub nth: Option<usize>,
    /// Its field.
    pub field: String,
    /// What is wrong.
    pub why: String,
    /// What would be right.
    pub expected: String,
}

pub(crate) fn wrong(field: &str, why: impl Into<String>, expected: impl Into<String>) -> FilterError {
    FilterError { nth: None, field: field.to_owned(), why: why.into(), expected: expected.into() }
}

const FIELDS: &str = "the fields are ipc, fi, cpc, ft, uspc, locarno, country, lang, pubyear, pub_date, app_date, \
     assignee, inventor, tag, collection";

/// What is right about classification systems in a lane.
pub(crate) const ONE_SYSTEM: &str = "use one classification system per lane (ipc and cpc go together, and so do fi and ft) and run a second lane";

impl Filter {
    /// Checks a list: each filter for itself, and that one classification system is used (FI and F-term go together).
    ///
    /// # Errors
    /// [`FilterError`] for the first filter that cannot be used.
    pub fn check_all(raw: &[RawFilter]) -> Result<Vec<Self>, FilterError> {
        let mut filters = Vec::with_capacity(raw.len());
        let mut first: Option<System> = None;
        for (nth, raw) in (1..).zip(raw) {
            let filter = Self::check(raw).map_err(|error| FilterError { nth: Some(nth), ..error })?;
            if let Self::Codes { system, .. } = &filter {
                let before = *first.get_or_insert(*system);
                if !before.goes_with(*system) {
                    let error = wrong(
                        system.name(),
                        format!("`{system}` and `{before}` are mixed in one lane"),
                        ONE_SYSTEM,
                    );
                    return Err(FilterError { nth: Some(nth), ..error });
                }
            }
            filters.push(filter);
        }
        Ok(filters)
    }

    /// Checks one filter.
    ///
    /// # Errors
    /// [`FilterError`] when the field is unknown, a key does not go with it, a value cannot be read, or nothing is
    /// asked for.
    pub fn check(raw: &RawFilter) -> Result<Self, FilterError> {
        let field = raw.field.trim();
        let with_codes = !raw.include_codes.is_empty() || !raw.exclude_codes.is_empty();
        let with_values = !raw.include_values.is_empty() || !raw.exclude_values.is_empty();
        if !with_codes && !with_values && raw.include_range.is_none() {
            let expected =
                "give include_values, exclude_values, include_codes, exclude_codes or include_range";
            return Err(wrong(field, "it asks for nothing", expected));
        }
        if let Ok(system) = field.parse::<System>() {
            if with_values || raw.include_range.is_some() {
                return Err(wrong(field, "it holds codes", "use include_codes and exclude_codes"));
            }
            let codes = |list: &[String]| -> Result<Vec<Code>, FilterError> {
                let code = |text: &String| {
                    Code::parse(system, text).map_err(|error| {
                        wrong(field, error.to_string(), "a coarser code matches the finer ones")
                    })
                };
                list.iter().map(code).collect()
            };
            return Ok(Self::Codes {
                system,
                include: codes(&raw.include_codes)?,
                exclude: codes(&raw.exclude_codes)?,
            });
        }
        if with_codes {
            let expected = "use include_values, exclude_values or include_range, or one of the fields ipc, fi, cpc, ft, uspc, locarno";
            return Err(wrong(field, "it holds no codes", expected));
        }
        let values = match field {
            "country" => Some(ValueField::Country),
            "lang" => Some(ValueField::Lang),
            "assignee" => Some(ValueField::Assignee),
            "inventor" => Some(ValueField::Inventor),
            "tag" => Some(ValueField::Tag),
            "collection" => Some(ValueField::Collection),
            _ => None,
        };
        if let Some(of) = values {
            if raw.include_range.is_some() {
                return Err(wrong(field, "it has no range", "use include_values and exclude_values"));
            }
            return Ok(Self::Values {
                field: of,
                include: strings(of, &raw.include_values)?,
                exclude: strings(of, &raw.exclude_values)?,
            });
        }
        let of = match field {
            "pubyear" => DateField::PubYear,
            "pub_date" => DateField::PubDate,
            "app_date" => DateField::AppDate,
            _ => return Err(wrong(field, "there is no such field", FIELDS)),
        };
        let days = |list: &[Value]| list.iter().map(|value| day(of, value)).collect::<Result<Vec<_>, _>>();
        let mut include = days(&raw.include_values)?;
        if let Some(range) = &raw.include_range {
            if !include.is_empty() {
                let expected = "use two filters on the field";
                return Err(wrong(field, "it has include_values and include_range", expected));
            }
            include.push(self::range(of, range)?);
        }
        Ok(Self::Dates { field: of, include, exclude: days(&raw.exclude_values)? })
    }

    /// That a value of a field must be there.
    pub(crate) fn with(field: ValueField, value: &str) -> Result<Self, FilterError> {
        let include = strings(field, &[Value::from(value)])?;
        Ok(Self::Values { field, include, exclude: Vec::new() })
    }

    /// The name of its field.
    pub fn field(&self) -> &'static str {
        match self {
            Self::Codes { system, .. } => system.name(),
            Self::Values { field, .. } => field.name(),
            Self::Dates { field, .. } => field.name(),
        }
    }
}

fn strings(field: ValueField, values: &[Value]) -> Result<Vec<String>, FilterError> {
    let one = |value: &Value| {
        let text = value.as_str().map(str::trim).filter(|text| !text.is_empty());
        let text =
            text.ok_or_else(|| wrong(field.name(), format!("{value} is not a valid value"), "give strings"))?;
        match field {
            ValueField::Country if text.len() == 2 && text.bytes().all(|b| b.is_ascii_alphabetic()) => {
                Ok(text.to_ascii_uppercase())
            }
            ValueField::Country => Err(wrong(
                "country",
                format!("`{text}` is not a country code"),
                "give two letters such as `JP`",
            )),
            ValueField::Lang if text.len() == 2 && text.bytes().all(|b| b.is_ascii_alphabetic()) => {
                Ok(text.to_ascii_lowercase())
            }
            ValueField::Lang => Err(wrong(
                "lang",
                format!("`{text}` is not a language code"),
                "give an ISO 639-1 code such as `ja`",
            )),
            ValueField::Assignee | ValueField::Inventor | ValueField::Tag | ValueField::Collection => {
                Ok(text.to_owned())
            }
        }
    };
    values.iter().map(one).collect()
}

/// A day, or a whole year where the field counts years.
fn day(field: DateField, value: &Value) -> Result<DateRange, FilterError> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        other => other.to_string(),
    };
    let parsed: Option<jiff::civil::Date> = if text.len() == 10 { text.parse().ok() } else { None };
    if let Some(date) = parsed {
        return match field {
            DateField::PubYear => year(field, date.year(), &text),
            _ => Ok(DateRange { from: Some(date), to: Some(date) }),
        };
    }
    match text.parse::<i16>() {
        Ok(number) if text.len() == 4 => year(field, number, &text),
        _ => Err(wrong(field.name(), format!("`{text}` is not a valid date"), "write yyyy-mm-dd, or a year")),
    }
}

fn year(field: DateField, year: i16, text: &str) -> Result<DateRange, FilterError> {
    let date = |month, day| jiff::civil::Date::new(year, month, day).ok();
    match (date(1, 1), date(12, 31)) {
        (Some(from), Some(to)) => Ok(DateRange { from: Some(from), to: Some(to) }),
        _ => Err(wrong(field.name(), format!("`{text}` is not a valid year"), "write yyyy-mm-dd, or a year")),
    }
}

fn range(field: DateField, raw: &RawRange) -> Result<DateRange, FilterError> {
    let from = raw.from.as_ref().map(|value| day(field, value)).transpose()?.and_then(|range| range.from);
    let to = raw.to.as_ref().map(|value| day(field, value)).transpose()?.and_then(|range| range.to);
    match (from, to) {
        (None, None) => Err(wrong(field.name(), "the range has no end", "give `from`, `to` or both")),
        (Some(from), Some(to)) if from > to => {
            Err(wrong(field.name(), format!("the range ends ({to}) before it begins ({from})"), "swap them"))
        }
        (from, to) => Ok(DateRange { from, to }),
    }
}

impl TryFrom<RawFilter> for Filter {
    type Error = FilterError;

    fn try_from(raw: RawFilter) -> Result<Self, FilterError> {
        Self::check(&raw)
    }
}

impl From<Filter> for RawFilter {
    fn from(filter: Filter) -> Self {
        let mut raw = Self { field: filter.field().to_owned(), ..Self::default() };
        match filter {
            Filter::Codes { include, exclude, .. } => {
                raw.include_codes = include.iter().map(ToString::to_string).collect();
                raw.exclude_codes = exclude.iter().map(ToString::to_string).collect();
            }
            Filter::Values { include, exclude, .. } => {
                raw.include_values = include.into_iter().map(Value::from).collect();
                raw.exclude_values = exclude.into_iter().map(Value::from).collect();
            }
            Filter::Dates { field, include, exclude } => {
                let text = |date: jiff::civil::Date| Value::from(date.to_string());
                // A list of single days or years, else one range: what `check` can have made.
                let single = |range: &DateRange| match (field, range.from, range.to) {
                    (DateField::PubYear, Some(from), Some(to)) if from.year() == to.year() => {
                        Some(Value::from(from.year()))
                    }
                    (_, Some(from), Some(to)) if from == to => Some(text(from)),
                    (_, Some(from), Some(to)) if whole_year(from, to) => {
                        Some(Value::from(from.year().to_string()))
                    }
                    _ => None,
                };
                let singles: Option<Vec<Value>> = include.iter().map(single).collect();
                match (singles, include.first()) {
                    (Some(values), _) => raw.include_values = values,
                    (None, Some(range)) => {
                        raw.include_range =
                            Some(RawRange { from: range.from.map(text), to: range.to.map(text) });
                    }
                    (None, None) => {}
                }
                raw.exclude_values = exclude.iter().filter_map(single).collect();
            }
        }
        raw
    }
}

fn whole_year(from: jiff::civil::Date, to: jiff::civil::Date) -> bool {
    from.year() == to.year() && (from.month(), from.day(), to.month(), to.day()) == (1, 1, 12, 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(list: &Value) -> Result<Vec<Filter>, String> {
        let raw: Vec<RawFilter> = serde_json::from_value(list.clone()).map_err(|error| error.to_string())?;
        Filter::check_all(&raw).map_err(|error| error.to_string())
    }

    #[test]
    fn lists_are_checked_and_written_in_one_form() {
        let written = json!([
            {"field": "fi", "include_codes": ["h04l 1/00", "H04L1/06"], "exclude_codes": ["H04L1/00,100"]},
            {"field": "F-term", "include_codes": ["5F044 AA01"]},
            {"field": "country", "include_values": ["jp"]},
            {"field": "lang", "exclude_values": ["EN"]},
            {"field": "assignee", "include_values": [" Shimadzu "]},
            {"field": "tag", "include_values": ["To Read"], "exclude_values": ["done, or not"]},
            {"field": "collection", "include_values": ["Sleep/Naps"]},
            {"field": "pubyear", "include_range": {"from": "2020-01-01", "to": 2021}},
            {"field": "pubyear", "include_values": [2020, "2022"]},
            {"field": "pub_date", "include_range": {"from": "2020-02-01"}},
            {"field": "app_date", "include_values": ["2020-02-01", 2019], "exclude_values": ["2019-05-05"]},
        ]);
        let expect = json!([
            {"field": "fi", "include_codes": ["H04L1/00", "H04L1/06"], "exclude_codes": ["H04L1/00,100"]},
            {"field": "ft", "include_codes": ["5F044AA01"]},
            {"field": "country", "include_values": ["JP"]},
            {"field": "lang", "exclude_values": ["en"]},
            {"field": "assignee", "include_values": ["Shimadzu"]},
            {"field": "tag", "include_values": ["To Read"], "exclude_values": ["done, or not"]},
            {"field": "collection", "include_values": ["Sleep/Naps"]},
            {"field": "pubyear", "include_range": {"from": "2020-01-01", "to": "2021-12-31"}},
            {"field": "pubyear", "include_values": [2020, 2022]},
            {"field": "pub_date", "include_range": {"from": "2020-02-01"}},
            {"field": "app_date", "include_values": ["2020-02-01", "2019"], "exclude_values": ["2019-05-05"]},
        ]);
        let filters = check(&written).unwrap();
        let again = serde_json::to_value(&filters).unwrap();
        assert_eq!(again, expect);
        assert_eq!(serde_json::from_value::<Vec<Filter>>(again).unwrap(), filters);
    }

    #[test]
    fn errors_say_what_would_be_right() {
        for (list, expect) in [
            (
                json!([{"field": "topic", "include_values": ["x"]}]),
                "filter 1 on `topic`: there is no such field; the fields are",
            ),
            (json!([{"field": "fi"}]), "filter 1 on `fi`: it asks for nothing; give include_values"),
            (
                json!([{"field": "fi", "include_values": ["H04L"]}]),
                "filter 1 on `fi`: it holds codes; use include_codes",
            ),
            (
                json!([{"field": "country", "include_codes": ["JP"]}]),
                "filter 1 on `country`: it holds no codes; use include_values",
            ),
            (
                json!([{"field": "cpc", "include_codes": ["H4"]}]),
                "filter 1 on `cpc`: `H4` is not a valid CPC code: write it like",
            ),
            (
                json!([{"field": "country", "include_values": ["Japan"]}]),
                "filter 1 on `country`: `Japan` is not a country code; give two letters",
            ),
            (
                json!([{"field": "lang", "include_values": [5]}]),
                "filter 1 on `lang`: 5 is not a valid value; give strings",
            ),
            (
                json!([{"field": "pub_date", "include_values": ["2020/01/01"]}]),
                "filter 1 on `pub_date`: `2020/01/01` is not a valid date; write yyyy-mm-dd",
            ),
            (
                json!([{"field": "pub_date", "include_range": {"from": "2021-01-01", "to": "2020-01-01"}}]),
                "filter 1 on `pub_date`: the range ends",
            ),
            (
                json!([{"field": "pub_date", "include_range": {}}]),
                "filter 1 on `pub_date`: the range has no end",
            ),
            (
                json!([{"field": "assignee", "include_range": {"from": 2000}}]),
                "filter 1 on `assignee`: it has no range",
            ),
            (
                json!([{"field": "pubyear", "include_values": [2000], "include_range": {"from": 2000}}]),
                "filter 1 on `pubyear`: it has include_values and include_range",
            ),
            (
                json!([{"field": "fi", "include_codes": ["H04L"]}, {"field": "cpc", "include_codes": ["H04L"]}]),
                "filter 2 on `cpc`: `cpc` and `fi` are mixed in one lane; use one",
            ),
            (
                json!([{"field": "ipc", "include_codes": ["H04L"]}, {"field": "uspc", "include_codes": ["D14"]}]),
                "filter 2 on `uspc`: `uspc` and `ipc` are mixed",
            ),
            (json!([{"field": "fi", "op": "in"}]), "unknown field `op`"),
        ] {
            let error = check(&list).unwrap_err();
            assert!(error.starts_with(expect), "{error}");
        }
    }
}
