//! The wire format of jobs and answers: a length, then that many bytes.

use std::io::{Error, ErrorKind, Read, Result, Write};

/// Bytes of the length.
pub(crate) const HEAD: usize = 4;

/// The length that was too large to send.
pub(crate) const TOO_LONG: [u8; HEAD] = u32::MAX.to_le_bytes();

/// The length of the payload, if it is allowed.
pub(crate) fn length(head: [u8; HEAD], most: usize) -> Result<usize> {
    let length = u32::from_le_bytes(head) as usize;
    if length <= most {
        return Ok(length);
    }
    Err(Error::new(ErrorKind::InvalidData, format!("more than {most} bytes")))
}

/// The encoded length.
pub(crate) fn head(bytes: &[u8], most: usize) -> Result<[u8; HEAD]> {
    match u32::try_from(bytes.len()) {
        Ok(length) if bytes.len() <= most => Ok(length.to_le_bytes()),
        _ => Err(Error::new(ErrorKind::InvalidData, format!("more than {most} bytes"))),
    }
}

/// The next frame; `None` at the end.
pub(crate) fn read(from: &mut impl Read, most: usize) -> Result<Option<Vec<u8>>> {
    let mut head = [0; HEAD];
    match from.read_exact(&mut head) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let mut bytes = vec![0; length(head, most)?];
    from.read_exact(&mut bytes)?;
    Ok(Some(bytes))
}

/// Writes one and sends it off.
pub(crate) fn write(to: &mut impl Write, bytes: &[u8], most: usize) -> Result<()> {
    to.write_all(&head(bytes, most)?)?;
    to.write_all(bytes)?;
    to.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_too_much_is_refused() {
        let mut sent = Vec::new();
        for job in [b"one".as_slice(), b"", b"three"] {
            write(&mut sent, job, 5).unwrap();
        }
        assert!(write(&mut sent, b"too long", 5).is_err());
        let mut from = sent.as_slice();
        for job in [b"one".as_slice(), b"", b"three"] {
            assert_eq!(read(&mut from, 5).unwrap().unwrap(), job);
        }
        assert_eq!(read(&mut from, 5).unwrap(), None);
        assert!(read(&mut sent.as_slice(), 2).is_err(), "a length beyond the limit");
        assert!(read(&mut &sent[..5], 5).is_err(), "the end in the middle of a job");
    }
}
