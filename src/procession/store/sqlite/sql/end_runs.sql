-- attempt_change: -1 takes the attempt back. retries: -1 leaves them, -2 uses one. run_at: NULL leaves it, or is now where it was the end of a remote lease.
UPDATE procession_job
SET
    state = :state,
    owner = 0,
    run_at = coalesce(:run_at, CASE WHEN owner = -1 THEN :now END, run_at),
    attempt = attempt + :attempt_change,
    retries = CASE :retries WHEN -1 THEN retries WHEN -2 THEN max(0, retries - 1) ELSE :retries END,
    crashes = CASE WHEN :clear_crashes THEN 0 ELSE crashes END,
    error = CASE :error WHEN '' THEN error ELSE :error END,
    ended_at = :ended_at
WHERE key = :key
