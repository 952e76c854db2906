//! Text that addresses the AI reading a page: its words, its place, and the rule that matched.
//!
//! Facts only: this module does not decide about pages. Rules are data (`config/dangerous_patterns.yaml`); hidden
//! characters and encoded payloads need code and are detected here.

mod characters;
mod encoded;
mod fold;
mod hidden;
mod quote;

use std::fmt::Write as _;

use crate::Result;
use crate::error::{ConfigError, from_yaml};
use fold::Folded;
use regex::Regex;
use serde::{Deserialize, Serialize};

/// The rules of the repository's `config/dangerous_patterns.yaml`.
const DEFAULT: &str = include_str!("../../../../config/dangerous_patterns.yaml");
/// Characters of an excerpt.
const EXCERPT: usize = 160;
/// Most findings of one rule in one text.
const MAX_PER_RULE: usize = 20;

/// One place where a rule matched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Id of the rule.
    pub rule: String,
    /// The goal of the text.
    pub kind: Kind,
    /// How sure a match of the rule means harm.
    pub severity: Severity,
    /// Its place.
    pub place: Place,
    /// The words, shortened; invisible and control characters made visible as `U+XXXX`.
    pub excerpt: String,
}

/// The goal of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Other instructions than the reader's own.
    Instruction,
    /// Another role for the reading AI.
    RoleChange,
    /// To reveal its instructions or the conversation.
    Disclosure,
    /// To have tools called.
    ToolCall,
    /// To keep something from the user.
    Secrecy,
    /// To have data carried out, by a link or a request.
    Exfiltration,
    /// To speak to an AI rather than to a reader.
    Addressing,
    /// Tokens that models interpret as the frame of a conversation.
    ControlToken,
    /// To be judged well.
    Praise,
    /// Characters that hide or reorder text.
    HiddenCharacters,
    /// One of the above, encoded.
    EncodedPayload,
}

/// How sure a match means harm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth recording.
    Low,
    /// The passage should reach no AI.
    Medium,
    /// The same, and the domain will be blocked.
    High,
}

/// Where something was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "in", rename_all = "snake_case")]
pub enum Place {
    /// In the text given. Offsets count characters.
    Text {
        /// First character.
        start: u32,
        /// One past the last.
        end: u32,
    },
    /// In HTML that readers do not see.
    Hidden {
        /// How it is hidden: `display:none`, `comment`, …
        how: String,
    },
}

impl Severity {
    /// Its name, as rules and results write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

impl Place {
    /// Whether it touches the characters from `start` to `end` of the text.
    pub fn touches(&self, start: u32, end: u32) -> bool {
        matches!(self, Self::Text { start: from, end: to } if *from < end && start < *to)
    }
}

/// The rules, compiled.
#[derive(Debug, Clone)]
pub struct DangerousPatterns {
    source: String,
    rules: Vec<Rule>,
    /// Words around a quotation which show that it only reports an attack.
    quotations: Vec<Regex>,
}

#[derive(Debug, Clone)]
struct Rule {
    id: String,
    kind: Kind,
    severity: Severity,
    hidden_only: bool,
    patterns: Vec<Regex>,
    unless_before: Vec<Regex>,
    unless_after: Vec<Regex>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    quotations: Vec<String>,
    rules: Vec<RuleSpec>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleSpec {
    id: String,
    kind: Kind,
    severity: Severity,
    #[serde(default, rename = "where")]
    place: Scope,
    patterns: Vec<String>,
    #[serde(default)]
    unless_before: Vec<String>,
    #[serde(default)]
    unless_after: Vec<String>,
}

#[derive(Deserialize, Default, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Scope {
    #[default]
    Anywhere,
    Hidden,
}

impl DangerousPatterns {
    /// Reads and compiles a rules file.
    ///
    /// # Errors
    /// Invalid YAML or an unknown key (both with line and column), an invalid regular expression.
    pub fn from_yaml(text: &str) -> Result<Self> {
        let file: File = from_yaml(text)?;
        let quotations = compiled(&file.quotations, "quotations")?;
        let rules = file.rules.into_iter().map(RuleSpec::compiled).collect::<Result<_>>()?;
        Ok(Self { source: text.to_owned(), rules, quotations })
    }

    /// The text that they were read from.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The built-in rules.
    ///
    /// # Errors
    /// None in practice: a test reads the same text.
    pub fn built_in() -> Result<Self> {
        Self::from_yaml(DEFAULT)
    }

    /// Findings in visible text, in order.
    pub fn in_text(&self, text: &str) -> Vec<Finding> {
        let chars: Vec<char> = text.chars().collect();
        let mut found = self.matches(&chars, false);
        found.extend(characters::hiding(&chars));
        found.extend(encoded::payloads(&chars, |decoded| self.worst(decoded)));
        found.sort_by_key(|finding| match finding.place {
            Place::Text { start, end } => (start, end),
            Place::Hidden { .. } => (u32::MAX, u32::MAX),
        });
        found
    }

    /// Findings in the parts of an HTML page that readers do not see: hidden elements, comments, attributes and links.
    /// High severity is only for places that no reader ever sees.
    pub fn in_hidden_html(&self, html: &str) -> Vec<Finding> {
        let mut found = Vec::new();
        for piece in hidden::pieces(html) {
            let chars: Vec<char> = piece.text.chars().collect();
            let mut here = self.matches(&chars, piece.hidden);
            here.extend(encoded::payloads(&chars, |decoded| self.worst(decoded)));
            if piece.hidden {
                here.extend(characters::hiding(&chars));
            }
            let most = if piece.unseen { Severity::High } else { Severity::Medium };
            found.extend(here.into_iter().map(|finding| Finding {
                place: Place::Hidden { how: piece.how.into() },
                severity: finding.severity.min(most),
                ..finding
            }));
        }
        found
    }

