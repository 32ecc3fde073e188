-- A pair for each instance that differs when it, or a job of it, changed.
SELECT key, rev, coalesce((
    SELECT sum(job.lease + job.attempt + 1000 * job.state + 100000)
    FROM procession_job AS job WHERE job.instance <> 0 AND job.instance = instance.key
), 0)
FROM procession_instance AS instance
WHERE key IN (SELECT value FROM json_each(?1))
