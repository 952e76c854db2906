//! Bodies of `POST /verify`.
#![no_main]

libfuzzer_sys::fuzz_target!(|body: &[u8]| lyra_ml_server_fuzz::check("/verify", body));
