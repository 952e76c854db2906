//! Which category a domain has, and why. One function decides, everywhere: [`decide`].

mod pattern;

pub use pattern::{DomainPattern, PatternError, registrable_domain};

use crate::named_enum;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

named_enum! {
    /// What is known of a domain. It adjusts ranking and annotates edges; it never enters a confidence.
    pub enum DomainCategory {
        /// Standards bodies, registries, institutions that speak for themselves.
        Primary = "primary",
        /// Government bodies.
        Government = "government",
        /// Universities, journals, scholarly publishers.
        Academic = "academic",
        /// Edited reference works, established newsrooms.
        Trusted = "trusted",
        /// Anyone can write there, Wikipedia included.
        Low = "low",
        /// Nothing is known.
        Unverified = "unverified",
        /// Not to be fetched or used.
        Blocked = "blocked",
    }
}

impl DomainCategory {
    /// Ranking weight in [0, 1] unless the configuration says otherwise (evidence design, section 5).
    pub fn default_weight(self) -> f64 {
        match self {
            Self::Primary => 1.0,
            Self::Government => 0.95,
            Self::Academic => 0.90,
            Self::Trusted => 0.75,
            Self::Low => 0.40,
            Self::Unverified => 0.30,
            Self::Blocked => 0.0,
        }
    }
}

/// What the configuration says of domains.
#[derive(Debug, Clone, PartialEq)]
pub struct DomainPolicy {
    /// Category of a domain that no list names.
    pub default: DomainCategory,
    /// Ranking weights that differ from the defaults.
    pub weights: BTreeMap<DomainCategory, f64>,
    /// Requests per second to one domain, by category.
    pub requests_per_second: BTreeMap<DomainCategory, f64>,
    /// Requests per second to one domain that no other rule names.
    pub default_requests_per_second: f64,
    /// Never to be used.
    pub deny: Vec<DomainPattern>,
    /// Settings of single domains; they win over `allow`, not over blocks.
    pub user_overrides: BTreeMap<String, DomainSetting>,
    /// Categories by pattern: an exact name before a suffix, a longer suffix before a shorter one.
    pub allow: Vec<(DomainPattern, DomainCategory)>,
}

impl Default for DomainPolicy {
    fn default() -> Self {
        Self {
            default: DomainCategory::Unverified,
            weights: BTreeMap::new(),
            requests_per_second: BTreeMap::new(),
            default_requests_per_second: 1.0,
            deny: Vec::new(),
            user_overrides: BTreeMap::new(),
            allow: Vec::new(),
        }
    }
}

/// What a person set for one domain.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct DomainSetting {
    /// Its category.
    pub category: Option<DomainCategory>,
    /// Requests per second to it.
    pub requests_per_second: Option<f64>,
}

named_enum! {
    /// What a person decided about a pattern.
    pub enum OverrideDecision {
        /// Block it.
        Block = "block",
        /// Use it, whatever blocks it otherwise.
        Unblock = "unblock",
    }
}

/// A rule of the database, made by feedback.
#[derive(Debug, Clone, PartialEq)]
pub struct DomainOverride {
    /// Which domains.
    pub pattern: DomainPattern,
    /// What to do.
    pub decision: OverrideDecision,
    /// When it was last changed; of two rules for one pattern the newer counts.
    pub updated_at: jiff::Timestamp,
}

/// What was decided about a host.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DomainDecision {
    /// Its registrable domain; the host itself where there is none (addresses, names without a suffix).
    pub domain: String,
    /// Its category.
    pub category: DomainCategory,
    /// Ranking weight in [0, 1].
    pub weight: f64,
    /// Requests per second to it.
    pub requests_per_second: f64,
    /// What decided.
    pub decided_by: DecidedBy,
}

/// Which rule decided about a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "rule", content = "pattern", rename_all = "snake_case")]
pub enum DecidedBy {
    /// A rule of the database that blocks.
    Override(String),
    /// The configuration's deny list.
    Denylist(String),
    /// A block that the server made for a reason it recorded.
    DynamicBlock,
    /// The configuration's setting for this domain.
    UserOverride(String),
    /// The configuration's categories.
    Allowlist(String),
    /// Nothing names it.
    Default,
}

