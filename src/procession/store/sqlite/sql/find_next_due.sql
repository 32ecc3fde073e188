SELECT coalesce(min(run_at), 0) FROM job WHERE state = 2
