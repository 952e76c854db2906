//! The reader's side of an archive: it is handed the bytes of a file, and says what is packed in it. It opens nothing.

use flate2::read::MultiGzDecoder;
use lyra_worker::{Handed, Turns};
use serde::{Deserialize, Serialize};
use std::io::{BufReader, Error, ErrorKind, Read, Result, Seek};

/// Bytes of a piece of content.
const PIECE: u64 = 1 << 20;

/// What the reader says: a line of JSON, and a piece of content behind it. But for the last one it waits for word to go
/// on.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Said {
    /// It waits for bytes of the file.
    Want { from: u64, bytes: u64 },
    /// The next entry.
    Entry { path: String, is_file: bool },
    /// A piece of its content.
    Content,
    /// There is no more.
    Ended,
    /// It can not go on.
    Broken(String),
}

impl Said {
    pub(super) fn read(message: &[u8]) -> Result<(Self, &[u8])> {
        let end = message.iter().position(|byte| *byte == b'\n').unwrap_or(message.len());
        let said = serde_json::from_slice(&message[..end])?;
        Ok((said, message.get(end + 1..).unwrap_or_default()))
    }
}

pub(super) fn line(head: &impl Serialize) -> Vec<u8> {
    // Numbers and strings always can be written.
    let mut line = serde_json::to_vec(head).unwrap_or_default();
    line.push(b'\n');
    line
}

/// Reads an archive, in a worker process or a thread. The job is how many bytes it has.
pub(crate) fn read_archive(job: &[u8], turns: &dyn Turns) -> Vec<u8> {
    let done = serde_json::from_slice(job).map_err(Error::from).and_then(|bytes| entries(bytes, turns));
    line(&match done {
        Ok(()) => Said::Ended,
        Err(error) if error.kind() == ErrorKind::OutOfMemory => {
            Said::Broken("it needs more memory than its reader has".to_owned())
        }
        Err(error) => Said::Broken(error.to_string()),
    })
}

fn entries(bytes: u64, turns: &dyn Turns) -> Result<()> {
    let mut file = Handed::new(turns, bytes, |from, bytes| line(&Said::Want { from, bytes }));
    let mut start = Vec::new();
    file.by_ref().take(2).read_to_end(&mut start)?;
    file.rewind()?;
    let file = BufReader::new(file);
    // Gzip says so in its first two bytes, whatever the file is called.
    let content: Box<dyn Read + '_> =
        if start == [0x1f, 0x8b] { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) };
    let mut archive = tar::Archive::new(content);
    let mut message = Vec::new();
    for entry in archive.entries()? {
        let mut entry = entry?;
        let path = entry.path()?.to_string_lossy().into_owned();
        let is_file = entry.header().entry_type().is_file();
        turns.turn(&line(&Said::Entry { path, is_file }))?;
        loop {
            message.clear();
            message.extend(line(&Said::Content));
            let head = message.len();
            entry.by_ref().take(PIECE).read_to_end(&mut message)?;
            if message.len() == head {
                break;
            }
            turns.turn(&message)?;
        }
    }
    Ok(())
}
