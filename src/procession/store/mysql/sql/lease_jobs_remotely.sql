-- For workers that are no nodes: scheduled (2) for the end of the lease, owned by nobody that could die (-1).
UPDATE procession_job
SET state = 2, owner = -1, run_at = @now + :lease_ms, due_at = @now + :lease_ms, lease = lease + 1, attempt = attempt + 1
WHERE `key` IN (:keys)
