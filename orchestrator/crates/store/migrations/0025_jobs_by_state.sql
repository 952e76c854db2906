-- SQLite takes a partial index only where a query repeats its condition in the same words, which those about open jobs do
-- not: they read all jobs. This index serves every query for a state, in the order in which jobs are taken.

DROP INDEX jobs_open;
CREATE INDEX jobs_by_state ON jobs (state, priority, seq);
