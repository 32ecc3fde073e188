-- attempt_change: -1 takes the attempt back. retries: -1 leaves them, -2 uses one. run_at: NULL leaves it.
UPDATE procession_job
SET
    state = :state,
    owner = 0,
    run_at = coalesce(:run_at, run_at),
    attempt = attempt + :attempt_change,
    retries = CASE :retries WHEN -1 THEN retries WHEN -2 THEN max(0, retries - 1) ELSE :retries END,
    crashes = CASE WHEN :clear_crashes THEN 0 ELSE crashes END,
    error = CASE :error WHEN '' THEN error ELSE :error END
WHERE key = :key
