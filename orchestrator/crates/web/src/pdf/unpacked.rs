//! The decompressed size of a PDF's streams, computed before decompressing any of them: a file of some kilobytes can
//! contain gigabytes of blanks.

use hayro_interpret::hayro_syntax::Pdf;
use hayro_interpret::hayro_syntax::object::{ObjectIdentifier, Stream as Object};
use std::ops::Range;

/// Bytes before a stream in which to search its dictionary.
const DICTIONARY: usize = 16 * 1024;
/// Most bytes that one byte of Deflate unpacks to.
const DEFLATE_RATIO: usize = 1_032;

/// A stream, or all of them together, exceed the limit when decompressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooMuch;

/// Blanks the images of a file, which have no text, and counts the decompressed size of the other streams. Encrypted
/// ones are counted by [`count_decrypted`] after loading.
///
/// # Errors
/// More than `limit` bytes in sum; a stream that is packed more than once; among what is encrypted, packed objects that might be
/// several times the limit.
pub(super) fn without_images(mut file: Vec<u8>, limit: usize) -> Result<Vec<u8>, TooMuch> {
    let encrypted = is_encrypted(&file);
    let (mut sum, mut at) = (0_usize, 0);
    while let Some(Stream { dictionary, data }) = next_stream(&file, at) {
        at = data.end;
        let says = plain(&file[dictionary]);
        let named = |name: &[u8]| count(&says, name) > 0;
        if named(b"/Subtype/Image") {
            file[data].fill(b' ');
            continue;
        }
        let bytes = &file[data];
        let unpacked = if !encrypted || named(b"/Type/XRef") {
            Packing::named(&says).unpacked(bytes, limit.saturating_sub(sum))?
        } else if named(b"/Type/ObjStm") && bytes.len() > limit / DEFLATE_RATIO * 4 {
            return Err(TooMuch);
        } else {
            bytes.len()
        };
        sum = sum.saturating_add(unpacked);
        if sum > limit {
            return Err(TooMuch);
        }
    }
    Ok(file)
}

/// Whether the streams of a file are encrypted.
pub(super) fn is_encrypted(file: &[u8]) -> bool {
    find(file, b"/Encrypt", 0).is_some()
}

/// Counts the decompressed size of encrypted streams.
///
/// # Errors
/// As [`without_images`].
pub(super) fn count_decrypted(pdf: &Pdf, file: &[u8], limit: usize) -> Result<(), TooMuch> {
    let (mut sum, mut at) = (0_usize, 0);
    while let Some(keyword) = find(file, b" obj", at) {
        at = keyword + 4;
        let Some(stream) = identifier(&file[..keyword]).and_then(|id| pdf.xref().get::<Object<'_>>(id))
        else {
            continue;
        };
        let unpacked = Packing::of(stream.filters().iter().map(|filter| format!("{filter:?}")))
            .unpacked(&stream.raw_data(), limit.saturating_sub(sum))?;
        sum = sum.saturating_add(unpacked);
        if sum > limit {
            return Err(TooMuch);
        }
    }
    Ok(())
}

/// The `7 0` right before `obj`.
fn identifier(before: &[u8]) -> Option<ObjectIdentifier> {
    let tail = std::str::from_utf8(&before[before.len().saturating_sub(16)..]);
    let mut words = tail.ok()?.split_ascii_whitespace().rev();
    let (generation, number) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    Some(ObjectIdentifier::new(number, generation))
}

struct Stream {
    dictionary: Range<usize>,
    data: Range<usize>,
}

/// The first stream with its keyword at `from` or later.
fn next_stream(file: &[u8], from: usize) -> Option<Stream> {
    let mut at = from;
    loop {
        let keyword = find(file, b"stream", at)?;
        at = keyword + 6;
        if file[..keyword].ends_with(b"end") {
            continue;
        }
        let begin = at + file[at..].iter().take(2).take_while(|b| matches!(b, b'\r' | b'\n')).count();
        let end = find(file, b"endstream", begin).unwrap_or(file.len());
        let earliest = keyword.saturating_sub(DICTIONARY).max(from);
        let object = file[earliest..keyword].windows(4).rposition(|bytes| bytes == b" obj");
        let dictionary = object.map_or(earliest, |place| earliest + place)..keyword;
        return Some(Stream { dictionary, data: begin..end });
    }
}

fn find(file: &[u8], what: &[u8], from: usize) -> Option<usize> {
    let first = *what.first()?;
    let mut at = from;
    loop {
        at += file.get(at..)?.iter().position(|b| *b == first)?;
        if file[at..].starts_with(what) {
            return Some(at);
        }
        at += 1;
    }
}

/// A dictionary without white space, and with the `#46` of its names as characters.
fn plain(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let digits = bytes.get(at + 1..at + 3).and_then(|digits| std::str::from_utf8(digits).ok());
        let named =
            digits.filter(|_| bytes[at] == b'#').and_then(|digits| u8::from_str_radix(digits, 16).ok());
        if let Some(byte) = named {
            out.push(byte);
            at += 3;
        } else {
            out.extend(Some(bytes[at]).filter(|byte| !byte.is_ascii_whitespace() && *byte != 0));
            at += 1;
        }
    }
    out
}

