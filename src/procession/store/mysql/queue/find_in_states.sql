-- The keys of jobs in these states, by the index of each state: at most so many. READY ones of one queue,
-- if it is named, and RUNNING ones of one process.
SELECT `key`
FROM procession_job FORCE INDEX (ready)
WHERE state IN (:states) AND (:queue = '' OR queue = :queue) AND (state <> 1 OR :owner IN (0, owner))
LIMIT :most
