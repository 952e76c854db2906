//! Files of every format, whole: written here as text, packed where the format asks for it.
#![expect(clippy::unwrap_used, reason = "tests")]

mod books;
mod fidelity;
mod formats;
mod hostile;
mod latex;
mod office;
mod plain;
mod properties;
mod xml;

use lyra_documents::{Content, Format, Kind, Limits, Paper, ReadError, read};
use std::io::Write;
use zip::write::SimpleFileOptions;

/// A ZIP archive of these members.
fn zipped(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, content) in members {
        let stored = *name == "mimetype";
        let method = if stored { zip::CompressionMethod::Stored } else { zip::CompressionMethod::Deflated };
        archive.start_file(*name, SimpleFileOptions::default().compression_method(method)).unwrap();
        archive.write_all(content).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

fn try_paper(bytes: &[u8], format: Format, limits: &Limits) -> Result<Paper, ReadError> {
    read(bytes, format, limits).map(|content| match content {
        Content::Paper(paper) => *paper,
        Content::Page(page) => panic!("a page: {page:?}"),
    })
}

#[track_caller]
fn paper(bytes: &[u8], format: Format) -> Paper {
    try_paper(bytes, format, &Limits::default()).unwrap()
}

/// The text of a paper in short: `# heading`, `kind: text`.
fn outline(paper: &Paper) -> Vec<String> {
    let mut lines = Vec::new();
    for section in &paper.sections {
        if let Some(heading) = &section.heading {
            lines.push(format!("{} {heading}", "#".repeat(usize::from(section.depth))));
        }
        for paragraph in &section.paragraphs {
            let kind = match paragraph.kind {
                Kind::Text => "text",
                Kind::Caption => "caption",
                Kind::Table => "table",
                Kind::Footnote => "note",
                Kind::ListItem => "item",
                Kind::Code => "code",
            };
            lines.push(format!("{kind}: {}", paragraph.text));
        }
    }
    lines
}
