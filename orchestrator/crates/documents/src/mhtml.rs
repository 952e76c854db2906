//! MHTML (RFC 2557): pages that browsers save as one file.

use crate::budget::Limits;
use crate::{ReadError, Result};
use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// Multiparts inside multiparts.
const DEEPEST: usize = 8;
/// Parts that are looked at.
const MOST_PARTS: usize = 10_000;

/// A page that a browser saved.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SavedPage {
    /// The page as it was sent; its encoding is that of `content_type`, or one that it declares itself.
    pub html: Vec<u8>,
    /// `Content-Type` of the page, with its charset if it states one.
    pub content_type: Option<String>,
    /// Address of the page.
    pub url: Option<String>,
    /// Title, if the file states it beside the page.
    pub title: Option<String>,
    /// Day on which it was saved (`2024-05-31`).
    pub saved: Option<String>,
}

pub(crate) fn read(bytes: &[u8], limits: &Limits) -> Result<SavedPage> {
    let (headers, body) = Headers::read(bytes);
    if headers.0.is_empty() {
        return Err(ReadError::OtherFormat("it is not a saved page: it has no MIME headers".to_owned()));
    }
    let mut parts = Vec::new();
    collect(&headers, body, 0, &mut parts);
    let start = headers.parameter("content-type", "start");
    let main = headers.value("snapshot-content-location").or_else(|| headers.value("content-location"));
    let html = |part: &&(Headers, &[u8])| {
        let kind = part.0.value("content-type").unwrap_or_default().to_ascii_lowercase();
        kind.starts_with("text/html") || kind.starts_with("application/xhtml")
    };
    let named = |part: &&(Headers, &[u8])| {
        start.is_some() && part.0.value("content-id") == start
            || main.is_some() && part.0.value("content-location") == main
    };
    let Some((found, content)) = parts.iter().filter(html).find(named).or_else(|| parts.iter().find(html))
    else {
        return Err(ReadError::NoText);
    };
    let html =
        match found.value("content-transfer-encoding").unwrap_or_default().to_ascii_lowercase().as_str() {
            "base64" => from_base64(content)?,
            "quoted-printable" => from_quoted(content),
            _ => content.to_vec(),
        };
    if html.len() > limits.text_bytes {
        return Err(ReadError::TooLarge(format!("its page has more than {} bytes", limits.text_bytes)));
    }
    if html.trim_ascii().is_empty() {
        return Err(ReadError::NoText);
    }
    let date = headers.value("date").and_then(|date| jiff::fmt::rfc2822::parse(&date).ok());
    Ok(SavedPage {
        html,
        content_type: found.value("content-type"),
        url: main.or_else(|| found.value("content-location")).filter(|url| url.starts_with("http")),
        title: headers.value("subject").map(|title| decoded_words(&title)).filter(|title| !title.is_empty()),
        saved: date.map(|date| date.date().to_string()),
    })
}

/// Header fields with their names in lower case.
#[derive(Debug, Clone, Default)]
struct Headers(Vec<(String, String)>);

impl Headers {
    /// Reads the fields up to the empty line, and gives the rest.
    fn read(bytes: &[u8]) -> (Self, &[u8]) {
        let mut fields: Vec<(String, String)> = Vec::new();
        let mut rest = bytes;
        loop {
            let end = rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |at| at + 1);
            let (line, after) = rest.split_at(end);
            let text = String::from_utf8_lossy(line);
            let text = text.trim_end_matches(['\r', '\n']);
            if text.is_empty() {
                return (Self(fields), after);
            }
            if text.starts_with([' ', '\t']) {
                if let Some((_, value)) = fields.last_mut() {
                    value.push(' ');
                    value.push_str(text.trim());
                }
            } else if let Some((name, value)) = text.split_once(':').filter(|(name, _)| !name.contains(' ')) {
                fields.push((name.to_ascii_lowercase(), value.trim().to_owned()));
            } else {
                // No field: what follows is content.
                return (Self(fields), rest);
            }
            rest = after;
        }
    }

    fn value(&self, name: &str) -> Option<String> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    }

    /// A parameter such as `boundary="…"`.
    fn parameter(&self, name: &str, parameter: &str) -> Option<String> {
        let value = self.value(name)?;
        value.split(';').skip(1).find_map(|part| {
            let (key, value) = part.split_once('=')?;
            key.trim().eq_ignore_ascii_case(parameter).then(|| value.trim().trim_matches('"').to_owned())
        })
    }
}

