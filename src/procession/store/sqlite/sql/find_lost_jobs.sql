-- Without the hint SQLite walks the whole table, because that order needs no sorting.
SELECT key, queue, crashes + 1
FROM procession_job INDEXED BY procession_job_running
WHERE state = 1 AND traits IS NULL AND owner NOT IN (SELECT node FROM procession_node)
ORDER BY key
LIMIT :limit
