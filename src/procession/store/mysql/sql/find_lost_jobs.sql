-- Candidates only: what is found is looked at again under its lock.
SELECT `key`
FROM procession_job FORCE INDEX (ready)
WHERE state = 1 AND traits IS NULL AND owner NOT IN (SELECT node FROM procession_node WHERE beat_at > @now - :dead_after_ms)
ORDER BY `key`
LIMIT :limit
