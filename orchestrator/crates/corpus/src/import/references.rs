//! Records of reference managers as documents, which wait for their papers.

use super::records::{Holding, Record};
use crate::Document;
use lyra_bibliography::{Format, Parts, Record as Reference, Rejected, read as read_references, read_zotero};
use lyra_domain::Identifier;
use std::io::{BufRead, Read, Result, Seek};

/// Largest file in bytes: some 100,000 references with abstracts.
const MAX_FILE: u64 = 96 << 20;

/// Reads all references of a file.
pub(super) fn read(content: impl BufRead, format: Format) -> Result<Vec<Record>> {
    let mut bytes = Vec::new();
    content.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_FILE {
        let why = format!("longer than {} MiB: split it into several files", MAX_FILE >> 20);
        return Ok(vec![Record::new(0, Err(why))]);
    }
    Ok(read_references(&bytes, format).map(record).collect())
}

/// Reads all items of Zotero's database.
pub(super) fn database(file: impl Read + Seek, parts: Parts) -> Vec<Record> {
    match read_zotero(file, parts) {
        Ok(records) => records.into_iter().map(record).collect(),
        Err(why) => vec![Record::new(0, Err(why))],
    }
}

fn record(record: std::result::Result<Reference, Rejected>) -> Record {
    match record {
        Ok(reference) => {
            let line = reference.line;
            let files = reference.files.iter().map(|file| file.path.clone()).collect();
            let versions = reference.versions.iter().map(ToString::to_string).collect();
            let outcome = Ok((document(reference), Vec::new()));
            Record { line, outcome, holding: Some(Holding::Reference { files, versions }), left_out: None }
        }
        Err(rejected) => Record::new(rejected.line, Err(rejected.reason)),
    }
}

/// A document without an id.
fn document(reference: Reference) -> Document {
    let (identifiers, imprint) = (reference.identifiers(), reference.imprint());
    Document {
        title: lyra_text::normalise(&reference.title),
        text: reference.abstract_text.unwrap_or_default(),
        url: reference.url,
        doi: reference.doi,
        identifiers: identifiers.into_iter().filter(|id| !matches!(id, Identifier::Doi(_))).collect(),
        year: reference.year,
        pub_date: reference.date.and_then(|date| date.parse().ok()),
        venue: reference.venue.or(reference.publisher),
        imprint,
        volume: reference.volume,
        issue: reference.issue,
        pages: reference.pages,
        authors: reference.authors,
        language: reference.language,
        is_retracted: reference.is_retracted,
        tags: reference.tags,
        collections: reference.collections,
        notes: reference.notes,
        annotations: reference.annotations,
        zotero: reference.zotero,
        ..Document::default()
    }
}
