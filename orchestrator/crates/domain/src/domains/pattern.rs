//! Names of domains and patterns over them.

use std::fmt;

/// `example.com`, or `*.example.com` for everything below it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum DomainPattern {
    /// This name: the host itself, or the registrable domain of one.
    Exact(String),
    /// Every name below this one, and not the name itself.
    Below(String),
}

/// Why a text is not a valid pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{pattern}` is not a domain pattern: {why}; write `example.com` or `*.example.com`")]
pub struct PatternError {
    /// The given text.
    pub pattern: String,
    /// What is wrong with it.
    pub why: &'static str,
}

impl DomainPattern {
    /// A pattern given as feedback by a person: it must identify one owner, so public suffixes (`com`, `*.co.jp`) are
    /// rejected.
    ///
    /// # Errors
    /// `*`, wildcards inside a name, invalid host names, and public suffixes.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        let pattern = Self::listed(text)?;
        let (Self::Exact(name) | Self::Below(name)) = &pattern;
        if registrable_domain(name).is_none() {
            return Err(error(text, "it is a public suffix, and would match domains of many owners"));
        }
        Ok(pattern)
    }

    /// A pattern of a configuration list, which may be as broad as `*.gov`.
    ///
    /// # Errors
    /// `*`, wildcards inside a name, and invalid host names.
    pub fn listed(text: &str) -> Result<Self, PatternError> {
        let lower = text.trim().to_lowercase();
        let (name, below) = lower.strip_prefix("*.").map_or((lower.as_str(), false), |rest| (rest, true));
        if name.contains('*') || name.contains('?') {
            return Err(error(text, "a wildcard is only allowed at the start, as `*.`"));
        }
        let label = |label: &str| {
            !label.is_empty()
                && label.len() <= 63
                && !label.starts_with('-')
                && !label.ends_with('-')
                && label.chars().all(|c| c.is_alphanumeric() || c == '-' || c == '_')
        };
        if name.len() > 253 || !name.split('.').all(label) {
            return Err(error(text, "it is not a valid host name"));
        }
        if !below && !name.contains('.') {
            return Err(error(text, "it names no domain"));
        }
        let name = name.to_owned();
        Ok(if below { Self::Below(name) } else { Self::Exact(name) })
    }
}

fn error(text: &str, why: &'static str) -> PatternError {
    PatternError { pattern: text.to_owned(), why }
}

impl fmt::Display for DomainPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(name) => f.write_str(name),
            Self::Below(name) => write!(f, "*.{name}"),
        }
    }
}

/// The part of a host name that one owner registered, by the public suffix list: `example.co.uk` of
/// `www.example.co.uk`. `None` for public suffixes themselves, for IP addresses, and for invalid host names.
///
/// Both forms of internationalized names are accepted, and returned as given except for letter case.
pub fn registrable_domain(host: &str) -> Option<String> {
    let host = host.to_lowercase();
    let address = host.starts_with('[') || host.parse::<std::net::IpAddr>().is_ok();
    if address || host.is_empty() || host.split('.').any(str::is_empty) {
        return None;
    }
    psl::domain_str(&host).map(str::to_owned)
}

/// Whether a host name belongs to the public namespace: it is below a suffix of the public suffix list. Single labels,
/// private networks (`.local`, `.internal`, `.corp`) and reverse lookups (`.arpa`) are not.
pub fn is_public_name(host: &str) -> bool {
    let host = host.to_lowercase();
    let known = psl::suffix(host.as_bytes()).is_some_and(|suffix| suffix.is_known());
    known && host.rsplit('.').next() != Some("arpa") && registrable_domain(&host).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_networks_of_their_own_are_not_public() {
        for host in
            ["example.org", "www.example.co.uk", "a.github.io", "xn--mnchen-3ya.de", "MIXED.Example.COM"]
        {
            assert!(is_public_name(host), "{host}");
        }
        for host in [
            "intranet",
            "router.local",
            "wiki.corp",
            "metadata.google.internal",
            "a.lan",
            "x.home.arpa",
            "1.0.10.in-addr.arpa",
            "localhost",
            "127.0.0.1",
            "[::1]",
            "com",
            "co.uk",
            "a..com",
            "",
        ] {
            assert!(!is_public_name(host), "{host}");
        }
    }
}
