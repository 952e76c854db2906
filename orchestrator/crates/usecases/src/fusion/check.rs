//! Reading a query without running it.

use lyra_text::query::Query;
use lyra_wire::fusion::{QueryCheck, QueryFault};

/// How a query is understood; else the first place where it cannot be read, and what could stand there.
pub fn check_query(text: &str) -> QueryCheck {
    match Query::read(text) {
        Ok(read) => QueryCheck {
            reading: Some(read.query.to_string()),
            notes: read.notes.iter().map(ToString::to_string).collect(),
            fault: None,
        },
        Err(error) => {
            // The place is one of a word or sign, which is marked as a whole.
            let rest: Vec<char> = text.chars().skip(error.at).collect();
            let named = error.found.trim_matches('`').chars().count();
            let is_named = error.found.starts_with('`') && named <= rest.len();
            let length = if is_named { named } else { rest.len().min(1) };
            let fault = QueryFault {
                position: error.at + 1,
                length,
                message: error.to_string(),
                found: error.found,
                expected: error.expected,
                suggestion: error.instead,
            };
            QueryCheck { reading: None, notes: Vec::new(), fault: Some(fault) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_query_is_read_or_its_place_is_named() {
        let read = check_query("led heat OR \"heat sink\"");
        assert_eq!(read.reading.as_deref(), Some("((led AND heat) OR \"heat sink\")"));
        let fault = check_query("昼寝 AND (led").fault.expect("a fault");
        assert_eq!((fault.position, fault.length, fault.found.as_str()), (12, 0, "the end"));
        let fault = check_query("led AND bright:red").fault.expect("a fault");
        assert_eq!((fault.position, fault.length), (9, 7), "{fault:?}");
        assert!(fault.expected.contains("title"), "{fault:?}");
        let fault = check_query("lamp AND fiber$").fault.expect("a fault");
        assert_eq!(
            (fault.position, fault.length, fault.suggestion.as_deref()),
            (15, 1, Some("fiber*")),
            "{fault:?}"
        );
        let noted = check_query("lamp 5W driver");
        assert_eq!(noted.reading.as_deref(), Some("(lamp AND 5W AND driver)"));
        assert!(noted.notes[0].starts_with("`5W` at character 6 is searched as a word"), "{noted:?}");
    }

    proptest! {
        #[test]
        fn a_fault_is_within_the_query(text in "[a-z ()\"*:0-9]{0,40}|\\PC{0,30}") {
            let QueryCheck { reading, fault, .. } = check_query(&text);
            prop_assert!(reading.is_some() != fault.is_some());
            if let Some(fault) = fault {
                prop_assert!(fault.position >= 1 && fault.position + fault.length <= text.chars().count() + 1);
            }
        }
    }
}
