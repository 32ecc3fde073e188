-- Rows of the archive for jobs that are about to leave the queue.
INSERT INTO procession_job_archive (
    key, kind, state, priority, run_at, attempt, retries, crashes, lease, created_at, ended_at, expires_at, batch, progress,
    queue, type, tenant, error, args, output, options, progress_text
)
SELECT
    j.key, j.kind, u.value ->> 'state', j.priority, j.run_at, j.attempt, j.retries, j.crashes, j.lease, j.created_at,
    u.value ->> 'ended_at', u.value ->> 'expires_at', j.batch, j.progress, j.queue, j.type, j.tenant,
    coalesce(u.value ->> 'error', ''), j.args, u.value ->> 'output', j.options, j.progress_text
FROM json_each(?1) AS u
JOIN procession_job AS j ON j.key = u.value ->> 'key'
