//! Patent classification codes: IPC, CPC, FI, F-term, USPC and Locarno in one normal form each, and their hierarchy.
//!
//! Offices and vendors write one symbol in many ways (`H01L 33/20`, `H01L033/20`, `H01L0033200000`, `H01L  33/20
//! 20100101AFI…`). [`Code::parse`] normalizes them; two codes are equal exactly when their normal forms are. The
//! hierarchy is the one visible in the symbol (`H01L` ⊇ `H01L33` ⊇ `H01L33/20`). The dots of the schemes, which nest
//! subgroups, are not part of the symbol and are ignored. CPC refines IPC and keeps its symbols, so that both are one
//! tree: `ipc:H01L33` contains `cpc:H01L33/20`, and the other way round.

mod parse;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A classification system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum System {
    /// International Patent Classification.
    Ipc,
    /// Cooperative Patent Classification, of the EPO and the USPTO.
    Cpc,
    /// File Index of the JPO: IPC with additional subdivisions.
    Fi,
    /// F-terms of the JPO: themes with viewpoints.
    Ft,
    /// The USPTO's own classification: of utility patents to 2014, of designs and plants to this day.
    Uspc,
    /// Locarno Classification, of designs.
    Locarno,
}

impl System {
    /// All systems.
    pub const ALL: [Self; 6] = [Self::Ipc, Self::Cpc, Self::Fi, Self::Ft, Self::Uspc, Self::Locarno];

    /// The name in filters, queries and documents: `ipc`, `cpc`, `fi`, `ft`, `uspc`, `locarno`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ipc => "ipc",
            Self::Cpc => "cpc",
            Self::Fi => "fi",
            Self::Ft => "ft",
            Self::Uspc => "uspc",
            Self::Locarno => "locarno",
        }
    }

    /// Whether one search lane may use codes of both systems: only one tree, or FI with F-term, which the JPO
    /// designed to complement each other. Any other pair differs in granularity and coverage.
    pub fn goes_with(self, other: Self) -> bool {
        self.tree() == other.tree() || matches!((self, other), (Self::Fi, Self::Ft) | (Self::Ft, Self::Fi))
    }

    /// The system that stands for all systems with its symbols: CPC for IPC, else itself.
    #[must_use]
    pub fn tree(self) -> Self {
        if self == Self::Ipc { Self::Cpc } else { self }
    }
}

impl fmt::Display for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// No classification system has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a classification system: use ipc, cpc, fi, ft, uspc or locarno")]
pub struct UnknownSystem(String);

impl FromStr for System {
    type Err = UnknownSystem;

    /// Upper and lower case; F-terms may also be called `fterm` or `f-term`, Locarno `loc`.
    fn from_str(text: &str) -> Result<Self, UnknownSystem> {
        match text.to_ascii_lowercase().as_str() {
            "ipc" => Ok(Self::Ipc),
            "cpc" => Ok(Self::Cpc),
            "fi" => Ok(Self::Fi),
            "ft" | "fterm" | "f-term" => Ok(Self::Ft),
            "uspc" => Ok(Self::Uspc),
            "locarno" | "loc" => Ok(Self::Locarno),
            _ => Err(UnknownSystem(text.to_owned())),
        }
    }
}

/// How deep a code goes, coarse to fine.
///
/// F-terms have three of the levels, and a fourth: theme (`5F044`, as [`Level::Subclass`]), viewpoint (`5F044AA`,
/// [`Level::MainGroup`]), term (`5F044AA01`, [`Level::Subgroup`]), additional code ([`Level::Subdivision`]). USPC has
/// [`Level::Class`] (`D14`) and [`Level::Subclass`] (`D14/138`), and so has Locarno (`14`, `14-03`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// `H`
    Section,
    /// `H01`
    Class,
    /// `H01L`
    Subclass,
    /// `H01L33`
    MainGroup,
    /// `H01L33/20`; also `H01L33/00`, the catch-all of the main group.
    Subgroup,
    /// FI's expansion: `H01L33/00,100`
    Subdivision,
    /// FI's discrimination letter: `H01L33/00,100@A`, `H01L33/00@A`
    Discrimination,
}