fn count(bytes: &[u8], name: &[u8]) -> usize {
    bytes.windows(name.len()).filter(|window| *window == name).count()
}

/// How a stream is packed: how often each method is named.
#[derive(Debug, Default, Clone, Copy)]
struct Packing {
    flate: usize,
    lzw: usize,
    runs: usize,
    base_85: bool,
    hex: bool,
}

impl Packing {
    /// From a dictionary.
    fn named(dictionary: &[u8]) -> Self {
        let of = |long: &[u8], short: &[u8]| {
            count(dictionary, long)
                + count(dictionary, &[short, b"/"].concat())
                + count(dictionary, &[short, b"]"].concat())
        };
        Self {
            flate: of(b"/FlateDecode", b"/Fl"),
            lzw: of(b"/LZWDecode", b"/LZW"),
            runs: of(b"/RunLengthDecode", b"/RL"),
            base_85: of(b"/ASCII85Decode", b"/A85") > 0,
            hex: of(b"/ASCIIHexDecode", b"/AHx") > 0,
        }
    }

    /// From the names of its filters, which the library shows and does not export.
    fn of(filters: impl Iterator<Item = String>) -> Self {
        let mut packing = Self::default();
        for filter in filters {
            match filter.as_str() {
                "FlateDecode" => packing.flate += 1,
                "LzwDecode" => packing.lzw += 1,
                "RunLengthDecode" => packing.runs += 1,
                "Ascii85Decode" => packing.base_85 = true,
                "AsciiHexDecode" => packing.hex = true,
                _ => {}
            }
        }
        packing
    }

    /// Bytes that a stream unpacks to, counted up to `limit`.
    fn unpacked(self, bytes: &[u8], limit: usize) -> Result<usize, TooMuch> {
        if self.flate + self.lzw + self.runs > 1 {
            return Err(TooMuch);
        }
        let packed = if self.base_85 || self.hex { printed(bytes, self.base_85) } else { bytes.to_vec() };
        Ok(match (self.lzw, self.runs) {
            (1, _) => lzw_length(&packed, limit),
            (_, 1) => runs_length(&packed, limit),
            // If the method is named elsewhere in the file, the compressed bytes identify themselves.
            _ => deflate_length(&packed, limit).max(packed.len()),
        })
    }
}

