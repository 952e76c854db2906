//! The conversation with a reader: it learns what to do with a file, wants pieces of it, and says what they hold.

use super::{PER_READER, Source, reason, refused};
use crate::import::Format;
use crate::import::messages::{Ask, Batch, Failure, Given, Said};
use crate::import::part::{Contents, Part};
use crate::import::records::Record;
use crate::import::spool::{Slice, Spool};
use crate::{CorpusError, Result};
use lyra_bibliography::Parts;
use lyra_worker::{Talk, Talks, WorkerError};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// How long a reader may take from what it is told to what it says, which is a record or a piece of the file.
const STEP: Duration = Duration::from_mins(1);

/// Records of one source, as they arrived.
pub(in crate::import) struct Fetched {
    /// Which source.
    pub(in crate::import) nth: u32,
    pub(in crate::import) given: Given,
    pub(in crate::import) message: Vec<u8>,
}

/// Has all sources read and sends their documents, until the sources end, `cancel` is canceled, or the receiver is
/// dropped. An error is the last message.
pub(in crate::import) async fn fetch(
    sources: Arc<Vec<Source>>,
    readers: Arc<Talks>,
    to: mpsc::Sender<Result<Fetched>>,
    cancel: CancellationToken,
) {
    let mut reading = Reading { readers, talk: None, spool: Spool::default(), cancel };
    for (nth, source) in (0_u32..).zip(&*sources) {
        if (nth as usize).is_multiple_of(PER_READER) {
            reading.talk = None;
        }
        let ended = tokio::select! {
            () = to.closed() => return,
            ended = reading.read(nth, source, &to) => ended,
        };
        match ended {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) => {
                // If the receiver is gone, something else failed first.
                let _ = to.send(Err(error)).await;
                return;
            }
        }
    }
}

/// The conversation with a reader.
pub(super) struct Reading {
    pub(super) readers: Arc<Talks>,
    /// The one that is there.
    pub(super) talk: Option<Talk>,
    /// What it unpacks.
    pub(super) spool: Spool,
    pub(super) cancel: CancellationToken,
}

/// Why there is no answer.
enum Unsaid {
    Cancelled,
    Worker(WorkerError),
    File(std::io::Error),
}

impl Unsaid {
    /// Whether something else than the file may be the cause.
    fn may_pass(&self) -> bool {
        matches!(self, Self::Worker(WorkerError::Died { .. }))
    }
}

impl Reading {
    /// What a file holds; none when the import was cancelled.
    pub(super) async fn look(
        &mut self,
        path: &Path,
        format: Option<Format>,
        named: bool,
        database: Option<Parts>,
        slice: &Slice,
    ) -> Result<Option<Contents>> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let ask = Ask::Look { name, bytes: slice.bytes, format, named, database }.to_bytes();
        let mut tried = false;
        loop {
            match self.say(ask.clone(), slice).await {
                Ok((Said::Contents(contents), _)) => return Ok(Some(contents)),
                Ok((said, _)) => return Err(unfit(path, said)),
                Err(Unsaid::Cancelled) => return Ok(None),
                Err(unsaid) if unsaid.may_pass() && !tried => tried = true,
                Err(unsaid) => return Err(failed(path, unsaid, 0)),
            }
        }
    }

    /// Unpacks a part of a file; none when the import was cancelled.
    pub(super) async fn unpack(&mut self, path: &Path, part: &Part, slice: &Slice) -> Result<Option<Slice>> {
        let mark = self.spool.mark();
        let mut message = Ask::Unpack { part: part.clone(), bytes: slice.bytes }.to_bytes();
        let unpacked = loop {
            match self.say(message, slice).await {
                Ok((Said::Piece, answer)) => {
                    let piece = Said::content(&answer);
                    if piece.is_empty() {
                        break Ok(self.spool.since(mark));
                    }
                    if let Err(error) = self.spool.add(piece) {
                        break Err(CorpusError::io(path)(error));
                    }
                    if let Err(failure) = self.spool.check(mark, part.bytes) {
                        break Err(unfit(path, Said::Failed(failure)));
                    }
                    // Go on.
                    message = Vec::new();
                }
                Ok((said, _)) => break Err(unfit(path, said)),
                Err(Unsaid::Cancelled) => break Ok(None),
                Err(unsaid) => break Err(failed(path, unsaid, 0)),
            }
        };
        if unpacked.is_err() {
            // A reader that is in the middle of an archive is of no use for anything else.
            self.talk = None;
            self.spool.cut(mark);
        }
        unpacked
    }

    /// Passes on all records of a source; whether it was read to its end. A reader that ends in the middle is replaced
    /// by one that goes on where it was; what ends that one too is not tried again.
    pub(super) async fn read(
        &mut self,
        nth: u32,
        source: &Source,
        to: &mpsc::Sender<Result<Fetched>>,
    ) -> Result<bool> {
        let file = match source.slice() {
            Ok(file) => file,
            // It is gone since it was found.
            Err(error) if !source.named => {
                let why = reason(error)?;
                return Ok(pass_over(nth, source, 0, why, to).await);
            }
            Err(error) => return Err(error),
        };
        let bytes = file.bytes;
        let (mut skip, mut line, mut tried) = (0, 0, false);
        let mut message = Ask::Read { part: source.part.clone(), bytes, skip }.to_bytes();
        loop {
            match self.say(message, &file).await {
                Ok((Said::Records(given), records)) => {
                    if given.count > 0 {
                        (skip, line, tried) = (skip + given.count, given.line, false);
                    }
                    if to.send(Ok(Fetched { nth, given, message: records })).await.is_err() {
                        return Ok(false);
                    }
                    if given.ended {
                        return Ok(true);
                    }
                    // Go on.
                    message = Vec::new();
                }
                Ok((Said::Failed(Failure { why, .. }), _)) if source.is_passed_over() => {
                    return Ok(pass_over(nth, source, line, why, to).await);
                }
                Ok((said, _)) => return Err(unfit(&source.path, said)),
                Err(Unsaid::Cancelled) => return Ok(false),
                Err(unsaid) if unsaid.may_pass() && !tried => {
                    tried = true;
                    message = Ask::Read { part: source.part.clone(), bytes, skip }.to_bytes();
                }
                Err(unsaid) if source.is_passed_over() => {
                    let why = reason(failed(&source.path, unsaid, line))?;
                    return Ok(pass_over(nth, source, line, why, to).await);
                }
                Err(unsaid) => return Err(failed(&source.path, unsaid, line)),
            }
        }
    }

    /// Says something to the reader and hands it what it wants of the file, until it says something else.
    async fn say(&mut self, mut message: Vec<u8>, file: &Slice) -> Result<(Said, Vec<u8>), Unsaid> {
        let cancel = self.cancel.clone();
        let answered = cancel.run_until_cancelled(async {
            let mut talk = match self.talk.take() {
                Some(talk) => talk,
                None => self.readers.begin().await.map_err(Unsaid::Worker)?,
            };
            loop {
                let answer = talk.say(message, STEP).await.map_err(Unsaid::Worker)?;
                match Said::read(&answer).map_err(Unsaid::File)? {
                    Said::Want { from, bytes } => {
                        let file = file.clone();
                        let piece = tokio::task::spawn_blocking(move || file.hand(from, bytes)).await;
                        message = piece.map_err(std::io::Error::other).flatten().map_err(Unsaid::File)?;
                    }
                    said => {
                        // Only now is it known that it is fit for more.
                        self.talk = Some(talk);
                        return Ok((said, answer));
                    }
                }
            }
        });
        answered.await.unwrap_or(Err(Unsaid::Cancelled))
    }
}

