UPDATE procession_job SET state = 0, owner = 0, due_at = NULL WHERE `key` IN (:keys)
