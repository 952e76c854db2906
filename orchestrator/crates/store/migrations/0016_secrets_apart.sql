-- Secrets are in `private.db` from here on; what is dropped here was copied there before.

CREATE TABLE auth_queue_without_sessions (
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
    expires_at TEXT
) STRICT;
INSERT INTO auth_queue_without_sessions
SELECT id, task_id, job_id, url, domain, auth_type, priority, status, created_at, expires_at FROM auth_queue ORDER BY rowid;
DROP TABLE auth_queue;
ALTER TABLE auth_queue_without_sessions RENAME TO auth_queue;
CREATE INDEX auth_queue_by_task ON auth_queue (task_id, status);
CREATE INDEX auth_queue_by_job ON auth_queue (job_id) WHERE job_id IS NOT NULL;

CREATE TABLE quarantined_without_texts (
    seq INTEGER PRIMARY KEY,
    -- The id that it has, or would have, among the fragments; its words are in `private.db`.
    id TEXT NOT NULL UNIQUE,
    page_id TEXT NOT NULL REFERENCES pages (id),
    fragment_type TEXT NOT NULL
        CHECK (fragment_type IN ('abstract', 'paragraph', 'heading', 'list', 'table', 'quote')),
    position INTEGER NOT NULL,
    char_start INTEGER NOT NULL,
    char_end INTEGER NOT NULL,
    text_hash TEXT NOT NULL,
    -- Rule of the dangerous patterns that it broke.
    rule_id TEXT NOT NULL,
    severity TEXT NOT NULL CHECK (severity IN ('medium', 'high')),
    cause_id TEXT,
    quarantined_at TEXT NOT NULL,
    UNIQUE (page_id, text_hash)
) STRICT;
INSERT INTO quarantined_without_texts
SELECT seq, id, page_id, fragment_type, position, char_start, char_end, text_hash, rule_id, severity, cause_id, quarantined_at
FROM quarantined_fragments ORDER BY seq;
DROP TABLE quarantined_fragments;
ALTER TABLE quarantined_without_texts RENAME TO quarantined_fragments;

DROP TABLE access_tokens;
DROP TABLE audit_log;
-- Nothing was ever kept in it.
DROP TABLE http_cache;
