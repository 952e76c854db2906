//! The status of a claim by its sources, and blocks of domains by their claims (evidence design, section 5). Neither
//! ever enters a confidence.

use crate::domains::DomainCategory;
use crate::{VerificationStatus, named_enum};

/// Independent supporting sources that a verified claim needs.
pub const INDEPENDENT_SUPPORTS: usize = 2;
/// Share of a domain's claims that may be rejected before the domain is blocked.
pub const MAX_REJECTION_RATE: f64 = 0.3;
/// Fewest claims of a domain for that share to be meaningful.
pub const MIN_CLAIMS: u64 = 5;

named_enum! {
    /// Why a claim has its verification status.
    pub enum VerificationReason {
        /// Its source holds text that addresses the reading AI, hides, or smuggles.
        DangerousPattern = "dangerous_pattern",
        /// Its domain was blocked before.
        AlreadyBlocked = "already_blocked",
        /// Fewer than two independent sources support it.
        InsufficientEvidence = "insufficient_evidence",
        /// Some source refutes it.
        ConflictingEvidence = "conflicting_evidence",
        /// Two independent sources support it and none refutes it.
        WellSupported = "well_supported",
    }
}

named_enum! {
    /// Why a domain is blocked.
    pub enum DomainBlockReason {
        /// Hostile text was found on one of its pages.
        DangerousPattern = "dangerous_pattern",
        /// Too many of its claims were rejected.
        HighRejectionRate = "high_rejection_rate",
        /// The configuration lists it.
        Denylist = "denylist",
        /// A person blocked it.
        Manual = "manual",
        /// No recorded reason.
        Unknown = "unknown",
    }
}

named_enum! {
    /// The risk when a block is lifted.
    pub enum UnblockRisk {
        /// The block may protect from hostile text.
        High = "high",
        /// The block is a statistic or a choice.
        Low = "low",
    }
}

impl DomainBlockReason {
    /// The risk when this block is lifted.
    pub fn unblock_risk(self) -> UnblockRisk {
        match self {
            Self::DangerousPattern | Self::Unknown => UnblockRisk::High,
            Self::HighRejectionRate | Self::Denylist | Self::Manual => UnblockRisk::Low,
        }
    }
}

/// The inputs of verification. Categories of domains are not among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClaimFacts {
    /// Its fragment contains a dangerous pattern.
    pub dangerous: bool,
    /// The domain it was found on is blocked.
    pub domain_blocked: bool,
    /// Distinct works or domains that support it, its own excluded.
    pub supporting_sources: usize,
    /// Passages that refute it.
    pub refuting_count: usize,
}

/// Verifies one claim.
pub fn verify(facts: ClaimFacts) -> (VerificationStatus, VerificationReason) {
    if facts.dangerous {
        (VerificationStatus::Rejected, VerificationReason::DangerousPattern)
    } else if facts.domain_blocked {
        (VerificationStatus::Rejected, VerificationReason::AlreadyBlocked)
    } else if facts.supporting_sources < INDEPENDENT_SUPPORTS {
        (VerificationStatus::Pending, VerificationReason::InsufficientEvidence)
    } else if facts.refuting_count > 0 {
        (VerificationStatus::Pending, VerificationReason::ConflictingEvidence)
    } else {
        (VerificationStatus::Verified, VerificationReason::WellSupported)
    }
}

/// The claims of a domain by status. A claim rejected both by a person and for security is in both counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DomainClaims {
    /// All of them.
    pub total: u64,
    /// Verified ones.
    pub verified: u64,
    /// Rejected for dangerous patterns.
    pub security_rejected: u64,
    /// Taken out by a person.
    pub manual_rejected: u64,
    /// Rejected for either reason, each once.
    pub combined_rejected: u64,
}

impl DomainClaims {
    /// `domain_claim_security_rejection_rate`, in [0, 1].
    pub fn security_rejection_rate(&self) -> f64 {
        self.share(self.security_rejected)
    }

    /// `domain_claim_manual_rejection_rate`, in [0, 1].
    pub fn manual_rejection_rate(&self) -> f64 {
        self.share(self.manual_rejected)
    }

