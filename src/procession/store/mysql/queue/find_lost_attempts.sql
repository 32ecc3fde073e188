-- Attempts of jobs that are neither in the queue nor in the archive, and of no instance that is still there.
SELECT DISTINCT line.job
FROM procession_job_attempt AS line
WHERE NOT EXISTS (SELECT 1 FROM procession_job AS job WHERE job.`key` = line.job)
    AND NOT EXISTS (SELECT 1 FROM procession_job_archive AS archived WHERE archived.`key` = line.job)
    AND NOT EXISTS (SELECT 1 FROM procession_instance AS owner WHERE owner.`key` = line.instance)
ORDER BY line.job
LIMIT :a
