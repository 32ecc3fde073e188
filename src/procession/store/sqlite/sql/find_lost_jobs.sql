-- Without the hint SQLite walks the whole table, because that order needs no sorting.
SELECT key, queue, crashes + 1
FROM job INDEXED BY job_running
WHERE state = 1 AND owner NOT IN (SELECT node FROM node)
ORDER BY key
LIMIT :limit
