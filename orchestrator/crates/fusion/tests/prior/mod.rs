//! A prior of relevance for tests and benches, as `config/relevance.yaml` has it.

use lyra_fusion::estimate::{Normal, Prior};

pub(crate) const PRIOR: Prior = Prior {
    intercept: 4.08,
    slope: 1.96,
    offset: 5.0,
    absent: 1000.0,
    center: -2.2,
    level: Normal { mean: -0.5, deviation: 3.2 },
    steepness: Normal { mean: 0.1, deviation: 0.9 },
};
