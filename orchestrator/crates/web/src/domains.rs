//! `config/domains.yaml` as a policy.

use crate::Result;
use crate::error::{ConfigError, from_yaml};
use lyra_domain::domains::{DomainCategory, DomainPattern, DomainPolicy, DomainSetting};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The repository's `config/domains.yaml`.
const DEFAULT: &str = include_str!("../../../../config/domains.yaml");

/// Reads a domains file.
///
/// # Errors
/// Invalid YAML, an unknown key, an invalid domain (each with line and column), a weight outside [0, 1], a rate that is
/// not above 0, two settings for one domain.
pub fn policy_from_yaml(text: &str) -> Result<DomainPolicy> {
    from_yaml::<File>(text)?.policy()
}

/// The built-in policy.
///
/// # Errors
/// None in practice: a test reads the same text.
pub fn built_in_policy() -> Result<DomainPolicy> {
    policy_from_yaml(DEFAULT)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
struct File {
    default: DefaultSpec,
    categories: BTreeMap<DomainCategory, CategorySpec>,
    deny: Vec<DomainPattern>,
    user_overrides: Vec<OverrideSpec>,
}

impl Default for File {
    fn default() -> Self {
        Self {
            default: DefaultSpec { category: DomainCategory::Unverified, qps: 1.0 },
            categories: BTreeMap::new(),
            deny: Vec::new(),
            user_overrides: Vec::new(),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DefaultSpec {
    category: DomainCategory,
    qps: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CategorySpec {
    weight: Option<f64>,
    qps: Option<f64>,
    #[serde(default)]
    domains: Vec<DomainPattern>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OverrideSpec {
    domain: DomainPattern,
    category: Option<DomainCategory>,
    qps: Option<f64>,
}

impl File {
    fn policy(self) -> Result<DomainPolicy> {
        let mut policy = DomainPolicy {
            default: self.default.category,
            default_requests_per_second: rate("default.qps", self.default.qps)?,
            deny: self.deny,
            ..DomainPolicy::default()
        };
        for (category, spec) in self.categories {
            if let Some(weight) = spec.weight {
                if !(0.0..=1.0).contains(&weight) {
                    let place = format!("categories.{category}.weight");
                    return Err(ConfigError::value(place, format!("{weight} is not between 0 and 1")));
                }
                policy.weights.insert(category, weight);
            }
            if let Some(qps) = spec.qps {
                policy
                    .requests_per_second
                    .insert(category, rate(&format!("categories.{category}.qps"), qps)?);
            }
            policy.allow.extend(spec.domains.into_iter().map(|pattern| (pattern, category)));
        }
        for spec in self.user_overrides {
            let place = format!("user_overrides.{}", spec.domain);
            let DomainPattern::Exact(domain) = spec.domain else {
                return Err(ConfigError::value(place, "is a pattern; user_overrides take exact names only"));
            };
            let requests_per_second = spec.qps.map(|qps| rate(&format!("{place}.qps"), qps)).transpose()?;
            let setting = DomainSetting { category: spec.category, requests_per_second };
            if policy.user_overrides.insert(domain, setting).is_some() {
                return Err(ConfigError::value(place, "is set twice"));
            }
        }
        Ok(policy)
    }
}

fn rate(place: &str, qps: f64) -> Result<f64> {
    if qps > 0.0 && qps.is_finite() {
        Ok(qps)
    } else {
        Err(ConfigError::value(place, format!("{qps} is not a valid rate; it must be above 0")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lyra_domain::domains::decide;

    #[test]
    fn the_file_of_the_repository() {
        let policy = built_in_policy().unwrap();
        for (host, category) in [
            ("www.who.int", DomainCategory::Primary),
            ("www.cdc.gov", DomainCategory::Government),
            ("pmc.ncbi.nlm.nih.gov", DomainCategory::Academic),
            ("www.mhlw.go.jp", DomainCategory::Government),
            ("www.u-tokyo.ac.jp", DomainCategory::Academic),
            ("link.springer.com", DomainCategory::Academic),
            ("en.wikipedia.org", DomainCategory::Low),
            ("www.bbc.co.uk", DomainCategory::Trusted),
            ("someone.medium.com", DomainCategory::Low),
            ("example.org", DomainCategory::Unverified),
        ] {
            assert_eq!(decide(host, &policy, &[], |_| false).category, category, "{host}");
        }
        for category in DomainCategory::ALL {
            let weight = policy.weights.get(category).copied().unwrap_or(category.default_weight());
            assert!((weight - category.default_weight()).abs() < f64::EPSILON, "{category}");
        }
    }

    #[track_caller]
    fn refused(yaml: &str, expect: &str) {
        let error = policy_from_yaml(yaml).unwrap_err().to_string();
        assert!(error.contains(expect), "{error}");
    }

    #[test]
    fn a_wrong_file_says_where() {
        assert!(policy_from_yaml("deny: [a.example]\n").is_ok());
        refused("deny:\n  - a.example\n  - 'a.*.example'\n", "line 3");
        refused("deny:\n  - a.example\n  - 'a.*.example'\n", "a wildcard is only allowed at the start");
        refused("categories:\n  primary:\n    wieght: 1\n", "line 3");
        refused("categories:\n  prime: {}\n", "line 2");
        refused("categories: {primary: {weight: 2}}\n", "categories.primary.weight");
        refused("default: {category: low, qps: 0}\n", "default.qps");
        refused("user_overrides: [{domain: '*.a.example'}]\n", "exact names only");
        refused("user_overrides: [{domain: a.example}, {domain: a.example}]\n", "is set twice");
        refused("deny: [\n", "line");
    }
}