/// Decides about a host: database override (exact, then the longest suffix, then the newest) → deny list → dynamic
/// block → `user_overrides` → allow list → default (evidence design, section 5).
///
/// An unblocking override lifts deny list and dynamic block, and leaves the rest to say what the domain is.
/// `dynamically_blocked` is asked with the registrable domain.
pub fn decide(
    host: &str,
    policy: &DomainPolicy,
    overrides: &[DomainOverride],
    dynamically_blocked: impl Fn(&str) -> bool,
) -> DomainDecision {
    let host = host.trim_end_matches('.').to_lowercase();
    let domain = registrable_domain(&host).unwrap_or_else(|| host.clone());
    let names = Names { host: &host, domain: &domain };
    let setting =
        [&host, &domain].into_iter().find_map(|name| Some((name, policy.user_overrides.get(name)?)));
    let (category, decided_by) = category(&names, policy, overrides, dynamically_blocked, setting);
    DomainDecision {
        category,
        weight: policy.weights.get(&category).copied().unwrap_or_else(|| category.default_weight()),
        requests_per_second: setting
            .and_then(|(_, setting)| setting.requests_per_second)
            .or_else(|| policy.requests_per_second.get(&category).copied())
            .unwrap_or(policy.default_requests_per_second),
        decided_by,
        domain,
    }
}

fn category(
    names: &Names<'_>,
    policy: &DomainPolicy,
    overrides: &[DomainOverride],
    dynamically_blocked: impl Fn(&str) -> bool,
    setting: Option<(&String, &DomainSetting)>,
) -> (DomainCategory, DecidedBy) {
    let rule = overrides
        .iter()
        .filter_map(|rule| Some((names.matched(&rule.pattern)?, rule)))
        .max_by(|(a, x), (b, y)| a.cmp(b).then(x.updated_at.cmp(&y.updated_at)));
    if let Some((_, rule)) = rule.as_ref().filter(|(_, rule)| rule.decision == OverrideDecision::Block) {
        return (DomainCategory::Blocked, DecidedBy::Override(rule.pattern.to_string()));
    }
    let unblocked = rule.is_some();
    if !unblocked {
        if let Some(pattern) = policy.deny.iter().find(|pattern| names.matched(pattern).is_some()) {
            return (DomainCategory::Blocked, DecidedBy::Denylist(pattern.to_string()));
        }
        if dynamically_blocked(names.domain) {
            return (DomainCategory::Blocked, DecidedBy::DynamicBlock);
        }
    }
    if let Some((name, category)) = setting.and_then(|(name, setting)| Some((name, setting.category?))) {
        return (category, DecidedBy::UserOverride(name.clone()));
    }
    let listed = policy
        .allow
        .iter()
        .filter_map(|(pattern, category)| Some((names.matched(pattern)?, pattern, category)))
        .max_by(|a, b| a.0.cmp(&b.0));
    match listed {
        Some((_, pattern, category)) => (*category, DecidedBy::Allowlist(pattern.to_string())),
        None => (policy.default, DecidedBy::Default),
    }
}

/// A host as patterns see it.
struct Names<'a> {
    host: &'a str,
    domain: &'a str,
}

/// How closely a pattern names a host; the closer one is greater.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Closeness {
    /// By a suffix of this many characters.
    Suffix(usize),
    /// By its registrable domain.
    Domain,
    /// By its own name.
    Host,
}

impl Names<'_> {
    fn matched(&self, pattern: &DomainPattern) -> Option<Closeness> {
        match pattern {
            DomainPattern::Exact(name) if name == self.host => Some(Closeness::Host),
            DomainPattern::Exact(name) if name == self.domain => Some(Closeness::Domain),
            DomainPattern::Exact(_) => None,
            DomainPattern::Below(suffix) => self
                .host
                .strip_suffix(suffix.as_str())
                .filter(|rest| rest.ends_with('.'))
                .map(|_| Closeness::Suffix(suffix.len())),
        }
    }
}

impl<'de> Deserialize<'de> for DomainPattern {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        DomainPattern::listed(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests;
