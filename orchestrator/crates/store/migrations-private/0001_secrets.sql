-- What no statement from outside may read: in a file of its own, which the connection behind agents' SQL never opens.

CREATE TABLE access_tokens (
    seq INTEGER PRIMARY KEY,
    -- The public part of the token, by which it is found.
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    scope TEXT NOT NULL CHECK (scope IN ('read', 'full')),
    -- SHA-256 of the whole token, in hexadecimal.
    token_hash TEXT NOT NULL,
    created_at TEXT NOT NULL,
    expires_at TEXT,
    last_used_at TEXT,
    revoked_at TEXT
) STRICT;
-- A name may be given again once its token is revoked.
CREATE UNIQUE INDEX access_tokens_by_name ON access_tokens (name) WHERE revoked_at IS NULL;

CREATE TABLE audit_log (
    seq INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    -- `token:NAME`, `user:NAME` of this machine, `local` for a caller without a token, `server`.
    actor TEXT NOT NULL,
    via TEXT NOT NULL CHECK (via IN ('cli', 'mcp_stdio', 'mcp_http', 'http', 'server')),
    -- A tool, a command, or a method and a path.
    action TEXT NOT NULL,
    arguments TEXT NOT NULL,
    task_id TEXT,
    -- The call; logs carry it too.
    cause_id TEXT NOT NULL,
    outcome TEXT NOT NULL CHECK (outcome IN ('ok', 'error', 'refused', 'cancelled')),
    detail TEXT
) STRICT;
CREATE INDEX audit_log_by_task ON audit_log (task_id, seq) WHERE task_id IS NOT NULL;
CREATE TRIGGER audit_log_keep BEFORE UPDATE ON audit_log
BEGIN SELECT raise(ABORT, 'audit_log is append-only'); END;
CREATE TRIGGER audit_log_stay BEFORE DELETE ON audit_log
BEGIN SELECT raise(ABORT, 'audit_log is append-only'); END;

-- Cookies of a person's login, of the latest visit to each domain.
CREATE TABLE sessions (
    domain TEXT NOT NULL PRIMARY KEY,
    -- The item of `auth_queue` that the visit completed.
    auth_id TEXT NOT NULL,
    session TEXT NOT NULL
) STRICT;

-- Words of passages in quarantine, by the id of their row in `quarantined_fragments`.
CREATE TABLE quarantined_texts (
    id TEXT NOT NULL PRIMARY KEY,
    text_content TEXT NOT NULL,
    heading_context TEXT
) STRICT;

-- What was done to the database beside this file, once.
CREATE TABLE done (
    what TEXT NOT NULL PRIMARY KEY
) STRICT;
