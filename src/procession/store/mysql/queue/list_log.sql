-- The lines of a log, in order.
SELECT job, number, at, level, text
FROM procession_job_log
WHERE job = :a AND number > :b
ORDER BY number
LIMIT :c
