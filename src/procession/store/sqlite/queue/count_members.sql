-- Of batches of jobs: how many of their members are not over, and how many of them have failed.
SELECT
    batch.key,
    (SELECT count(*) FROM procession_job AS job WHERE job.batch = batch.key AND job.state <> 5)
        + (SELECT count(*) FROM procession_job_batch AS part WHERE part.parent = batch.key AND part.state <> 2) AS alive,
    (SELECT count(*) FROM procession_job AS job WHERE job.batch = batch.key AND job.state = 5)
        + (
            SELECT count(*) FROM procession_job_batch AS part
            WHERE part.parent = batch.key AND part.state = 2 AND part.failed > 0 AND part.deleted = 0
        ) AS failed
FROM procession_job_batch AS batch
WHERE batch.key IN (SELECT value FROM json_each(?1))