/// Rejects a file from a line on, so that it costs no other; whether the receiver is there.
async fn pass_over(
    nth: u32,
    source: &Source,
    line: u64,
    why: String,
    to: &mpsc::Sender<Result<Fetched>>,
) -> bool {
    let mut batch = Batch::default();
    batch.push(Record::new(line, Err(why)));
    let message = batch.take(source.part.bytes, true);
    let given = Given { count: 1, bytes_read: source.part.bytes, ended: true, ..Given::default() };
    to.send(Ok(Fetched { nth, given, message })).await.is_ok()
}

/// Opens a file other than a pipe or device, in its current length.
pub(super) fn regular(path: &Path) -> Result<Slice> {
    let about = std::fs::metadata(path).map_err(CorpusError::io(path))?;
    if !about.is_file() {
        return Err(refused(
            path,
            "this is a pipe or a device; Lyra imports regular files: write its content to one first",
        ));
    }
    let file = File::open(path).map_err(CorpusError::io(path))?;
    Ok(Slice::whole(file, about.len()))
}

/// An error of a file from what its reader said in place of an answer.
fn unfit(path: &Path, said: Said) -> CorpusError {
    let Said::Failed(Failure { why, refused: no_import }) = said else {
        return CorpusError::io(path)(std::io::Error::other("its reader answers another question"));
    };
    let path = path.to_owned();
    if no_import {
        CorpusError::File { path, why }
    } else {
        let source = std::io::Error::new(std::io::ErrorKind::InvalidData, why);
        CorpusError::Io { path, source }
    }
}

/// An error of a file whose reader ended. `line` is where the last record begins that it has read.
fn failed(path: &Path, unsaid: Unsaid, line: u64) -> CorpusError {
    let why = match unsaid {
        Unsaid::Cancelled => "the import was cancelled".to_owned(),
        Unsaid::File(error) => return CorpusError::io(path)(error),
        Unsaid::Worker(WorkerError::Memory { bytes }) => {
            format!("reading it takes more than {} MB of memory", bytes >> 20)
        }
        Unsaid::Worker(WorkerError::Deadline { .. } | WorkerError::Cpu { .. }) => {
            format!("reading one record of it takes more than {} s", STEP.as_secs())
        }
        Unsaid::Worker(WorkerError::Died { how }) => {
            format!("reading it failed inside a parser, twice ({how})")
        }
        Unsaid::Worker(other) => other.to_string(),
    };
    let after = match line {
        0 => String::new(),
        line => format!("; what did it comes after the record on line {line}"),
    };
    refused(path, format!("{why}{after}. Leave that out and repeat the import"))
}
