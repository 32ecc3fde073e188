UPDATE procession_job SET state = 6, due_at = NULL WHERE `key` IN (:keys)
