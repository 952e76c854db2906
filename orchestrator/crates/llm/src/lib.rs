//! Language models behind Ollama's API and OpenAI's (any compatible server), and the prompts they are asked with.
//!
//! Requests go to the one address that the configuration names. Answers are read strictly: what is not the JSON that
//! was asked for is asked for once more, and then is an error. What to do without an answer is for the caller to know.

mod client;
mod error;
mod ollama;
mod openai;
mod prompts;
mod wire;

pub use client::{Client, LlmConfig, Provider};
pub use error::{Error, Result};
pub use prompts::{Messages, Prompts};