/// Bytes behind ASCII85 or hexadecimal digits.
fn printed(bytes: &[u8], base_85: bool) -> Vec<u8> {
    let (per_group, base) = if base_85 { (5, 85_u64) } else { (2, 16) };
    let mut out = Vec::with_capacity(bytes.len());
    let (mut group, mut count) = (0_u64, 0);
    for &byte in bytes {
        let digit = match byte {
            b'z' if base_85 && count == 0 => {
                out.extend([0; 4]);
                continue;
            }
            b'!'..=b'u' if base_85 => u64::from(byte - b'!'),
            b'0'..=b'9' if !base_85 => u64::from(byte - b'0'),
            b'a'..=b'f' if !base_85 => u64::from(byte - b'a' + 10),
            b'A'..=b'F' if !base_85 => u64::from(byte - b'A' + 10),
            b'~' | b'>' => break,
            _ => continue,
        };
        group = group * base + digit;
        count += 1;
        if count == per_group {
            if base_85 {
                out.extend((group as u32).to_be_bytes());
            } else {
                out.push(group as u8);
            }
            (group, count) = (0, 0);
        }
    }
    // The last, shorter group.
    if base_85 && count > 1 {
        let padded = (count..5).fold(group, |group, _| group * 85 + 84) as u32;
        out.extend(&padded.to_be_bytes()[..count - 1]);
    }
    out
}

/// Decompressed size of zlib or raw Deflate data; 0 for other data.
fn deflate_length(bytes: &[u8], limit: usize) -> usize {
    let inflated = |zlib: bool| {
        let mut decoder = flate2::Decompress::new(zlib);
        let (mut buffer, mut read) = (vec![0; 32 * 1024], 0);
        while (decoder.total_out() as usize) <= limit {
            let (before_in, before_out) = (decoder.total_in(), decoder.total_out());
            let status = decoder.decompress(&bytes[read..], &mut buffer, flate2::FlushDecompress::None);
            read = decoder.total_in() as usize;
            let stuck = decoder.total_in() == before_in && decoder.total_out() == before_out;
            if stuck || !matches!(status, Ok(flate2::Status::Ok)) {
                break;
            }
        }
        decoder.total_out() as usize
    };
    inflated(true).max(inflated(false))
}

/// Bytes that run-length data unpacks to.
fn runs_length(bytes: &[u8], limit: usize) -> usize {
    let (mut at, mut length) = (0, 0_usize);
    while let Some(&code) = bytes.get(at).filter(|_| length <= limit) {
        match code {
            128 => break,
            0..=127 => {
                length += usize::from(code) + 1;
                at += usize::from(code) + 2;
            }
            _ => {
                length += 257 - usize::from(code);
                at += 2;
            }
        }
    }
    length
}

