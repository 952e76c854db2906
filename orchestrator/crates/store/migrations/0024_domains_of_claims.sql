-- The domain of the page that a claim was found on stands on the claim, so that a domain's claims are counted from one
-- index, without fragments and pages: a domain may have most of them.

ALTER TABLE claims ADD COLUMN source_domain TEXT;
UPDATE claims
SET source_domain = (
    SELECT pages.domain FROM fragments JOIN pages ON pages.id = fragments.page_id
    WHERE fragments.id = claims.source_fragment_id)
WHERE source_fragment_id IS NOT NULL;

CREATE INDEX claims_by_domain ON claims (
    source_domain, source_verification_status, claim_adoption_status, verification_reason, claim_rejection_reason
) WHERE source_domain IS NOT NULL;

CREATE TRIGGER claims_find_domain AFTER INSERT ON claims WHEN new.source_fragment_id IS NOT NULL BEGIN
    UPDATE claims
    SET source_domain = (
        SELECT pages.domain FROM fragments JOIN pages ON pages.id = fragments.page_id
        WHERE fragments.id = new.source_fragment_id)
    WHERE seq = new.seq;
END;
-- A page that redirects elsewhere changes its domain when it is fetched.
CREATE TRIGGER pages_change_domain AFTER UPDATE OF domain ON pages WHEN new.domain IS NOT old.domain BEGIN
    UPDATE claims SET source_domain = new.domain
    WHERE source_fragment_id IN (SELECT id FROM fragments WHERE page_id = new.id);
END;
