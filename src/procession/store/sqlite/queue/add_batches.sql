-- Batches of jobs that are opened.
INSERT INTO procession_job_batch (
    key, state, parent, total, succeeded, failed, deleted, created_at, finished_at, title, tenant, is_flow
)
SELECT value ->> 'key', 0, value ->> 'parent', 0, 0, 0, 0, value ->> 'created_at', 0, value ->> 'title', value ->> 'tenant',
    value ->> 'is_flow'
FROM json_each(?1)
