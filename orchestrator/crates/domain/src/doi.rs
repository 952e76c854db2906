//! Digital object identifiers.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A DOI in its normal form: lower case, `10.` first, no resolver in front.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Doi(String);

impl Doi {
    /// Reads `10.1000/x`, `doi:10.1000/x` and resolver URLs. `None` when it is no DOI (DOI handbook, section 2.2).
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().to_lowercase();
        let bare =
            ["https://", "http://"].iter().find_map(|scheme| text.strip_prefix(scheme)).unwrap_or(&text);
        let bare = ["doi.org/", "dx.doi.org/", "www.doi.org/", "doi:"]
            .iter()
            .find_map(|resolver| bare.strip_prefix(resolver))
            .unwrap_or(bare)
            .trim();
        let (prefix, suffix) = bare.split_once('/')?;
        let registrant = prefix.strip_prefix("10.")?;
        let registrant_ok =
            registrant.len() >= 4 && registrant.chars().all(|c| c.is_ascii_digit() || c == '.');
        let suffix_ok = !suffix.is_empty() && !suffix.chars().any(|c| c.is_whitespace() || c.is_control());
        (registrant_ok && suffix_ok).then(|| Self(bare.to_owned()))
    }

    /// The normal form.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Doi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: Option<&str>) {
        assert_eq!(Doi::parse(text).as_ref().map(Doi::as_str), expect, "{text}");
    }

    #[test]
    fn written_forms() {
        check("10.1038/NATURE12373", Some("10.1038/nature12373"));
        check(" doi: 10.1000/182 ", Some("10.1000/182"));
        check("https://doi.org/10.1000/182", Some("10.1000/182"));
        check("http://dx.doi.org/10.1002/(SICI)1097-0258", Some("10.1002/(sici)1097-0258"));
        check("10.1/x", None);
        check("10.1000/", None);
        check("10.1000/a b", None);
        check("https://example.com/10.1000/182", None);
    }
}
