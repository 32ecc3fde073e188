-- Batches of jobs that are not over, and whose counts are not those of their members: the jobs that are there, and the
-- batches within. Members that succeeded or were deleted have left no row that must still be there: they are the rest.
SELECT counted.key
FROM (
    SELECT
        batch.key, batch.failed, batch.total - batch.succeeded - batch.failed - batch.deleted AS alive,
        (SELECT count(*) FROM procession_job AS job WHERE job.batch = batch.key AND job.state <> 5)
        + (SELECT count(*) FROM procession_job_batch AS part WHERE part.parent = batch.key AND part.state <> 2) AS found_alive,
        (SELECT count(*) FROM procession_job AS job WHERE job.batch = batch.key AND job.state = 5)
        + (
            SELECT count(*) FROM procession_job_batch AS part
            WHERE part.parent = batch.key AND part.state = 2 AND part.failed > 0 AND part.deleted = 0
        ) AS found_failed
    FROM procession_job_batch AS batch
    WHERE batch.state <> 2
) AS counted
WHERE counted.alive <> counted.found_alive OR counted.failed <> counted.found_failed
ORDER BY counted.key
LIMIT json_extract(?1, '$[0]')
