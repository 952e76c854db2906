-- What rules found between a claim and the passage judged, and which candidates were not judged at all.

-- JSON arrays of strings: what the claim names and the passage does not, and what both state differently.
ALTER TABLE edges ADD COLUMN missing TEXT NOT NULL DEFAULT '[]';
ALTER TABLE edges ADD COLUMN differs TEXT NOT NULL DEFAULT '[]';

-- A pair is here or in `edges`, never in both.
CREATE TABLE not_judged (
    claim_id TEXT NOT NULL REFERENCES claims (id) ON DELETE CASCADE,
    fragment_id TEXT NOT NULL REFERENCES fragments (id) ON DELETE CASCADE,
    reason TEXT NOT NULL CHECK (reason IN ('language', 'too_long', 'no_text')),
    cause_id TEXT,
    noted_at TEXT NOT NULL,
    PRIMARY KEY (claim_id, fragment_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX not_judged_by_fragment ON not_judged (fragment_id);
