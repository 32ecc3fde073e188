-- The attempts of a job that failed, in order.
SELECT job, lease, attempt, at, worker, type, message
FROM procession_job_attempt
WHERE job = :a
ORDER BY lease
