-- Attempts of jobs that are neither in the queue nor in the archive, and of no instance that is still there.
SELECT DISTINCT l.job
FROM procession_job_attempt AS l
WHERE NOT EXISTS (SELECT 1 FROM procession_job AS j WHERE j.key = l.job)
    AND NOT EXISTS (SELECT 1 FROM procession_job_archive AS a WHERE a.key = l.job)
    AND NOT EXISTS (SELECT 1 FROM procession_instance AS i WHERE i.key = l.instance)
ORDER BY l.job
LIMIT json_extract(?1, '$[0]')
