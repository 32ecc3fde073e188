-- Runs of a process that somebody wants to end.
SELECT `key`, lease, cancel_reason
FROM procession_job FORCE INDEX (ready)
WHERE state = 1 AND owner = :a AND cancel_reason IS NOT NULL
ORDER BY `key`