    /// `domain_claim_combined_rejection_rate`, in [0, 1].
    pub fn combined_rejection_rate(&self) -> f64 {
        self.share(self.combined_rejected)
    }

    /// Whether enough of its claims were rejected to block it. Known domains are never blocked: only their claims are
    /// rejected.
    pub fn too_many_rejected(&self, category: DomainCategory) -> bool {
        matches!(category, DomainCategory::Unverified | DomainCategory::Low)
            && self.total >= MIN_CLAIMS
            && self.combined_rejection_rate() > MAX_REJECTION_RATE
    }

    /// The category that its claims earn it: independent confirmation of one of them lifts an unverified domain to low.
    pub fn lifted(&self, category: DomainCategory) -> DomainCategory {
        match category {
            DomainCategory::Unverified if self.verified > 0 => DomainCategory::Low,
            other => other,
        }
    }

    fn share(&self, count: u64) -> f64 {
        if self.total == 0 { 0.0 } else { count as f64 / self.total as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reasons_come_in_their_order() {
        use VerificationReason as R;
        use VerificationStatus as S;
        let facts = |dangerous, domain_blocked, supporting_sources, refuting_count| ClaimFacts {
            dangerous,
            domain_blocked,
            supporting_sources,
            refuting_count,
        };
        for (facts, expected) in [
            (facts(true, true, 9, 0), (S::Rejected, R::DangerousPattern)),
            (facts(false, true, 9, 0), (S::Rejected, R::AlreadyBlocked)),
            (facts(false, false, 0, 0), (S::Pending, R::InsufficientEvidence)),
            (facts(false, false, 1, 5), (S::Pending, R::InsufficientEvidence)),
            (facts(false, false, 2, 1), (S::Pending, R::ConflictingEvidence)),
            (facts(false, false, 2, 0), (S::Verified, R::WellSupported)),
        ] {
            assert_eq!(verify(facts), expected, "{facts:?}");
        }
    }

    #[test]
    fn a_domain_is_blocked_above_three_in_ten_of_at_least_five() {
        let claims =
            |total, combined_rejected| DomainClaims { total, combined_rejected, ..DomainClaims::default() };
        assert!(!claims(4, 4).too_many_rejected(DomainCategory::Unverified));
        assert!(!claims(10, 3).too_many_rejected(DomainCategory::Unverified));
        assert!(claims(10, 4).too_many_rejected(DomainCategory::Unverified));
        assert!(claims(5, 2).too_many_rejected(DomainCategory::Low));
        assert!(!claims(10, 10).too_many_rejected(DomainCategory::Academic));
    }

    #[test]
    fn confirmation_lifts_only_what_nothing_is_known_of() {
        let confirmed = DomainClaims { total: 1, verified: 1, ..DomainClaims::default() };
        assert_eq!(confirmed.lifted(DomainCategory::Unverified), DomainCategory::Low);
        assert_eq!(confirmed.lifted(DomainCategory::Blocked), DomainCategory::Blocked);
        assert_eq!(DomainClaims::default().lifted(DomainCategory::Unverified), DomainCategory::Unverified);
    }

    #[test]
    fn hostile_text_is_what_makes_unblocking_risky() {
        let risky: Vec<_> =
            DomainBlockReason::ALL.iter().filter(|r| r.unblock_risk() == UnblockRisk::High).collect();
        assert_eq!(risky, [&DomainBlockReason::DangerousPattern, &DomainBlockReason::Unknown]);
    }

    proptest! {
        #[test]
        fn the_combined_rate_lies_between_the_larger_and_the_sum(
            security in 0u64..50, manual in 0u64..50, both in 0u64..50, others in 0u64..50,
        ) {
            let claims = DomainClaims {
                total: security + manual + both + others,
                verified: 0,
                security_rejected: security + both,
                manual_rejected: manual + both,
                combined_rejected: security + manual + both,
            };
            let (s, m, c) = (
                claims.security_rejection_rate(),
                claims.manual_rejection_rate(),
                claims.combined_rejection_rate(),
            );
            prop_assert!(c <= 1.0 && c >= s.max(m) && c <= s + m + 1e-12);
        }
    }
}
