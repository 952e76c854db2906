//! Lyra: evidence with citations and confidence, for people and their agents.
