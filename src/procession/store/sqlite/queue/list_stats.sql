-- Counts per minute.
SELECT minute, queue, type, enqueued, succeeded, failed, retried, run_ms
FROM procession_job_stat
WHERE minute >= json_extract(?1, '$[0].since') AND minute < json_extract(?1, '$[0].until') AND (json_extract(?1, '$[0].queue') = '' OR queue = json_extract(?1, '$[0].queue'))
ORDER BY minute, queue, type
