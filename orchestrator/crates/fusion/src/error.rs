//! Invalid parameters of a fusion.

/// An invalid parameter, with its name and what would be right.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FusionError {
    /// A number outside its range.
    #[error("`{name}` is {value}, it should be {expected}")]
    Number {
        /// Which.
        name: String,
        /// The given value.
        value: f64,
        /// What would be right.
        expected: &'static str,
    },
    /// A code of a profile without its system, or of an unknown one.
    #[error("`{0}` lacks its classification system: write ipc:H01L33/20, cpc:…, fi:… or ft:…")]
    NoSystem(String),
    /// A code that its system cannot have.
    #[error("{0}")]
    Code(#[from] lyra_domain::classification::CodeError),
    /// A facet whose name does not begin with its label.
    #[error(
        "`{0}` is not a facet: its name begins with A (core), B (qualifying) or C (use case), such as A or B2"
    )]
    Facet(String),
    /// A facet without a term.
    #[error("facet `{0}` has no search terms")]
    EmptyFacet(String),
    /// Weights for something that is not blended.
    #[error("`{name}` has a weight in `{argument}`, but the lanes are {}", lanes.join(", "))]
    UnknownLane {
        /// The argument.
        argument: &'static str,
        /// The name in it.
        name: String,
        /// What there is.
        lanes: Vec<String>,
    },
    /// A grid without a depth.
    #[error("`k_grid` is empty or holds a 0: give reading depths such as 10, 50, 100")]
    Grid,
}

/// A result with a [`FusionError`].
pub type Result<T, E = FusionError> = std::result::Result<T, E>;
