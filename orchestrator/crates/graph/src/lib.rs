//! The evidence graph: building, algorithms, exports.
