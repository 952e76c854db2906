-- Tasks, what they searched, what they found and what it says.
-- `seq` columns give the order of insertion; identifiers are text with a prefix.

CREATE TABLE tasks (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    query TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('created', 'exploring', 'paused', 'completed', 'failed', 'cancelled')),
    config TEXT NOT NULL,
    budget_pages INTEGER NOT NULL,
    budget_seconds INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    started_at TEXT,
    completed_at TEXT,
    updated_at TEXT NOT NULL,
    stop_reason TEXT,
    error TEXT
) STRICT;

CREATE TABLE task_warnings (
    seq INTEGER PRIMARY KEY,
    task_id TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    warning TEXT NOT NULL,
    created_at TEXT NOT NULL,
    UNIQUE (task_id, warning)
) STRICT;

CREATE TABLE works (
    id TEXT NOT NULL PRIMARY KEY,
    title TEXT NOT NULL,
    year INTEGER,
    published_date TEXT,
    venue TEXT,
    doi TEXT,
    pmid TEXT,
    pmcid TEXT,
    arxiv_id TEXT,
    s2_id TEXT,
    openalex_id TEXT,
    citation_count INTEGER,
    reference_count INTEGER,
    reference_ids TEXT NOT NULL DEFAULT '[]',
    is_retracted INTEGER,
    oa_url TEXT,
    source_api TEXT NOT NULL,
    authors TEXT NOT NULL DEFAULT '[]'
) STRICT;
CREATE INDEX works_by_doi ON works (doi) WHERE doi IS NOT NULL;

CREATE TABLE pages (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    url TEXT NOT NULL UNIQUE,
    final_url TEXT,
    domain TEXT NOT NULL,
    domain_category TEXT NOT NULL DEFAULT 'unverified',
    title TEXT NOT NULL DEFAULT '',
    work_id TEXT REFERENCES works (id),
    language TEXT,
    fetch_method TEXT NOT NULL CHECK (fetch_method IN ('http', 'browser', 'academic_api', 'corpus')),
    http_status INTEGER,
    content_hash TEXT,
    fetched_at TEXT NOT NULL,
    paper_metadata TEXT,
    -- Year of publication; metadata that is no JSON, or has no whole number there, gives null.
    year INTEGER GENERATED ALWAYS AS (
        CASE WHEN json_valid(paper_metadata) AND json_type(paper_metadata, '$.year') = 'integer'
              AND json_extract(paper_metadata, '$.year') BETWEEN -9999 AND 9999
             THEN json_extract(paper_metadata, '$.year') END
    ) VIRTUAL,
    error TEXT,
    cause_id TEXT
) STRICT;
CREATE INDEX pages_by_work ON pages (work_id) WHERE work_id IS NOT NULL;
CREATE INDEX pages_by_domain ON pages (domain);

CREATE TABLE task_pages (
    seq INTEGER PRIMARY KEY,
    task_id TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    page_id TEXT NOT NULL REFERENCES pages (id),
    reason TEXT NOT NULL CHECK (reason IN ('serp', 'academic_api', 'citation', 'corpus', 'manual')),
    depth INTEGER NOT NULL DEFAULT 0,
    source_page_id TEXT REFERENCES pages (id),
    UNIQUE (task_id, page_id)
) STRICT;
CREATE INDEX task_pages_by_page ON task_pages (page_id);

CREATE TABLE fragments (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    page_id TEXT NOT NULL REFERENCES pages (id),
    fragment_type TEXT NOT NULL
        CHECK (fragment_type IN ('abstract', 'paragraph', 'heading', 'list', 'table', 'quote')),
    position INTEGER NOT NULL,
    text_content TEXT NOT NULL,
    heading_context TEXT,
    char_start INTEGER NOT NULL,
    char_end INTEGER NOT NULL,
    text_hash TEXT NOT NULL,
    -- Latest ranking; `query_fragments` has the ranking of every query.
    bm25_score REAL,
    embed_score REAL,
    is_relevant INTEGER,
    UNIQUE (page_id, text_hash)
) STRICT;

CREATE TABLE claims (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    task_id TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    claim_text TEXT NOT NULL,
    claim_type TEXT NOT NULL,
    language TEXT,
    -- None for a claim that the user gave.
    source_fragment_id TEXT REFERENCES fragments (id),
    llm_claim_confidence REAL,
    -- A cache for sorting; the confidence itself is computed from the edges.
    claim_confidence REAL,
    claim_adoption_status TEXT NOT NULL DEFAULT 'adopted' CHECK (claim_adoption_status IN ('adopted', 'not_adopted')),
    claim_rejection_reason TEXT,
    claim_rejected_at TEXT,
    source_verification_status TEXT NOT NULL DEFAULT 'pending'
        CHECK (source_verification_status IN ('pending', 'verified', 'rejected')),
    verification_reason TEXT,
    cause_id TEXT,
    created_at TEXT NOT NULL
) STRICT;
CREATE INDEX claims_by_task ON claims (task_id, seq);
CREATE INDEX claims_by_fragment ON claims (source_fragment_id) WHERE source_fragment_id IS NOT NULL;

