//! What an import and the reader of its files say to each other: a line of JSON, and what belongs to it behind it.
//!
//! The reader is a process that knows no file. It is asked for what a file holds, or for records; it wants bytes of the
//! file in between, and hands over records by the batch.

use super::Format;
use super::part::{Contents, Part};
use super::records::{Holding, Record};
use crate::document::json::OddCodes;
use crate::index::to_json;
use lyra_bibliography::Parts;
use serde::{Deserialize, Serialize};
use std::io::Error;

/// What a reader is asked to do.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Ask {
    /// To say what a file holds.
    Look {
        /// Its name without its folder.
        name: String,
        bytes: u64,
        format: Option<Format>,
        named: bool,
        /// What stands in it, if it is a database with its journals.
        database: Option<Parts>,
    },
    /// To hand over the content of a part, which is an archive or a database.
    Unpack {
        part: Part,
        /// Of the whole file.
        bytes: u64,
    },
    /// To read the records of a part, but for the first ones.
    Read {
        part: Part,
        /// Of the whole file.
        bytes: u64,
        skip: u64,
    },
}

/// What a reader says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Said {
    /// It waits for bytes of the file.
    Want { from: u64, bytes: u64 },
    /// What there is to read in the file.
    Contents(Contents),
    /// A piece of the content, which follows this line. Unless it is empty, and the last, it waits for word to go on.
    Piece,
    /// Records, which follow this line. Unless they are the last it waits for word to go on.
    Records(Given),
    /// It can not go on.
    Failed(Failure),
}

/// A batch of records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Given {
    pub(super) count: u64,
    /// Line on which the last of them begins.
    pub(super) line: u64,
    /// Bytes on disk that were read so far.
    pub(super) bytes_read: u64,
    /// There are no more.
    pub(super) ended: bool,
}

/// Why a file can not be read.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Failure {
    pub(super) why: String,
    /// It is not a file to import, rather than one that is damaged.
    pub(super) refused: bool,
}

impl Failure {
    pub(super) fn refused(why: impl Into<String>) -> Self {
        Self { why: why.into(), refused: true }
    }

    #[expect(clippy::needless_pass_by_value, reason = "it maps errors")]
    pub(super) fn io(error: Error) -> Self {
        Self { why: error.to_string(), refused: false }
    }
}

fn line(head: &impl Serialize) -> Vec<u8> {
    // Structs of strings and numbers always can be written.
    let mut line = serde_json::to_vec(head).unwrap_or_default();
    line.push(b'\n');
    line
}

impl Ask {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        line(self)
    }

    pub(super) fn read(message: &[u8]) -> Result<Self, Error> {
        Ok(serde_json::from_slice(message)?)
    }
}

impl Said {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        line(self)
    }

    /// A piece of content.
    pub(super) fn piece(content: &[u8]) -> Vec<u8> {
        let mut message = Self::Piece.to_bytes();
        message.extend_from_slice(content);
        message
    }

    /// What stands behind the first line.
    pub(super) fn content(message: &[u8]) -> &[u8] {
        let end = message.iter().position(|byte| *byte == b'\n').unwrap_or(message.len());
        message.get(end + 1..).unwrap_or_default()
    }

    /// The first line.
    pub(super) fn read(message: &[u8]) -> Result<Self, Error> {
        let head = message.split(|byte| *byte == b'\n').next().unwrap_or_default();
        Ok(serde_json::from_slice(head)?)
    }
}

/// What stands before each record; a document follows on a line of its own.
#[derive(Serialize, Deserialize)]
struct Head {
    line: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    odd: OddCodes,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rejected: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    holding: Option<Holding>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    left_out: Option<String>,
}

/// A record as it arrives.
pub(super) struct Arrived<'a> {
    pub(super) line: u64,
    /// A document in its stored form, with the codes that were left out of it; or the reason why it was rejected.
    pub(super) outcome: Result<(&'a str, OddCodes), String>,
    pub(super) holding: Option<Holding>,
    /// What of it was not read, and why.
    pub(super) left_out: Option<String>,
}

/// Longest stored form of a document.
const MOST_STORED: usize = 64 << 20;
/// Longest reason in bytes; the file may have a part in it.
const MOST_REASON: usize = 4_096;
/// Records of a batch.
const MOST_RECORDS: u64 = 512;
/// Bytes of a batch to which no more is added.
const ENOUGH: usize = 1 << 20;