/// A code in its normal form.
///
/// IPC and CPC: `H01L33/20`. FI: `H01L33/00,100@A`. F-term: `5F044AA01`, with additional code `5F044AA01.A`. USPC:
/// `455/556.1`, `D14/138`, `PLT/226`. Locarno: `14-03`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Code {
    system: System,
    text: String,
    /// The end of each level's prefix of `text`, coarse to fine; the last is its length.
    ends: Vec<(Level, usize)>,
}

impl Code {
    /// Reads a code in any of its usual written forms.
    ///
    /// Case, width, blanks, zero padding, edition and version marks, the position and value letters of gazettes, the
    /// concatenated form of WIPO ST.8 (`H01L0033200000`) and the slashless forms of old grants (`H01L 3320`) do not
    /// matter; a prefix such as `IPC:` neither. Any level is a code (`H`, `H01L`, `H01L33`).
    ///
    /// ```
    /// # use lyra_domain::classification::{Code, System};
    /// let code = Code::parse(System::Ipc, "h01l 033/20 (2010.01)")?;
    /// assert_eq!(code.as_str(), "H01L33/20");
    /// assert!(Code::parse(System::Ipc, "H01L33")?.contains(&code));
    /// # Ok::<(), lyra_domain::classification::CodeError>(())
    /// ```
    ///
    /// # Errors
    /// [`CodeError`] when it is not a code of the system.
    pub fn parse(system: System, text: &str) -> Result<Self, CodeError> {
        parse::parse(system, text)
            .ok_or_else(|| CodeError { system, text: text.chars().take(64).collect::<String>() })
    }

    /// The system.
    pub fn system(&self) -> System {
        self.system
    }

    /// The normal form.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// How deep it goes.
    pub fn level(&self) -> Level {
        self.ends.last().map_or(Level::Section, |(level, _)| *level)
    }

    /// Itself cut to a coarser level, `None` when it does not go that deep or has no such level.
    pub fn at(&self, level: Level) -> Option<Self> {
        let nth = self.ends.iter().position(|(of, _)| *of == level)?;
        let end = self.ends.get(nth)?.1;
        Some(Self {
            system: self.system,
            text: self.text.get(..end)?.to_owned(),
            ends: self.ends.get(..=nth)?.to_vec(),
        })
    }

    /// The normal forms of the code and its ancestors, coarse to fine: an index stores them, so that a filter is one
    /// exact term.
    pub fn path(&self) -> impl Iterator<Item = &str> {
        self.ends.iter().filter_map(|(_, end)| self.text.get(..*end))
    }

    /// Whether `other` is this code or a descendant of it, in the tree that their systems share.
    pub fn contains(&self, other: &Self) -> bool {
        self.system.tree() == other.system.tree() && other.path().any(|prefix| prefix == self.text)
    }

    /// The same symbol in the system that stands for its tree.
    #[must_use]
    pub fn in_tree(mut self) -> Self {
        self.system = self.system.tree();
        self
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A text that is not a code of its system.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a valid {} code: write it like {}", .system.name().to_uppercase(), example(*.system))]
pub struct CodeError {
    /// The expected system.
    pub system: System,
    /// The text, its first 64 characters.
    pub text: String,
}

fn example(system: System) -> &'static str {
    match system {
        System::Ipc => "`H01L33/20`, `H01L33` or `H01L`",
        System::Cpc => "`H01L33/20`, `Y02E10/50` or `H01L`",
        System::Fi => "`H01L33/00,100@A`, `H01L33/00`, `H01L33` or `H01L`",
        System::Ft => "`5F044AA01`, `5F044AA` or `5F044`",
        System::Uspc => "`455/556.1`, `D14/138`, `PLT/226` or `D14`",
        System::Locarno => "`14-03` or `14`",
    }
}
