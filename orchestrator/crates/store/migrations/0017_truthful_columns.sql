-- Columns say what they hold. `llm_claim_confidence` held what the extractor said about a claim, which is a language
-- model's number or, without one, the rules' check-worthiness.

ALTER TABLE claims ADD COLUMN extracted_by TEXT CHECK (extracted_by IN ('language_model', 'rules'));
ALTER TABLE claims ADD COLUMN extraction_score REAL;
-- A language model's number is in its answer about the passage; every other one is the rules'.
UPDATE claims
SET extraction_score = llm_claim_confidence,
    extracted_by = iif(
        EXISTS (
            SELECT 1
            FROM llm_questions, json_each(iif(json_valid(answer), answer, '{}'), '$.claims') AS stated
            WHERE llm_questions.task_id = claims.task_id AND llm_questions.purpose = 'extract_claims'
              AND llm_questions.subject = claims.source_fragment_id
              AND CASE stated.type WHEN 'object' THEN stated.value ->> 'confidence' END = claims.llm_claim_confidence
        ),
        'language_model', 'rules')
WHERE llm_claim_confidence IS NOT NULL;

ALTER TABLE claims DROP COLUMN llm_claim_confidence;
-- Nothing ever wrote these.
ALTER TABLE claims DROP COLUMN claim_confidence;
ALTER TABLE queries DROP COLUMN satisfaction_score;
ALTER TABLE queries DROP COLUMN has_primary_source;
-- These never held anything but their default.
ALTER TABLE domain_override_rules DROP COLUMN created_by;
ALTER TABLE domain_override_events DROP COLUMN created_by;