/// Records on their way to the import.
#[derive(Default)]
pub(super) struct Batch {
    given: Given,
    records: Vec<u8>,
}

impl Batch {
    pub(super) fn push(&mut self, record: Record) {
        let Record { line, outcome, holding, left_out } = record;
        let (mut rejected, mut odd, mut stored) = (None, Vec::new(), None);
        match outcome {
            Ok((document, codes)) => {
                let json = to_json(&document);
                if json.len() + codes.iter().map(String::len).sum::<usize>() > MOST_STORED {
                    rejected = Some(format!("longer than {} MiB", MOST_STORED >> 20));
                } else {
                    (odd, stored) = (codes, Some(json));
                }
            }
            Err(mut reason) => {
                if reason.len() > MOST_REASON {
                    reason.truncate(reason.floor_char_boundary(MOST_REASON));
                    reason.push('…');
                }
                rejected = Some(reason);
            }
        }
        self.records.extend(self::line(&Head { line, odd, rejected, holding, left_out }));
        if let Some(json) = stored {
            // JSON has no line breaks but those that are asked for.
            self.records.extend(json.into_bytes());
            self.records.push(b'\n');
        }
        self.given.count += 1;
        self.given.line = line;
    }

    pub(super) fn is_full(&self) -> bool {
        self.given.count >= MOST_RECORDS || self.records.len() >= ENOUGH
    }

    /// The message with all of them, which leaves none.
    pub(super) fn take(&mut self, bytes_read: u64, ended: bool) -> Vec<u8> {
        let Self { given, records } = std::mem::take(self);
        let mut message = Said::Records(Given { bytes_read, ended, ..given }).to_bytes();
        message.extend(records);
        message
    }
}

/// The records of a message.
pub(super) fn arrived(message: &[u8]) -> impl Iterator<Item = Result<Arrived<'_>, Error>> {
    let mut lines = message.split(|byte| *byte == b'\n').skip(1).filter(|line| !line.is_empty());
    std::iter::from_fn(move || {
        let Head { line, odd, rejected, holding, left_out } = match serde_json::from_slice(lines.next()?) {
            Ok(head) => head,
            Err(error) => return Some(Err(error.into())),
        };
        let outcome = match rejected {
            Some(reason) => Err(reason),
            None => match std::str::from_utf8(lines.next().unwrap_or_default()) {
                Ok(json) => Ok((json, odd)),
                Err(error) => return Some(Err(Error::other(error))),
            },
        };
        Some(Ok(Arrived { line, outcome, holding, left_out }))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Document;

    #[test]
    fn records_arrive_as_they_were_read() {
        let document = Document {
            doc_id: "1".to_owned(),
            title: "Naps\nhelp \u{2028} \"\u{1}".to_owned(),
            ..Document::default()
        };
        let mut batch = Batch::default();
        batch.push(Record::new(3, Ok((document.clone(), vec!["IPC x\ny".to_owned()]))));
        batch.push(Record::new(4, Err("not\nUTF-8".to_owned())));
        batch.push(Record::new(9, Err("é".repeat(MOST_REASON))));
        let message = batch.take(77, true);
        let Said::Records(given) = Said::read(&message).unwrap() else { panic!("something else") };
        assert_eq!(given, Given { count: 3, line: 9, bytes_read: 77, ended: true });
        let records: Vec<Arrived<'_>> = arrived(&message).map(Result::unwrap).collect();
        let (json, odd) = records[0].outcome.as_ref().unwrap();
        assert_eq!(
            (serde_json::from_str::<Document>(json).unwrap(), odd.as_slice()),
            (document, &["IPC x\ny".to_owned()][..])
        );
        assert_eq!((records[1].line, records[1].outcome.as_ref().unwrap_err().as_str()), (4, "not\nUTF-8"));
        let cut = records[2].outcome.as_ref().unwrap_err();
        assert!(cut.len() <= MOST_REASON + 3 && cut.ends_with('…'), "{}", cut.len());
        assert!(!batch.is_full() && batch.take(0, false).ends_with(b"\n"));
    }

    #[test]
    fn what_is_none_of_its_answers_is_an_error() {
        for message in [&b""[..], b"x", b"{\"parts\": 3}\n", b"{}"] {
            assert!(Said::read(message).is_err(), "{message:?}");
        }
        for records in ["oops", "{\"line\": \"x\"}", "[]"] {
            let message = format!("{{}}\n{records}\n");
            assert!(arrived(message.as_bytes()).any(|record| record.is_err()), "{records}");
        }
    }
}
