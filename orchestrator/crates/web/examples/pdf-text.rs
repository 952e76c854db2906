//! Prints what Lyra reads of PDF files, for comparisons with other readers (`tests/clients/papers.py`).
//!
//! Reads paths from standard input, one a line, and prints a JSON object for each: title, authors, DOI, abstract, text,
//! headings with their pages, and the seconds of processor time that it took; or `error`.

#![expect(clippy::print_stdout, reason = "a program that prints what it reads")]

use lyra_web::extract::{BlockKind, Extracted};
use lyra_web::pdf::{Limits, read};
use serde_json::json;
use std::error::Error;
use std::io::BufRead;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let limits = Limits { max_pages: 2_000, max_chars: 10_000_000, ..Limits::default() };
    for path in std::io::stdin().lock().lines() {
        let path = path?;
        let bytes = std::fs::read(&path)?;
        let begun = Instant::now();
        let found = read(&bytes, &limits, &|| false);
        let seconds = begun.elapsed().as_secs_f64();
        match found {
            Ok(page) => {
                let headings: Vec<_> = headings(&page).collect();
                println!(
                    "{}",
                    json!({
                        "path": path, "title": page.title, "authors": page.authors, "doi": page.doi,
                        "abstract": page.abstract_text, "text": page.text, "headings": headings,
                        "pages": page.pages.last(), "seconds": seconds,
                    })
                );
            }
            Err(error) => println!("{}", json!({ "path": path, "error": error.to_string() })),
        }
    }
    Ok(())
}

/// Each heading with its page.
fn headings(page: &Extracted) -> impl Iterator<Item = (u32, String)> {
    let blocks = page.blocks.iter().zip(&page.pages);
    blocks
        .filter(|(block, _)| matches!(block.kind, BlockKind::Heading { .. }))
        .map(|(block, number)| (*number, page.text_of(block)))
}