CREATE TABLE queries (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    task_id TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    query_text TEXT NOT NULL,
    -- The claim given by the user whose words this searches.
    claim_id TEXT REFERENCES claims (id),
    language TEXT,
    status TEXT NOT NULL
        CHECK (status IN ('queued', 'running', 'satisfied', 'partial', 'exhausted', 'failed', 'cancelled')),
    -- Sources to ask; empty means every source.
    engines TEXT NOT NULL DEFAULT '[]',
    result_count INTEGER NOT NULL DEFAULT 0,
    pages_fetched INTEGER NOT NULL DEFAULT 0,
    useful_fragments INTEGER NOT NULL DEFAULT 0,
    harvest_rate REAL NOT NULL DEFAULT 0,
    satisfaction_score REAL,
    has_primary_source INTEGER,
    source_errors TEXT NOT NULL DEFAULT '[]',
    cause_id TEXT,
    created_at TEXT NOT NULL
) STRICT;
CREATE INDEX queries_by_task ON queries (task_id, seq);

CREATE TABLE serp_items (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    query_id TEXT NOT NULL REFERENCES queries (id) ON DELETE CASCADE,
    source TEXT NOT NULL,
    rank INTEGER NOT NULL,
    url TEXT NOT NULL,
    title TEXT NOT NULL,
    snippet TEXT,
    doi TEXT,
    page_id TEXT REFERENCES pages (id),
    UNIQUE (query_id, source, url)
) STRICT;
CREATE INDEX serp_items_by_page ON serp_items (page_id) WHERE page_id IS NOT NULL;

CREATE TABLE query_fragments (
    query_id TEXT NOT NULL REFERENCES queries (id) ON DELETE CASCADE,
    fragment_id TEXT NOT NULL REFERENCES fragments (id),
    bm25_score REAL NOT NULL,
    embed_score REAL,
    score REAL NOT NULL,
    rank INTEGER NOT NULL,
    is_relevant INTEGER NOT NULL,
    PRIMARY KEY (query_id, fragment_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX query_fragments_by_fragment ON query_fragments (fragment_id);

CREATE TABLE edges (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    source_type TEXT NOT NULL CHECK (source_type IN ('fragment', 'claim', 'page')),
    source_id TEXT NOT NULL,
    target_type TEXT NOT NULL CHECK (target_type IN ('claim', 'page')),
    target_id TEXT NOT NULL,
    relation TEXT NOT NULL CHECK (relation IN ('origin', 'supports', 'refutes', 'neutral', 'cites')),
    nli_label TEXT,
    nli_confidence REAL,
    nli_scores TEXT,
    nli_model TEXT,
    -- The sentences of the fragment that were judged.
    premise TEXT,
    citation_source TEXT CHECK (citation_source IN ('semantic_scholar', 'openalex', 'extraction')),
    citation_context TEXT,
    source_domain_category TEXT,
    target_domain_category TEXT,
    edge_human_corrected INTEGER NOT NULL DEFAULT 0,
    edge_correction_reason TEXT,
    edge_corrected_at TEXT,
    cause_id TEXT,
    created_at TEXT NOT NULL
) STRICT;
-- A pair is judged once; other relations exist once per pair.
CREATE UNIQUE INDEX edges_judged_once ON edges (source_id, target_id)
    WHERE relation IN ('supports', 'refutes', 'neutral');
CREATE UNIQUE INDEX edges_once ON edges (source_id, target_id, relation);
CREATE INDEX edges_by_target ON edges (target_id, relation);

CREATE TABLE embeddings (
    id TEXT NOT NULL PRIMARY KEY,
    target_type TEXT NOT NULL CHECK (target_type IN ('fragment', 'claim')),
    target_id TEXT NOT NULL,
    model_id TEXT NOT NULL,
    dimension INTEGER NOT NULL,
    -- Little-endian f32, L2-normalised.
    embedding_blob BLOB NOT NULL,
    UNIQUE (target_type, target_id, model_id)
) STRICT;

CREATE TABLE jobs (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    task_id TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    -- Smaller goes first.
    priority INTEGER NOT NULL,
    state TEXT NOT NULL
        CHECK (state IN ('queued', 'running', 'completed', 'failed', 'cancelled', 'awaiting_auth')),
    input TEXT NOT NULL,
    query_id TEXT REFERENCES queries (id) ON DELETE CASCADE,
    output TEXT,
    attempts INTEGER NOT NULL DEFAULT 0,
    -- Not taken before this moment.
    run_after TEXT,
    -- The process that holds the lease.
    owner TEXT,
    lease_until TEXT,
    leased_at TEXT,
    heartbeat_at TEXT,
    -- Seconds of work in leases that ended.
    seconds REAL NOT NULL DEFAULT 0,
    error TEXT,
    queued_at TEXT NOT NULL,
    started_at TEXT,
    finished_at TEXT,
    cause_id TEXT
) STRICT;
CREATE INDEX jobs_open ON jobs (priority, seq) WHERE state IN ('queued', 'running');
CREATE INDEX jobs_by_task ON jobs (task_id, state);
