-- What people decided about the documents of a task. Rows are only added: of a document, the latest decision counts that
-- was not taken back.

CREATE TABLE screening_decisions (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    task_id TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    page_id TEXT NOT NULL REFERENCES pages (id),
    verdict TEXT CHECK (verdict IN ('include', 'exclude', 'undecided')),
    -- In the words of the task; suggested ones are English.
    reason TEXT,
    -- The text that was there to be read.
    basis TEXT NOT NULL CHECK (basis IN ('title', 'abstract', 'full_text')),
    -- The decision that this row takes back; such a row has no verdict.
    undoes TEXT UNIQUE REFERENCES screening_decisions (id) ON DELETE CASCADE,
    decided_by TEXT NOT NULL,
    decided_at TEXT NOT NULL,
    CHECK ((verdict IS NULL) = (undoes IS NOT NULL)),
    CHECK (reason IS NULL OR verdict IS NOT NULL)
) STRICT;
CREATE INDEX screening_decisions_by_task ON screening_decisions (task_id, page_id, seq);
CREATE INDEX screening_decisions_by_page ON screening_decisions (page_id);

CREATE TRIGGER screening_decisions_keep BEFORE UPDATE ON screening_decisions
BEGIN SELECT raise(ABORT, 'screening_decisions is append-only'); END;
-- They go with their task alone.
CREATE TRIGGER screening_decisions_stay BEFORE DELETE ON screening_decisions
WHEN EXISTS (SELECT 1 FROM tasks WHERE id = old.task_id)
BEGIN SELECT raise(ABORT, 'screening_decisions is append-only'); END;
