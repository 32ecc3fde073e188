-- What is kept of jobs that have left the queue.
SELECT `key`, state, type, error, output
FROM procession_job_archive
WHERE `key` IN (:a)
