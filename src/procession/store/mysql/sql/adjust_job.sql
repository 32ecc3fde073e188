-- Change a job where it is: -1 and NULL leave things as they are. The priority of one that ages (64) is its place in line.
UPDATE procession_job
SET
    run_at = IF(:lease_ms >= 0, @now + :lease_ms, run_at),
    due_at = IF(:lease_ms >= 0, @now + :lease_ms, due_at),
    retries = IF(:retries >= 0, :retries, retries),
    negative_priority = COALESCE(0 - :priority, negative_priority)
WHERE `key` = :key
    AND (:lease = 0 OR (lease = :lease AND (state = 1 OR (state = 2 AND owner = -1))))
    AND (:lease_ms < 0 OR (state = 2 AND owner = -1))
    AND (:priority IS NULL OR COALESCE(traits, 0) & 64 = 0)
