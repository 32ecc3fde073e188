-- Jobs of the queue with everything.
SELECT
    `key`, kind, state, queue, type, instance, -negative_priority, run_at, attempt, retries, crashes, lease, owner,
    COALESCE(error, ''), created_at, COALESCE(ended_at, 0), args, '', options, COALESCE(traits, 0),
    COALESCE(progress, 0.0), COALESCE(progress_text, ''), checkpoint, cancel_reason, COALESCE(waits_for, ''), tenant
FROM procession_job
WHERE `key` IN (:a)
ORDER BY `key`
