-- The attempts of a job that failed, in order.
SELECT job, lease, attempt, at, worker, type, message
FROM procession_job_attempt
WHERE job = json_extract(?1, '$[0]')
ORDER BY lease
