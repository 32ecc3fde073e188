UPDATE procession_job
SET
    state = :state, owner = 0, crashes = crashes + 1,
    run_at = IF(:state = 2, @now + :backoff_ms, run_at),
    due_at = IF(:state = 2, @now + :backoff_ms, NULL)
WHERE `key` IN (:keys)
