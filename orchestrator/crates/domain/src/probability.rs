//! A number in [0, 1].

use serde::{Deserialize, Serialize};

/// A probability: finite and in [0, 1] by construction.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(from = "f64", into = "f64")]
pub struct Probability(f64);

impl Probability {
    /// Certainty.
    pub const ONE: Self = Self(1.0);
    /// Impossibility.
    pub const ZERO: Self = Self(0.0);

    /// Clamps into [0, 1]; NaN becomes 0, because an unknown weight must not count as evidence.
    pub fn clamped(value: f64) -> Self {
        if value.is_nan() { Self::ZERO } else { Self(value.clamp(0.0, 1.0)) }
    }

    /// The plain number.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl From<f64> for Probability {
    fn from(value: f64) -> Self {
        Self::clamped(value)
    }
}

impl From<Probability> for f64 {
    fn from(value: Probability) -> f64 {
        value.0
    }
}
