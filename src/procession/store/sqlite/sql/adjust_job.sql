-- Change a job where it is: -1 and NULL leave things as they are. Answers with its key where it applies. The priority of one
-- that ages (64) is its place in line: it stays.
UPDATE procession_job
SET
    run_at = CASE WHEN :lease_ms >= 0 THEN :now + :lease_ms ELSE run_at END,
    retries = CASE WHEN :retries >= 0 THEN :retries ELSE retries END,
    priority = coalesce(:priority, priority)
WHERE
    key = :key
    AND (:lease = 0 OR (lease = :lease AND (state = 1 OR (state = 2 AND owner = -1))))
    AND (:lease_ms < 0 OR (state = 2 AND owner = -1))
    AND (:priority IS NULL OR coalesce(traits, 0) & 64 = 0)
RETURNING key