    /// The gravest finding in a text as readers see it, when it should reach no AI.
    pub fn gravest(&self, text: &str) -> Option<Finding> {
        let grave = self.in_text(text).into_iter().filter(|finding| finding.severity >= Severity::Medium);
        grave.max_by_key(|finding| finding.severity)
    }

    /// The text without the lines that no AI should see, each replaced by a note that names the rule; `None` when no
    /// line is affected.
    pub fn withheld(&self, text: &str) -> Option<String> {
        let mut spans: Vec<(usize, usize, String)> = self
            .in_text(text)
            .into_iter()
            .filter(|finding| finding.severity >= Severity::Medium)
            .filter_map(|finding| match finding.place {
                Place::Text { start, end } => Some((start as usize, end as usize, finding.rule)),
                Place::Hidden { .. } => None,
            })
            .collect();
        if spans.is_empty() {
            return None;
        }
        spans.sort();
        let (mut out, mut at) = (String::with_capacity(text.len()), 0);
        for line in text.split_inclusive('\n') {
            let end = at + line.chars().count();
            match spans.iter().find(|(from, to, _)| *from < end && at < *to) {
                None => out.push_str(line),
                Some((_, _, rule)) => {
                    let _ = write!(out, "[withheld: text that addresses the AI that reads it ({rule})]");
                    out.push_str(if line.ends_with('\n') { "\n" } else { "" });
                }
            }
            at = end;
        }
        Some(out)
    }

    /// The most severe rule that matches a decoded text.
    fn worst(&self, text: &str) -> Option<(String, Severity)> {
        let chars: Vec<char> = text.chars().collect();
        self.matches(&chars, true).into_iter().max_by_key(|f| f.severity).map(|f| (f.rule, f.severity))
    }

    fn matches(&self, chars: &[char], hidden: bool) -> Vec<Finding> {
        let folded = Folded::of(chars);
        let mut found = Vec::new();
        for rule in self.rules.iter().filter(|rule| hidden || !rule.hidden_only) {
            let matches =
                rule.patterns.iter().flat_map(|pattern| pattern.find_iter(&folded.text)).take(MAX_PER_RULE);
            for found_at in matches {
                let (before, after) = around(&folded.text, found_at.start(), found_at.end());
                let told =
                    |patterns: &[Regex], text: &str| patterns.iter().any(|pattern| pattern.is_match(text));
                if told(&rule.unless_before, before) || told(&rule.unless_after, after) {
                    continue;
                }
                let quoted = quote::is_quoted(before, after)
                    && (told(&self.quotations, before) || told(&self.quotations, after));
                let (start, end) = folded.place(found_at.start(), found_at.end());
                // Splitting words with invisible characters never helps a reader.
                let split = folded.skips_invisible(start, end);
                found.push(Finding {
                    rule: rule.id.clone(),
                    kind: rule.kind,
                    severity: match (split, quoted) {
                        (true, _) => Severity::High,
                        (false, true) if !hidden => Severity::Low,
                        (false, true) => rule.severity.min(Severity::Medium),
                        (false, false) => rule.severity,
                    },
                    place: Place::Text { start: start as u32, end: end as u32 },
                    excerpt: excerpt(&chars[start..end]),
                });
            }
        }
        found
    }
}

impl RuleSpec {
    fn compiled(self) -> Result<Rule> {
        let place = || format!("rules.{}", self.id);
        if self.patterns.is_empty() {
            return Err(ConfigError::value(place(), "has no patterns"));
        }
        let patterns = compiled(&self.patterns, &place())?;
        let (unless_before, unless_after) =
            (compiled(&self.unless_before, &place())?, compiled(&self.unless_after, &place())?);
        let hidden_only = self.place == Scope::Hidden;
        let Self { id, kind, severity, .. } = self;
        Ok(Rule { id, kind, severity, hidden_only, patterns, unless_before, unless_after })
    }
}

fn compiled(patterns: &[String], place: &str) -> Result<Vec<Regex>> {
    let compiled =
        |pattern: &String| Regex::new(pattern).map_err(|error| ConfigError::value(place, error.to_string()));
    patterns.iter().map(compiled).collect()
}

/// Bytes before and after a match that tell whether it is an order, a report or a quotation.
const AROUND: usize = 240;

/// The text right before and right after a match.
fn around(text: &str, start: usize, end: usize) -> (&str, &str) {
    let from = text.ceil_char_boundary(start.saturating_sub(AROUND));
    let to = text.floor_char_boundary((end + AROUND).min(text.len()));
    (&text[from.min(start)..start], &text[end..to.max(end)])
}

/// The characters, shortened, with invisible ones made visible.
fn excerpt(chars: &[char]) -> String {
    let mut out = String::new();
    for &c in chars.iter().take(EXCERPT) {
        if c.is_whitespace() {
            out.push(' ');
        } else if c.is_control() || fold::is_invisible(c) {
            let _ = write!(out, "U+{:04X}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    if chars.len() > EXCERPT {
        out.push('…');
    }
    out
}

#[cfg(test)]
mod tests;
