//! Prefixed text identifiers.
//!
//! Tasks, queries and jobs get random ids from the edge. Everything else derives its id from its content, so that
//! inserts are idempotent.

use serde::{Deserialize, Serialize};
use std::fmt;
use uuid::Uuid;

/// Namespace of every derived id (a version 5 UUID of "lyra" in the DNS namespace).
const NAMESPACE: Uuid = Uuid::from_u128(0x6f1d_3c52_5a0e_5b8e_9a34_1f6c_8d21_7e90);

/// A text that is not an id of the expected kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{got}` is not an id of this kind, it should start with `{prefix}`")]
pub struct IdError {
    /// Prefix that was expected, such as `task_`.
    pub prefix: &'static str,
    /// The given text.
    pub got: String,
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident, $prefix:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// Every id of this kind starts with it.
            pub const PREFIX: &'static str = $prefix;

            /// The id for a UUID that the caller drew.
            pub fn new(uuid: Uuid) -> Self {
                Self(format!("{}{}", $prefix, uuid.simple()))
            }

            /// The id that these parts always give.
            pub fn derive(parts: &[&str]) -> Self {
                Self::new(derived_uuid($prefix, parts))
            }

            /// The id as text, prefix included.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl std::str::FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                Self::try_from(text.to_owned())
            }
        }

        impl TryFrom<String> for $name {
            type Error = IdError;

            fn try_from(text: String) -> Result<Self, IdError> {
                if text.len() > $prefix.len() && text.starts_with($prefix) {
                    Ok(Self(text))
                } else {
                    Err(IdError { prefix: $prefix, got: text })
                }
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.0
            }
        }
    )*};
}

ids! {
    /// A research task.
    TaskId, "task_";
    /// One search of a task.
    QueryId, "q_";
    /// A page, global.
    PageId, "page_";
    /// A piece of a page, global.
    FragmentId, "frag_";
    /// A claim of a task.
    ClaimId, "claim_";
    /// A relation between two nodes.
    EdgeId, "edge_";
    /// A place in a source's results for a query.
    SerpItemId, "serp_";
    /// A stored vector.
    EmbeddingId, "emb_";
    /// A unit of background work.
    JobId, "job_";
    /// A person's decision about a domain pattern, active or withdrawn.
    OverrideRuleId, "dor_";
    /// An entry of the history of those decisions.
    OverrideEventId, "doe_";
    /// A judgment that a person corrected or reviewed.
    CorrectionId, "nlc_";
    /// A page that requires a person.
    AuthId, "auth_";
    /// A question to a language model.
    QuestionId, "ask_";
    /// A person's decision about a document of a task.
    ScreeningId, "scr_";
}

/// Parts are joined with a separator that text does not contain, so that `["ab", "c"]` and `["a", "bc"]` differ.
fn derived_uuid(prefix: &str, parts: &[&str]) -> Uuid {
    let mut name = String::from(prefix);
    for part in parts {
        name.push('\u{1f}');
        name.push_str(part);
    }
    Uuid::new_v5(&NAMESPACE, name.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derived_ids_are_stable_and_separate_their_parts() {
        assert_eq!(PageId::derive(&["ab", "c"]), PageId::derive(&["ab", "c"]));
        assert_ne!(PageId::derive(&["ab", "c"]), PageId::derive(&["a", "bc"]));
    }

    #[test]
    fn a_wrong_prefix_is_named() {
        let error = "claim_1".parse::<TaskId>().unwrap_err();
        assert_eq!(error.to_string(), "`claim_1` is not an id of this kind, it should start with `task_`");
    }
}
