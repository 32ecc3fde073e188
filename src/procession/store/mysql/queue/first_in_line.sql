-- The place of the first ready job of a queue and priority.
SELECT run_at
FROM procession_job FORCE INDEX (ready)
WHERE state = 0 AND queue = :a AND negative_priority = 0 - :b
ORDER BY run_at
LIMIT 1
