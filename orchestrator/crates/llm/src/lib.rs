//! A client for language models with Ollama's API or OpenAI's (any compatible server), and the prompts.
//!
//! Requests only go to the configured address. Answers are parsed strictly: if the JSON is invalid, the question is
//! asked once more, and then it is an error. The caller decides what to do without an answer.

mod client;
mod error;
mod ollama;
mod openai;
mod prompts;
mod wire;

pub use client::{Client, LlmConfig, Provider};
pub use error::{Error, Result};
pub use prompts::{Messages, Prompts};
