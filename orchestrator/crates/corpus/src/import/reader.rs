//! The first stage: lines become documents, those that the corpus has already are dropped.

use super::{LISTED, Pending, Rejected, Tally};
use crate::backend::FeatureScope;
use crate::document::json::{self, OddCodes};
use crate::hash::{fnv, fnv_row};
use crate::index::{Entry, Snapshot, to_json};
use crate::vectors::Vectors;
use crate::{CorpusError, Document, Result};
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::sync::PoisonError;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Longest line in bytes; a longer one is rejected without being held in memory.
const MAX_LINE: u64 = 16 << 20;

/// A file that is open for reading.
pub(super) struct Source {
    path: PathBuf,
    file: File,
    pub(super) bytes: u64,
}

/// What the corpus holds before the import.
pub(super) struct Known {
    pub(super) snapshot: Snapshot,
    pub(super) vectors: Vectors,
    /// Scopes that every document is embedded in.
    pub(super) scopes: Vec<FeatureScope>,
}

impl Known {
    /// What is to be embedded of a document.
    fn texts(&self, document: &Document) -> Vec<(Vec<FeatureScope>, String)> {
        let mut texts: Vec<(Vec<FeatureScope>, String)> = Vec::new();
        for scope in &self.scopes {
            let Some(text) = document.text_of(*scope) else { continue };
            match texts.iter_mut().find(|(_, known)| *known == text) {
                Some((scopes, _)) => scopes.push(*scope),
                None => texts.push((vec![*scope], text)),
            }
        }
        texts
    }

    /// Whether the entry has all its embeddings, and they are what was written.
    fn is_sound(&self, entry: &Entry, texts: &[(Vec<FeatureScope>, String)]) -> bool {
        texts.iter().flat_map(|(scopes, _)| scopes).all(|scope| {
            let row = entry.rows.iter().find(|(of, _)| of == scope).map(|(_, row)| row);
            row.is_some_and(|row| {
                self.vectors.row(row.row).is_some_and(|numbers| fnv_row(numbers) == row.sum)
            })
        })
    }
}

/// Opens all files before anything is changed.
pub(super) fn open(files: &[PathBuf]) -> Result<Vec<Source>> {
    files
        .iter()
        .map(|path| {
            let opened = File::open(path).and_then(|file| {
                let meta = file.metadata()?;
                if meta.is_dir() {
                    Err(std::io::ErrorKind::IsADirectory.into())
                } else {
                    Ok((file, meta.len()))
                }
            });
            let (file, bytes) = opened.map_err(CorpusError::io(path))?;
            Ok(Source { path: path.clone(), file, bytes })
        })
        .collect()
}

