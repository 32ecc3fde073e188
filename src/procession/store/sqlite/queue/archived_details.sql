-- Jobs of the archive with everything.
SELECT key, kind, state, queue, type, 0, priority, run_at, attempt, retries, crashes, lease, 0, error, created_at, ended_at,
       args, output, options, 0, coalesce(progress, 0.0), coalesce(progress_text, ''), '', NULL, '', tenant
FROM procession_job_archive
WHERE key IN (SELECT value FROM json_each(?1))
ORDER BY key
