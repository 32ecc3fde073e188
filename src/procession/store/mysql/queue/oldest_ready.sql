-- Since when the oldest job of each queue that could be claimed waits.
SELECT queue, MIN(run_at)
FROM procession_job FORCE INDEX (ready)
WHERE queue IN (:a) AND (state = 0 OR (state = 4 AND waits_for IS NULL AND run_at <= :b))
GROUP BY queue
