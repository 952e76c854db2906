-- Any source may state a citation. Which sources there are is no part of the schema.

-- It reads the column; opening the database creates it again.
DROP VIEW IF EXISTS v_citation_flow;
ALTER TABLE edges ADD COLUMN stated_by TEXT;
UPDATE edges SET stated_by = citation_source WHERE citation_source IS NOT NULL;
ALTER TABLE edges DROP COLUMN citation_source;
ALTER TABLE edges RENAME COLUMN stated_by TO citation_source;
