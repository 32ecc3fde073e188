-- Rows of the archive for jobs that are about to leave the queue.
INSERT INTO procession_job_archive (
    `key`, kind, state, negative_priority, run_at, attempt, retries, crashes, lease, created_at, ended_at, expires_at, batch,
    progress, queue, type, tenant, error, args, output, options, progress_text
)
SELECT
    job.`key`, job.kind, :state, job.negative_priority, job.run_at, job.attempt, job.retries, job.crashes, job.lease,
    job.created_at, :ended_at, :expires_at, job.batch, job.progress, job.queue, job.type, job.tenant,
    COALESCE(:error, ''), job.args, :output, job.options, job.progress_text
FROM procession_job AS job
WHERE job.`key` = :key
