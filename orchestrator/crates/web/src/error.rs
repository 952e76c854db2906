//! Errors in configuration files.

/// Result of reading configuration.
pub type Result<T, E = ConfigError> = std::result::Result<T, E>;

/// A configuration file that cannot be used, with the place in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// Not YAML, an unknown key, or a value of the wrong type; the message names line and column.
    #[error("{0}")]
    Yaml(String),
    /// A value that has the right type and still cannot be used.
    #[error("{place}: {problem}")]
    Value {
        /// The key and its entry.
        place: String,
        /// What is wrong with it, and how to fix it.
        problem: String,
    },
}

impl ConfigError {
    pub(crate) fn value(place: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Value { place: place.into(), problem: problem.into() }
    }
}

/// Reads YAML; the error names line and column.
pub(crate) fn from_yaml<T: serde::de::DeserializeOwned>(text: &str) -> Result<T> {
    // An editor empties a file before it writes: that does not mean a configuration without rules.
    if text.trim().is_empty() {
        return Err(ConfigError::Yaml("the file is empty".to_owned()));
    }
    serde_saphyr::from_str(text).map_err(|error| ConfigError::Yaml(error.to_string()))
}
