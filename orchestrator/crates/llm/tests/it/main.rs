//! Both APIs, spoken by a stand-in on loopback that answers as it is told.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod answers;
mod server;
mod stand_in;
