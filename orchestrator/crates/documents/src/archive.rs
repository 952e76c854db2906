//! Members of ZIP-based files, unpacked within limits.

use crate::budget::Budget;
use crate::{ReadError, Result};
use std::io::{Cursor, Read};
use zip::ZipArchive;
use zip::result::ZipError;

/// Unpacked bytes up to which no ratio is suspicious.
const RATIO_FROM: usize = 1 << 20;

pub(crate) struct Archive<'b> {
    zip: ZipArchive<Cursor<&'b [u8]>>,
}

impl<'b> Archive<'b> {
    /// Opens a file that should be a ZIP archive.
    pub(crate) fn open(bytes: &'b [u8], budget: &Budget) -> Result<Self> {
        if bytes.starts_with(&[0xD0, 0xCF, 0x11, 0xE0]) {
            return Err(compound(bytes));
        }
        if !bytes.starts_with(b"PK") {
            return Err(ReadError::damaged("it is not a ZIP archive, as files of this format are"));
        }
        // Each member has an entry of at least 46 bytes in the directory, which is read as a whole.
        let zip = ZipArchive::new(Cursor::new(bytes))
            .map_err(|error| ReadError::Damaged(format!("as a ZIP archive: {error}")))?;
        let (members, most) = (zip.len(), budget.limits.members);
        if members > most {
            return Err(ReadError::TooLarge(format!("it has {members} members, the limit is {most}")));
        }
        Ok(Self { zip })
    }

    /// The names of its members that can be read as text.
    pub(crate) fn names(&self) -> impl Iterator<Item = String> + '_ {
        self.zip.file_names().flatten().map(std::borrow::Cow::into_owned)
    }

    /// The bytes of a member; `None` when there is no such member.
    pub(crate) fn member(&mut self, name: &str, budget: &mut Budget) -> Result<Option<Vec<u8>>> {
        // Some writers put a slash in front, or write Windows separators.
        let spelled = [name.to_owned(), format!("/{name}"), name.replace('/', "\\")];
        let Some(nth) = spelled.iter().find_map(|name| self.zip.index_for_name(name)) else {
            return Ok(None);
        };
        let damaged = |error: &dyn std::fmt::Display| ReadError::Damaged(format!("`{name}`: {error}"));
        let packed = match self.zip.by_index(nth) {
            Ok(packed) if packed.encrypted() => return Err(ReadError::Encrypted),
            Ok(packed) => packed,
            Err(ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED)) => {
                return Err(ReadError::Encrypted);
            }
            Err(error) => return Err(damaged(&error)),
        };
        let by_ratio = usize::try_from(packed.compressed_size())
            .unwrap_or(usize::MAX)
            .saturating_mul(budget.limits.ratio)
            .max(RATIO_FROM);
        let most = by_ratio.min(budget.unpacked_left);
        let mut bytes = Vec::new();
        packed.take(most as u64 + 1).read_to_end(&mut bytes).map_err(|error| damaged(&error))?;
        if bytes.len() > most {
            let why = if most == budget.unpacked_left {
                format!("it unpacks to more than {} bytes", budget.limits.unpacked_bytes)
            } else {
                format!("`{name}` unpacks to more than {} times its size", budget.limits.ratio)
            };
            return Err(ReadError::TooLarge(why));
        }
        budget.unpacked_left -= bytes.len();
        Ok(Some(bytes))
    }
}

/// Why a compound file (OLE) cannot be read: an encrypted document, or one of an old format.
fn compound(bytes: &[u8]) -> ReadError {
    let wide: Vec<u8> = "EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes).collect();
    if bytes.windows(wide.len()).any(|window| window == wide) {
        ReadError::Encrypted
    } else {
        ReadError::OtherFormat("it is an old Word document (.doc): save it as DOCX".to_owned())
    }
}

/// Resolves a reference from the member `base` (its folder counts), without fragment.
pub(crate) fn resolve(base: &str, reference: &str) -> String {
    let reference = reference.split('#').next().unwrap_or_default();
    let reference = percent_encoding::percent_decode_str(reference).decode_utf8_lossy().into_owned();
    let mut parts: Vec<&str> = Vec::new();
    if !reference.starts_with('/') {
        parts.extend(
            base.rsplit_once('/').map_or("", |(folder, _)| folder).split('/').filter(|p| !p.is_empty()),
        );
    }
    for part in reference.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}
