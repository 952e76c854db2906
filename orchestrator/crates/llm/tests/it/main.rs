//! Both APIs, spoken by a stand-in on loopback with scripted answers.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod answers;
mod server;
mod stand_in;
