//! A query that was read without running it.

use schemars::JsonSchema;
use serde::Serialize;

/// A query of the query language, read without running it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct QueryCheck {
    /// The query as it was understood, with every operator and bracket; absent if it cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reading: Option<String>,
    /// Words of it that are operators in other systems, each with what to write if the operator was meant.
    pub notes: Vec<String>,
    /// Why it cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<QueryFault>,
}

/// The first place where a query cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct QueryFault {
    /// Where, in characters (Unicode code points) from 1; one past the last at the query's end.
    pub position: usize,
    /// Characters that do not fit there, 0 at the query's end.
    pub length: usize,
    /// What stands there.
    pub found: String,
    /// What could stand there.
    pub expected: String,
    /// What to write instead, where another system's form stands there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
    /// The error as a sentence.
    pub message: String,
}
