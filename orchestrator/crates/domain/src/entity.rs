//! The entities of the evidence store: tasks, queries, works, pages, fragments, claims, edges, jobs.

pub(crate) mod auth;
pub(crate) mod claim;
pub(crate) mod edge;
pub(crate) mod fragment;
pub(crate) mod imprint;
pub(crate) mod job;
pub(crate) mod page;
pub(crate) mod query;
pub(crate) mod screening;
pub(crate) mod task;
pub(crate) mod work;

/// A word that names no variant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{got}` is not one of {expected}")]
pub struct UnknownName {
    /// The names that exist, joined with `|`.
    pub expected: &'static str,
    /// The given text.
    pub got: String,
}

/// An enum whose variants are stored and shown as fixed words.
#[macro_export]
macro_rules! named_enum {
    ($(#[$doc:meta])* $vis:vis enum $name:ident { $($(#[$vdoc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        $vis enum $name { $($(#[$vdoc])* #[serde(rename = $word)] $variant,)* }

        impl $name {
            /// Every variant, in declaration order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The word it is stored and shown as.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::UnknownName;

            fn from_str(text: &str) -> Result<Self, $crate::UnknownName> {
                match text {
                    $($word => Ok(Self::$variant),)*
                    _ => Err($crate::UnknownName { expected: concat!($($word, "|",)*), got: text.to_owned() }),
                }
            }
        }
    };
}
