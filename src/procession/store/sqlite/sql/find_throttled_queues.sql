-- The queues that have limited jobs whose start is due.
SELECT DISTINCT queue
FROM procession_job
WHERE state = 4 AND waits_for IS NULL AND run_at <= :now
ORDER BY queue
