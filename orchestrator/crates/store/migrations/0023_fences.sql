-- Counts the leases of a job. A write on behalf of an earlier lease is refused.
ALTER TABLE jobs ADD COLUMN fence INTEGER NOT NULL DEFAULT 0;
