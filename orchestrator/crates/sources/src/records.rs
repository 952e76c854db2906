//! Lists of records in answers of APIs.

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error, SeqAccess, Visitor};
use serde_json::Value;
use std::fmt;
use std::marker::PhantomData;

/// The readable records of a list. An unreadable one is skipped; a list without any readable record is an error,
/// because then the API has changed.
#[derive(Debug)]
pub(crate) struct Records<T>(pub(crate) Vec<T>);

impl<T> IntoIterator for Records<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Records<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(List(PhantomData))
    }
}

struct List<T>(PhantomData<T>);

impl<'de, T: DeserializeOwned> Visitor<'de> for List<T> {
    type Value = Records<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of records")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let (mut records, mut odd, mut why) = (Vec::new(), 0_usize, None::<serde_json::Error>);
        while let Some(entry) = list.next_element::<Value>()? {
            match T::deserialize(entry) {
                Ok(record) => records.push(record),
                Err(error) => {
                    odd += 1;
                    why.get_or_insert(error);
                }
            }
        }
        if let Some(error) = why {
            if records.is_empty() {
                let why = format!("none of its {odd} records can be read, the first because of {error}");
                return Err(A::Error::custom(why));
            }
            tracing::info!(odd, read = records.len(), %error, "unreadable records are skipped");
        }
        Ok(Records(records))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Paper {
        year: Option<i32>,
    }

    fn read(json: &str) -> Result<Vec<Paper>, String> {
        serde_json::from_str::<Records<Paper>>(json).map(|list| list.0).map_err(|error| error.to_string())
    }

    #[test]
    fn an_odd_record_costs_itself_alone() {
        let good = || Paper { year: Some(2020) };
        let list = r#"[{"year": 2020}, null, {"year": "2020"}, [], 7, "x", {"year": 2020}]"#;
        assert_eq!(read(list), Ok(vec![good(), good()]));
        assert_eq!(read("[]"), Ok(vec![]));
    }

    #[test]
    fn a_list_of_odd_records_or_no_list_is_an_error() {
        let error = read(r#"[null, {"year": "2020"}]"#).unwrap_err();
        assert!(error.contains("none of its 2 records"), "{error}");
        assert!(read(r#"{"year": 2020}"#).is_err());
        assert!(read(r#"[{"year": 2020}, {"ye"#).is_err());
    }
}
