//! Cross-process tests of Lyra.
