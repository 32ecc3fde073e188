UPDATE procession_job
SET
    state = :state,
    owner = 0,
    crashes = crashes + 1,
    run_at = coalesce(:run_at, run_at),
    error = CASE :error WHEN '' THEN error ELSE :error END,
    ended_at = :ended_at
WHERE key = :key
