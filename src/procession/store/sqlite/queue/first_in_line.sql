-- The place of the first ready job of a queue and priority.
SELECT run_at
FROM procession_job
WHERE state = 0 AND queue = json_extract(?1, '$[0]') AND priority = ?2
ORDER BY run_at
LIMIT 1
