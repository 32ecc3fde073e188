-- A page of flows that have a title, newest first.
SELECT key, state, parent, total, succeeded, failed, deleted, created_at, finished_at, title, tenant, is_flow
FROM procession_job_batch
WHERE is_flow = 1
    AND (json_extract(?1, '$[0].tenant') = '' OR tenant = json_extract(?1, '$[0].tenant'))
    AND (json_extract(?1, '$[0].after') = 0 OR key < json_extract(?1, '$[0].after'))
ORDER BY key DESC
LIMIT json_extract(?1, '$[0].limit')
