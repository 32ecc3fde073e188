-- Counts per minute.
SELECT `minute`, queue, type, enqueued, succeeded, failed, retried, run_ms
FROM procession_job_stat
WHERE `minute` >= :since AND `minute` < :until AND (:queue = '' OR queue = :queue)
ORDER BY `minute`, queue, type
