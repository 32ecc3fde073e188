UPDATE procession_job SET state = 0, run_at = @now, due_at = NULL WHERE `key` IN (:keys)
