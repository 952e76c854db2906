-- Which calibration is in force, when that changed, what the model said before it was applied; the timeline of claims.

-- The model's own probabilities, where a calibration changed them; else `nli_scores` are the model's own.
ALTER TABLE edges ADD COLUMN nli_raw_scores TEXT;
-- Version of the calibration that made `nli_scores`; null for the model's own.
ALTER TABLE edges ADD COLUMN calibration_version INTEGER;

-- Version 0 stands for the model's own probabilities.
CREATE TABLE calibration_activations (
    seq INTEGER PRIMARY KEY,
    source TEXT NOT NULL,
    action TEXT NOT NULL CHECK (action IN ('activate', 'rollback')),
    version INTEGER NOT NULL,
    previous_version INTEGER NOT NULL,
    reason TEXT,
    at TEXT NOT NULL
) STRICT;
CREATE INDEX calibration_activations_by_source ON calibration_activations (source, seq);
CREATE TRIGGER calibration_activations_keep BEFORE UPDATE ON calibration_activations
BEGIN SELECT raise(ABORT, 'calibration_activations is append-only'); END;
CREATE TRIGGER calibration_activations_stay BEFORE DELETE ON calibration_activations
BEGIN SELECT raise(ABORT, 'calibration_activations is append-only'); END;

-- At most one version of a source is in force.
CREATE UNIQUE INDEX calibration_parameters_active ON calibration_parameters (source) WHERE is_active = 1;

-- Retracted works are few, and looked for whenever pages or judgements are stored.
CREATE INDEX works_retracted ON works (id) WHERE is_retracted = 1;
-- The timeline of a claim begins with its creation.
INSERT INTO claim_events (claim_id, event, cause_id, at)
SELECT id, 'claim_created', cause_id, created_at FROM claims ORDER BY seq;
