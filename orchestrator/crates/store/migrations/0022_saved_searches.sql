-- Lane searches that a person runs again to see what is new.

CREATE TABLE saved_searches (
    name TEXT PRIMARY KEY,
    corpus TEXT NOT NULL,
    -- The search, as JSON.
    recipe TEXT NOT NULL,
    -- Ids of all documents that it has returned, as a JSON list.
    seen TEXT NOT NULL,
    created_at TEXT NOT NULL,
    last_run_at TEXT NOT NULL,
    last_run_id TEXT NOT NULL,
    -- Those of them that the last run was the first to return, by rank.
    last_new TEXT NOT NULL
) STRICT, WITHOUT ROWID;
