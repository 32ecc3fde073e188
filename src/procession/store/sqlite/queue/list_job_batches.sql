-- A page of batches of jobs, newest first.
SELECT key, state, parent, total, succeeded, failed, deleted, created_at, finished_at, title, tenant, is_flow
FROM procession_job_batch
WHERE (json_array_length(?1, '$[0].keys') = 0 AND is_flow = 0 OR key IN (SELECT value FROM json_each(?1, '$[0].keys')))
    AND (json_extract(?1, '$[0].tenant') = '' OR tenant = json_extract(?1, '$[0].tenant'))
    AND (json_extract(?1, '$[0].after') = 0 OR key < json_extract(?1, '$[0].after'))
ORDER BY key DESC
LIMIT json_extract(?1, '$[0].limit')
