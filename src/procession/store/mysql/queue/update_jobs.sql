-- Jobs that are held, as they are now; nobody owns them.
UPDATE procession_job
SET
    state = :state, run_at = :run_at, due_at = IF(:state = 2, :run_at, NULL), negative_priority = 0 - :priority,
    attempt = :attempt, retries = :retries, crashes = :crashes, error = :error, waits_for = :waits_for,
    ended_at = :ended_at, owner = 0
WHERE `key` = :key
