//! The reader's side: it is handed bytes of a file, and hands over what they say. It opens nothing.

use super::messages::{Ask, Batch, Failure, Said};
use super::part::{self, Held, Part};
use super::records::Records;
use super::references;
use lyra_worker::Turns;
use std::time::{Duration, Instant};

/// How long the import waits at most before it hears how far its reader is, unless one record takes longer.
const QUIET: Duration = Duration::from_millis(100);

/// Does what an import asks of the reader of its files, in a worker process or a thread; see
/// [`Corpora::with_readers`](crate::Corpora::with_readers).
pub fn read_files(job: &[u8], turns: &dyn Turns) -> Vec<u8> {
    let failed = |failure| Said::Failed(failure).to_bytes();
    match Ask::read(job) {
        Ok(Ask::Look { name, bytes, format, named, database }) => {
            match part::look(&name, format, named, database, Held { turns, bytes }) {
                Ok(contents) => Said::Contents(contents).to_bytes(),
                Err(failure) => failed(failure),
            }
        }
        Ok(Ask::Unpack { part, bytes }) => match part.unpack(Held { turns, bytes }) {
            Ok(()) => Said::piece(&[]),
            Err(error) => failed(Failure::io(error)),
        },
        Ok(Ask::Read { part, bytes, skip }) => {
            records(&part, Held { turns, bytes }, skip).unwrap_or_else(|error| failed(Failure::io(error)))
        }
        Err(error) => failed(Failure::io(error)),
    }
}

fn records(part: &Part, file: Held<'_>, skip: u64) -> std::io::Result<Vec<u8>> {
    let (content, bytes_read) = part.read(file)?;
    let mut records = match part.database(file) {
        Some((database, parts)) => Records::Ready(references::database(database, parts).into_iter()),
        None => Records::new(content, part.format),
    };
    let (mut batch, mut last) = (Batch::default(), Instant::now());
    for number in 0_u64.. {
        match records.next() {
            Ok(Some(record)) if number >= skip => batch.push(record),
            Ok(Some(_)) => {}
            Ok(None) => break,
            Err(error) => {
                // What came before it counts.
                file.turns.turn(&batch.take(bytes_read.get(), false))?;
                return Err(error);
            }
        }
        if batch.is_full() || last.elapsed() >= QUIET {
            file.turns.turn(&batch.take(bytes_read.get(), false))?;
            last = Instant::now();
        }
    }
    Ok(batch.take(bytes_read.get(), true))
}
