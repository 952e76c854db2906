-- How often the worker of a job died in a row without the job having written anything. Apart from `attempts`, which count
-- failures: being killed is nothing that the job did.
ALTER TABLE jobs ADD COLUMN deaths INTEGER NOT NULL DEFAULT 0;
