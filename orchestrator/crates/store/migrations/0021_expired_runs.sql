-- Runs that expired are found without reading all runs with their documents.
CREATE INDEX fusion_runs_by_expiry ON fusion_runs (expires_at);
