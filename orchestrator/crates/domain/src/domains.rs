//! Which category a domain has, and why. One function decides, everywhere: [`decide`].

mod pattern;

pub use pattern::{DomainPattern, PatternError, is_public_name, registrable_domain};

use crate::named_enum;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

named_enum! {
    /// The category of a domain. It adjusts ranking and annotates edges; it never enters a confidence.
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
        /// Unknown.
        Unverified = "unverified",
        /// Must not be fetched or used.
        Blocked = "blocked",
    }
}

impl DomainCategory {
    /// Default ranking weight in [0, 1] (evidence design, section 5).
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

/// The configured rules for domains.
#[derive(Debug, Clone, PartialEq)]
pub struct DomainPolicy {
    /// Category of a domain that no list names.
    pub default: DomainCategory,
    /// Ranking weights that differ from the defaults.
    pub weights: BTreeMap<DomainCategory, f64>,
    /// Requests per second to one domain, by category.
    pub requests_per_second: BTreeMap<DomainCategory, f64>,
    /// Requests per second to one domain without a rule of its own.
    pub default_requests_per_second: f64,
    /// Must never be used.
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

/// A person's settings for one domain.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct DomainSetting {
    /// Its category.
    pub category: Option<DomainCategory>,
    /// Requests per second to it.
    pub requests_per_second: Option<f64>,
}

named_enum! {
    /// A person's decision about a pattern.
    pub enum OverrideDecision {
        /// Block it.
        Block = "block",
        /// Use it, even if something else blocks it.
        Unblock = "unblock",
    }
}

/// A rule in the database, created by feedback.
#[derive(Debug, Clone, PartialEq)]
pub struct DomainOverride {
    /// Which domains.
    pub pattern: DomainPattern,
    /// What to do.
    pub decision: OverrideDecision,
    /// When it was last changed; of two rules for one pattern the newer counts.
    pub updated_at: jiff::Timestamp,
}

/// The decision about a host.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DomainDecision {
    /// Its registrable domain; the host itself if it has none (IP addresses, names without a suffix).
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
    /// A block by the server, for a recorded reason.
    DynamicBlock,
    /// The configuration's setting for this domain.
    UserOverride(String),
    /// The configuration's categories.
    Allowlist(String),
    /// Independent sources confirmed a claim found there.
    Confirmed,
    /// No rule matches it.
    Default,
}

impl DecidedBy {
    /// The origin of the decision, as part of a sentence.
    pub fn in_words(&self) -> &'static str {
        match self {
            Self::Override(_) => "a person's decision",
            Self::DynamicBlock | Self::Confirmed => "the server, for a reason that it recorded",
            Self::Denylist(_) | Self::UserOverride(_) | Self::Allowlist(_) | Self::Default => {
                "the configuration"
            }
        }
    }
}

/// Everything that decides about domains, as of one moment.
#[derive(Debug, Clone, Default)]
pub struct DomainRules {
    /// The configured rules.
    pub policy: Arc<DomainPolicy>,
    /// What people decided.
    pub overrides: Vec<DomainOverride>,
    /// Registrable domains that the server blocked for a reason it recorded.
    pub blocked: BTreeSet<String>,
    /// Registrable domains that were unknown until independent sources confirmed their claims: low instead of the
    /// default unverified.
    pub confirmed: BTreeSet<String>,
}

impl DomainRules {
    /// Decides about a host, see [`decide`].
    pub fn decide(&self, host: &str) -> DomainDecision {
        let decision = decide(host, &self.policy, &self.overrides, |domain| self.blocked.contains(domain));
        let unknown =
            decision.decided_by == DecidedBy::Default && decision.category == DomainCategory::Unverified;
        if !unknown || !self.confirmed.contains(&decision.domain) {
            return decision;
        }
        let category = DomainCategory::Low;
        let weight = self.policy.weights.get(&category).copied().unwrap_or_else(|| category.default_weight());
        DomainDecision { category, weight, decided_by: DecidedBy::Confirmed, ..decision }
    }

    /// Whether a person unblocked this host, which overrides every reason to block it.
    pub fn is_unblocked(&self, host: &str) -> bool {
        let rule = deciding_override(host, &self.overrides).map(|place| &self.overrides[place]);
        rule.is_some_and(|rule| rule.decision == OverrideDecision::Unblock)
    }
}

/// Index of the override that applies to a host: exact, then the longest suffix, then the newest.
pub fn deciding_override(host: &str, overrides: &[DomainOverride]) -> Option<usize> {
    let host = normal(host);
    let domain = registrable_domain(&host).unwrap_or_else(|| host.clone());
    Names { host: &host, domain: &domain }.find_rule(overrides)
}

/// The host of an address such as `https://example.org:8443/a`; empty if it has none.
pub fn host_of(url: &str) -> &str {
    let Some((_, rest)) = url.split_once("://") else { return "" };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let host = authority.rsplit('@').next().unwrap_or(authority);
    match host.find(']') {
        Some(end) if host.starts_with('[') => &host[..=end],
        _ => host.split(':').next().unwrap_or(host),
    }
}

/// Decides about a host: database override (exact, then the longest suffix, then the newest) → deny list → dynamic
/// block → `user_overrides` → allow list → default (evidence design, section 5).
///
/// An unblocking override lifts deny list and dynamic block; the other rules then decide the category.
/// `dynamically_blocked` receives the registrable domain.
pub fn decide(
    host: &str,
    policy: &DomainPolicy,
    overrides: &[DomainOverride],
    dynamically_blocked: impl Fn(&str) -> bool,
) -> DomainDecision {
    let host = normal(host);
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
    let rule = names.find_rule(overrides).map(|place| &overrides[place]);
    if let Some(rule) = rule.filter(|rule| rule.decision == OverrideDecision::Block) {
        return (DomainCategory::Blocked, DecidedBy::Override(rule.pattern.to_string()));
    }
    let unblocked = rule.is_some();
    if !unblocked {
        if let Some(pattern) = policy.deny.iter().find(|pattern| names.find_closeness(pattern).is_some()) {
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
        .filter_map(|(pattern, category)| Some((names.find_closeness(pattern)?, pattern, category)))
        .max_by(|a, b| a.0.cmp(&b.0));
    match listed {
        Some((_, pattern, category)) => (*category, DecidedBy::Allowlist(pattern.to_string())),
        None => (policy.default, DecidedBy::Default),
    }
}

/// A host in the form used for comparison.
fn normal(host: &str) -> String {
    host.trim_end_matches('.').to_lowercase()
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
    /// Place of the override that counts: the closest, then the newest.
    fn find_rule(&self, overrides: &[DomainOverride]) -> Option<usize> {
        overrides
            .iter()
            .enumerate()
            .filter_map(|(place, rule)| Some((self.find_closeness(&rule.pattern)?, rule.updated_at, place)))
            .max()
            .map(|(_, _, place)| place)
    }

    fn find_closeness(&self, pattern: &DomainPattern) -> Option<Closeness> {
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
