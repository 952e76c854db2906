-- Vectors in the order they came, so that a copy of them in memory reads only what is new; and, per model, what tells in
-- one look whether such a copy is still right.

CREATE TABLE embeddings_in_order (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    target_type TEXT NOT NULL CHECK (target_type IN ('fragment', 'claim')),
    target_id TEXT NOT NULL,
    model_id TEXT NOT NULL,
    dimension INTEGER NOT NULL,
    -- Little-endian f32, L2-normalised.
    embedding_blob BLOB NOT NULL,
    UNIQUE (target_type, target_id, model_id)
) STRICT;
INSERT INTO embeddings_in_order (id, target_type, target_id, model_id, dimension, embedding_blob)
SELECT id, target_type, target_id, model_id, dimension, embedding_blob FROM embeddings ORDER BY rowid;
DROP TABLE embeddings;
ALTER TABLE embeddings_in_order RENAME TO embeddings;
CREATE INDEX embeddings_by_model ON embeddings (target_type, model_id, seq);

CREATE TABLE embedding_models (
    target_type TEXT NOT NULL,
    model_id TEXT NOT NULL,
    dimension INTEGER NOT NULL,
    vectors INTEGER NOT NULL,
    -- Of the newest vector that was added.
    last_seq INTEGER NOT NULL,
    -- How often a vector was removed.
    removals INTEGER NOT NULL,
    PRIMARY KEY (target_type, model_id)
) STRICT, WITHOUT ROWID;
INSERT INTO embedding_models (target_type, model_id, dimension, vectors, last_seq, removals)
SELECT target_type, model_id, max(dimension), count(*), max(seq), 0 FROM embeddings GROUP BY target_type, model_id;

CREATE TRIGGER embeddings_counted AFTER INSERT ON embeddings BEGIN
    INSERT INTO embedding_models (target_type, model_id, dimension, vectors, last_seq, removals)
    VALUES (new.target_type, new.model_id, new.dimension, 1, new.seq, 0)
    ON CONFLICT (target_type, model_id) DO UPDATE
    SET dimension = excluded.dimension, vectors = vectors + 1, last_seq = excluded.last_seq;
END;
CREATE TRIGGER embeddings_removed AFTER DELETE ON embeddings BEGIN
    UPDATE embedding_models SET vectors = vectors - 1, removals = removals + 1
    WHERE target_type = old.target_type AND model_id = old.model_id;
END;
CREATE TRIGGER embeddings_fixed BEFORE UPDATE ON embeddings
BEGIN SELECT raise(ABORT, 'a vector is never changed: delete it and insert another'); END;

-- Searches over claims leave out the rejected ones, which are few.
CREATE INDEX claims_not_adopted ON claims (seq) WHERE claim_adoption_status = 'not_adopted';
