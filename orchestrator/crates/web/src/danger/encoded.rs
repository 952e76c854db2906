//! Instructions in base64 or hexadecimal: found by decoding and asking the rules.

use super::{Finding, Kind, Place, Severity, excerpt};
use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// Characters of a run before it is decoded: shorter ones cannot hold an instruction.
const MIN_RUN: usize = 24;
/// Characters of a run that are decoded.
const MAX_RUN: usize = 20_000;
/// Runs of one text that are decoded.
const MAX_RUNS: usize = 500;

const CONFIG: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, CONFIG);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, CONFIG);

/// Encoded runs whose text a rule matches; `worst` answers the most severe rule for a decoded text.
pub(super) fn payloads(chars: &[char], worst: impl Fn(&str) -> Option<(String, Severity)>) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut runs = 0;
    while start < chars.len() && runs < MAX_RUNS {
        if !is_code(chars[start]) {
            start += 1;
            continue;
        }
        let end = start + chars[start..].iter().take_while(|c| is_code(**c)).count();
        if end - start >= MIN_RUN {
            runs += 1;
            let run: String = chars[start..end.min(start + MAX_RUN)].iter().collect();
            let hit = decoded(&run)
                .into_iter()
                .find_map(|text| worst(&text).map(|(rule, severity)| (rule, severity, text)));
            if let Some((rule, severity, text)) = hit {
                let text: Vec<char> = text.chars().collect();
                found.push(Finding {
                    rule: format!("encoded:{rule}"),
                    kind: Kind::EncodedPayload,
                    severity: severity.max(Severity::Medium),
                    place: Place::Text { start: start as u32, end: end as u32 },
                    excerpt: excerpt(&text),
                });
            }
        }
        start = end;
    }
    found
}

fn is_code(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '-' | '_' | '=')
}

/// The texts that the run may stand for.
fn decoded(run: &str) -> Vec<String> {
    let bytes = [STANDARD.decode(run).ok(), URL_SAFE.decode(run).ok(), hexadecimal(run)];
    bytes.into_iter().flatten().filter_map(|bytes| String::from_utf8(bytes).ok()).collect()
}

fn hexadecimal(run: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = run.chars().map(|c| c.to_digit(16).map(|d| d as u8)).collect::<Option<_>>()?;
    Some(digits.chunks_exact(2).map(|pair| pair[0] * 16 + pair[1]).collect())
}
