UPDATE procession_job SET state = 5, owner = 0, crashes = crashes + 1, due_at = NULL, ended_at = @now, error = :error WHERE `key` = :key
