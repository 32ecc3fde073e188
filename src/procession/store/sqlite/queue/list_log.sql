-- The lines of a log, in order.
SELECT job, number, at, level, text
FROM procession_job_log
WHERE job = json_extract(?1, '$[0]') AND number > ?2
ORDER BY number
LIMIT ?3
