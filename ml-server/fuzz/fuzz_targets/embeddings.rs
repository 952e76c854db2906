//! Bodies of `POST /v1/embeddings`.
#![no_main]

libfuzzer_sys::fuzz_target!(|body: &[u8]| lyra_ml_server_fuzz::check("/v1/embeddings", body));
