-- The job that asked for a submission is done, if it is held under this lease.
DELETE FROM procession_job
WHERE key IN (SELECT value FROM json_each(?1)) AND lease = ?2 AND state = 1
RETURNING key