/// Reads to the end of the files, to a cancellation, or until the next stage is gone.
pub(super) fn run(
    sources: Vec<Source>,
    known: &Known,
    batch_size: usize,
    next: &mpsc::Sender<Vec<Pending>>,
    tally: &Tally,
    cancel: &CancellationToken,
) -> Result<()> {
    let mut batch = Vec::with_capacity(batch_size);
    // Checksums of id and content, and where: 24 bytes for each document of the import.
    let mut seen: HashMap<u64, (u64, u32, u32)> = HashMap::new();
    let paths: Vec<PathBuf> = sources.iter().map(|source| source.path.clone()).collect();
    for (nth, source) in (0_u32..).zip(sources) {
        let mut lines = BufReader::new(source.file);
        let mut line = Vec::new();
        for number in 1_u64.. {
            if cancel.is_cancelled() {
                return Ok(());
            }
            line.clear();
            let read = read_line(&mut lines, &mut line).map_err(CorpusError::io(&source.path))?;
            if read == 0 {
                break;
            }
            let outcome = accept(&line, read, known, &mut seen, (nth, number), &paths);
            let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
            let (report, progress) = &mut *tally;
            progress.bytes_read += read;
            match outcome {
                Outcome::Blank => {}
                Outcome::Take(pending, odd_codes) => {
                    batch.push(*pending);
                    report.odd_codes_count += odd_codes.len() as u64;
                    let room = LISTED.saturating_sub(report.odd_codes.len());
                    report.odd_codes.extend(odd_codes.into_iter().take(room).map(|code| Rejected {
                        file: source.path.clone(),
                        line: number,
                        reason: format!("no such code: {code}"),
                    }));
                }
                Outcome::Unchanged => {
                    report.unchanged += 1;
                    progress.unchanged += 1;
                }
                Outcome::Repeated => report.repeated += 1,
                Outcome::Reject(reason) => {
                    report.rejected_count += 1;
                    progress.rejected += 1;
                    if report.rejected.len() < LISTED {
                        report.rejected.push(Rejected { file: source.path.clone(), line: number, reason });
                    }
                }
                Outcome::Failed(error) => return Err(error),
            }
            drop(tally);
            // An empty batch now and then keeps the progress moving where nothing is new.
            if (batch.len() >= batch_size || (batch.is_empty() && number % 4_096 == 0))
                && next.blocking_send(std::mem::take(&mut batch)).is_err()
            {
                return Ok(());
            }
        }
    }
    // A closed channel means that a later stage failed, and says so itself.
    let _ = next.blocking_send(batch);
    Ok(())
}

enum Outcome {
    Blank,
    Take(Box<Pending>, OddCodes),
    Unchanged,
    Repeated,
    Reject(String),
    Failed(CorpusError),
}

fn accept(
    line: &[u8],
    read: u64,
    known: &Known,
    seen: &mut HashMap<u64, (u64, u32, u32)>,
    (file, number): (u32, u64),
    paths: &[PathBuf],
) -> Outcome {
    if read > MAX_LINE {
        return Outcome::Reject(format!("longer than {} MiB", MAX_LINE >> 20));
    }
    let Ok(text) = std::str::from_utf8(line) else { return Outcome::Reject("not UTF-8".to_owned()) };
    let text = text.trim_start_matches('\u{FEFF}').trim();
    if text.is_empty() {
        return Outcome::Blank;
    }
    let (document, odd_codes) = match json::parse(text) {
        Ok(read) => read,
        Err(reason) => return Outcome::Reject(reason),
    };
    let json = to_json(&document);
    let hash = fnv(json.as_bytes());
    let place = (hash, file, u32::try_from(number).unwrap_or(u32::MAX));
    if let Some((earlier, file, line)) = seen.get(&fnv(document.doc_id.as_bytes())) {
        if *earlier == hash {
            return Outcome::Repeated;
        }
        let file = paths.get(*file as usize).map(|path| path.display().to_string()).unwrap_or_default();
        return Outcome::Reject(format!(
            "id `{}` is on line {line} of {file} with other content",
            document.doc_id
        ));
    }
    seen.insert(fnv(document.doc_id.as_bytes()), place);
    let texts = known.texts(&document);
    match known.snapshot.entry(&document.doc_id) {
        Err(error) => Outcome::Failed(error),
        Ok(Some(entry)) if entry.hash == hash && known.is_sound(&entry, &texts) => Outcome::Unchanged,
        Ok(entry) => {
            let pending = Pending { document, json, hash, texts, replaces: entry.is_some() };
            Outcome::Take(Box::new(pending), odd_codes)
        }
    }
}

/// Reads a line without its end; of one that is too long only the beginning is kept. Returns the bytes taken from the
/// file, 0 at its end.
fn read_line(lines: &mut BufReader<File>, line: &mut Vec<u8>) -> std::io::Result<u64> {
    let mut read = lines.by_ref().take(MAX_LINE + 1).read_until(b'\n', line)? as u64;
    if read > MAX_LINE && line.last() != Some(&b'\n') {
        read += lines.skip_until(b'\n')? as u64;
    }
    Ok(read)
}
