-- Runs of a process that somebody wants to end.
SELECT key, lease, cancel_reason
FROM procession_job
WHERE owner = json_extract(?1, '$[0]') AND cancel_reason IS NOT NULL AND state = 1
ORDER BY key
