//! Members of tar archives.

use super::{Contents, Held, MOST_MEMBERS, Packing, Part};
use crate::import::Format;
use crate::import::messages::Failure;
use std::io::Error;

/// Where the mark of a tar archive stands, and what all kinds of it begin with.
const MARK: (usize, &[u8]) = (257, b"ustar");

/// Whether a file is a tar archive.
pub(super) fn is_tar(beginning: &[u8]) -> bool {
    beginning.get(MARK.0..).is_some_and(|rest| rest.starts_with(MARK.1))
}

/// The members with a known format. What is neither a file nor a folder, such as a link, is left out.
pub(super) fn look(format: Option<Format>, file: Held<'_>) -> Result<Contents, Failure> {
    let unreadable = |error: Error| Failure::refused(format!("as a tar archive: {error}"));
    let mut archive = tar::Archive::new(file.open());
    let mut found = Contents::default();
    for (nth, entry) in archive.entries_with_seek().map_err(unreadable)?.enumerate() {
        if nth == MOST_MEMBERS {
            return Err(Failure::refused(format!("the archive has more than {MOST_MEMBERS} members")));
        }
        let entry = match entry {
            Ok(entry) => entry,
            // Where the next member begins is not known then.
            Err(error) => {
                found.reject(&format!("member {}", nth + 1), format!("as a tar archive: {error}"));
                break;
            }
        };
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let (start, bytes) = (entry.raw_file_position(), entry.size());
        if start.checked_add(bytes).is_none_or(|end| end > file.bytes) {
            found.reject(&name, "the archive ends in the middle of it");
            continue;
        }
        let part =
            Part { name: Some(name.clone()), bytes, format: Format::Jsonl, packing: Packing::Tar(start) };
        match part.beginning(file.open()) {
            Ok(beginning) => found.take(part, format, &beginning),
            Err(error) => found.reject(&name, error.to_string()),
        }
    }
    Ok(found)
}
