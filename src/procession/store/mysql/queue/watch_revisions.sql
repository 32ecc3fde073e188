-- A pair for each instance that differs when it, or a job of it, changed.
SELECT instance.`key`, instance.rev, COALESCE((
    SELECT CAST(SUM(job.lease + job.attempt + 1000 * job.state + 100000) AS SIGNED)
    FROM procession_job AS job WHERE job.instance = instance.`key`
), 0)
FROM procession_instance AS instance
WHERE instance.`key` IN (:a)
