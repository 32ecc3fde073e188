-- Jobs of the archive with everything.
SELECT
    `key`, kind, state, queue, type, 0, -negative_priority, run_at, attempt, retries, crashes, lease, 0, error, created_at,
    ended_at, args, output, options, 0, COALESCE(progress, 0.0), COALESCE(progress_text, ''), '', NULL, '', tenant
FROM procession_job_archive
WHERE `key` IN (:a)
ORDER BY `key`
