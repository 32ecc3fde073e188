-- Attempts of jobs that are neither in the queue nor in the archive.
SELECT DISTINCT line.job
FROM procession_job_attempt AS line
WHERE NOT EXISTS (SELECT 1 FROM procession_job AS job WHERE job.`key` = line.job)
    AND NOT EXISTS (SELECT 1 FROM procession_job_archive AS archived WHERE archived.`key` = line.job)
ORDER BY line.job
LIMIT :a
