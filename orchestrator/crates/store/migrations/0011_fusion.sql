-- Runs of lanes and of their fusion, and texts of documents that came from outside.

CREATE TABLE fusion_runs (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL CHECK (kind IN ('fulltext', 'semantic', 'original_dense', 'fusion')),
    -- SHA-256 of everything that shapes the run. A run is served again for the same identity until it expires.
    identity TEXT NOT NULL,
    -- What the lane is called; null for fusion runs.
    lane TEXT,
    corpus TEXT NOT NULL,
    backend TEXT NOT NULL,
    -- What was asked for, as JSON.
    recipe TEXT NOT NULL,
    -- Ranked ids, raw scores and codes, as JSON.
    docs TEXT NOT NULL,
    -- Counts and time of the search, as JSON.
    meta TEXT NOT NULL,
    -- The fusion run that this one was changed from.
    changed_from TEXT,
    -- What was measured of a fusion run, as JSON.
    assessment TEXT,
    -- Documents that a person judged, as JSON; written once.
    representatives TEXT,
    created_at TEXT NOT NULL,
    expires_at TEXT NOT NULL
) STRICT;
CREATE INDEX fusion_runs_by_identity ON fusion_runs (identity, expires_at);

-- The runs that a fusion run fuses.
CREATE TABLE fusion_parents (
    run_id TEXT NOT NULL REFERENCES fusion_runs (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    -- What the parent is called in this fusion.
    lane TEXT NOT NULL,
    parent_id TEXT NOT NULL REFERENCES fusion_runs (id),
    PRIMARY KEY (run_id, position)
) STRICT;
CREATE INDEX fusion_parents_by_parent ON fusion_parents (parent_id);

-- Publications as a backend outside gave them. Errors are never in here.
CREATE TABLE fusion_texts (
    backend TEXT NOT NULL,
    corpus TEXT NOT NULL,
    -- Which number `id` is.
    id_type TEXT NOT NULL,
    id TEXT NOT NULL,
    publication TEXT NOT NULL,
    fetched_at TEXT NOT NULL,
    PRIMARY KEY (backend, corpus, id_type, id)
) STRICT, WITHOUT ROWID;
