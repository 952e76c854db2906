//! Bodies of `POST /embed`.
#![no_main]

libfuzzer_sys::fuzz_target!(|body: &[u8]| lyra_ml_server_fuzz::check("/embed", body));
