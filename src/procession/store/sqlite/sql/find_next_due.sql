SELECT coalesce(min(run_at), 0) FROM procession_job WHERE state = 2