/// Decompressed size of LZW data: every code yields at most one byte more than the previous one.
fn lzw_length(bytes: &[u8], limit: usize) -> usize {
    const CLEAR: usize = 256;
    const END: usize = 257;
    let mut lengths: Vec<usize> = Vec::new();
    let (mut length, mut last, mut width) = (0_usize, 0_usize, 9);
    let (mut bits, mut have) = (0_u32, 0_u32);
    for &byte in bytes {
        bits = (bits << 8) | u32::from(byte);
        have += 8;
        if have < width {
            continue;
        }
        have -= width;
        let code = (bits >> have) as usize & ((1 << width) - 1);
        match code {
            CLEAR => {
                lengths.clear();
                (last, width) = (0, 9);
                continue;
            }
            END => break,
            _ => {}
        }
        let this = match code {
            0..CLEAR => 1,
            // A code that is not known yet repeats the one before with one byte more.
            _ => lengths.get(code - END - 1).copied().unwrap_or(last + 1),
        };
        length += this;
        if length > limit {
            break;
        }
        if last > 0 && lengths.len() < 4096 {
            lengths.push(last + 1);
        }
        last = this;
        width = match lengths.len() + END + 2 {
            0..512 => 9,
            512..1024 => 10,
            1024..2048 => 11,
            _ => 12,
        };
    }
    length
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Write;

    fn zlib(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn file(dictionary: &str, data: &[u8]) -> Vec<u8> {
        let head = format!("%PDF-1.4\n1 0 obj\n<< {dictionary} /Length {} >>\nstream\n", data.len());
        [head.as_bytes(), data, b"\nendstream\nendobj\n"].concat()
    }

    const LIMIT: usize = 100_000;

    #[test]
    fn streams_that_unpack_to_more_than_the_limit_are_refused_however_they_are_packed() {
        let (small, large) = (vec![b' '; LIMIT / 2], vec![b' '; LIMIT * 2]);
        let runs = |bytes: usize| [129, b' '].repeat(bytes / 128);
        for dictionary in [
            "/Filter /FlateDecode",
            "/Filter [/FlateDecode]",
            "/Filter /Fl#61teDecode",
            "/Filter 7 0 R",
            "/F /Fl",
        ] {
            assert!(without_images(file(dictionary, &zlib(&small)), LIMIT).is_ok(), "{dictionary}");
            assert_eq!(without_images(file(dictionary, &zlib(&large)), LIMIT), Err(TooMuch), "{dictionary}");
        }
        // Without the header of zlib.
        assert_eq!(without_images(file("/Filter /FlateDecode", &zlib(&large)[2..]), LIMIT), Err(TooMuch));
        assert!(without_images(file("/Filter /RunLengthDecode", &runs(LIMIT / 2)), LIMIT).is_ok());
        assert_eq!(without_images(file("/Filter /RunLengthDecode", &runs(LIMIT * 2)), LIMIT), Err(TooMuch));
        let hex = zlib(&large).iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
        let dictionary = "/Filter [/ASCIIHexDecode /FlateDecode]";
        assert_eq!(without_images(file(dictionary, hex.as_bytes()), LIMIT), Err(TooMuch));
        let twice = file("/Filter [/FlateDecode /FlateDecode]", &zlib(&zlib(&large)));
        assert_eq!(without_images(twice, LIMIT), Err(TooMuch));
    }

    #[test]
    fn many_small_ones_are_counted_together() {
        let one = file("/Filter /FlateDecode", &zlib(&vec![b' '; LIMIT / 3]));
        assert!(without_images(one.repeat(2), LIMIT).is_ok());
        assert_eq!(without_images(one.repeat(4), LIMIT), Err(TooMuch));
    }

    #[test]
    fn images_are_blanked_and_not_counted() {
        let data = zlib(&vec![0; LIMIT * 2]);
        let blank = without_images(file("/Subtype /Image /Filter /FlateDecode", &data), LIMIT).unwrap();
        assert!(find(&blank, &data, 0).is_none());
        assert_eq!(blank.len(), file("/Subtype /Image /Filter /FlateDecode", &data).len());
    }

    #[test]
    fn lzw_is_counted_by_its_codes() {
        // The example of the specification: ten bytes from nine codes.
        let example = [0x80, 0x0B, 0x60, 0x50, 0x22, 0x0C, 0x0C, 0x85, 0x01];
        assert_eq!(lzw_length(&example, LIMIT), 10);
        // 256, then every code repeats the last with one byte more.
        let mut bits = String::from("100000000");
        bits += "000000000";
        bits += &(258..500).map(|code| format!("{code:09b}")).collect::<Vec<_>>().concat();
        let bytes: Vec<u8> = bits
            .as_bytes()
            .chunks(8)
            .map(|byte| u8::from_str_radix(std::str::from_utf8(byte).unwrap(), 2).unwrap())
            .collect();
        assert!(lzw_length(&bytes, LIMIT) > 29_000, "{}", lzw_length(&bytes, LIMIT));
        assert!(lzw_length(&bytes, 100) < 400);
    }

    proptest! {
        #[test]
        fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let _ = without_images([b"1 0 obj stream\n".to_vec(), bytes.clone()].concat(), LIMIT);
            let (_, _) = (lzw_length(&bytes, LIMIT), runs_length(&bytes, LIMIT));
            let _ = printed(&bytes, true).len() + printed(&bytes, false).len();
        }

        #[test]
        fn what_was_packed_is_counted(bytes in prop::collection::vec(any::<u8>(), 0..2_000)) {
            prop_assert_eq!(deflate_length(&zlib(&bytes), LIMIT), bytes.len());
        }
    }
}
