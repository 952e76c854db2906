-- What each lane of the search (full text, meaning, sources) adds to a fragment's score: shares by name, as JSON.
ALTER TABLE query_fragments ADD COLUMN contributions TEXT;
