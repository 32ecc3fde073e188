UPDATE procession_job
SET
    state = :state,
    owner = CASE :state WHEN 1 THEN owner ELSE 0 END,
    retries = CASE :retries WHEN -1 THEN retries ELSE :retries END,
    crashes = CASE :retries WHEN -1 THEN crashes ELSE 0 END,
    error = CASE :error WHEN '' THEN error ELSE :error END
WHERE key = :key
