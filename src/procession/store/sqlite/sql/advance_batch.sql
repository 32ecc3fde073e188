UPDATE procession_batch
SET
    emitted = emitted + :count,
    cursor = :to,
    jobs = :jobs,
    state = CASE WHEN :ended THEN 1 ELSE state END,
    ended_at = CASE WHEN :ended THEN :now ELSE ended_at END
WHERE key = :key AND state = 0 AND cursor = :cursor
