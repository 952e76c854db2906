-- What feedback, verification, calibration, logins and the outside world's answers need.

CREATE TABLE auth_queue (
    id TEXT NOT NULL PRIMARY KEY,
    task_id TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    job_id TEXT REFERENCES jobs (id) ON DELETE CASCADE,
    url TEXT NOT NULL,
    domain TEXT NOT NULL,
    auth_type TEXT NOT NULL,
    priority INTEGER NOT NULL,
    status TEXT NOT NULL
        CHECK (status IN ('pending', 'in_progress', 'completed', 'skipped', 'expired', 'cancelled')),
    created_at TEXT NOT NULL,
    expires_at TEXT,
    -- Cookies of a person's login: secret.
    session TEXT
) STRICT;
CREATE INDEX auth_queue_by_task ON auth_queue (task_id, status);

CREATE TABLE domain_override_rules (
    id TEXT NOT NULL PRIMARY KEY,
    domain_pattern TEXT NOT NULL,
    decision TEXT NOT NULL CHECK (decision IN ('block', 'unblock')),
    reason TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    is_active INTEGER NOT NULL DEFAULT 1,
    created_by TEXT NOT NULL DEFAULT 'feedback'
) STRICT;
CREATE INDEX domain_override_rules_active ON domain_override_rules (is_active, decision, updated_at);

CREATE TABLE domain_override_events (
    id TEXT NOT NULL PRIMARY KEY,
    rule_id TEXT,
    action TEXT NOT NULL CHECK (action IN ('domain_block', 'domain_unblock', 'domain_clear_override')),
    domain_pattern TEXT NOT NULL,
    decision TEXT NOT NULL CHECK (decision IN ('block', 'unblock', 'clear')),
    reason TEXT,
    created_at TEXT NOT NULL,
    created_by TEXT NOT NULL DEFAULT 'feedback'
) STRICT;
CREATE INDEX domain_override_events_by_time ON domain_override_events (created_at);
CREATE TRIGGER domain_override_events_keep BEFORE UPDATE ON domain_override_events
BEGIN SELECT raise(ABORT, 'domain_override_events is append-only'); END;
CREATE TRIGGER domain_override_events_stay BEFORE DELETE ON domain_override_events
BEGIN SELECT raise(ABORT, 'domain_override_events is append-only'); END;

CREATE TABLE domain_states (
    domain TEXT NOT NULL PRIMARY KEY,
    category TEXT NOT NULL,
    verified_claims INTEGER NOT NULL DEFAULT 0,
    pending_claims INTEGER NOT NULL DEFAULT 0,
    security_rejected_claims INTEGER NOT NULL DEFAULT 0,
    manual_rejected_claims INTEGER NOT NULL DEFAULT 0,
    blocked_at TEXT,
    domain_block_reason TEXT CHECK (
        domain_block_reason IN ('dangerous_pattern', 'high_rejection_rate', 'denylist', 'manual', 'unknown')
    ),
    reason TEXT,
    cause_id TEXT
) STRICT;

CREATE TABLE nli_corrections (
    id TEXT NOT NULL PRIMARY KEY,
    edge_id TEXT NOT NULL REFERENCES edges (id),
    task_id TEXT,
    premise TEXT NOT NULL,
    hypothesis TEXT NOT NULL,
    predicted_label TEXT NOT NULL,
    predicted_confidence REAL NOT NULL,
    correct_label TEXT NOT NULL,
    reason TEXT,
    corrected_at TEXT NOT NULL
) STRICT;
CREATE INDEX nli_corrections_by_edge ON nli_corrections (edge_id);

CREATE TABLE calibration_parameters (
    source TEXT NOT NULL,
    version INTEGER NOT NULL,
    method TEXT NOT NULL CHECK (method IN ('temperature', 'platt')),
    parameters TEXT NOT NULL,
    is_active INTEGER NOT NULL DEFAULT 0,
    samples INTEGER NOT NULL,
    reason TEXT,
    created_at TEXT NOT NULL,
    PRIMARY KEY (source, version)
) STRICT;

CREATE TABLE calibration_evaluations (
    id TEXT NOT NULL PRIMARY KEY,
    source TEXT NOT NULL,
    version INTEGER,
    brier REAL NOT NULL,
    ece REAL NOT NULL,
    bins TEXT NOT NULL,
    samples INTEGER NOT NULL,
    evaluated_at TEXT NOT NULL
) STRICT;
CREATE INDEX calibration_evaluations_by_source ON calibration_evaluations (source, evaluated_at);

CREATE TABLE claim_events (
    seq INTEGER PRIMARY KEY,
    claim_id TEXT NOT NULL REFERENCES claims (id) ON DELETE CASCADE,
    event TEXT NOT NULL,
    detail TEXT,
    cause_id TEXT,
    at TEXT NOT NULL
) STRICT;
CREATE INDEX claim_events_by_claim ON claim_events (claim_id, seq);

CREATE TABLE http_cache (
    key TEXT NOT NULL PRIMARY KEY,
    url TEXT NOT NULL,
    status INTEGER NOT NULL,
    headers TEXT NOT NULL,
    body BLOB NOT NULL,
    etag TEXT,
    stored_at TEXT NOT NULL,
    expires_at TEXT
) STRICT;
CREATE INDEX http_cache_by_expiry ON http_cache (expires_at);

CREATE TABLE rate_state (
    provider TEXT NOT NULL PRIMARY KEY,
    state TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;

-- What "now" means to the analysis views; without a row it is the present.
CREATE TABLE view_clock (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    now TEXT NOT NULL
) STRICT;
