-- What a language model was asked for a task, and what came of it. A step that is done again after a crash takes the same
-- answer, and the time spent on asking outlives the process.

CREATE TABLE llm_questions (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    task_id TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    -- The job that asked last.
    job_id TEXT NOT NULL,
    purpose TEXT NOT NULL CHECK (purpose IN ('extract_claims', 'relevance', 'citation')),
    -- What was asked about: a fragment's id, a work's id, an address.
    subject TEXT NOT NULL,
    model TEXT NOT NULL,
    -- The accepted answer as JSON, or null and why rules took its place.
    answer TEXT,
    fallback_reason TEXT,
    calls INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    seconds REAL NOT NULL,
    asked_at TEXT NOT NULL,
    CHECK ((answer IS NULL) <> (fallback_reason IS NULL))
) STRICT;
CREATE INDEX llm_questions_by_task ON llm_questions (task_id, purpose);
