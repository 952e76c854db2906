-- Passages that address the AI that reads them. They are kept here and nowhere else, so that nothing that reads
-- fragments (ranking, vectors, full text, views, exports) can come upon them.

CREATE TABLE quarantined_fragments (
    seq INTEGER PRIMARY KEY,
    -- The id that it has, or would have, among the fragments.
    id TEXT NOT NULL UNIQUE,
    page_id TEXT NOT NULL REFERENCES pages (id),
    fragment_type TEXT NOT NULL
        CHECK (fragment_type IN ('abstract', 'paragraph', 'heading', 'list', 'table', 'quote')),
    position INTEGER NOT NULL,
    -- For people only: closed to queries.
    text_content TEXT NOT NULL,
    heading_context TEXT,
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
