-- The keys of jobs in these states, by the index of each state: at most so many. READY ones of one queue, if it is named.
SELECT `key`
FROM procession_job FORCE INDEX (ready)
WHERE state IN (:states) AND (:queue = '' OR queue = :queue)
LIMIT :most
