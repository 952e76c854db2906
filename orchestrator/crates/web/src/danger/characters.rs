//! Characters that hide or reorder text.

use super::{Finding, Kind, Place, Severity, excerpt};

/// Zero-width characters in a row that no script and no emoji needs.
const ZERO_WIDTH_RUN: usize = 8;
/// Variation selectors in a row; one after a character chooses its form.
const SELECTOR_RUN: usize = 4;

/// Runs of tag characters, zero-width characters and variation selectors, and overrides of the writing direction.
pub(super) fn hiding(chars: &[char]) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut i = 0;
    while i < chars.len() {
        let run = |is: fn(char) -> bool| chars[i..].iter().take_while(|c| is(**c)).count();
        let (tags, zero_width, selectors) = (run(is_tag), run(is_zero_width), run(is_selector));
        let override_ = matches!(chars[i], '\u{202D}' | '\u{202E}');
        let (rule, severity, length) = if tags > 0 && !is_flag(chars, i, tags) {
            ("tag_characters", Severity::High, tags)
        } else if zero_width >= ZERO_WIDTH_RUN {
            ("zero_width_run", Severity::Medium, zero_width)
        } else if selectors >= SELECTOR_RUN {
            ("variation_selector_run", Severity::High, selectors)
        } else if override_ {
            ("bidi_override", Severity::Medium, 1)
        } else {
            i += tags.max(1);
            continue;
        };
        let run = &chars[i..i + length];
        found.push(Finding {
            rule: rule.to_owned(),
            kind: Kind::HiddenCharacters,
            severity,
            place: Place::Text { start: i as u32, end: (i + length) as u32 },
            excerpt: told(rule, run, &chars[i..(i + 40).min(chars.len())]),
        });
        i += length;
    }
    found
}

/// The run's readable text.
fn told(rule: &str, run: &[char], around: &[char]) -> String {
    match rule {
        "tag_characters" => {
            let text: Vec<char> =
                run.iter().filter_map(|c| char::from_u32(u32::from(*c) - 0xE_0000)).collect();
            excerpt(&text)
        }
        "bidi_override" => excerpt(around),
        _ => {
            format!("{} characters, the first U+{:04X}", run.len(), run.first().map_or(0, |c| u32::from(*c)))
        }
    }
}

fn is_tag(c: char) -> bool {
    matches!(c, '\u{E0000}'..='\u{E007F}')
}

fn is_zero_width(c: char) -> bool {
    matches!(c, '\u{200B}'..='\u{200D}' | '\u{2060}'..='\u{2064}' | '\u{FEFF}' | '\u{180E}')
}

fn is_selector(c: char) -> bool {
    matches!(c, '\u{FE00}'..='\u{FE0F}' | '\u{E0100}'..='\u{E01EF}')
}

/// Flags of regions are a black flag with a few tags and their end.
fn is_flag(chars: &[char], at: usize, tags: usize) -> bool {
    at > 0 && chars[at - 1] == '\u{1F3F4}' && tags <= 7 && chars[at + tags - 1] == '\u{E007F}'
}