fn collect<'b>(headers: &Headers, body: &'b [u8], depth: usize, parts: &mut Vec<(Headers, &'b [u8])>) {
    let boundary = headers.parameter("content-type", "boundary");
    let Some(boundary) = boundary.filter(|boundary| depth < DEEPEST && !boundary.is_empty()) else {
        if parts.len() < MOST_PARTS {
            parts.push((headers.clone(), body));
        }
        return;
    };
    let mark = format!("--{boundary}");
    let mut begin: Option<usize> = None;
    let mut at = 0;
    while at < body.len() {
        let end =
            body[at..].iter().position(|byte| *byte == b'\n').map_or(body.len(), |length| at + length + 1);
        let line = body[at..end].trim_ascii_end();
        let last = line.strip_suffix(b"--").is_some_and(|line| line == mark.as_bytes());
        if last || line == mark.as_bytes() {
            if let Some(begin) = begin {
                part(&body[begin..at], depth, parts);
            }
            begin = Some(end);
            if last {
                return;
            }
        }
        at = end;
    }
    // A file that was cut ends without a mark.
    if let Some(begin) = begin {
        part(&body[begin..], depth, parts);
    }
}

fn part<'b>(bytes: &'b [u8], depth: usize, parts: &mut Vec<(Headers, &'b [u8])>) {
    let (headers, body) = Headers::read(bytes);
    collect(&headers, body, depth + 1, parts);
}

fn from_base64(content: &[u8]) -> Result<Vec<u8>> {
    let tight: Vec<u8> = content.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let config = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    GeneralPurpose::new(&STANDARD, config)
        .decode(tight)
        .map_err(|error| ReadError::Damaged(format!("its page is not base64: {error}")))
}

fn from_quoted(content: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(content.len());
    let mut rest = content;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        if *byte != b'=' {
            out.push(*byte);
            continue;
        }
        let hex = rest.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        if let Some(value) = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            out.push(value);
            rest = &rest[2..];
        } else if let Some(after) = rest.strip_prefix(b"\r\n").or_else(|| rest.strip_prefix(b"\n")) {
            rest = after;
        } else {
            out.push(b'=');
        }
    }
    out
}

/// A header with encoded words (RFC 2047): `=?utf-8?Q?Caf=C3=A9?=`.
fn decoded_words(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    let mut after_word = false;
    while let Some(at) = rest.find("=?") {
        let mut parts = rest[at + 2..].splitn(4, '?');
        let (charset, method, content) = (parts.next(), parts.next(), parts.next());
        let word = match (charset, method, content, parts.next()) {
            (Some(charset), Some(method), Some(content), Some(tail)) if tail.starts_with('=') => {
                let bytes = match method {
                    "Q" | "q" => Some(from_quoted(content.replace('_', " ").as_bytes())),
                    "B" | "b" => from_base64(content.as_bytes()).ok(),
                    _ => None,
                };
                let encoding = encoding_rs::Encoding::for_label(charset.as_bytes());
                bytes
                    .zip(encoding)
                    .map(|(bytes, encoding)| (encoding.decode(&bytes).0.into_owned(), &tail[1..]))
            }
            _ => None,
        };
        let before = &rest[..at];
        if let Some((word, tail)) = word {
            // White space between encoded words is not part of the text.
            if !(after_word && before.trim().is_empty()) {
                out.push_str(before);
            }
            out.push_str(&word);
            rest = tail;
            after_word = true;
        } else {
            out.push_str(&rest[..at + 2]);
            rest = &rest[at + 2..];
            after_word = false;
        }
    }
    out.push_str(rest);
    crate::draft::clean(&out)
}
