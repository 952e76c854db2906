//! Prints the main text of saved pages, for comparisons with other extractors (`tests/clients/extraction.py`).
//!
//! Reads from standard input one page a line, its path (gzip is unpacked) and after a tab its address, and prints one
//! JSON object a line: `{"text": …}`.

#![expect(clippy::print_stdout, reason = "a program that prints what it reads")]

use flate2::read::GzDecoder;
use lyra_web::extract::{Extracted, decode};
use std::error::Error;
use std::io::{BufRead, Read};
use url::Url;

fn main() -> Result<(), Box<dyn Error>> {
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let (path, address) = line.split_once('\t').unwrap_or((&line, ""));
        let address = if address.starts_with("http") { address } else { "https://page.example/" };
        let address = Url::parse(address.trim())?;
        let mut bytes = std::fs::read(path)?;
        if bytes.starts_with(&[0x1F, 0x8B]) {
            let packed = std::mem::take(&mut bytes);
            GzDecoder::new(packed.as_slice()).read_to_end(&mut bytes)?;
        }
        let page = Extracted::from_html(&decode(&bytes, None).text, &address);
        println!("{}", serde_json::json!({ "text": page.text }));
    }
    Ok(())
}
