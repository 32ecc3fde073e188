-- A page of batches of jobs, newest first.
SELECT `key`, state, parent, total, succeeded, failed, deleted, created_at, finished_at, title, tenant, is_flow
FROM procession_job_batch
WHERE ((:any_key AND is_flow = 0) OR `key` IN (:keys))
    AND (:tenant = '' OR tenant = :tenant)
    AND (:after = 0 OR `key` < :after)
ORDER BY `key` DESC
LIMIT :limit
