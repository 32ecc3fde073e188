-- The last attempts that failed of all jobs of an instance.
SELECT job, lease, attempt, at, worker, type, message
FROM procession_job_attempt
WHERE instance = json_extract(?1, '$[0].instance') AND instance <> 0
ORDER BY at DESC, job DESC, lease DESC
LIMIT json_extract(?1, '$[0].limit')
