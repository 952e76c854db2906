-- How the claims found on a domain stand. A claim rejected both by a person and for security counts once in `combined`.
ALTER TABLE domain_states ADD COLUMN claims INTEGER NOT NULL DEFAULT 0;
ALTER TABLE domain_states ADD COLUMN combined_rejected_claims INTEGER NOT NULL DEFAULT 0;
ALTER TABLE domain_states ADD COLUMN domain_claim_security_rejection_rate REAL
    GENERATED ALWAYS AS (iif(claims > 0, 1.0 * security_rejected_claims / claims, 0.0)) VIRTUAL;
ALTER TABLE domain_states ADD COLUMN domain_claim_manual_rejection_rate REAL
    GENERATED ALWAYS AS (iif(claims > 0, 1.0 * manual_rejected_claims / claims, 0.0)) VIRTUAL;
ALTER TABLE domain_states ADD COLUMN domain_claim_combined_rejection_rate REAL
    GENERATED ALWAYS AS (iif(claims > 0, 1.0 * combined_rejected_claims / claims, 0.0)) VIRTUAL;
