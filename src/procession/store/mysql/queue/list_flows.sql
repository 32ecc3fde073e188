-- A page of flows that have a title, newest first.
SELECT `key`, state, parent, total, succeeded, failed, deleted, created_at, finished_at, title, tenant, is_flow
FROM procession_job_batch
WHERE is_flow = 1
    AND (:tenant = '' OR tenant = :tenant)
    AND (:after = 0 OR `key` < :after)
ORDER BY `key` DESC
LIMIT :limit
