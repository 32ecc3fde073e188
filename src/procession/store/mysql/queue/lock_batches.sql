-- Batches of jobs, held until the end of the transaction; in key order.
SELECT `key`, state, parent, total, succeeded, failed, deleted, created_at, finished_at, title, tenant
FROM procession_job_batch
WHERE `key` IN (:a)
ORDER BY `key`
FOR UPDATE
