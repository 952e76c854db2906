-- The work of each passage stands on its edge, so that the numbers of ten thousand claims are read from one index,
-- without fragments and pages. `coalesce(work, page)` is what the confidence counts once.

ALTER TABLE edges ADD COLUMN work_key TEXT;
UPDATE edges
SET work_key = (
    SELECT coalesce(nullif(pages.work_id, ''), pages.id)
    FROM fragments JOIN pages ON pages.id = fragments.page_id
    WHERE fragments.id = edges.source_id)
WHERE source_type = 'fragment';

CREATE INDEX edges_numbers ON edges (target_id, work_key, relation, nli_confidence)
    WHERE relation IN ('supports', 'refutes', 'neutral');

CREATE TRIGGER edges_find_work AFTER INSERT ON edges WHEN new.source_type = 'fragment' BEGIN
    UPDATE edges
    SET work_key = (
        SELECT coalesce(nullif(pages.work_id, ''), pages.id)
        FROM fragments JOIN pages ON pages.id = fragments.page_id
        WHERE fragments.id = new.source_id)
    WHERE seq = new.seq;
END;
-- A page may get its work later.
CREATE TRIGGER pages_change_work AFTER UPDATE OF work_id ON pages WHEN new.work_id IS NOT old.work_id BEGIN
    UPDATE edges SET work_key = coalesce(nullif(new.work_id, ''), new.id)
    WHERE source_id IN (SELECT id FROM fragments WHERE page_id = new.id);
END;
