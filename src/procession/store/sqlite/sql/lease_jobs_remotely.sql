-- For workers that are no nodes: scheduled (2) for the end of the lease, owned by nobody that could die (-1).
UPDATE procession_job
SET state = 2, owner = -1, run_at = :until, lease = lease + 1, attempt = attempt + 1
WHERE key IN (SELECT value FROM json_each(:keys))
